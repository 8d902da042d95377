#include "api/core_v1.h"
#include "api/node_v1.h"
#include "api/validation/declared.h"
#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "api/validation/network.h"
#include "api/validation/pod.h"
#include "schema/copy.h"
#include "schema/ip.h"

static void check_taints(struct status *to, const struct path *at, const struct core_v1_node_spec *spec)
{
    OWNED(seen_done) struct seen seen = {0};

    LIST_EACH(taint, &spec->taints) {
        const struct path *one = ITEM(at, INDEX_OF(taint, &spec->taints));
        struct name_errors errors = {0};

        check_name(to, AT(one, "key"), taint->key, name_is_qualified);
        if (!name_is_label_value(taint->value, &errors)) {
            check_invalid_str(to, AT(one, "value"), taint->value, "%.*s",
                              STR_ARG(name_errors_join(to->arena, &errors, ";")));
        }
        check_taint_effect(to, AT(one, "effect"), taint->effect, false);
        if (seen_pair_before(&seen, taint->key, taint->effect)) {
            check_duplicate_json(to, one, dump_struct(to->arena, &core_v1_taint_type, taint));
        }
    }
}

static void check_pod_cidrs(struct status *to, const struct path *at, const struct core_v1_node_spec *spec)
{
    struct cidr first, second;

    LIST_EACH(cidr, &spec->pod_cidrs) {
        check_cidr(to, ITEM(at, INDEX_OF(cidr, &spec->pod_cidrs)), *cidr);
    }
    if (spec->pod_cidrs.len > 2 ||
        (spec->pod_cidrs.len == 2 && cidr_parse(spec->pod_cidrs.items[0], &first) &&
         cidr_parse(spec->pod_cidrs.items[1], &second) && first.ip.length == second.ip.length)) {
        check_invalid_json(to, at, dump_strings(to->arena, &spec->pod_cidrs),
                           "may specify no more than one CIDR for each IP family");
    }
}

static void check_amounts(struct status *to, const struct path *at, const struct core_v1_node_status *status)
{
    LIST_EACH(amount, &status->capacity) {
        check_resource_amount(to, KEY(AT(at, "capacity"), amount->key), amount->key, amount->value);
    }
    LIST_EACH(amount, &status->allocatable) {
        check_resource_amount(to, KEY(AT(at, "allocatable"), amount->key), amount->key, amount->value);
    }
}

void validate_node(struct status *to, const void *object)
{
    const struct core_v1_node *node = object;
    const struct path *spec = AT(NULL, "spec");

    check_taints(to, AT(spec, "taints"), &node->spec);
    check_amounts(to, AT(NULL, "status"), &node->status);
    check_pod_cidrs(to, AT(spec, "podCIDRs"), &node->spec);
}

static bool same_strings(const struct str_list *a, const struct str_list *b)
{
    for (size_t i = 0; i < a->len && a->len == b->len; i++) {
        if (!str_eq(a->items[i], b->items[i])) {
            return false;
        }
    }
    return a->len == b->len;
}

void validate_node_update(struct status *to, const void *object, const void *old_object)
{
    const struct core_v1_node *node = object, *old = old_object;
    const struct path *spec = AT(NULL, "spec");
    OWNED(seen_done) struct seen seen = {0};

    LIST_EACH(address, &node->status.addresses) {
        if (seen_pair_before(&seen, address->type, address->address)) {
            check_duplicate_json(to,
                                 ITEM(AT(AT(NULL, "status"), "addresses"), INDEX_OF(address, &node->status.addresses)),
                                 dump_struct(to->arena, &core_v1_node_address_type, address));
        }
    }
    check_pod_cidrs(to, AT(spec, "podCIDRs"), &node->spec);
    if (old->spec.pod_cidrs.len > 0 && !same_strings(&node->spec.pod_cidrs, &old->spec.pod_cidrs)) {
        check_forbidden(to, AT(spec, "podCIDRs"), "node updates may not change podCIDR except from \"\" to valid");
    }
    if (old->spec.provider_id.n > 0 && !str_eq(node->spec.provider_id, old->spec.provider_id)) {
        check_forbidden(to, AT(spec, "providerID"), "node updates may not change providerID except from \"\" to valid");
    }
    check_taints(to, AT(spec, "taints"), &node->spec);
    check_amounts(to, AT(NULL, "status"), &node->status);
}

void validate_runtime_class(struct status *to, const void *object)
{
    const struct node_v1_runtime_class *class = object;
    const struct path *at = AT(NULL, "scheduling");

    check_declared(to, NULL, &node_v1_runtime_class_type, object);
    if (class->scheduling != NULL) {
        const struct core_v1_pod_spec spec = {
            .tolerations = {.items = class->scheduling->tolerations.items, .len = class->scheduling->tolerations.len}};

        check_labels(to, AT(at, "nodeSelector"), &class->scheduling->node_selector);
        check_tolerations(to, AT(at, "tolerations"), &spec);
    }
}

void validate_runtime_class_update(struct status *to, const void *object, const void *old)
{
    const struct node_v1_runtime_class *class = object;

    check_immutable_str(to, AT(NULL, "handler"), class->handler, ((const struct node_v1_runtime_class *)old)->handler);
}
