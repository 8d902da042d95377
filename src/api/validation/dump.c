/* Values in error messages. Stock prints its internal types there, which have no JSON names: Go's field names, and
 * every field, also those that are empty. Types of meta/v1 have JSON names and print as ever. */
#include "api/validation/check.h"
#include "base/arena.h"
#include "base/buf.h"
#include "schema/json.h"
#include "schema/meta_v1.h"
#include "schema/value.h"

#include <string.h>

static struct value *dump(struct arena *arena, const struct type *type, const void *object);
static void add_members(struct arena *arena, struct value *into, const struct type *type, const void *object);

/* Words at the front of JSON names that Go writes in capitals; the rest begins with one capital. */
static const char *const acronyms[] = {"aws", "gce", "iscsi", "nfs", "rbd", "csi",  "fc", "http", "tcp", "grpc", "tty",
                                       "dns", "fs",  "gmsa",  "ip",  "uid", "cidr", "os", "tls",  "ca",  "iqn",  "id"};
static const struct {
    const char *json, *go;
} odd_names[] = {
    {"seLinuxOptions", "SELinuxOptions"},
    {"seLinuxChangePolicy", "SELinuxChangePolicy"},
    {"serviceAccount", "DeprecatedServiceAccount"},
    {"cephfs", "CephFS"},
    {"scaleIO", "ScaleIO"},
    {"storageos", "StorageOS"},
    {"cidrs", "CIDRs"},
    {"clusterIP", "ClusterIP"},
    {"httpGet", "HTTPGet"},
    {"httpHeaders", "HTTPHeaders"},
    {"lun", "Lun"},
    {"pdName", "PDName"},
    {"targetWWNs", "TargetWWNs"},
    {"wwids", "WWIDs"},
    {"chapAuthDiscovery", "DiscoveryCHAPAuth"},
    {"chapAuthSession", "SessionCHAPAuth"},
};

static struct str go_name(struct arena *arena, struct str json)
{
    for (size_t i = 0; i < COUNT_OF(odd_names); i++) {
        if (str_is(json, odd_names[i].json)) {
            return str_of(odd_names[i].go);
        }
    }
    char *name = arena_cstr(arena, json);
    size_t capitals = 1;

    for (size_t i = 0; i < COUNT_OF(acronyms); i++) {
        size_t n = strlen(acronyms[i]);

        if (str_has_prefix(json, str_of(acronyms[i])) && (json.n == n || (json.p[n] >= 'A' && json.p[n] <= 'Z'))) {
            capitals = n;
        }
    }
    for (size_t i = 0; i < capitals; i++) {
        name[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
    }
    return (struct str){name, json.n};
}

static struct value *read_back(struct arena *arena, const struct buf *json)
{
    struct value *value;
    struct status *status = value_read_json(arena, arena_str(arena, buf_str(json)), &value, NULL);

    if (status != NULL) {
        status_free(status);
        return value_null(arena);
    }
    return value;
}

/* Names of JSON, as the API has it. */
static struct value *dump_json(struct arena *arena, const struct type *type, const void *object)
{
    OWNED(buf_done) struct buf out = {0};

    json_encode(type, object, &out);
    return read_back(arena, &out);
}

/* One T that is no struct, through the JSON of a field of its kind that stands alone. */
static struct value *dump_scalar(struct arena *arena, const struct field *field, const void *item)
{
    struct field alone = *field;
    OWNED(buf_done) struct buf out = {0};

    alone.shape = SHAPE_PLAIN;
    json_encode_field(&alone, item, &out);
    return read_back(arena, &out);
}

static struct value *dump_item(struct arena *arena, const struct field *field, const void *item)
{
    return field->kind == TYPE_STRUCT ? dump(arena, field->type, item) : dump_scalar(arena, field, item);
}

static struct value *dump_place(struct arena *arena, const struct field *field, const void *place)
{
    const struct any_list *list = place;
    struct value *out;

    switch ((enum field_shape)field->shape) {
    case SHAPE_PLAIN:
        return dump_item(arena, field, place);
    case SHAPE_POINTER:
        return *(void *const *)place == NULL ? value_null(arena) : dump_item(arena, field, *(void *const *)place);
    case SHAPE_LIST:
        if (list->items == NULL) {
            return value_null(arena);
        }
        out = value_array(arena);
        for (size_t i = 0; i < list->len; i++) {
            value_add(arena, out, dump_item(arena, field, (const char *)list->items + i * field_item_size(field)));
        }
        return out;
    case SHAPE_MAP:
        if (list->items == NULL) {
            return value_null(arena);
        }
        out = value_object(arena);
        for (size_t i = 0; i < list->len; i++) {
            const char *entry = (const char *)list->items + i * field_entry_size(field);

            value_set(arena, out, *(const struct str *)entry, dump_item(arena, field, entry + sizeof(struct str)));
        }
        return out;
    }
    return value_null(arena);
}

static void add_members(struct arena *arena, struct value *into, const struct type *type, const void *object)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        const void *place = (const char *)object + field->offset;

        if (field->type == &meta_v1_type_meta_type) {
            continue; /* empty in stock's internal types */
        }
        if (field->type == &meta_v1_object_meta_type && field->shape == SHAPE_PLAIN) {
            struct value *meta = dump_json(arena, field->type, place);

            VALUE_EACH_MEMBER(member, meta) {
                value_set(arena, into, member->key, member->value);
            }
        } else if (field->name.n == 0) {
            add_members(arena, into, field->type, place);
        } else {
            value_set(arena, into, go_name(arena, field->name), dump_place(arena, field, place));
        }
    }
}

static struct value *dump(struct arena *arena, const struct type *type, const void *object)
{
    if (type->package == NULL || str_is(type->package->name, "meta_v1")) {
        return dump_json(arena, type, object);
    }
    struct value *out = value_object(arena);

