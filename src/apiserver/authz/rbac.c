#include "apiserver/authz/rbac.h"

#include "base/buf.h"

static bool has(const struct str_list *list, struct str wanted)
{
    return str_list_has(list, wanted);
}

static bool has_or_any(const struct str_list *list, struct str wanted)
{
    return has(list, STR("*")) || has(list, wanted);
}

static bool resource_matches(const struct str_list *resources, const struct authz_attributes *a)
{
    LIST_EACH(resource, resources) {
        if (str_is(*resource, "*")) {
            return true;
        }
        if (a->subresource.n == 0) {
            if (str_eq(*resource, a->resource)) {
                return true;
            }
            continue;
        }
        struct str head, tail;

        if (str_cut(*resource, '/', &head, &tail) && str_eq(tail, a->subresource) &&
            (str_is(head, "*") || str_eq(head, a->resource))) {
            return true;
        }
    }
    return false;
}

static bool url_matches(const struct str_list *urls, struct str path)
{
    LIST_EACH(url, urls) {
        if (str_is(*url, "*") || str_eq(*url, path)) {
            return true;
        }
        if (url->n != 0 && url->p[url->n - 1] == '*' && str_has_prefix(path, str_sub(*url, 0, url->n - 1))) {
            return true;
        }
    }
    return false;
}

bool rbac_rule_allows(const struct rbac_v1_policy_rule *rule, const struct authz_attributes *a)
{
    if (!has_or_any(&rule->verbs, a->verb)) {
        return false;
    }
    if (!a->is_resource) {
        return url_matches(&rule->non_resource_urls, a->path);
    }
    return has_or_any(&rule->api_groups, a->group) && resource_matches(&rule->resources, a) &&
           (rule->resource_names.len == 0 || has(&rule->resource_names, a->name));
}

/* Whether the binding's subject is the user; `namespace` is that of the binding. */
static bool subject_is(const struct rbac_v1_subject *subject, const struct user *user, struct str namespace)
{
    struct str user_namespace, name;

    if (str_is(subject->kind, "User")) {
        return str_eq(subject->name, user->name);
    }
    if (str_is(subject->kind, "Group")) {
        return has(&user->groups, subject->name);
    }
    if (!str_is(subject->kind, "ServiceAccount") || !user_service_account(user->name, &user_namespace, &name)) {
        return false;
    }
    struct str wanted = subject->namespace.n != 0 ? subject->namespace : namespace;

    return wanted.n != 0 && str_eq(wanted, user_namespace) && str_eq(subject->name, name);
}

/* Told of each rule; `binding` describes where it comes from. Returns true to end. */
struct visitor {
    bool (*rule)(struct visitor *visitor, const struct rbac_v1_policy_rule *rule);
    struct arena *arena;
    const struct user *user;
    struct buf *errors;
    /* the binding at hand */
    const char *binding_kind;
    const struct meta_v1_object_meta *binding;
    const struct rbac_v1_role_ref *ref;
    const struct rbac_v1_subject *subject;
};

static void add_error(struct visitor *visitor, const struct rbac_v1_role_ref *ref)
{
    buf_printf(visitor->errors, "%s%s.rbac.authorization.k8s.io \"%.*s\" not found", visitor->errors->n ? ", " : "",
               str_is(ref->kind, "Role") ? "role" : "clusterrole", STR_ARG(ref->name));
}

static bool visit_role(struct visitor *visitor, const struct rbac_source *source, struct str namespace)
{
    const struct rbac_v1_policy_rule *rules = NULL;
    size_t count = 0;

    if (str_is(visitor->ref->kind, "ClusterRole")) {
        const struct rbac_v1_cluster_role *role = source->cluster_role(source->arg, visitor->ref->name);

        if (role == NULL) {
            add_error(visitor, visitor->ref);
            return false;
        }
        rules = role->rules.items;
        count = role->rules.len;
    } else if (str_is(visitor->ref->kind, "Role")) {
        const struct rbac_v1_role *role = source->role(source->arg, namespace, visitor->ref->name);

        if (role == NULL) {
            add_error(visitor, visitor->ref);
            return false;
        }
        rules = role->rules.items;
        count = role->rules.len;
    }
    for (size_t i = 0; i < count; i++) {
        if (visitor->rule(visitor, &rules[i])) {
            return true;
        }
    }
    return false;
}

