#include "schema/go_value.h"

#define GO_LIST "[]interface {}"
#define GO_MAP "map[string]interface {}"

static void add_value(struct arena *arena, const struct value *value, bool is_syntax, struct buf *out);

static void add_object(struct arena *arena, const struct value *object, bool is_syntax, struct buf *out)
{
    struct str *keys = value_sorted_keys(arena, object);

    buf_add_str(out, is_syntax ? STR(GO_MAP "{") : STR("map["));
    for (size_t i = 0; i < value_count(object); i++) {
        buf_add_str(out, i == 0 ? STR("") : is_syntax ? STR(", ") : STR(" "));
        buf_printf(out, is_syntax ? "\"%.*s\":" : "%.*s:", STR_ARG(keys[i]));
        add_value(arena, value_find(object, keys[i]), is_syntax, out);
    }
    buf_add_char(out, is_syntax ? '}' : ']');
}

static void add_list(struct arena *arena, const struct value *list, bool is_syntax, struct buf *out)
{
    bool is_first = true;

    buf_add_str(out, is_syntax ? STR(GO_LIST "{") : STR("["));
    VALUE_EACH_ITEM(item, list)
    {
        buf_add_str(out, is_first ? STR("") : is_syntax ? STR(", ") : STR(" "));
        add_value(arena, *item, is_syntax, out);
        is_first = false;
    }
    buf_add_char(out, is_syntax ? '}' : ']');
}

/* Trees that were read from text are no deeper than reading allows. */
static void add_value(struct arena *arena, const struct value *value, bool is_syntax, struct buf *out)
{
    switch (value->type) {
    case VALUE_NULL:
        buf_add_str(out, is_syntax ? STR("interface {}(nil)") : STR("<nil>"));
        break;
    case VALUE_OBJECT:
        add_object(arena, value, is_syntax, out);
        break;
    case VALUE_ARRAY:
        add_list(arena, value, is_syntax, out);
        break;
    case VALUE_STRING:
        if (!is_syntax) {
            buf_add_str(out, value->string);
            break;
        }
        buf_add_str(out, value_json(arena, value));
        break;
    default:
        buf_add_str(out, value_json(arena, value));
    }
}

struct str go_value_text(struct arena *arena, const struct value *value)
{
    OWNED(buf_done) struct buf out = {0};

    add_value(arena, value, false, &out);
    return arena_str(arena, buf_str(&out));
}

struct str go_value_syntax(struct arena *arena, const struct value *value)
{
    OWNED(buf_done) struct buf out = {0};

    add_value(arena, value, true, &out);
    return arena_str(arena, buf_str(&out));
}

const char *go_value_type(const struct value *value)
{
    static const char *const names[] = {
        [VALUE_NULL] = "<nil>",      [VALUE_BOOL] = "bool",     [VALUE_INT] = "int64", [VALUE_DOUBLE] = "float64",
        [VALUE_STRING] = "string",   [VALUE_ARRAY] = GO_LIST,   [VALUE_OBJECT] = GO_MAP,
    };

    return names[value->type];
}
