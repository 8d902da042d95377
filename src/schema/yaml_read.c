#include "schema/yaml.h"

#include "base/limits.h"
#include "schema/json_lexer.h"
#include "schema/yaml_node.h"

#include <math.h>
#include <string.h>

struct reader {
    struct arena *arena;
    bool strict;
    unsigned depth;
    /* How much came from expanding anchors, counted as go-yaml does; a ratio too high is an attack. */
    size_t decoded, from_aliases, alias_depth, expanded_bytes;
    struct buf errors; /* of strict reading, a line each */
    struct status *unsupported; /* a key that YAML may have and JSON may not; comes after the errors above */
};

static struct status *read_node(struct reader *reader, struct yaml_node *node, struct value **ret);

static double allowed_alias_ratio(size_t decoded)
{
    const double low = 400000, high = 4000000;

    return (double)decoded <= low    ? 0.99
           : (double)decoded >= high ? 0.10
                                     : 0.99 - 0.89 * (((double)decoded - low) / (high - low));
}

static struct status *count_node(struct reader *reader, const struct yaml_node *node)
{
    reader->decoded++;
    if (reader->alias_depth > 0) {
        reader->from_aliases++;
        reader->expanded_bytes += node->text.n + sizeof(struct value);
    }
    bool excessive = reader->from_aliases > 100 && reader->decoded > 1000 &&
                     (double)reader->from_aliases / (double)reader->decoded > allowed_alias_ratio(reader->decoded);

    if (excessive || reader->expanded_bytes > LIMIT_YAML_EXPANDED_BYTES) {
        return status_new(STATUS_BAD_REQUEST, "yaml: document contains excessive aliasing");
    }
    return NULL;
}

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;

    return at != NULL ? (int)(at - digits) : -1;
}

/* Bytes that are no UTF-8 become U+FFFD, as on the way through JSON. */
static struct str valid_utf8(struct arena *arena, struct str bytes)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < bytes.n;) {
        unsigned length = utf8_decode(bytes, i, NULL);

        if (length == 0) {
            buf_add_str(&out, STR("\xef\xbf\xbd"));
            length = 1;
        } else {
            buf_add(&out, bytes.p + i, length);
        }
        i += length;
    }
    return arena_str(arena, buf_str(&out));
}

static struct status *read_binary(struct reader *reader, struct str text, struct value **ret)
{
    char *out = arena_alloc(reader->arena, text.n / 4 * 3 + 4);
    size_t n = 0, digits = 0, padding = 0;
    uint32_t bits = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\n' || text.p[i] == '\r') {
            continue;
        }
        int digit = text.p[i] == '=' ? 0 : base64_digit(text.p[i]);

        padding += text.p[i] == '=';
        if (digit < 0 || (padding > 0 && text.p[i] != '=') || padding > 2) {
            digits = 1;
            break;
        }
        bits = bits << 6 | (uint32_t)digit;
        if (++digits % 4 == 0) {
            out[n++] = (char)(bits >> 16);
            out[n++] = (char)(bits >> 8);
            out[n++] = (char)bits;
        }
    }
    if (digits % 4 != 0 || (padding > 0 && digits == 0)) {
        return status_new(STATUS_BAD_REQUEST, "yaml: !!binary value contains invalid base64 data");
    }
    *ret = value_string(reader->arena, valid_utf8(reader->arena, (struct str){out, n - padding}));
    return NULL;
}

/* A float goes through JSON text in stock, where one without a fraction is an integer again. */
static struct status *read_float(struct reader *reader, double number, struct value **ret)
{
    OWNED(buf_done) struct buf text = {0};
    int64_t integer;

    if (isnan(number) || isinf(number)) {
        return status_new(STATUS_BAD_REQUEST, "json: unsupported value: %s",
                          isnan(number) ? "NaN" : number > 0 ? "+Inf" : "-Inf");
    }
    json_add_double(&text, number);
    *ret = str_to_i64(buf_str(&text), &integer) ? value_int(reader->arena, integer)
                                                : value_double(reader->arena, number);
    return NULL;
}

static struct str short_tag(struct reader *reader, struct str tag)
{
    struct str prefix = STR("tag:yaml.org,2002:");

    return str_has_prefix(tag, prefix) ? arena_printf(reader->arena, "!!%.*s", STR_ARG(str_from(tag, prefix.n))) : tag;
}

