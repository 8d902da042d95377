/* kubectl set env: environment variables of a workload's containers. */
#include "base/base64.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/set.h"
#include "schema/names.h"

#include <ctype.h>
#include <stdlib.h>

struct env_options {
    bool all, local; /* as struct set_options */
    bool list, resolve, overwrite;
    struct str from, prefix, containers;
    struct flag_strings keys;
};

struct env_change {
    const struct env_options *options;
    struct value *set; /* an array of EnvVars */
    struct str_list removed;
};

static struct status *add_pair(struct kubectl *k, struct str text, struct env_change *change)
{
    struct str name, value;
    struct name_errors errors = {0};
    struct value *variable = value_object(k->arena);

    str_cut(text, '=', &name, &value);
    if (!name_is_env_var(name, &errors)) {
        return error_local("\"%.*s\" is not a valid key name: %.*s", STR_ARG(name),
                           STR_ARG(name_errors_join(k->arena, &errors, ";")));
    }
    value_set(k->arena, variable, STR("name"), value_string(k->arena, name));
    if (value.n > 0) {
        value_set(k->arena, variable, STR("value"), value_string(k->arena, value));
    }
    value_add(k->arena, change->set, variable);
    return NULL;
}

/* Lines of NAME=VALUE; empty ones and comments do not count. */
static struct status *read_lines(struct kubectl *k, struct env_change *change)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    struct status *status = NULL;

    while (status == NULL && (size = getline(&line, &room, stdin)) > 0) {
        struct str text = str_trim((struct str){line, (size_t)size});

        if (text.n > 0 && text.p[0] != '#' && str_index(text, '=') != SIZE_MAX) {
            status = add_pair(k, arena_str(k->arena, text), change);
        }
    }
    free(line);
    return status;
}

static struct status *parse_changes(struct kubectl *k, size_t *ret_resources, struct env_change *change)
{
    const struct flag_strings *args = &k->args.positional;
    size_t i = 0;

    while (i < args->len && str_index(args->items[i], '=') == SIZE_MAX && !str_has_suffix(args->items[i], STR("-"))) {
        i++;
    }
    *ret_resources = i;
    for (; i < args->len; i++) {
        struct str word = args->items[i];

        if (str_is(word, "-")) {
            TRY(read_lines(k, change));
        } else if (str_index(word, '=') != SIZE_MAX) {
            TRY(add_pair(k, word, change));
        } else if (str_has_suffix(word, STR("-"))) {
            *LIST_ADD(k->arena, &change->removed) = str_sub(word, 0, word.n - 1);
        } else {
            return error_local("all resources must be specified before environment changes: %.*s", STR_ARG(word));
        }
    }
    return NULL;
}

/* The name a key has as a variable; told when it is another one. */
static struct str name_of_key(struct kubectl *k, struct str key)
{
    char *name = arena_cstr(k->arena, key);

    for (size_t i = 0; i < key.n; i++) {
        name[i] = isalnum((unsigned char)name[i]) ? (char)toupper((unsigned char)name[i]) : '_';
    }
    if (!str_is(key, name)) {
        report_warning(k, arena_printf(k->arena, "key %.*s transferred to %s", STR_ARG(key), name));
    }
    return (struct str){name, key.n};
}

static bool has_key(const struct flag_strings *keys, struct str key)
{
    LIST_EACH(one, keys)
    {
        if (str_eq(*one, key)) {
            return true;
        }
    }
    return keys->len == 0;
}

/* A variable for each key of a ConfigMap or Secret. */
static struct status *add_from(struct kubectl *k, const struct env_options *options, struct env_change *change)
{
    struct str type, name;
    const struct kind *kind;
    struct value *source;

    if (!str_cut(options->from, '/', &type, &name)) {
        return error_local("unsupported resource specified in --from");
    }
    TRY(kubectl_configure(k));
    TRY(discovery_find(k, type, &kind));
    bool is_secret = str_is(kind->kind, "Secret");

    if (!is_secret && !str_is(kind->kind, "ConfigMap")) {
        return error_local("unsupported resource specified in --from");
    }
    TRY(api_get(k, client_path(k->arena, kind, kubectl_namespace(k), name, STR("")), &source));
    const struct value *data = value_find(source, STR("data"));
    struct str *keys = value_sorted_keys(k->arena, data);

