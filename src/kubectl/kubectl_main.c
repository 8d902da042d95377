#include "kubectl/kubectl_main.h"

#include "base/env.h"
#include "base/version.h"
#include "kubectl/kubectl.h"
#include "kubectl/report.h"
#include "kubectl/suggest.h"
#include "kubectl/trace.h"
#include "net/event_loop.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* In the order of the overview: by what people do with them, most needed first. */
static const struct command *const commands[] = {
    &command_create, &command_expose, &command_run, &command_set, &command_get, &command_delete, &command_rollout,
    &command_scale, &command_autoscale, &command_certificate, &command_cluster_info, &command_cordon, &command_uncordon,
    &command_drain, &command_taint, &command_describe, &command_logs, &command_attach, &command_exec, &command_port_forward,
    &command_auth, &command_events, &command_diff, &command_apply, &command_patch, &command_replace, &command_wait,
    &command_label, &command_annotate, &command_api_resources, &command_api_versions, &command_config, &command_version, NULL,
};

#define GLOBAL(type, member, name, shorthand, help) FLAG(type, struct global_flags, member, name, shorthand, help)

static const struct flag global_flags[] = {
    GLOBAL(STRING, config.path, "kubeconfig", 0, "path of the kubeconfig file"),
    GLOBAL(STRING, config.context, "context", 0, "the kubeconfig's context to use"),
    GLOBAL(STRING, config.cluster, "cluster", 0, "the kubeconfig's cluster to use"),
    GLOBAL(STRING, config.user, "user", 0, "the kubeconfig's user to use"),
    GLOBAL(STRING, config.server, "server", 's', "address and port of the API server"),
    GLOBAL(STRING, config.token, "token", 0, "bearer token"),
    GLOBAL(STRING, config.username, "username", 0, "user name for basic authentication"),
    GLOBAL(STRING, config.password, "password", 0, "password for basic authentication"),
    GLOBAL(STRING, config.namespace, "namespace", 'n', "the namespace to work in"),
    GLOBAL(STRING, config.ca_path, "certificate-authority", 0, "file of the certificate authority"),
    GLOBAL(STRING, config.certificate_path, "client-certificate", 0, "file of the client certificate"),
    GLOBAL(STRING, config.key_path, "client-key", 0, "file of the client key"),
    GLOBAL(STRING, config.tls_server_name, "tls-server-name", 0, "name the server's certificate must be for"),
    GLOBAL(STRING, config.impersonate, "as", 0, "user to act as"),
    GLOBAL(BOOL, config.insecure, "insecure-skip-tls-verify", 0, "take any certificate of the server"),
    GLOBAL(ARRAY, as_groups, "as-group", 0, "group to act as; may be repeated"),
    GLOBAL(STRING, as_uid, "as-uid", 0, "uid to act as"),
    GLOBAL(STRING, request_timeout, "request-timeout", 0, "how long to wait for one request; 0: as long as it takes"),
    GLOBAL(INT, verbosity, "v", 'v', "how much to log"),
    FLAG_IGNORE("cache-dir"),
    FLAG_IGNORE("kuberc"),
    FLAG_IGNORE("log-flush-frequency"),
    FLAG_IGNORE("profile"),
    FLAG_IGNORE("profile-output"),
    FLAG_IGNORE("vmodule"),
    FLAG_IGNORE_BOOL("disable-compression"),
    FLAG_IGNORE_BOOL("match-server-version"),
    FLAG_IGNORE_BOOL("warnings-as-errors"),
};

static const struct flag output_flags[] = {
    FLAG(STRING, struct output_flags, format, "output", 'o', "json, yaml, kyaml, name, wide, jsonpath=..., ..."),
    FLAG(STRING, struct output_flags, template, "template", 0, "template for -o jsonpath"),
    FLAG(BOOL, struct output_flags, show_managed_fields, "show-managed-fields", 0, "keep managedFields in JSON and YAML"),
    FLAG(BOOL, struct output_flags, allow_missing_keys, "allow-missing-template-keys", 0, "what is missing prints nothing"),
};

static const struct flag file_flags[] = {
    FLAG(STRINGS, struct file_flags, names, "filename", 'f', "file or folder with resources; - is standard input"),
    FLAG(STRING, struct file_flags, kustomize, "kustomize", 'k', "folder of a kustomization"),
    FLAG(BOOL, struct file_flags, recursive, "recursive", 'R', "folders within folders too"),
};