static const char *type_tag(enum yaml_type type)
{
    static const char *const tags[] = {"!!null", "!!bool", "!!int", "!!int", "!!float", "!!str", "!!timestamp"};

    return tags[type];
}

/* Holds the scalar to an explicit tag. */
static struct status *apply_tag(struct str tag, struct str text, struct yaml_scalar *scalar)
{
    const char *is = type_tag(scalar->type);

    if (str_is(tag, "!!float") && (scalar->type == YAML_INT || scalar->type == YAML_UINT)) {
        if (scalar->type == YAML_INT) {
            scalar->number = (double)scalar->integer;
            scalar->type = YAML_FLOAT;
            return NULL;
        }
    } else if (str_is(tag, is)) {
        return NULL;
    }
    return status_new(STATUS_BAD_REQUEST, "yaml: cannot decode %s `%.*s` as a %.*s", is, STR_ARG(text), STR_ARG(tag));
}

/* The scalar's meaning, by its style, tag and text; a `string` gets the text as it is. */
static struct status *resolve(struct reader *reader, struct yaml_node *node, struct yaml_scalar *ret)
{
    struct str tag = short_tag(reader, node->tag);
    bool known = str_is(tag, "!!bool") || str_is(tag, "!!int") || str_is(tag, "!!float") || str_is(tag, "!!null") ||
                 str_is(tag, "!!timestamp");

    *ret = (struct yaml_scalar){.type = YAML_STRING};
    if (tag.n == 0 && node->implicit) {
        *ret = yaml_resolve(node->text);
    } else if (known) {
        *ret = yaml_resolve(node->text);
        return apply_tag(tag, node->text, ret);
    }
    return NULL;
}

static struct status *read_scalar(struct reader *reader, struct yaml_node *node, struct value **ret)
{
    struct yaml_scalar scalar;

    if (str_is(short_tag(reader, node->tag), "!!binary")) {
        return read_binary(reader, node->text, ret);
    }
    TRY(resolve(reader, node, &scalar));
    switch (scalar.type) {
    case YAML_NULL:
        *ret = value_null(reader->arena);
        return NULL;
    case YAML_BOOL:
        *ret = value_bool(reader->arena, scalar.boolean);
        return NULL;
    case YAML_INT:
        *ret = value_int(reader->arena, scalar.integer);
        return NULL;
    case YAML_UINT:
        *ret = value_double(reader->arena, (double)scalar.big);
        return NULL;
    case YAML_FLOAT:
        return read_float(reader, scalar.number, ret);
    case YAML_STRING:
    case YAML_TIMESTAMP:
    default:
        *ret = value_string(reader->arena, node->text);
        return NULL;
    }
}

/* A value as Go's %#v prints it. */
static void add_go_syntax(struct buf *out, const struct value *value)
{
    const char *separator = "";

    switch (value->type) {
    case VALUE_ARRAY:
        buf_add_str(out, STR("[]interface {}{"));
        VALUE_EACH_ITEM(item, value)
        {
            buf_add_str(out, str_of(separator));
            add_go_syntax(out, *item);
            separator = ", ";
        }
        buf_add_char(out, '}');
        break;
    case VALUE_OBJECT:
        buf_add_str(out, STR("map[interface {}]interface {}{"));
        VALUE_EACH_MEMBER(member, value)
        {
            buf_add_str(out, str_of(separator));
            json_add_string_plain(out, member->key);
            buf_add_char(out, ':');
            add_go_syntax(out, member->value);
            separator = ", ";
        }
        buf_add_char(out, '}');
        break;
    case VALUE_NULL:
        buf_add_str(out, STR("interface {}(nil)"));
        break;
    default:
        value_write_json(out, value, VALUE_JSON_PLAIN);
        break;
    }
}

struct key {
    struct str text;
    struct buf shown;        /* as Go prints it in an error */
    const char *unsupported; /* its Go type, when JSON has no such keys */
};

static struct status *invalid_key(struct reader *reader, struct yaml_node *node)
{
    OWNED(buf_done) struct buf shown = {0};
    struct value *value;

    TRY(read_node(reader, node, &value));
    add_go_syntax(&shown, value);
    return status_new(STATUS_BAD_REQUEST, "yaml: invalid map key: %.*s", STR_ARG(buf_str(&shown)));
}

