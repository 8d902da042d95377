/* kubectl describe deployment and replicaset. */
#include "kubectl/describe.h"
#include "kubectl/pods.h"
#include "kubectl/request.h"

#define ADD(d, ...) buf_printf(&(d)->text, __VA_ARGS__)
#define REVISION STR("deployment.kubernetes.io/revision")

static long long count_at(const struct value *object, const char *path)
{
    const struct value *value = value_find_path(object, path);

    return value_is(value, VALUE_INT) ? value->integer : 0;
}

void describe_template(struct description *d, const struct value *template)
{
    const struct value *annotations = value_find_path(template, "metadata.annotations");
    const struct value *init = value_find_path(template, "spec.initContainers");
    struct str account = value_str_at(template, "spec.serviceAccountName");

    ADD(d, "Pod Template:\n");
    describe_map(d, "  ", "Labels", value_find_path(template, "metadata.labels"));
    if (value_count(annotations) > 0) {
        describe_annotations(d, "  ", "Annotations", annotations);
    }
    if (account.n > 0) {
        ADD(d, "  Service Account:\t%.*s\n", STR_ARG(account));
    }
    if (value_count(init) > 0) {
        describe_containers(d, "Init Containers", init, NULL, NULL, " ");
    }
    describe_containers(d, "Containers", value_find_path(template, "spec.containers"), NULL, NULL, " ");
    describe_volumes(d, value_find_path(template, "spec.volumes"), "  ");
    describe_map(d, "  ", "Node-Selectors", value_find_path(template, "spec.nodeSelector"));
    describe_tolerations(d, "  ", value_find_path(template, "spec.tolerations"));
}

static void conditions(struct description *d, const struct value *list)
{
    if (value_count(list) == 0) {
        return;
    }
    ADD(d, "Conditions:\n  Type\tStatus\tReason\n  ----\t------\t------\n");
    VALUE_EACH_ITEM(condition, list)
    {
        ADD(d, "  %.*s \t%.*s\t%.*s\n", STR_ARG(value_str_at(*condition, "type")),
            STR_ARG(value_str_at(*condition, "status")), STR_ARG(value_str_at(*condition, "reason")));
    }
}

/* What the selector of a workload picks, of a resource of its namespace. */
static struct status *selected_by(struct kubectl *k, const struct value *workload, const char *group,
                                  const char *resource, struct value **ret_items)
{
    struct str selector, path;
    struct value *list;

    TRY(selector_text(k, value_find_path(workload, "spec.selector"), &selector));
    path = arena_printf(k->arena, "%s/namespaces/%.*s/%s", group, STR_ARG(value_str_at(workload, "metadata.namespace")),
                        resource);
    TRY(api_get(k, path_with(k, path, "labelSelector", selector), &list));
    *ret_items = value_find(list, STR("items"));
    return NULL;
}

static bool is_owned(const struct value *object, const struct value *owner)
{
    VALUE_EACH_ITEM(reference, value_find_path(object, "metadata.ownerReferences"))
    {
        if (str_eq(value_str_at(*reference, "uid"), value_str_at(owner, "metadata.uid"))) {
            return true;
        }
    }
    return false;
}

static struct str sets_text(struct description *d, const struct value *sets, const struct value *deployment, bool new)
{
    struct str revision = value_str(value_find(value_find_path(deployment, "metadata.annotations"), REVISION));
    struct str text = STR("");

    VALUE_EACH_ITEM(set, sets)
    {
        struct str own = value_str(value_find(value_find_path(*set, "metadata.annotations"), REVISION));
        bool is_new = revision.n > 0 && str_eq(own, revision);

        if (!is_owned(*set, deployment) || is_new != new) {
            continue;
        }
        text = arena_printf(d->k->arena, "%.*s%s%.*s (%lld/%lld replicas created)", STR_ARG(text), text.n > 0 ? ", " : "",
                            STR_ARG(value_str_at(*set, "metadata.name")), count_at(*set, "status.replicas"),
                            count_at(*set, "spec.replicas"));
    }
    return describe_or_none(text);
}

