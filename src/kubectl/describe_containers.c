/* The containers of a pod or of a template, as `kubectl describe` shows them. */
#include "kubectl/describe.h"

#include <stdlib.h>

#define ADD(d, ...) buf_printf(&(d)->text, __VA_ARGS__)

static const struct value *status_of(const struct value *statuses, struct str name)
{
    VALUE_EACH_ITEM(status, statuses)
    {
        if (str_eq(value_str_at(*status, "name"), name)) {
            return *status;
        }
    }
    return NULL;
}

/* "80/TCP, 443/TCP"; with `host` the ports on the node. */
static struct str ports_of(struct arena *arena, const struct value *ports, const char *which)
{
    struct str text = STR("");

    VALUE_EACH_ITEM(port, ports)
    {
        const struct value *number = value_find(*port, str_of(which));
        struct str protocol = value_str_at(*port, "protocol"), name = value_str_at(*port, "name");

        text = arena_printf(arena, "%.*s%s%lld/%.*s", STR_ARG(text), text.n > 0 ? ", " : "",
                            (long long)(value_is(number, VALUE_INT) ? number->integer : 0),
                            STR_ARG(protocol.n > 0 ? protocol : STR("TCP")));
        if (name.n > 0) {
            text = arena_printf(arena, "%.*s (%.*s)", STR_ARG(text), STR_ARG(name));
        }
    }
    return describe_or_none(text);
}

static void basics(struct description *d, const struct value *container, const struct value *status, const char *space)
{
    struct arena *arena = d->k->arena;
    const struct value *ports = value_find(container, STR("ports"));
    const char *plural = value_count(ports) > 1 ? "s" : "";

    if (status != NULL) {
        ADD(d, "%s  Container ID:\t%.*s\n", space, STR_ARG(value_str_at(status, "containerID")));
    }
    ADD(d, "%s  Image:\t%.*s\n", space, STR_ARG(value_str_at(container, "image")));
    if (status != NULL) {
        ADD(d, "%s  Image ID:\t%.*s\n", space, STR_ARG(value_str_at(status, "imageID")));
    }
    ADD(d, "%s  Port%s:\t%.*s\n", space, plural, STR_ARG(ports_of(arena, ports, "containerPort")));
    ADD(d, "%s  Host Port%s:\t%.*s\n", space, plural, STR_ARG(ports_of(arena, ports, "hostPort")));
}

static void words(struct description *d, const char *title, const struct value *list, const char *space)
{
    if (value_count(list) > 0) {
        ADD(d, "%s  %s:\n", space, title);
    }
    VALUE_EACH_ITEM(word, list)
    {
        struct str rest = value_str(*word), line;

        while (str_next(&rest, '\n', &line)) {
            ADD(d, "%s    %.*s\n", space, STR_ARG(line));
        }
    }
}

static void state(struct description *d, const char *title, const struct value *state, const char *space)
{
    const struct value *running = value_find(state, STR("running")), *ended = value_find(state, STR("terminated"));
    struct arena *arena = d->k->arena;
    const struct value *code = value_find(ended, STR("exitCode")), *signal = value_find(ended, STR("signal"));
    struct str reason = value_str_at(ended != NULL ? ended : value_find(state, STR("waiting")), "reason");

    ADD(d, "%s  %s:\t%s\n", space, title, running != NULL ? "Running" : ended != NULL ? "Terminated" : "Waiting");
    if (running != NULL) {
        ADD(d, "%s    Started:\t%.*s\n", space, STR_ARG(describe_time(arena, value_find(running, STR("startedAt")))));
        return;
    }
    if (reason.n > 0) {
        ADD(d, "%s    Reason:\t%.*s\n", space, STR_ARG(reason));
    }
    if (ended == NULL) {
        return;
    }
    if (value_str_at(ended, "message").n > 0) {
        ADD(d, "%s    Message:\t%.*s\n", space, STR_ARG(value_str_at(ended, "message")));
    }
    ADD(d, "%s    Exit Code:\t%lld\n", space, (long long)(value_is(code, VALUE_INT) ? code->integer : 0));
    if (value_is(signal, VALUE_INT) && signal->integer > 0) {
        ADD(d, "%s    Signal:\t%lld\n", space, (long long)signal->integer);
    }
    ADD(d, "%s    Started:\t%.*s\n", space, STR_ARG(describe_time(arena, value_find(ended, STR("startedAt")))));
    ADD(d, "%s    Finished:\t%.*s\n", space, STR_ARG(describe_time(arena, value_find(ended, STR("finishedAt")))));
}

static void states(struct description *d, const struct value *status, const char *space)
{
    const struct value *ready = value_find(status, STR("ready")), *restarts = value_find(status, STR("restartCount"));

    state(d, "State", value_find(status, STR("state")), space);
    if (value_find_path(status, "lastState.terminated") != NULL) {
        state(d, "Last State", value_find(status, STR("lastState")), space);
    }
    ADD(d, "%s  Ready:\t%s\n", space, value_is(ready, VALUE_BOOL) && ready->boolean ? "True" : "False");
    ADD(d, "%s  Restart Count:\t%lld\n", space, (long long)(value_is(restarts, VALUE_INT) ? restarts->integer : 0));
}

