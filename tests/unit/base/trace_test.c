#include "base/trace_rings.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void remove_ring(const char *directory, const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    unlink(path);
}

static size_t count(const char *directory, struct arena *arena, struct str uid)
{
    struct trace_wanted wanted = {0};
    struct trace_span_list spans;

    if (uid.n > 0) {
        *LIST_ADD(arena, &wanted.uids) = uid;
    }
    CHECK_OK(trace_rings_read(directory, &wanted, arena, &spans));
    return spans.len;
}

TEST("base/trace/finds what was recorded, of one object or of all")
{
    char directory[] = "/tmp/c8s-trace-XXXXXX";
    struct trace_wanted wanted = {0};
    struct trace_span_list spans;
    struct arena *arena = arena_new();

    CHECK(mkdtemp(directory) != NULL);
    CHECK_OK(trace_open(directory, "one"));
    trace_emit(&(struct trace_span){.step = TRACE_PREDICATES, .start = 20, .end = 30, .uid = STR("b")});
    trace_emit(&(struct trace_span){.step = TRACE_POD_QUEUED, .outcome = TRACE_FAILED, .start = 10, .end = 11, .uid = STR("a"),
                                    .trace_id = STR("0123"), .detail = STR("why")});
    CHECK_OK(trace_open(directory, "two"));
    trace_emit(&(struct trace_span){.step = TRACE_POD_OBSERVED, .start = 15, .end = 16, .uid = STR("a")});

    CHECK_INT(count(directory, arena, STR("")), 3);
    CHECK_INT(count(directory, arena, STR("a")), 2);
    CHECK_INT(count(directory, arena, STR("c")), 0);
    *LIST_ADD(arena, &wanted.uids) = STR("a");
    CHECK_OK(trace_rings_read(directory, &wanted, arena, &spans));
    CHECK_INT(spans.items[0].step, TRACE_POD_QUEUED);
    CHECK_INT(spans.items[0].outcome, TRACE_FAILED);
    CHECK_STR(spans.items[0].trace_id, "0123");
    CHECK_STR(spans.items[0].detail, "why");
    CHECK_INT(spans.items[1].step, TRACE_POD_OBSERVED);

    remove_ring(directory, "one.ring");
    remove_ring(directory, "two.ring");
    rmdir(directory);
    arena_free(arena);
}

TEST("base/trace/keeps the latest when the ring is full, and goes on after a restart")
{
    char directory[] = "/tmp/c8s-trace-XXXXXX";
    struct arena *arena = arena_new();

    CHECK(mkdtemp(directory) != NULL);
    CHECK_OK(trace_open(directory, "one"));
    for (int i = 0; i < TRACE_RING_RECORDS + 5; i++) {
        trace_emit(&(struct trace_span){.step = TRACE_PREDICATES, .start = i, .end = i, .uid = i < 5 ? STR("old") : STR("new")});
    }
    CHECK_INT(count(directory, arena, STR("old")), 0);
    CHECK_INT(count(directory, arena, STR("new")), TRACE_RING_RECORDS);
    CHECK_OK(trace_open(directory, "one"));
    trace_emit(&(struct trace_span){.step = TRACE_PREDICATES, .uid = STR("newest")});
    CHECK_INT(count(directory, arena, STR("new")), TRACE_RING_RECORDS - 1);
    CHECK_INT(count(directory, arena, STR("newest")), 1);
    remove_ring(directory, "one.ring");
    rmdir(directory);
    arena_free(arena);
}

TEST("base/trace/leaves out files that are no rings")
{
    char directory[] = "/tmp/c8s-trace-XXXXXX";
    char path[64];
    struct arena *arena = arena_new();

    CHECK(mkdtemp(directory) != NULL);
    snprintf(path, sizeof(path), "%s/x.ring", directory);
    FILE *file = fopen(path, "w");

    CHECK(file != NULL);
    fputs("no ring", file);
    fclose(file);
    CHECK_INT(count(directory, arena, STR("")), 0);
    CHECK(truncate(path, TRACE_RING_BYTES) == 0);
    CHECK_INT(count(directory, arena, STR("")), 0);
    unlink(path);
    rmdir(directory);
    struct trace_span_list spans;

    CHECK_ERROR(trace_rings_read(directory, &(struct trace_wanted){0}, arena, &spans), "reading trace directory");
    arena_free(arena);
}
