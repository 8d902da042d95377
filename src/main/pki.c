#include "main/pki.h"

#include "base/env.h"
#include "base/file.h"
#include "net/certificate.h"

#include <arpa/inet.h>

#define DAY (24 * 3600 * ENV_SECOND)
#define CA_LIFE (3650 * DAY)
#define LIFE (365 * DAY)
#define RENEW_BEFORE (90 * DAY)
/* Clocks of nodes differ a little. */
#define BACKDATE (300 * ENV_SECOND)

enum { PEM_MAX = 65536 };

/* What is being worked with in one pki_ensure(). */
struct pass {
    const struct pki_options *options;
    struct arena *arena;
    struct str ca_pem;
    struct crypto_key *ca_key;
};

static void keyp(struct crypto_key **key)
{
    crypto_key_free(*key);
}

struct str pki_path(struct arena *arena, const char *directory, const char *name)
{
    return arena_printf(arena, "%s/%s", directory, name);
}

struct status *pki_read(struct arena *arena, const char *directory, const char *name, struct str *ret)
{
    return file_read(arena, pki_path(arena, directory, name).p, PEM_MAX, ret);
}

static struct status *put(struct pass *pass, const char *name, const char *suffix, struct str content, mode_t mode)
{
    struct str path = arena_printf(pass->arena, "%s/%s%s", pass->options->directory, name, suffix);

    return file_write(path.p, content, mode);
}

static struct status *ensure_ca(struct pass *pass)
{
    struct str key_pem;
    struct status *status = pki_read(pass->arena, pass->options->directory, "ca.crt", &pass->ca_pem);

    if (status == NULL) {
        TRY(pki_read(pass->arena, pass->options->directory, "ca.key", &key_pem));
        return crypto_key_parse(key_pem, &pass->ca_key);
    }
    if (!status_free_if(&status, STATUS_NOT_FOUND)) {
        return status;
    }
    struct certificate_options options = {
        .subject.common_name = STR("kubernetes"),
        .is_ca = true,
        .not_before = env_wall() - BACKDATE,
        .not_after = env_wall() + CA_LIFE,
    };

    TRY(crypto_key_generate(CRYPTO_ECDSA_P256, &pass->ca_key));
    TRY(certificate_make_ca(pass->ca_key, &options, pass->arena, &pass->ca_pem));
    TRY(put(pass, "ca", ".key", crypto_key_pem(pass->arena, pass->ca_key), 0600));
    return put(pass, "ca", ".crt", pass->ca_pem, 0644); /* last: with it the pair counts as made */
}

static struct status *ensure_service_account_key(struct pass *pass)
{
    OWNED(keyp) struct crypto_key *key = NULL;

    if (file_exists(pki_path(pass->arena, pass->options->directory, "sa.pub").p)) {
        return NULL;
    }
    TRY(crypto_key_generate(CRYPTO_ECDSA_P256, &key));
    TRY(put(pass, "sa", ".key", crypto_key_pem(pass->arena, key), 0600));
    return put(pass, "sa", ".pub", crypto_key_public_pem(pass->arena, key), 0644);
}

static bool list_has(const struct str_list *list, struct str wanted)
{
    LIST_EACH(item, list)
    {
        if (str_eq(*item, wanted)) {
            return true;
        }
    }
    return false;
}

static bool has_all(const struct str_list *list, const struct str_list *wanted)
{
    LIST_EACH(item, wanted)
    {
        if (!list_has(list, *item)) {
            return false;
        }
    }
    return true;
}

/* There is a certificate of this CA for this subject with enough life left. */
static bool is_good(struct pass *pass, const char *name, const struct certificate_options *wanted)
{
    struct str pem;
    struct certificate have;
    struct str file = arena_printf(pass->arena, "%s.crt", name);
    struct status *status = pki_read(pass->arena, pass->options->directory, file.p, &pem);

    if (status == NULL) {
        status = certificate_parse(pem, pass->arena, &have);
    }
    if (status == NULL) {
        status = certificate_verify(pem, NULL, pass->ca_pem, wanted->usages, env_wall() + RENEW_BEFORE);
    }
    if (status != NULL) {
        status_free(status);
        return false;
    }
    return str_eq(have.subject.common_name, wanted->subject.common_name) &&
           has_all(&have.subject.dns_names, &wanted->subject.dns_names) &&
           has_all(&have.subject.ips, &wanted->subject.ips) &&
           file_exists(arena_printf(pass->arena, "%s/%s.key", pass->options->directory, name).p);
}

