#include "controller/deployment_history.h"

#include "base/buf.h"
#include "controller/controller_ref.h"
#include "controller/name_hash.h"
#include "schema/copy.h"
#include "schema/protobuf.h"
#include "schema/map_of.h"
#include "schema/type.h"

#include <stdlib.h>

struct str deployment_history_hash(struct arena *arena, const struct core_v1_pod_template_spec *template,
                                   const int32_t *collision_count)
{
    OWNED(buf_done) struct buf bytes = {0};

    protobuf_encode(&core_v1_pod_template_spec_type, template, &bytes);
    return name_hash(arena, buf_str(&bytes), collision_count);
}

struct apps_v1_replica_set *deployment_history_new_set(struct arena *arena,
                                                       const struct apps_v1_deployment *deployment)
{
    struct apps_v1_replica_set *set = ARENA_NEW(arena, struct apps_v1_replica_set);
    struct str hash =
        deployment_history_hash(arena, &deployment->spec.template, deployment->status.collision_count);

    set->metadata.name = arena_printf(arena, "%.*s-%.*s", STR_ARG(deployment->metadata.name), STR_ARG(hash));
    set->metadata.namespace = deployment->metadata.namespace;
    *LIST_ADD(arena, &set->metadata.owner_references) =
        controller_ref_to(arena, &apps_v1_deployment_kind, (const struct object *)deployment);
    set->spec.replicas = ARENA_NEW(arena, int32_t);
    set->spec.min_ready_seconds = deployment->spec.min_ready_seconds;
    set->spec.selector = schema_copy(arena, &meta_v1_label_selector_type, deployment->spec.selector);
    str_map_set(arena, &set->spec.selector->match_labels, STR(POD_TEMPLATE_HASH), hash);
    struct core_v1_pod_template_spec *template =
        schema_copy(arena, &core_v1_pod_template_spec_type, &deployment->spec.template);

    str_map_set(arena, &template->metadata.labels, STR(POD_TEMPLATE_HASH), hash);
    set->spec.template = *template;
    set->metadata.labels = str_map_copy(arena, &template->metadata.labels);
    return set;
}

bool deployment_history_same_template(const struct apps_v1_replica_set *set,
                                      const struct apps_v1_deployment *deployment, struct arena *arena)
{
    struct core_v1_pod_template_spec a = set->spec.template, b = deployment->spec.template;

    a.metadata.labels = str_map_copy(arena, &a.metadata.labels);
    b.metadata.labels = str_map_copy(arena, &b.metadata.labels);
    str_map_remove(&a.metadata.labels, STR(POD_TEMPLATE_HASH));
    str_map_remove(&b.metadata.labels, STR(POD_TEMPLATE_HASH));
    return schema_equal(&core_v1_pod_template_spec_type, &a, &b);
}

struct str deployment_history_revision_of(const struct meta_v1_object_meta *metadata)
{
    return str_map_get(&metadata->annotations, STR(DEPLOYMENT_REVISION));
}

static int64_t revision_number(const struct apps_v1_replica_set *set)
{
    int64_t revision;

    return str_to_i64(deployment_history_revision_of(&set->metadata), &revision) ? revision : 0;
}

int64_t deployment_history_max_revision(const struct replica_sets *sets)
{
    int64_t max = 0;

    LIST_EACH(set, sets)
    {
        max = MAX(max, revision_number(*set));
    }
    return max;
}

static int by_revision(const void *a, const void *b)
{
    int64_t x = revision_number(*(struct apps_v1_replica_set *const *)a);
    int64_t y = revision_number(*(struct apps_v1_replica_set *const *)b);

    return (x > y) - (x < y);
}

struct replica_sets deployment_history_by_revision(struct arena *arena, const struct replica_sets *sets)
{
    struct replica_sets sorted = {ARENA_ARRAY(arena, struct apps_v1_replica_set *, sets->len), 0};

    LIST_EACH(set, sets)
    {
        sorted.items[sorted.len++] = *set;
    }
    if (sorted.len > 1) {
        qsort(sorted.items, sorted.len, sizeof(*sorted.items), by_revision);
    }
    return sorted;
}

/* Sets an annotation; true when it was not so before. */
static bool annotate(struct arena *arena, struct meta_v1_object_meta *metadata, struct str name, struct str value)
{
    struct str before = str_map_get(&metadata->annotations, name);

    if (before.p != NULL && str_eq(before, value)) {
        return false;
    }
    str_map_set(arena, &metadata->annotations, name, value);
    return true;
}

static bool is_own_annotation(struct str name)
{
    static const char *const own[] = {
        "kubectl.kubernetes.io/last-applied-configuration", DEPLOYMENT_REVISION, DEPLOYMENT_REVISION_HISTORY,
        DEPLOYMENT_DESIRED_REPLICAS, DEPLOYMENT_MAX_REPLICAS, "deprecated.deployment.rollback.to",
    };

    for (size_t i = 0; i < COUNT_OF(own); i++) {
        if (str_is(name, own[i])) {
            return true;
        }
    }
    return false;
}

bool deployment_history_annotate(struct arena *arena, struct meta_v1_object_meta *set,
                                 const struct meta_v1_object_meta *deployment, int64_t revision, bool exists)
{
    bool changed = false;
    struct str before = deployment_history_revision_of(set);
    int64_t number = 0;

    LIST_EACH(pair, &deployment->annotations)
    {
        if (!is_own_annotation(pair->key)) {
            changed |= annotate(arena, set, pair->key, pair->value);
        }
    }
    if (before.n > 0 && !str_to_i64(before, &number)) {
        return changed; /* not ours to mend */
    }
    if (number >= revision) {
        return changed;
    }
    annotate(arena, set, STR(DEPLOYMENT_REVISION), arena_printf(arena, "%lld", (long long)revision));
    if (exists && before.n > 0) {
        struct str history = str_map_get(&set->annotations, STR(DEPLOYMENT_REVISION_HISTORY));

        annotate(arena, set, STR(DEPLOYMENT_REVISION_HISTORY),
                 history.n > 0 ? arena_printf(arena, "%.*s,%.*s", STR_ARG(history), STR_ARG(before)) : before);
    }
    return true;
}

bool deployment_history_annotate_size(struct arena *arena, struct meta_v1_object_meta *set, int32_t desired,
                                      int32_t max)
{
    bool changed = annotate(arena, set, STR(DEPLOYMENT_DESIRED_REPLICAS), arena_printf(arena, "%d", desired));

    return annotate(arena, set, STR(DEPLOYMENT_MAX_REPLICAS), arena_printf(arena, "%d", max)) || changed;
}

static bool number_of(const struct meta_v1_object_meta *metadata, struct str name, int32_t *ret)
{
    int64_t number;

    if (!str_to_i64(str_map_get(&metadata->annotations, name), &number) || number < 0 || number > INT32_MAX) {
        return false;
    }
    *ret = (int32_t)number;
    return true;
}

bool deployment_history_size(const struct meta_v1_object_meta *set, int32_t *ret_desired, int32_t *ret_max)
{
    return (ret_desired == NULL || number_of(set, STR(DEPLOYMENT_DESIRED_REPLICAS), ret_desired)) &&
           (ret_max == NULL || number_of(set, STR(DEPLOYMENT_MAX_REPLICAS), ret_max));
}
