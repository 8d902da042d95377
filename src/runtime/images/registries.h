/* registries.yaml: mirrors of image registries, their credentials and TLS settings, in the form k3s users know.
 *
 *   mirrors:
 *     docker.io:
 *       endpoint: ["http://127.0.0.1:5000"]
 *   configs:
 *     "127.0.0.1:5000":
 *       auth: {username: u, password: p}          # or auth: base64, identity_token
 *       tls: {ca_file: F, cert_file: F, key_file: F, insecure_skip_verify: false}
 *
 * A mirror named "*" stands in for every registry that has none of its own. A registry itself is asked after its
 * mirrors. Pure; strings are in the arena or borrow from the text. */
#ifndef RUNTIME_IMAGES_REGISTRIES_H
#define RUNTIME_IMAGES_REGISTRIES_H

#include "base/arena.h"
#include "base/status.h"

struct registry_auth {
    struct str username, password;
    struct str identity_token; /* to be exchanged for a token */
    struct str registry_token; /* to be sent as it is */
};

struct registry_tls {
    struct str ca_file, cert_file, key_file;
    bool is_insecure; /* any certificate will do */
};

struct registry_config {
    struct str host; /* "127.0.0.1:5000" */
    struct registry_auth auth;
    struct registry_tls tls;
};

struct registry_mirror {
    struct str registry; /* "docker.io" or "*" */
    struct str_list endpoints;
};

struct registries {
    struct { struct registry_mirror *items; size_t len; } mirrors;
    struct { struct registry_config *items; size_t len; } configs;
};

/* BAD_REQUEST naming the member at fault. Empty text is an empty configuration. */
MUST_USE struct status *registries_decode(struct arena *arena, struct str yaml, struct registries *ret);

/* Where to ask. */
struct registry_endpoint {
    struct str url;       /* "https://registry-1.docker.io/v2", without a slash at the end */
    struct str host;      /* of the URL, with its port when it has one */
    struct str namespace; /* the registry a mirror stands for; empty for the registry itself */
    struct registry_auth auth;
    struct registry_tls tls;
};

struct registry_endpoints {
    struct registry_endpoint *items;
    size_t len;
};

/* The endpoints for a registry ("docker.io"), in the order to be asked. A registry on this machine's loopback is asked
 * without TLS. */
void registries_endpoints(const struct registries *registries, struct arena *arena, struct str registry,
                          struct registry_endpoints *ret);

/* Splits "user:password" in base64, as AuthConfig.auth holds it. False when it is not that. */
bool registry_auth_decode(struct arena *arena, struct str base64, struct registry_auth *ret);

#endif