static const struct flag selector_flags[] = {
    FLAG(STRING, struct selector_flags, labels, "selector", 'l', "labels to select by, as in key1=value1,key2!=value2"),
    FLAG(STRING, struct selector_flags, fields, "field-selector", 0, "fields to select by, as in metadata.name=a"),
    FLAG(BOOL, struct selector_flags, all_namespaces, "all-namespaces", 'A', "in all namespaces"),
};

static const struct flag write_flags[] = {
    {"dry-run", 0, FLAG_TYPE_STRING, offsetof(struct write_flags, dry_run_text),
     "none, server, or client: only show what would be done", "unchanged"},
    {"validate", 0, FLAG_TYPE_STRING, offsetof(struct write_flags, validate),
     "strict, warn or ignore: what unknown fields are", "strict"},
    FLAG(STRING, struct write_flags, field_manager, "field-manager", 0, "name of the owner of fields"),
    FLAG_IGNORE_BOOL("save-config"),
};

static bool has_alias(const struct command *command, struct str name)
{
    struct str aliases = str_of(command->aliases), alias;

    if (str_is(name, command->name)) {
        return true;
    }
    while (str_next(&aliases, ',', &alias)) {
        if (str_eq(alias, name)) {
            return true;
        }
    }
    return false;
}

static const struct command *find_command(const struct command *const *list, struct str name)
{
    for (; list != NULL && *list != NULL; list++) {
        if (has_alias(*list, name)) {
            return *list;
        }
    }
    return NULL;
}

static struct status *check_write_flags(struct kubectl *k)
{
    struct write_flags *write = &k->write;
    struct str dry = write->dry_run_text, validate = write->validate;

    if (str_is(dry, "unchanged")) {
        report_warning(k, STR("--dry-run is deprecated and can be replaced with --dry-run=client."));
    }
    if (dry.n == 0 || str_is(dry, "none")) {
        write->dry_run = DRY_RUN_NONE;
    } else if (str_is(dry, "client") || str_is(dry, "unchanged")) {
        write->dry_run = DRY_RUN_CLIENT;
    } else if (str_is(dry, "server")) {
        write->dry_run = DRY_RUN_SERVER;
    } else {
        return error_local("Invalid dry-run value (%.*s). Must be \"none\", \"server\", or \"client\".", STR_ARG(dry));
    }
    if (validate.n == 0 || str_is(validate, "strict") || str_is(validate, "true")) {
        write->field_validation = STR("Strict");
    } else if (str_is(validate, "warn")) {
        write->field_validation = STR("Warn");
    } else if (str_is(validate, "ignore") || str_is(validate, "false")) {
        write->field_validation = STR("Ignore");
    } else {
        return error_local("invalid - validate option \"%.*s\"; must be one of: strict (or true), warn, ignore (or false)",
                           STR_ARG(validate));
    }
    return NULL;
}

/* Seconds, or a number with a unit. */
static struct status *parse_timeout(struct kubectl *k)
{
    struct str text = k->flags.request_timeout;
    int64_t seconds;

    if (text.n == 0 || duration_parse(text, &k->timeout)) {
        return NULL;
    }
    if (!str_to_i64(text, &seconds) || seconds < 0 || seconds > INT64_MAX / ENV_SECOND) {
        return error_local("Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a "
                           "corresponding time unit (e.g. 1s | 2m | 3h)");
    }
    k->timeout = seconds * ENV_SECOND;
    return NULL;
}

struct status *kubectl_configure(struct kubectl *k)
{
    int64_t start = trace_now();

    if (k->config.server.n > 0) {
        return NULL;
    }
    TRY(parse_timeout(k));
    struct status *status = kubeconfig_load(&k->flags.config, k->arena, &k->config);

    if (status != NULL) {
        status->code = 0;
    }
    struct str form = k->config.certificate_pem.n > 0 ? STR("client certificate")
                      : k->config.token.n > 0         ? STR("bearer token")
                      : k->config.username.n > 0      ? STR("user name and password")
                                                      : STR("none");

    trace_step(k, TRACE_CLIENT_CREDENTIALS, start, status, "%.*s", STR_ARG(form));
    return status;
}

struct status *kubectl_connect(struct kubectl *k)
{
    struct utsname host;

    if (k->client != NULL) {
        return NULL;
    }
    TRY(kubectl_configure(k));
    uname(&host);
    struct str agent = arena_printf(k->arena, "kubectl/%s (linux/%s) kubernetes/c8s", GIT_VERSION,
                                    strcmp(host.machine, "x86_64") == 0 ? "amd64" : "arm64");

