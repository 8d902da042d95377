/* Pods stay for a while on a node that is lost or not ready, unless they say how long themselves. */
#include "api/core_v1.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/server.h"

static bool tolerates(const struct core_v1_pod_spec *spec, const char *taint)
{
    LIST_EACH(toleration, &spec->tolerations) {
        bool same_key = toleration->key.n == 0 || str_is(toleration->key, taint);

        if (same_key && (toleration->effect.n == 0 || str_is(toleration->effect, "NoExecute"))) {
            return true;
        }
    }
    return false;
}

static void add(struct arena *arena, struct core_v1_pod_spec *spec, const char *taint, int64_t seconds)
{
    struct core_v1_toleration *toleration = LIST_APPEND(arena, &spec->tolerations);

    *toleration = (struct core_v1_toleration){.key = str_of(taint),
                                              .operator = STR("Exists"),
                                              .effect = STR("NoExecute"),
                                              .toleration_seconds = ARENA_NEW(arena, int64_t)};
    *toleration->toleration_seconds = seconds;
}

void default_toleration_seconds(struct arena *arena, const struct apiserver_options *options,
                                struct core_v1_pod_spec *spec)
{
    bool not_ready = tolerates(spec, "node.kubernetes.io/not-ready");
    bool unreachable = tolerates(spec, "node.kubernetes.io/unreachable");

    if (!not_ready) {
        add(arena, spec, "node.kubernetes.io/not-ready", options->default_not_ready_toleration_seconds);
    }
    if (!unreachable) {
        add(arena, spec, "node.kubernetes.io/unreachable", options->default_unreachable_toleration_seconds);
    }
}

static struct status *mutate(struct admission_request *admission)
{
    if (admission_is_about(admission, &core_v1_pod_kind)) {
        struct core_v1_pod *pod = admission->object;

        default_toleration_seconds(admission->request->arena, admission->request->server->options, &pod->spec);
    }
    return NULL;
}

const struct admission_plugin default_toleration_seconds_plugin = {
    .name = "DefaultTolerationSeconds",
    .operations = ADMIT_CREATE | ADMIT_UPDATE,
    .mutate = mutate,
};
