/* kubectl describe of config maps, and of any kind that has no form of its own: its fields with readable names. */
#include "kubectl/describe.h"

#include "base/base64.h"

#include <ctype.h>
#include <stdlib.h>

#define ADD(d, ...) buf_printf(&(d)->text, __VA_ARGS__)

static const char *const acronyms[] = {"API", "URL", "UID", "OSB", "GUID"};

static void add_word(struct arena *arena, struct buf *out, struct str word)
{
    char *copy = arena_cstr(arena, word);

    copy[0] = (char)toupper((unsigned char)copy[0]);
    for (size_t i = 0; i < COUNT_OF(acronyms); i++) {
        if (str_eq_nocase(word, str_of(acronyms[i]))) {
            copy = arena_cstr(arena, str_of(acronyms[i]));
        }
    }
    buf_printf(out, "%s%s", out->n > 0 ? " " : "", copy);
}

/* "podCIDRs" is "Pod CID Rs": words begin where small letters turn to capitals, or with the last of several capitals. */
static struct str label_of(struct arena *arena, struct str name)
{
    struct buf out = {0};
    size_t from = 0;

    for (size_t i = 0; i < name.n; i++) {
        if (!isalpha((unsigned char)name.p[i]) && name.p[i] != '-') {
            return name;
        }
    }
    for (size_t i = 1; i <= name.n; i++) {
        bool ends = i == name.n || (isupper((unsigned char)name.p[i]) && !isupper((unsigned char)name.p[i - 1])) ||
                    (i + 1 < name.n && isupper((unsigned char)name.p[i]) && isupper((unsigned char)name.p[i - 1]) &&
                     islower((unsigned char)name.p[i + 1])) ||
                    (name.p[i] == '-') != (name.p[i - 1] == '-');

        if (ends) {
            add_word(arena, &out, str_sub(name, from, i));
            from = i;
        }
    }
    struct str ret = arena_str(arena, buf_str(&out));

    buf_done(&out);
    return ret;
}

static bool is_shown_above(int level, struct str parent, struct str key)
{
    static const char *const metadata[] = {"name", "namespace", "labels", "annotations", "managedFields"};

    for (size_t i = 0; level == 1 && str_is(parent, "metadata") && i < COUNT_OF(metadata); i++) {
        if (str_is(key, metadata[i])) {
            return true;
        }
    }
    return false;
}

static void add_fields(struct description *d, int level, struct str parent, const struct value *object)
{
    struct arena *arena = d->k->arena;
    struct str *keys = value_sorted_keys(arena, object);

    for (size_t i = 0; i < value_count(object); i++) {
        const struct value *value = value_find(object, keys[i]);
        struct str label = label_of(arena, keys[i]);

        if (is_shown_above(level, parent, keys[i])) {
            continue;
        }
        if (value_is(value, VALUE_OBJECT)) {
            describe_line(d, level, "%.*s:\n", STR_ARG(label));
            add_fields(d, level + 1, keys[i], value);
        } else if (value_is(value, VALUE_ARRAY)) {
            describe_line(d, level, "%.*s:\n", STR_ARG(label));
            VALUE_EACH_ITEM(item, value)
            {
                if (value_is(*item, VALUE_OBJECT)) {
                    add_fields(d, level + 1, keys[i], *item);
                } else {
                    describe_line(d, level + 1, "%.*s\n", STR_ARG(describe_value(arena, *item)));
                }
            }
        } else {
            describe_line(d, level, "%.*s:\t%.*s\n", STR_ARG(label), STR_ARG(describe_value(arena, value)));
        }
    }
}

void describe_head(struct description *d, const struct value *object)
{
    ADD(d, "Name:\t%.*s\nNamespace:\t%.*s\n", STR_ARG(value_str_at(object, "metadata.name")),
        STR_ARG(value_str_at(object, "metadata.namespace")));
    describe_map(d, "", "Labels", value_find_path(object, "metadata.labels"));
    describe_annotations(d, "", "Annotations", value_find_path(object, "metadata.annotations"));
}

struct status *describe_any(struct description *d, const struct value *object)
{
    describe_head(d, object);
    add_fields(d, 0, STR(""), object);
    return NULL;
}

struct status *describe_config_map(struct description *d, const struct value *map)
{
    struct arena *arena = d->k->arena;
    const struct value *data = value_find(map, STR("data")), *bytes = value_find(map, STR("binaryData"));
    struct str *keys = value_sorted_keys(arena, data), *byte_keys = value_sorted_keys(arena, bytes);

    describe_head(d, map);
    ADD(d, "\nData\n====\n");
    for (size_t i = 0; i < value_count(data); i++) {
        ADD(d, "%.*s:\n----\n%.*s\n\n", STR_ARG(keys[i]), STR_ARG(value_str(value_find(data, keys[i]))));
    }
    ADD(d, "\nBinaryData\n====\n");
    for (size_t i = 0; i < value_count(bytes); i++) {
        struct str decoded = STR("");

        (void)base64_decode(arena, value_str(value_find(bytes, byte_keys[i])), &decoded);
        ADD(d, "%.*s: %zu bytes\n", STR_ARG(byte_keys[i]), decoded.n);
    }
    ADD(d, "\n");
    return NULL;
}