    k->config.traceparent = trace_parent(k);
    struct status *status = kubeconfig_connect(&k->config, agent, &k->client);

    if (status != NULL) {
        status->code = 0;
    }
    return status;
}

struct str kubectl_namespace(const struct kubectl *k)
{
    return k->config.namespace.n > 0 ? k->config.namespace : STR("default");
}

static void print_usage(struct kubectl *k, FILE *out, const struct command *command)
{
    fprintf(out, "%s.\n", command->about != NULL ? command->about : command->help);
    if (command->aliases != NULL) {
        struct str rest = str_of(command->aliases), alias;

        fprintf(out, "\nAliases:\n%s", command->name);
        while (str_next(&rest, ',', &alias)) {
            fprintf(out, ", %.*s", STR_ARG(alias));
        }
        fprintf(out, "\n");
    }
    if (command->subcommands != NULL) {
        int width = 0;

        for (const struct command *const *at = command->subcommands; *at != NULL; at++) {
            width = MAX(width, (int)strlen((*at)->name));
        }
        fprintf(out, "\nAvailable Commands:\n");
        for (const struct command *const *at = command->subcommands; *at != NULL; at++) {
            fprintf(out, "  %-*s   %s\n", width, (*at)->name, (*at)->help);
        }
    }
    if (command->flag_count > 0) {
        struct flag_table table = {command->flags, command->flag_count, NULL};

        fprintf(out, "\nOptions:\n%.*s", STR_ARG(flags_usage(&table, k->arena)));
    }
    fprintf(out, "\nUsage:\n  kubectl %.*s %s [options]\n\n", STR_ARG(k->path),
            command->usage != NULL ? command->usage : "[flags]");
    if (command->subcommands != NULL) {
        fprintf(out, "Use \"kubectl %.*s <command> --help\" for more information about a given command.\n",
                STR_ARG(k->path));
    }
    fprintf(out, "Use \"kubectl options\" for a list of global command-line options (applies to all commands).\n");
}

static void print_overview(struct kubectl *k)
{
    fprintf(k->out, "kubectl controls the Kubernetes cluster manager.\n\n"
                    " Find more information at: https://kubernetes.io/docs/reference/kubectl/\n\nCommands:\n");
    for (const struct command *const *at = commands; *at != NULL; at++) {
        fprintf(k->out, "  %-15s %s\n", (*at)->name, (*at)->help);
    }
    fprintf(k->out, "\nUsage:\n  kubectl [flags] [options]\n\nUse \"kubectl <command> --help\" for more information about "
                    "a given command.\nUse \"kubectl options\" for a list of global command-line options (applies to all "
                    "commands).\n");
}

/* The tables of flags that a command takes, into k. */
static size_t tables_of(struct kubectl *k, const struct command *command, void *options, struct flag_table *ret)
{
    size_t count = 0;

    ret[count++] = (struct flag_table){command->flags, command->flag_count, options};
    if (command->uses & USES_OUTPUT) {
        ret[count++] = (struct flag_table){output_flags, COUNT_OF(output_flags), &k->output};
    }
    if (command->uses & USES_FILES) {
        ret[count++] = (struct flag_table){file_flags, COUNT_OF(file_flags), &k->files};
    }
    if (command->uses & USES_SELECTOR) {
        ret[count++] = (struct flag_table){selector_flags, COUNT_OF(selector_flags), &k->selector};
    }
    if (command->uses & USES_WRITE) {
        ret[count++] = (struct flag_table){write_flags, COUNT_OF(write_flags), &k->write};
    }
    ret[count++] = (struct flag_table){global_flags, COUNT_OF(global_flags), &k->flags};
    return count;
}

enum { TABLES_MAX = 8 };

static struct str joined(struct arena *arena, const struct flag_strings *words)
{
    struct str text = STR("");

    LIST_EACH(word, words)
    {
        text = arena_printf(arena, "%.*s%s%.*s", STR_ARG(text), text.n > 0 ? " " : "", STR_ARG(*word));
    }
    return text;
}

static struct status *run_command(struct kubectl *k, const struct command *command, char **argv, size_t argc)
{
    struct flag_table tables[TABLES_MAX];
    const struct command *sub = argc > 0 ? find_command(command->subcommands, str_of(argv[0])) : NULL;

    k->path = arena_printf(k->arena, "%.*s%s%s", STR_ARG(k->path), k->path.n > 0 ? " " : "", command->name);
    if (sub != NULL) {
        return run_command(k, sub, argv + 1, argc - 1);
    }
    void *options = arena_alloc(k->arena, command->options_size);