static void visit(struct visitor *visitor, const struct rbac_source *source, struct str namespace)
{
    struct rbac_cluster_bindings cluster = source->cluster_bindings(source->arg, visitor->arena);

    visitor->binding_kind = "ClusterRoleBinding";
    for (size_t i = 0; i < cluster.len; i++) {
        const struct rbac_v1_cluster_role_binding *binding = cluster.items[i];

        visitor->binding = &binding->metadata;
        visitor->ref = &binding->role_ref;
        LIST_EACH(subject, &binding->subjects) {
            if (subject_is(subject, visitor->user, (struct str){0})) {
                visitor->subject = subject;
                if (visit_role(visitor, source, (struct str){0})) {
                    return;
                }
                break;
            }
        }
    }
    if (namespace.n == 0) {
        return;
    }
    struct rbac_bindings bindings = source->bindings(source->arg, namespace, visitor->arena);

    visitor->binding_kind = "RoleBinding";
    for (size_t i = 0; i < bindings.len; i++) {
        const struct rbac_v1_role_binding *binding = bindings.items[i];

        visitor->binding = &binding->metadata;
        visitor->ref = &binding->role_ref;
        LIST_EACH(subject, &binding->subjects) {
            if (subject_is(subject, visitor->user, namespace)) {
                visitor->subject = subject;
                if (visit_role(visitor, source, namespace)) {
                    return;
                }
                break;
            }
        }
    }
}

struct decider {
    struct visitor visitor;
    const struct authz_attributes *attributes;
    struct str reason;
    bool allowed;
};

static struct str describe(const struct visitor *v)
{
    struct str of = v->binding->namespace.n == 0
                        ? v->binding->name
                        : arena_printf(v->arena, "%.*s/%.*s", STR_ARG(v->binding->name), STR_ARG(v->binding->namespace));
    struct str namespace = v->subject->namespace.n != 0 ? v->subject->namespace : v->binding->namespace;
    struct str who = str_is(v->subject->kind, "ServiceAccount")
                         ? arena_printf(v->arena, "%.*s/%.*s", STR_ARG(v->subject->name), STR_ARG(namespace))
                         : v->subject->name;

    return arena_printf(v->arena, "RBAC: allowed by %s \"%.*s\" of %.*s \"%.*s\" to %.*s \"%.*s\"", v->binding_kind,
                        STR_ARG(of), STR_ARG(v->ref->kind), STR_ARG(v->ref->name), STR_ARG(v->subject->kind),
                        STR_ARG(who));
}

static bool decide_rule(struct visitor *visitor, const struct rbac_v1_policy_rule *rule)
{
    struct decider *decider = CONTAINER_OF(visitor, struct decider, visitor);

    if (!rbac_rule_allows(rule, decider->attributes)) {
        return false;
    }
    decider->allowed = true;
    decider->reason = describe(visitor);
    return true;
}

/* errors.Aggregate's form: one stands alone, several in brackets. */
static struct str aggregate(const struct buf *errors, struct arena *arena)
{
    struct str text = buf_str(errors);

    return str_contains(text, STR(", ")) ? arena_printf(arena, "[%.*s]", STR_ARG(text)) : arena_str(arena, text);
}

struct authz_decision rbac_decide(const struct rbac_source *source, const struct authz_attributes *attributes,
                                  struct arena *arena)
{
    OWNED(buf_done) struct buf errors = {0};
    struct decider decider = {
        .visitor = {.rule = decide_rule, .arena = arena, .user = attributes->user, .errors = &errors},
        .attributes = attributes,
    };
    struct authz_decision decision = {.verdict = AUTHZ_NO_OPINION};

    visit(&decider.visitor, source, attributes->namespace);
    if (decider.allowed) {
        decision.verdict = AUTHZ_ALLOW;
        decision.reason = decider.reason;
    } else if (errors.n != 0) {
        decision.reason = arena_printf(arena, "RBAC: %.*s", STR_ARG(aggregate(&errors, arena)));
    }
    return decision;
}

struct collector {
    struct visitor visitor;
    struct rbac_rules rules;
};

static bool collect_rule(struct visitor *visitor, const struct rbac_v1_policy_rule *rule)
{
    struct collector *collector = CONTAINER_OF(visitor, struct collector, visitor);

    *LIST_ADD(visitor->arena, &collector->rules) = rule;
    return false;
}

struct rbac_rules rbac_rules_of(const struct rbac_source *source, const struct user *user, struct str namespace,
                                struct arena *arena)
{
    OWNED(buf_done) struct buf errors = {0};
    struct collector collector = {
        .visitor = {.rule = collect_rule, .arena = arena, .user = user, .errors = &errors},
    };

    visit(&collector.visitor, source, namespace);
    collector.rules.errors = aggregate(&errors, arena);
    return collector.rules;
}

struct status *rbac_rules_of_ref(const struct rbac_source *source, const struct rbac_v1_role_ref *ref,
                                 struct str namespace, struct arena *arena, struct rbac_rules *ret)
{
    OWNED(buf_done) struct buf errors = {0};
    struct collector collector = {
        .visitor = {.rule = collect_rule, .arena = arena, .errors = &errors, .ref = ref},
    };

    visit_role(&collector.visitor, source, namespace);
    if (errors.n != 0) {
        return status_new(STATUS_NOT_FOUND, "%.*s", STR_ARG(buf_str(&errors)));
    }
    *ret = collector.rules;
    return NULL;
}
