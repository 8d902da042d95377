/* The server's end of exec and attach: standard input and output, errors and terminal sizes of a command over one upgraded
 * connection, by WebSocket ([v5.|v4.][base64.]channel.k8s.io) or SPDY ([v4.|v3.|v2.]channel.k8s.io). KEP-4006 has the
 * protocols. Calls park; several tasks may use one at once, each its own channel. */
#ifndef CRI_REMOTE_COMMAND_H
#define CRI_REMOTE_COMMAND_H

#include "net/http.h"

/* Numbers of WebSocket's channels. */
enum remote_channel { REMOTE_STDIN, REMOTE_STDOUT, REMOTE_STDERR, REMOTE_ERROR, REMOTE_RESIZE, REMOTE_CHANNELS };

/* What the caller asked for; with a terminal there is no standard error. */
struct remote_wants {
    bool stdin, stdout, stderr, tty;
};

struct remote_command;

/* Upgrades the exchange and waits until the client has opened its streams. BAD_REQUEST, with nothing answered, when it
 * asks for no upgrade or offers no protocol of ours. */
MUST_USE struct status *remote_command_accept(struct http_exchange *exchange, const struct remote_wants *wants,
                                              struct remote_command **ret);
/* Standard input to read from; its end is the client's. NULL when none is wanted. Still the command's. */
struct stream *remote_command_input(struct remote_command *command);
/* Parks for the next size of the client's terminal; SERVICE_UNAVAILABLE when the client is gone. */
MUST_USE struct status *remote_command_size(struct remote_command *command, uint16_t *ret_width, uint16_t *ret_height);
/* REMOTE_STDOUT or REMOTE_STDERR. What was not asked for is dropped. */
MUST_USE struct status *remote_command_write(struct remote_command *command, enum remote_channel channel,
                                             struct str bytes);
/* Parks until the client has gone, or the deadline. True when it has. */
bool remote_command_wait_gone(struct remote_command *command, int64_t deadline);
/* Tells the end and frees it: with a protocol of version 4 or 5 the metav1.Status in JSON, before that the message alone,
 * when there is one. Parks. */
void remote_command_end(struct remote_command *command, struct str status_json, struct str message);

/* The Status of a command that ended with that code, as stock's servers write it; 0 is Success. */
struct str remote_command_exit_status(struct arena *arena, int code);
/* That of one that could not be run. */
struct str remote_command_failure_status(struct arena *arena, struct str message);

#endif
