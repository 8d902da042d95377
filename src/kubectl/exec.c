/* kubectl exec and attach: a command's input, output and end over a WebSocket (v5.channel.k8s.io, KEP-4006). */
#include "base/task.h"
#include "kubectl/pods.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/terminal.h"
#include "net/websocket.h"

#include <errno.h>
#include <unistd.h>

enum channel { CHANNEL_STDIN, CHANNEL_STDOUT, CHANNEL_STDERR, CHANNEL_ERROR, CHANNEL_RESIZE, CHANNEL_CLOSE = 255 };
enum { READ_BYTES = 16384 };

struct exec_options {
    bool interactive, tty, quiet;
    struct str container;
};

struct session {
    struct kubectl *k;
    struct terminal *terminal;
    struct websocket *socket;
    bool can_close_input; /* version 5 */
    struct value *end;    /* the Status that came over the error channel */
};

static struct str channel_byte(const unsigned char *channel)
{
    return (struct str){(const char *)channel, 1};
}

static struct status *send_on(struct session *session, unsigned char channel, struct str bytes)
{
    return websocket_write(session->socket, WEBSOCKET_BINARY, channel_byte(&channel), bytes);
}

static void send_input(void *arg)
{
    struct session *session = arg;
    static const char input[] = {CHANNEL_STDIN};
    char bytes[READ_BYTES];
    struct status *status = NULL;
    size_t size = 1;

    while (status == NULL && size > 0) {
        status = terminal_read(session->terminal, bytes, sizeof(bytes), &size);
        if (status == NULL && size > 0) {
            status = send_on(session, CHANNEL_STDIN, (struct str){bytes, size});
        }
    }
    if (status == NULL && session->can_close_input && !task_is_cancelled()) {
        status = send_on(session, CHANNEL_CLOSE, (struct str){input, sizeof(input)});
    }
    status_free(status); /* the reading side tells what became of the connection */
}

static void send_sizes(void *arg)
{
    struct session *session = arg;
    struct status *status = NULL;

    while (status == NULL) {
        uint16_t width, height;
        OWNED(buf_done) struct buf text = {0};

        terminal_size(&width, &height);
        buf_printf(&text, "{\"Width\":%u,\"Height\":%u}\n", width, height);
        status = send_on(session, CHANNEL_RESIZE, buf_str(&text));
        if (status == NULL) {
            status = terminal_wait_resize(session->terminal);
        }
    }
    status_free(status);
}

static struct status *write_all(int fd, struct str bytes)
{
    while (bytes.n > 0) {
        ssize_t written = write(fd, bytes.p, bytes.n);

        if (written < 0 && errno != EINTR) {
            return status_errno(errno, "writing output");
        }
        bytes = str_from(bytes, written > 0 ? (size_t)written : 0);
    }
    return NULL;
}

static struct status *take_message(struct session *session, struct str message)
{
    struct str bytes = str_from(message, 1);

    if (message.n == 0) {
        return NULL;
    }
    switch ((unsigned char)message.p[0]) {
    case CHANNEL_STDOUT:
        return write_all(STDOUT_FILENO, bytes);
    case CHANNEL_STDERR:
        return write_all(STDERR_FILENO, bytes);
    case CHANNEL_ERROR:
        return bytes.n > 0 ? value_read_json(session->k->arena, arena_str(session->k->arena, bytes), &session->end, NULL)
                           : NULL;
    default:
        return NULL; /* a channel that the server closes */
    }
}

static struct status *receive(struct session *session)
{
    OWNED(buf_done) struct buf message = {0};

    for (;;) {
        enum websocket_kind kind;
        bool more;

        TRY(websocket_read(session->socket, &message, &kind, &more));
        if (!more) {
            return NULL;
        }
        TRY(take_message(session, buf_str(&message)));
    }
}

/* The exit code of the command is ours too. */
static struct status *tell_end(struct session *session)
{
    struct kubectl *k = session->k;
    int64_t code;

    if (session->end == NULL || str_is(value_str_at(session->end, "status"), "Success")) {
        return NULL;
    }
    if (str_is(value_str_at(session->end, "reason"), "NonZeroExitCode")) {
        VALUE_EACH_ITEM(cause, value_find_path(session->end, "details.causes"))
        {
            if (str_is(value_str_at(*cause, "reason"), "ExitCode") &&
                str_to_i64(value_str_at(*cause, "message"), &code)) {
                fprintf(k->err, "command terminated with exit code %lld\n", (long long)code);
                k->exit_code = (int)code;
                return NULL;
            }
        }
    }
    return error_local("%.*s", STR_ARG(value_str_at(session->end, "message")));
}

static struct status *talk(struct session *session, bool sends_input, bool is_tty)
{
    struct task_group group;

    task_group_init(&group);
    fflush(session->k->out);
    if (is_tty) {
        terminal_make_raw(session->terminal);
        task_group_spawn(&group, "sizes", send_sizes, session);
    }
    if (sends_input) {
        task_group_spawn(&group, "input", send_input, session);
    }
    struct status *status = receive(session);

    terminal_interrupt(session->terminal);
    task_group_cancel(&group);
    return status;
}

static struct status *connect_to(struct session *session, struct str path)
{
    static const char *const protocols[] = {"v5.channel.k8s.io", "v4.channel.k8s.io", NULL};
    struct kubectl *k = session->k;
    struct http_request request = {.method = STR("GET"), .target = path};
    struct http_client *http = client_dress(k->client, k->arena, &request);

