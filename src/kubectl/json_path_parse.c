#include "kubectl/json_path_parse.h"

#include "base/limits.h"
#include "kubectl/report.h"
#include "schema/value.h"

#include <ctype.h>

struct parser {
    struct arena *arena;
    struct str text;
    size_t at;
    int depth; /* of ranges and filters */
};

static struct status *fail(const struct parser *parser, const char *what)
{
    return error_local("error parsing jsonpath %.*s, %s", STR_ARG(parser->text), what);
}

static char peek(const struct parser *parser)
{
    return parser->at < parser->text.n ? parser->text.p[parser->at] : '\0';
}

static bool take(struct parser *parser, const char *word)
{
    if (!str_has_prefix(str_from(parser->text, parser->at), str_of(word))) {
        return false;
    }
    parser->at += str_of(word).n;
    return true;
}

static void skip_spaces(struct parser *parser)
{
    while (peek(parser) == ' ' || peek(parser) == '\t') {
        parser->at++;
    }
}

static char unescaped(char c)
{
    return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

/* 'text' or "text" with backslashes. */
static struct status *quoted(struct parser *parser, struct str *ret)
{
    char quote = peek(parser);
    char *out = arena_alloc(parser->arena, parser->text.n);
    size_t len = 0;

    for (parser->at++; peek(parser) != quote; parser->at++) {
        if (parser->at >= parser->text.n) {
            return fail(parser, "unterminated quoted string");
        }
        if (peek(parser) == '\\' && parser->at + 1 < parser->text.n) {
            parser->at++;
            out[len++] = unescaped(peek(parser));
        } else {
            out[len++] = peek(parser);
        }
    }
    parser->at++;
    *ret = (struct str){out, len};
    return NULL;
}

static bool ends_name(char c)
{
    return c == '\0' || c == '.' || c == '[' || c == ']' || c == '}' || c == ')' || c == ' ' || c == '\t' || c == '=' ||
           c == '!' || c == '<' || c == '>' || c == ',';
}

static struct str name(struct parser *parser)
{
    char *out = arena_alloc(parser->arena, parser->text.n - parser->at + 1);
    size_t len = 0;

    while (!ends_name(peek(parser))) {
        if (peek(parser) == '\\' && parser->at + 1 < parser->text.n) {
            parser->at++;
        }
        out[len++] = parser->text.p[parser->at++];
    }
    return (struct str){out, len};
}

static struct status *path(struct parser *parser, struct path *ret);

static bool number(struct parser *parser, int64_t *ret)
{
    size_t from = parser->at;

    while (isdigit((unsigned char)peek(parser)) || peek(parser) == '-') {
        parser->at++;
    }
    return str_to_i64(str_sub(parser->text, from, parser->at), ret);
}

/* [2], [1:], [:3], [0:4:2], [-1] */
static struct status *slice(struct parser *parser, struct path_step *step)
{
    step->type = STEP_SLICE;
    step->stride = 1;
    step->has_from = number(parser, &step->from);
    step->is_index = peek(parser) != ':';
    if (take(parser, ":")) {
        step->has_to = number(parser, &step->to);
        if (take(parser, ":") && (!number(parser, &step->stride) || step->stride < 1)) {
            return fail(parser, "step must be > 0");
        }
    }
    return (step->is_index && !step->has_from) ? fail(parser, "invalid array index") : NULL;
}

static struct status *filter_side(struct parser *parser, struct filter_side *ret)
{
    struct str text;
    int64_t integer;

    skip_spaces(parser);
    if (peek(parser) == '\'' || peek(parser) == '"') {
        TRY(quoted(parser, &text));
        ret->literal = value_string(parser->arena, text);
    } else if (peek(parser) == '@' || peek(parser) == '$' || peek(parser) == '.') {
        ret->is_path = true;
        TRY(path(parser, &ret->path));
    } else {
        size_t from = parser->at;

        while (!ends_name(peek(parser)) || peek(parser) == '.') {
            parser->at++;
        }
        text = str_sub(parser->text, from, parser->at);
        ret->literal = str_to_i64(text, &integer) ? value_int(parser->arena, integer)
                       : str_is(text, "true") || str_is(text, "false")
                           ? value_bool(parser->arena, str_is(text, "true"))
                           : value_string(parser->arena, text);
    }
    skip_spaces(parser);
    return NULL;
}

static struct status *filter(struct parser *parser, struct path_step *step)
{
    static const struct {
        const char *text;
        enum filter_op op;
    } ops[] = {{"==", FILTER_EQ}, {"!=", FILTER_NE}, {"<=", FILTER_LE},
               {">=", FILTER_GE}, {"<", FILTER_LT},  {">", FILTER_GT}};

    step->type = STEP_FILTER;
    step->op = FILTER_EXISTS;
    if (++parser->depth > LIMIT_DECODE_DEPTH) {
        return fail(parser, "too deeply nested");
    }
    TRY(filter_side(parser, &step->left));
    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        if (take(parser, ops[i].text)) {
            step->op = ops[i].op;
            TRY(filter_side(parser, &step->right));
            break;
        }
    }
    parser->depth--;
    return take(parser, ")") ? NULL : fail(parser, "unterminated filter");
}

