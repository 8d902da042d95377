/* What client.c and watch.c share. Not for other rooms. */
#ifndef CLIENT_CLIENT_INTERNAL_H
#define CLIENT_CLIENT_INTERNAL_H

#include "base/buf.h"
#include "client/client.h"

struct client {
    struct arena *arena;
    struct http_client *http;
    struct client_options options;
    bool borrows_http;
    struct arena *token_arena; /* holds what options.authorization became when the token was read again */
    struct arena *old_token;   /* that of the token before, which requests on their way may still show */
    int64_t token_read;        /* env_mono() */
};

void client_add_list_parameters(struct arena *arena, struct buf *target, const struct client_list_options *options);

#endif
