/* Who can't pull an image shall not run it because someone else has pulled it. Asked only when enabled. */
#include "api/core_v1.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"

static struct status *pull_always(struct admission_request *admission)
{
    struct core_v1_pod *pod = admission->object;

    if (!admission_is_about(admission, &core_v1_pod_kind)) {
        return NULL;
    }
    LIST_EACH(container, &pod->spec.init_containers) {
        container->image_pull_policy = STR("Always");
    }
    LIST_EACH(container, &pod->spec.containers) {
        container->image_pull_policy = STR("Always");
    }
    LIST_EACH(container, &pod->spec.ephemeral_containers) {
        container->ephemeral_container_common.image_pull_policy = STR("Always");
    }
    return NULL;
}

const struct admission_plugin always_pull_images_plugin = {
    .name = "AlwaysPullImages",
    .operations = ADMIT_CREATE | ADMIT_UPDATE,
    .is_optional = true,
    .mutate = pull_always,
};