static struct status *bracket(struct parser *parser, struct path_step *step)
{
    struct str text;

    if (take(parser, "*")) {
        step->type = STEP_WILDCARD;
    } else if (take(parser, "?(")) {
        TRY(filter(parser, step));
    } else if (peek(parser) == '\'' || peek(parser) == '"') {
        step->type = STEP_UNION;
        do {
            skip_spaces(parser);
            if (peek(parser) != '\'' && peek(parser) != '"') {
                return fail(parser, "invalid union");
            }
            TRY(quoted(parser, &text));
            *LIST_ADD(parser->arena, &step->names) = text;
            skip_spaces(parser);
        } while (take(parser, ","));
    } else {
        TRY(slice(parser, step));
    }
    return take(parser, "]") ? NULL : fail(parser, "unterminated array");
}

static struct status *path(struct parser *parser, struct path *ret)
{
    *ret = (struct path){0};
    if (peek(parser) == '@' || peek(parser) == '$') {
        parser->at++;
    }
    for (;;) {
        struct path_step step = {0};

        if (take(parser, "..")) {
            step.type = STEP_RECURSIVE;
            *LIST_ADD(parser->arena, ret) = step;
            if (peek(parser) == '[' || ends_name(peek(parser))) {
                continue;
            }
            step = (struct path_step){0};
        } else if (peek(parser) == '.') {
            parser->at++;
            if (ends_name(peek(parser)) && peek(parser) != '[') {
                return NULL; /* "." alone: the value itself */
            }
            if (peek(parser) == '[') {
                continue;
            }
        } else if (peek(parser) == '[') {
            parser->at++;
            TRY(bracket(parser, &step));
            *LIST_ADD(parser->arena, ret) = step;
            continue;
        } else if (ends_name(peek(parser))) {
            return NULL;
        }
        if (take(parser, "*")) {
            step.type = STEP_WILDCARD;
        } else {
            *LIST_ADD(parser->arena, &step.names) = name(parser);
        }
        *LIST_ADD(parser->arena, ret) = step;
    }
}

static struct status *segments(struct parser *parser, bool in_range, struct segments *ret);

/* What stands in braces; *ret_end is set by {end}. */
static struct status *action(struct parser *parser, struct segments *ret, bool *ret_end)
{
    struct segment segment = {.type = SEGMENT_PATH};

    skip_spaces(parser);
    if (peek(parser) == '"' || peek(parser) == '\'') {
        segment.type = SEGMENT_TEXT;
        TRY(quoted(parser, &segment.text));
    } else if (take(parser, "end")) {
        *ret_end = true;
    } else {
        if (take(parser, "range ")) {
            segment.type = SEGMENT_RANGE;
            skip_spaces(parser);
        }
        if (peek(parser) != '.' && peek(parser) != '@' && peek(parser) != '$' && peek(parser) != '[') {
            return peek(parser) == '\0' ? fail(parser, "unclosed action")
                                        : error_local("unrecognized identifier %.*s", STR_ARG(name(parser)));
        }
        TRY(path(parser, &segment.path));
    }
    skip_spaces(parser);
    if (!take(parser, "}")) {
        return fail(parser, "unclosed action");
    }
    if (segment.type == SEGMENT_RANGE) {
        if (++parser->depth > LIMIT_DECODE_DEPTH) {
            return fail(parser, "too deeply nested");
        }
        TRY(segments(parser, true, &segment.body));
        parser->depth--;
    }
    if (!*ret_end) {
        *LIST_ADD(parser->arena, ret) = segment;
    }
    return NULL;
}

static struct status *segments(struct parser *parser, bool in_range, struct segments *ret)
{
    bool is_end = false;

    *ret = (struct segments){0};
    while (parser->at < parser->text.n) {
        struct str rest = str_from(parser->text, parser->at);
        struct str text = str_sub(rest, 0, MIN(str_index(rest, '{'), rest.n));

        if (text.n > 0) {
            *LIST_ADD(parser->arena, ret) = (struct segment){.type = SEGMENT_TEXT, .text = text};
            parser->at += text.n;
            continue;
        }
        parser->at++;
        TRY(action(parser, ret, &is_end));
        if (is_end) {
            return in_range ? NULL : fail(parser, "not in range, nothing to end");
        }
    }
    return in_range ? fail(parser, "unclosed range") : NULL;
}

struct status *json_path_parse(struct arena *arena, struct str template, struct segments *ret)
{
    struct parser parser = {.arena = arena, .text = template};

    return segments(&parser, false, ret);
}
