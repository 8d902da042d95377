#include "cel/lexer.h"

#include "schema/json_lexer.h"

#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static char peek(const struct cel_lexer *lexer, size_t ahead)
{
    return lexer->byte + ahead < lexer->text.n ? lexer->text.p[lexer->byte + ahead] : '\0';
}

static void take(struct cel_lexer *lexer, size_t bytes)
{
    for (; bytes > 0 && lexer->byte < lexer->text.n; bytes--, lexer->byte++) {
        if (((unsigned char)lexer->text.p[lexer->byte] & 0xc0) != 0x80) {
            lexer->character++;
        }
    }
}

static void skip_space(struct cel_lexer *lexer)
{
    for (;;) {
        char c = peek(lexer, 0);

        if (lexer->byte < lexer->text.n && (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f')) {
            take(lexer, 1);
        } else if (c == '/' && peek(lexer, 1) == '/') {
            while (lexer->byte < lexer->text.n && peek(lexer, 0) != '\n') {
                take(lexer, 1);
            }
        } else {
            return;
        }
    }
}

/* Length of the string literal that starts `prefix` bytes ahead; 0 when it does not end. */
static size_t string_length(const struct cel_lexer *lexer, size_t prefix, bool raw)
{
    char quote = peek(lexer, prefix);
    size_t quotes = peek(lexer, prefix + 1) == quote && peek(lexer, prefix + 2) == quote ? 3 : 1;
    size_t i = prefix + quotes;

    for (; lexer->byte + i < lexer->text.n; i++) {
        char c = peek(lexer, i);

        if (c == '\\' && !raw) {
            i++;
        } else if (quotes == 1 && (c == '\n' || c == '\r')) {
            return 0;
        } else if (c == quote && (quotes == 1 || (peek(lexer, i + 1) == quote && peek(lexer, i + 2) == quote))) {
            return i + quotes;
        }
    }
    return 0;
}

static size_t number_length(const struct cel_lexer *lexer, enum cel_token_kind *ret)
{
    size_t i = 0;

    *ret = TOKEN_INT;
    if (peek(lexer, 0) == '0' && peek(lexer, 1) == 'x' && is_hex(peek(lexer, 2))) {
        for (i = 2; is_hex(peek(lexer, i)); i++) {
        }
    } else {
        for (; is_digit(peek(lexer, i)); i++) {
        }
        if (peek(lexer, i) == '.' && is_digit(peek(lexer, i + 1))) {
            *ret = TOKEN_FLOAT;
            for (i++; is_digit(peek(lexer, i)); i++) {
            }
        }
        if (peek(lexer, i) == 'e' || peek(lexer, i) == 'E') {
            size_t sign = peek(lexer, i + 1) == '+' || peek(lexer, i + 1) == '-' ? 1 : 0;

            if (is_digit(peek(lexer, i + 1 + sign))) {
                *ret = TOKEN_FLOAT;
                for (i += 1 + sign; is_digit(peek(lexer, i)); i++) {
                }
            }
        }
    }
    if (*ret == TOKEN_INT && (peek(lexer, i) == 'u' || peek(lexer, i) == 'U')) {
        *ret = TOKEN_UINT;
        i++;
    }
    return i;
}

static struct cel_token token(struct cel_lexer *lexer, enum cel_token_kind kind, size_t length)
{
    struct cel_token made = {.kind = kind, .at = lexer->character, .text = str_sub(lexer->text, lexer->byte, lexer->byte + length)};

    take(lexer, length);
    return made;
}

static const struct { const char *text; enum cel_token_kind kind; } symbols[] = {
    {"==", TOKEN_EQ}, {"!=", TOKEN_NE}, {"<=", TOKEN_LE}, {">=", TOKEN_GE}, {"&&", TOKEN_AND}, {"||", TOKEN_OR},
    {"<", TOKEN_LT}, {">", TOKEN_GT}, {"[", TOKEN_LBRACKET}, {"]", TOKEN_RBRACKET}, {"{", TOKEN_LBRACE},
    {"}", TOKEN_RBRACE}, {"(", TOKEN_LPAREN}, {")", TOKEN_RPAREN}, {".", TOKEN_DOT}, {",", TOKEN_COMMA},
    {"-", TOKEN_MINUS}, {"!", TOKEN_NOT}, {"?", TOKEN_QUESTION}, {":", TOKEN_COLON}, {"+", TOKEN_PLUS},
    {"*", TOKEN_STAR}, {"/", TOKEN_SLASH}, {"%", TOKEN_PERCENT},
};

static struct cel_token word(struct cel_lexer *lexer)
{
    static const char *const reserved[] = {"as", "break", "const", "continue", "else", "for", "function", "if", "import",
                                           "let", "loop", "package", "namespace", "return", "var", "void", "while"};
    size_t length = 0;

    while (is_letter(peek(lexer, length)) || is_digit(peek(lexer, length))) {
        length++;
    }
    struct cel_token made = token(lexer, TOKEN_IDENT, length);
    if (str_is(made.text, "in")) {
        made.kind = TOKEN_IN;
    } else if (str_is(made.text, "true")) {
        made.kind = TOKEN_TRUE;
    } else if (str_is(made.text, "false")) {
        made.kind = TOKEN_FALSE;
    } else if (str_is(made.text, "null")) {
        made.kind = TOKEN_NULL;
    }
    for (size_t i = 0; i < COUNT_OF(reserved); i++) {
        made.reserved |= str_is(made.text, reserved[i]);
    }
    return made;
}

/* How many letters of r, b stand before a quote; *ret_bytes and *ret_raw by them. SIZE_MAX when no string starts here. */
static size_t string_prefix(const struct cel_lexer *lexer, bool *ret_bytes, bool *ret_raw)
{
    size_t i = 0;

    *ret_bytes = *ret_raw = false;
    if (peek(lexer, i) == 'b' || peek(lexer, i) == 'B') {
        *ret_bytes = true;
        i++;
    }
    if (peek(lexer, i) == 'r' || peek(lexer, i) == 'R') {
        *ret_raw = true;
        i++;
    }
    return peek(lexer, i) == '"' || peek(lexer, i) == '\'' ? i : SIZE_MAX;
}

struct cel_token cel_lex(struct cel_lexer *lexer)
{
    for (;;) {
        bool is_bytes, raw;

        skip_space(lexer);
        if (lexer->byte >= lexer->text.n) {
            return (struct cel_token){.kind = TOKEN_EOF, .at = lexer->character, .text = STR("<EOF>")};
        }
        char c = peek(lexer, 0);
        size_t prefix = string_prefix(lexer, &is_bytes, &raw);
        if (prefix != SIZE_MAX) {
            size_t length = string_length(lexer, prefix, raw);

            if (length > 0) {
                return token(lexer, is_bytes ? TOKEN_BYTES : TOKEN_STRING, length);
            }
        }
        if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1)))) {
            enum cel_token_kind kind;
            size_t length = number_length(lexer, &kind);

            return token(lexer, kind, length);
        }
        if (is_letter(c)) {
            return word(lexer);
        }
        if (c == '`') {
            size_t length = 1;

            while (is_letter(peek(lexer, length)) || is_digit(peek(lexer, length)) ||
                   (peek(lexer, length) != '\0' && strchr(".-/ ", peek(lexer, length)) != NULL)) {
                length++;
            }
            if (peek(lexer, length) == '`' && length > 1) {
                return token(lexer, TOKEN_ESC_IDENT, length + 1);
            }
        }
        for (size_t i = 0; i < COUNT_OF(symbols); i++) {
            if (str_has_prefix(str_from(lexer->text, lexer->byte), str_of(symbols[i].text))) {
                return token(lexer, symbols[i].kind, strlen(symbols[i].text));
            }
        }
        unsigned length = utf8_decode(lexer->text, lexer->byte, NULL);
        length = length == 0 ? 1 : length;
        struct str bad = str_sub(lexer->text, lexer->byte, lexer->byte + (prefix != SIZE_MAX ? lexer->text.n : length));
        cel_issue(lexer->arena, lexer->issues, lexer->character, "Syntax error: token recognition error at: '%.*s'", STR_ARG(bad));
        take(lexer, bad.n);
    }
}

