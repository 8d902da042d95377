/* The plugins there are, and those of their deciders that are tested alone. */
#ifndef APISERVER_ADMISSION_PLUGINS_H
#define APISERVER_ADMISSION_PLUGINS_H

#include "apiserver/admission/admission.h"

struct apiserver_options;
struct core_v1_pod_spec;

extern const struct admission_plugin namespace_lifecycle_plugin;
extern const struct admission_plugin limit_ranger_plugin;
extern const struct admission_plugin service_account_plugin;
extern const struct admission_plugin node_restriction_plugin;
extern const struct admission_plugin taint_nodes_by_condition_plugin;
extern const struct admission_plugin pod_security_plugin;
extern const struct admission_plugin priority_plugin;
extern const struct admission_plugin default_toleration_seconds_plugin;
extern const struct admission_plugin default_storage_class_plugin;
extern const struct admission_plugin storage_object_in_use_protection_plugin;
extern const struct admission_plugin runtime_class_plugin;
extern const struct admission_plugin default_ingress_class_plugin;
extern const struct admission_plugin persistent_volume_claim_resize_plugin;
extern const struct admission_plugin certificate_approval_plugin;
extern const struct admission_plugin certificate_signing_plugin;
extern const struct admission_plugin certificate_subject_restriction_plugin;
extern const struct admission_plugin always_pull_images_plugin;
extern const struct admission_plugin deny_service_external_ips_plugin;
extern const struct admission_plugin mutating_webhook_plugin;
extern const struct admission_plugin validating_webhook_plugin;
extern const struct admission_plugin resource_quota_plugin;
extern const struct admission_plugin security_context_deny_plugin;

/* Adds the tolerations of DefaultTolerationSeconds that are missing. */
void default_toleration_seconds(struct arena *arena, const struct apiserver_options *options,
                                struct core_v1_pod_spec *spec);
/* Adds the volume with the token, unless all containers have something else in its place. */
void service_account_mount_token(struct arena *arena, struct core_v1_pod_spec *spec);

#endif
