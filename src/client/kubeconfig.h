/* The kubeconfig file: clusters, users, contexts, read with stock's rules, and clients made from them. */
#ifndef CLIENT_KUBECONFIG_H
#define CLIENT_KUBECONFIG_H

#include "client/client.h"

struct value; /* schema/value.h */

/* One context, resolved: everything needed to reach the server. Files named in it have been read. */
struct kubeconfig {
    struct str context, cluster, user; /* names */
    struct str server;                 /* URL */
    struct str namespace;              /* of the context; empty when unset */
    struct str tls_server_name;
    struct str ca_pem, certificate_pem, key_pem;
    struct str token, username, password;
    struct str token_path; /* of a token that may change: read again while the client lives */
    struct str impersonate;
    struct str traceparent; /* for the client's options */
    bool insecure;
    bool is_default; /* nothing was configured: the server is a guess */
};

/* What the command line says over the file; empty fields say nothing. */
struct kubeconfig_overrides {
    struct str path; /* --kubeconfig; else $KUBECONFIG (a list), else ~/.kube/config, else the pod's service account */
    struct str context, cluster, user, server, token, username, password, namespace;
    struct str ca_path, certificate_path, key_path, tls_server_name, impersonate;
    bool insecure;
};

/* The files merged as stock merges them (the first that sets something wins): a Config object whose relative paths have
 * been made absolute. Without any file an empty one. */
MUST_USE struct status *kubeconfig_merge(struct str path, struct arena *arena, struct value **ret_config);
MUST_USE struct status *kubeconfig_load(const struct kubeconfig_overrides *overrides, struct arena *arena,
                                        struct kubeconfig *ret_config);
/* The client of a component: its --kubeconfig and perhaps another server (--master). */
MUST_USE struct status *kubeconfig_client(struct str path, struct str server, struct str user_agent,
                                          struct client **ret_client);
/* A connection to the server it names; nothing is sent yet. */
MUST_USE struct status *kubeconfig_connect(const struct kubeconfig *config, struct str user_agent,
                                           struct client **ret_client);
/* YAML of a kubeconfig with one cluster, user and context, in which certificates are data. */
struct str kubeconfig_format(struct arena *arena, const struct kubeconfig *config);

#endif
