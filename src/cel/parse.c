/* The grammar, by recursive descent; errors stop at the first, in the words of stock's parser generator. */
#include "cel/lexer.h"
#include "base/limits.h"
#include "schema/json_lexer.h"

#include <stdlib.h>

struct parser {
    struct cel_lexer lexer;
    struct cel_token token;
    struct arena *arena;
    struct cel_issues *issues;
    unsigned depth;
    bool failed;
};

static struct cel_node *parse_expr(struct parser *in);

#define PRIMARY_TOKENS "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"

void cel_issue(struct arena *arena, struct cel_issues *issues, uint32_t at, const char *format, ...)
{
    va_list args;

    if (issues->len >= 100) {
        return;
    }
    va_start(args, format);
    struct str message = arena_vprintf(arena, format, args);
    va_end(args);
    struct cel_issue *issue = LIST_ADD(arena, issues);
    *issue = (struct cel_issue){.at = at, .message = message};
}

struct cel_node *cel_node_new(struct arena *arena, enum cel_node_kind kind, uint32_t at, size_t count)
{
    struct cel_node *node = ARENA_NEW(arena, struct cel_node);

    node->kind = kind;
    node->at = at;
    node->count = count;
    node->slot = -1;
    node->args = ARENA_ARRAY(arena, struct cel_node *, count);
    return node;
}

static void advance(struct parser *in)
{
    in->token = cel_lex(&in->lexer);
}

static void *fail_expecting(struct parser *in, const char *expected)
{
    if (!in->failed) {
        cel_issue(in->arena, in->issues, in->token.at, "Syntax error: mismatched input '%.*s' expecting %s", STR_ARG(in->token.text),
                  expected);
    }
    in->failed = true;
    return NULL;
}

static bool expect(struct parser *in, enum cel_token_kind kind, const char *expected)
{
    if (in->failed || in->token.kind != kind) {
        fail_expecting(in, expected);
        return false;
    }
    advance(in);
    return true;
}

static bool enter(struct parser *in)
{
    if (in->depth >= LIMIT_CEL_DEPTH && !in->failed) {
        cel_issue(in->arena, in->issues, 0, "expression recursion limit exceeded: %d", LIMIT_CEL_DEPTH);
        in->failed = true;
    }
    in->depth++;
    return !in->failed;
}

static struct cel_node *call(struct parser *in, const char *function, uint32_t at, struct cel_node *a, struct cel_node *b)
{
    struct cel_node *node = cel_node_new(in->arena, NODE_CALL, at, b != NULL ? 2 : 1);

    node->name = str_of(function);
    node->args[0] = a;
    if (b != NULL) {
        node->args[1] = b;
    }
    return node;
}

struct node_list {
    struct cel_node **items;
    size_t len;
};
struct flag_list {
    bool *items;
    size_t len;
};

/* Expressions up to the closing token, which is taken. With `flags`, each may be marked by '?'. */
static bool parse_list(struct parser *in, enum cel_token_kind close, bool trailing, struct node_list *list, struct flag_list *flags)
{
    const char *want = close == TOKEN_RPAREN ? "{')', ','}" : "{']', ','}";

    if (in->token.kind == close) {
        advance(in);
        return true;
    }
    for (;;) {
        if (flags != NULL) {
            bool optional = in->token.kind == TOKEN_QUESTION;

            *LIST_ADD(in->arena, flags) = optional;
            if (optional) {
                advance(in);
            }
        }
        struct cel_node *item = parse_expr(in);
        if (item == NULL) {
            return false;
        }
        *LIST_ADD(in->arena, list) = item;
        if (in->token.kind != TOKEN_COMMA) {
            break;
        }
        advance(in);
        if (trailing && in->token.kind == close) {
            break;
        }
    }
    return expect(in, close, want);
}

static struct cel_node *parse_create_list(struct parser *in)
{
    struct node_list items = {0};
    struct flag_list flags = {0};
    uint32_t at = in->token.at;