static struct status *read_key(struct reader *reader, struct yaml_node *node, struct key *key)
{
    struct yaml_scalar scalar;
    struct value *binary;

    while (node->kind == YAML_NODE_ALIAS) {
        node = node->anchor;
    }
    if (node->kind != YAML_NODE_SCALAR) {
        return invalid_key(reader, node);
    }
    buf_clear(&key->shown);
    key->unsupported = NULL;
    key->text = node->text;
    if (str_is(short_tag(reader, node->tag), "!!binary")) {
        TRY(read_binary(reader, node->text, &binary));
        key->text = binary->string;
    }
    TRY(resolve(reader, node, &scalar));
    switch (scalar.type) {
    case YAML_NULL:
        key->unsupported = "%!s(<nil>)";
        buf_add_str(&key->shown, STR("<nil>"));
        break;
    case YAML_BOOL:
        buf_add_str(&key->shown, scalar.boolean ? STR("true") : STR("false"));
        break;
    case YAML_INT:
        buf_printf(&key->shown, "%lld", (long long)scalar.integer);
        break;
    case YAML_UINT:
        key->unsupported = "uint64";
        buf_printf(&key->shown, "0x%llx", (unsigned long long)scalar.big);
        break;
    case YAML_FLOAT:
        yaml_add_float(&key->shown, scalar.number, true);
        break;
    case YAML_STRING:
    case YAML_TIMESTAMP:
    default:
        json_add_string_plain(&key->shown, key->text);
        return NULL;
    }
    key->text = arena_str(reader->arena, buf_str(&key->shown));
    return NULL;
}

static void note_unsupported(struct reader *reader, const struct key *key, const struct value *value)
{
    OWNED(buf_done) struct buf shown = {0};

    if (reader->unsupported != NULL) {
        return;
    }
    if (value->type == VALUE_NULL) {
        buf_add_str(&shown, STR("<nil>"));
    } else {
        add_go_syntax(&shown, value);
    }
    reader->unsupported =
        status_new(STATUS_BAD_REQUEST, "unsupported map key of type: %s, key: %.*s, value: %.*s", key->unsupported,
                   STR_ARG(buf_str(&key->shown)), STR_ARG(buf_str(&shown)));
}

static struct status *read_mapping(struct reader *reader, struct yaml_node *node, struct value *into);

/* What "<<" merges: a mapping or an alias of one. */
static struct status *merge_one(struct reader *reader, struct yaml_node *node, struct value *into)
{
    struct yaml_node *mapping = node->kind == YAML_NODE_ALIAS ? node->anchor : node;

    if (mapping->kind != YAML_NODE_MAPPING) {
        return status_new(STATUS_BAD_REQUEST, "yaml: map merge requires map or sequence of maps as the value");
    }
    if (mapping == node) {
        return read_mapping(reader, node, into);
    }
    if (node->expanding) {
        return status_new(STATUS_BAD_REQUEST, "yaml: anchor '%.*s' value contains itself", STR_ARG(node->text));
    }
    TRY(count_node(reader, node));
    node->expanding = true;
    reader->alias_depth++;
    struct status *status = read_mapping(reader, mapping, into);

    reader->alias_depth--;
    node->expanding = false;
    return status;
}

static struct status *merge(struct reader *reader, struct yaml_node *node, struct value *into)
{
    if (node->kind != YAML_NODE_SEQUENCE) {
        return merge_one(reader, node, into);
    }
    for (size_t i = node->children.len; i > 0; i--) { /* backwards: earlier ones win */
        TRY(merge_one(reader, node->children.items[i - 1], into));
    }
    return NULL;
}

static bool is_merge(struct reader *reader, struct yaml_node *key)
{
    return key->kind == YAML_NODE_SCALAR && str_is(key->text, "<<") &&
           (key->implicit || str_is(short_tag(reader, key->tag), "!!merge"));
}

