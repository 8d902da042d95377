/* Mode Webhook: a server elsewhere decides, asked by SubjectAccessReviews. What it said is remembered for a while. */
#ifndef APISERVER_AUTHZ_WEBHOOK_H
#define APISERVER_AUTHZ_WEBHOOK_H

#include "apiserver/authz/authz.h"
#include "apiserver/options.h"

struct webhook;

/* Reads --authorization-webhook-config-file, a kubeconfig. Nothing is sent yet. */
MUST_USE struct status *webhook_open(const struct apiserver_options *options, struct webhook **ret);
/* NULL is fine. */
void webhook_free(struct webhook *webhook);
/* No opinion, with an error, when the server can't be asked. Parks. */
struct authz_decision webhook_decide(struct webhook *webhook, const struct authz_attributes *attributes,
                                     struct arena *arena);

/* For tests: the question as JSON, and what an answer means. Pure. */
struct str webhook_question(struct arena *arena, const struct authz_attributes *attributes, struct str version);
struct authz_decision webhook_answer(struct arena *arena, struct str json);

#endif