static struct status *ensure_certificate(struct pass *pass, const char *name, struct certificate_options *options)
{
    OWNED(keyp) struct crypto_key *key = NULL;
    struct str pem;

    if (is_good(pass, name, options)) {
        return NULL;
    }
    options->not_before = env_wall() - BACKDATE;
    options->not_after = env_wall() + LIFE;
    TRY(crypto_key_generate(CRYPTO_ECDSA_P256, &key));
    TRY(certificate_make(key, options, pass->ca_pem, pass->ca_key, pass->arena, &pem));
    TRY(put(pass, name, ".key", crypto_key_pem(pass->arena, key), 0600));
    return put(pass, name, ".crt", pem, 0644);
}

static struct status *ensure_client(struct pass *pass, const char *name, struct str user, struct str group)
{
    struct certificate_options options = {.subject.common_name = user, .usages = CERTIFICATE_CLIENT};

    if (group.n > 0) {
        *LIST_ADD(pass->arena, &options.subject.organizations) = group;
    }
    return ensure_certificate(pass, name, &options);
}

/* Each name goes where it belongs: IP addresses and DNS names are different things in a certificate. */
static void add_names(struct pass *pass, struct certificate_subject *subject, const struct str_list *names)
{
    unsigned char address[16];

    LIST_EACH(name, names)
    {
        const char *text = arena_cstr(pass->arena, *name);

        if (inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1) {
            *LIST_ADD(pass->arena, &subject->ips) = *name;
        } else {
            *LIST_ADD(pass->arena, &subject->dns_names) = *name;
        }
    }
}

static struct status *ensure_serving(struct pass *pass, const char *name, struct str user, struct str group,
                                     const struct str_list *names)
{
    static struct str usual[] = {STR_INIT("localhost"), STR_INIT("127.0.0.1")};
    struct str_list usual_list = {usual, COUNT_OF(usual)};
    struct certificate_options options = {.subject.common_name = user, .usages = CERTIFICATE_SERVER};

    if (group.n > 0) {
        *LIST_ADD(pass->arena, &options.subject.organizations) = group;
    }
    add_names(pass, &options.subject, &usual_list);
    add_names(pass, &options.subject, names);
    return ensure_certificate(pass, name, &options);
}

static struct status *ensure_all(struct pass *pass)
{
    const struct pki_options *options = pass->options;
    struct str node_user = arena_printf(pass->arena, "system:node:%.*s", STR_ARG(options->node_name));

    TRY(ensure_ca(pass));
    TRY(ensure_service_account_key(pass));
    TRY(ensure_serving(pass, "apiserver", STR("kube-apiserver"), STR(""), &options->server_names));
    TRY(ensure_client(pass, "admin", STR("kubernetes-admin"), STR("system:masters")));
    TRY(ensure_client(pass, "controller-manager", STR("system:kube-controller-manager"), STR("")));
    TRY(ensure_client(pass, "scheduler", STR("system:kube-scheduler"), STR("")));
    TRY(ensure_client(pass, "apiserver-kubelet-client", STR("kube-apiserver-kubelet-client"), STR("system:masters")));
    if (!options->has_node) {
        return NULL;
    }
    TRY(ensure_client(pass, "kubelet", node_user, STR("system:nodes")));
    return ensure_serving(pass, "kubelet-serving", node_user, STR("system:nodes"), &options->node_names);
}

struct status *pki_ensure(const struct pki_options *options)
{
    struct pass pass = {.options = options, .arena = arena_new()};
    struct status *status = file_make_directories(options->directory, 0755);

    if (status == NULL) {
        status = ensure_all(&pass);
    }
    crypto_key_free(pass.ca_key);
    arena_free(pass.arena);
    return status_while(status, "keys and certificates in %s", options->directory);
}
