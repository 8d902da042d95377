#include "apiserver/authn/authn.h"

#include "base/base64.h"

/* "SCHEME rest" with the scheme's case not counting. */
static bool scheme_is(struct str authorization, struct str scheme, struct str *ret_rest)
{
    struct str head, rest;

    str_cut(str_trim(authorization), ' ', &head, &rest);
    if (!str_eq_nocase(head, scheme)) {
        return false;
    }
    *ret_rest = str_trim(rest);
    return true;
}

bool authn_bearer(struct str authorization, struct str *ret_token)
{
    return scheme_is(authorization, STR("bearer"), ret_token) && ret_token->n != 0;
}

bool authn_basic(struct str authorization, struct arena *arena, struct str *ret_name, struct str *ret_password)
{
    struct str encoded, text;

    return scheme_is(authorization, STR("basic"), &encoded) && base64_decode(arena, encoded, &text) &&
           str_cut(text, ':', ret_name, ret_password);
}

struct user *authn_anonymous(struct arena *arena)
{
    struct user *user = ARENA_NEW(arena, struct user);

    user->name = STR(USER_ANONYMOUS);
    str_list_add(arena, &user->groups, STR(GROUP_UNAUTHENTICATED));
    return user;
}
