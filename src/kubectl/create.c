/* kubectl create: objects from files, and the ways to make one of a kind. */
#include "kubectl/create.h"

#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"
#include "kubectl/trace.h"
#include "schema/object.h"

struct create_options {
    struct str raw;
};

struct status *create_name(struct kubectl *k, struct str *ret)
{
    if (k->args.positional.len != 1) {
        return error_usage(k, "exactly one NAME is required, got %zu", k->args.positional.len);
    }
    *ret = k->args.positional.items[0];
    return NULL;
}

struct status *create_built(struct kubectl *k, const struct kind *kind, void *object, int64_t start)
{
    const struct kind *served;
    struct output output;
    struct value *value = output_value_of(k, kind, object);
    struct str name = value_str_at(value, "metadata.name");

    trace_step(k, TRACE_RUNTIME_OBJECT, start, NULL, "%.*s", STR_ARG(kind->kind));
    TRY(output_parse(k, false, &output));
    TRY(kubectl_configure(k));
    if (k->write.dry_run == DRY_RUN_CLIENT) {
        if (kind->namespaced && k->flags.config.namespace.n > 0) {
            value_set(k->arena, value_find(value, STR("metadata")), STR("namespace"),
                      value_string(k->arena, k->flags.config.namespace));
        }
        return output_done(k, &output, kind, value, name, "created", true);
    }
    TRY(discovery_find_kind(k, kind->api_version, kind->kind, &served));
    if (served == NULL) {
        return error_local("no matches for kind \"%.*s\" in version \"%.*s\"", STR_ARG(kind->kind),
                           STR_ARG(kind->api_version));
    }
    TRY(api_create(k, served, served->namespaced ? kubectl_namespace(k) : STR(""), value, "kubectl-create", &value));
    trace_object(k, served, value);
    return output_done(k, &output, served, value, name, "created", true);
}

static struct status *create_selected(struct kubectl *k, const struct output *output, const struct selected *selected,
                                      bool is_first)
{
    struct value *object = selected->object;

    if (k->write.dry_run != DRY_RUN_CLIENT) {
        struct status *status =
            api_create(k, selected->kind, selected->namespace, selected->object, "kubectl-create", &object);

        if (status != NULL) {
            return selected_error(selected, "creating", status);
        }
        trace_object(k, selected->kind, object);
    }
    return output_done(k, output, selected->kind, object, value_str_at(object, "metadata.name"), "created", is_first);
}

static struct status *create_run(struct kubectl *k, void *arg)
{
    struct selection selection;
    struct output output;

    (void)arg;
    if (k->args.positional.len > 0) {
        struct str words = STR("");

        LIST_EACH(word, &k->args.positional)
        {
            words = arena_printf(k->arena, "%.*s%s%.*s", STR_ARG(words), words.n > 0 ? " " : "", STR_ARG(*word));
        }
        return error_usage(k, "Unexpected args: [%.*s]", STR_ARG(words));
    }
    if (k->files.names.len == 0) {
        return error_local("must specify one of -f and -k");
    }
    TRY(output_parse(k, false, &output));
    TRY(selection_of_files(k, &selection));
    for (size_t i = 0; i < selection.len; i++) {
        report_error(k, create_selected(k, &output, &selection.items[i], i == 0));
    }
    if (selection.len == 0 && k->errors.len == 0) {
        return error_local("no objects passed to create");
    }
    return NULL;
}

static const struct command *const subcommands[] = {
    &command_create_clusterrole, &command_create_clusterrolebinding, &command_create_configmap,
    &command_create_cronjob, &command_create_deployment, &command_create_job, &command_create_namespace,
    &command_create_poddisruptionbudget, &command_create_priorityclass, &command_create_quota, &command_create_role,
    &command_create_rolebinding, &command_create_secret, &command_create_service, &command_create_serviceaccount,
    NULL,
};

const struct command command_create = {
    .name = "create",
    .help = "Create a resource from a file or from stdin",
    .usage = "-f FILENAME",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR | USES_WRITE,
    .options_size = sizeof(struct create_options),
    .run = create_run,
    .subcommands = subcommands,
};
