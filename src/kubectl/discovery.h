/* What resources the server has, and which of them a word on the command line means. */
#ifndef KUBECTL_DISCOVERY_H
#define KUBECTL_DISCOVERY_H

#include "kubectl/kubectl.h"

struct kind_list {
    const struct kind **items;
    size_t len;
};

/* All resources in the server's order; asked for once. Their `type` is that of a built-in kind, or NULL. */
MUST_USE struct status *discovery_all(struct kubectl *k, struct kind_list *ret);
/* The same, only of each group's preferred version (where that version has the resource). */
MUST_USE struct status *discovery_preferred(struct kubectl *k, struct kind_list *ret);
/* "pods", "po", "Pod", "deploy", "deployments.apps", "deployments.v1.apps". */
MUST_USE struct status *discovery_find(struct kubectl *k, struct str word, const struct kind **ret);
/* Of an object's apiVersion and kind. `*ret` is NULL when the server has no such kind. */
MUST_USE struct status *discovery_find_kind(struct kubectl *k, struct str api_version, struct str kind,
                                            const struct kind **ret);
/* Resources of a category such as "all"; empty when it is none. */
MUST_USE struct status *discovery_category(struct kubectl *k, struct str category, struct kind_list *ret);

/* "pod", "deployment.apps": what names are printed with. */
struct str kind_label(struct arena *arena, const struct kind *kind);
/* "pods", "deployments.apps" */
struct str kind_resource(struct arena *arena, const struct kind *kind);

#endif
