/* The chain of authenticators that a server has. */
#ifndef APISERVER_AUTHN_AUTHENTICATE_H
#define APISERVER_AUTHN_AUTHENTICATE_H

#include "apiserver/authn/authn.h"
#include "apiserver/request.h"

/* Sets request->user and drops the Authorization header; UNAUTHORIZED in stock's words. May park. */
MUST_USE struct status *authenticate(struct request *request);
/* Who a bearer token stands for. `audiences` empty: those of the server. */
struct authn_token_result authenticate_token(struct apiserver *server, struct str token,
                                             const struct str_list *audiences, struct arena *arena);
/* Acts on the Impersonate- headers: the request goes on as someone else, if the user may do that. */
MUST_USE struct status *authenticate_impersonation(struct request *request);

#endif
