/* Kinds of resource.k8s.io. Their rules stand in the descriptions, but for those that look at more than one field. The
 * expressions in selectors are CEL, which isn't looked into here. */
#include "api/resource_v1.h"
#include "api/validation/declared.h"
#include "api/validation/kinds.h"

static bool names_request(const struct resource_v1_device_claim *claim, struct str name)
{
    struct str request, inner;
    bool has_inner = str_cut(name, '/', &request, &inner);

    LIST_EACH(candidate, &claim->requests) {
        if (!str_eq(candidate->name, request)) {
            continue;
        }
        if (!has_inner) {
            return true;
        }
        LIST_EACH(alternative, &candidate->first_available) {
            if (str_eq(alternative->name, inner)) {
                return true;
            }
        }
    }
    return false;
}

static void check_requests(struct status *to, const struct path *at, const struct str_list *names,
                           const struct resource_v1_device_claim *claim)
{
    LIST_EACH(name, names) {
        if (!names_request(claim, *name)) {
            check_invalid_str(to, ITEM(at, INDEX_OF(name, names)), *name,
                              "must be the name of a request in the claim or the name of a request and a subrequest "
                              "separated by '/'");
        }
    }
}

static void check_claim(struct status *to, const struct path *at, const struct resource_v1_device_claim *claim)
{
    LIST_EACH(constraint, &claim->constraints) {
        const struct path *one = ITEM(AT(at, "constraints"), INDEX_OF(constraint, &claim->constraints));

        check_requests(to, AT(one, "requests"), &constraint->requests, claim);
    }
    LIST_EACH(config, &claim->config) {
        const struct path *one = ITEM(AT(at, "config"), INDEX_OF(config, &claim->config));

        check_requests(to, AT(one, "requests"), &config->requests, claim);
    }
}

void validate_resource_claim(struct status *to, const void *object)
{
    const struct resource_v1_resource_claim *claim = object;

    check_claim(to, AT(AT(NULL, "spec"), "devices"), &claim->spec.devices);
    check_declared(to, NULL, &resource_v1_resource_claim_type, object);
}

void validate_resource_claim_update(struct status *to, const void *object, const void *old)
{
    check_declared_update(to, NULL, &resource_v1_resource_claim_type, object, old);
}

void validate_resource_claim_template(struct status *to, const void *object)
{
    const struct resource_v1_resource_claim_template *template = object;

    check_claim(to, AT(AT(AT(NULL, "spec"), "spec"), "devices"), &template->spec.spec.devices);
    check_declared(to, NULL, &resource_v1_resource_claim_template_type, object);
}

void validate_resource_claim_template_update(struct status *to, const void *object, const void *old)
{
    check_immutable_struct(to, AT(NULL, "spec"), &resource_v1_resource_claim_template_spec_type,
                           &((const struct resource_v1_resource_claim_template *)object)->spec,
                           &((const struct resource_v1_resource_claim_template *)old)->spec);
}

void validate_resource_slice(struct status *to, const void *object)
{
    check_declared(to, NULL, &resource_v1_resource_slice_type, object);
}

/* Who publishes a slice, and for which node and pool, stays. */
void validate_resource_slice_update(struct status *to, const void *object, const void *old_object)
{
    const struct resource_v1_resource_slice_spec *spec = &((const struct resource_v1_resource_slice *)object)->spec;
    const struct resource_v1_resource_slice_spec *old = &((const struct resource_v1_resource_slice *)old_object)->spec;
    struct str node = spec->node_name == NULL ? (struct str){0} : *spec->node_name;
    struct str old_node = old->node_name == NULL ? (struct str){0} : *old->node_name;

    validate_resource_slice(to, object);
    check_immutable_str(to, AT(AT(AT(NULL, "spec"), "pool"), "name"), spec->pool.name, old->pool.name);
    check_immutable_str(to, AT(AT(NULL, "spec"), "driver"), spec->driver, old->driver);
    check_immutable_str(to, AT(AT(NULL, "spec"), "nodeName"), node, old_node);
}

void validate_device_class(struct status *to, const void *object)
{
    check_declared(to, NULL, &resource_v1_device_class_type, object);
}

void validate_device_class_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_device_class(to, object);
}

void validate_device_taint_rule(struct status *to, const void *object)
{
    static const char *const effects[] = {"NoExecute", "NoSchedule", "None", NULL};
    const struct resource_v1_device_taint_rule_spec *spec =
        &((const struct resource_v1_device_taint_rule *)object)->spec;
    const struct path *selector = AT(AT(NULL, "spec"), "deviceSelector"), *taint = AT(AT(NULL, "spec"), "taint");

    if (spec->device_selector != NULL && spec->device_selector->driver != NULL) {
        check_name(to, AT(selector, "driver"), *spec->device_selector->driver, name_is_dns1123_subdomain);
    }
    if (spec->device_selector != NULL && spec->device_selector->device != NULL) {
        check_name(to, AT(selector, "device"), *spec->device_selector->device, name_is_dns1123_label);
    }
    check_name(to, AT(taint, "key"), spec->taint.key, name_is_qualified);
    if (spec->taint.value.n != 0) {
        check_name(to, AT(taint, "value"), spec->taint.value, name_is_label_value);
    }
    if (check_present(to, AT(taint, "effect"), spec->taint.effect)) {
        check_one_of(to, AT(taint, "effect"), spec->taint.effect, effects);
    }
}

void validate_device_taint_rule_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_device_taint_rule(to, object);
}
