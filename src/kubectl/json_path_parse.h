/* A parsed JSONPath template. Only json_path*.c include this. */
#ifndef KUBECTL_JSON_PATH_PARSE_H
#define KUBECTL_JSON_PATH_PARSE_H

#include "base/arena.h"
#include "base/status.h"

enum step_type { STEP_FIELD, STEP_WILDCARD, STEP_RECURSIVE, STEP_SLICE, STEP_UNION, STEP_FILTER };
enum filter_op { FILTER_EXISTS, FILTER_EQ, FILTER_NE, FILTER_LT, FILTER_LE, FILTER_GT, FILTER_GE };

struct path {
    struct path_step *items;
    size_t len;
};

/* A side of a filter: a path from the element, or a value written out. */
struct filter_side {
    bool is_path;
    struct path path;
    struct value *literal;
};

struct path_step {
    enum step_type type;
    struct str_list names;                /* one of a field, several of a union */
    int64_t from, to, stride;             /* of a slice; to is from + 1 for an index */
    bool has_from, has_to, is_index;
    enum filter_op op;
    struct filter_side left, right;
};

enum segment_type { SEGMENT_TEXT, SEGMENT_PATH, SEGMENT_RANGE };

struct segments {
    struct segment *items;
    size_t len;
};

struct segment {
    enum segment_type type;
    struct str text;
    struct path path;
    struct segments body; /* of a range */
};

MUST_USE struct status *json_path_parse(struct arena *arena, struct str template, struct segments *ret);

#endif
