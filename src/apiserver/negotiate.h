/* Which form an answer takes (Accept) and a body has (Content-Type). Pure. */
#ifndef APISERVER_NEGOTIATE_H
#define APISERVER_NEGOTIATE_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>

enum media { MEDIA_JSON, MEDIA_YAML, MEDIA_PROTOBUF };

/* What the client wants instead of the object itself. */
enum transform {
    TRANSFORM_NONE,
    TRANSFORM_TABLE,
    TRANSFORM_PARTIAL_METADATA,
    TRANSFORM_PARTIAL_METADATA_LIST,
};

struct accepted {
    enum media media;
    enum transform transform;
    struct str transform_version; /* of meta.k8s.io; "v1" or "v1beta1" */
    bool pretty;                  /* asked for in the Accept header */
    /* Discovery documents: the version of apidiscovery.k8s.io wanted; empty: the plain document. */
    struct str discovery_version;
};

enum negotiate_scope {
    NEGOTIATE_RESOURCE,       /* everything above */
    NEGOTIATE_PLAIN,          /* no transforms */
    NEGOTIATE_DISCOVERY,      /* aggregated discovery */
    NEGOTIATE_JSON_ONLY,      /* /version, /openapi/v3: JSON alone */
};

/* NOT_ACCEPTABLE in stock's words when nothing fits. An empty header takes JSON. */
MUST_USE struct status *negotiate_accept(struct str accept, enum negotiate_scope scope, struct accepted *ret);
struct str media_type(enum media media);

/* What a request's body is; UNSUPPORTED_MEDIA_TYPE in stock's words. Empty counts as JSON. */
MUST_USE struct status *negotiate_body(struct str content_type, enum media *ret);

enum patch_type { PATCH_JSON, PATCH_MERGE, PATCH_STRATEGIC, PATCH_APPLY };
MUST_USE struct status *negotiate_patch(struct str content_type, bool strategic_allowed, enum patch_type *ret);

#endif
