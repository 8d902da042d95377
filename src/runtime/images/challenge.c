#include "runtime/images/challenge.h"

#include "schema/value.h"

static bool is_token(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == '~' || c == '+' || c == '/' || c == '!' || c == '#' || c == '$' || c == '*';
}

static void skip(struct str *rest, const char *spaces)
{
    while (rest->n > 0 && str_index(str_of(spaces), rest->p[0]) != SIZE_MAX) {
        *rest = str_from(*rest, 1);
    }
}

static struct str take_token(struct str *rest)
{
    size_t n = 0;

    while (n < rest->n && is_token(rest->p[n])) {
        n++;
    }
    struct str token = str_sub(*rest, 0, n);

    *rest = str_from(*rest, n);
    return token;
}

/* A token or a quoted string. */
static struct str take_value(struct arena *arena, struct str *rest)
{
    if (rest->n == 0 || rest->p[0] != '"') {
        return take_token(rest);
    }
    char *text = arena_alloc(arena, rest->n + 1);
    size_t n = 0, i = 1;

    for (; i < rest->n && rest->p[i] != '"'; i++) {
        i += rest->p[i] == '\\' && i + 1 < rest->n;
        text[n++] = rest->p[i];
    }
    *rest = str_from(*rest, i + 1);
    return (struct str){text, n};
}

static void set_parameter(struct challenge *challenge, struct str name, struct str value)
{
    if (str_eq_nocase(name, STR("realm"))) {
        challenge->realm = value;
    } else if (str_eq_nocase(name, STR("service"))) {
        challenge->service = value;
    } else if (str_eq_nocase(name, STR("scope"))) {
        challenge->scope = value;
    } else if (str_eq_nocase(name, STR("error"))) {
        challenge->error = value;
    }
}

void challenge_read(struct arena *arena, struct str header, struct challenge *challenge)
{
    bool is_bearer = false;

    for (struct str rest = header;;) {
        skip(&rest, " \t,");
        struct str word = take_token(&rest);

        if (word.n == 0) {
            return; /* the end, or nothing that belongs here */
        }
        skip(&rest, " \t");
        if (rest.n > 0 && rest.p[0] == '=') { /* a parameter of the scheme before */
            rest = str_from(rest, 1);
            skip(&rest, " \t");
            struct str value = take_value(arena, &rest);

            if (is_bearer) {
                set_parameter(challenge, word, value);
            }
            continue;
        }
        is_bearer = str_eq_nocase(word, STR("Bearer"));
        challenge->wants_bearer = challenge->wants_bearer || is_bearer;
        challenge->wants_basic = challenge->wants_basic || str_eq_nocase(word, STR("Basic"));
    }
}

struct status *challenge_token(struct arena *arena, struct str json, struct str *ret)
{
    struct value *root;

    TRY(value_read_json(arena, json, &root, NULL));
    struct str token = value_str(value_find(root, STR("token")));

    token = token.n > 0 ? token : value_str(value_find(root, STR("access_token")));
    for (size_t i = 0; i < token.n; i++) {
        if (token.p[i] <= ' ' || token.p[i] >= 127) {
            return status_new(STATUS_BAD_REQUEST, "the token server's token can't be sent in a header");
        }
    }
    if (token.n == 0) {
        return status_new(STATUS_BAD_REQUEST, "the token server's answer holds no token");
    }
    *ret = token;
    return NULL;
}
