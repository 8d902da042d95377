#include "controller/namespace_util.h"

bool namespace_is_active(const struct core_v1_namespace *namespace)
{
    return namespace != NULL && namespace->metadata.deletion_timestamp == NULL &&
           !str_is(namespace->status.phase, "Terminating");
}
