/* kubectl set resources | selector | serviceaccount | subject. */
#include "kubectl/report.h"
#include "kubectl/set.h"
#include "schema/quantity.h"

struct field_options {
    bool all, local; /* as struct set_options */
    struct str limits, requests, containers;
    struct flag_strings users, groups, accounts;
};

struct field_change {
    const struct field_options *options;
    struct str account;
    struct value *limits, *requests, *selector, *subjects;
};

static struct value *member_object(struct kubectl *k, struct value *object, const char *key)
{
    struct value *member = value_find(object, str_of(key));

    if (!value_is(member, VALUE_OBJECT)) {
        member = value_object(k->arena);
        value_set(k->arena, object, str_of(key), member);
    }
    return member;
}

static struct status *change_fields(struct kubectl *k, struct field_options *options, size_t resources,
                                    const struct set_way *way, struct field_change *change)
{
    struct set_options common = {.all = options->all, .local = options->local};

    return set_change_all(k, &common, resources, way, change);
}

static const struct flag common_flags[] = {SET_FLAGS(struct field_options)};

/* "cpu=1,memory=2Gi" */
static struct status *parse_quantities(struct kubectl *k, struct str text, struct value **ret)
{
    struct str pair, name, amount;

    *ret = value_object(k->arena);
    while (text.n > 0 && str_next(&text, ',', &pair)) {
        struct quantity quantity;

        if (!str_cut(pair, '=', &name, &amount)) {
            return error_local("invalid argument syntax %.*s, expected <resource>=<value>", STR_ARG(pair));
        }
        struct status *status = quantity_parse(k->arena, amount, &quantity);

        if (status != NULL) {
            status->code = 0;
            return status;
        }
        value_set(k->arena, *ret, name, value_string(k->arena, amount));
    }
    return NULL;
}

static void put_all(struct kubectl *k, struct value *resources, const char *key, const struct value *amounts)
{
    if (value_count(amounts) == 0) {
        return;
    }
    struct value *map = member_object(k, resources, key);

    VALUE_EACH_MEMBER(amount, amounts)
    {
        value_set(k->arena, map, amount->key, amount->value);
    }
}

static struct status *change_resources(struct kubectl *k, const struct selected *selected, struct value *object, void *arg)
{
    const struct field_change *change = arg;
    struct value *spec = set_template_spec(object);
    bool found = false;

    (void)selected;
    VALUE_EACH_ITEM(container, value_find(spec, STR("containers")))
    {
        if (set_wants_container(k, change->options->containers, *container)) {
            struct value *resources = member_object(k, *container, "resources");

            found = true;
            put_all(k, resources, "limits", change->limits);
            put_all(k, resources, "requests", change->requests);
        }
    }
    return found ? NULL : error_local("unable to find container named %.*s", STR_ARG(change->options->containers));
}

static struct status *check_resources(struct kubectl *k, void *arg)
{
    struct field_change *change = arg;

    if (change->options->limits.n == 0 && change->options->requests.n == 0) {
        return error_local("you must specify an update to requests or limits (in the form of --requests/--limits)");
    }
    TRY(parse_quantities(k, change->options->limits, &change->limits));
    return parse_quantities(k, change->options->requests, &change->requests);
}

static struct status *resources_run(struct kubectl *k, void *arg)
{
    static const struct set_way way = {change_resources, check_resources, "resource requirements updated"};
    struct field_change change = {.options = arg};

    return change_fields(k, arg, k->args.positional.len, &way, &change);
}

static const struct flag resources_flags[] = {
    SET_FLAGS(struct field_options),
    FLAG(STRING, struct field_options, limits, "limits", 0, "as in cpu=200m,memory=512Mi"),
    FLAG(STRING, struct field_options, requests, "requests", 0, "as in cpu=200m,memory=512Mi"),
    FLAG(STRING, struct field_options, containers, "containers", 'c', "only containers of this name; may have wildcards"),
};

const struct command set_resources = {
    .name = "resources",
    .help = "Update resource requests/limits on objects with pod templates",
    .usage = "(-f FILENAME | TYPE NAME) ([--limits=LIMITS & --requests=REQUESTS]",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR | USES_WRITE,
    .flags = resources_flags,
    .flag_count = COUNT_OF(resources_flags),
    .options_size = sizeof(struct field_options),
    .run = resources_run,
};

static struct status *change_selector(struct kubectl *k, const struct selected *selected, struct value *object, void *arg)
{
    struct field_change *change = arg;

    if (!str_is(selected->kind->kind, "Service")) {
        return error_local("setting a selector is only supported for Services");
    }
    value_set(k->arena, member_object(k, object, "spec"), STR("selector"), change->selector);
    return NULL;
}

static struct status *selector_run(struct kubectl *k, void *arg)
{
    static const struct set_way way = {change_selector, NULL, "selector updated"};
    struct field_change change = {.options = arg, .selector = value_object(k->arena)};
    const struct flag_strings *args = &k->args.positional;
    struct str rest, pair, key, value;

    if (args->len == 0) {
        return error_local("one or more resources must be specified as <resource> <name> or <resource>/<name>");
    }
    rest = args->items[args->len - 1];
    while (rest.n > 0 && str_next(&rest, ',', &pair)) {
        if (!str_cut(pair, '=', &key, &value)) {
            return error_local("match expression [{%.*s Exists []}] not supported on this object", STR_ARG(pair));
        }
        value_set(k->arena, change.selector, key, value_string(k->arena, value));
    }
    return change_fields(k, arg, args->len - 1, &way, &change);
}

