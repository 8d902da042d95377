#include "kubectl/json_path.h"

#include "kubectl/json_path_parse.h"
#include "kubectl/report.h"

static void add(struct arena *arena, struct json_path_results *list, const struct value *value)
{
    if (value != NULL) {
        *LIST_ADD(arena, list) = value;
    }
}

static void add_children(struct arena *arena, struct json_path_results *list, const struct value *value)
{
    VALUE_EACH_ITEM(item, value)
    {
        add(arena, list, *item);
    }
    if (value_is(value, VALUE_OBJECT)) {
        VALUE_EACH_MEMBER(member, value)
        {
            add(arena, list, member->value);
        }
    }
}

/* The value and all below it; values are as deep as what was read, which is bounded. */
static void add_all(struct arena *arena, struct json_path_results *list, const struct value *value)
{
    struct json_path_results children = {0};

    add(arena, list, value);
    add_children(arena, &children, value);
    LIST_EACH(child, &children)
    {
        add_all(arena, list, *child);
    }
}

static struct status *add_slice(struct arena *arena, struct json_path_results *list, const struct value *value,
                                const struct path_step *step)
{
    if (!value_is(value, VALUE_ARRAY)) {
        return step->is_index && value != NULL ? error_local("%s is not array or slice", value_type_name(value)) : NULL;
    }
    int64_t len = (int64_t)value_count(value);
    int64_t from = step->has_from ? step->from : 0, to = step->is_index ? from + 1 : step->has_to ? step->to : len;

    if (step->is_index && from < 0) {
        from += len;
        to = from + 1;
    }
    from = from < 0 ? MAX(from + len, 0) : from;
    to = to < 0 ? to + len : to;
    if (step->is_index && (from >= len || from < 0)) {
        return len == 0 ? NULL
                        : error_local("array index out of bounds: index %lld, length %lld", (long long)step->from,
                                      (long long)len);
    }
    for (int64_t i = from; i < MIN(to, len); i += step->stride) {
        add(arena, list, value_item(value, (size_t)i));
    }
    return NULL;
}

static struct status *walk(struct arena *arena, const struct path *path, const struct value *value,
                           struct json_path_results *ret);

static double number_of(const struct value *value)
{
    return value_is(value, VALUE_INT) ? (double)value->integer : value->number;
}

static bool is_number(const struct value *value)
{
    return value_is(value, VALUE_INT) || value_is(value, VALUE_DOUBLE);
}

static bool holds(const struct value *a, enum filter_op op, const struct value *b)
{
    int order;

    if (is_number(a) && is_number(b)) {
        order = (number_of(a) > number_of(b)) - (number_of(a) < number_of(b));
    } else if (value_is(a, VALUE_STRING) && value_is(b, VALUE_STRING)) {
        order = str_cmp(value_str(a), value_str(b));
    } else {
        return op == FILTER_EQ ? value_equal(a, b) : op == FILTER_NE && !value_equal(a, b);
    }
    return op == FILTER_EQ   ? order == 0
           : op == FILTER_NE ? order != 0
           : op == FILTER_LT ? order < 0
           : op == FILTER_LE ? order <= 0
           : op == FILTER_GT ? order > 0
                             : order >= 0;
}

static struct status *side_of(struct arena *arena, const struct filter_side *side, const struct value *element,
                              const struct value **ret)
{
    struct json_path_results found = {0};

    *ret = side->literal;
    if (side->is_path) {
        TRY(walk(arena, &side->path, element, &found));
        *ret = found.len > 0 ? found.items[0] : NULL;
    }
    return NULL;
}

static struct status *add_filtered(struct arena *arena, struct json_path_results *list, const struct value *value,
                                   const struct path_step *step)
{
    struct json_path_results children = {0};

    add_children(arena, &children, value);
    LIST_EACH(child, &children)
    {
        const struct value *left, *right;

        TRY(side_of(arena, &step->left, *child, &left));
        if (step->op == FILTER_EXISTS) {
            add(arena, list, left != NULL ? *child : NULL);
            continue;
        }
        TRY(side_of(arena, &step->right, *child, &right));
        if (left != NULL && right != NULL && holds(left, step->op, right)) {
            add(arena, list, *child);
        }
    }
    return NULL;
}

static struct status *take_step(struct arena *arena, const struct path_step *step, const struct value *value,
                                struct json_path_results *list)
{
    switch (step->type) {
    case STEP_FIELD:
    case STEP_UNION:
        LIST_EACH(name, &step->names)
        {
            add(arena, list, value_find(value, *name));
        }
        break;
    case STEP_WILDCARD:
        add_children(arena, list, value);
        break;
    case STEP_RECURSIVE:
        add_all(arena, list, value);
        break;
    case STEP_SLICE:
        return add_slice(arena, list, value, step);
    case STEP_FILTER:
        return add_filtered(arena, list, value, step);
    }
    return NULL;
}

