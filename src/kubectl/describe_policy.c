/* kubectl describe of kinds that say how others may live: accounts, roles, classes, budgets, namespaces. */
#include "kubectl/describe.h"
#include "kubectl/pods.h"
#include "kubectl/request.h"

#include <stdlib.h>

#define ADD(d, ...) buf_printf(&(d)->text, __VA_ARGS__)

static void name_line(struct description *d, const struct value *object)
{
    ADD(d, "Name:\t%.*s\n", STR_ARG(value_str_at(object, "metadata.name")));
}

static void namespace_line(struct description *d, const struct value *object)
{
    ADD(d, "Namespace:\t%.*s\n", STR_ARG(value_str_at(object, "metadata.namespace")));
}

static void labels(struct description *d, const struct value *object)
{
    describe_map(d, "", "Labels", value_find_path(object, "metadata.labels"));
}

static void annotations(struct description *d, const struct value *object)
{
    describe_annotations(d, "", "Annotations", value_find_path(object, "metadata.annotations"));
}

static struct str text_at(struct description *d, const struct value *object, const char *path, const char *otherwise)
{
    const struct value *value = value_find_path(object, path);

    return value == NULL ? str_of(otherwise) : describe_value(d->k->arena, value);
}

static const char *truth_at(const struct value *object, const char *path, const char *otherwise)
{
    const struct value *value = value_find_path(object, path);

    return !value_is(value, VALUE_BOOL) ? otherwise : value->boolean ? "True" : "False";
}

struct status *describe_secret(struct description *d, const struct value *secret)
{
    const struct value *data = value_find(secret, STR("data"));
    struct str *keys = value_sorted_keys(d->k->arena, data);

    name_line(d, secret);
    namespace_line(d, secret);
    labels(d, secret);
    annotations(d, secret);
    ADD(d, "\nType:\t%.*s\n\nData\n====\n", STR_ARG(value_str_at(secret, "type")));
    for (size_t i = 0; i < value_count(data); i++) {
        struct str text = value_str(value_find(data, keys[i]));
        size_t padding = str_has_suffix(text, STR("==")) ? 2 : str_has_suffix(text, STR("=")) ? 1 : 0;

        ADD(d, "%.*s:\t%zu bytes\n", STR_ARG(keys[i]), text.n / 4 * 3 - padding);
    }
    return NULL;
}

struct status *describe_service_account(struct description *d, const struct value *account)
{
    const struct value *secrets = value_find(account, STR("imagePullSecrets"));
    bool is_first = true;

    name_line(d, account);
    namespace_line(d, account);
    labels(d, account);
    annotations(d, account);
    ADD(d, "Image pull secrets:\t%s", value_count(secrets) == 0 ? "<none>\n" : "");
    VALUE_EACH_ITEM(secret, secrets)
    {
        ADD(d, "%s%.*s\n", is_first ? "" : "                   \t", STR_ARG(value_str_at(*secret, "name")));
        is_first = false;
    }
    return NULL;
}

struct status *describe_disruption_budget(struct description *d, const struct value *budget)
{
    bool has_min = value_find_path(budget, "spec.minAvailable") != NULL;
    struct str selector;

    TRY(selector_text(d->k, value_find_path(budget, "spec.selector"), &selector));
    name_line(d, budget);
    namespace_line(d, budget);
    ADD(d, "%s:\t%.*s\n", has_min ? "Min available" : "Max unavailable",
        STR_ARG(text_at(d, budget, has_min ? "spec.minAvailable" : "spec.maxUnavailable", "")));
    ADD(d, "Selector:\t%.*s\n", STR_ARG(selector.n > 0 ? selector : STR("<unset>")));
    ADD(d, "Status:\n    Allowed disruptions:\t%.*s\n    Current:\t%.*s\n    Desired:\t%.*s\n    Total:\t%.*s\n",
        STR_ARG(text_at(d, budget, "status.disruptionsAllowed", "0")),
        STR_ARG(text_at(d, budget, "status.currentHealthy", "0")),
        STR_ARG(text_at(d, budget, "status.desiredHealthy", "0")),
        STR_ARG(text_at(d, budget, "status.expectedPods", "0")));
    return NULL;
}