const struct command set_selector = {
    .name = "selector",
    .help = "Set the selector on a resource",
    .usage = "(-f FILENAME | TYPE NAME) EXPRESSIONS [--resource-version=version]",
    .uses = USES_OUTPUT | USES_FILES | USES_WRITE,
    .flags = common_flags,
    .flag_count = COUNT_OF(common_flags),
    .options_size = sizeof(struct field_options),
    .run = selector_run,
};

static struct status *change_account(struct kubectl *k, const struct selected *selected, struct value *object, void *arg)
{
    struct value *spec = set_template_spec(object);

    if (spec == NULL) {
        return error_local("%.*s/%.*s is not a pod or does not have a pod template", STR_ARG(selected->kind->plural),
                           STR_ARG(selected->name));
    }
    value_set(k->arena, spec, STR("serviceAccountName"), value_string(k->arena, ((struct field_change *)arg)->account));
    return NULL;
}

static struct status *account_run(struct kubectl *k, void *arg)
{
    static const struct set_way way = {change_account, NULL, "serviceaccount updated"};
    struct field_change change = {.options = arg};
    const struct flag_strings *args = &k->args.positional;

    if (args->len == 0) {
        return error_local("serviceaccount is required");
    }
    change.account = args->items[args->len - 1];
    return change_fields(k, arg, args->len - 1, &way, &change);
}

const struct command set_service_account = {
    .name = "serviceaccount",
    .aliases = "sa",
    .help = "Update the service account of a resource",
    .usage = "(-f FILENAME | TYPE NAME) SERVICE_ACCOUNT",
    .uses = USES_OUTPUT | USES_FILES | USES_WRITE,
    .flags = common_flags,
    .flag_count = COUNT_OF(common_flags),
    .options_size = sizeof(struct field_options),
    .run = account_run,
};

static void add_subject(struct kubectl *k, struct value *subjects, const char *kind, struct str name, struct str namespace)
{
    struct value *subject = value_object(k->arena);

    value_set(k->arena, subject, STR("kind"), value_string(k->arena, str_of(kind)));
    if (namespace.n == 0) {
        value_set(k->arena, subject, STR("apiGroup"), value_string(k->arena, STR("rbac.authorization.k8s.io")));
    }
    value_set(k->arena, subject, STR("name"), value_string(k->arena, name));
    if (namespace.n > 0) {
        value_set(k->arena, subject, STR("namespace"), value_string(k->arena, namespace));
    }
    value_add(k->arena, subjects, subject);
}

static struct status *change_subjects(struct kubectl *k, const struct selected *selected, struct value *object, void *arg)
{
    struct value *now = value_find(object, STR("subjects"));

    if (!str_is(selected->kind->kind, "RoleBinding") && !str_is(selected->kind->kind, "ClusterRoleBinding")) {
        return error_local("setting subjects is only supported for RoleBinding/ClusterRoleBinding");
    }
    if (!value_is(now, VALUE_ARRAY)) {
        now = value_array(k->arena);
        value_set(k->arena, object, STR("subjects"), now);
    }
    VALUE_EACH_ITEM(subject, ((struct field_change *)arg)->subjects)
    {
        bool is_there = false;

        VALUE_EACH_ITEM(old, now)
        {
            is_there = is_there || value_equal(*old, *subject);
        }
        if (!is_there) {
            value_add(k->arena, now, *subject);
        }
    }
    return NULL;
}

static struct status *subject_run(struct kubectl *k, void *arg)
{
    static const struct set_way way = {change_subjects, NULL, "subjects updated"};
    const struct field_options *options = arg;
    struct field_change change = {.options = arg, .subjects = value_array(k->arena)};

    if (options->users.len + options->groups.len + options->accounts.len == 0) {
        return error_local("you must specify at least one value of user, group or serviceaccount");
    }
    LIST_EACH(user, &options->users)
    {
        add_subject(k, change.subjects, "User", *user, STR(""));
    }
    LIST_EACH(group, &options->groups)
    {
        add_subject(k, change.subjects, "Group", *group, STR(""));
    }
    LIST_EACH(account, &options->accounts)
    {
        struct str namespace, name;

        if (!str_cut(*account, ':', &namespace, &name) || namespace.n == 0 || name.n == 0) {
            return error_local("serviceaccount must be <namespace>:<name>");
        }
        add_subject(k, change.subjects, "ServiceAccount", name, namespace);
    }
    return change_fields(k, arg, k->args.positional.len, &way, &change);
}

static const struct flag subject_flags[] = {
    SET_FLAGS(struct field_options),
    FLAG(STRINGS, struct field_options, users, "user", 0, "users to bind to the role"),
    FLAG(STRINGS, struct field_options, groups, "group", 0, "groups to bind to the role"),
    FLAG(STRINGS, struct field_options, accounts, "serviceaccount", 0, "accounts to bind: NAMESPACE:NAME"),
};

const struct command set_subject = {
    .name = "subject",
    .help = "Update the user, group, or service account in a role binding or cluster role binding",
    .usage = "(-f FILENAME | TYPE NAME) [--user=username] [--group=groupname] [--serviceaccount=namespace:serviceaccountname]",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR | USES_WRITE,
    .flags = subject_flags,
    .flag_count = COUNT_OF(subject_flags),
    .options_size = sizeof(struct field_options),
    .run = subject_run,
};
