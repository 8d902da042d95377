#include "cri/remote_command.h"

#include "base/mem.h"
#include "cri/remote_transport.h"
#include "net/websocket.h"
#include "schema/value.h"

#include <stdlib.h>

enum { SIZE_TEXT_MAX = 256 };

struct remote_command {
    struct remote_transport *transport;
    struct remote_wants wants;
};

struct status *remote_command_accept(struct http_exchange *exchange, const struct remote_wants *wants,
                                     struct remote_command **ret)
{
    struct remote_transport *transport;

    if (websocket_is_wanted(&exchange->headers)) {
        TRY(remote_websocket_accept(exchange, wants, &transport));
    } else if (remote_spdy_is_wanted(&exchange->headers)) {
        TRY(remote_spdy_accept(exchange, wants, &transport));
    } else {
        return status_new(STATUS_BAD_REQUEST, "unable to upgrade: missing upgrade headers in request");
    }
    struct remote_command *command = MEM_NEW(struct remote_command);

    command->transport = transport;
    command->wants = *wants;
    *ret = command;
    return NULL;
}

struct stream *remote_command_input(struct remote_command *command)
{
    return command->transport->inputs[REMOTE_STDIN];
}

/* {"Width":80,"Height":24}: objects follow one another without anything between. */
static struct status *parse_size(struct str json, uint16_t *ret_width, uint16_t *ret_height)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct value *value;

    TRY(value_read_json(arena, json, &value, NULL));
    const struct value *width = value_find(value, STR("Width")), *height = value_find(value, STR("Height"));

    if (!value_is(width, VALUE_INT) || !value_is(height, VALUE_INT) || width->integer < 0 || width->integer > UINT16_MAX ||
        height->integer < 0 || height->integer > UINT16_MAX) {
        return status_new(STATUS_BAD_REQUEST, "Width and Height of a terminal are wanted");
    }
    *ret_width = (uint16_t)width->integer;
    *ret_height = (uint16_t)height->integer;
    return NULL;
}

struct status *remote_command_size(struct remote_command *command, uint16_t *ret_width, uint16_t *ret_height)
{
    struct stream *input = command->transport->inputs[REMOTE_RESIZE];
    char text[SIZE_TEXT_MAX];
    size_t size = 0, got = 0;

    if (input == NULL) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "the client sends no terminal sizes");
    }
    do {
        TRY(stream_read(input, text + size, 1, TASK_FOREVER, &got));
        size += got;
    } while (got > 0 && text[size - 1] != '}' && size < sizeof(text));
    if (got == 0) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "the client has gone");
    }
    return parse_size((struct str){text, size}, ret_width, ret_height);
}

struct status *remote_command_write(struct remote_command *command, enum remote_channel channel, struct str bytes)
{
    bool is_wanted = channel == REMOTE_STDOUT ? command->wants.stdout : command->wants.stderr && !command->wants.tty;

    return is_wanted ? command->transport->ops->write(command->transport, channel, bytes) : NULL;
}

bool remote_command_wait_gone(struct remote_command *command, int64_t deadline)
{
    return command->transport->ops->wait_gone(command->transport, deadline);
}

void remote_command_end(struct remote_command *command, struct str status_json, struct str message)
{
    struct str text = command->transport->version >= 4 ? status_json : message;

    if (text.n > 0) {
        status_free(command->transport->ops->write(command->transport, REMOTE_ERROR, text));
    }
    command->transport->ops->close(command->transport);
    free(command);
}

static struct str json_of(struct arena *arena, const struct value *value)
{
    OWNED(buf_done) struct buf json = {0};

    value_write_json(&json, value, 0);
    return arena_str(arena, buf_str(&json));
}

static void set_text(struct arena *arena, struct value *object, const char *key, struct str text)
{
    value_set(arena, object, str_of(key), value_string(arena, text));
}

struct str remote_command_exit_status(struct arena *arena, int code)
{
    struct value *status = value_object(arena), *details = value_object(arena), *causes = value_array(arena);
    struct value *cause = value_object(arena);
    struct str number = arena_printf(arena, "%d", code);

    value_set(arena, status, STR("metadata"), value_object(arena));
    if (code == 0) {
        set_text(arena, status, "status", STR("Success"));
        return json_of(arena, status);
    }
    set_text(arena, status, "status", STR("Failure"));
    set_text(arena, status, "message",
             arena_printf(arena, "command terminated with non-zero exit code: exit status %d", code));
    set_text(arena, status, "reason", STR("NonZeroExitCode"));
    set_text(arena, cause, "reason", STR("ExitCode"));
    set_text(arena, cause, "message", number);
    value_add(arena, causes, cause);
    value_set(arena, details, STR("causes"), causes);
    value_set(arena, status, STR("details"), details);
    return json_of(arena, status);
}

struct str remote_command_failure_status(struct arena *arena, struct str message)
{
    struct value *status = value_object(arena), *details = value_object(arena), *causes = value_array(arena);
    struct value *cause = value_object(arena);

    value_set(arena, status, STR("metadata"), value_object(arena));
    set_text(arena, status, "status", STR("Failure"));
    set_text(arena, status, "message", arena_printf(arena, "Internal error occurred: %.*s", STR_ARG(message)));
    set_text(arena, status, "reason", STR("InternalError"));
    set_text(arena, cause, "message", message);
    value_add(arena, causes, cause);
    value_set(arena, details, STR("causes"), causes);
    value_set(arena, status, STR("details"), details);
    value_set(arena, status, STR("code"), value_int(arena, 500));
    return json_of(arena, status);
}