    for (size_t i = 0; i < value_count(data); i++) {
        struct value *variable = value_object(k->arena), *from = value_object(k->arena), *ref = value_object(k->arena);

        if (!has_key(&options->keys, keys[i])) {
            continue;
        }
        struct str variable_name = arena_printf(k->arena, "%.*s%.*s", STR_ARG(options->prefix),
                                                STR_ARG(name_of_key(k, keys[i])));

        value_set(k->arena, ref, STR("name"), value_string(k->arena, name));
        value_set(k->arena, ref, STR("key"), value_string(k->arena, keys[i]));
        value_set(k->arena, from, is_secret ? STR("secretKeyRef") : STR("configMapKeyRef"), ref);
        value_set(k->arena, variable, STR("name"), value_string(k->arena, variable_name));
        value_set(k->arena, variable, STR("valueFrom"), from);
        value_add(k->arena, change->set, variable);
    }
    return NULL;
}

static struct value *find_variable(struct value *list, struct str name)
{
    VALUE_EACH_ITEM(variable, list)
    {
        if (str_eq(value_str_at(*variable, "name"), name)) {
            return *variable;
        }
    }
    return NULL;
}

static bool is_removed(const struct env_change *change, struct str name)
{
    LIST_EACH(one, &change->removed)
    {
        if (str_eq(*one, name)) {
            return true;
        }
    }
    return false;
}

/* Where a referenced value comes from, in words; and its value, when asked for. */
static struct status *resolve(struct kubectl *k, const struct value *variable, bool fetches, struct str *ret_words,
                              struct str *ret_value)
{
    static const struct {
        const char *field, *resource, *words;
    } sources[] = {{"configMapKeyRef", "configmaps", "configmap"}, {"secretKeyRef", "secrets", "secret"}};

    *ret_value = STR("");
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        const struct value *ref = value_find(value_find(variable, STR("valueFrom")), str_of(sources[i].field));
        struct str name = value_str_at(ref, "name"), key = value_str(value_find(ref, STR("key")));
        struct value *object;

        if (ref == NULL) {
            continue;
        }
        *ret_words = arena_printf(k->arena, "%s %.*s, key %.*s", sources[i].words, STR_ARG(name), STR_ARG(key));
        if (fetches) {
            TRY(api_get(k, arena_printf(k->arena, "/api/v1/namespaces/%.*s/%s/%.*s", STR_ARG(kubectl_namespace(k)),
                                        sources[i].resource, STR_ARG(name)), &object));
            *ret_value = value_str(value_find(value_find(object, STR("data")), key));
            if (i == 1) { /* what is not base64 stays as it is */
                (void)base64_decode(k->arena, *ret_value, ret_value);
            }
        }
        return NULL;
    }
    struct str field = value_str_at(variable, "valueFrom.fieldRef.fieldPath");

    *ret_words = field.n > 0 ? arena_printf(k->arena, "field path %.*s", STR_ARG(field))
                             : arena_printf(k->arena, "resource %.*s",
                                            STR_ARG(value_str_at(variable, "valueFrom.resourceFieldRef.resource")));
    *ret_value = *ret_words;
    return NULL;
}

static struct status *list_variables(struct kubectl *k, const struct env_options *options, const struct selected *selected,
                                     const struct value *container)
{
    fprintf(k->out, "# %.*s %.*s, container %.*s\n", STR_ARG(selected->kind->kind), STR_ARG(selected->name),
            STR_ARG(value_str_at(container, "name")));
    VALUE_EACH_ITEM(variable, value_find(container, STR("env")))
    {
        struct str name = value_str_at(*variable, "name"), value = value_str_at(*variable, "value"), words;

        if (value_find(*variable, STR("valueFrom")) == NULL) {
            fprintf(k->out, "%.*s=%.*s\n", STR_ARG(name), STR_ARG(value));
            continue;
        }
        TRY(resolve(k, *variable, options->resolve, &words, &value));
        if (options->resolve) {
            fprintf(k->out, "%.*s=%.*s\n", STR_ARG(name), STR_ARG(value));
        } else {
            fprintf(k->out, "# %.*s from %.*s\n", STR_ARG(name), STR_ARG(words));
        }
    }
    return NULL;
}

/* The variables that were there keep their places. */
static struct status *update(struct kubectl *k, const struct env_change *change, const struct selected *selected,
                             struct value *container)
{
    struct value *now = value_find(container, STR("env")), *next = value_array(k->arena);

