/* The tables that describe API types: what the interpreters (JSON, protobuf, copying, defaults, ...) walk.
 *
 * Those of the built-in kinds are constants that tools/schemac.py makes from schema/NAME.k; a custom resource's are
 * built at run time (type_seal). Tables never change once in use, so any thread may read them. */
#ifndef SCHEMA_TYPE_H
#define SCHEMA_TYPE_H

#include "base/arena.h"
#include "base/str.h"
#include "schema/scalars.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one value is, and its C type. */
enum type_kind {
    TYPE_BOOL,          /* bool */
    TYPE_INT32,         /* int32_t */
    TYPE_INT64,         /* int64_t */
    TYPE_UINT32,        /* uint32_t */
    TYPE_UINT64,        /* uint64_t */
    TYPE_DOUBLE,        /* double */
    TYPE_STRING,        /* struct str */
    TYPE_BYTES,         /* struct str; base64 in JSON */
    TYPE_QUANTITY,      /* struct quantity */
    TYPE_TIME,          /* struct timestamp, seconds on the wire */
    TYPE_MICRO_TIME,    /* struct timestamp, microseconds on the wire */
    TYPE_DURATION,      /* int64_t nanoseconds; "1h2m3s" in JSON */
    TYPE_INT_OR_STRING, /* struct int_or_string */
    TYPE_RAW,           /* struct raw_json; in protobuf a message with the bytes in field 1 */
    TYPE_STRINGS,       /* struct str_list; in protobuf a message with the strings in field 1 */
    TYPE_STRUCT,        /* what field.type describes, embedded */
    TYPE_KIND_COUNT
};

/* How a field holds it. T is the C type above. */
enum field_shape {
    SHAPE_PLAIN,   /* T */
    SHAPE_POINTER, /* T *, NULL when absent */
    SHAPE_LIST,    /* struct { T *items; size_t len; } */
    SHAPE_MAP,     /* struct { struct { struct str key; T value; } *items; size_t len; }, sorted by key */
};

/* When JSON shows a field. */
enum field_presence {
    PRESENCE_OMITEMPTY, /* not when zero, NULL or without items; plain structs always */
    PRESENCE_ALWAYS,    /* a nil list or map as null */
    PRESENCE_OMITZERO,  /* not when zero, structs too */
};

enum field_flags {
    FIELD_OPTIONAL = 1,      /* marked so */
    FIELD_REQUIRED = 2,      /* must be set (and not empty) */
    FIELD_DISCRIMINATOR = 4, /* says which member of the union is set */
    FIELD_IMMUTABLE = 8,
};

enum list_type { LIST_UNMARKED, LIST_ATOMIC, LIST_SET, LIST_MAP };
enum { GRANULARITY_UNMARKED, GRANULARITY_ATOMIC, GRANULARITY_GRANULAR };

struct type;

/* What only some fields have and few readers need. */
struct field_rules {
    struct str type_name; /* the named string or number type, such as v1.PodPhase, as Go prints it */
    struct str openapi;   /* name of the OpenAPI schema of a TYPE_RAW or named scalar; may be empty */
    const struct str *keys; /* of a LIST_MAP */
    const struct str *enum_values;
    struct str patch_strategy, patch_merge_key;
    struct str default_value;  /* JSON */
    struct str fill;           /* the same, not told in OpenAPI */
    struct str gates;          /* comma-separated */
    struct str format;         /* of validation: k8s-short-name, ... */
    struct str one_of;         /* name of the union it is a member of */
    int64_t min, max;          /* of a number; INT64_MIN, INT64_MAX: none */
    uint32_t max_items, max_length, max_bytes; /* 0: none */
    uint8_t key_count, enum_count;
    uint8_t list_type;   /* enum list_type */
    uint8_t granularity; /* of a map or struct */
    bool enum_is_closed; /* other values are invalid */
    bool one_of_may_be_none;
};

struct field {
    struct str name; /* JSON key; empty: the struct's members belong to the enclosing object */
    const struct type *type; /* of TYPE_STRUCT; of a TYPE_RAW, when not NULL, its one field says how the value is merged */
    const struct field_rules *rules; /* NULL: none */
    uint32_t offset;
    uint16_t number; /* protobuf's; 0: not in protobuf */
    uint8_t kind;    /* enum type_kind */
    uint8_t shape;   /* enum field_shape */
    uint8_t presence;
    uint8_t flags;
};

