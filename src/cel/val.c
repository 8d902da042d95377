/* Values: making them, looking into them, comparing them. JSON trees are read in place. */
#include "cel/cel_parts.h"
#include "base/base64.h"
#include "base/duration.h"
#include "schema/json_lexer.h"
#include "schema/timestamp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cel_val cel_val_null(void) { return (struct cel_val){.kind = CEL_NULL}; }
struct cel_val cel_val_bool(bool boolean) { return (struct cel_val){.kind = CEL_BOOL, .boolean = boolean}; }
struct cel_val cel_val_int(int64_t integer) { return (struct cel_val){.kind = CEL_INT, .integer = integer}; }
struct cel_val cel_val_uint(uint64_t uinteger) { return (struct cel_val){.kind = CEL_UINT, .uinteger = uinteger}; }
struct cel_val cel_val_double(double number) { return (struct cel_val){.kind = CEL_DOUBLE, .number = number}; }
struct cel_val cel_val_string(struct str string) { return (struct cel_val){.kind = CEL_STRING, .string = string}; }
struct cel_val cel_val_bytes(struct str bytes) { return (struct cel_val){.kind = CEL_BYTES, .string = bytes}; }
struct cel_val cel_val_duration(int64_t nanos) { return (struct cel_val){.kind = CEL_DURATION, .integer = nanos}; }
struct cel_val cel_val_type(const struct cel_type *type) { return (struct cel_val){.kind = CEL_TYPE, .type = type}; }

struct cel_val cel_val_timestamp(int64_t seconds, int32_t nanos)
{
    return (struct cel_val){.kind = CEL_TIMESTAMP, .seconds = seconds, .nanos = nanos};
}

struct cel_val cel_val_items(struct cel_items *items)
{
    return (struct cel_val){.kind = CEL_LIST, .form = FORM_ITEMS, .data = items};
}

struct cel_val cel_val_entries(struct cel_entries *entries)
{
    return (struct cel_val){.kind = CEL_MAP, .form = FORM_ITEMS, .data = entries};
}

struct cel_val cel_val_optional(struct arena *arena, const struct cel_val *value)
{
    struct cel_val *kept = NULL;

    if (value != NULL) {
        kept = ARENA_NEW(arena, struct cel_val);
        *kept = *value;
    }
    return (struct cel_val){.kind = CEL_OPTIONAL, .data = kept};
}

struct cel_val cel_val_opaque(const struct cel_type *type, const void *data)
{
    return (struct cel_val){.kind = CEL_OPAQUE, .data = data, .type = type};
}

struct cel_val cel_val_lazy(const struct cel_lazy *lazy, const struct cel_type *object)
{
    return (struct cel_val){.kind = CEL_MAP, .form = FORM_LAZY, .data = lazy, .type = object};
}

struct cel_val cel_error(struct arena *arena, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct str text = arena_vprintf(arena, format, args);
    va_end(args);
    return (struct cel_val){.kind = CEL_ERROR, .string = text};
}

static struct cel_val of_string(struct str text, const struct cel_type *type)
{
    struct timestamp time;
    int64_t nanos;

    if (type != NULL && type->kind == CEL_TIMESTAMP) {
        char whole[32];

        if (timestamp_parse(text, &time)) {
            return cel_val_timestamp(time.seconds, time.nanos);
        }
        if (text.n == 10) {
            memcpy(whole, text.p, 10);
            memcpy(whole + 10, "T00:00:00Z", 10);
            if (timestamp_parse((struct str){whole, 20}, &time)) {
                return cel_val_timestamp(time.seconds, 0);
            }
        }
        return (struct cel_val){.kind = CEL_ERROR, .string = STR("Invalid date format")};
    }
    if (type != NULL && type->kind == CEL_DURATION) {
        return duration_parse(text, &nanos) ? cel_val_duration(nanos)
                                            : (struct cel_val){.kind = CEL_ERROR, .string = STR("Invalid duration format")};
    }
    return cel_val_string(text);
}