static void topologies(struct description *d, const struct value *terms)
{
    ADD(d, "AllowedTopologies:\t%s\n", value_count(terms) == 0 ? "<none>" : "");
    for (size_t i = 0; i < value_count(terms); i++) {
        const struct value *expressions = value_find(value_item(terms, i), STR("matchLabelExpressions"));

        ADD(d, "  Term %zu:\t%s", i, value_count(expressions) == 0 ? "<none>\n" : "");
        for (size_t j = 0; j < value_count(expressions); j++) {
            struct str values = STR("");

            VALUE_EACH_ITEM(value, value_find(value_item(expressions, j), STR("values")))
            {
                values = arena_printf(d->k->arena, "%.*s%s%.*s", STR_ARG(values), values.n > 0 ? ", " : "",
                                      STR_ARG(value_str(*value)));
            }
            ADD(d, "%s%.*s in [%.*s]\n", j > 0 ? "\t" : "", STR_ARG(value_str_at(value_item(expressions, j), "key")),
                STR_ARG(values));
        }
    }
}

struct status *describe_storage_class(struct description *d, const struct value *class)
{
    const struct value *options = value_find(class, STR("mountOptions")), *terms;
    struct str is_default = value_str(value_find(value_find_path(class, "metadata.annotations"),
                                                 STR("storageclass.kubernetes.io/is-default-class")));

    name_line(d, class);
    ADD(d, "IsDefaultClass:\t%s\n", str_is(is_default, "true") ? "Yes" : "No");
    annotations(d, class);
    ADD(d, "Provisioner:\t%.*s\n", STR_ARG(value_str_at(class, "provisioner")));
    ADD(d, "Parameters:\t%.*s\n", STR_ARG(describe_pairs(d->k->arena, value_find(class, STR("parameters")))));
    ADD(d, "AllowVolumeExpansion:\t%s\n", truth_at(class, "allowVolumeExpansion", "<unset>"));
    ADD(d, "MountOptions:%s\n", value_count(options) == 0 ? "\t<none>" : "");
    VALUE_EACH_ITEM(option, options)
    {
        ADD(d, "  %.*s\n", STR_ARG(value_str(*option)));
    }
    ADD(d, "ReclaimPolicy:\t%.*s\n", STR_ARG(value_str_at(class, "reclaimPolicy")));
    ADD(d, "VolumeBindingMode:\t%.*s\n", STR_ARG(text_at(d, class, "volumeBindingMode", "<unset>")));
    terms = value_find(class, STR("allowedTopologies"));
    if (terms != NULL) {
        topologies(d, terms);
    }
    return NULL;
}

struct status *describe_attributes_class(struct description *d, const struct value *class)
{
    name_line(d, class);
    annotations(d, class);
    ADD(d, "DriverName:\t%.*s\n", STR_ARG(value_str_at(class, "driverName")));
    ADD(d, "Parameters:\t%.*s\n", STR_ARG(describe_pairs(d->k->arena, value_find(class, STR("parameters")))));
    return NULL;
}

struct status *describe_priority_class(struct description *d, const struct value *class)
{
    name_line(d, class);
    ADD(d, "Value:\t%.*s\n", STR_ARG(text_at(d, class, "value", "0")));
    ADD(d, "GlobalDefault:\t%.*s\n", STR_ARG(text_at(d, class, "globalDefault", "false")));
    ADD(d, "PreemptionPolicy:\t%.*s\n", STR_ARG(text_at(d, class, "preemptionPolicy", "PreemptLowerPriority")));
    ADD(d, "Description:\t%.*s\n", STR_ARG(value_str_at(class, "description")));
    annotations(d, class);
    return NULL;
}

/* A line of a role: one resource, perhaps one object, or one URL, with all that is allowed of it. */
struct grant {
    struct str group, resource, url, name;
    struct str_list verbs;
};

struct grants {
    struct grant *items;
    size_t len;
};

static void add_grant(struct arena *arena, struct grants *grants, struct grant wanted, const struct value *verbs)
{
    struct grant *grant = NULL;

    LIST_EACH(other, grants)
    {
        if (str_eq(other->group, wanted.group) && str_eq(other->resource, wanted.resource) &&
            str_eq(other->url, wanted.url) && str_eq(other->name, wanted.name)) {
            grant = other;
        }
    }
    if (grant == NULL) {
        grant = LIST_ADD(arena, grants);
        *grant = wanted;
    }
    VALUE_EACH_ITEM(verb, verbs)
    {
        bool is_known = false;

        LIST_EACH(known, &grant->verbs)
        {
            is_known = is_known || str_eq(*known, value_str(*verb));
        }
        if (!is_known) {
            *LIST_ADD(arena, &grant->verbs) = value_str(*verb);
        }
    }
}

