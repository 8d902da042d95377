/* The service accounts that controllers act as (kube-system/deployment-controller, ...), each with rights of its own: a
 * token is asked for with the controller manager's credentials and renewed before it ends. */
#ifndef CONTROLLER_ACCOUNTS_H
#define CONTROLLER_ACCOUNTS_H

#include "client/component_process.h"

struct accounts;

/* With `separate` every account is its own, else all are the manager's. Borrows the clients. */
struct accounts *accounts_new(const struct component_clients *clients, bool separate);
/* The client of the account with that name, made when first asked for; it has no token before accounts_wait(). */
struct client *accounts_client(struct accounts *accounts, const char *name);
/* Parks until the account has had its first token; false when cancelled. */
bool accounts_wait(struct accounts *accounts, const char *name);
/* The server took the account's token for invalid: a new one is fetched soon. */
void accounts_refused(struct accounts *accounts, const char *name);
/* Fetches and renews tokens until the task is cancelled. */
void accounts_run(void *accounts);
/* Parks. */
void accounts_free(struct accounts *accounts);

#endif