struct cel_val cel_val_json(const struct value *json, const struct cel_type *type)
{
    if (json == NULL) {
        return cel_val_null();
    }
    switch (json->type) {
    case VALUE_NULL:
        return cel_val_null();
    case VALUE_BOOL:
        return cel_val_bool(json->boolean);
    case VALUE_INT:
        return type != NULL && type->kind == CEL_DOUBLE ? cel_val_double((double)json->integer) : cel_val_int(json->integer);
    case VALUE_DOUBLE:
        return type != NULL && type->kind == CEL_INT && json->number == floor(json->number) && fabs(json->number) < 9.2e18
                   ? cel_val_int((int64_t)json->number)
                   : cel_val_double(json->number);
    case VALUE_STRING:
        return of_string(json->string, type);
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        break;
    }
    return (struct cel_val){.kind = json->type == VALUE_ARRAY ? CEL_LIST : CEL_MAP, .form = FORM_JSON, .data = json, .type = type};
}

struct cel_items *cel_items_new(struct arena *arena, size_t cap)
{
    struct cel_items *items = ARENA_NEW(arena, struct cel_items);

    items->items = ARENA_ARRAY(arena, struct cel_val, cap);
    items->cap = cap;
    return items;
}

void cel_items_add(struct arena *arena, struct cel_items *items, struct cel_val value)
{
    if (items->len == items->cap) {
        size_t cap = items->cap < 4 ? 4 : items->cap * 2;
        struct cel_val *more = ARENA_ARRAY(arena, struct cel_val, cap);

        if (items->len > 0) {
            memcpy(more, items->items, items->len * sizeof(*more));
        }
        items->items = more;
        items->cap = cap;
    }
    items->items[items->len++] = value;
}

bool cel_entries_add(struct arena *arena, struct cel_entries *entries, struct cel_val key, struct cel_val value)
{
    for (size_t i = 0; i < entries->len; i++) {
        if (cel_val_equal(entries->keys[i], key)) {
            return false;
        }
    }
    struct cel_items keys = {entries->keys, entries->len, entries->cap}, values = {entries->values, entries->len, entries->cap};
    cel_items_add(arena, &keys, key);
    cel_items_add(arena, &values, value);
    *entries = (struct cel_entries){keys.items, values.items, keys.len, keys.cap};
    return true;
}

size_t cel_characters(struct str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.n; i++) {
        count += ((unsigned char)text.p[i] & 0xc0) != 0x80;
    }
    return count;
}

size_t cel_character(struct str text, size_t character)
{
    size_t i = 0;

    for (; i < text.n; i++) {
        if (((unsigned char)text.p[i] & 0xc0) != 0x80 && character-- == 0) {
            break;
        }
    }
    return i;
}

size_t cel_size(struct cel_val value)
{
    switch (value.kind) {
    case CEL_STRING:
        return cel_characters(value.string);
    case CEL_BYTES:
        return value.string.n;
    case CEL_LIST:
        return value.form == FORM_JSON   ? value_count(value.data)
               : value.form == FORM_ROPE ? ((const struct cel_rope *)value.data)->len
                                         : ((const struct cel_items *)value.data)->len;
    case CEL_MAP:
        return value.form == FORM_JSON   ? value_count(value.data)
               : value.form == FORM_LAZY ? 0
                                         : ((const struct cel_entries *)value.data)->len;
    default:
        return 1;
    }
}

struct cel_val cel_item(struct cel_val list, size_t i)
{
    while (list.form == FORM_ROPE) {
        const struct cel_rope *rope = list.data;
        size_t left = cel_size(rope->left);

        list = i < left ? rope->left : rope->right;
        i -= i < left ? 0 : left;
    }
    if (list.form == FORM_JSON) {
        const struct cel_type *type = list.type != NULL && list.type->kind == CEL_LIST ? list.type->params[0] : NULL;

        return cel_val_json(value_item(list.data, i), type);
    }
    return ((const struct cel_items *)list.data)->items[i];
}

/* The property an escaped field name stands for. */
static struct value *find_field(struct cel_run *run, struct cel_val map, struct str name)
{
    struct value *found = value_find(map.data, name);

