/* kubectl describe node. */
#include "kubectl/describe.h"

#include "kubectl/report.h"
#include "kubectl/request.h"
#include "schema/quantity.h"

#include <string.h>

#define ADD(d, ...) buf_printf(&(d)->text, __VA_ARGS__)

static struct str roles_of(struct arena *arena, const struct value *labels)
{
    struct str prefix = STR("node-role.kubernetes.io/"), text = STR("");
    struct str *keys = value_sorted_keys(arena, labels);

    for (size_t i = 0; i < value_count(labels); i++) {
        if (str_has_prefix(keys[i], prefix) && keys[i].n > prefix.n) {
            text = arena_printf(arena, "%.*s%s%.*s", STR_ARG(text), text.n > 0 ? "," : "",
                                STR_ARG(str_from(keys[i], prefix.n)));
        }
    }
    return describe_or_none(text);
}

static void taints(struct description *d, const struct value *list)
{
    bool is_first = true;

    ADD(d, "Taints:\t%s", value_count(list) == 0 ? "<none>\n" : "");
    VALUE_EACH_ITEM(taint, list)
    {
        struct str value = value_str_at(*taint, "value");

        ADD(d, "%s%.*s%s%.*s:%.*s\n", is_first ? "" : "\t", STR_ARG(value_str_at(*taint, "key")), value.n > 0 ? "=" : "",
            STR_ARG(value), STR_ARG(value_str_at(*taint, "effect")));
        is_first = false;
    }
}

static void lease(struct description *d, struct str node)
{
    struct kubectl *k = d->k;
    struct value *found;
    struct status *status =
        api_get(k, arena_printf(k->arena, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/%.*s",
                                STR_ARG(node)),
                &found);

    ADD(d, "Lease:\n");
    if (status != NULL) {
        ADD(d, "  Failed to get lease: %.*s\n", STR_ARG(status->message));
        status_free(status);
        return;
    }
    struct str holder = value_str_at(found, "spec.holderIdentity");

    ADD(d, "  HolderIdentity:\t%.*s\n", STR_ARG(holder.n > 0 ? holder : STR("<unset>")));
    ADD(d, "  AcquireTime:\t%.*s\n", STR_ARG(describe_time(k->arena, value_find_path(found, "spec.acquireTime"))));
    ADD(d, "  RenewTime:\t%.*s\n", STR_ARG(describe_time(k->arena, value_find_path(found, "spec.renewTime"))));
}

static void conditions(struct description *d, const struct value *list)
{
    struct arena *arena = d->k->arena;

    if (value_count(list) == 0) {
        return;
    }
    ADD(d, "Conditions:\n  Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage\n"
           "  ----\t------\t-----------------\t------------------\t------\t-------\n");
    VALUE_EACH_ITEM(condition, list)
    {
        ADD(d, "  %.*s \t%.*s \t%.*s \t%.*s \t%.*s \t%.*s\n", STR_ARG(value_str_at(*condition, "type")),
            STR_ARG(value_str_at(*condition, "status")),
            STR_ARG(describe_time(arena, value_find(*condition, STR("lastHeartbeatTime")))),
            STR_ARG(describe_time(arena, value_find(*condition, STR("lastTransitionTime")))),
            STR_ARG(value_str_at(*condition, "reason")), STR_ARG(value_str_at(*condition, "message")));
    }
}

static void amounts(struct description *d, const char *title, const struct value *map)
{
    struct str *keys = value_sorted_keys(d->k->arena, map);

    if (value_count(map) > 0) {
        ADD(d, "%s:\n", title);
    }
    for (size_t i = 0; i < value_count(map); i++) {
        ADD(d, "  %.*s:\t%.*s\n", STR_ARG(keys[i]), STR_ARG(value_str(value_find(map, keys[i]))));
    }
}

