/* Tokens of CEL's grammar. For src/cel only. */
#ifndef CEL_LEXER_H
#define CEL_LEXER_H

#include "cel/cel_parts.h"

/* In the order of stock's grammar, by which its messages list what was expected. */
enum cel_token_kind {
    TOKEN_EQ, TOKEN_NE, TOKEN_IN, TOKEN_LT, TOKEN_LE, TOKEN_GE, TOKEN_GT, TOKEN_AND, TOKEN_OR, TOKEN_LBRACKET,
    TOKEN_RBRACKET, TOKEN_LBRACE, TOKEN_RBRACE, TOKEN_LPAREN, TOKEN_RPAREN, TOKEN_DOT, TOKEN_COMMA, TOKEN_MINUS,
    TOKEN_NOT, TOKEN_QUESTION, TOKEN_COLON, TOKEN_PLUS, TOKEN_STAR, TOKEN_SLASH, TOKEN_PERCENT, TOKEN_TRUE,
    TOKEN_FALSE, TOKEN_NULL, TOKEN_FLOAT, TOKEN_INT, TOKEN_UINT, TOKEN_STRING, TOKEN_BYTES, TOKEN_IDENT,
    TOKEN_ESC_IDENT, TOKEN_EOF,
};

struct cel_token {
    enum cel_token_kind kind;
    uint32_t at;
    struct str text;
    bool reserved; /* an identifier that is not to be one */
};

struct cel_lexer {
    struct str text;
    size_t byte;
    uint32_t character;
    struct arena *arena;
    struct cel_issues *issues;
};

struct cel_token cel_lex(struct cel_lexer *lexer);
/* The value of a string or bytes literal, in the arena; false when an escape is wrong. */
bool cel_unquote(struct arena *arena, struct str literal, bool is_bytes, struct str *ret);

#endif