static void strategy(struct description *d, const struct value *deployment)
{
    const struct value *rolling = value_find_path(deployment, "spec.strategy.rollingUpdate");

    ADD(d, "StrategyType:\t%.*s\n", STR_ARG(value_str_at(deployment, "spec.strategy.type")));
    ADD(d, "MinReadySeconds:\t%lld\n", count_at(deployment, "spec.minReadySeconds"));
    if (rolling != NULL) {
        ADD(d, "RollingUpdateStrategy:\t%.*s max unavailable, %.*s max surge\n",
            STR_ARG(describe_value(d->k->arena, value_find(rolling, STR("maxUnavailable")))),
            STR_ARG(describe_value(d->k->arena, value_find(rolling, STR("maxSurge")))));
    }
}

struct status *describe_deployment(struct description *d, const struct value *deployment)
{
    struct kubectl *k = d->k;
    struct value *sets;
    struct str selector;

    TRY(selector_text(k, value_find_path(deployment, "spec.selector"), &selector));
    TRY(selected_by(k, deployment, "/apis/apps/v1", "replicasets", &sets));
    ADD(d, "Name:\t%.*s\n", STR_ARG(value_str_at(deployment, "metadata.name")));
    ADD(d, "Namespace:\t%.*s\n", STR_ARG(value_str_at(deployment, "metadata.namespace")));
    ADD(d, "CreationTimestamp:\t%.*s\n",
        STR_ARG(describe_time(k->arena, value_find_path(deployment, "metadata.creationTimestamp"))));
    describe_map(d, "", "Labels", value_find_path(deployment, "metadata.labels"));
    describe_annotations(d, "", "Annotations", value_find_path(deployment, "metadata.annotations"));
    ADD(d, "Selector:\t%.*s\n", STR_ARG(selector));
    ADD(d, "Replicas:\t%lld desired | %lld updated | %lld total | %lld available | %lld unavailable\n",
        count_at(deployment, "spec.replicas"), count_at(deployment, "status.updatedReplicas"),
        count_at(deployment, "status.replicas"), count_at(deployment, "status.availableReplicas"),
        count_at(deployment, "status.unavailableReplicas"));
    strategy(d, deployment);
    describe_template(d, value_find_path(deployment, "spec.template"));
    conditions(d, value_find_path(deployment, "status.conditions"));
    ADD(d, "OldReplicaSets:\t%.*s\n", STR_ARG(sets_text(d, sets, deployment, false)));
    ADD(d, "NewReplicaSet:\t%.*s\n", STR_ARG(sets_text(d, sets, deployment, true)));
    return NULL;
}

/* How many of the set's pods are in a phase. */
static long long in_phase(const struct value *pods, const struct value *owner, const char *phase)
{
    long long count = 0;

    VALUE_EACH_ITEM(pod, pods)
    {
        count += is_owned(*pod, owner) && str_is(value_str_at(*pod, "status.phase"), phase);
    }
    return count;
}

struct status *describe_replicaset(struct description *d, const struct value *set)
{
    struct kubectl *k = d->k;
    struct value *pods;
    struct str selector;

    TRY(selector_text(k, value_find_path(set, "spec.selector"), &selector));
    TRY(selected_by(k, set, "/api/v1", "pods", &pods));
    ADD(d, "Name:\t%.*s\n", STR_ARG(value_str_at(set, "metadata.name")));
    ADD(d, "Namespace:\t%.*s\n", STR_ARG(value_str_at(set, "metadata.namespace")));
    ADD(d, "Selector:\t%.*s\n", STR_ARG(selector));
    describe_map(d, "", "Labels", value_find_path(set, "metadata.labels"));
    describe_annotations(d, "", "Annotations", value_find_path(set, "metadata.annotations"));
    describe_controller(d, set);
    ADD(d, "Replicas:\t%lld current / %lld desired\n", count_at(set, "status.replicas"), count_at(set, "spec.replicas"));
    ADD(d, "Pods Status:\t%lld Running / %lld Waiting / %lld Succeeded / %lld Failed\n", in_phase(pods, set, "Running"),
        in_phase(pods, set, "Pending"), in_phase(pods, set, "Succeeded"), in_phase(pods, set, "Failed"));
    describe_template(d, value_find_path(set, "spec.template"));
    conditions(d, value_find_path(set, "status.conditions"));
    return NULL;
}