    if (found != NULL || map.type == NULL || map.type->kind != CEL_OBJECT || str_find(name, STR("__")) == SIZE_MAX) {
        return found;
    }
    VALUE_EACH_MEMBER(member, map.data)
    {
        if (str_eq(cel_escape_name(run->arena, member->key), name)) {
            return member->value;
        }
    }
    return NULL;
}

bool cel_find(struct cel_run *run, struct cel_val map, struct cel_val key, struct cel_val *ret)
{
    if (map.form == FORM_LAZY) {
        const struct cel_lazy *lazy = map.data;

        return key.kind == CEL_STRING && lazy->get(lazy, run, key.string, ret);
    }
    if (map.form == FORM_JSON) {
        struct value *found = key.kind == CEL_STRING ? find_field(run, map, key.string) : NULL;
        const struct cel_type *type = NULL;

        if (found == NULL) {
            return false;
        }
        if (map.type != NULL) {
            type = map.type->kind == CEL_MAP ? map.type->params[1] : cel_type_member(map.type, key.string);
        }
        *ret = cel_val_json(found, type);
        return true;
    }
    const struct cel_entries *entries = map.data;
    for (size_t i = 0; i < entries->len; i++) {
        if (cel_val_equal(entries->keys[i], key)) {
            *ret = entries->values[i];
            return true;
        }
    }
    return false;
}

struct cel_items *cel_keys(struct arena *arena, struct cel_val map)
{
    struct cel_items *keys = cel_items_new(arena, cel_size(map));

    if (map.form == FORM_JSON) {
        struct str *names = value_sorted_keys(arena, map.data);
        bool object = map.type != NULL && map.type->kind == CEL_OBJECT;

        for (size_t i = 0; i < value_count(map.data); i++) {
            cel_items_add(arena, keys, cel_val_string(object ? cel_escape_name(arena, names[i]) : names[i]));
        }
    } else if (map.form == FORM_ITEMS) {
        const struct cel_entries *entries = map.data;

        for (size_t i = 0; i < entries->len; i++) {
            cel_items_add(arena, keys, entries->keys[i]);
        }
    }
    return keys;
}

static int sign(bool less, bool more)
{
    return more - less;
}

static bool compare_numbers(struct cel_val a, struct cel_val b, int *ret)
{
    if (a.kind == b.kind && a.kind != CEL_DOUBLE) {
        *ret = a.kind == CEL_INT ? sign(a.integer < b.integer, a.integer > b.integer) : sign(a.uinteger < b.uinteger, a.uinteger > b.uinteger);
        return true;
    }
    if (a.kind != CEL_DOUBLE && b.kind != CEL_DOUBLE) {
        bool flip = a.kind == CEL_UINT;
        int64_t i = flip ? b.integer : a.integer;
        uint64_t u = flip ? a.uinteger : b.uinteger;
        int c = i < 0 ? -1 : sign((uint64_t)i < u, (uint64_t)i > u);

        *ret = flip ? -c : c;
        return true;
    }
    long double x = a.kind == CEL_DOUBLE ? (long double)a.number : a.kind == CEL_INT ? (long double)a.integer : (long double)a.uinteger;
    long double y = b.kind == CEL_DOUBLE ? (long double)b.number : b.kind == CEL_INT ? (long double)b.integer : (long double)b.uinteger;
    if (isnan(x) || isnan(y)) {
        return false;
    }
    *ret = sign(x < y, x > y);
    return true;
}

static bool is_number(struct cel_val value)
{
    return value.kind == CEL_INT || value.kind == CEL_UINT || value.kind == CEL_DOUBLE;
}

bool cel_compare(struct cel_val a, struct cel_val b, int *ret)
{
    if (is_number(a) && is_number(b)) {
        return compare_numbers(a, b, ret);
    }
    if (a.kind != b.kind) {
        return false;
    }
    switch (a.kind) {
    case CEL_BOOL:
        *ret = sign(a.boolean < b.boolean, a.boolean > b.boolean);
        return true;
    case CEL_STRING:
    case CEL_BYTES:
        *ret = str_cmp(a.string, b.string);
        return true;
    case CEL_DURATION:
        *ret = sign(a.integer < b.integer, a.integer > b.integer);
        return true;
    case CEL_TIMESTAMP:
        *ret = a.seconds != b.seconds ? sign(a.seconds < b.seconds, a.seconds > b.seconds) : sign(a.nanos < b.nanos, a.nanos > b.nanos);
        return true;
    default:
        return false;
    }
}

