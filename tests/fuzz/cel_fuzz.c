/* An expression as a client writes it: parsed, checked, and evaluated on an object with a bit of everything. */
#include "cel/cel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str expression = {(const char *)data, size < 4096 ? size : 4096}, problem;
    struct cel_env *env = cel_env_new();
    struct cel_binding self = {.name = STR("self")};
    struct value *tree;

    if (value_read_json(arena, STR("{\"s\":\"t\\u00e9xt\",\"n\":1,\"l\":[1,null,[]],\"m\":{\"k\":\"v\"},\"d\":2.5,\"b\":true}"), &tree, NULL) != NULL) {
        return 0;
    }
    self.value = cel_val_json(tree, NULL);
    cel_env_variable(env, STR("self"), cel_type_basic(CEL_DYN));
    cel_env_allow_mutation(env);
    struct cel_program *program = cel_compile(env, expression, arena, &problem);
    if (program != NULL) {
        struct cel_result result = cel_eval(program, arena, &self, 1, 20000);

        cel_val_to_json(arena, result.value, &tree);
        cel_val_equal(result.value, result.value);
    }
    cel_program_free(program);
    cel_env_free(env);
    return 0;
}
