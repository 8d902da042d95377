/* All controllers together, over one way to the API server. */
#ifndef CONTROLLER_CONTROLLER_MANAGER_H
#define CONTROLLER_CONTROLLER_MANAGER_H

#include "controller/accounts.h"
#include "controller/world.h"

struct controller_manager_options {
    struct controller_settings settings;
    struct str_list controllers; /* --controllers; empty: all */
    bool use_accounts; /* each controller acts as its own service account; else all as the clients' user */
};

/* Parks until the task is cancelled; then all has ended. Borrows both. */
void controller_manager_run(const struct component_clients *clients, const struct controller_manager_options *options);

#endif
