#include "network/cni_invoker.h"

#include "base/env.h"
#include "base/task.h"
#include "net/process.h"
#include "network/cni_cache.h"
#include "network/cni_conf.h"
#include "network/cni_result.h"
#include "network/loopback.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One ADD, DEL, CHECK or STATUS on its way through the plugins. */
struct call {
    const struct cni_invoker *invoker;
    const struct cni_attachment *attachment; /* NULL for STATUS */
    int64_t deadline;
    struct arena *arena;
    struct cni_conf conf;
    struct value *capability_args;
    struct value *result;     /* of the plugins so far, or the kept one; NULL: none */
    struct str result_json;
    struct str kept_path;     /* empty: nothing kept */
    struct status *offloaded; /* what the worker found */
};

static const char *verb_of_command(const char *command)
{
    return strcmp(command, "ADD") == 0     ? "add"
           : strcmp(command, "DEL") == 0   ? "delete"
           : strcmp(command, "CHECK") == 0 ? "check"
                                           : "status";
}

static struct status *check_attachment(const struct cni_attachment *attachment)
{
    struct str id = attachment->container_id, interface = attachment->interface;

    for (size_t i = 0; i < id.n; i++) {
        bool is_word = (id.p[i] >= '0' && id.p[i] <= '9') || ((id.p[i] | 0x20) >= 'a' && (id.p[i] | 0x20) <= 'z');

        if (!is_word && (i == 0 || strchr("_.-", id.p[i]) == NULL || id.p[i] == '\0')) {
            return status_new(STATUS_BAD_REQUEST, "invalid characters in container ID \"%.*s\"", STR_ARG(id));
        }
    }
    if (id.n == 0) {
        return status_new(STATUS_BAD_REQUEST, "container ID is empty");
    }
    if (interface.n == 0 || interface.n > 15 || str_is(interface, ".") || str_is(interface, "..") ||
        str_index(interface, '/') != SIZE_MAX || str_index(interface, ':') != SIZE_MAX ||
        str_trim(interface).n != interface.n) {
        return status_new(STATUS_BAD_REQUEST, "invalid interface name \"%.*s\"", STR_ARG(interface));
    }
    return NULL;
}

static struct status *find_plugin(const struct call *call, struct str type, struct str *ret_path)
{
    OWNED(buf_done) struct buf path = {0};

    LIST_EACH(directory, &call->invoker->plugin_dirs) {
        struct str candidate = arena_printf(call->arena, "%.*s/%.*s", STR_ARG(*directory), STR_ARG(type));
        struct stat about;

        if (str_index(type, '/') == SIZE_MAX && stat(candidate.p, &about) == 0 && S_ISREG(about.st_mode)) {
            *ret_path = candidate;
            return NULL;
        }
        buf_printf(&path, "%s%.*s", path.n > 0 ? " " : "", STR_ARG(*directory));
    }
    return status_new(STATUS_SERVICE_UNAVAILABLE, "failed to find plugin \"%.*s\" in path [%.*s]", STR_ARG(type),
                      STR_ARG(buf_str(&path)));
}

/* The parameters of the specification, as variables. */
static struct str_list parameters_of(const struct call *call, const char *command)
{
    struct arena *arena = call->arena;
    struct str_list list = {0};
    OWNED(buf_done) struct buf path = {0};

    LIST_EACH(directory, &call->invoker->plugin_dirs) {
        buf_printf(&path, "%s%.*s", path.n > 0 ? ":" : "", STR_ARG(*directory));
    }
    *LIST_ADD(arena, &list) = arena_printf(arena, "CNI_COMMAND=%s", command);
    *LIST_ADD(arena, &list) = arena_printf(arena, "CNI_PATH=%.*s", STR_ARG(buf_str(&path)));
    if (call->attachment != NULL) {
        const struct cni_attachment *pod = call->attachment;

        *LIST_ADD(arena, &list) = arena_printf(arena, "CNI_CONTAINERID=%.*s", STR_ARG(pod->container_id));
        *LIST_ADD(arena, &list) = arena_printf(arena, "CNI_NETNS=%.*s", STR_ARG(pod->netns));
        *LIST_ADD(arena, &list) = arena_printf(arena, "CNI_IFNAME=%.*s", STR_ARG(pod->interface));
        *LIST_ADD(arena, &list) =
            arena_printf(arena,
                         "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=%.*s;K8S_POD_NAME=%.*s;"
                         "K8S_POD_INFRA_CONTAINER_ID=%.*s;K8S_POD_UID=%.*s",
                         STR_ARG(pod->pod_namespace), STR_ARG(pod->pod_name), STR_ARG(pod->container_id),
                         STR_ARG(pod->pod_uid));
    }
    return list;
}

