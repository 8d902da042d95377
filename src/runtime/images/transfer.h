/* HTTP requests to registries, carried by one thread of their own for all of a process: TLS and bodies of gigabytes
 * stay away from the event loop. A body goes to memory, or straight to a file, from where an earlier one broke off. */
#ifndef RUNTIME_IMAGES_TRANSFER_H
#define RUNTIME_IMAGES_TRANSFER_H

#include "base/arena.h"
#include "base/status.h"
#include "runtime/images/registries.h"

#include <stdatomic.h>

struct transfers;

/* Starts no thread before the first transfer. */
struct transfers *transfers_new(void);
/* No transfer may be waited for any more. NULL is fine. Blocks for a moment. */
void transfers_free(struct transfers *transfers);

struct transfer_request {
    const char *method; /* "GET", "HEAD", "POST" */
    struct str url;
    struct str_list headers;      /* "Accept: ..." */
    struct str body;              /* of POST, a form */
    const struct registry_tls *tls;
    int fd;                       /* -1: the body comes in memory; else a file (lent) that a 200 or 206 is written to */
    int64_t offset;               /* so much of the file is there already: ask for the rest */
    int64_t bytes_max;            /* of the body in memory, or of the whole file */
    atomic_llong *received;       /* counts bytes of the body as they come; NULL: nobody looks */
};

struct transfer_response {
    int code; /* 200, 404, ... */
    struct str status_text; /* "404 Not Found" */
    struct str content_type; /* without parameters */
    struct str content_digest; /* Docker-Content-Digest */
    struct str_list challenges; /* values of WWW-Authenticate */
    struct str body; /* in memory; of an error also when `fd` was given */
    int64_t retry_after_seconds;
};

/* Parks until the response is there; redirections are followed. Strings are in the arena. An answer of any code is no
 * error. SERVICE_UNAVAILABLE when the server can't be reached or broke off, with the words of Go's client
 * ("dial tcp: lookup x: no such host"); what was written to the file by then stays. INTERNAL_ERROR when the file can't
 * be written. CANCELLED at once. */
MUST_USE struct status *transfers_run(struct transfers *transfers, struct arena *arena,
                                      const struct transfer_request *request, struct transfer_response *ret);

#endif
