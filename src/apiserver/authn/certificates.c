#include "apiserver/authn/authn.h"

#include "base/map.h"
#include "base/mem.h"
#include "net/certificate.h"

#include <stdlib.h>

/* Clients are few, and a cluster's certificates are renewed once a year; strangers could bring new ones without end. */
enum { CERTIFICATES_MAX = 256 };

struct authn_certificates {
    struct map users; /* by DER -> struct user in `arena` */
    struct arena *arena;
};

struct authn_certificates *authn_certificates_new(void)
{
    struct authn_certificates *certificates = MEM_NEW(struct authn_certificates);

    certificates->arena = arena_new();
    return certificates;
}

void authn_certificates_free(struct authn_certificates *certificates)
{
    if (certificates != NULL) {
        map_done(&certificates->users);
        arena_free(certificates->arena);
        free(certificates);
    }
}

/* A certificate's subject names the user, and its organizations are the groups. */
static struct user *user_of(struct arena *arena, struct str der)
{
    struct certificate certificate;
    struct status *status = certificate_parse(der, arena, &certificate);

    if (status != NULL) {
        status_free(status);
        return NULL;
    }
    struct user *user = ARENA_NEW(arena, struct user);

    user->name = certificate.subject.common_name;
    LIST_EACH(organization, &certificate.subject.organizations) {
        str_list_add(arena, &user->groups, *organization);
    }
    str_list_add(arena, &user->groups, STR(GROUP_AUTHENTICATED));
    user_extra_add(arena, user, STR("authentication.kubernetes.io/credential-id"),
                   arena_printf(arena, "X509SHA256=%.*s", STR_ARG(certificate.fingerprint)));
    return user;
}

struct user *authn_by_certificate(struct authn_certificates *certificates, struct str der, struct arena *arena)
{
    const struct user *known = map_find(&certificates->users, der);

    if (known == NULL) {
        if (certificates->users.count >= CERTIFICATES_MAX) {
            map_done(&certificates->users);
            arena_free(certificates->arena);
            certificates->arena = arena_new();
        }
        struct user *user = user_of(certificates->arena, der);

        if (user == NULL) {
            return NULL;
        }
        map_set(&certificates->users, der, user);
        known = user;
    }
    return user_copy(arena, known);
}
