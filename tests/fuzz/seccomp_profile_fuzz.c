/* Seccomp profiles come from files that a pod names. */
#include "runtime/seccomp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct seccomp_profile profile = {0};
    struct status *status =
        seccomp_profile_decode(arena, (struct str){(const char *)data, size}, UINT64_C(0xa80425fb), &profile);

    if (status == NULL && profile.rules.len < 64) {
        struct str filter;

        status = seccomp_filter_make(&profile, arena, &filter);
    }
    status_free(status);
    return 0;
}
