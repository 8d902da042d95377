/* What registries and archives send: manifests, configurations, references, challenges, tokens, registries.yaml. */
#include "runtime/images/challenge.h"
#include "runtime/images/image_config.h"
#include "runtime/images/manifest.h"
#include "runtime/images/registries.h"
#include "schema/image_reference.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_so)
{
    if (!is_so) {
        abort();
    }
}

static void fuzz_manifest(struct arena *arena, struct str text)
{
    struct manifest manifest;
    struct status *bad = manifest_decode(arena, text, STR(""), &manifest);

    if (bad == NULL && manifest.is_index) {
        const struct descriptor *chosen = manifest_choose(&manifest, platform_host());

        check(chosen == NULL || chosen->size >= 0);
    }
    status_free(bad);
}

static void fuzz_reference(struct arena *arena, struct str text)
{
    struct image_reference reference, again;
    struct status *bad = image_reference_parse(arena, text, &reference);

    if (bad == NULL) { /* what was understood must mean the same when it is written out */
        struct str whole = image_reference_text(arena, &reference);

        check(image_reference_parse(arena, whole, &again) == NULL);
        check(str_eq(image_reference_text(arena, &again), whole));
    }
    status_free(bad);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str text = {(const char *)data, size}, token;
    struct image_config config;
    struct challenge challenge = {0};
    struct registries registries;
    struct registry_endpoints endpoints;

    fuzz_manifest(arena, text);
    fuzz_reference(arena, text);
    status_free(image_config_decode(arena, text, &config));
    challenge_read(arena, text, &challenge);
    status_free(challenge_token(arena, text, &token));
    struct status *bad = registries_decode(arena, text, &registries);

    if (bad == NULL) {
        registries_endpoints(&registries, arena, STR("docker.io"), &endpoints);
        check(endpoints.len > 0);
    }
    status_free(bad);
    return 0;
}
