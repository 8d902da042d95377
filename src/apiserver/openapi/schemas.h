/* OpenAPI schemas of types, written from the tables that describe them. Pure. */
#ifndef APISERVER_OPENAPI_SCHEMAS_H
#define APISERVER_OPENAPI_SCHEMAS_H

#include "base/buf.h"
#include "base/map.h"
#include "schema/type.h"

enum openapi_version { OPENAPI_V2, OPENAPI_V3 };

/* A schema somebody refers to: of a type, or (type NULL) one of a well-known scalar. */
struct openapi_named {
    struct str name;
    const struct type *type;
};

/* A document being written. */
struct openapi_writer {
    enum openapi_version version;
    struct arena *arena;
    struct buf *out;
    struct str group, group_version; /* of a document about one version alone; empty: about all */
    bool of_all;
    struct map seen; /* by name */
    struct {
        struct openapi_named *items;
        size_t len;
    } named; /* in the order of first mention */
    size_t written;
};

void openapi_writer_done(struct openapi_writer *writer);

/* Appends "$ref":"...TYPE" and sees to it that openapi_schemas() will have it. */
void openapi_ref(struct openapi_writer *writer, const struct type *type);
/* The schemas mentioned so far, and those that they mention: "NAME":{...},... */
void openapi_schemas(struct openapi_writer *writer);
/* "group":"","kind":"","version":"" with braces around. */
void openapi_group_version_kind(struct openapi_writer *writer, struct str group, struct str version, struct str kind);

#endif