    k->command = command;
    k->output.allow_missing_keys = true;
    if (command->defaults != NULL) {
        command->defaults(k, options);
    }
    size_t count = tables_of(k, command, options, tables);
    struct status *status = flags_parse(tables, count, argv, argc, true, k->arena, &k->args);

    if (status != NULL) {
        struct status *usage = error_local("%.*s\nSee 'kubectl %.*s --help' for usage.", STR_ARG(status->message),
                                           STR_ARG(k->path));

        status_free(status);
        return usage;
    }
    if (k->args.wants_help) {
        print_usage(k, k->out, command);
        return NULL;
    }
    if (command->run == NULL && k->args.positional.len == 0) {
        print_usage(k, k->err, command);
        k->exit_code = 1;
        return NULL;
    }
    if (command->run == NULL) {
        return error_usage(k, "unknown command \"%.*s\"", STR_ARG(joined(k->arena, &k->args.positional)));
    }
    TRY(check_write_flags(k));
    trace_step(k, TRACE_COMMAND, k->start, NULL, "kubectl %.*s", STR_ARG(k->line));
    return command->run(k, options);
}

/* Global flags may stand before the command. */
static struct status *run(struct kubectl *k, char **argv, size_t argc)
{
    struct flag_table table = {global_flags, COUNT_OF(global_flags), &k->flags};
    struct flags_result result;
    struct status *status = flags_parse(&table, 1, argv, argc, false, k->arena, &result);

    if (status != NULL) {
        struct status *usage = error_local("%.*s\nSee 'kubectl --help' for usage.", STR_ARG(status->message));

        status_free(status);
        return usage;
    }
    size_t words = result.positional.len;

    if (words == 0 || (words == 1 && str_is(result.positional.items[0], "help"))) {
        print_overview(k);
        return NULL;
    }
    if (str_is(result.positional.items[0], "options")) {
        fprintf(k->out, "The following options can be passed to any command:\n\n%.*s",
                STR_ARG(flags_usage(&table, k->arena)));
        return NULL;
    }
    const struct command *command = find_command(commands, result.positional.items[0]);

    if (command == NULL) {
        const char *names[COUNT_OF(commands)] = {NULL};

        for (size_t i = 0; commands[i] != NULL; i++) {
            names[i] = commands[i]->name;
        }
        return error_local("unknown command \"%.*s\" for \"kubectl\"%.*s", STR_ARG(result.positional.items[0]),
                           STR_ARG(suggest(k->arena, names, result.positional.items[0])));
    }
    /* What follows the command's name is at the end of argv. */
    return run_command(k, command, argv + (argc - words + 1), words - 1);
}

struct run_args {
    int argc;
    char **argv;
    int code;
};

/* The command line for the trace, which others may read: without secrets. */
static struct str line_of(struct arena *arena, char **argv, size_t argc)
{
    static const struct str secrets[] = {STR_INIT("--token"), STR_INIT("--password")};
    struct str line = STR("");
    bool hides_next = false;

    for (size_t i = 0; i < argc; i++) {
        struct str word = str_of(argv[i]);
        bool hides = hides_next;

        hides_next = false;
        for (size_t j = 0; j < COUNT_OF(secrets); j++) {
            hides_next = hides_next || str_eq(word, secrets[j]);
            hides = hides || (str_has_prefix(word, secrets[j]) && word.n > secrets[j].n);
        }
        line = arena_printf(arena, "%.*s%s%.*s", STR_ARG(line), i > 0 ? " " : "", STR_ARG(hides ? STR("***") : word));
    }
    return line;
}

static void run_task(void *arg)
{
    struct run_args *args = arg;
    struct kubectl k = {.arena = arena_new(), .out = stdout, .err = stderr};
    size_t argc = (size_t)MAX(args->argc - 1, 0);

    k.start = trace_now();
    k.line = line_of(k.arena, args->argv + 1, argc);
    trace_begin(&k);
    report_error(&k, run(&k, args->argv + 1, argc));
    trace_end(&k);
    args->code = report_all(&k);
    client_free(k.client);
    free(k.warnings.items);
    arena_free(k.arena);
}

int kubectl_main(int argc, char **argv)
{
    struct run_args args = {.argc = argc, .argv = argv};
    struct env *env = event_loop_new();

    event_loop_run_task(env, "kubectl", run_task, &args);
    event_loop_free(env);
    return args.code;
}
