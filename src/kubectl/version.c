/* kubectl version: ours and the server's. */
#include "base/version.h"

#include "kubectl/report.h"
#include "kubectl/request.h"
#include "schema/yaml.h"

/* The kustomize whose output kubectl of this version has. */
#define KUSTOMIZE_VERSION "v5.7.1"

struct version_options {
    bool client;
};

static struct value *own_version(struct kubectl *k)
{
    static const char *const fields[][2] = {
        {"major", KUBERNETES_MAJOR}, {"minor", KUBERNETES_MINOR}, {"gitVersion", GIT_VERSION},
        {"gitCommit", ""},           {"gitTreeState", "clean"},   {"buildDate", "1970-01-01T00:00:00Z"},
        {"goVersion", "none"},       {"compiler", "gcc"},
#if defined(__aarch64__)
        {"platform", "linux/arm64"},
#else
        {"platform", "linux/amd64"},
#endif
    };
    struct value *version = value_object(k->arena);

    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        value_set(k->arena, version, str_of(fields[i][0]), value_string(k->arena, str_of(fields[i][1])));
    }
    return version;
}

static void print_structured(struct kubectl *k, bool is_yaml, struct value *server)
{
    OWNED(buf_done) struct buf out = {0};
    struct value *both = value_object(k->arena);

    value_set(k->arena, both, STR("clientVersion"), own_version(k));
    value_set(k->arena, both, STR("kustomizeVersion"), value_string(k->arena, STR(KUSTOMIZE_VERSION)));
    if (server != NULL) {
        value_set(k->arena, both, STR("serverVersion"), server);
    }
    if (is_yaml) {
        yaml_write(&out, both);
    } else {
        value_write_json(&out, both, VALUE_JSON_INDENT);
    }
    fprintf(k->out, "%.*s\n", STR_ARG(buf_str(&out)));
}

static struct status *version_run(struct kubectl *k, void *arg)
{
    const struct version_options *options = arg;
    struct str format = k->output.format;
    struct value *server = NULL;

    if (k->args.positional.len > 0) {
        return error_local("extra arguments: [%.*s]", STR_ARG(k->args.positional.items[0]));
    }
    if (format.n > 0 && !str_is(format, "json") && !str_is(format, "yaml")) {
        return error_local("--output must be 'yaml' or 'json'");
    }
    struct status *status = options->client ? NULL : api_get(k, STR("/version"), &server);

    if (format.n > 0) {
        print_structured(k, str_is(format, "yaml"), server);
        return status;
    }
    fprintf(k->out, "Client Version: %s\nKustomize Version: %s\n", GIT_VERSION, KUSTOMIZE_VERSION);
    if (server != NULL) {
        fprintf(k->out, "Server Version: %.*s\n", STR_ARG(value_str_at(server, "gitVersion")));
    }
    return status;
}

static const struct flag version_flags[] = {
    FLAG(BOOL, struct version_options, client, "client", 0, "only the client's version; the server is not asked"),
};

const struct command command_version = {
    .name = "version",
    .help = "Print the client and server version information",
    .uses = USES_OUTPUT,
    .flags = version_flags,
    .flag_count = COUNT_OF(version_flags),
    .options_size = sizeof(struct version_options),
    .run = version_run,
};
