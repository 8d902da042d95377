/* A JSONPath template as people write it, on a tree with a bit of everything; and columns made of it. */
#include "kubectl/json_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf out = {0};
    struct str template = {(const char *)data, size < 4096 ? size : 4096}, relaxed;
    struct value *tree;

    if (value_read_json(arena, STR("{\"items\":[{\"a\":\"x\",\"n\":1,\"l\":{\"k\":\"v\"}},{\"a\":\"y\",\"n\":2.5,\"b\":true},"
                                   "[1,null,[]]],\"kind\":\"List\"}"),
                        &tree, NULL) != NULL) {
        return 0;
    }
    status_free(json_path_print(arena, template, tree, true, &out));
    status_free(json_path_print_json(arena, template, tree, &out));
    struct status *bad = json_path_relaxed(arena, template, &relaxed);

    if (bad == NULL) {
        struct json_path_results found;

        status_free(json_path_find(arena, relaxed, tree, &found));
    }
    status_free(bad);
    return 0;
}