/* A key of the JSON object: a field of the type itself or of a struct inlined into it. */
struct type_member {
    const struct field *field;
    uint32_t offset; /* from the start of the outer struct */
};

enum type_flags {
    TYPE_UNION = 1,  /* one of the nameless fields is the whole JSON value, chosen by its JSON kind */
    TYPE_PROTO3 = 2, /* protobuf leaves zero scalars out and packs repeated numbers */
    TYPE_ATOMIC = 4, /* server-side apply owns it as a whole */
    TYPE_ONE_OF = 8, /* one field must be set */
    TYPE_OBJECT = 16, /* begins with type_meta and ObjectMeta metadata (schema/object.h) */
    TYPE_LIST = 32,   /* begins with type_meta and ListMeta metadata, has items */
    TYPE_HAS_DEFAULTS = 64, /* it, or a type below, has something to be filled in (api/defaults.h) */
    TYPE_HAS_FILLER = 128,  /* a function of src/api/defaults fills it */
};

struct package {
    struct str name;        /* apps_v1 */
    struct str group;       /* apps; empty for core */
    struct str version;     /* v1 */
    struct str api_version; /* apps/v1 */
    struct str openapi;     /* io.k8s.api.apps.v1 */
    unsigned rank;          /* order in discovery, from 1; 0: not served */
};

struct type {
    struct str name;               /* DeploymentSpec */
    const struct package *package; /* NULL for a custom resource */
    const struct field *fields;
    const struct type_member *members; /* in the order JSON is written */
    const uint16_t *by_number;         /* indexes of fields, ascending by protobuf number */
    const uint16_t *slots;             /* hash table: index into members plus one; 0 is free */
    uint32_t size;                     /* of the C struct */
    uint16_t field_count, member_count, numbered_count;
    uint16_t slot_mask;
    uint16_t flags;
    const struct field *rest; /* what members are that have no field of their own; NULL: there may be none */
};

/* NULL when the type has no such JSON key. Keys are compared exactly, as Kubernetes does. */
const struct type_member *type_member(const struct type *type, struct str name);
/* A field by its JSON key, inlined ones too; NULL when absent. */
const struct field *type_field(const struct type *type, struct str name);
/* Fills members, by_number and slots of a type built at run time from its fields, in the arena. Structs inlined must
 * be sealed before. */
void type_seal(struct arena *arena, struct type *type);

/* Size of one T of the field (type_kind), and of a map's entry. */
size_t field_item_size(const struct field *field);
size_t field_entry_size(const struct field *field);
/* Bytes the field takes in its struct. */
size_t field_size(const struct field *field);

/* Lists and maps of any T, as every {items, len} looks in memory. */
struct any_list {
    void *items;
    size_t len;
};

enum verb {
    VERB_GET = 1,
    VERB_LIST = 2,
    VERB_WATCH = 4,
    VERB_CREATE = 8,
    VERB_UPDATE = 16,
    VERB_PATCH = 32,
    VERB_DELETE = 64,
    VERB_DELETECOLLECTION = 128,
};

struct subresource {
    struct str name;                  /* status */
    struct str group, version, kind; /* what it takes and gives; the group and version are empty when the parent's */
    unsigned verbs;
};

struct custom_kind;

/* A kind, and the resource that serves it (plural empty: none). */
struct kind {
    struct str group, version, kind; /* the core group is empty */
    struct str api_version;          /* apps/v1; v1 for core */
    struct str plural, singular;     /* deployments, deployment */
    struct str_list short_names, categories;
    const struct subresource *subresources;
    size_t subresource_count;
    unsigned verbs; /* enum verb */
    bool namespaced;
    bool has_status; /* has the subresource */
    const struct type *type;
    const struct kind *list; /* DeploymentList; NULL: none */
    const struct kind *item; /* of a list kind */
    const struct custom_kind *custom; /* of a custom resource (api/custom_kind.h); NULL: built in */
};

/* A gRPC method of a proto3 package. */
struct rpc {
    struct str path; /* /runtime.v1.RuntimeService/Version */
    const struct type *request, *response;
    bool request_stream, response_stream;
};

/* NULL when the kind has none of that name. */
const struct subresource *kind_subresource(const struct kind *kind, struct str name);
/* The verb's bit, 0 when unknown; and its name. */
unsigned verb_of(struct str name);
struct str verb_name(enum verb verb);

#endif