/* Values may share parts, so that walking one can take far more steps than it has parts: both walks are bounded. */
#define EQUAL_STEPS UINT64_C(10000000)
#define JSON_STEPS UINT64_C(1000000)

static bool equal(struct cel_val a, struct cel_val b, uint64_t *work);

static bool equal_lists(struct cel_val a, struct cel_val b, uint64_t *work)
{
    size_t count = cel_size(a);

    if (count != cel_size(b)) {
        return false;
    }
    bool set = (a.form == FORM_JSON && a.type != NULL && (a.type->is_set || a.type->is_map_list));
    for (size_t i = 0; i < count; i++) {
        bool found = !set && equal(cel_item(a, i), cel_item(b, i), work);

        for (size_t k = 0; set && !found && k < count; k++) {
            found = equal(cel_item(a, i), cel_item(b, k), work);
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static bool equal_maps(struct cel_val a, struct cel_val b, uint64_t *work)
{
    if (a.form == FORM_LAZY || b.form == FORM_LAZY) {
        return a.data == b.data;
    }
    if (cel_size(a) != cel_size(b)) {
        return false;
    }
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cel_run run = {.arena = arena};
    struct cel_items *keys = cel_keys(arena, a);
    for (size_t i = 0; i < keys->len; i++) {
        struct cel_val x, y;

        if (!cel_find(&run, a, keys->items[i], &x) || !cel_find(&run, b, keys->items[i], &y) || !equal(x, y, work)) {
            return false;
        }
    }
    return true;
}

static bool equal(struct cel_val a, struct cel_val b, uint64_t *work)
{
    int order;

    if (*work == 0) {
        return false;
    }
    --*work;
    if (is_number(a) && is_number(b)) {
        return compare_numbers(a, b, &order) && order == 0;
    }
    if (a.kind != b.kind) {
        return false;
    }
    switch (a.kind) {
    case CEL_NULL:
        return true;
    case CEL_LIST:
        return equal_lists(a, b, work);
    case CEL_MAP:
        return equal_maps(a, b, work);
    case CEL_TYPE:
        return str_eq(a.type->name, b.type->name);
    case CEL_OPTIONAL:
        return a.data == NULL || b.data == NULL ? a.data == b.data
                                                : equal(*(const struct cel_val *)a.data, *(const struct cel_val *)b.data, work);
    case CEL_OPAQUE:
        return a.type == b.type && str_eq(cel_text(NULL, a), cel_text(NULL, b));
    default:
        return cel_compare(a, b, &order) && order == 0;
    }
}

bool cel_val_equal(struct cel_val a, struct cel_val b)
{
    uint64_t work = EQUAL_STEPS;

    return equal(a, b, &work);
}

const struct cel_type *cel_type_of(struct cel_val value)
{
    if (value.kind == CEL_OPAQUE || (value.kind == CEL_MAP && value.form == FORM_LAZY)) {
        return value.type;
    }
    return cel_type_basic(value.kind);
}

bool cel_is_zero(struct cel_val value)
{
    switch (value.kind) {
    case CEL_NULL:
        return true;
    case CEL_BOOL:
        return !value.boolean;
    case CEL_INT:
    case CEL_UINT:
    case CEL_DURATION:
        return value.uinteger == 0;
    case CEL_DOUBLE:
        return value.number == 0;
    case CEL_STRING:
    case CEL_BYTES:
        return value.string.n == 0;
    case CEL_LIST:
    case CEL_MAP:
        return cel_size(value) == 0;
    case CEL_OPTIONAL:
        return value.data == NULL;
    default:
        return false;
    }
}

static bool to_json(struct arena *arena, struct cel_val value, struct value **ret, uint64_t *work);

static bool list_to_json(struct arena *arena, struct cel_val value, struct value **ret, uint64_t *work)
{
    struct value *array = value_array(arena), *item;

    for (size_t i = 0; i < cel_size(value); i++) {
        if (!to_json(arena, cel_item(value, i), &item, work)) {
            return false;
        }
        value_add(arena, array, item);
    }
    *ret = array;
    return true;
}

static bool map_to_json(struct arena *arena, struct cel_val value, struct value **ret, uint64_t *work)
{
    struct value *object = value_object(arena), *item;
    const struct cel_entries *entries = value.data;

    for (size_t i = 0; i < entries->len; i++) {
        if (entries->keys[i].kind != CEL_STRING || !to_json(arena, entries->values[i], &item, work)) {
            return false;
        }
        value_set(arena, object, entries->keys[i].string, item);
    }
    *ret = object;
    return true;
}

static bool to_json(struct arena *arena, struct cel_val value, struct value **ret, uint64_t *work)
{
    if (*work == 0) {
        return false;
    }
    --*work;
    switch (value.kind) {
    case CEL_NULL:
        *ret = value_null(arena);
        return true;
    case CEL_BOOL:
        *ret = value_bool(arena, value.boolean);
        return true;
    case CEL_INT:
    case CEL_UINT:
        *ret = value_int(arena, value.integer);
        return true;
    case CEL_DOUBLE:
        *ret = value_double(arena, value.number);
        return true;
    case CEL_STRING:
    case CEL_BYTES:
    case CEL_DURATION:
    case CEL_TIMESTAMP:
        *ret = value_string(arena, cel_text(arena, value));
        return true;
    case CEL_LIST:
    case CEL_MAP:
        if (value.form == FORM_JSON) {
            *ret = value_copy(arena, value.data);
            return true;
        }
        return value.form == FORM_LAZY ? false : value.kind == CEL_LIST ? list_to_json(arena, value, ret, work) : map_to_json(arena, value, ret, work);
    default:
        return false;
    }
}

bool cel_val_to_json(struct arena *arena, struct cel_val value, struct value **ret)
{
    uint64_t work = JSON_STEPS;

    return to_json(arena, value, ret, &work);
}

struct str cel_text(struct arena *arena, struct cel_val value)
{
    switch (value.kind) {
    case CEL_STRING:
    case CEL_BYTES:
    case CEL_ERROR:
        return value.string;
    case CEL_NULL:
        return STR("null");
    case CEL_BOOL:
        return value.boolean ? STR("true") : STR("false");
    case CEL_INT:
        return arena_printf(arena, "%lld", (long long)value.integer);
    case CEL_UINT:
        return arena_printf(arena, "%llu", (unsigned long long)value.uinteger);
    case CEL_DOUBLE: {
        OWNED(buf_done) struct buf out = {0};

        if (isnan(value.number) || isinf(value.number)) {
            return isnan(value.number) ? STR("NaN") : value.number > 0 ? STR("+Inf") : STR("-Inf");
        }
        json_add_double(&out, value.number);
        return arena_str(arena, buf_str(&out));
    }
    case CEL_DURATION: {
        int64_t seconds = value.integer / 1000000000, rest = value.integer % 1000000000;
        struct str text = arena_printf(arena, "%s%lld.%09lld", value.integer < 0 ? "-" : "", (long long)llabs(seconds), (long long)llabs(rest));

        while (text.p[text.n - 1] == '0') {
            text.n--;
        }
        text.n -= text.p[text.n - 1] == '.';
        return arena_printf(arena, "%.*ss", STR_ARG(text));
    }
    case CEL_TIMESTAMP: {
        char out[TIMESTAMP_TEXT];
        size_t n = timestamp_write(out, (struct timestamp){value.seconds, value.nanos, true}, value.nanos != 0 ? 9 : 0);

        if (value.nanos != 0) {
            while (out[n - 2] == '0') {
                out[n - 2] = 'Z';
                n--;
            }
        }
        return arena_str(arena, (struct str){out, n});
    }
    case CEL_TYPE:
        return value.type->name;
    case CEL_OPAQUE:
        return value.data != NULL ? *(const struct str *)value.data : (struct str){0};
    default:
        return (struct str){0};
    }
}
