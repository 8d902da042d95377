/* A scheduling plugin: filters nodes that cannot take a pod, scores those that can. Pure; one file each in plugins/.
 * Names, reasons and weights are stock's default profile. */
#ifndef SCHEDULER_PLUGIN_H
#define SCHEDULER_PLUGIN_H

#include "scheduler/snapshot.h"
#include "schema/selectors.h"

enum { SCORE_MAX = 100 };

/* One attempt to place one pod. */
struct attempt {
    const struct pod_info *pod;
    const struct snapshot *snapshot;
    struct node_list nodes;
    struct node_list candidates; /* those that passed all filters; while scoring */
    struct arena *arena;
    void *state; /* what the running plugin's prepare_...() made */
};

enum verdict {
    VERDICT_FITS,
    VERDICT_UNSCHEDULABLE,  /* might fit when pods on the node go */
    VERDICT_UNRESOLVABLE,   /* no removal of pods can help */
};

/* Why a node was rejected: stock's reasons, each counted over all nodes in the FailedScheduling event. */
struct reasons {
    struct str *items;
    size_t len;
};

struct plugin {
    const char *name;
    int weight; /* of its score; 0: does not score */
    /* Compute what filter, or score, asks of all nodes together; NULL: nothing. */
    void *(*prepare_filter)(const struct attempt *attempt);
    void *(*prepare_score)(const struct attempt *attempt);
    enum verdict (*filter)(const struct attempt *attempt, const struct node_info *node, struct reasons *ret);
    /* Raw score; any range when there is a normalize, else 0 to SCORE_MAX. */
    int64_t (*score)(const struct attempt *attempt, const struct node_info *node);
    /* Brings raw scores of the candidates into 0 to SCORE_MAX. */
    void (*normalize)(const struct attempt *attempt, int64_t *scores, size_t count);
};

void reasons_add(struct arena *arena, struct reasons *reasons, struct str reason);
/* Scales so that the largest becomes SCORE_MAX; with `reverse` large raw scores become small. */
void scores_normalize(int64_t *scores, size_t count, bool reverse);

extern const struct plugin node_unschedulable_plugin;
extern const struct plugin node_name_plugin;
extern const struct plugin taint_toleration_plugin;
extern const struct plugin node_affinity_plugin;
extern const struct plugin node_ports_plugin;
extern const struct plugin node_resources_fit_plugin;
extern const struct plugin node_resources_balanced_plugin;
extern const struct plugin image_locality_plugin;
extern const struct plugin pod_topology_spread_plugin;
extern const struct plugin inter_pod_affinity_plugin;

/* All of the default profile, in filter order. */
extern const struct plugin *const plugins_default[];
extern const size_t plugins_default_count;

/* What selects nothing when it is absent or (which the API server does not let through) can't be read. */
struct label_selector plugin_selector(struct arena *arena, const struct meta_v1_label_selector *from);

#endif
