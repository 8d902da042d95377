/* One operation of an OpenAPI path. */
#ifndef APISERVER_OPENAPI_OPERATION_H
#define APISERVER_OPENAPI_OPERATION_H

#include "apiserver/openapi/schemas.h"

/* Parameters of a request, by name; a sign after the colon tells the type: s, i, b. */
#define OPENAPI_WRITE "dryRun:s fieldManager:s fieldValidation:s"
#define OPENAPI_LIST                                                                                           \
    "allowWatchBookmarks:b continue:s fieldSelector:s labelSelector:s limit:i resourceVersion:s "              \
    "resourceVersionMatch:s sendInitialEvents:b shardSelector:s timeoutSeconds:i watch:b"

enum openapi_answer {
    OPENAPI_OBJECT,  /* the type */
    OPENAPI_WATCHED, /* the type, also as a stream */
    OPENAPI_TEXT,    /* of a log */
    OPENAPI_ANYTHING,
};

struct openapi_operation {
    const char *method;
    struct str id;
    struct str tag;
    const char *action;     /* NULL: none */
    const char *parameters; /* of the query */
    const struct type *body; /* NULL: none */
    bool body_is_optional, body_is_patch;
    enum openapi_answer answer;
    const struct type *type;      /* of the answer */
    const char *codes;            /* "200 201" */
    struct str group, version, kind; /* kind empty: none */
};

/* Appends "METHOD":{...}. */
void openapi_operation(struct openapi_writer *writer, const struct openapi_operation *operation);
/* Appends the members of "parameters":[...] for the text ("name:s ..."), in: "query" or "path". */
void openapi_parameters(struct openapi_writer *writer, const char *parameters, const char *in, bool *first);

#endif
