/* The parts of yaml.h: the tree that libyaml's events make (yaml_parser.c) and what plain scalars mean
 * (yaml_resolve.c). For yaml_*.c only. */
#ifndef SCHEMA_YAML_NODE_H
#define SCHEMA_YAML_NODE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

#include <stdint.h>

enum yaml_node_kind { YAML_NODE_SCALAR, YAML_NODE_MAPPING, YAML_NODE_SEQUENCE, YAML_NODE_ALIAS };

struct yaml_node {
    enum yaml_node_kind kind;
    unsigned line; /* from 1 */
    bool implicit; /* a plain scalar, whose type is to be found out */
    bool expanding; /* an alias whose anchor is just being expanded */
    struct str tag;  /* empty: none */
    struct str text; /* of a scalar; an alias' name */
    struct yaml_node *anchor; /* of an alias */
    struct yaml_node_list {
        struct yaml_node **items; /* of a mapping: key, value, key, value, ... */
        size_t len;
    } children;
};

/* The first document; *ret is NULL when there is none. Errors are go-yaml's. */
MUST_USE struct status *yaml_node_parse(struct arena *arena, struct str text, struct yaml_node **ret);

enum yaml_type { YAML_NULL, YAML_BOOL, YAML_INT, YAML_UINT, YAML_FLOAT, YAML_STRING, YAML_TIMESTAMP };

struct yaml_scalar {
    enum yaml_type type;
    union {
        bool boolean;
        int64_t integer;
        uint64_t big; /* above INT64_MAX */
        double number;
    };
};

/* What go-yaml takes a plain scalar for. */
struct yaml_scalar yaml_resolve(struct str text);
/* Appends the shortest digits that give the same double (or float, with `single`), as Go's %g does without a limit. */
void yaml_add_float(struct buf *out, double number, bool single);

#endif
