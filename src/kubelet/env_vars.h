/* The environment of a container: envFrom, env with $(VAR) and valueFrom, and the addresses of services. */
#ifndef KUBELET_ENV_VARS_H
#define KUBELET_ENV_VARS_H

#include "kubelet/downward.h"

struct env_vars {
    struct str_entry *items; /* in the order of definition; each name once */
    size_t len;
};

/* Gives a Secret or ConfigMap of the pod's namespace. May park. NOT_FOUND with stock's text when absent. */
struct env_sources {
    struct status *(*secret)(void *arg, struct str name, struct arena *arena, const struct core_v1_secret **ret);
    struct status *(*config_map)(void *arg, struct str name, struct arena *arena,
                                 const struct core_v1_config_map **ret);
    void *arg;
    const struct core_v1_service *const *services; /* all that may be linked */
    size_t service_count;
};

MUST_USE struct status *env_vars_make(struct arena *arena, const struct downward_facts *facts,
                                      const struct core_v1_container *container, const struct env_sources *sources,
                                      struct env_vars *ret);
/* Only services: the variables of those in the pod's namespace when links are on, and of default/kubernetes. */
void env_vars_of_services(struct arena *arena, const struct core_v1_pod *pod,
                          const struct core_v1_service *const *services, size_t count, struct env_vars *ret);
bool env_vars_find(const struct env_vars *vars, struct str name, struct str *ret);
/* For expand(): `arg` is a struct env_vars. */
bool env_vars_lookup(void *arg, struct str name, struct str *ret);

#endif
