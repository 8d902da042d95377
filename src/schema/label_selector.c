#include "schema/selector.h"

#include "base/buf.h"
#include "schema/json_lexer.h"
#include "schema/names.h"

#include <stdlib.h>
#include <string.h>

enum token_kind {
    TOKEN_END,
    TOKEN_IDENTIFIER,
    TOKEN_CLOSE,
    TOKEN_COMMA,
    TOKEN_NOT,
    TOKEN_DOUBLE_EQUALS,
    TOKEN_EQUALS,
    TOKEN_GREATER,
    TOKEN_IN,
    TOKEN_LESS,
    TOKEN_NOT_EQUALS,
    TOKEN_NOT_IN,
    TOKEN_OPEN,
};

struct token {
    enum token_kind kind;
    struct str text;
};

struct parser {
    struct arena *arena;
    struct str rest;
    struct token next; /* looked at, not taken */
};

struct requirements {
    struct selector_requirement *items;
    size_t len;
};

static bool is_symbol(char c)
{
    return c != '\0' && strchr("=!(),><", c) != NULL;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct token symbol_token(struct str text)
{
    bool equals = text.n > 1 && text.p[1] == '=';

    switch (text.p[0]) {
    case '=':
        return (struct token){equals ? TOKEN_DOUBLE_EQUALS : TOKEN_EQUALS, str_sub(text, 0, equals ? 2 : 1)};
    case '!':
        return (struct token){equals ? TOKEN_NOT_EQUALS : TOKEN_NOT, str_sub(text, 0, equals ? 2 : 1)};
    case '(':
        return (struct token){TOKEN_OPEN, str_sub(text, 0, 1)};
    case ')':
        return (struct token){TOKEN_CLOSE, str_sub(text, 0, 1)};
    case ',':
        return (struct token){TOKEN_COMMA, str_sub(text, 0, 1)};
    case '>':
        return (struct token){TOKEN_GREATER, str_sub(text, 0, 1)};
    default:
        return (struct token){TOKEN_LESS, str_sub(text, 0, 1)};
    }
}

/* Moves to the next token; one that is a NUL byte ends the text, as in stock. */
static void advance(struct parser *parser)
{
    struct str rest = parser->rest;
    size_t length = 0;

    while (rest.n > 0 && is_space(rest.p[0])) {
        rest = str_from(rest, 1);
    }
    if (rest.n == 0 || rest.p[0] == '\0') {
        parser->next = (struct token){TOKEN_END, STR("")};
        return;
    }
    if (is_symbol(rest.p[0])) {
        parser->next = symbol_token(rest);
    } else {
        while (length < rest.n && rest.p[length] != '\0' && !is_symbol(rest.p[length]) && !is_space(rest.p[length])) {
            length++;
        }
        struct str word = str_sub(rest, 0, length);

        parser->next = (struct token){str_is(word, "in")      ? TOKEN_IN
                                      : str_is(word, "notin") ? TOKEN_NOT_IN
                                                              : TOKEN_IDENTIFIER,
                                      word};
    }
    parser->rest = str_from(rest, parser->next.text.n);
}

/* The next token where a word is wanted: there, "in" and "notin" are words, too. */
static enum token_kind peek_word(const struct parser *parser)
{
    enum token_kind kind = parser->next.kind;

    return kind == TOKEN_IN || kind == TOKEN_NOT_IN ? TOKEN_IDENTIFIER : kind;
}

static struct token take_word(struct parser *parser)
{
    struct token token = {peek_word(parser), parser->next.text};

    advance(parser);
    return token;
}

static struct status *unexpected(struct str found, const char *expected)
{
    return status_new(STATUS_BAD_REQUEST, "found '%.*s', expected: %s", STR_ARG(found), expected);
}

/* A quoted text as Go's %q prints it, near enough for printable text. */
static void add_quoted(struct buf *out, struct str text)
{
    json_add_string_plain(out, text);
}

/* Several messages become "[a, b]", each once. */
struct messages {
    struct str *items;
    size_t len;
};

static void add_message(struct arena *arena, struct messages *messages, struct str message)
{
    for (size_t i = 0; i < messages->len; i++) {
        if (str_eq(messages->items[i], message)) {
            return;
        }
    }
    *LIST_ADD(arena, messages) = message;
}

static void add_invalid(struct arena *arena, struct messages *messages, struct str path, struct str value,
                        struct str why)
{
    OWNED(buf_done) struct buf text = {0};

    buf_printf(&text, "%.*s: Invalid value: ", STR_ARG(path));
    add_quoted(&text, value);
    buf_printf(&text, ": %.*s", STR_ARG(why));
    add_message(arena, messages, arena_str(arena, buf_str(&text)));
}

static struct status *status_of(const struct messages *messages)
{
    OWNED(buf_done) struct buf text = {0};

    if (messages->len == 0) {
        return NULL;
    }
    for (size_t i = 0; i < messages->len; i++) {
        buf_add_str(&text, i == 0 ? STR("") : STR(", "));
        buf_add_str(&text, messages->items[i]);
    }
    if (messages->len == 1) {
        return status_new(STATUS_BAD_REQUEST, "%s", buf_cstr(&text));
    }
    return status_new(STATUS_BAD_REQUEST, "[%s]", buf_cstr(&text));
}

static struct status *check_key(struct arena *arena, struct str key, const char *path)
{
    struct name_errors errors = {0};
    struct messages messages = {0};

    if (name_is_qualified(key, &errors)) {
        return NULL;
    }
    add_invalid(arena, &messages, str_of(path), key, name_errors_join(arena, &errors, "; "));
    return status_of(&messages);
}

static void check_count(struct arena *arena, const struct selector_requirement *requirement, struct messages *messages)
{
    size_t count = requirement->values.len;
    const char *wrong = NULL;

    switch (requirement->op) {
    case SELECTOR_IN:
    case SELECTOR_NOT_IN:
        wrong = count == 0 ? "for 'in', 'notin' operators, values set can't be empty" : NULL;
        break;
    case SELECTOR_EQUALS:
    case SELECTOR_DOUBLE_EQUALS:
    case SELECTOR_NOT_EQUALS:
        wrong = count != 1 ? "exact-match compatibility requires one single value" : NULL;
        break;
    case SELECTOR_EXISTS:
    case SELECTOR_DOES_NOT_EXIST:
        wrong = count != 0 ? "values set must be empty for exists and does not exist" : NULL;
        break;
    case SELECTOR_GREATER_THAN:
    case SELECTOR_LESS_THAN:
    default:
        wrong = count != 1 ? "for 'Gt', 'Lt' operators, exactly one value is required" : NULL;
        break;
    }
    if (wrong != NULL) {
        OWNED(buf_done) struct buf text = {0};

        buf_add_str(&text, STR("values: Invalid value: ["));
        for (size_t i = 0; i < count; i++) {
            buf_add_str(&text, i == 0 ? STR("") : STR(","));
            add_quoted(&text, requirement->values.items[i]);
        }
        buf_printf(&text, "]: %s", wrong);
        add_message(arena, messages, arena_str(arena, buf_str(&text)));
    }
}

static struct status *check_requirement(struct arena *arena, const struct selector_requirement *requirement)
{
    struct messages messages = {0};
    struct name_errors key_errors = {0};
    int64_t number;

    if (!name_is_qualified(requirement->key, &key_errors)) {
        add_invalid(arena, &messages, STR("key"), requirement->key, name_errors_join(arena, &key_errors, "; "));
    }
    check_count(arena, requirement, &messages);
    for (size_t i = 0; i < requirement->values.len; i++) {
        bool compares = requirement->op == SELECTOR_GREATER_THAN || requirement->op == SELECTOR_LESS_THAN;

        if (compares && !str_to_i64(requirement->values.items[i], &number)) {
            add_invalid(arena, &messages, arena_printf(arena, "values[%zu]", i), requirement->values.items[i],
                        STR("for 'Gt', 'Lt' operators, the value must be an integer"));
        }
    }
    for (size_t i = 0; i < requirement->values.len; i++) {
        struct name_errors errors = {0};

        if (!name_is_label_value(requirement->values.items[i], &errors)) {
            add_invalid(arena, &messages, arena_printf(arena, "values[%zu][%.*s]", i, STR_ARG(requirement->key)),
                        requirement->values.items[i], name_errors_join(arena, &errors, "; "));
        }
    }
    return status_of(&messages);
}

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void sort_values(struct selector_values *values)
{
    size_t kept = 0;

    if (values->len > 1) {
        qsort(values->items, values->len, sizeof(*values->items), by_bytes);
    }
    for (size_t i = 0; i < values->len; i++) {
        if (i == 0 || !str_eq(values->items[i], values->items[kept - 1])) {
            values->items[kept++] = values->items[i];
        }
    }
    values->len = kept;
}

static struct status *parse_list(struct parser *parser, struct selector_values *values)
{
    for (;;) {
        struct token token = take_word(parser);

        if (token.kind == TOKEN_IDENTIFIER) {
            *LIST_ADD(parser->arena, values) = token.text;
            if (parser->next.kind == TOKEN_CLOSE) {
                return NULL;
            }
            if (parser->next.kind != TOKEN_COMMA) {
                return unexpected(parser->next.text, "',' or ')'");
            }
        } else if (token.kind == TOKEN_COMMA) { /* an empty word before or after it counts */
            if (values->len == 0 || parser->next.kind == TOKEN_CLOSE || parser->next.kind == TOKEN_COMMA) {
                *LIST_ADD(parser->arena, values) = STR("");
            }
            if (parser->next.kind == TOKEN_CLOSE) {
                return NULL;
            }
        } else {
            return unexpected(token.text, "',', or identifier");
        }
    }
}

static struct status *parse_set(struct parser *parser, struct selector_values *values)
{
    struct token token = take_word(parser);

    if (token.kind != TOKEN_OPEN) {
        return status_new(STATUS_BAD_REQUEST, "found '%.*s' expected: '('", STR_ARG(token.text));
    }
    enum token_kind next = peek_word(parser);

    if (next == TOKEN_CLOSE) {
        *LIST_ADD(parser->arena, values) = STR("");
    } else if (next == TOKEN_IDENTIFIER || next == TOKEN_COMMA) {
        TRY(parse_list(parser, values));
    } else {
        return unexpected(parser->next.text, "',', ')' or identifier");
    }
    advance(parser); /* the closing parenthesis */
    return NULL;
}

static struct status *parse_exact(struct parser *parser, struct selector_values *values)
{
    if (parser->next.kind == TOKEN_END || parser->next.kind == TOKEN_COMMA) {
        *LIST_ADD(parser->arena, values) = STR("");
        return NULL;
    }
    struct token token = take_word(parser);

    if (token.kind != TOKEN_IDENTIFIER) {
        return unexpected(token.text, "identifier");
    }
    *LIST_ADD(parser->arena, values) = token.text;
    return NULL;
}

static struct status *parse_operator(struct parser *parser, enum selector_operator *ret)
{
    struct token token = parser->next;

    advance(parser);
    switch (token.kind) {
    case TOKEN_IN:
        *ret = SELECTOR_IN;
        return NULL;
    case TOKEN_NOT_IN:
        *ret = SELECTOR_NOT_IN;
        return NULL;
    case TOKEN_EQUALS:
        *ret = SELECTOR_EQUALS;
        return NULL;
    case TOKEN_DOUBLE_EQUALS:
        *ret = SELECTOR_DOUBLE_EQUALS;
        return NULL;
    case TOKEN_NOT_EQUALS:
        *ret = SELECTOR_NOT_EQUALS;
        return NULL;
    case TOKEN_GREATER:
        *ret = SELECTOR_GREATER_THAN;
        return NULL;
    case TOKEN_LESS:
        *ret = SELECTOR_LESS_THAN;
        return NULL;
    default:
        return unexpected(token.text, "in, notin, =, ==, !=, gt, lt");
    }
}

static struct status *parse_requirement(struct parser *parser, struct selector_requirement *requirement)
{
    struct token token = take_word(parser);
    bool negative = token.kind == TOKEN_NOT;

    if (negative) {
        token = take_word(parser);
    }
    if (token.kind != TOKEN_IDENTIFIER) {
        return unexpected(token.text, "identifier");
    }
    requirement->key = token.text;
    TRY(check_key(parser->arena, token.text, "<nil>"));
    if (negative || parser->next.kind == TOKEN_END || parser->next.kind == TOKEN_COMMA) {
        requirement->op = negative ? SELECTOR_DOES_NOT_EXIST : SELECTOR_EXISTS;
        return NULL;
    }
    TRY(parse_operator(parser, &requirement->op));
    if (requirement->op == SELECTOR_IN || requirement->op == SELECTOR_NOT_IN) {
        TRY(parse_set(parser, &requirement->values));
    } else {
        TRY(parse_exact(parser, &requirement->values));
    }
    sort_values(&requirement->values);
    return check_requirement(parser->arena, requirement);
}

struct ordered {
    struct selector_requirement requirement;
    size_t order;
};

static int by_key(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    int order = str_cmp(a->requirement.key, b->requirement.key);

    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

static void sort_requirements(struct arena *arena, struct selector_requirement *items, size_t len)
{
    struct ordered *ordered = ARENA_ARRAY(arena, struct ordered, len);

    for (size_t i = 0; i < len; i++) {
        ordered[i] = (struct ordered){items[i], i};
    }
    if (len > 1) {
        qsort(ordered, len, sizeof(*ordered), by_key);
    }
    for (size_t i = 0; i < len; i++) {
        items[i] = ordered[i].requirement;
    }
}

static struct status *parse_all(struct parser *parser, struct requirements *requirements)
{
    enum token_kind kind = peek_word(parser);

    while (kind != TOKEN_END) {
        if (kind != TOKEN_IDENTIFIER && kind != TOKEN_NOT) {
            return unexpected(parser->next.text, "!, identifier, or 'end of string'");
        }
        struct selector_requirement requirement = {0};

        TRY(status_while(parse_requirement(parser, &requirement), "unable to parse requirement"));
        *LIST_ADD(parser->arena, requirements) = requirement;
        struct token token = take_word(parser);

        if (token.kind == TOKEN_END) {
            break;
        }
        if (token.kind != TOKEN_COMMA) {
            return unexpected(token.text, "',' or 'end of string'");
        }
        kind = peek_word(parser);
        if (kind != TOKEN_IDENTIFIER && kind != TOKEN_NOT) {
            return unexpected(parser->next.text, "identifier after ','");
        }
    }
    return NULL;
}

struct status *label_selector_parse(struct arena *arena, struct str text, struct label_selector *ret)
{
    struct parser parser = {.arena = arena, .rest = text};
    struct requirements requirements = {0};

    advance(&parser);
    TRY(parse_all(&parser, &requirements));
    sort_requirements(arena, requirements.items, requirements.len);
    *ret = (struct label_selector){requirements.items, requirements.len, false};
    return NULL;
}

struct status *label_selector_add(struct arena *arena, struct label_selector *selector, struct str key,
                                  enum selector_operator op, const struct str *values, size_t count)
{
    struct selector_requirement requirement = {.key = arena_str(arena, key), .op = op};

    for (size_t i = 0; i < count; i++) {
        *LIST_ADD(arena, &requirement.values) = arena_str(arena, values[i]);
    }
    TRY(check_requirement(arena, &requirement));
    sort_values(&requirement.values);
    struct requirements requirements = {selector->items, selector->len};

    *LIST_ADD(arena, &requirements) = requirement;
    sort_requirements(arena, requirements.items, requirements.len);
    selector->items = requirements.items;
    selector->len = requirements.len;
    return NULL;
}

struct status *selector_operator_of(struct str name, bool node, enum selector_operator *ret)
{
    static const struct {
        const char *name;
        enum selector_operator op;
    } names[] = {{"In", SELECTOR_IN},
                 {"NotIn", SELECTOR_NOT_IN},
                 {"Exists", SELECTOR_EXISTS},
                 {"DoesNotExist", SELECTOR_DOES_NOT_EXIST},
                 {"Gt", SELECTOR_GREATER_THAN},
                 {"Lt", SELECTOR_LESS_THAN}};

    for (size_t i = 0; i < (node ? 6U : 4U); i++) {
        if (str_is(name, names[i].name)) {
            *ret = names[i].op;
            return NULL;
        }
    }
    return status_new(STATUS_BAD_REQUEST, "\"%.*s\" is not a valid %s selector operator", STR_ARG(name),
                      node ? "node" : "label");
}

static bool has_value(const struct selector_values *values, struct str value)
{
    return values->len > 0 && bsearch(&value, values->items, values->len, sizeof(value), by_bytes) != NULL;
}

bool selector_requirement_matches(const struct selector_requirement *requirement, selector_lookup *lookup,
                                  const void *labels)
{
    struct str value = {0};
    bool exists = lookup(labels, requirement->key, &value);
    int64_t number, bound;

    switch (requirement->op) {
    case SELECTOR_EQUALS:
    case SELECTOR_DOUBLE_EQUALS:
    case SELECTOR_IN:
        return exists && has_value(&requirement->values, value);
    case SELECTOR_NOT_EQUALS:
    case SELECTOR_NOT_IN:
        return !exists || !has_value(&requirement->values, value);
    case SELECTOR_EXISTS:
        return exists;
    case SELECTOR_DOES_NOT_EXIST:
        return !exists;
    case SELECTOR_GREATER_THAN:
    case SELECTOR_LESS_THAN:
    default:
        return exists && requirement->values.len == 1 && str_to_i64(value, &number) &&
               str_to_i64(requirement->values.items[0], &bound) &&
               (requirement->op == SELECTOR_GREATER_THAN ? number > bound : number < bound);
    }
}

bool label_selector_matches(const struct label_selector *selector, selector_lookup *lookup, const void *labels)
{
    for (size_t i = 0; i < selector->len; i++) {
        if (!selector_requirement_matches(&selector->items[i], lookup, labels)) {
            return false;
        }
    }
    return !selector->nothing;
}

bool label_selector_is_empty(const struct label_selector *selector)
{
    return selector->len == 0 && !selector->nothing;
}

bool label_selector_exact(const struct label_selector *selector, struct str key, struct str *ret)
{
    for (size_t i = 0; i < selector->len; i++) {
        const struct selector_requirement *item = &selector->items[i];

        if (str_eq(item->key, key)) {
            bool exact = item->op == SELECTOR_EQUALS || item->op == SELECTOR_DOUBLE_EQUALS || item->op == SELECTOR_IN;

            if (exact && item->values.len == 1) {
                *ret = item->values.items[0];
                return true;
            }
            return false;
        }
    }
    return false;
}

static void add_requirement(struct buf *out, const struct selector_requirement *item)
{
    static const char *const between[] = {
        [SELECTOR_EQUALS] = "=",       [SELECTOR_DOUBLE_EQUALS] = "==", [SELECTOR_NOT_EQUALS] = "!=",
        [SELECTOR_IN] = " in (",       [SELECTOR_NOT_IN] = " notin (",  [SELECTOR_EXISTS] = "",
        [SELECTOR_DOES_NOT_EXIST] = "", [SELECTOR_GREATER_THAN] = ">",  [SELECTOR_LESS_THAN] = "<",
    };

    if (item->op == SELECTOR_DOES_NOT_EXIST) {
        buf_add_char(out, '!');
    }
    buf_add_str(out, item->key);
    buf_add_str(out, str_of(between[item->op]));
    for (size_t i = 0; i < item->values.len; i++) {
        buf_add_str(out, i == 0 ? STR("") : STR(","));
        buf_add_str(out, item->values.items[i]);
    }
    if (item->op == SELECTOR_IN || item->op == SELECTOR_NOT_IN) {
        buf_add_char(out, ')');
    }
}

struct str label_selector_format(struct arena *arena, const struct label_selector *selector)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < selector->len; i++) {
        buf_add_str(&out, i == 0 ? STR("") : STR(","));
        add_requirement(&out, &selector->items[i]);
    }
    return arena_str(arena, buf_str(&out));
}
