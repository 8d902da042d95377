/* Records of the runtime's own: what it tells its shims, what they answer, and what both keep on disk.
 *
 * A record is a C struct described by a table of fields; bytes are a run of fields, each tag (u16), type (u16), length
 * (u32), then the payload, a NUL after text, padded to eight bytes, little endian as the machine is: they never leave
 * it. Unknown tags are skipped, so a newer runtime understands an older shim and the other way round; tags are never
 * used twice. The zero value of a field is not written. Any thread. */
#ifndef RUNTIME_WIRE_H
#define RUNTIME_WIRE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

enum wire_kind {
    WIRE_U64,     /* uint64_t */
    WIRE_TEXT,    /* struct str, NUL-terminated after decoding */
    WIRE_TEXTS,   /* struct wire_texts */
    WIRE_U64S,    /* struct wire_u64s */
    WIRE_RECORDS, /* any {items, len} of the struct that `type` describes */
};

struct wire_texts {
    struct str *items;
    size_t len;
};

struct wire_u64s {
    uint64_t *items;
    size_t len;
};

struct wire_field {
    uint16_t tag;
    uint8_t kind;
    uint32_t offset;
    const struct wire_type *type;
};

struct wire_type {
    const char *name; /* for messages */
    size_t size;
    const struct wire_field *fields;
    size_t field_count;
};

#define WIRE_FIELD(owner, tag_, kind_, member) {.tag = tag_, .kind = kind_, .offset = offsetof(struct owner, member)}
#define WIRE_FIELD_OF(owner, tag_, member, type_) \
    {.tag = tag_, .kind = WIRE_RECORDS, .offset = offsetof(struct owner, member), .type = &(type_)}
#define WIRE_TYPE(owner, fields_) \
    {.name = #owner, .size = sizeof(struct owner), .fields = fields_, .field_count = sizeof(fields_) / sizeof(*fields_)}

/* Appends the record's bytes. */
void wire_encode(const struct wire_type *type, const void *record, struct buf *into);
/* Fills *record, which is zeroed first. Text and numbers lie in `bytes`, which must live as long; lists in the arena.
 * INVALID when the bytes are damaged; BAD_REQUEST when nested deeper than four. */
MUST_USE struct status *wire_decode(const struct wire_type *type, struct str bytes, struct arena *arena, void *record);

#endif
