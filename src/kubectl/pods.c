#include "kubectl/pods.h"

#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"
#include "schema/json.h"
#include "schema/selectors.h"

#define DEFAULT_CONTAINER STR("kubectl.kubernetes.io/default-container")

struct status *selector_text(struct kubectl *k, const struct value *selector, struct str *ret)
{
    struct meta_v1_label_selector typed = {0};
    struct label_selector parsed;

    if (!value_is(selector, VALUE_OBJECT)) {
        *ret = STR("");
        return NULL;
    }
    if (value_find(selector, STR("matchLabels")) == NULL && value_find(selector, STR("matchExpressions")) == NULL) {
        struct value *whole = value_object(k->arena); /* a plain map, as Services and ReplicationControllers have */

        value_set(k->arena, whole, STR("matchLabels"), value_copy(k->arena, selector));
        selector = whole;
    }
    TRY(json_decode(k->arena, &meta_v1_label_selector_type, value_json(k->arena, selector), &typed, NULL));
    TRY(label_selector_of(k->arena, &typed, &parsed));
    *ret = label_selector_format(k->arena, &parsed);
    return NULL;
}

static bool is_ready(const struct value *pod)
{
    VALUE_EACH_ITEM(condition, value_find_path(pod, "status.conditions"))
    {
        if (str_is(value_str_at(*condition, "type"), "Ready")) {
            return str_is(value_str_at(*condition, "status"), "True");
        }
    }
    return false;
}

static int liveliness(const struct value *pod)
{
    return (value_str_at(pod, "spec.nodeName").n > 0) + (str_is(value_str_at(pod, "status.phase"), "Running") ? 2 : 0) +
           (is_ready(pod) ? 4 : 0);
}

static struct status *pod_of_workload(struct kubectl *k, const struct kind *kind, struct str name, struct value **ret)
{
    struct value *workload, *list;
    struct str selector, path;
    size_t count;

    TRY(api_get(k, client_path(k->arena, kind, kubectl_namespace(k), name, STR("")), &workload));
    TRY(selector_text(k, value_find_path(workload, "spec.selector"), &selector));
    if (selector.n == 0) {
        return error_local("cannot get the logs from %.*s/%.*s: it selects no pods", STR_ARG(kind->plural), STR_ARG(name));
    }
    path = arena_printf(k->arena, "/api/v1/namespaces/%.*s/pods", STR_ARG(http_escape(k->arena, kubectl_namespace(k))));
    TRY(api_get(k, path_with(k, path, "labelSelector", selector), &list));
    *ret = NULL;
    count = value_count(value_find(list, STR("items")));
    VALUE_EACH_ITEM(pod, value_find(list, STR("items")))
    {
        if (*ret == NULL || liveliness(*pod) > liveliness(*ret)) {
            *ret = *pod;
        }
    }
    if (*ret == NULL) {
        return error_local("timed out waiting for the condition");
    }
    if (count > 1) {
        fprintf(k->err, "Found %zu pods, using pod/%.*s\n", count, STR_ARG(value_str_at(*ret, "metadata.name")));
    }
    return NULL;
}

struct status *pod_find(struct kubectl *k, struct str word, struct value **ret_pod)
{
    struct str type, name;
    const struct kind *kind;

    TRY(kubectl_configure(k));
    if (!str_cut(word, '/', &type, &name)) {
        type = STR("pods");
        name = word;
    }
    TRY(discovery_find(k, type, &kind));
    if (name.n == 0) {
        return error_local("arguments in resource/name form must have a single resource and name");
    }
    if (str_is(kind->plural, "pods") && kind->group.n == 0) {
        return api_get(k, client_path(k->arena, kind, kubectl_namespace(k), name, STR("")), ret_pod);
    }
    return pod_of_workload(k, kind, name, ret_pod);
}

static void add_names(struct kubectl *k, const struct value *containers, struct str_list *ret)
{
    VALUE_EACH_ITEM(container, containers)
    {
        *LIST_ADD(k->arena, ret) = value_str_at(*container, "name");
    }
}

struct str_list pod_containers(struct kubectl *k, const struct value *pod)
{
    struct str_list names = {0};

    add_names(k, value_find_path(pod, "spec.initContainers"), &names);
    add_names(k, value_find_path(pod, "spec.containers"), &names);
    add_names(k, value_find_path(pod, "spec.ephemeralContainers"), &names);
    return names;
}

/* "a, b, c (init)" */
static struct str described(struct kubectl *k, const struct value *pod)
{
    static const struct {
        const char *path, *suffix;
    } groups[] = {
        {"spec.containers", ""}, {"spec.ephemeralContainers", " (ephem)"}, {"spec.initContainers", " (init)"}};
    struct str text = STR("");

    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        VALUE_EACH_ITEM(container, value_find_path(pod, groups[i].path))
        {
            text = arena_printf(k->arena, "%.*s%s%.*s%s", STR_ARG(text), text.n > 0 ? ", " : "",
                                STR_ARG(value_str_at(*container, "name")), groups[i].suffix);
        }
    }
    return text;
}

struct status *pod_container(struct kubectl *k, const struct value *pod, struct str wanted, bool quiet,
                             struct str *ret)
{
    struct str_list names = pod_containers(k, pod);
    struct str name = wanted;

    if (name.n == 0) {
        name = value_str(value_find(value_find_path(pod, "metadata.annotations"), DEFAULT_CONTAINER));
    }
    LIST_EACH(known, &names)
    {
        if (name.n > 0 && str_eq(*known, name)) {
            *ret = name;
            return NULL;
        }
    }
    if (wanted.n > 0) {
        return error_local("container %.*s is not valid for pod %.*s out of: %.*s", STR_ARG(wanted),
                           STR_ARG(value_str_at(pod, "metadata.name")), STR_ARG(described(k, pod)));
    }
    *ret = value_str_at(value_item(value_find_path(pod, "spec.containers"), 0), "name");
    if (names.len > 1 && !quiet) {
        fprintf(k->err, "Defaulted container \"%.*s\" out of: %.*s\n", STR_ARG(*ret), STR_ARG(described(k, pod)));
    }
    return NULL;
}
