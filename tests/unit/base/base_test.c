#include "test.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

TEST("base/str/cut and next split at separators")
{
    struct str head, tail, item;
    int items = 0;

    CHECK(str_cut(STR("a/b/c"), '/', &head, &tail));
    CHECK_STR(head, "a");
    CHECK_STR(tail, "b/c");
    CHECK(!str_cut(STR("abc"), '/', &head, &tail));
    CHECK_STR(head, "abc");
    for (struct str rest = STR("a,,b"); str_next(&rest, ',', &item);) {
        CHECK_STR(item, items == 0 ? "a" : items == 1 ? "" : "b");
        items++;
    }
    CHECK_INT(items, 3);
}

TEST("base/str/numbers are whole and do not overflow")
{
    int64_t i;
    uint64_t u;

    CHECK(str_to_i64(STR("-9223372036854775808"), &i) && i == INT64_MIN);
    CHECK(!str_to_i64(STR("9223372036854775808"), &i));
    CHECK(str_to_u64(STR("18446744073709551615"), &u) && u == UINT64_MAX);
    CHECK(!str_to_u64(STR("18446744073709551616"), &u));
    CHECK(!str_to_u64(STR("+1"), &u) && !str_to_u64(STR(""), &u) && !str_to_i64(STR("-"), &i));
}

TEST("base/arena/grows, aligns, zeroes, resets")
{
    struct arena *arena = arena_new();

    for (size_t size = 0; size < 200000; size = size * 2 + 1) {
        unsigned char *p = arena_alloc(arena, size);

        CHECK((uintptr_t)p % 16 == 0);
        for (size_t i = 0; i < size; i++) {
            CHECK(p[i] == 0);
        }
        memset(p, 0xff, size);
    }
    arena_reset(arena);
    unsigned char *again = arena_alloc(arena, 100);

    CHECK(again[0] == 0 && again[99] == 0);
    arena_free(arena);
}

TEST("base/arena/LIST_ADD keeps elements")
{
    struct arena *arena = arena_new();
    struct {
        int *items;
        size_t len;
    } list = {0};

    for (int i = 0; i < 1000; i++) {
        *LIST_ADD(arena, &list) = i;
    }
    int expected = 0;

    LIST_EACH(item, &list)
    {
        CHECK_INT(*item, expected++);
    }
    CHECK_INT(expected, 1000);
    arena_free(arena);
}

TEST("base/map/finds, replaces, removes and keeps order")
{
    struct map map = {0};
    char key[16];
    static int values[5000];

    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof(key), "key-%d", i);
        values[i] = i;
        CHECK(map_set(&map, str_of(key), &values[i]) == NULL);
    }
    for (int i = 0; i < 5000; i += 2) {
        snprintf(key, sizeof(key), "key-%d", i);
        CHECK(map_remove(&map, str_of(key)) == &values[i]);
        CHECK(map_find(&map, str_of(key)) == NULL);
    }
    CHECK_INT(map.count, 2500);
    size_t at = 0;
    int expected = 1;

    for (struct map_entry *entry; (entry = map_next(&map, &at)) != NULL; expected += 2) {
        CHECK_INT(*(int *)entry->value, expected);
    }
    CHECK(map_set(&map, STR("key-0"), &values[7]) == NULL);
    CHECK(map_set(&map, STR("key-0"), &values[8]) == &values[7]);
    map_done(&map);
}

TEST("base/buf/adds, prints, consumes")
{
    OWNED(buf_done) struct buf buf = {0};

    for (int i = 0; i < 1000; i++) {
        buf_printf(&buf, "%d,", i % 10);
    }
    CHECK_INT(buf.n, 2000);
    buf_consume(&buf, 1998);
    CHECK(strcmp(buf_cstr(&buf), "9,") == 0);
}

TEST("base/status/keeps reason, details and causes")
{
    struct status *status = status_new(STATUS_INVALID, "x %d", 1);

    status_about(status, STR("apps"), STR("Deployment"), STR("web"));
    status_add_cause(status, STR("FieldValueRequired"), STR("spec.a"), "Required value");
    status = status_while(status, "creating");
    struct status *copy = status_copy(status);

    status_free(status);
    CHECK_STR(copy->message, "creating: x 1");
    CHECK_INT(copy->code, 422);
    CHECK_STR(copy->causes[0].field, "spec.a");
    CHECK(status_reason_of(STR("AlreadyExists")) == STATUS_ALREADY_EXISTS);
    CHECK(!status_free_if(&copy, STATUS_NOT_FOUND));
    CHECK(status_free_if(&copy, STATUS_INVALID) && copy == NULL);
}