static void add_rule(struct arena *arena, struct grants *grants, const struct value *rule)
{
    const struct value *verbs = value_find(rule, STR("verbs")), *names = value_find(rule, STR("resourceNames"));

    VALUE_EACH_ITEM(url, value_find(rule, STR("nonResourceURLs")))
    {
        add_grant(arena, grants, (struct grant){.url = value_str(*url)}, verbs);
    }
    VALUE_EACH_ITEM(group, value_find(rule, STR("apiGroups")))
    {
        VALUE_EACH_ITEM(resource, value_find(rule, STR("resources")))
        {
            struct grant grant = {.group = value_str(*group), .resource = value_str(*resource)};

            if (value_count(names) == 0) {
                add_grant(arena, grants, grant, verbs);
            }
            VALUE_EACH_ITEM(name, names)
            {
                grant.name = value_str(*name);
                add_grant(arena, grants, grant, verbs);
            }
        }
    }
}

/* As stock, which compares lists in brackets: "[]" comes after "[*]" and before "[apps]". */
static int bracketed_cmp(struct str a, struct str b)
{
    size_t common = MIN(a.n, b.n);
    int order = str_cmp(str_sub(a, 0, common), str_sub(b, 0, common));

    if (order != 0 || a.n == b.n) {
        return order;
    }
    return a.n == common ? ']' - (unsigned char)b.p[common] : (unsigned char)a.p[common] - ']';
}

static int by_place(const void *left, const void *right)
{
    const struct grant *a = left, *b = right;
    int order = (a->url.n > 0) - (b->url.n > 0);

    order = order != 0 ? order : bracketed_cmp(a->group, b->group);
    order = order != 0 ? order : bracketed_cmp(a->resource, b->resource);
    order = order != 0 ? order : bracketed_cmp(a->url, b->url);
    return order != 0 ? order : bracketed_cmp(a->name, b->name);
}

/* "deployments.apps/scale" */
static struct str resource_text(struct arena *arena, const struct grant *grant)
{
    struct str resource, subresource;
    bool has_sub = str_cut(grant->resource, '/', &resource, &subresource);

    if (grant->group.n == 0) {
        return grant->resource;
    }
    return arena_printf(arena, "%.*s.%.*s%s%.*s", STR_ARG(resource), STR_ARG(grant->group), has_sub ? "/" : "",
                        STR_ARG(subresource));
}

struct status *describe_role(struct description *d, const struct value *role)
{
    struct arena *arena = d->k->arena;
    struct grants grants = {0};

    name_line(d, role);
    labels(d, role);
    annotations(d, role);
    ADD(d, "PolicyRule:\n  Resources\tNon-Resource URLs\tResource Names\tVerbs\n"
           "  ---------\t-----------------\t--------------\t-----\n");
    VALUE_EACH_ITEM(rule, value_find(role, STR("rules")))
    {
        add_rule(arena, &grants, *rule);
    }
    if (grants.len > 0) {
        qsort(grants.items, grants.len, sizeof(*grants.items), by_place);
    }
    LIST_EACH(grant, &grants)
    {
        struct str verbs = STR("");

        LIST_EACH(verb, &grant->verbs)
        {
            verbs = arena_printf(arena, "%.*s%s%.*s", STR_ARG(verbs), verbs.n > 0 ? " " : "", STR_ARG(*verb));
        }
        ADD(d, "  %.*s\t[%.*s]\t[%.*s]\t[%.*s]\n", STR_ARG(resource_text(arena, grant)), STR_ARG(grant->url),
            STR_ARG(grant->name), STR_ARG(verbs));
    }
    return NULL;
}

