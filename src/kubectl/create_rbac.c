/* kubectl create role | clusterrole | rolebinding | clusterrolebinding. */
#include "api/rbac_v1.h"
#include "kubectl/create.h"
#include "kubectl/discovery.h"
#include "kubectl/report.h"
#include "kubectl/trace.h"
#include "schema/map_of.h"

#define GROUP STR("rbac.authorization.k8s.io")

struct rbac_options {
    struct flag_strings verbs, resources, names, urls, users, groups, accounts;
    struct str role, cluster_role, aggregation;
};

struct rules {
    struct rbac_v1_policy_rule *items;
    size_t len;
};

static struct str_list list_of(const struct flag_strings *strings)
{
    return (struct str_list){strings->items, strings->len};
}

static struct status *check_verbs(struct kubectl *k, const struct flag_strings *verbs)
{
    static const char *const known[] = {"get",    "list",       "watch",    "create",      "update",  "patch", "delete",
                                        "deletecollection", "use", "bind", "escalate", "impersonate", "*"};

    LIST_EACH(verb, verbs)
    {
        bool is_known = false;

        for (size_t i = 0; i < COUNT_OF(known); i++) {
            is_known = is_known || str_is(*verb, known[i]);
        }
        if (!is_known) {
            report_warning(k, arena_printf(k->arena, "'%.*s' is not a standard resource verb", STR_ARG(*verb)));
        }
    }
    return NULL;
}

/* Resources of one group make one rule. */
static struct status *add_resource(struct kubectl *k, const struct rbac_options *options, struct str text,
                                   struct rules *rules)
{
    struct str word, subresource;
    bool has_sub = str_cut(text, '/', &word, &subresource);
    struct str resource = word, group = STR("");
    const struct kind *kind;

    if (!str_is(word, "*")) {
        struct status *status = discovery_find(k, word, &kind);

        if (status != NULL) {
            status->code |= status->code == 0 ? REPORT_BARE : 0;
            return status;
        }
        resource = kind->plural;
        group = kind->group;
    }
    if (has_sub) {
        resource = arena_printf(k->arena, "%.*s/%.*s", STR_ARG(resource), STR_ARG(subresource));
    }
    LIST_EACH(rule, rules)
    {
        if (str_eq(rule->api_groups.items[0], group)) {
            *LIST_ADD(k->arena, &rule->resources) = resource;
            return NULL;
        }
    }
    struct rbac_v1_policy_rule *rule = LIST_ADD(k->arena, rules);

    *LIST_ADD(k->arena, &rule->api_groups) = group;
    *LIST_ADD(k->arena, &rule->resources) = resource;
    rule->verbs = list_of(&options->verbs);
    rule->resource_names = list_of(&options->names);
    return NULL;
}

static struct status *make_rules(struct kubectl *k, const struct rbac_options *options, struct rules *ret)
{
    if (options->verbs.len == 0) {
        return error_local("at least one verb must be specified");
    }
    if (options->resources.len == 0 && options->urls.len == 0) {
        return error_local("at least one resource must be specified");
    }
    TRY(check_verbs(k, &options->verbs));
    LIST_EACH(resource, &options->resources)
    {
        TRY(add_resource(k, options, *resource, ret));
    }
    if (options->urls.len > 0) {
        struct rbac_v1_policy_rule *rule = LIST_ADD(k->arena, ret);

        rule->verbs = list_of(&options->verbs);
        rule->non_resource_urls = list_of(&options->urls);
    }
    return NULL;
}

static struct status *role_run(struct kubectl *k, void *arg)
{
    struct rbac_v1_role *role = ARENA_NEW(k->arena, struct rbac_v1_role);
    struct rules rules = {0};
    int64_t start = trace_now();

    TRY(create_name(k, &role->metadata.name));
    TRY(make_rules(k, arg, &rules));
    role->rules.items = rules.items;
    role->rules.len = rules.len;
    return create_built(k, &rbac_v1_role_kind, role, start);
}

static struct status *clusterrole_run(struct kubectl *k, void *arg)
{
    const struct rbac_options *options = arg;
    struct rbac_v1_cluster_role *role = ARENA_NEW(k->arena, struct rbac_v1_cluster_role);
    struct rules rules = {0};
    struct str text = options->aggregation, pair, key, value;
    int64_t start = trace_now();

    TRY(create_name(k, &role->metadata.name));
    if (text.n == 0) {
        TRY(make_rules(k, options, &rules));
    } else {
        role->aggregation_rule = ARENA_NEW(k->arena, struct rbac_v1_aggregation_rule);
        struct meta_v1_label_selector *selector = LIST_ADD(k->arena, &role->aggregation_rule->cluster_role_selectors);

        while (str_next(&text, ',', &pair)) {
            if (!str_cut(pair, '=', &key, &value)) {
                return error_local("unexpected aggregation rule: %.*s", STR_ARG(pair));
            }
            str_map_set(k->arena, &selector->match_labels, key, value);
        }
    }
    role->rules.items = rules.items;
    role->rules.len = rules.len;
    return create_built(k, &rbac_v1_cluster_role_kind, role, start);
}

struct subjects {
    struct rbac_v1_subject *items;
    size_t len;
};

