/* kubectl config: looking at the kubeconfig, and choosing a context. */
#include "base/file.h"
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/tab_writer.h"
#include "schema/yaml.h"

#include <stdlib.h>

struct config_options {
    bool minify, raw, flatten, current, no_headers;
    struct str cluster, user, namespace;
};

#define CONFIG_BYTES_MAX ((size_t)4 << 20)

static struct status *local(struct status *status)
{
    if (status != NULL) {
        status->code = 0;
    }
    return status;
}

static struct value *named(struct value *config, const char *list, struct str name)
{
    VALUE_EACH_ITEM(item, value_find(config, str_of(list)))
    {
        if (str_eq(value_str_at(*item, "name"), name)) {
            return *item;
        }
    }
    return NULL;
}

static void redact(struct kubectl *k, struct value *config)
{
    static const struct {
        const char *list, *inner, *key, *instead;
    } secrets[] = {
        {"clusters", "cluster", "certificate-authority-data", "DATA+OMITTED"},
        {"users", "user", "client-certificate-data", "DATA+OMITTED"},
        {"users", "user", "client-key-data", "DATA+OMITTED"},
        {"users", "user", "token", "REDACTED"},
        {"users", "user", "password", "REDACTED"},
    };

    for (size_t i = 0; i < COUNT_OF(secrets); i++) {
        VALUE_EACH_ITEM(item, value_find(config, str_of(secrets[i].list)))
        {
            struct value *inner = value_find(*item, str_of(secrets[i].inner));

            if (value_str(value_find(inner, str_of(secrets[i].key))).n > 0) {
                value_set(k->arena, inner, str_of(secrets[i].key), value_string(k->arena, str_of(secrets[i].instead)));
            }
        }
    }
}

static void keep_only(struct kubectl *k, struct value *config, const char *list, struct value *item)
{
    struct value *kept = value_array(k->arena);

    if (item != NULL) {
        value_add(k->arena, kept, item);
    }
    value_set(k->arena, config, str_of(list), kept);
}

static struct str chosen_context(const struct kubectl *k, const struct value *config)
{
    return k->flags.config.context.n > 0 ? k->flags.config.context : value_str_at(config, "current-context");
}

static struct status *minify(struct kubectl *k, struct value *config)
{
    struct str name = chosen_context(k, config);
    struct value *context = named(config, "contexts", name);

    if (context == NULL) {
        return name.n == 0 ? error_local("current-context must exist in order to minify")
                           : error_local("cannot locate context %.*s", STR_ARG(name));
    }
    keep_only(k, config, "clusters", named(config, "clusters", value_str_at(context, "context.cluster")));
    keep_only(k, config, "users", named(config, "users", value_str_at(context, "context.user")));
    keep_only(k, config, "contexts", context);
    value_set(k->arena, config, STR("current-context"), value_string(k->arena, name));
    return NULL;
}

/* Lists that hold nothing are null in what stock prints. */
static void empty_to_null(struct kubectl *k, struct value *config)
{
    static const char *const lists[] = {"clusters", "contexts", "users"};

    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        if (value_count(value_find(config, str_of(lists[i]))) == 0) {
            value_set(k->arena, config, str_of(lists[i]), value_null(k->arena));
        }
    }
}

static struct status *view_run(struct kubectl *k, void *arg)
{
    const struct config_options *options = arg;
    struct value *config;
    struct output output;

    if (k->output.format.n == 0) {
        k->output.format = STR("yaml");
    }
    TRY(output_parse(k, false, &output));
    TRY(local(kubeconfig_merge(k->flags.config.path, k->arena, &config)));
    if (options->minify) {
        TRY(minify(k, config));
    }
    if (!options->raw && !options->flatten) {
        redact(k, config);
    }
    empty_to_null(k, config);
    return output_object(k, &output, NULL, config, true);
}

static struct status *current_run(struct kubectl *k, void *arg)
{
    struct value *config;

