#include "apiserver/admission/admission.h"

#include "apiserver/admission/plugins.h"
#include "apiserver/errors.h"
#include "apiserver/resource.h"
#include "apiserver/server.h"
#include "base/env.h"
#include "base/trace.h"
#include "schema/object.h"

const struct admission_plugin *const admission_plugins[] = {
    &namespace_lifecycle_plugin,
    NULL,
};

static bool is_enabled(const struct apiserver_options *options, const char *name)
{
    for (size_t i = 0; i < options->disable_admission_plugins.len; i++) {
        if (str_is(options->disable_admission_plugins.items[i], name)) {
            return false;
        }
    }
    return true;
}

static void trace_plugin(struct admission_request *admission, const char *name, int64_t start,
                         const struct status *status)
{
    request_trace(admission->request, &(struct trace_span){.step = TRACE_ADMISSION, .start = start, .child = str_of(name),
                                                           .outcome = status == NULL ? TRACE_OK : TRACE_FAILED,
                                                           .detail = status == NULL ? STR("admitted") : status->message});
}

struct status *admission_run(struct admission_request *admission, enum admission_phase phase)
{
    const struct apiserver_options *options = admission->request->server->options;

    for (size_t i = 0; admission_plugins[i] != NULL; i++) {
        const struct admission_plugin *plugin = admission_plugins[i];
        struct status *(*ask)(struct admission_request *) = phase == ADMIT_MUTATE ? plugin->mutate : plugin->validate;

        if (ask == NULL || (plugin->operations & admission->operation) == 0 || !is_enabled(options, plugin->name)) {
            continue;
        }
        int64_t start = env_wall();
        struct status *status = ask(admission);

        trace_plugin(admission, plugin->name, start, status);
        TRY(status);
    }
    return NULL;
}

struct status *admission_forbidden(const struct admission_request *admission, const char *format, ...)
{
    const struct kind *kind = admission->resource->kind;
    struct str name = admission->name;
    va_list args;

    if (name.n == 0 && admission->object != NULL) {
        const struct meta_v1_object_meta *meta = &((const struct object *)admission->object)->metadata;

        name = meta->name.n != 0 ? meta->name : meta->generate_name;
    }
    va_start(args, format);
    struct str why = arena_vprintf(admission->request->arena, format, args);

    va_end(args);
    return error_forbidden(kind->group, kind->plural, name, "%.*s", STR_ARG(why));
}
