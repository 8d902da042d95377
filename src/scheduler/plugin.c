#include "scheduler/plugin.h"

#include "base/attr.h"

const struct plugin *const plugins_default[] = {
    &node_unschedulable_plugin, &node_name_plugin,           &taint_toleration_plugin,
    &node_affinity_plugin,      &node_ports_plugin,          &node_resources_fit_plugin,
    &pod_topology_spread_plugin, &inter_pod_affinity_plugin, &node_resources_balanced_plugin,
    &image_locality_plugin,
};
const size_t plugins_default_count = COUNT_OF(plugins_default);

struct label_selector plugin_selector(struct arena *arena, const struct meta_v1_label_selector *from)
{
    struct label_selector selector = {0};
    struct status *status = label_selector_of(arena, from, &selector);

    if (status != NULL) {
        status_free(status);
        selector = (struct label_selector){.nothing = true};
    }
    return selector;
}

void reasons_add(struct arena *arena, struct reasons *reasons, struct str reason)
{
    *LIST_ADD(arena, reasons) = reason;
}

void scores_normalize(int64_t *scores, size_t count, bool reverse)
{
    int64_t most = 0;

    for (size_t i = 0; i < count; i++) {
        most = MAX(most, scores[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (most == 0) {
            scores[i] = reverse ? SCORE_MAX : scores[i];
            continue;
        }
        scores[i] = SCORE_MAX * scores[i] / most;
        scores[i] = reverse ? SCORE_MAX - scores[i] : scores[i];
    }
}