static void resources(struct description *d, const char *title, const struct value *amounts, const char *space)
{
    struct str *keys = value_sorted_keys(d->k->arena, amounts);

    if (value_count(amounts) > 0) {
        ADD(d, "%s  %s:\n", space, title);
    }
    for (size_t i = 0; i < value_count(amounts); i++) {
        ADD(d, "%s    %.*s:\t%.*s\n", space, STR_ARG(keys[i]),
            STR_ARG(describe_value(d->k->arena, value_find(amounts, keys[i]))));
    }
}

static long long number(const struct value *object, const char *key)
{
    const struct value *value = value_find(object, str_of(key));

    return value_is(value, VALUE_INT) ? value->integer : 0;
}

/* How the probe asks: "http-get http://:80/ ". */
static struct str probe_action(struct arena *arena, const struct value *probe)
{
    const struct value *http = value_find(probe, STR("httpGet")), *tcp = value_find(probe, STR("tcpSocket"));
    const struct value *exec = value_find(probe, STR("exec")), *grpc = value_find(probe, STR("grpc"));

    if (exec != NULL) {
        struct str command = STR("");

        VALUE_EACH_ITEM(word, value_find(exec, STR("command")))
        {
            command = arena_printf(arena, "%.*s%s%.*s", STR_ARG(command), command.n > 0 ? " " : "",
                                   STR_ARG(value_str(*word)));
        }
        return arena_printf(arena, "exec [%.*s]", STR_ARG(command));
    }
    if (http != NULL) {
        bool is_tls = str_is(value_str_at(http, "scheme"), "HTTPS");

        return arena_printf(arena, "http-get %s://%.*s:%.*s%.*s", is_tls ? "https" : "http",
                            STR_ARG(value_str_at(http, "host")),
                            STR_ARG(describe_value(arena, value_find(http, STR("port")))),
                            STR_ARG(value_str_at(http, "path")));
    }
    if (tcp != NULL) {
        return arena_printf(arena, "tcp-socket %.*s:%.*s", STR_ARG(value_str_at(tcp, "host")),
                            STR_ARG(describe_value(arena, value_find(tcp, STR("port")))));
    }
    if (grpc != NULL) {
        return arena_printf(arena, "grpc <pod>:%.*s %.*s", STR_ARG(describe_value(arena, value_find(grpc, STR("port")))),
                            STR_ARG(value_str_at(grpc, "service")));
    }
    return STR("unknown");
}

static void probe(struct description *d, const char *title, const struct value *probe, const char *space)
{
    if (probe != NULL) {
        ADD(d, "%s  %s:\t%.*s delay=%llds timeout=%llds period=%llds #success=%lld #failure=%lld\n", space, title,
            STR_ARG(probe_action(d->k->arena, probe)), number(probe, "initialDelaySeconds"),
            number(probe, "timeoutSeconds"), number(probe, "periodSeconds"), number(probe, "successThreshold"),
            number(probe, "failureThreshold"));
    }
}

static const char *is_optional(const struct value *reference)
{
    const struct value *optional = value_find(reference, STR("optional"));

    return value_is(optional, VALUE_BOOL) && optional->boolean ? "true" : "false";
}

/* What a fieldRef of the pod that is described gives. */
static struct str field_of(struct arena *arena, const struct value *pod, struct str path)
{
    const struct value *value = pod != NULL ? value_find_path(pod, arena_cstr(arena, path)) : NULL;

    return value_is(value, VALUE_STRING) ? value_str(value) : STR("");
}

static void variable(struct description *d, const struct value *env, const struct value *pod, const char *space)
{
    struct str name = value_str_at(env, "name");
    const struct value *from = value_find(env, STR("valueFrom"));
    const struct value *field = value_find(from, STR("fieldRef")), *secret = value_find(from, STR("secretKeyRef"));
    const struct value *map = value_find(from, STR("configMapKeyRef"));
    const struct value *resource = value_find(from, STR("resourceFieldRef"));

    if (field != NULL) {
        struct str path = value_str_at(field, "fieldPath");

        ADD(d, "%s    %.*s:\t%.*s (%.*s:%.*s)\n", space, STR_ARG(name), STR_ARG(field_of(d->k->arena, pod, path)),
            STR_ARG(value_str_at(field, "apiVersion")), STR_ARG(path));
    } else if (secret != NULL) {
        ADD(d, "%s    %.*s:\t<set to the key '%.*s' in secret '%.*s'>\tOptional: %s\n", space, STR_ARG(name),
            STR_ARG(value_str_at(secret, "key")), STR_ARG(value_str_at(secret, "name")), is_optional(secret));
    } else if (map != NULL) {
        ADD(d, "%s    %.*s:\t<set to the key '%.*s' of config map '%.*s'>\tOptional: %s\n", space, STR_ARG(name),
            STR_ARG(value_str_at(map, "key")), STR_ARG(value_str_at(map, "name")), is_optional(map));
    } else if (resource != NULL) {
        ADD(d, "%s    %.*s:\t(%.*s)\n", space, STR_ARG(name), STR_ARG(value_str_at(resource, "resource")));
    } else {
        struct str rest = value_str_at(env, "value"), line;
        bool is_first = true;

        if (rest.n == 0) {
            ADD(d, "%s    %.*s:\t\n", space, STR_ARG(name));
        }
        while (str_next(&rest, '\n', &line)) {
            ADD(d, "%s    %.*s%s\t%.*s\n", space, STR_ARG(is_first ? name : STR("")), is_first ? ":" : "", STR_ARG(line));
            is_first = false;
        }
    }
}

