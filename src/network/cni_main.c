#include "network/cni_main.h"

#include "base/buf.h"
#include "network/cni_conf.h"
#include "network/cni_plugin.h"
#include "network/cni_result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cni_plugin *const plugins[] = {&cni_bridge, &cni_c8s, &cni_host_local, &cni_loopback,
                                                   &cni_portmap};

static const struct cni_plugin *plugin_of(struct str type)
{
    for (size_t i = 0; i < COUNT_OF(plugins); i++) {
        if (str_is(type, plugins[i]->type)) {
            return plugins[i];
        }
    }
    return NULL;
}

static struct str last_part(const char *name)
{
    const char *slash = strrchr(name, '/');

    return str_of(slash != NULL ? slash + 1 : name);
}

bool cni_is_plugin(const char *name)
{
    return plugin_of(last_part(name)) != NULL;
}

/* Output */

static int cni_code_of(const struct status *status)
{
    switch (status->reason) {
    case STATUS_BAD_REQUEST:
        return CNI_INVALID_NETWORK_CONFIG;
    case STATUS_METHOD_NOT_ALLOWED:
        return CNI_UNSUPPORTED_FIELD;
    case STATUS_NOT_ACCEPTABLE:
        return CNI_INCOMPATIBLE_VERSION;
    case STATUS_INVALID:
        return CNI_INVALID_ENVIRONMENT;
    case STATUS_UNSUPPORTED_MEDIA_TYPE:
        return CNI_DECODING_FAILURE;
    case STATUS_GONE:
        return CNI_UNKNOWN_CONTAINER;
    case STATUS_SERVICE_UNAVAILABLE:
        return CNI_TRY_AGAIN_LATER;
    default:
        return CNI_FAILED;
    }
}