    advance(in);
    if (!parse_list(in, TOKEN_RBRACKET, true, &items, &flags)) {
        return NULL;
    }
    struct cel_node *node = cel_node_new(in->arena, NODE_LIST, at, 0);
    node->args = items.items;
    node->count = items.len;
    node->optional = flags.items;
    return node;
}

/* Entries of a map, or fields when `name` is not empty, after the opening brace. */
static struct cel_node *parse_entries(struct parser *in, struct str name, uint32_t at)
{
    bool fields = name.n > 0;
    struct node_list items = {0};
    struct flag_list flags = {0};
    struct str_list names = {0};

    while (in->token.kind != TOKEN_RBRACE) {
        bool optional = in->token.kind == TOKEN_QUESTION;

        if (optional) {
            advance(in);
        }
        *LIST_ADD(in->arena, &flags) = optional;
        if (fields) {
            struct str field = in->token.text;

            if (in->token.kind == TOKEN_ESC_IDENT) {
                field = str_sub(field, 1, field.n - 1);
            } else if (in->token.kind != TOKEN_IDENT) {
                return fail_expecting(in, optional ? "{IDENTIFIER, ESC_IDENTIFIER}" : "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}");
            }
            advance(in);
            *LIST_ADD(in->arena, &names) = field;
        } else {
            struct cel_node *key = parse_expr(in);

            if (key == NULL) {
                return NULL;
            }
            *LIST_ADD(in->arena, &items) = key;
        }
        if (!expect(in, TOKEN_COLON, "':'")) {
            return NULL;
        }
        struct cel_node *value = parse_expr(in);
        if (value == NULL) {
            return NULL;
        }
        *LIST_ADD(in->arena, &items) = value;
        if (in->token.kind != TOKEN_COMMA) {
            break;
        }
        advance(in);
    }
    if (!expect(in, TOKEN_RBRACE, "{'}', ','}")) {
        return NULL;
    }
    struct cel_node *node = cel_node_new(in->arena, fields ? NODE_STRUCT : NODE_MAP, at, 0);
    node->name = name;
    node->args = items.items;
    node->count = items.len;
    node->optional = flags.items;
    node->names = names.items;
    return node;
}

/* The arguments after '(', as a call of the function on the target (NULL: global). */
static struct cel_node *parse_call(struct parser *in, struct str function, struct cel_node *target, uint32_t at)
{
    struct node_list items = {0};

    advance(in);
    if (target != NULL) {
        *LIST_ADD(in->arena, &items) = target;
    }
    if (!parse_list(in, TOKEN_RPAREN, false, &items, NULL)) {
        return NULL;
    }
    struct cel_node *node = cel_node_new(in->arena, NODE_CALL, at, 0);
    node->name = function;
    node->args = items.items;
    node->count = items.len;
    node->is_member = target != NULL;
    struct cel_node *made = cel_expand(in->arena, node, in->issues);
    if (made == NULL) {
        in->failed = true;
    }
    return made;
}

static struct cel_node *constant(struct parser *in, struct cel_val value)
{
    struct cel_node *node = cel_node_new(in->arena, NODE_CONST, in->token.at, 0);

    node->constant = value;
    advance(in);
    return node;
}

static struct cel_node *parse_integer(struct parser *in, bool negative)
{
    struct str text = in->token.text;
    bool is_uint = in->token.kind == TOKEN_UINT;
    bool hex = text.n > 2 && text.p[1] == 'x';
    uint64_t limit = is_uint ? UINT64_MAX : (uint64_t)INT64_MAX + (negative ? 1 : 0), value = 0;

    for (size_t i = hex ? 2 : 0; i < text.n - (is_uint ? 1 : 0); i++) {
        unsigned digit = text.p[i] <= '9' ? (unsigned)(text.p[i] - '0') : (unsigned)((text.p[i] | 0x20) - 'a') + 10;
        unsigned base = hex ? 16 : 10;

        if (value > (limit - digit) / base) {
            cel_issue(in->arena, in->issues, in->token.at, "Syntax error: invalid %s literal", is_uint ? "uint" : "int");
            in->failed = true;
            return NULL;
        }
        value = value * base + digit;
    }
    return constant(in, is_uint ? cel_val_uint(value) : cel_val_int((int64_t)(negative ? 0 - value : value)));
}

