/* Layers and image archives: whatever the bytes are, nothing outside the directory changes and nothing is left. */
#include "runtime/images/image_archive.h"
#include "runtime/images/rooted.h"
#include "runtime/images/tar_reader.h"
#include "runtime/images/unpack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_unpack(struct arena *arena, int fd, const char *directory)
{
    struct str layer = arena_printf(arena, "%s/layer", directory);
    struct unpack_options options = {.directory = layer.p, .bytes_max = 1 << 20, .entries_max = 256};
    struct unpack_result result;

    if (mkdir(layer.p, 0700) != 0) {
        abort();
    }
    status_free(unpack_layer(fd, &options, arena, &result));
    if (rooted_remove(AT_FDCWD, layer.p) != 0) {
        abort();
    }
}

static void fuzz_archive(struct arena *arena, int fd, const char *directory)
{
    struct image_archive archive;
    struct str text;
    struct status *bad = image_archive_read(fd, arena_printf(arena, "%s/scratch", directory), &archive);

    if (bad == NULL) {
        status_free(image_archive_text(&archive, STR("index.json"), &text));
        image_archive_done(&archive);
    }
    status_free(bad);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    char directory[] = "/tmp/c8s-layer-fuzz-XXXXXX";
    int fd = memfd_create("layer", MFD_CLOEXEC);

    if (fd < 0 || mkdtemp(directory) == NULL || write(fd, data, size) != (ssize_t)size) {
        abort();
    }
    lseek(fd, 0, SEEK_SET);
    fuzz_unpack(arena, fd, directory);
    lseek(fd, 0, SEEK_SET);
    fuzz_archive(arena, fd, directory);
    close(fd);
    if (rmdir(directory) != 0) { /* empty: nothing was left, nor written beside */
        abort();
    }
    return 0;
}