static void system_info(struct description *d, const struct value *info)
{
    static const char *const lines[][2] = {
        {"Machine ID", "machineID"},           {"System UUID", "systemUUID"},
        {"Boot ID", "bootID"},                 {"Kernel Version", "kernelVersion"},
        {"OS Image", "osImage"},               {"Operating System", "operatingSystem"},
        {"Architecture", "architecture"},      {"Container Runtime Version", "containerRuntimeVersion"},
        {"Kubelet Version", "kubeletVersion"}, {"Kube-Proxy Version", "kubeProxyVersion"},
    };

    ADD(d, "System Info:\n");
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        ADD(d, "  %s:\t%.*s\n", lines[i][0], STR_ARG(value_str(value_find(info, str_of(lines[i][1])))));
    }
}

/* What the pods on the node ask for, and may have at most, of one resource. */
struct totals {
    struct quantity requests, limits;
};

static struct quantity quantity_at(struct arena *arena, const struct value *map, const char *name)
{
    struct quantity quantity = {STR("0")};
    struct status *status = quantity_parse(arena, value_str(value_find(map, str_of(name))), &quantity);

    status_free(status);
    return quantity;
}

/* Of all containers together, or of the greediest init container where that is more. */
static struct quantity of_pod(struct arena *arena, const struct value *pod, const char *path, const char *name)
{
    struct quantity sum = {STR("0")};

    VALUE_EACH_ITEM(container, value_find_path(pod, "spec.containers"))
    {
        sum = quantity_add(arena, sum, quantity_at(arena, value_find_path(*container, path), name));
    }
    VALUE_EACH_ITEM(container, value_find_path(pod, "spec.initContainers"))
    {
        struct quantity one = quantity_at(arena, value_find_path(*container, path), name);

        if (str_is(value_str_at(*container, "restartPolicy"), "Always")) {
            sum = quantity_add(arena, sum, one);
        } else if (quantity_cmp(one, sum) > 0) {
            sum = one;
        }
    }
    return sum;
}

static struct str share(struct arena *arena, struct quantity amount, const struct value *allocatable, const char *name)
{
    double whole = quantity_double(quantity_at(arena, allocatable, name));
    int percent = whole > 0 ? (int)(quantity_double(amount) / whole * 100) : 0;

    return arena_printf(arena, "%.*s (%d%%)", STR_ARG(quantity_is_zero(amount) ? STR("0") : amount.text), percent);
}

static void pods(struct description *d, const struct value *list, const struct value *allocatable)
{
    struct arena *arena = d->k->arena;

    ADD(d, "Non-terminated Pods:\t(%zu in total)\n", value_count(list));
    ADD(d, "  Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge\n");
    ADD(d, "  ---------\t----\t\t------------\t----------\t---------------\t-------------\t---\n");
    VALUE_EACH_ITEM(pod, list)
    {
        ADD(d, "  %.*s\t%.*s\t\t%.*s\t%.*s\t%.*s\t%.*s\t%.*s\n", STR_ARG(value_str_at(*pod, "metadata.namespace")),
            STR_ARG(value_str_at(*pod, "metadata.name")),
            STR_ARG(share(arena, of_pod(arena, *pod, "resources.requests", "cpu"), allocatable, "cpu")),
            STR_ARG(share(arena, of_pod(arena, *pod, "resources.limits", "cpu"), allocatable, "cpu")),
            STR_ARG(share(arena, of_pod(arena, *pod, "resources.requests", "memory"), allocatable, "memory")),
            STR_ARG(share(arena, of_pod(arena, *pod, "resources.limits", "memory"), allocatable, "memory")),
            STR_ARG(describe_age(arena, value_find_path(*pod, "metadata.creationTimestamp"))));
    }
}

