/* A registry on loopback for tests, that can be made to misbehave. Needs a real event loop. */
#ifndef TESTS_UNIT_RUNTIME_FAKE_REGISTRY_H
#define TESTS_UNIT_RUNTIME_FAKE_REGISTRY_H

#include "base/map.h"
#include "image_maker.h"
#include "net/http_server.h"

enum fake_auth { FAKE_OPEN, FAKE_BASIC, FAKE_BEARER };

struct fake_registry {
    struct arena *arena;
    struct http_server *server;
    int port;
    struct map bodies; /* struct fake_body by "library/nginx/manifests/latest", "blobs/sha256:..." */
    enum fake_auth auth; /* who may: user "me" with password "secret" */
    bool hides_nothing;  /* with FAKE_BEARER: tokens are given to anybody */
    int break_after;     /* bodies of blobs break off after so many bytes; 0: never */
    int fail_with;       /* all answers have this code; 0: no */
    int64_t delay;       /* before each answer */
    /* What was asked. */
    int gets, heads, tokens, ranges, blob_gets;
};

struct fake_body {
    struct str bytes, media_type;
};

void fake_registry_start(struct fake_registry *registry);
/* Parks. */
void fake_registry_stop(struct fake_registry *registry);
void fake_registry_add(struct fake_registry *registry, struct str path, struct str bytes, const char *media_type);
/* All of an image, under the tag and its digest. */
void fake_registry_add_image(struct fake_registry *registry, const struct made_image *image, const char *repository,
                             const char *tag);

#endif
