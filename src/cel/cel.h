/* CEL, the expression language of Kubernetes' rules: compiling, checking and evaluating expressions.
 *
 *   struct cel_env *env = cel_env_new();
 *   cel_env_variable(env, STR("self"), cel_type_of_schema(env, schema, true));
 *   struct cel_program *program = cel_compile(env, rule, arena, &problem);      NULL: problem has stock's text
 *   struct cel_result result = cel_eval(program, arena, bindings, count, CEL_COST_PER_CALL);
 *
 * An env and its types are built once and never change after the first cel_compile; programs borrow from their env, which
 * must outlive them. Both may then be used from any thread; an evaluation belongs to one. Nothing here does I/O. Expressions
 * are bounded (LIMIT_CEL_*), evaluations by a cost that is counted as stock counts it. */
#ifndef CEL_CEL_H
#define CEL_CEL_H

#include "base/arena.h"
#include "schema/value.h"

#include <stdbool.h>
#include <stdint.h>

/* Stock's limits: of one evaluation, of all rules of one custom resource, and of one rule and one CRD as estimated. */
#define CEL_COST_PER_CALL UINT64_C(1000000)
#define CEL_COST_PER_OBJECT UINT64_C(10000000)
#define CEL_ESTIMATE_PER_RULE UINT64_C(10000000)
#define CEL_ESTIMATE_PER_CRD UINT64_C(100000000)

struct cel_env;
struct cel_program;
struct cel_type;
struct cel_run;
struct apiextensions_v1_json_schema_props;

enum cel_kind {
    CEL_ERROR, /* evaluation failed; `string` says why */
    CEL_NULL,
    CEL_BOOL,
    CEL_INT,
    CEL_UINT,
    CEL_DOUBLE,
    CEL_STRING,
    CEL_BYTES,
    CEL_DURATION,  /* `integer` nanoseconds */
    CEL_TIMESTAMP, /* `seconds` since 1970 and `nanos` */
    CEL_LIST,
    CEL_MAP, /* objects too */
    CEL_TYPE,
    CEL_OPTIONAL,
    CEL_OPAQUE, /* of a library, told apart by `type` */
    /* of types only */
    CEL_DYN,
    CEL_OBJECT,
    CEL_PARAM,
};

/* A value while evaluating: plain data, what it points to lives in the arena of the evaluation or of its binding. */
struct cel_val {
    uint8_t kind; /* enum cel_kind */
    uint8_t form; /* how a list or map is held; internal */
    int32_t nanos;
    union {
        bool boolean;
        int64_t integer;
        uint64_t uinteger;
        double number;
        int64_t seconds;
        struct str string;
        struct {
            const void *data;
            const struct cel_type *type;
        };
    };
};

/* An object whose fields are made when asked for, such as a policy's `variables`. */
struct cel_lazy {
    /* False when there is no such field. May evaluate other programs. */
    bool (*get)(const struct cel_lazy *lazy, struct cel_run *run, struct str field, struct cel_val *ret);
    void *context;
};

/* An authorizer: answers what `authorizer...check()` asks. */
struct cel_authz_request {
    struct str path, verb, group, version, resource, subresource, name, namespace;
    struct str service_account, service_account_namespace; /* empty: the user of the request */
    struct str field_selector, label_selector;
    bool is_resource;
};
struct cel_authorizer {
    /* True when allowed; *ret_reason says why, *ret_error is not empty when it could not be found out. */
    bool (*check)(const struct cel_authorizer *authorizer, const struct cel_authz_request *request, struct str *ret_reason,
                  struct str *ret_error);
    void *context;
};

struct cel_env *cel_env_new(void);
/* NULL is fine. */
void cel_env_free(struct cel_env *env);
void cel_env_variable(struct cel_env *env, struct str name, const struct cel_type *type);
/* Takes Object{...} and JSONPatch{...}, as mutations do. */
void cel_env_allow_mutation(struct cel_env *env);

/* Types. Those with parts live as long as the env. */
const struct cel_type *cel_type_basic(enum cel_kind kind); /* CEL_DYN, CEL_NULL ... CEL_TIMESTAMP */
const struct cel_type *cel_type_named(const char *name);   /* of a library: "kubernetes.authorization.Authorizer" */
const struct cel_type *cel_type_list(struct cel_env *env, const struct cel_type *element);
const struct cel_type *cel_type_map(struct cel_env *env, const struct cel_type *key, const struct cel_type *value);
struct cel_type *cel_type_object(struct cel_env *env, struct str name);
void cel_type_field(struct cel_env *env, struct cel_type *object, struct str name, const struct cel_type *type);
/* The type of what a structural schema describes, as stock's rules see it; NULL when it has none (no type said, only
 * preserved unknown fields). A resource's root, and embedded resources, have apiVersion, kind and metadata. */
const struct cel_type *cel_type_of_schema(struct cel_env *env, const struct apiextensions_v1_json_schema_props *schema, bool is_root);
/* A field or property name as an expression spells it ("__dash__" and so on), in the arena. */
struct str cel_escape_name(struct arena *arena, struct str name);
/* "list(int)", "string", "null_type". */
struct str cel_type_text(struct arena *arena, const struct cel_type *type);
bool cel_type_is(const struct cel_type *type, enum cel_kind kind);

/* NULL when it is wrong: *ret_problem then has all errors as stock shows them, in the arena. */
struct cel_program *cel_compile(struct cel_env *env, struct str expression, struct arena *arena, struct str *ret_problem);
/* NULL is fine. */
void cel_program_free(struct cel_program *program);
const struct cel_type *cel_program_type(const struct cel_program *program);
/* Whether the expression reads the variable. */
bool cel_program_uses(const struct cel_program *program, struct str variable);
/* The most it can cost, from the sizes the types allow; UINT64_MAX when unbounded. */
uint64_t cel_program_estimate(const struct cel_program *program);
/* How often a value of a schema's type can be in one request, when nothing bounds the lists and maps it is in. */
uint64_t cel_type_cardinality(const struct cel_type *type);

struct cel_binding {
    struct str name;
    struct cel_val value;
};
struct cel_result {
    struct cel_val value; /* kind CEL_ERROR: failed */
    uint64_t cost;
    bool over_budget; /* the error is that it cost too much */
};
/* Results live in the arena and borrow from the bindings and the program. Uses at most about 150 KiB of stack. */
struct cel_result cel_eval(const struct cel_program *program, struct arena *arena, const struct cel_binding *bindings,
                           size_t count, uint64_t budget);

/* Values. The JSON tree is read in place; with a type, its formats apply (date-time is a timestamp, and so on). NULL is null. */
struct cel_val cel_val_json(const struct value *json, const struct cel_type *type);
struct cel_val cel_val_bool(bool boolean);
struct cel_val cel_val_int(int64_t integer);
struct cel_val cel_val_string(struct str string);
struct cel_val cel_val_lazy(const struct cel_lazy *lazy, const struct cel_type *object);
struct cel_val cel_val_authorizer(const struct cel_authorizer *authorizer);
/* An error in printf form, in the arena. */
struct cel_val cel_error(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);
/* As a JSON tree; false when the value has no JSON form (a type, an optional) or is too large. */
bool cel_val_to_json(struct arena *arena, struct cel_val value, struct value **ret);
bool cel_val_equal(struct cel_val a, struct cel_val b);

#endif
