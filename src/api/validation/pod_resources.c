#include "api/validation/pod.h"
#include "base/buf.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

static bool has_domain(struct str name)
{
    return str_index(name, '/') != SIZE_MAX;
}

bool resource_is_native(struct str name)
{
    return !has_domain(name) || str_contains(name, STR("kubernetes.io/"));
}

bool resource_is_huge_page(struct str name)
{
    return str_has_prefix(name, STR("hugepages-"));
}

bool resource_is_overcommitted(struct str name)
{
    return resource_is_native(name) && !resource_is_huge_page(name);
}

bool resource_is_extended(struct str name)
{
    return !resource_is_native(name) && !str_has_prefix(name, STR("requests.")) && name_is_qualified(name, NULL);
}

/* Of containers. */
static bool is_container_resource(struct str name)
{
    static const char *const known[] = {"cpu", "memory", "ephemeral-storage", NULL};

    return is_one_of(name, known) || resource_is_huge_page(name);
}

static bool is_counted(struct str name)
{
    static const char *const known[] = {
        "pods",       "resourcequotas",         "services",           "replicationcontrollers", "secrets",
        "configmaps", "persistentvolumeclaims", "services.nodeports", "services.loadbalancers", NULL};

    return is_one_of(name, known);
}

bool resource_is_standard(struct str name)
{
    static const char *const known[] = {"requests.cpu", "requests.memory",  "requests.ephemeral-storage",
                                        "limits.cpu",   "limits.memory",    "limits.ephemeral-storage",
                                        "storage",      "requests.storage", NULL};

    return is_container_resource(name) || is_counted(name) || is_one_of(name, known) ||
           str_has_prefix(name, STR("requests.hugepages-"));
}

void check_resource_name(struct status *to, const struct path *at, struct str name)
{
    if (check_name(to, at, name, name_is_qualified) && !has_domain(name) && !resource_is_standard(name)) {
        check_invalid_str(to, at, name, "must be a standard resource type or fully qualified");
    }
}

void check_container_resource_name(struct status *to, const struct path *at, struct str name)
{
    check_resource_name(to, at, name);
    if (!has_domain(name)) {
        if (!is_container_resource(name)) {
            check_invalid_str(to, at, name, "must be a standard resource for containers");
        }
    } else if (!resource_is_native(name) && !resource_is_extended(name)) {
        check_invalid_str(to, at, name, "doesn't follow extended resource name standard");
    }
}

void check_resource_amount(struct status *to, const struct path *at, struct str name, struct quantity amount)
{
    if (quantity_cmp(amount, (struct quantity){STR("0")}) < 0) {
        check_invalid_str(to, at, amount.text, "must be greater than or equal to 0");
    }
    if ((is_counted(name) || resource_is_extended(name)) && quantity_milli(amount) % 1000 != 0) {
        check_invalid_str(to, at, amount.text, "must be an integer");
    }
}

static void check_against_limit(struct status *to, const struct path *at, const struct quantity_entry *request,
                                const struct quantity_map *limits)
{
    const struct quantity *limit = quantity_map_get(limits, request->key);
    bool may_differ = resource_is_overcommitted(request->key);

    if (limit == NULL) {
        if (!may_differ) {
            check_required(to, AT(at, "limits"), "Limit must be set for non overcommitable resources");
        }
    } else if (!may_differ && quantity_cmp(request->value, *limit) != 0) {
        check_invalid_str(to, AT(at, "requests"), request->value.text, "must be equal to %.*s limit of %.*s",
                          STR_ARG(request->key), STR_ARG(limit->text));
    } else if (quantity_cmp(request->value, *limit) > 0) {
        check_invalid_str(to, AT(at, "requests"), request->value.text,
                          "must be less than or equal to %.*s limit of %.*s", STR_ARG(request->key),
                          STR_ARG(limit->text));
    }
}

static void check_claims(struct status *to, const struct path *at,
                         const struct core_v1_resource_requirements *resources, const struct pod_names *known)
{
    enum { LIST_MAX_BYTES = 4096 };
    OWNED(seen_done) struct seen seen = {0};

    LIST_EACH(claim, &resources->claims) {
        const struct path *one = ITEM(at, INDEX_OF(claim, &resources->claims));
        struct str name = claim->request.n == 0
                              ? claim->name
                              : arena_printf(to->arena, "%.*s/%.*s", STR_ARG(claim->name), STR_ARG(claim->request));

        if (claim->name.n == 0) {
            check_required(to, one, "%s", "");
            continue;
        }
        if (seen_before(&seen, name)) {
            check_duplicate(to, one, name);
        }
        if (seen_has(&known->claims, claim->name)) {
            continue;
        }
        if (known->claim_list.len == 0) {
            check_not_found(to, one, claim->name, "pod.spec.resourceClaims is empty");
        } else {
            OWNED(buf_done) struct buf names = {0};

            LIST_EACH(other, &known->claim_list) {
                if (names.n > LIST_MAX_BYTES) {
                    break;
                }
                buf_printf(&names, "%s%.*s", names.n == 0 ? "" : ", ", STR_ARG(*other));
            }
            check_not_found(to, one, claim->name, "must be one of the names in pod.spec.resourceClaims: %.*s",
                            STR_ARG(buf_str(&names)));
        }
    }
}

void check_resources(struct status *to, const struct path *at, const struct core_v1_resource_requirements *resources,
                     const struct pod_names *names)
{
    bool has_base = false, has_huge = false;

    LIST_EACH(limit, &resources->limits) {
        const struct path *one = KEY(AT(at, "limits"), limit->key);

        check_container_resource_name(to, one, limit->key);
        check_resource_amount(to, one, limit->key, limit->value);
        has_base |= str_is(limit->key, "cpu") || str_is(limit->key, "memory");
        has_huge |= resource_is_huge_page(limit->key);
    }
    LIST_EACH(request, &resources->requests) {
        const struct path *one = KEY(AT(at, "requests"), request->key);

        check_container_resource_name(to, one, request->key);
        check_resource_amount(to, one, request->key, request->value);
        check_against_limit(to, at, request, &resources->limits);
        has_base |= str_is(request->key, "cpu") || str_is(request->key, "memory");
        has_huge |= resource_is_huge_page(request->key);
    }
    if (has_huge && !has_base) {
        check_forbidden(to, at, "HugePages require cpu or memory");
    }
    check_claims(to, AT(at, "claims"), resources, names);
}
