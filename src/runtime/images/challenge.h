/* WWW-Authenticate headers of registries (RFC 9110), and answers of token servers. Pure. */
#ifndef RUNTIME_IMAGES_CHALLENGE_H
#define RUNTIME_IMAGES_CHALLENGE_H

#include "base/arena.h"
#include "base/status.h"

struct challenge {
    bool wants_basic;
    bool wants_bearer;
    struct str realm, service, scope, error; /* of Bearer */
};

/* Adds what one header's value asks for. What can't be understood is skipped. */
void challenge_read(struct arena *arena, struct str header, struct challenge *challenge);

/* The token in a token server's answer. BAD_REQUEST when there is none. */
MUST_USE struct status *challenge_token(struct arena *arena, struct str json, struct str *ret);

#endif