struct status *describe_role_binding(struct description *d, const struct value *binding)
{
    name_line(d, binding);
    labels(d, binding);
    annotations(d, binding);
    ADD(d, "Role:\n  Kind:\t%.*s\n  Name:\t%.*s\nSubjects:\n  Kind\tName\tNamespace\n  ----\t----\t---------\n",
        STR_ARG(value_str_at(binding, "roleRef.kind")), STR_ARG(value_str_at(binding, "roleRef.name")));
    VALUE_EACH_ITEM(subject, value_find(binding, STR("subjects")))
    {
        ADD(d, "  %.*s\t%.*s\t%.*s\n", STR_ARG(value_str_at(*subject, "kind")), STR_ARG(value_str_at(*subject, "name")),
            STR_ARG(value_str_at(*subject, "namespace")));
    }
    return NULL;
}

struct status *describe_ingress_class(struct description *d, const struct value *class)
{
    const struct value *parameters = value_find_path(class, "spec.parameters");

    name_line(d, class);
    labels(d, class);
    annotations(d, class);
    ADD(d, "Controller:\t%.*s\n", STR_ARG(value_str_at(class, "spec.controller")));
    if (parameters != NULL) {
        struct str group = value_str_at(parameters, "apiGroup");

        ADD(d, "Parameters:\n");
        if (group.n > 0) {
            ADD(d, "  APIGroup:\t%.*s\n", STR_ARG(group));
        }
        ADD(d, "  Kind:\t%.*s\n  Name:\t%.*s\n", STR_ARG(value_str_at(parameters, "kind")),
            STR_ARG(value_str_at(parameters, "name")));
    }
    return NULL;
}

static void endpoint(struct description *d, const struct value *endpoint)
{
    static const char *const lines[][2] = {{"Hostname", "hostname"}, {"", ""}, {"NodeName", "nodeName"}, {"Zone", "zone"}};
    struct str addresses = STR("");
    const struct value *target = value_find(endpoint, STR("targetRef"));

    VALUE_EACH_ITEM(address, value_find(endpoint, STR("addresses")))
    {
        addresses = arena_printf(d->k->arena, "%.*s%s%.*s", STR_ARG(addresses), addresses.n > 0 ? ", " : "",
                                 STR_ARG(value_str(*address)));
    }
    ADD(d, "  - Addresses:\t%.*s\n    Conditions:\n      Ready:\t%.*s\n", STR_ARG(describe_or_none(addresses)),
        STR_ARG(text_at(d, endpoint, "conditions.ready", "<unset>")));
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        if (lines[i][0][0] == '\0' && target != NULL) {
            ADD(d, "    TargetRef:\t%.*s/%.*s\n", STR_ARG(value_str_at(target, "kind")),
                STR_ARG(value_str_at(target, "name")));
        } else if (lines[i][0][0] != '\0') {
            ADD(d, "    %s:\t%.*s\n", lines[i][0], STR_ARG(text_at(d, endpoint, lines[i][1], "<unset>")));
        }
    }
}

struct status *describe_endpoint_slice(struct description *d, const struct value *slice)
{
    const struct value *ports = value_find(slice, STR("ports")), *endpoints = value_find(slice, STR("endpoints"));

    name_line(d, slice);
    namespace_line(d, slice);
    labels(d, slice);
    annotations(d, slice);
    ADD(d, "AddressType:\t%.*s\n", STR_ARG(value_str_at(slice, "addressType")));
    ADD(d, "Ports:%s\n", value_count(ports) == 0 ? " <unset>" : "\n  Name\tPort\tProtocol\n  ----\t----\t--------");
    VALUE_EACH_ITEM(port, ports)
    {
        struct str name = value_str_at(*port, "name");

        ADD(d, "  %.*s\t%.*s\t%.*s\n", STR_ARG(name.n > 0 ? name : STR("<unset>")),
            STR_ARG(text_at(d, *port, "port", "<unset>")), STR_ARG(value_str_at(*port, "protocol")));
    }
    ADD(d, "Endpoints:%s\n", value_count(endpoints) == 0 ? " <none>" : "");
    VALUE_EACH_ITEM(one, endpoints)
    {
        endpoint(d, *one);
    }
    return NULL;
}