    TRY(websocket_dial(http, &request, protocols, &session->socket));
    session->can_close_input = str_is(websocket_protocol(session->socket), protocols[0]);
    return NULL;
}

static struct str path_of(struct kubectl *k, const struct exec_options *options, const struct value *pod,
                          const char *subresource, struct str container, const struct str *words, size_t count)
{
    struct str path = arena_printf(k->arena, "/api/v1/namespaces/%.*s/pods/%.*s/%s",
                                   STR_ARG(value_str_at(pod, "metadata.namespace")),
                                   STR_ARG(value_str_at(pod, "metadata.name")), subresource);

    for (size_t i = 0; i < count; i++) {
        path = arena_printf(k->arena, "%.*s%ccommand=%.*s", STR_ARG(path), i == 0 ? '?' : '&',
                            STR_ARG(http_escape(k->arena, words[i])));
    }
    path = path_with(k, path, "container", container);
    path = path_with(k, path, "stdin", options->interactive ? STR("true") : STR(""));
    path = path_with(k, path, "stdout", STR("true"));
    path = path_with(k, path, "stderr", options->tty ? STR("") : STR("true"));
    return path_with(k, path, "tty", options->tty ? STR("true") : STR(""));
}

static struct status *run_session(struct kubectl *k, struct terminal *terminal, const struct exec_options *options,
                                  struct str path)
{
    struct session session = {.k = k, .terminal = terminal};
    struct status *status = connect_to(&session, path);

    if (status == NULL) {
        status = talk(&session, options->interactive, options->tty);
        websocket_close(session.socket, WEBSOCKET_NORMAL, STR(""));
    }
    if (status == NULL) {
        return tell_end(&session);
    }
    status->code = status->code > 0 && status->code < 1000 && session.socket == NULL && status->code != 503
                       ? status->code | REPORT_FROM_SERVER
                       : 0;
    return status;
}

static struct status *attach_to(struct kubectl *k, struct terminal *terminal, struct exec_options *options,
                                const char *subresource, const struct str *words, size_t count)
{
    struct value *pod;
    struct str container;

    TRY(kubectl_connect(k));
    TRY(pod_find(k, k->args.positional.items[0], &pod));
    struct str phase = value_str_at(pod, "status.phase");

    if (str_is(phase, "Succeeded") || str_is(phase, "Failed")) {
        return error_local("cannot exec into a container in a completed pod; current phase is %.*s", STR_ARG(phase));
    }
    TRY(pod_container(k, pod, options->container, options->quiet, &container));
    if (options->tty && !terminal_is_tty(terminal)) {
        options->tty = false;
        if (!options->quiet) {
            fprintf(k->err, "Unable to use a TTY - input is not a terminal or the right kind of file\n");
        }
    }
    return run_session(k, terminal, options, path_of(k, options, pod, subresource, container, words, count));
}

static struct status *with_terminal(struct kubectl *k, struct exec_options *options, const char *subresource,
                                    const struct str *words, size_t count)
{
    struct terminal *terminal;

    TRY(terminal_open(&terminal));
    struct status *status = attach_to(k, terminal, options, subresource, words, count);

    terminal_close(terminal);
    return status;
}

static struct status *exec_run(struct kubectl *k, void *arg)
{
    const struct flag_strings *words = &k->args.positional;
    size_t before = MIN(k->args.after_dashes, words->len);

    if (words->len == 0 || (before == 0 && k->files.names.len == 0)) {
        return error_local("pod, type/name or --filename must be specified");
    }
    if (k->args.after_dashes == SIZE_MAX && words->len > 1) {
        return error_local("exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead\nSee 'kubectl "
                           "exec -h' for help and examples");
    }
    if (before > 1) {
        return error_local("exec takes one POD or TYPE/NAME before --, got %zu", before);
    }
    if (words->len == before) {
        return error_usage(k, "you must specify at least one command for the container");
    }
    return with_terminal(k, arg, "exec", words->items + before, words->len - before);
}

static struct status *attach_run(struct kubectl *k, void *arg)
{
    if (k->args.positional.len == 0) {
        return error_local("at least 1 argument is required for attach");
    }
    if (k->args.positional.len > 1) {
        return error_local("expected POD, TYPE/NAME, or TYPE NAME, (at most 2 arguments) saw %zu",
                           k->args.positional.len);
    }
    return with_terminal(k, arg, "attach", NULL, 0);
}

static const struct flag exec_flags[] = {
    FLAG(BOOL, struct exec_options, interactive, "stdin", 'i', "pass standard input on"),
    FLAG(BOOL, struct exec_options, tty, "tty", 't', "standard input is a terminal"),
    FLAG(BOOL, struct exec_options, quiet, "quiet", 'q', "print only what the command prints"),
    FLAG(STRING, struct exec_options, container, "container", 'c', "in this container"),
    FLAG_IGNORE("pod-running-timeout"),
};

const struct command command_exec = {
    .name = "exec",
    .help = "Execute a command in a container",
    .usage = "(POD | TYPE/NAME) [-c CONTAINER] [flags] -- COMMAND [args...]",
    .uses = USES_FILES,
    .flags = exec_flags,
    .flag_count = COUNT_OF(exec_flags),
    .options_size = sizeof(struct exec_options),
    .run = exec_run,
};

const struct command command_attach = {
    .name = "attach",
    .help = "Attach to a running container",
    .usage = "(POD | TYPE/NAME) [-c CONTAINER]",
    .flags = exec_flags,
    .flag_count = COUNT_OF(exec_flags),
    .options_size = sizeof(struct exec_options),
    .run = attach_run,
};
