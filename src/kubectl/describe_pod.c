/* kubectl describe pod. */
#include "kubectl/describe.h"

#include "kubectl/request.h"

#define ADD(d, ...) buf_printf(&(d)->text, __VA_ARGS__)

static void optional_line(struct description *d, const char *title, struct str text)
{
    if (text.n > 0) {
        ADD(d, "%s:\t%.*s\n", title, STR_ARG(text));
    }
}

static void head(struct description *d, const struct value *pod)
{
    struct arena *arena = d->k->arena;
    struct str node = value_str_at(pod, "spec.nodeName");
    const struct value *priority = value_find_path(pod, "spec.priority");

    ADD(d, "Name:\t%.*s\n", STR_ARG(value_str_at(pod, "metadata.name")));
    ADD(d, "Namespace:\t%.*s\n", STR_ARG(value_str_at(pod, "metadata.namespace")));
    if (priority != NULL) {
        ADD(d, "Priority:\t%.*s\n", STR_ARG(describe_value(arena, priority)));
    }
    optional_line(d, "Priority Class Name", value_str_at(pod, "spec.priorityClassName"));
    optional_line(d, "Runtime Class Name", value_str_at(pod, "spec.runtimeClassName"));
    optional_line(d, "Service Account", value_str_at(pod, "spec.serviceAccountName"));
    if (node.n == 0) {
        ADD(d, "Node:\t<none>\n");
    } else {
        ADD(d, "Node:\t%.*s/%.*s\n", STR_ARG(node), STR_ARG(value_str_at(pod, "status.hostIP")));
    }
    if (value_find_path(pod, "status.startTime") != NULL) {
        ADD(d, "Start Time:\t%.*s\n", STR_ARG(describe_time(arena, value_find_path(pod, "status.startTime"))));
    }
    describe_map(d, "", "Labels", value_find_path(pod, "metadata.labels"));
    describe_annotations(d, "", "Annotations", value_find_path(pod, "metadata.annotations"));
}

static void state(struct description *d, const struct value *pod)
{
    struct arena *arena = d->k->arena;
    const struct value *deleted = value_find_path(pod, "metadata.deletionTimestamp");
    const struct value *ips = value_find_path(pod, "status.podIPs");

    if (deleted != NULL) {
        ADD(d, "Status:\tTerminating (lasts %.*s)\n", STR_ARG(describe_age(arena, deleted)));
        ADD(d, "Termination Grace Period:\t%.*ss\n",
            STR_ARG(describe_value(arena, value_find_path(pod, "metadata.deletionGracePeriodSeconds"))));
    } else {
        ADD(d, "Status:\t%.*s\n", STR_ARG(value_str_at(pod, "status.phase")));
    }
    optional_line(d, "Reason", value_str_at(pod, "status.reason"));
    optional_line(d, "Message", value_str_at(pod, "status.message"));
    optional_line(d, "SeccompProfile", value_str_at(pod, "spec.securityContext.seccompProfile.type"));
    ADD(d, "IP:\t%.*s\n", STR_ARG(value_str_at(pod, "status.podIP")));
    ADD(d, "IPs:%s\n", value_count(ips) == 0 ? "\t<none>" : "");
    VALUE_EACH_ITEM(ip, ips)
    {
        ADD(d, "  IP:\t%.*s\n", STR_ARG(value_str_at(*ip, "ip")));
    }
    describe_controller(d, pod);
    optional_line(d, "NominatedNodeName", value_str_at(pod, "status.nominatedNodeName"));
}

static void conditions(struct description *d, const struct value *list)
{
    if (value_count(list) == 0) {
        return;
    }
    ADD(d, "Conditions:\n  Type\tStatus\n");
    VALUE_EACH_ITEM(condition, list)
    {
        ADD(d, "  %.*s \t%.*s \n", STR_ARG(value_str_at(*condition, "type")), STR_ARG(value_str_at(*condition, "status")));
    }
}

struct status *describe_pod(struct description *d, const struct value *pod)
{
    const struct value *init = value_find_path(pod, "spec.initContainers");
    const struct value *ephemeral = value_find_path(pod, "spec.ephemeralContainers");

    head(d, pod);
    state(d, pod);
    if (value_count(init) > 0) {
        describe_containers(d, "Init Containers", init, value_find_path(pod, "status.initContainerStatuses"), pod, "");
    }
    describe_containers(d, "Containers", value_find_path(pod, "spec.containers"),
                        value_find_path(pod, "status.containerStatuses"), pod, "");
    if (value_count(ephemeral) > 0) {
        describe_containers(d, "Ephemeral Containers", ephemeral,
                            value_find_path(pod, "status.ephemeralContainerStatuses"), pod, "");
    }
    conditions(d, value_find_path(pod, "status.conditions"));
    describe_volumes(d, value_find_path(pod, "spec.volumes"), "");
    ADD(d, "QoS Class:\t%.*s\n", STR_ARG(value_str_at(pod, "status.qosClass")));
    describe_map(d, "", "Node-Selectors", value_find_path(pod, "spec.nodeSelector"));
    describe_tolerations(d, "", value_find_path(pod, "spec.tolerations"));
    return NULL;
}