static struct status *make_subjects(struct kubectl *k, const struct rbac_options *options, struct subjects *ret)
{
    LIST_EACH(user, &options->users)
    {
        *LIST_ADD(k->arena, ret) = (struct rbac_v1_subject){.kind = STR("User"), .api_group = GROUP, .name = *user};
    }
    LIST_EACH(group, &options->groups)
    {
        *LIST_ADD(k->arena, ret) = (struct rbac_v1_subject){.kind = STR("Group"), .api_group = GROUP, .name = *group};
    }
    LIST_EACH(account, &options->accounts)
    {
        struct str namespace, name;

        if (!str_cut(*account, ':', &namespace, &name) || namespace.n == 0 || name.n == 0) {
            return error_local("serviceaccount must be <namespace>:<name>");
        }
        *LIST_ADD(k->arena, ret) =
            (struct rbac_v1_subject){.kind = STR("ServiceAccount"), .name = name, .namespace = namespace};
    }
    return NULL;
}

static struct status *rolebinding_run(struct kubectl *k, void *arg)
{
    const struct rbac_options *options = arg;
    struct rbac_v1_role_binding *binding = ARENA_NEW(k->arena, struct rbac_v1_role_binding);
    struct subjects subjects = {0};
    int64_t start = trace_now();

    TRY(create_name(k, &binding->metadata.name));
    if ((options->role.n == 0) == (options->cluster_role.n == 0)) {
        return error_local("exactly one of clusterrole or role must be specified");
    }
    TRY(make_subjects(k, options, &subjects));
    binding->role_ref.api_group = GROUP;
    binding->role_ref.kind = options->role.n > 0 ? STR("Role") : STR("ClusterRole");
    binding->role_ref.name = options->role.n > 0 ? options->role : options->cluster_role;
    binding->subjects.items = subjects.items;
    binding->subjects.len = subjects.len;
    return create_built(k, &rbac_v1_role_binding_kind, binding, start);
}

static struct status *clusterrolebinding_run(struct kubectl *k, void *arg)
{
    const struct rbac_options *options = arg;
    struct rbac_v1_cluster_role_binding *binding = ARENA_NEW(k->arena, struct rbac_v1_cluster_role_binding);
    struct subjects subjects = {0};
    int64_t start = trace_now();

    TRY(create_name(k, &binding->metadata.name));
    if (options->cluster_role.n == 0) {
        return error_local("required flag(s) \"clusterrole\" not set");
    }
    TRY(make_subjects(k, options, &subjects));
    binding->role_ref.api_group = GROUP;
    binding->role_ref.kind = STR("ClusterRole");
    binding->role_ref.name = options->cluster_role;
    binding->subjects.items = subjects.items;
    binding->subjects.len = subjects.len;
    return create_built(k, &rbac_v1_cluster_role_binding_kind, binding, start);
}

#define VERBS FLAG(STRINGS, struct rbac_options, verbs, "verb", 0, "what is allowed")
#define RESOURCES FLAG(STRINGS, struct rbac_options, resources, "resource", 0, "of which resources")
#define NAMES FLAG(ARRAY, struct rbac_options, names, "resource-name", 0, "of which objects only")
#define SUBJECTS                                                                                                   \
    FLAG(ARRAY, struct rbac_options, users, "user", 0, "who is bound to the role"),                                \
        FLAG(ARRAY, struct rbac_options, groups, "group", 0, "groups that are bound to the role"),                 \
        FLAG(ARRAY, struct rbac_options, accounts, "serviceaccount", 0, "NAMESPACE:NAME bound to the role")
#define CLUSTER_ROLE FLAG(STRING, struct rbac_options, cluster_role, "clusterrole", 0, "the cluster role")

static const struct flag role_flags[] = {VERBS, RESOURCES, NAMES};
static const struct flag clusterrole_flags[] = {
    VERBS,
    RESOURCES,
    NAMES,
    FLAG(STRINGS, struct rbac_options, urls, "non-resource-url", 0, "of which URLs"),
    FLAG(STRING, struct rbac_options, aggregation, "aggregation-rule", 0, "labels of the roles it unites"),
};
static const struct flag rolebinding_flags[] = {
    SUBJECTS,
    FLAG(STRING, struct rbac_options, role, "role", 0, "the role"),
    CLUSTER_ROLE,
};
static const struct flag clusterrolebinding_flags[] = {SUBJECTS, CLUSTER_ROLE};

#define RBAC(variable, word, text, table, function)                                          \
    const struct command variable = {.name = word,                                           \
                                     .help = text,                                           \
                                     .usage = "NAME [flags] [--dry-run=server|client|none]", \
                                     .uses = USES_OUTPUT | USES_WRITE,                       \
                                     .flags = table,                                         \
                                     .flag_count = COUNT_OF(table),                          \
                                     .options_size = sizeof(struct rbac_options),            \
                                     .run = function}

RBAC(command_create_role, "role", "Create a role with single rule", role_flags, role_run);
RBAC(command_create_clusterrole, "clusterrole", "Create a cluster role", clusterrole_flags, clusterrole_run);
RBAC(command_create_rolebinding, "rolebinding", "Create a role binding for a particular role or cluster role",
     rolebinding_flags, rolebinding_run);
RBAC(command_create_clusterrolebinding, "clusterrolebinding", "Create a cluster role binding for a particular cluster role",
     clusterrolebinding_flags, clusterrolebinding_run);