static struct status *read_pairs(struct reader *reader, struct yaml_node *node, struct value *into, struct key *key)
{
    for (size_t i = 0; i + 1 < node->children.len; i += 2) {
        struct yaml_node *key_node = node->children.items[i], *value_node = node->children.items[i + 1];
        struct value *value;

        if (is_merge(reader, key_node)) {
            TRY(merge(reader, value_node, into));
            continue;
        }
        TRY(count_node(reader, key_node));
        TRY(read_key(reader, key_node, key));
        TRY(read_node(reader, value_node, &value));
        if (key->unsupported != NULL) {
            note_unsupported(reader, key, value);
        } else if (reader->strict && value_find(into, key->text) != NULL) {
            buf_printf(&reader->errors, "\n  line %u: key %.*s already set in map", value_node->line,
                       STR_ARG(buf_str(&key->shown)));
        } else {
            value_set(reader->arena, into, key->text, value);
        }
    }
    return NULL;
}

static struct status *read_mapping(struct reader *reader, struct yaml_node *node, struct value *into)
{
    struct key key = {0};
    struct status *status = read_pairs(reader, node, into, &key);

    buf_done(&key.shown);
    return status;
}

static struct status *read_sequence(struct reader *reader, struct yaml_node *node, struct value *into)
{
    for (size_t i = 0; i < node->children.len; i++) {
        struct value *item;

        TRY(read_node(reader, node->children.items[i], &item));
        value_add(reader->arena, into, item);
    }
    return NULL;
}

static struct status *read_alias(struct reader *reader, struct yaml_node *node, struct value **ret)
{
    if (node->expanding) {
        return status_new(STATUS_BAD_REQUEST, "yaml: anchor '%.*s' value contains itself", STR_ARG(node->text));
    }
    node->expanding = true;
    reader->alias_depth++;
    struct status *status = read_node(reader, node->anchor, ret);

    reader->alias_depth--;
    node->expanding = false;
    return status;
}

static struct status *read_node(struct reader *reader, struct yaml_node *node, struct value **ret)
{
    struct status *status = NULL;

    TRY(count_node(reader, node));
    if (++reader->depth > LIMIT_DECODE_DEPTH) {
        return status_new(STATUS_BAD_REQUEST, "yaml: exceeded max depth of %d", LIMIT_DECODE_DEPTH);
    }
    switch (node->kind) {
    case YAML_NODE_MAPPING:
        *ret = value_object(reader->arena);
        status = read_mapping(reader, node, *ret);
        break;
    case YAML_NODE_SEQUENCE:
        *ret = value_array(reader->arena);
        status = read_sequence(reader, node, *ret);
        break;
    case YAML_NODE_ALIAS:
        status = read_alias(reader, node, ret);
        break;
    case YAML_NODE_SCALAR:
    default:
        status = read_scalar(reader, node, ret);
        break;
    }
    reader->depth--;
    return status;
}

struct status *yaml_read(struct arena *arena, struct str text, bool strict, struct value **ret)
{
    struct reader reader = {.arena = arena, .strict = strict};
    struct yaml_node *root;

    TRY(yaml_node_parse(arena, text, &root));
    if (root == NULL) {
        *ret = value_null(arena);
        return NULL;
    }
    struct value *value = NULL;
    struct status *status = read_node(&reader, root, &value);

    if (status == NULL && reader.errors.n > 0) {
        status = status_new(STATUS_BAD_REQUEST, "yaml: unmarshal errors:%.*s", STR_ARG(buf_str(&reader.errors)));
    }
    if (status == NULL) {
        status = TAKE(reader.unsupported);
    }
    status_free(reader.unsupported);
    buf_done(&reader.errors);
    if (status == NULL) {
        *ret = value;
    }
    return status;
}

struct status *yaml_next_document(struct str *rest, struct str *ret_document)
{
    size_t end = 0, next = rest->n;

    while (end < rest->n) {
        struct str line = str_from(*rest, end);

        line = str_sub(line, 0, str_index(line, '\n'));
        if (str_has_prefix(line, STR("---"))) {
            struct str tail = str_trim(str_from(line, 3));

            if (tail.n > 0 && tail.p[0] != '#') {
                return status_new(STATUS_BAD_REQUEST, "invalid Yaml document separator: %.*s", STR_ARG(tail));
            }
            if (end > 0) { /* one in front belongs to the document, so that its lines count from there */
                next = MIN(end + line.n + 1, rest->n);
                break;
            }
        }
        end = MIN(end + line.n + 1, rest->n);
    }
    *ret_document = end > 0 ? str_sub(*rest, 0, end) : (struct str){0};
    *rest = str_from(*rest, next);
    return NULL;
}
