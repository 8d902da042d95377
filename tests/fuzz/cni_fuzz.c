/* What administrators write and plugins print: CNI configurations, results and errors. */
#include "network/cni_conf.h"
#include "network/cni_result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str text = {(const char *)data, size};
    struct cni_conf conf;
    struct cni_result result;
    struct value *tree;

    for (int is_list = 0; is_list < 2; is_list++) {
        struct status *bad = cni_conf_parse(arena, text, is_list, &conf);

        if (bad == NULL) {
            VALUE_EACH_ITEM(plugin, conf.plugins) {
                (void)cni_plugin_input(arena, &conf, *plugin, NULL, value_object(arena));
            }
        }
        status_free(bad);
    }
    struct status *bad = cni_result_parse(arena, text, &result, &tree);

    if (bad == NULL) {
        (void)cni_result_tree(arena, &result, STR("1.0.0"));
    }
    status_free(bad);
    status_free(cni_plugin_failure(STR("x"), "add", 1, text, text));
    return 0;
}
