/* Tokens of service accounts for projected volumes, by TokenRequest: kept, and asked for anew when four fifths of their
 * life, or a day, have passed. */
#ifndef KUBELET_VOLUMES_TOKENS_H
#define KUBELET_VOLUMES_TOKENS_H

#include "kubelet/context.h"

struct token_manager *token_manager_new(struct kubelet *kubelet);
void token_manager_free(struct token_manager *manager);
/* The token is copied into the arena. Parks. When renewing fails an old token that is still valid is given. */
MUST_USE struct status *token_manager_get(struct token_manager *manager, const struct core_v1_pod *pod,
                                          const struct core_v1_service_account_token_projection *projection,
                                          struct arena *arena, struct str *ret);
/* Drops those bound to the pod. */
void token_manager_forget(struct token_manager *manager, struct str uid);

#endif
