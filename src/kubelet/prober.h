/* Asks something over the network whether it is well: HTTP, TCP, gRPC. The real one dials; the simulation has its
 * own. */
#ifndef KUBELET_PROBER_H
#define KUBELET_PROBER_H

#include "base/arena.h"
#include "base/status.h"
#include "kubelet/probe_state.h"
#include "net/http.h"

struct prober;

struct prober_http {
    bool is_https;     /* the server's certificate is not looked at */
    struct str host;   /* address or name to dial */
    int port;
    struct str path;   /* with its query; begins with / */
    struct str url;    /* as messages show it */
    struct http_headers headers; /* user-agent and accept among them */
    struct str authority;        /* the Host header */
};

/* All park until `deadline` (env_mono) at the latest, and put into *ret_output what an event says of the result. */
struct prober_ops {
    enum probe_result (*http)(struct prober *prober, const struct prober_http *request, int64_t deadline,
                              struct arena *arena, struct str *ret_output);
    enum probe_result (*tcp)(struct prober *prober, struct str host, int port, int64_t deadline, struct arena *arena,
                             struct str *ret_output);
    enum probe_result (*grpc)(struct prober *prober, struct str host, int port, struct str service, int64_t deadline,
                              struct arena *arena, struct str *ret_output);
};

struct prober {
    const struct prober_ops *ops;
};

/* The real one; there is one for all. */
struct prober *net_prober(void);

#endif
