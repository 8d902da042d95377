/* The validation of each kind (validation.c has the table). Objects are of the kind's type; findings go to `to`. The
 * metadata is checked before. For src/api/validation* only. */
#ifndef API_VALIDATION_KINDS_H
#define API_VALIDATION_KINDS_H

#include "base/status.h"

typedef void validate_object(struct status *to, const void *object);
typedef void validate_change(struct status *to, const void *object, const void *old);

validate_object validate_pod, validate_pod_template;
validate_change validate_pod_update, validate_pod_template_update, validate_pod_status, validate_pod_ephemeral,
    validate_pod_resize;
validate_object validate_deployment, validate_replica_set, validate_daemon_set, validate_stateful_set,
    validate_replication_controller;
validate_change validate_deployment_update, validate_replica_set_update, validate_daemon_set_update,
    validate_stateful_set_update, validate_replication_controller_update;
validate_object validate_persistent_volume_claim, validate_persistent_volume;
validate_change validate_persistent_volume_claim_update, validate_persistent_volume_update;

#endif
