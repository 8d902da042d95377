#include "base/file.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TEST("base/file/a file that is not synced is whole too, also when its writer dies between the names")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    char directory[] = "/tmp/file-test-XXXXXX";
    struct str content;

    CHECK(mkdtemp(directory) != NULL);
    struct str path = arena_printf(arena, "%s/record", directory), beside = arena_printf(arena, "%s.tmp", path.p);

    CHECK_ERROR(file_read_unsynced(arena, path.p, 100, &content), "record");
    CHECK_OK(file_write_unsynced(path.p, STR("one"), 0600));
    CHECK_OK(file_write_unsynced(path.p, STR("two"), 0600));
    CHECK_OK(file_read_unsynced(arena, path.p, 100, &content));
    CHECK_STR(content, "two");
    CHECK(!file_exists(beside.p));
    CHECK(rename(path.p, beside.p) == 0);
    CHECK_OK(file_read_unsynced(arena, path.p, 100, &content));
    CHECK_STR(content, "two");
    CHECK_OK(file_write_unsynced(path.p, STR("three"), 0600));
    CHECK_OK(file_read_unsynced(arena, path.p, 100, &content));
    CHECK_STR(content, "three");
    CHECK(unlink(path.p) == 0 && rmdir(directory) == 0);
}