    VALUE_EACH_ITEM(variable, now)
    {
        struct str name = value_str_at(*variable, "name");
        struct value *newer = find_variable(change->set, name);

        if (newer != NULL && !change->options->overwrite) {
            return error_local("%.*s/%.*s '%.*s' already has a value (%.*s), and --overwrite is false",
                               STR_ARG(selected->kind->plural), STR_ARG(selected->name), STR_ARG(name),
                               STR_ARG(value_str_at(*variable, "value")));
        }
        if (!is_removed(change, name)) {
            value_add(k->arena, next, newer != NULL ? newer : *variable);
        }
    }
    VALUE_EACH_ITEM(variable, change->set)
    {
        if (find_variable(next, value_str_at(*variable, "name")) == NULL) {
            value_add(k->arena, next, *variable);
        }
    }
    if (value_count(next) > 0) {
        value_set(k->arena, container, STR("env"), next);
    } else {
        value_delete(container, STR("env"));
    }
    return NULL;
}

static struct status *change_env(struct kubectl *k, const struct selected *selected, struct value *object, void *arg)
{
    static const char *const lists[] = {"containers", "initContainers"};
    const struct env_change *change = arg;
    struct value *spec = set_template_spec(object);
    bool found = false;

    if (spec == NULL) {
        return error_local("%.*s/%.*s is not a pod or does not have a pod template", STR_ARG(selected->kind->plural),
                           STR_ARG(selected->name));
    }
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        VALUE_EACH_ITEM(container, value_find(spec, str_of(lists[i])))
        {
            if (!set_wants_container(k, change->options->containers, *container)) {
                continue;
            }
            found = true;
            if (change->options->list) {
                TRY(list_variables(k, change->options, selected, *container));
            } else {
                TRY(update(k, change, selected, *container));
            }
        }
    }
    if (!found) {
        fprintf(k->err, "Warning: %.*s/%.*s does not have any containers matching \"%.*s\"\n",
                STR_ARG(selected->kind->kind), STR_ARG(selected->name), STR_ARG(change->options->containers));
    }
    return NULL;
}

static struct status *env_run(struct kubectl *k, void *arg)
{
    const struct env_options *options = arg;
    struct env_change change = {.options = options, .set = value_array(k->arena)};
    struct set_way way = {.change = change_env, .done = options->list ? NULL : "env updated"};
    struct set_options common = {.all = options->all, .local = options->local};
    size_t resources;

    TRY(parse_changes(k, &resources, &change));
    if (resources == 0 && k->files.names.len == 0) {
        return error_local("one or more resources must be specified as <resource> <name> or <resource>/<name>");
    }
    if (options->keys.len > 0 && options->from.n == 0) {
        return error_local("when specifying --keys, a configmap or secret must be provided with --from");
    }
    if (options->from.n > 0) {
        TRY(add_from(k, options, &change));
    }
    VALUE_EACH_ITEM(variable, change.set)
    {
        if (is_removed(&change, value_str_at(*variable, "name"))) {
            return error_local("can not both modify and remove the same environment variable in the same command");
        }
    }
    return set_change_all(k, &common, resources, &way, &change);
}

static void env_defaults(struct kubectl *k, void *arg)
{
    (void)k;
    ((struct env_options *)arg)->overwrite = true;
}

static const struct flag env_flags[] = {
    SET_FLAGS(struct env_options),
    FLAG(BOOL, struct env_options, list, "list", 0, "print the variables, change nothing"),
    FLAG(BOOL, struct env_options, resolve, "resolve", 0, "look up the values of references when listing"),
    FLAG(BOOL, struct env_options, overwrite, "overwrite", 0, "change what has another value"),
    FLAG(STRING, struct env_options, from, "from", 0, "a ConfigMap or Secret to take variables from: TYPE/NAME"),
    FLAG(STRING, struct env_options, prefix, "prefix", 0, "what their names begin with"),
    FLAG(STRINGS, struct env_options, keys, "keys", 0, "only these keys of it"),
    FLAG(STRING, struct env_options, containers, "containers", 'c', "only containers of this name; may have wildcards"),
};

const struct command set_env = {
    .name = "env",
    .help = "Update environment variables on a pod template",
    .usage = "RESOURCE/NAME KEY_1=VAL_1 ... KEY_N=VAL_N",
    .uses = USES_OUTPUT | USES_FILES | USES_SELECTOR | USES_WRITE,
    .flags = env_flags,
    .flag_count = COUNT_OF(env_flags),
    .options_size = sizeof(struct env_options),
    .defaults = env_defaults,
    .run = env_run,
};