    (void)arg;
    TRY(local(kubeconfig_merge(k->flags.config.path, k->arena, &config)));
    struct str current = value_str_at(config, "current-context");

    if (current.n == 0) {
        return error_local("current-context is not set");
    }
    fprintf(k->out, "%.*s\n", STR_ARG(current));
    return NULL;
}

static struct status *contexts_run(struct kubectl *k, void *arg)
{
    const struct config_options *options = arg;
    struct buf lines = {0}, out = {0};
    struct value *config;

    TRY(local(kubeconfig_merge(k->flags.config.path, k->arena, &config)));
    if (str_is(k->output.format, "name")) {
        VALUE_EACH_ITEM(context, value_find(config, STR("contexts")))
        {
            fprintf(k->out, "%.*s\n", STR_ARG(value_str_at(*context, "name")));
        }
        return NULL;
    }
    if (!options->no_headers) {
        buf_add_str(&lines, STR("CURRENT\tNAME\tCLUSTER\tAUTHINFO\tNAMESPACE\n"));
    }
    VALUE_EACH_ITEM(context, value_find(config, STR("contexts")))
    {
        struct str name = value_str_at(*context, "name");

        buf_printf(&lines, "%s\t%.*s\t%.*s\t%.*s\t%.*s\n",
                   str_eq(name, value_str_at(config, "current-context")) ? "*" : "", STR_ARG(name),
                   STR_ARG(value_str_at(*context, "context.cluster")), STR_ARG(value_str_at(*context, "context.user")),
                   STR_ARG(value_str_at(*context, "context.namespace")));
    }
    tab_write(&out, buf_str(&lines), 6, 3);
    output_text(k, buf_str(&out));
    buf_done(&lines);
    buf_done(&out);
    return NULL;
}

/* The file that changes go to: the one named, or the first of the list that is there. */
static const char *file_to_change(struct kubectl *k)
{
    struct str files = k->flags.config.path.n > 0 ? k->flags.config.path : str_of(getenv("KUBECONFIG")), file;
    const char *first = NULL;

    while (str_next(&files, ':', &file)) {
        const char *path = arena_cstr(k->arena, file);

        first = first == NULL ? path : first;
        if (file_exists(path)) {
            return path;
        }
    }
    return first != NULL ? first : arena_cstr(k->arena, arena_printf(k->arena, "%s/.kube/config", getenv("HOME")));
}

static struct status *read_own(struct kubectl *k, const char *path, struct value **ret)
{
    struct str text;

    TRY(local(file_read(k->arena, path, CONFIG_BYTES_MAX, &text)));
    TRY(local(yaml_read(k->arena, text, false, ret)));
    return value_is(*ret, VALUE_OBJECT) ? NULL : error_local("%s holds no kubeconfig", path);
}

static struct status *write_own(const char *path, const struct value *config)
{
    OWNED(buf_done) struct buf text = {0};

    yaml_write(&text, config);
    return local(file_write(path, buf_str(&text), 0600));
}

static struct status *use_run(struct kubectl *k, void *arg)
{
    struct value *all, *own;
    const char *path = file_to_change(k);

    (void)arg;
    if (k->args.positional.len != 1) {
        return error_usage(k, "Unexpected args: wanted the name of a context");
    }
    struct str name = k->args.positional.items[0];

    TRY(local(kubeconfig_merge(k->flags.config.path, k->arena, &all)));
    if (named(all, "contexts", name) == NULL) {
        return error_local("no context exists with the name: \"%.*s\"", STR_ARG(name));
    }
    TRY(read_own(k, path, &own));
    value_set(k->arena, own, STR("current-context"), value_string(k->arena, name));
    TRY(write_own(path, own));
    fprintf(k->out, "Switched to context \"%.*s\".\n", STR_ARG(name));
    return NULL;
}