static void environment(struct description *d, const struct value *container, const struct value *pod, const char *space)
{
    const struct value *sources = value_find(container, STR("envFrom")), *env = value_find(container, STR("env"));

    if (value_count(sources) > 0) {
        ADD(d, "%s  Environment Variables from:\n", space);
    }
    VALUE_EACH_ITEM(source, sources)
    {
        const struct value *map = value_find(*source, STR("configMapRef"));
        const struct value *from = map != NULL ? map : value_find(*source, STR("secretRef"));
        struct str prefix = value_str_at(*source, "prefix");

        ADD(d, "%s    %.*s\t%s%s%.*s%s Optional: %s\n", space, STR_ARG(value_str_at(from, "name")),
            map != NULL ? "ConfigMap" : "Secret", prefix.n > 0 ? " with prefix '" : "", STR_ARG(prefix),
            prefix.n > 0 ? "'" : "", is_optional(from));
    }
    ADD(d, "%s  Environment:%s\n", space, value_count(env) == 0 ? "\t<none>" : "");
    VALUE_EACH_ITEM(one, env)
    {
        variable(d, *one, pod, space);
    }
}

static int by_path(const void *left, const void *right)
{
    return str_cmp(value_str_at(*(struct value *const *)left, "mountPath"),
                   value_str_at(*(struct value *const *)right, "mountPath"));
}

static void mounts(struct description *d, const struct value *list, const char *space)
{
    size_t count = value_count(list);
    struct value **sorted = ARENA_ARRAY(d->k->arena, struct value *, count);

    ADD(d, "%s  Mounts:%s\n", space, count == 0 ? "\t<none>" : "");
    for (size_t i = 0; i < count; i++) {
        sorted[i] = value_item(list, i);
    }
    if (count > 0) {
        qsort(sorted, count, sizeof(*sorted), by_path);
    }
    for (size_t i = 0; i < count; i++) {
        const struct value *read_only = value_find(sorted[i], STR("readOnly"));
        struct str sub = value_str_at(sorted[i], "subPath");
        bool is_ro = value_is(read_only, VALUE_BOOL) && read_only->boolean;

        ADD(d, "%s    %.*s from %.*s (%s%s%.*s%s)\n", space, STR_ARG(value_str_at(sorted[i], "mountPath")),
            STR_ARG(value_str_at(sorted[i], "name")), is_ro ? "ro" : "rw", sub.n > 0 ? ",path=\"" : "", STR_ARG(sub),
            sub.n > 0 ? "\"" : "");
    }
}

void describe_containers(struct description *d, const char *title, const struct value *containers,
                         const struct value *statuses, const struct value *pod, const char *space)
{
    /* In a template all is one level deeper, but for one space. */
    const char *outer = space[0] == '\0' ? "" : "  ", *inner = space[0] == '\0' ? "  " : "   ";

    ADD(d, "%s%s:\n", outer, title);
    VALUE_EACH_ITEM(container, containers)
    {
        struct str name = value_str_at(*container, "name");
        const struct value *status = status_of(statuses, name);

        ADD(d, "%s%.*s:\n", inner, STR_ARG(name));
        basics(d, *container, status, "  ");
        words(d, "Command", value_find(*container, STR("command")), "  ");
        words(d, "Args", value_find(*container, STR("args")), "  ");
        if (status != NULL) {
            states(d, status, "  ");
        }
        resources(d, "Limits", value_find_path(*container, "resources.limits"), "  ");
        resources(d, "Requests", value_find_path(*container, "resources.requests"), "  ");
        probe(d, "Liveness", value_find(*container, STR("livenessProbe")), "  ");
        probe(d, "Readiness", value_find(*container, STR("readinessProbe")), "  ");
        probe(d, "Startup", value_find(*container, STR("startupProbe")), "  ");
        environment(d, *container, pod, "  ");
        mounts(d, value_find(*container, STR("volumeMounts")), "  ");
    }
}
