/* What the parts of CEL share: the syntax tree, types, functions. For src/cel only. */
#ifndef CEL_CEL_PARTS_H
#define CEL_CEL_PARTS_H

#include "base/map.h"
#include "base/buf.h"
#include "cel/cel.h"

struct cel_type_member {
    struct str name;
    const struct cel_type *type;
};

struct cel_type {
    enum cel_kind kind;
    struct str name;
    const struct cel_type *params[2];
    int param_count;
    struct cel_type_member *items; /* fields of an object */
    size_t len;
    const struct cel_type *bound; /* of a CEL_PARAM while checking */
    uint64_t max_size;            /* elements or bytes; 0: not known */
    uint64_t min_bytes;           /* as JSON */
    struct str format;            /* of a string of a schema */
    bool is_set, is_map_list;     /* x-kubernetes-list-type */
    struct str_list keys;
};

enum cel_node_kind {
    NODE_CONST,
    NODE_IDENT,
    NODE_SELECT, /* args[0].name */
    NODE_CALL,   /* a member call has its target as args[0] */
    NODE_LIST,
    NODE_MAP,    /* keys and values in turn */
    NODE_STRUCT, /* args are the values of names */
    NODE_FOLD,   /* args: range, accumulator's start, condition, step, result */
};

enum cel_fold_arg { FOLD_RANGE, FOLD_INIT, FOLD_COND, FOLD_STEP, FOLD_RESULT, FOLD_ARGS };

struct cel_node {
    enum cel_node_kind kind;
    uint32_t at; /* character in the text */
    bool is_member, is_test, is_global;
    struct str name; /* ident, field, function, struct type; a fold's first variable */
    struct str name2, accumulator;
    struct cel_val constant;
    struct cel_node **args;
    size_t count;
    struct str *names;
    bool *optional;
    /* by the checker */
    const struct cel_type *type;
    int slot; /* of a local; -1: a variable of the env, named `name` */
    const struct cel_function *function;
    const struct regex *regex; /* of matches with a literal; the program's */
};

struct cel_overload {
    const struct cel_function *function;
    bool is_member;
    const struct cel_type *args[5];
    int count;
    const struct cel_type *result;
    struct cel_val (*call)(struct cel_run *run, const struct cel_val *args, size_t count);
};

struct cel_function {
    struct str name;
    struct cel_overload *items;
    size_t len;
};

/* A row of a library: "string -> charAt(int): string", "size(list(A)): int". Capital letters are type parameters. */
struct cel_row {
    const char *declaration;
    struct cel_val (*call)(struct cel_run *run, const struct cel_val *args, size_t count);
};
#define CEL_ROWS(name) const struct cel_row name[]
extern CEL_ROWS(cel_standard_rows);
extern CEL_ROWS(cel_convert_rows);
extern CEL_ROWS(cel_time_rows);
extern CEL_ROWS(cel_string_rows);
extern CEL_ROWS(cel_list_rows);
extern CEL_ROWS(cel_optional_rows);
extern CEL_ROWS(cel_network_rows);
extern CEL_ROWS(cel_quantity_rows);
extern CEL_ROWS(cel_authorizer_rows);

struct cel_issue {
    uint32_t at;
    struct str message;
};
struct cel_issues {
    struct cel_issue *items;
    size_t len;
};

struct cel_env {
    struct arena *arena;
    struct map variables; /* name to const struct cel_type * */
    bool mutation;
};

struct cel_program {
    struct arena *arena;
    const struct cel_env *env;
    struct cel_node *root;
    int slots;
    struct {
        struct regex **items;
        size_t len;
    } regexes; /* compiled once */
};

struct cel_run {
    struct arena *arena;
    const struct cel_binding *bindings;
    size_t count;
    struct cel_val *slots;
    uint64_t cost, budget, work;
    bool over;
};

/* library.c: all functions by name; made once. */
const struct cel_function *cel_function_find(struct str name);
/* parse.c */
struct cel_node *cel_parse(struct arena *arena, struct str text, bool *ret_no_text, struct cel_issues *issues);
void cel_issue(struct arena *arena, struct cel_issues *issues, uint32_t at, const char *format, ...) PRINTF_LIKE(4, 5);
struct cel_node *cel_node_new(struct arena *arena, enum cel_node_kind kind, uint32_t at, size_t count);
/* macros.c: the expansion of a call, the call itself when it is no macro, NULL after an issue. */
struct cel_node *cel_expand(struct arena *arena, struct cel_node *call, struct cel_issues *issues);
/* check.c */
void cel_check(struct cel_env *env, struct arena *arena, struct cel_program *program, struct cel_issues *issues);

/* type.c */
const struct cel_type *cel_type_make(struct arena *arena, enum cel_kind kind, struct str name, const struct cel_type *a,
                                     const struct cel_type *b);
const struct cel_type *cel_type_member(const struct cel_type *object, struct str name);
const struct cel_type *cel_resolve(const struct cel_type *type);

/* val.c */
struct cel_items {
    struct cel_val *items;
    size_t len, cap;
};
struct cel_entries {
    struct cel_val *keys, *values;
    size_t len, cap;
};
struct cel_rope {
    struct cel_val left, right;
    size_t len;
};
enum cel_form { FORM_ITEMS, FORM_JSON, FORM_ROPE, FORM_LAZY, FORM_AUTHORIZER };
struct cel_val cel_val_bytes(struct str bytes);
struct cel_val cel_val_uint(uint64_t uinteger);
struct cel_val cel_val_double(double number);
struct cel_val cel_val_null(void);
struct cel_val cel_val_duration(int64_t nanos);
struct cel_val cel_val_timestamp(int64_t seconds, int32_t nanos);
struct cel_val cel_val_type(const struct cel_type *type);
struct cel_val cel_val_items(struct cel_items *items);
struct cel_val cel_val_entries(struct cel_entries *entries);
struct cel_val cel_val_optional(struct arena *arena, const struct cel_val *value);
struct cel_val cel_val_opaque(const struct cel_type *type, const void *data);
struct cel_items *cel_items_new(struct arena *arena, size_t cap);
void cel_items_add(struct arena *arena, struct cel_items *items, struct cel_val value);
/* False when the key is there already. */
bool cel_entries_add(struct arena *arena, struct cel_entries *entries, struct cel_val key, struct cel_val value);
/* Elements, members, characters or bytes; 1 for what has no size. */
size_t cel_size(struct cel_val value);
struct cel_val cel_item(struct cel_val list, size_t i);
bool cel_find(struct cel_run *run, struct cel_val map, struct cel_val key, struct cel_val *ret);
/* The keys of a map. */
struct cel_items *cel_keys(struct arena *arena, struct cel_val map);
/* *ret is <0, 0, >0; false when they can't be compared (or one is NaN). */
bool cel_compare(struct cel_val a, struct cel_val b, int *ret);
const struct cel_type *cel_type_of(struct cel_val value);
bool cel_is_zero(struct cel_val value);
struct str cel_text(struct arena *arena, struct cel_val value);
size_t cel_characters(struct str text);
/* The byte where the character is. */
size_t cel_character(struct str text, size_t character);

/* eval.c */
struct cel_val cel_no_overload(struct cel_run *run, struct str function, const struct cel_val *args, size_t count);
/* cost.c: what a call cost. */
uint64_t cel_call_cost(const struct cel_node *call, const struct cel_val *args, struct cel_val result);
/* time.c, quantity.c, network.c: what strings of a schema's formats, and literals, are. */
bool cel_duration_parse(struct str text, int64_t *ret);

#endif