/* The process' environment with the parameters in place of any it has. */
static const char *const *environment(struct arena *arena, const struct str_list *parameters)
{
    struct {
        const char **items;
        size_t len;
    } list = {0};

    for (char **variable = environ; *variable != NULL; variable++) {
        if (strncmp(*variable, "CNI_", 4) != 0) {
            *LIST_ADD(arena, &list) = *variable;
        }
    }
    LIST_EACH(parameter, parameters) {
        *LIST_ADD(arena, &list) = parameter->p;
    }
    *LIST_ADD(arena, &list) = NULL;
    return list.items;
}

static bool is_this_program(struct str path)
{
    struct stat program, plugin;

    return stat("/proc/self/exe", &program) == 0 && stat(path.p, &plugin) == 0 && program.st_dev == plugin.st_dev &&
           program.st_ino == plugin.st_ino;
}

static struct status *run_program(const struct call *call, struct str path, const char *command, struct str input,
                                  struct process_output *ret)
{
    const struct cni_invoker *invoker = call->invoker;
    struct str_list parameters = parameters_of(call, command);
    const char *argv[] = {path.p, NULL};
    struct process_options options = {.argv = argv, .cwd = "/"};

    if (invoker->run_own != NULL && is_this_program(path)) {
        struct status *status =
            invoker->run_own(invoker->run_own_arg, path, &parameters, input, call->deadline, call->arena, ret);

        if (!status_free_if(&status, STATUS_SERVICE_UNAVAILABLE)) {
            return status;
        }
    }
    options.env = environment(call->arena, &parameters);
    return process_run(&options, input, LIMIT_CNI_BYTES, call->deadline, call->arena, ret);
}

static struct status *run_plugin(const struct call *call, const struct value *plugin, const char *command,
                                 struct value *previous, struct str *ret_out)
{
    struct str type = value_str_at(plugin, "type"), path;
    struct process_output output;

    TRY(find_plugin(call, type, &path));
    struct str input = cni_plugin_input(call->arena, &call->conf, plugin, previous, call->capability_args);
    struct status *bad = run_program(call, path, command, input, &output);

    if (bad != NULL) {
        return status_while(bad, "plugin type=\"%.*s\" failed (%s)", STR_ARG(type), verb_of_command(command));
    }
    if (output.end.code != 0) {
        return cni_plugin_failure(type, verb_of_command(command), output.end.code, output.out, output.err);
    }
    if (output.is_cut) {
        return status_new(STATUS_INTERNAL_ERROR, "plugin type=\"%.*s\" failed (%s): it printed more than %zu bytes",
                          STR_ARG(type), verb_of_command(command), LIMIT_CNI_BYTES);
    }
    *ret_out = output.out;
    return NULL;
}

static void load_conf(void *arg)
{
    struct call *call = arg;

    call->offloaded = cni_conf_load(call->arena, call->invoker->conf_dir, &call->conf);
}

static void load_kept(void *arg)
{
    struct call *call = arg;
    struct cni_kept kept;

    call->offloaded = cni_cache_read(call->invoker, call->attachment, call->arena, &kept);
    if (call->offloaded == NULL) {
        call->conf = kept.conf;
        call->capability_args = kept.capability_args;
        call->result = kept.result;
        call->result_json = kept.result_json;
        call->kept_path = kept.path;
    }
}

static void keep(void *arg)
{
    struct call *call = arg;

    call->offloaded =
        cni_cache_write(call->invoker, call->attachment, &call->conf, call->capability_args, call->result);
}

static void forget(void *arg)
{
    struct call *call = arg;

    call->offloaded = call->kept_path.n > 0 ? cni_cache_forget(call->kept_path) : NULL;
}

static void bring_up_loopback(void *arg)
{
    struct call *call = arg;

    call->offloaded = loopback_set(arena_cstr(call->arena, call->attachment->netns), true);
}

static struct status *offload(struct call *call, task_fn *work)
{
    task_offload(work, call);
    return TAKE(call->offloaded);
}

/* Every plugin's DEL in reverse order; the first error is returned. */
static struct status *delete_all(const struct call *call)
{
    struct status *first = NULL;
    struct value *previous = cni_version_is(call->conf.version, 0, 4) ? call->result : NULL;

