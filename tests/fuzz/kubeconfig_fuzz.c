/* A kubeconfig as it stands in a file: merged, resolved, and written again when it names a server. */
#include "client/kubeconfig.h"
#include "base/buf.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct kubeconfig config;
    int fd = memfd_create("kubeconfig", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
        return 0;
    }
    struct kubeconfig_overrides overrides = {.path = arena_printf(arena, "/proc/self/fd/%d", fd)};
    struct status *status = kubeconfig_load(&overrides, arena, &config);

    if (status == NULL) {
        (void)kubeconfig_format(arena, &config);
    }
    status_free(status);
    close(fd);
    return 0;
}