    add_members(arena, out, type, object);
    return out;
}

static struct str text_of(struct arena *arena, const struct value *value)
{
    OWNED(buf_done) struct buf out = {0};

    value_write_json(&out, value, 0);
    return arena_str(arena, buf_str(&out));
}

struct str dump_struct(struct arena *arena, const struct type *type, const void *value)
{
    return value == NULL ? STR("null") : text_of(arena, dump(arena, type, value));
}

struct str dump_field(struct arena *arena, const struct type *type, const char *field, const void *value)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (str_is(type->fields[i].name, field)) {
            return text_of(arena, dump_place(arena, &type->fields[i], (const char *)value + type->fields[i].offset));
        }
    }
    return STR("null");
}

/* One space a level, as stock's diffs of objects. */
static void write_lines(struct arena *arena, struct buf *out, const struct value *value, int depth)
{
    bool is_object = value_is(value, VALUE_OBJECT);

    if ((!is_object && !value_is(value, VALUE_ARRAY)) || value_count(value) == 0) {
        buf_add_str(out, value_json(arena, value));
        return;
    }
    size_t left = value_count(value);

    buf_add_char(out, is_object ? '{' : '[');
    buf_add_char(out, '\n');
    if (is_object) {
        VALUE_EACH_MEMBER(member, value) {
            buf_printf(out, "%*s%.*s: ", depth + 1, "", STR_ARG(dump_string(arena, member->key)));
            write_lines(arena, out, member->value, depth + 1);
            buf_add_str(out, --left != 0 ? STR(",\n") : STR("\n"));
        }
    } else {
        VALUE_EACH_ITEM(item, value) {
            buf_printf(out, "%*s", depth + 1, "");
            write_lines(arena, out, *item, depth + 1);
            buf_add_str(out, --left != 0 ? STR(",\n") : STR("\n"));
        }
    }
    buf_printf(out, "%*s%c", depth, "", is_object ? '}' : ']');
}

struct lines {
    struct str *items;
    size_t len;
};

static struct lines lines_of(struct arena *arena, const struct type *type, const void *object)
{
    OWNED(buf_done) struct buf out = {0};
    struct lines lines = {0};

    write_lines(arena, &out, dump(arena, type, object), 0);
    struct str rest = arena_str(arena, buf_str(&out)), line;

    while (str_next(&rest, '\n', &line)) {
        *LIST_ADD(arena, &lines) = line;
    }
    return lines;
}

/* What both have, by the longest common subsequence; '-', '+' and ' ' for each line shown. */
struct change {
    char sign;
    struct str line;
    size_t a, b; /* lines before it on each side */
};
struct changes {
    struct change *items;
    size_t len;
};

enum { CONTEXT_LINES = 3, DIFF_CELLS_MAX = 4 * 1000 * 1000 };

static struct changes changes_of(struct arena *arena, struct lines a, struct lines b)
{
    struct changes out = {0};
    size_t wide = b.len + 1, i = 0, k = 0;

    if ((a.len + 1) * wide > DIFF_CELLS_MAX) {
        return out;
    }
    uint32_t *length = ARENA_ARRAY(arena, uint32_t, (a.len + 1) * wide);

    for (size_t x = a.len; x-- > 0;) {
        for (size_t y = b.len; y-- > 0;) {
            uint32_t down = length[(x + 1) * wide + y], right = length[x * wide + y + 1];

            length[x * wide + y] = str_eq(a.items[x], b.items[y]) ? length[(x + 1) * wide + y + 1] + 1
                                                                  : MAX(down, right);
        }
    }
    while (i < a.len || k < b.len) {
        if (i < a.len && k < b.len && str_eq(a.items[i], b.items[k])) {
            *LIST_ADD(arena, &out) = (struct change){' ', a.items[i], i, k};
            i++, k++;
        } else if (i < a.len && (k == b.len || length[(i + 1) * wide + k] >= length[i * wide + k + 1])) {
            *LIST_ADD(arena, &out) = (struct change){'-', a.items[i], i, k};
            i++;
        } else {
            *LIST_ADD(arena, &out) = (struct change){'+', b.items[k], i, k};
            k++;
        }
    }
    return out;
}

/* "@@ -189,7 +189,7 @@" and its lines. */
static void write_hunk(struct buf *out, const struct changes *all, size_t from, size_t to)
{
    size_t old_lines = 0, new_lines = 0;

    for (size_t i = from; i < to; i++) {
        old_lines += all->items[i].sign != '+';
        new_lines += all->items[i].sign != '-';
    }
    buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", all->items[from].a + 1, old_lines, all->items[from].b + 1, new_lines);
    for (size_t i = from; i < to; i++) {
        buf_printf(out, "%c%.*s\n", all->items[i].sign, STR_ARG(all->items[i].line));
    }
}

struct str dump_diff(struct arena *arena, const struct type *type, const void *old, const void *value)
{
    OWNED(arena_freep) struct arena *scratch = arena_new();
    struct changes all = changes_of(scratch, lines_of(scratch, type, old), lines_of(scratch, type, value));
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < all.len; i++) {
        if (all.items[i].sign == ' ') {
            continue;
        }
        size_t from = i < CONTEXT_LINES ? 0 : i - CONTEXT_LINES, last = i;

        for (size_t k = i; k < all.len && k <= last + 2 * CONTEXT_LINES; k++) {
            last = all.items[k].sign == ' ' ? last : k;
        }
        write_hunk(&out, &all, from, MIN(last + CONTEXT_LINES + 1, all.len));
        i = last + CONTEXT_LINES;
    }
    return arena_str(arena, buf_str(&out));
}