static struct cel_node *parse_literal(struct parser *in, bool negative)
{
    struct str text;
    bool is_bytes = in->token.kind == TOKEN_BYTES;

    switch (in->token.kind) {
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        return constant(in, cel_val_bool(in->token.kind == TOKEN_TRUE));
    case TOKEN_NULL:
        return constant(in, cel_val_null());
    case TOKEN_INT:
    case TOKEN_UINT:
        return parse_integer(in, negative);
    case TOKEN_FLOAT: {
        double number = json_to_double(in->token.text.p[0] == '.' ? arena_printf(in->arena, "0%.*s", STR_ARG(in->token.text))
                                                                   : in->token.text);

        return constant(in, cel_val_double(negative ? -number : number));
    }
    case TOKEN_STRING:
    case TOKEN_BYTES:
        if (!cel_unquote(in->arena, in->token.text, is_bytes, &text)) {
            cel_issue(in->arena, in->issues, in->token.at, "Syntax error: unable to unescape string");
            in->failed = true;
            return NULL;
        }
        return constant(in, is_bytes ? cel_val_bytes(text) : cel_val_string(text));
    default:
        return fail_expecting(in, "{" PRIMARY_TOKENS "}");
    }
}

static struct cel_node *parse_ident(struct parser *in)
{
    uint32_t at = in->token.at;
    bool dot = in->token.kind == TOKEN_DOT;

    if (dot) {
        advance(in);
    }
    if (in->token.kind != TOKEN_IDENT) {
        return fail_expecting(in, "IDENTIFIER");
    }
    struct str name = in->token.text;
    uint32_t name_at = in->token.at;
    bool reserved = in->token.reserved;
    advance(in);
    if (in->token.kind == TOKEN_LPAREN) {
        return parse_call(in, name, NULL, in->token.at);
    }
    if (reserved) {
        cel_issue(in->arena, in->issues, name_at, "Syntax error: reserved identifier: %.*s", STR_ARG(name));
        in->failed = true;
        return NULL;
    }
    struct cel_node *node = cel_node_new(in->arena, NODE_IDENT, at, 0);
    node->name = name;
    node->is_global = dot;
    return node;
}

static struct cel_node *parse_primary(struct parser *in)
{
    struct cel_node *node;

    switch (in->token.kind) {
    case TOKEN_LPAREN:
        advance(in);
        node = parse_expr(in);
        return node != NULL && expect(in, TOKEN_RPAREN, "')'") ? node : NULL;
    case TOKEN_LBRACKET:
        return parse_create_list(in);
    case TOKEN_LBRACE: {
        uint32_t at = in->token.at;

        advance(in);
        return parse_entries(in, (struct str){0}, at);
    }
    case TOKEN_DOT:
    case TOKEN_IDENT:
        return parse_ident(in);
    default:
        return parse_literal(in, false);
    }
}

/* The dotted name of an ident and its selects; empty when it is something else. */
static struct str qualified(struct arena *arena, const struct cel_node *node)
{
    if (node->kind == NODE_IDENT) {
        return node->name;
    }
    if (node->kind != NODE_SELECT || node->is_test) {
        return (struct str){0};
    }
    struct str left = qualified(arena, node->args[0]);
    return left.n == 0 ? left : arena_printf(arena, "%.*s.%.*s", STR_ARG(left), STR_ARG(node->name));
}

static struct cel_node *parse_dot(struct parser *in, struct cel_node *operand)
{
    uint32_t at = in->token.at;
    bool optional;