    for (size_t i = value_count(call->conf.plugins); i > 0; i--) {
        struct str out;
        struct status *bad = run_plugin(call, value_item(call->conf.plugins, i - 1), "DEL", previous, &out);

        if (first == NULL) {
            first = bad;
        } else {
            status_free(bad);
        }
    }
    return first;
}

static struct status *add_all(struct call *call, struct cni_result *ret)
{
    VALUE_EACH_ITEM(plugin, call->conf.plugins) {
        struct str out;

        TRY(run_plugin(call, *plugin, "ADD", call->result, &out));
        struct status *bad = cni_result_parse(call->arena, out, ret, &call->result);

        if (bad != NULL) {
            return status_while(bad, "plugin type=\"%.*s\" failed (add): its result can't be read",
                                STR_ARG(value_str_at(*plugin, "type")));
        }
        if (value_find(call->result, STR("cniVersion")) == NULL) {
            value_set(call->arena, call->result, STR("cniVersion"), value_string(call->arena, call->conf.version));
        }
    }
    return offload(call, keep);
}

/* Undoes an ADD that failed half-way, in time of its own: the deadline may be what made it fail. */
static void undo(struct call *call)
{
    call->deadline = env_mono() + 30 * ENV_SECOND;
    call->result = NULL;
    status_free(delete_all(call));
}

struct status *cni_add(const struct cni_invoker *invoker, const struct cni_attachment *attachment, int64_t deadline,
                       struct arena *arena, struct cni_result *ret)
{
    struct call call = {.invoker = invoker, .attachment = attachment, .deadline = deadline, .arena = arena};
    struct cni_result result;

    TRY(check_attachment(attachment));
    TRY(offload(&call, load_conf));
    TRY(offload(&call, bring_up_loopback));
    call.capability_args = cni_capability_args(arena, attachment);
    struct status *bad = add_all(&call, &result);

    if (bad != NULL) {
        undo(&call);
        return bad;
    }
    *ret = result;
    return NULL;
}

struct status *cni_del(const struct cni_invoker *invoker, const struct cni_attachment *attachment, int64_t deadline)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct call call = {.invoker = invoker, .attachment = attachment, .deadline = deadline, .arena = arena};

    TRY(check_attachment(attachment));
    struct status *bad = offload(&call, load_kept);

    if (bad != NULL) { /* nothing kept, or unreadable: today's configuration is the best guess there is */
        status_free(bad);
        call.capability_args = cni_capability_args(arena, attachment);
        bad = offload(&call, load_conf);
        if (status_free_if(&bad, STATUS_NOT_FOUND)) {
            return NULL;
        }
        TRY(bad);
    }
    TRY(delete_all(&call));
    return offload(&call, forget);
}

struct status *cni_check(const struct cni_invoker *invoker, const struct cni_attachment *attachment, int64_t deadline)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct call call = {.invoker = invoker, .attachment = attachment, .deadline = deadline, .arena = arena};

    TRY(check_attachment(attachment));
    TRY(offload(&call, load_kept));
    if (call.conf.disable_check || !cni_version_is(call.conf.version, 0, 4)) {
        return NULL;
    }
    VALUE_EACH_ITEM(plugin, call.conf.plugins) {
        struct str out;

        TRY(run_plugin(&call, *plugin, "CHECK", call.result, &out));
    }
    return NULL;
}

struct status *cni_result_read(const struct cni_invoker *invoker, const struct cni_attachment *attachment,
                               struct arena *arena, struct cni_result *ret)
{
    struct call call = {.invoker = invoker, .attachment = attachment, .arena = arena};

    TRY(check_attachment(attachment));
    TRY(offload(&call, load_kept));
    return cni_result_parse(arena, call.result_json, ret, NULL);
}

struct status *cni_status(const struct cni_invoker *invoker, int64_t deadline)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct call call = {.invoker = invoker, .deadline = deadline, .arena = arena};
    struct status *bad = offload(&call, load_conf);

    if (status_free_if(&bad, STATUS_NOT_FOUND)) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "cni plugin not initialized");
    }
    TRY(bad);
    VALUE_EACH_ITEM(plugin, call.conf.plugins) {
        struct str out;

        TRY(find_plugin(&call, value_str_at(*plugin, "type"), &out));
        if (cni_version_is(call.conf.version, 1, 1)) {
            TRY(run_plugin(&call, *plugin, "STATUS", NULL, &out));
        }
    }
    return NULL;
}
