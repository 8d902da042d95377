#include "schema/map_of.h"

#include "schema/quantity.h"
#include "tests/test.h"

TEST("schema/map_of/keeps keys sorted, and copies of the map as they were")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str_map map = {0};

    str_map_set(arena, &map, STR("b"), STR("2"));
    str_map_set(arena, &map, STR("c"), STR("3"));
    struct str_map before = map;

    str_map_set(arena, &map, STR("a"), STR("1"));
    CHECK_INT(map.len, 3);
    CHECK_STR(map.items[0].key, "a");
    CHECK_STR(map.items[1].value, "2");
    CHECK_STR(map.items[2].value, "3");
    CHECK_INT(before.len, 2);
    CHECK_STR(before.items[0].key, "b");

    str_map_set(arena, &map, STR("b"), STR("two"));
    CHECK_INT(map.len, 3);
    CHECK_STR(str_map_get(&map, STR("b")), "two");
    CHECK(str_map_get(&map, STR("d")).p == NULL);
    CHECK(str_map_remove(&map, STR("a")) && !str_map_remove(&map, STR("a")));
    CHECK_STR(map.items[0].key, "b");
}

TEST("schema/map_of/sets amounts by key")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct quantity_map map = {0};

    quantity_map_set(arena, &map, STR("memory"), (struct quantity){STR("1Gi")});
    quantity_map_set(arena, &map, STR("cpu"), (struct quantity){STR("1")});
    quantity_map_set(arena, &map, STR("cpu"), (struct quantity){STR("250m")});
    CHECK_INT(map.len, 2);
    CHECK_INT(quantity_milli(*quantity_map_get(&map, STR("cpu"))), 250);
    CHECK_INT(quantity_value(*quantity_map_get(&map, STR("memory"))), 1 << 30);
    CHECK(quantity_map_get(&map, STR("pods")) == NULL);
}