static void allocated(struct description *d, const struct value *list, const struct value *allocatable)
{
    static const char *const names[] = {"cpu", "memory", "ephemeral-storage"};
    struct arena *arena = d->k->arena;

    ADD(d, "Allocated resources:\n  (Total limits may be over 100 percent, i.e., overcommitted.)\n"
           "  Resource\tRequests\tLimits\n  --------\t--------\t------\n");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct totals totals = {{STR("0")}, {STR("0")}};

        VALUE_EACH_ITEM(pod, list)
        {
            totals.requests = quantity_add(arena, totals.requests, of_pod(arena, *pod, "resources.requests", names[i]));
            totals.limits = quantity_add(arena, totals.limits, of_pod(arena, *pod, "resources.limits", names[i]));
        }
        ADD(d, "  %s\t%.*s\t%.*s\n", names[i], STR_ARG(share(arena, totals.requests, allocatable, names[i])),
            STR_ARG(share(arena, totals.limits, allocatable, names[i])));
    }
}

static struct status *load(struct description *d, const struct value *node)
{
    struct kubectl *k = d->k;
    const struct value *allocatable = value_find_path(node, "status.allocatable");
    struct str selector = arena_printf(k->arena, "spec.nodeName=%.*s,status.phase!=Succeeded,status.phase!=Failed",
                                       STR_ARG(value_str_at(node, "metadata.name")));
    struct value *list;

    TRY(api_get(k, path_with(k, STR("/api/v1/pods"), "fieldSelector", selector), &list));
    pods(d, value_find(list, STR("items")), allocatable);
    allocated(d, value_find(list, STR("items")), allocatable);
    return NULL;
}

struct status *describe_node(struct description *d, const struct value *node)
{
    struct arena *arena = d->k->arena;
    const struct value *unschedulable = value_find_path(node, "spec.unschedulable");
    struct str cidrs = STR("");

    ADD(d, "Name:\t%.*s\n", STR_ARG(value_str_at(node, "metadata.name")));
    ADD(d, "Roles:\t%.*s\n", STR_ARG(roles_of(arena, value_find_path(node, "metadata.labels"))));
    describe_map(d, "", "Labels", value_find_path(node, "metadata.labels"));
    describe_annotations(d, "", "Annotations", value_find_path(node, "metadata.annotations"));
    ADD(d, "CreationTimestamp:\t%.*s\n",
        STR_ARG(describe_time(arena, value_find_path(node, "metadata.creationTimestamp"))));
    taints(d, value_find_path(node, "spec.taints"));
    ADD(d, "Unschedulable:\t%s\n", value_is(unschedulable, VALUE_BOOL) && unschedulable->boolean ? "true" : "false");
    lease(d, value_str_at(node, "metadata.name"));
    conditions(d, value_find_path(node, "status.conditions"));
    ADD(d, "Addresses:\n");
    VALUE_EACH_ITEM(address, value_find_path(node, "status.addresses"))
    {
        ADD(d, "  %.*s:\t%.*s\n", STR_ARG(value_str_at(*address, "type")), STR_ARG(value_str_at(*address, "address")));
    }
    amounts(d, "Capacity", value_find_path(node, "status.capacity"));
    amounts(d, "Allocatable", value_find_path(node, "status.allocatable"));
    system_info(d, value_find_path(node, "status.nodeInfo"));
    if (value_str_at(node, "spec.podCIDR").n > 0) {
        ADD(d, "PodCIDR:\t%.*s\n", STR_ARG(value_str_at(node, "spec.podCIDR")));
    }
    VALUE_EACH_ITEM(cidr, value_find_path(node, "spec.podCIDRs"))
    {
        cidrs = arena_printf(arena, "%.*s%s%.*s", STR_ARG(cidrs), cidrs.n > 0 ? "," : "", STR_ARG(value_str(*cidr)));
    }
    if (cidrs.n > 0) {
        ADD(d, "PodCIDRs:\t%.*s\n", STR_ARG(cidrs));
    }
    if (value_str_at(node, "spec.providerID").n > 0) {
        ADD(d, "ProviderID:\t%.*s\n", STR_ARG(value_str_at(node, "spec.providerID")));
    }
    return load(d, node);
}
