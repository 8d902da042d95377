#include "apiserver/encode.h"

#include "schema/json.h"
#include "schema/json_lexer.h"
#include "schema/protobuf.h"
#include "schema/yaml.h"

void encode_item(enum media media, const struct type *type, const void *object, struct buf *out)
{
    if (media == MEDIA_PROTOBUF) {
        protobuf_encode(type, object, out);
    } else {
        json_encode(type, object, out);
    }
}

static void typed_protobuf(struct str api_version, struct str kind, struct str item, struct buf *out)
{
    OWNED(buf_done) struct buf type = {0};

    protobuf_add_bytes(&type, 1, api_version);
    protobuf_add_bytes(&type, 2, kind);
    buf_add_str(out, PROTOBUF_MAGIC);
    protobuf_add_bytes(out, 1, buf_str(&type));
    protobuf_add_bytes(out, 2, item);
    protobuf_add_bytes(out, 3, STR(""));
    protobuf_add_bytes(out, 4, STR(""));
}

void encode_typed(enum media media, struct str api_version, struct str kind, struct str item, struct buf *out)
{
    if (media == MEDIA_PROTOBUF) {
        typed_protobuf(api_version, kind, item, out);
        return;
    }
    buf_add_str(out, STR("{\"kind\":"));
    json_add_string(out, kind);
    buf_add_str(out, STR(",\"apiVersion\":"));
    json_add_string(out, api_version);
    if (item.n > 2) {
        buf_add_char(out, ',');
    }
    buf_add_str(out, str_from(item, 1));
}

static void new_line(struct buf *out, int depth)
{
    buf_add_char(out, '\n');
    for (int i = 0; i < depth; i++) {
        buf_add_str(out, STR("  "));
    }
}

/* The length of the string that begins at `at`, quotes included. */
static size_t string_length(struct str json, size_t at)
{
    size_t i = at + 1;

    while (i < json.n && json.p[i] != '"') {
        i += json.p[i] == '\\' ? 2 : 1;
    }
    return i + 1 - at;
}

void encode_indent(struct str json, struct buf *out)
{
    int depth = 0;

    for (size_t i = 0; i < json.n; i++) {
        char c = json.p[i];
        char next = i + 1 < json.n ? json.p[i + 1] : 0;

        if (c == '"') {
            size_t n = string_length(json, i);

            buf_add_str(out, str_sub(json, i, i + n));
            i += n - 1;
        } else if ((c == '{' && next == '}') || (c == '[' && next == ']')) {
            buf_add(out, &json.p[i++], 2);
        } else if (c == '{' || c == '[') {
            buf_add_char(out, c);
            new_line(out, ++depth);
        } else if (c == '}' || c == ']') {
            new_line(out, --depth);
            buf_add_char(out, c);
        } else if (c == ',') {
            buf_add_char(out, c);
            new_line(out, depth);
        } else if (c == ':') {
            buf_add_str(out, STR(": "));
        } else {
            buf_add_char(out, c);
        }
    }
}

static void replace(struct buf *buf, struct buf *with)
{
    buf_done(buf);
    *buf = *with;
    *with = (struct buf){0};
}

struct status *encode_finish(struct arena *arena, enum media media, bool is_pretty, struct buf *json)
{
    OWNED(buf_done) struct buf out = {0};

    if (media == MEDIA_YAML) {
        struct value *tree;

        TRY(value_read_json(arena, arena_str(arena, buf_str(json)), &tree, NULL));
        yaml_write(&out, tree);
        replace(json, &out);
    } else if (media == MEDIA_JSON && is_pretty) {
        encode_indent(buf_str(json), &out);
        replace(json, &out);
    } else if (media == MEDIA_JSON) {
        buf_add_char(json, '\n');
    }
    return NULL;
}