static bool take_digits(struct str s, size_t *at, size_t count, unsigned base, uint32_t *ret)
{
    *ret = 0;
    for (; count > 0; count--, (*at)++) {
        char c = *at < s.n ? s.p[*at] : '\0';
        unsigned digit = is_digit(c) ? (unsigned)(c - '0') : is_hex(c) ? (unsigned)((c | 0x20) - 'a') + 10 : 99;

        if (digit >= base) {
            return false;
        }
        *ret = *ret * base + digit;
    }
    return true;
}

static bool unescape(struct str s, size_t *at, bool is_bytes, struct buf *out)
{
    static const char from[] = "abfnrtv\\\"'`?", to[] = "\a\b\f\n\r\t\v\\\"'`?";
    char c = *at < s.n ? s.p[*at] : '\0';
    const char *simple = c != '\0' ? strchr(from, c) : NULL;
    uint32_t rune;
    char text[4];

    if (simple != NULL) {
        buf_add_char(out, to[simple - from]);
        (*at)++;
        return true;
    }
    size_t digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 3;
    *at += digits == 3 ? 0 : 1;
    if (!take_digits(s, at, digits, digits == 3 ? 8 : 16, &rune) || (digits == 3 && rune > 0377) ||
        (is_bytes && digits > 3) || rune > 0x10ffff || (rune >= 0xd800 && rune < 0xe000)) {
        return false;
    }
    if (is_bytes) {
        buf_add_char(out, (char)rune);
    } else {
        buf_add(out, text, utf8_encode(rune, text));
    }
    return true;
}

bool cel_unquote(struct arena *arena, struct str literal, bool is_bytes, struct str *ret)
{
    OWNED(buf_done) struct buf out = {0};
    size_t i = is_bytes ? 1 : 0;
    bool raw = literal.p[i] == 'r' || literal.p[i] == 'R';

    i += raw ? 1 : 0;
    size_t quotes = literal.n >= i + 6 && literal.p[i + 1] == literal.p[i] && literal.p[i + 2] == literal.p[i] ? 3 : 1;
    struct str s = str_sub(literal, i + quotes, literal.n - quotes);
    if (raw || str_index(s, '\\') == SIZE_MAX) {
        *ret = arena_str(arena, s);
        return true;
    }
    for (i = 0; i < s.n;) {
        if (s.p[i] != '\\') {
            buf_add_char(&out, s.p[i++]);
            continue;
        }
        i++;
        if (!unescape(s, &i, is_bytes, &out)) {
            return false;
        }
    }
    *ret = arena_str(arena, buf_str(&out));
    return true;
}
