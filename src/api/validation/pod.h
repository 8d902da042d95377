/* Validation of pods in its parts. For src/api/validation* only. */
#ifndef API_VALIDATION_POD_H
#define API_VALIDATION_POD_H

#include "api/core_v1.h"
#include "api/validation/check.h"

/* Names of volumes that are valid, and of resource claims, which containers may use. */
struct pod_names {
    struct seen volumes;
    struct seen block_volumes; /* those that may be used as devices */
    struct seen claims;
    struct str_list claim_list; /* the same, in order */
};

/* Of a pod, and of a pod template. */
void check_pod_spec(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec);
void check_pod_template(struct status *to, const struct path *at, const struct core_v1_pod_template_spec *template);
/* One that is not ephemeral. */
bool pod_has_container(const struct core_v1_pod_spec *spec, struct str name);
void check_pod_annotations(struct status *to, const struct path *at, const struct str_map *annotations,
                           const struct core_v1_pod_spec *spec);

/* pod_volumes.c; adds the valid ones to *names, in to->arena */
void check_volumes(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec,
                   struct pod_names *names);
void check_local_path(struct status *to, const struct path *at, struct str path, bool reserved);
void check_field_ref(struct status *to, const struct path *at, const struct core_v1_object_field_selector *ref,
                     const char *const *supported);
void check_resource_field_ref(struct status *to, const struct path *at,
                              const struct core_v1_resource_field_selector *ref, bool in_volume);

/* pod_containers.c */
void check_containers(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec,
                      const struct pod_names *names);
void check_port_number_or_name(struct status *to, const struct path *at, const struct int_or_string *port);

/* pod_probes.c */
void check_lifecycle(struct status *to, const struct path *at, const struct core_v1_lifecycle *lifecycle,
                     int64_t grace_seconds);
void check_probes(struct status *to, const struct path *at, const struct core_v1_container *container);

/* pod_resources.c */
void check_resources(struct status *to, const struct path *at, const struct core_v1_resource_requirements *resources,
                     const struct pod_names *names);
void check_container_resource_name(struct status *to, const struct path *at, struct str name);
void check_resource_name(struct status *to, const struct path *at, struct str name);
void check_resource_amount(struct status *to, const struct path *at, struct str name, struct quantity amount);
bool resource_is_native(struct str name);
bool resource_is_standard(struct str name);
bool resource_is_huge_page(struct str name);
bool resource_is_extended(struct str name);
bool resource_is_overcommitted(struct str name);

/* pod_security.c */
void check_pod_security(struct status *to, const struct path *spec_at, const struct core_v1_pod_spec *spec);
void check_container_security(struct status *to, const struct path *at, const struct core_v1_security_context *context,
                              bool host_users);
void check_os(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec);
void check_host_processes(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec);

/* pod_scheduling.c */
void check_affinity(struct status *to, const struct path *at, const struct core_v1_affinity *affinity);
void check_node_selector(struct status *to, const struct path *at, const struct core_v1_node_selector *selector);
void check_tolerations(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec);
void check_spread(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec);
void check_taint_effect(struct status *to, const struct path *at, struct str effect, bool may_be_empty);

#endif
