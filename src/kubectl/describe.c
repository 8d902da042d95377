/* kubectl describe: an object in words, and its events. */
#include "kubectl/describe.h"

#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"
#include "kubectl/tab_writer.h"

struct describe_options {
    bool show_events;
    int64_t chunk_size;
};

typedef struct status *describe_fn(struct description *d, const struct value *object);

static const struct {
    const char *group, *kind;
    describe_fn *fn;
    bool without_events;
} forms[] = {
    {"", "Pod", describe_pod, false},
    {"", "Node", describe_node, false},
    {"", "ConfigMap", describe_config_map, false},
    {"", "Secret", describe_secret, true},
    {"", "Service", describe_service, false},
    {"", "ServiceAccount", describe_service_account, false},
    {"", "Namespace", describe_namespace, true},
    {"", "ReplicationController", describe_replicaset, false},
    {"apps", "Deployment", describe_deployment, false},
    {"apps", "ReplicaSet", describe_replicaset, false},
    {"apps", "DaemonSet", describe_daemonset, false},
    {"apps", "StatefulSet", describe_statefulset, false},
    {"batch", "Job", describe_job, false},
    {"batch", "CronJob", describe_cronjob, false},
    {"policy", "PodDisruptionBudget", describe_disruption_budget, false},
    {"storage.k8s.io", "StorageClass", describe_storage_class, false},
    {"storage.k8s.io", "VolumeAttributesClass", describe_attributes_class, false},
    {"scheduling.k8s.io", "PriorityClass", describe_priority_class, false},
    {"rbac.authorization.k8s.io", "Role", describe_role, true},
    {"rbac.authorization.k8s.io", "ClusterRole", describe_role, true},
    {"rbac.authorization.k8s.io", "RoleBinding", describe_role_binding, true},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", describe_role_binding, true},
    {"networking.k8s.io", "Ingress", describe_ingress, false},
    {"networking.k8s.io", "IngressClass", describe_ingress_class, false},
    {"discovery.k8s.io", "EndpointSlice", describe_endpoint_slice, false},
};

static describe_fn *form_of(const struct kind *kind, bool *events)
{
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        if (str_is(kind->group, forms[i].group) && str_is(kind->kind, forms[i].kind)) {
            *events = *events && !forms[i].without_events;
            return forms[i].fn;
        }
    }
    return describe_any;
}

static struct status *describe_object(struct kubectl *k, const struct selected *selected, bool events, bool is_first)
{
    struct description d = {.k = k};
    struct buf out = {0};
    struct status *status = form_of(selected->kind, &events)(&d, selected->object);

    if (status == NULL && events) {
        status = describe_events(&d, selected->object, selected->namespace);
    }
    if (status == NULL) {
        tab_write(&out, buf_str(&d.text), 0, 2);
        fprintf(k->out, "%s", is_first ? "" : "\n\n");
        output_text(k, buf_str(&out));
    }
    buf_done(&d.text);
    buf_done(&out);
    return status;
}

/* The object itself, in case the list left its kind out. */
static struct status *fetch(struct kubectl *k, struct selected *selected)
{
    if (selected->object == NULL || selected->source.n > 0) {
        TRY(api_get(k, client_path(k->arena, selected->kind, selected->namespace, selected->name, STR("")),
                    &selected->object));
    }
    return NULL;
}

/* Names may be given by their beginning, when nothing has the name itself. `missing` is the error about that. */
static struct status *describe_prefixed(struct kubectl *k, const struct selected *wanted, struct status *missing)
{
    struct selection all = {0};
    size_t count = 0;

    *LIST_ADD(k->arena, &all) = (struct selected){.kind = wanted->kind, .namespace = wanted->namespace};
    struct status *status = selection_list(k, &all);

    LIST_EACH(selected, &all)
    {
        if (status == NULL && str_has_prefix(selected->name, wanted->name)) {
            status = describe_object(k, selected, false, true);
            fprintf(k->out, "\n");
            count++;
        }
    }
    if (status == NULL && count == 0) {
        return missing;
    }
    status_free(missing);
    return status;
}

static void tell_nothing(struct kubectl *k, bool namespaced)
{
    if (namespaced && !k->selector.all_namespaces) {
        fprintf(k->err, "No resources found in %.*s namespace.\n", STR_ARG(kubectl_namespace(k)));
    } else {
        fprintf(k->err, "No resources found\n");
    }
}

static struct status *describe_run(struct kubectl *k, void *arg)
{
    const struct describe_options *options = arg;
    struct selection selection;
    bool by_prefix = k->args.positional.len == 2 && k->files.names.len == 0, is_first = true;

    if (k->args.positional.len == 0 && k->files.names.len == 0) {
        return error_local("You must specify the type of resource to describe. Use \"kubectl api-resources\" for a "
                           "complete list of supported resources.");
    }
    TRY(selection_of(k, k->args.positional.items, k->args.positional.len,
                     &(struct selection_rules){.command = "describe"}, &selection));
    bool namespaced = selection.len > 0 && selection.items[0].kind->namespaced;

    TRY(selection_list(k, &selection));
    /* Of several objects, only when asked for: each asks the server once more. */
    bool with_events = options->show_events && (selection.len == 1 || flags_seen(&k->args, "show-events"));

    LIST_EACH(selected, &selection)
    {
        struct status *status = fetch(k, selected);

        if (status == NULL) {
            status = describe_object(k, selected, with_events, is_first);
            is_first = false;
        } else if (by_prefix && error_is_not_found(status)) {
            status = describe_prefixed(k, selected, status);
        }
        report_error(k, status);
    }
    if (selection.len == 0 && k->errors.len == 0) {
        tell_nothing(k, namespaced);
    }
    return NULL;
}

static void describe_defaults(struct kubectl *k, void *arg)
{
    (void)k;
    ((struct describe_options *)arg)->show_events = true;
}

static const struct flag describe_flags[] = {
    FLAG(BOOL, struct describe_options, show_events, "show-events", 0, "with the events about the object"),
    FLAG_IGNORE("chunk-size"),
};

const struct command command_describe = {
    .name = "describe",
    .help = "Show details of a specific resource or group of resources",
    .usage = "(-f FILENAME | TYPE [NAME_PREFIX | -l label] | TYPE/NAME)",
    .uses = USES_FILES | USES_SELECTOR,
    .flags = describe_flags,
    .flag_count = COUNT_OF(describe_flags),
    .options_size = sizeof(struct describe_options),
    .defaults = describe_defaults,
    .run = describe_run,
};