    advance(in);
    optional = in->token.kind == TOKEN_QUESTION;
    if (optional) {
        advance(in);
    }
    struct str name = in->token.text;
    if (in->token.kind == TOKEN_ESC_IDENT) {
        name = str_sub(name, 1, name.n - 1);
    } else if (in->token.kind != TOKEN_IDENT) {
        return fail_expecting(in, optional ? "{IDENTIFIER, ESC_IDENTIFIER}" : "{'?', IDENTIFIER, ESC_IDENTIFIER}");
    }
    bool plain = in->token.kind == TOKEN_IDENT;
    advance(in);
    if (in->token.kind == TOKEN_LPAREN && plain && !optional) {
        return parse_call(in, name, operand, in->token.at);
    }
    struct cel_node *node;
    if (optional) {
        struct cel_node *field = cel_node_new(in->arena, NODE_CONST, at, 0);

        field->constant = cel_val_string(name);
        return call(in, "_?._", at, operand, field);
    }
    node = cel_node_new(in->arena, NODE_SELECT, at, 1);
    node->name = name;
    node->args[0] = operand;
    return node;
}

static struct cel_node *parse_member(struct parser *in)
{
    struct cel_node *node = parse_primary(in);
    unsigned depth = in->depth;

    while (node != NULL && !in->failed) {
        uint32_t at = in->token.at;

        if (in->token.kind == TOKEN_DOT) {
            node = enter(in) ? parse_dot(in, node) : NULL;
        } else if (in->token.kind == TOKEN_LBRACKET) {
            advance(in);
            bool optional = in->token.kind == TOKEN_QUESTION;
            if (optional) {
                advance(in);
            }
            struct cel_node *index = enter(in) ? parse_expr(in) : NULL;
            node = index != NULL && expect(in, TOKEN_RBRACKET, "']'") ? call(in, optional ? "_[?_]" : "_[_]", at, node, index) : NULL;
        } else if (in->token.kind == TOKEN_LBRACE && (node->kind == NODE_IDENT || node->kind == NODE_SELECT)) {
            struct str name = qualified(in->arena, node);

            if (name.n == 0) {
                break;
            }
            advance(in);
            node = parse_entries(in, name, at);
        } else {
            break;
        }
    }
    in->depth = depth;
    return in->failed ? NULL : node;
}

static struct cel_node *parse_unary(struct parser *in)
{
    enum cel_token_kind kind = in->token.kind;
    uint32_t at = in->token.at;
    unsigned count = 0;

    if (kind != TOKEN_NOT && kind != TOKEN_MINUS) {
        return parse_member(in);
    }
    for (; in->token.kind == kind; count++) {
        advance(in);
    }
    bool number = in->token.kind == TOKEN_INT || in->token.kind == TOKEN_FLOAT;
    struct cel_node *node = kind == TOKEN_MINUS && count == 1 && number ? parse_literal(in, true) : parse_member(in);
    if (node == NULL || (kind == TOKEN_MINUS && count == 1 && number)) {
        if (node != NULL) {
            node->at = at;
        }
        return node;
    }
    return count % 2 == 1 ? call(in, kind == TOKEN_NOT ? "!_" : "-_", at, node, NULL) : node;
}

static const struct { enum cel_token_kind kind; int level; const char *function; } operators[] = {
    {TOKEN_LT, 1, "_<_"}, {TOKEN_LE, 1, "_<=_"}, {TOKEN_GT, 1, "_>_"}, {TOKEN_GE, 1, "_>=_"}, {TOKEN_EQ, 1, "_==_"},
    {TOKEN_NE, 1, "_!=_"}, {TOKEN_IN, 1, "@in"}, {TOKEN_PLUS, 2, "_+_"}, {TOKEN_MINUS, 2, "_-_"}, {TOKEN_STAR, 3, "_*_"},
    {TOKEN_SLASH, 3, "_/_"}, {TOKEN_PERCENT, 3, "_%_"},
};

static struct cel_node *parse_binary(struct parser *in, int level)
{
    struct cel_node *left = level > 3 ? parse_unary(in) : parse_binary(in, level + 1);
    unsigned depth = in->depth;

