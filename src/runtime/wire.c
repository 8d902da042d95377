#include "runtime/wire.h"

#include <string.h>

enum { WIRE_DEPTH = 4 };

struct wire_head {
    uint16_t tag;
    uint16_t kind;
    uint32_t size;
};

static void add(struct buf *into, uint16_t tag, enum wire_kind kind, const void *bytes, size_t size)
{
    static const char zeroes[8];
    struct wire_head head = {.tag = tag, .kind = kind, .size = (uint32_t)size};

    buf_add(into, &head, sizeof(head));
    buf_add(into, bytes, size);
    /* At least one NUL, then up to a multiple of eight. */
    buf_add(into, zeroes, 8 - size % 8);
}

static void add_record(struct buf *into, uint16_t tag, const struct wire_type *type, const void *record)
{
    size_t at = into->n;
    struct wire_head head = {.tag = tag, .kind = WIRE_RECORDS};

    buf_add(into, &head, sizeof(head));
    wire_encode(type, record, into);
    head.size = (uint32_t)(into->n - at - sizeof(head));
    memcpy(into->p + at, &head, sizeof(head));
    buf_add(into, (char[8]){0}, 8);
}

static void encode_field(const struct wire_field *field, const void *place, struct buf *into)
{
    switch (field->kind) {
    case WIRE_U64:
        if (*(const uint64_t *)place != 0) {
            add(into, field->tag, WIRE_U64, place, sizeof(uint64_t));
        }
        break;
    case WIRE_TEXT: {
        const struct str *text = place;

        if (text->n > 0) {
            add(into, field->tag, WIRE_TEXT, text->p, text->n);
        }
        break;
    }
    case WIRE_TEXTS:
        LIST_EACH(text, (const struct wire_texts *)place) {
            add(into, field->tag, WIRE_TEXTS, text->p, text->n);
        }
        break;
    case WIRE_U64S: {
        const struct wire_u64s *list = place;

        if (list->len > 0) {
            add(into, field->tag, WIRE_U64S, list->items, list->len * sizeof(uint64_t));
        }
        break;
    }
    case WIRE_RECORDS: {
        const struct wire_texts *list = place; /* every list has this shape */

        for (size_t i = 0; i < list->len; i++) {
            add_record(into, field->tag, field->type, (const char *)list->items + i * field->type->size);
        }
        break;
    }
    }
}

void wire_encode(const struct wire_type *type, const void *record, struct buf *into)
{
    for (size_t i = 0; i < type->field_count; i++) {
        encode_field(&type->fields[i], (const char *)record + type->fields[i].offset, into);
    }
}

static struct status *decode(const struct wire_type *type, struct str bytes, struct arena *arena, void *record,
                             int depth);

static struct status *decode_field(const struct wire_field *field, struct str payload, struct arena *arena, void *place,
                                   int depth)
{
    switch (field->kind) {
    case WIRE_U64:
        if (payload.n != sizeof(uint64_t)) {
            return status_new(STATUS_INVALID, "a number of %zu bytes in tag %d", payload.n, field->tag);
        }
        memcpy(place, payload.p, sizeof(uint64_t));
        break;
    case WIRE_TEXT:
        *(struct str *)place = payload;
        break;
    case WIRE_TEXTS:
        *LIST_ADD(arena, (struct wire_texts *)place) = payload;
        break;
    case WIRE_U64S: {
        struct wire_u64s *list = place;

        list->len = payload.n / sizeof(uint64_t);
        list->items = arena_array(arena, list->len, sizeof(uint64_t));
        memcpy(list->items, payload.p, list->len * sizeof(uint64_t));
        break;
    }
    case WIRE_RECORDS: {
        struct wire_texts *list = place;

        list->items = arena_list_room_(arena, list->items, list->len, field->type->size);
        return decode(field->type, payload, arena, (char *)list->items + list->len++ * field->type->size, depth + 1);
    }
    }
    return NULL;
}

static struct status *decode(const struct wire_type *type, struct str bytes, struct arena *arena, void *record,
                             int depth)
{
    if (depth > WIRE_DEPTH) {
        return status_new(STATUS_BAD_REQUEST, "%s: records nested too deep", type->name);
    }
    for (size_t at = 0; at < bytes.n;) {
        struct wire_head head;

        if (bytes.n - at < sizeof(head)) {
            return status_new(STATUS_INVALID, "%s: cut short", type->name);
        }
        memcpy(&head, bytes.p + at, sizeof(head));
        at += sizeof(head);
        size_t padded = (size_t)head.size + (head.kind == WIRE_RECORDS ? 8 : 8 - head.size % 8);

        if (padded > bytes.n - at || bytes.p[at + head.size] != '\0') {
            return status_new(STATUS_INVALID, "%s: tag %d is cut short", type->name, head.tag);
        }
        for (size_t i = 0; i < type->field_count; i++) {
            const struct wire_field *field = &type->fields[i];

            if (field->tag == head.tag && field->kind == head.kind) {
                TRY(decode_field(field, (struct str){bytes.p + at, head.size}, arena, (char *)record + field->offset,
                                 depth));
                break;
            }
        }
        at += padded;
    }
    return NULL;
}

struct status *wire_decode(const struct wire_type *type, struct str bytes, struct arena *arena, void *record)
{
    memset(record, 0, type->size);
    return decode(type, bytes, arena, record, 0);
}
