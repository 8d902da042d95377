#include "test.h"

#include "base/mem.h"
#include "base/pmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value {
    int refs;
    int number;
    char key[8];
};

static int live;

static struct str value_key(const void *value)
{
    return str_of(((const struct value *)value)->key);
}

static void value_ref(void *value)
{
    ((struct value *)value)->refs++;
}

static void value_unref(void *value)
{
    if (--((struct value *)value)->refs == 0) {
        live--;
        free(value);
    }
}

static const struct pmap_type type = {value_key, value_ref, value_unref};

static struct value *value_new(int key, int number)
{
    struct value *value = MEM_NEW(struct value);

    value->refs = 1;
    value->number = number;
    snprintf(value->key, sizeof(value->key), "%04d", key);
    live++;
    return value;
}

enum { KEYS = 300 };

/* The map holds exactly what `model` says (0: absent), in order, and its ranks are right. */
static void check_model(const struct pmap *map, const int *model)
{
    struct pmap_walk walk;
    size_t seen = 0;

    pmap_walk(&walk, map, STR(""));
    for (int key = 0; key < KEYS; key++) {
        char text[8];

        snprintf(text, sizeof(text), "%04d", key);
        CHECK_INT(pmap_rank(map, str_of(text)), seen);
        struct value *found = pmap_find(map, str_of(text));

        CHECK((found != NULL) == (model[key] != 0));
        if (found != NULL) {
            CHECK_INT(found->number, model[key]);
            CHECK(pmap_next(&walk) == found);
            seen++;
        }
    }
    CHECK(pmap_next(&walk) == NULL);
    CHECK_INT(pmap_count(map), seen);
}

TEST("base/pmap/random changes match a plain array, and snapshots stay as they were")
{
    struct pmap map = {&type, NULL};
    struct pmap snapshots[8] = {{0}};
    static int model[KEYS], models[8][KEYS];
    uint64_t random = 7;

    for (int step = 1; step <= 4000; step++) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        int key = (int)((random >> 33) % KEYS);

        if ((random >> 20) % 3 == 0) {
            char text[8];

            snprintf(text, sizeof(text), "%04d", key);
            CHECK(pmap_remove(&map, str_of(text)) == (model[key] != 0));
            model[key] = 0;
        } else {
            pmap_set(&map, value_new(key, step));
            model[key] = step;
        }
        if (step % 100 == 0) {
            size_t slot = (size_t)(step / 100) % COUNT_OF(snapshots);

            if (snapshots[slot].type != NULL) {
                check_model(&snapshots[slot], models[slot]);
                pmap_done(&snapshots[slot]);
            }
            snapshots[slot] = pmap_snapshot(&map);
            memcpy(models[slot], model, sizeof(model));
            check_model(&map, model);
        }
    }
    pmap_done(&map);
    for (size_t i = 0; i < COUNT_OF(snapshots); i++) {
        check_model(&snapshots[i], models[i]);
        pmap_done(&snapshots[i]);
    }
    CHECK_INT(live, 0);
}

TEST("base/pmap/ten thousand sorted keys stay shallow enough to walk from anywhere")
{
    struct pmap map = {&type, NULL};

    for (int key = 0; key < 9999; key++) {
        pmap_set(&map, value_new(key, key));
    }
    struct pmap_walk walk;

    pmap_walk(&walk, &map, STR("5000"));
    CHECK(walk.depth < 20);
    for (int key = 5000; key < 9999; key++) {
        CHECK_INT(((struct value *)pmap_next(&walk))->number, key);
    }
    pmap_done(&map);
}