    while (left != NULL && level <= 3) {
        const char *function = NULL;
        uint32_t at = in->token.at;

        for (size_t i = 0; i < COUNT_OF(operators); i++) {
            if (operators[i].kind == in->token.kind && operators[i].level == level) {
                function = operators[i].function;
            }
        }
        if (function == NULL) {
            break;
        }
        advance(in);
        struct cel_node *right = enter(in) ? parse_binary(in, level + 1) : NULL;
        left = right != NULL ? call(in, function, at, left, right) : NULL;
    }
    in->depth = depth;
    return left;
}

/* The terms of && or || as a tree that is as low as can be, as stock does. */
static struct cel_node *balance(struct parser *in, const char *function, const struct node_list *terms, const uint32_t *at, size_t lo,
                                size_t hi)
{
    if (lo == hi) {
        return terms->items[lo];
    }
    size_t mid = (lo + hi + 1) / 2;
    struct cel_node *left = balance(in, function, terms, at, lo, mid - 1);
    return call(in, function, at[mid - 1], left, balance(in, function, terms, at, mid, hi));
}

static struct cel_node *parse_logical(struct parser *in, bool is_or)
{
    struct node_list terms = {0};
    struct {
        uint32_t *items;
        size_t len;
    } at = {0};

    for (;;) {
        struct cel_node *term = is_or ? parse_logical(in, false) : parse_binary(in, 1);

        if (term == NULL) {
            return NULL;
        }
        *LIST_ADD(in->arena, &terms) = term;
        if (in->token.kind != (is_or ? TOKEN_OR : TOKEN_AND)) {
            break;
        }
        *LIST_ADD(in->arena, &at) = in->token.at;
        advance(in);
    }
    return balance(in, is_or ? "_||_" : "_&&_", &terms, at.items, 0, terms.len - 1);
}

static struct cel_node *parse_expr(struct parser *in)
{
    unsigned depth = in->depth;
    struct cel_node *node = enter(in) ? parse_logical(in, true) : NULL;

    if (node != NULL && in->token.kind == TOKEN_QUESTION) {
        struct cel_node *ternary = cel_node_new(in->arena, NODE_CALL, in->token.at, 3);

        advance(in);
        ternary->name = STR("_?_:_");
        ternary->args[0] = node;
        ternary->args[1] = parse_logical(in, true);
        node = ternary->args[1] != NULL && expect(in, TOKEN_COLON, "':'") ? ternary : NULL;
        if (node != NULL) {
            node->args[2] = parse_expr(in);
            node = node->args[2] != NULL ? node : NULL;
        }
    }
    in->depth = depth;
    return in->failed ? NULL : node;
}

struct cel_node *cel_parse(struct arena *arena, struct str text, bool *ret_no_text, struct cel_issues *issues)
{
    struct parser in = {.lexer = {.text = text, .arena = arena, .issues = issues}, .arena = arena, .issues = issues};

    *ret_no_text = false;
    if (cel_characters(text) > LIMIT_CEL_CHARACTERS) {
        *ret_no_text = true;
        cel_issue(arena, issues, 0, "expression code point size exceeds limit: size: %zu, limit %d", cel_characters(text),
                  LIMIT_CEL_CHARACTERS);
        return NULL;
    }
    advance(&in);
    struct cel_node *node = parse_expr(&in);
    if (node != NULL && in.token.kind != TOKEN_EOF) {
        static const char after[] = "{<EOF>, '==', '!=', 'in', '<', '<=', '>=', '>', '&&', '||', '[', '.', '-', '?', '+', '*', '/', '%'}";
        static const char after_name[] =
            "{<EOF>, '==', '!=', 'in', '<', '<=', '>=', '>', '&&', '||', '[', '{', '(', '.', '-', '?', '+', '*', '/', '%'}";
        bool name = node->kind == NODE_IDENT;

        cel_issue(arena, issues, in.token.at, "Syntax error: %s input '%.*s' expecting %s",
                  cel_lex(&in.lexer).kind == TOKEN_EOF ? "extraneous" : "mismatched", STR_ARG(in.token.text), name ? after_name : after);
    }
    return issues->len > 0 ? NULL : node;
}