static struct status *walk(struct arena *arena, const struct path *path, const struct value *value,
                           struct json_path_results *ret)
{
    struct json_path_results now = {0};

    add(arena, &now, value);
    LIST_EACH(step, path)
    {
        struct json_path_results next = {0};

        LIST_EACH(each, &now)
        {
            TRY(take_step(arena, step, *each, &next));
        }
        now = next;
    }
    *ret = now;
    return NULL;
}

void json_path_text(struct buf *out, const struct value *value)
{
    if (value_is(value, VALUE_STRING)) {
        buf_add_str(out, value_str(value));
    } else {
        value_write_json(out, value, VALUE_JSON_SORTED);
    }
}

static struct status *missing(const struct path *path)
{
    struct str name = STR("");

    LIST_EACH(step, path)
    {
        name = step->names.len > 0 ? step->names.items[step->names.len - 1] : name;
    }
    return error_local("%.*s is not found", STR_ARG(name));
}

static struct status *print(struct arena *arena, const struct segments *segments, const struct value *value,
                            bool allow_missing, struct buf *out)
{
    LIST_EACH(segment, segments)
    {
        struct json_path_results found = {0};

        if (segment->type == SEGMENT_TEXT) {
            buf_add_str(out, segment->text);
            continue;
        }
        TRY(walk(arena, &segment->path, value, &found));
        if (found.len == 0 && !allow_missing && segment->type == SEGMENT_PATH) {
            return missing(&segment->path);
        }
        for (size_t i = 0; i < found.len; i++) {
            if (segment->type == SEGMENT_RANGE) {
                TRY(print(arena, &segment->body, found.items[i], allow_missing, out));
            } else {
                buf_add_str(out, i > 0 ? STR(" ") : STR(""));
                json_path_text(out, found.items[i]);
            }
        }
    }
    return NULL;
}

struct status *json_path_check(struct arena *arena, struct str template)
{
    struct segments segments;

    return json_path_parse(arena, template, &segments);
}

struct status *json_path_print(struct arena *arena, struct str template, const struct value *value, bool allow_missing,
                               struct buf *out)
{
    struct segments segments;

    TRY(json_path_parse(arena, template, &segments));
    struct status *status = print(arena, &segments, value, allow_missing, out);

    return status_while(status, "error executing jsonpath \"%.*s\": Error executing template", STR_ARG(template));
}

struct status *json_path_print_json(struct arena *arena, struct str template, const struct value *value,
                                    struct buf *out)
{
    struct segments segments;

    TRY(json_path_parse(arena, template, &segments));
    LIST_EACH(segment, &segments)
    {
        struct json_path_results found = {0};
        struct value *array = value_array(arena);

        if (segment->type != SEGMENT_PATH) {
            continue;
        }
        TRY(walk(arena, &segment->path, value, &found));
        LIST_EACH(each, &found)
        {
            value_add(arena, array, value_copy(arena, *each));
        }
        value_write_json(out, array, VALUE_JSON_SORTED | VALUE_JSON_INDENT);
        buf_add_char(out, '\n');
    }
    return NULL;
}

struct status *json_path_find(struct arena *arena, struct str template, const struct value *value,
                              struct json_path_results *ret)
{
    struct segments segments;

    TRY(json_path_parse(arena, template, &segments));
    *ret = (struct json_path_results){0};
    LIST_EACH(segment, &segments)
    {
        struct json_path_results found;

        if (segment->type == SEGMENT_PATH) {
            TRY(walk(arena, &segment->path, value, &found));
            LIST_EACH(each, &found)
            {
                add(arena, ret, *each);
            }
        }
    }
    return NULL;
}

struct status *json_path_relaxed(struct arena *arena, struct str text, struct str *ret)
{
    struct str inner = str_trim(text);

    if (inner.n >= 2 && inner.p[0] == '{' && inner.p[inner.n - 1] == '}') {
        inner = str_sub(inner, 1, inner.n - 1);
    }
    if (str_index(inner, '{') != SIZE_MAX || str_index(inner, '}') != SIZE_MAX) {
        return error_local("unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or "
                           "'{.name1.name2}'");
    }
    bool is_plain = inner.n > 0 && inner.p[0] != '.' && inner.p[0] != '[' && inner.p[0] != '$' && inner.p[0] != '@';

    *ret = arena_printf(arena, "{%s%.*s}", is_plain || inner.n == 0 ? "." : "", STR_ARG(inner));
    return NULL;
}
