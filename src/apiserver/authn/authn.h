/* Authentication: who is it? Each authenticator looks at one kind of credential; the chain asks them in stock's order.
 * An authenticator that finds no credential of its kind has no opinion; one that finds a wrong one says so, and the
 * request ends with 401 unless a later one accepts it. */
#ifndef APISERVER_AUTHN_AUTHN_H
#define APISERVER_AUTHN_AUTHN_H

#include "apiserver/user.h"

#include "base/status.h"
#include "net/http.h"

enum authn_verdict {
    AUTHN_NONE,     /* no such credential */
    AUTHN_OK,       /* *ret_user is who it is */
    AUTHN_REJECTED, /* a credential that is not valid */
};

struct authn_token_result {
    enum authn_verdict verdict;
    struct user *user;
    struct str_list audiences; /* those of the token that were asked for, when it has audiences */
    struct str error;         /* why it was rejected, for TokenReview and the log */
};

/* A file of `token,user,uid,"group1,group2"` lines (CSV), or of `password,user,uid,groups` ones. */
struct authn_file;
MUST_USE struct status *authn_file_load(struct str path, struct str what, struct authn_file **ret);
/* The same from text that lies in memory. */
MUST_USE struct status *authn_file_parse(struct str text, struct str path, struct authn_file **ret);
void authn_file_free(struct authn_file *file);
/* Compared in constant time. NULL: no such token. */
struct user *authn_file_by_token(const struct authn_file *file, struct str token, struct arena *arena);
struct user *authn_file_by_password(const struct authn_file *file, struct str name, struct str password,
                                    struct arena *arena);

/* The users of verified client certificates, each read once: reading one costs more than serving a request. */
struct authn_certificates;
struct authn_certificates *authn_certificates_new(void);
/* NULL is fine. */
void authn_certificates_free(struct authn_certificates *certificates);
/* A copy in the arena. NULL: it cannot be read. */
struct user *authn_by_certificate(struct authn_certificates *certificates, struct str der, struct arena *arena);

/* "Authorization: Bearer TOKEN": the token; false when there is none. */
bool authn_bearer(struct str authorization, struct str *ret_token);
/* "Authorization: Basic BASE64": name and password, in the arena. */
bool authn_basic(struct str authorization, struct arena *arena, struct str *ret_name, struct str *ret_password);

struct user *authn_anonymous(struct arena *arena);

#endif