static bool print(const struct value *tree)
{
    OWNED(buf_done) struct buf out = {0};

    value_write_json(&out, tree, VALUE_JSON_INDENT | VALUE_JSON_PLAIN);
    buf_add_char(&out, '\n');
    for (size_t at = 0; at < out.n;) {
        ssize_t n = write(STDOUT_FILENO, out.p + at, out.n - at);

        if (n < 0 && errno != EINTR) {
            return false;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static int print_error(struct arena *arena, struct str version, struct status *status)
{
    struct value *tree = value_object(arena);

    value_set(arena, tree, STR("cniVersion"), value_string(arena, version.n > 0 ? version : STR("1.0.0")));
    value_set(arena, tree, STR("code"), value_int(arena, cni_code_of(status)));
    value_set(arena, tree, STR("msg"), value_string(arena, status->message));
    print(tree);
    status_free(status);
    return 1;
}

static bool print_versions(struct arena *arena, struct str asked)
{
    static const char *const spoken[] = {"0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"};
    struct value *tree = value_object(arena), *list = value_array(arena);

    for (size_t i = 0; i < COUNT_OF(spoken); i++) {
        value_add(arena, list, value_string(arena, str_of(spoken[i])));
    }
    value_set(arena, tree, STR("cniVersion"), value_string(arena, asked.n > 0 ? asked : str_of(CNI_VERSION_MAX)));
    value_set(arena, tree, STR("supportedVersions"), list);
    return print(tree);
}

/* Input */

static struct status *read_input(struct arena *arena, struct str *ret)
{
    OWNED(buf_done) struct buf text = {0};

    for (;;) {
        ssize_t n = read(STDIN_FILENO, buf_reserve(&text, 16384), 16384);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return status_errno(errno, "reading the network configuration");
        }
        if (n == 0) {
            break;
        }
        text.n += (size_t)n;
        if (text.n > 2 * LIMIT_CNI_BYTES) { /* a configuration and the result before it */
            return status_new(STATUS_UNSUPPORTED_MEDIA_TYPE, "the network configuration is larger than %zu bytes",
                              2 * LIMIT_CNI_BYTES);
        }
    }
    *ret = arena_str(arena, buf_str(&text));
    return NULL;
}

/* The environment's variables that a command needs; an empty CNI_NETNS is fine for DEL. */
static struct status *read_environment(struct cni_call *call)
{
    static const struct {
        const char *name;
        size_t offset;
        const char *commands; /* that need it */
    } variables[] = {
        {"CNI_CONTAINERID", offsetof(struct cni_call, container), "ADD DEL CHECK"},
        {"CNI_NETNS", offsetof(struct cni_call, netns), "ADD CHECK"},
        {"CNI_IFNAME", offsetof(struct cni_call, interface), "ADD DEL CHECK"},
    };
    OWNED(buf_done) struct buf missing = {0};

    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        struct str value = str_of(getenv(variables[i].name));

        if (value.n == 0 && strstr(variables[i].commands, call->command.p) != NULL) {
            buf_printf(&missing, "%s%s", missing.n > 0 ? "," : "", variables[i].name);
        }
        *(struct str *)(void *)((char *)call + variables[i].offset) = value;
    }
    if (missing.n > 0) {
        return status_new(STATUS_INVALID, "required env variables [%.*s] missing", STR_ARG(buf_str(&missing)));
    }
    if (call->interface.n > 15 || str_index(call->interface, '/') != SIZE_MAX || str_is(call->interface, ".") ||
        str_is(call->interface, "..")) {
        return status_new(STATUS_INVALID, "invalid interface name \"%.*s\"", STR_ARG(call->interface));
    }
    if (str_index(call->container, '/') != SIZE_MAX || str_index(call->container, '\n') != SIZE_MAX) {
        return status_new(STATUS_INVALID, "invalid container ID \"%.*s\"", STR_ARG(call->container));
    }
    return NULL;
}

static struct status *read_call(struct str text, struct cni_call *call)
{
    struct value *input;
    struct status *bad = value_read_json(call->arena, text, &input, NULL);

    if (bad == NULL && !value_is(input, VALUE_OBJECT)) {
        bad = status_new(STATUS_BAD_REQUEST, "want an object, got %s", value_type_name(input));
    }
    if (bad != NULL) {
        bad = status_while(bad, "failed to load netconf");
        bad->reason = STATUS_UNSUPPORTED_MEDIA_TYPE;
        return bad;
    }
    call->input = input;
    call->version = value_str_at(input, "cniVersion");
    call->name = value_str_at(input, "name");
    if (str_is(call->command, "VERSION")) {
        return NULL;
    }
    if (!cni_version_is(call->version, 0, 3) || cni_version_is(call->version, 1, 2)) {
        return status_new(STATUS_NOT_ACCEPTABLE,
                          "incompatible CNI versions; config is \"%.*s\", plugin supports [\"0.3.0\" \"0.3.1\" "
                          "\"0.4.0\" \"1.0.0\" \"1.1.0\"]", STR_ARG(call->version));
    }
    if (call->name.n == 0) {
        return status_new(STATUS_BAD_REQUEST, "missing network name:");
    }
    struct value *previous = value_find(input, STR("prevResult"));

    call->has_previous = value_is(previous, VALUE_OBJECT);
    if (call->has_previous) {
        bad = cni_result_parse(call->arena, value_json(call->arena, previous), &call->previous, &call->previous_tree);
        if (bad != NULL) {
            return status_while(bad, "could not parse prevResult");
        }
    }
    return read_environment(call);
}

/* Commands */

static bool is_valid_attachment(void *arg, struct str container, struct str interface)
{
    const struct cni_call *call = arg;

    VALUE_EACH_ITEM(item, value_find(call->input, STR("cni.dev/valid-attachments"))) {
        if (str_eq(value_str_at(*item, "containerID"), container) &&
            (interface.n == 0 || str_eq(value_str_at(*item, "ifname"), interface))) {
            return true;
        }
    }
    return false;
}

static struct status *add(const struct cni_plugin *plugin, const struct cni_call *call)
{
    struct cni_result result = call->previous;

    TRY(plugin->add(call, &result));
    if (!print(cni_result_tree(call->arena, &result, call->version))) {
        return status_errno(errno, "writing the result");
    }
    return NULL;
}

static struct status *carry_out(const struct cni_plugin *plugin, const struct cni_call *call)
{
    if (str_is(call->command, "ADD")) {
        return add(plugin, call);
    }
    if (str_is(call->command, "DEL")) {
        return plugin->del != NULL ? plugin->del(call) : NULL;
    }
    if (str_is(call->command, "CHECK")) {
        return plugin->check != NULL ? plugin->check(call) : NULL;
    }
    if (str_is(call->command, "STATUS")) {
        return plugin->status != NULL ? plugin->status(call) : NULL;
    }
    if (str_is(call->command, "GC")) {
        return plugin->collect != NULL ? plugin->collect(call, is_valid_attachment) : NULL;
    }
    return status_new(STATUS_INVALID, "unknown CNI_COMMAND: %.*s", STR_ARG(call->command));
}

static const struct cni_plugin *choose(const char *name, const struct cni_call *call)
{
    const struct cni_plugin *by_name = plugin_of(last_part(name));
    const struct cni_plugin *by_type = plugin_of(value_str_at(call->input, "type"));

    if (by_name != NULL && (by_name->only_ipam || by_type == NULL)) {
        return by_name;
    }
    return by_type != NULL ? by_type : by_name;
}

int cni_main(int argc, char **argv)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cni_call call = {.arena = arena, .command = str_of(getenv("CNI_COMMAND"))};
    struct str text;

    if (call.command.n == 0) {
        static const char about[] = "CNI plugin of c8s: bridge, host-local, loopback, portmap and c8s-cni.\n"
                                    "It is run by a container runtime, with CNI_COMMAND in its environment.\n"
                                    "CNI protocol versions supported: 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0\n";

        return write(STDERR_FILENO, about, sizeof(about) - 1) < 0;
    }
    struct status *bad = read_input(arena, &text);

    if (bad == NULL) {
        bad = read_call(text, &call);
    }
    if (bad == NULL && str_is(call.command, "VERSION")) {
        return print_versions(arena, call.version) ? 0 : 1;
    }
    const struct cni_plugin *plugin = bad == NULL ? choose(argc > 0 ? argv[0] : "", &call) : NULL;

    if (bad == NULL && plugin == NULL) {
        bad = status_new(STATUS_BAD_REQUEST, "unknown plugin type \"%.*s\"",
                         STR_ARG(value_str_at(call.input, "type")));
    }
    if (bad == NULL) {
        bad = carry_out(plugin, &call);
    }
    return bad != NULL ? print_error(arena, call.version, bad) : 0;
}
