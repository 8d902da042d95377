/* An API server over a store in memory, asked without a network: one call is one request by an admin. */
#ifndef TESTS_API_BED_H
#define TESTS_API_BED_H

#include "apiserver/server.h"
#include "schema/value.h"
#include "store/memory.h"

struct api_bed {
    struct arena *arena;
    struct apiserver_options options;
    struct memory_disk *disk;
    struct apiserver *server;
    /* of the last answer */
    int code;
    struct http_headers headers;
    struct value *body; /* NULL: none, or no JSON */
    struct str text;
    /* of the next request; reset by each */
    const char *content_type, *accept, *user, *token;
};

/* Runs fn in a task with a server that has namespace "default" and nothing else. */
void api_bed_run(void (*fn)(struct api_bed *bed));
/* The target has the query; the body may be NULL. The answer's code. */
int api_call(struct api_bed *bed, const char *method, const char *target, const char *body);
/* The string at a path of the answer's body. */
struct str api_at(const struct api_bed *bed, const char *path);
int64_t api_int_at(const struct api_bed *bed, const char *path);

#endif