static void quota(struct description *d, const struct value *quota)
{
    static const char *const scopes[][2] = {
        {"Terminating", "Matches all pods that have an active deadline. These pods have a limited lifespan on a node before "
                        "being actively terminated by the system."},
        {"NotTerminating", "Matches all pods that do not have an active deadline. These pods usually include long running "
                           "pods whose container command is not expected to terminate."},
        {"BestEffort", "Matches all pods that do not have resource requirements set. These pods have a best effort quality "
                       "of service."},
        {"NotBestEffort", "Matches all pods that have at least one resource requirement set. These pods have a burstable or "
                          "guaranteed quality of service."},
    };
    const struct value *hard = value_find_path(quota, "status.hard"), *used = value_find_path(quota, "status.used");
    struct str *keys = value_sorted_keys(d->k->arena, hard);

    ADD(d, "  Name:\t%.*s\n", STR_ARG(value_str_at(quota, "metadata.name")));
    VALUE_EACH_ITEM(scope, value_find_path(quota, "spec.scopes"))
    {
        ADD(d, "  Scopes:\t%.*s\n", STR_ARG(value_str(*scope)));
        for (size_t i = 0; i < COUNT_OF(scopes); i++) {
            if (str_is(value_str(*scope), scopes[i][0])) {
                ADD(d, "  * %s\n", scopes[i][1]);
            }
        }
    }
    ADD(d, "  Resource\tUsed\tHard\n  --------\t---\t---\n");
    for (size_t i = 0; i < value_count(hard); i++) {
        struct str now = value_str(value_find(used, keys[i]));

        ADD(d, "  %.*s\t%.*s\t%.*s\n", STR_ARG(keys[i]), STR_ARG(now.n > 0 ? now : STR("0")),
            STR_ARG(value_str(value_find(hard, keys[i]))));
    }
}

static void limits(struct description *d, const struct value *range)
{
    static const char *const columns[] = {"min", "max", "defaultRequest", "default", "maxLimitRequestRatio"};

    VALUE_EACH_ITEM(limit, value_find_path(range, "spec.limits"))
    {
        struct value *names = value_object(d->k->arena);

        for (size_t i = 0; i < COUNT_OF(columns); i++) {
            const struct value *amounts = value_find(*limit, str_of(columns[i]));
            struct str *keys = value_sorted_keys(d->k->arena, amounts);

            for (size_t j = 0; j < value_count(amounts); j++) {
                value_set(d->k->arena, names, keys[j], value_null(d->k->arena));
            }
        }
        struct str *keys = value_sorted_keys(d->k->arena, names);

        for (size_t i = 0; i < value_count(names); i++) {
            ADD(d, " %.*s\t%.*s", STR_ARG(value_str_at(*limit, "type")), STR_ARG(keys[i]));
            for (size_t j = 0; j < COUNT_OF(columns); j++) {
                struct str amount = value_str(value_find(value_find(*limit, str_of(columns[j])), keys[i]));

                ADD(d, "\t%.*s", STR_ARG(amount.n > 0 ? amount : STR("-")));
            }
            ADD(d, "\n");
        }
    }
}

struct status *describe_namespace(struct description *d, const struct value *namespace)
{
    struct kubectl *k = d->k;
    struct str name = value_str_at(namespace, "metadata.name");
    struct value *quotas, *ranges;

    TRY(api_get(k, arena_printf(k->arena, "/api/v1/namespaces/%.*s/resourcequotas", STR_ARG(name)), &quotas));
    TRY(api_get(k, arena_printf(k->arena, "/api/v1/namespaces/%.*s/limitranges", STR_ARG(name)), &ranges));
    name_line(d, namespace);
    labels(d, namespace);
    annotations(d, namespace);
    ADD(d, "Status:\t%.*s\n", STR_ARG(value_str_at(namespace, "status.phase")));
    quotas = value_find(quotas, STR("items"));
    ranges = value_find(ranges, STR("items"));
    ADD(d, "\n%s\n", value_count(quotas) == 0 ? "No resource quota." : "Resource Quotas");
    VALUE_EACH_ITEM(one, quotas)
    {
        quota(d, *one);
    }
    ADD(d, "\n%s\n", value_count(ranges) == 0
                         ? "No LimitRange resource."
                         : "Resource Limits\n Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request "
                           "Ratio\n ----\t--------\t---\t---\t---------------\t-------------\t-----------------------");
    VALUE_EACH_ITEM(range, ranges)
    {
        limits(d, *range);
    }
    return NULL;
}