static void set_text(struct kubectl *k, struct value *object, const char *key, struct str text, bool is_set)
{
    if (is_set) {
        value_set(k->arena, object, str_of(key), value_string(k->arena, text));
    }
}

static struct status *set_context_run(struct kubectl *k, void *arg)
{
    const struct config_options *options = arg;
    struct value *own, *context;
    const char *path = file_to_change(k);

    TRY(read_own(k, path, &own));
    struct str name = k->args.positional.len > 0 ? k->args.positional.items[0] : STR("");

    if (options->current) {
        name = value_str_at(own, "current-context");
    }
    if (name.n == 0) {
        return options->current ? error_local("no current context is set")
                                : error_usage(k, "you must specify a non-empty context name or --current");
    }
    context = named(own, "contexts", name);
    bool is_new = context == NULL;

    if (is_new) {
        context = value_object(k->arena);
        value_set(k->arena, context, STR("context"), value_object(k->arena));
        value_set(k->arena, context, STR("name"), value_string(k->arena, name));
        if (!value_is(value_find(own, STR("contexts")), VALUE_ARRAY)) {
            value_set(k->arena, own, STR("contexts"), value_array(k->arena));
        }
        value_add(k->arena, value_find(own, STR("contexts")), context);
    }
    struct value *inner = value_find(context, STR("context"));

    /* --cluster, --user and --namespace are global flags; here they are what is set. */
    set_text(k, inner, "cluster", k->flags.config.cluster, flags_seen(&k->args, "cluster"));
    set_text(k, inner, "user", k->flags.config.user, flags_seen(&k->args, "user"));
    set_text(k, inner, "namespace", k->flags.config.namespace, flags_seen(&k->args, "namespace"));
    TRY(write_own(path, own));
    fprintf(k->out, "Context \"%.*s\" %s.\n", STR_ARG(name), is_new ? "created" : "modified");
    return NULL;
}

static const struct flag config_flags[] = {
    FLAG(BOOL, struct config_options, minify, "minify", 0, "only what belongs to the current context"),
    FLAG(BOOL, struct config_options, raw, "raw", 0, "with certificates and secrets"),
    FLAG(BOOL, struct config_options, flatten, "flatten", 0, "so that the output stands alone"),
    FLAG_IGNORE_BOOL("merge"),
};

static const struct flag contexts_flags[] = {
    FLAG(BOOL, struct config_options, no_headers, "no-headers", 0, "leave out the line of column names"),
};

static const struct flag set_context_flags[] = {
    FLAG(BOOL, struct config_options, current, "current", 0, "the current context"),
};

#define CONFIG(variable, word, text, flag_table, count, function)                                                   \
    static const struct command variable = {.name = word,                                                           \
                                            .help = text,                                                           \
                                            .uses = USES_OUTPUT,                                                    \
                                            .flags = flag_table,                                                    \
                                            .flag_count = count,                                                    \
                                            .options_size = sizeof(struct config_options),                          \
                                            .run = function}

CONFIG(config_view, "view", "Display merged kubeconfig settings or a specified kubeconfig file", config_flags,
       COUNT_OF(config_flags), view_run);
CONFIG(config_current, "current-context", "Display the current-context", NULL, 0, current_run);
CONFIG(config_contexts, "get-contexts", "Describe one or many contexts", contexts_flags, COUNT_OF(contexts_flags),
       contexts_run);
CONFIG(config_use, "use-context", "Set the current-context in a kubeconfig file", NULL, 0, use_run);
CONFIG(config_set_context, "set-context", "Set a context entry in kubeconfig", set_context_flags,
       COUNT_OF(set_context_flags), set_context_run);

static const struct command *const subcommands[] = {
    &config_current, &config_contexts, &config_set_context, &config_use, &config_view, NULL,
};

const struct command command_config = {
    .name = "config",
    .help = "Modify kubeconfig files",
    .usage = "SUBCOMMAND",
    .subcommands = subcommands,
};
