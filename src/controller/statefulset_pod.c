#include "controller/statefulset_pod.h"

#include "controller/controller_ref.h"
#include "controller/pod_template.h"
#include "controller/revisions.h"
#include "schema/copy.h"
#include "schema/json.h"
#include "schema/map_of.h"
#include "schema/value.h"

#define POD_NAME_LABEL "statefulset.kubernetes.io/pod-name"
#define POD_INDEX_LABEL "apps.kubernetes.io/pod-index"

int32_t statefulset_ordinal_of(const struct apps_v1_stateful_set *set, const struct core_v1_pod *pod)
{
    size_t dash = str_last_index(pod->metadata.name, '-');
    int64_t ordinal;

    if (dash == SIZE_MAX || !str_eq(str_sub(pod->metadata.name, 0, dash), set->metadata.name) ||
        !str_to_i64(str_from(pod->metadata.name, dash + 1), &ordinal) || ordinal < 0 || ordinal > INT32_MAX) {
        return -1;
    }
    return (int32_t)ordinal;
}

struct str statefulset_pod_name(struct arena *arena, const struct apps_v1_stateful_set *set, int32_t ordinal)
{
    return arena_printf(arena, "%.*s-%d", STR_ARG(set->metadata.name), ordinal);
}

static struct str claim_name(struct arena *arena, const struct apps_v1_stateful_set *set,
                             const struct core_v1_persistent_volume_claim *template, int32_t ordinal)
{
    return arena_printf(arena, "%.*s-%.*s-%d", STR_ARG(template->metadata.name), STR_ARG(set->metadata.name), ordinal);
}

static bool is_claimed(const struct apps_v1_stateful_set *set, struct str volume)
{
    LIST_EACH(template, &set->spec.volume_claim_templates)
    {
        if (str_eq(template->metadata.name, volume)) {
            return true;
        }
    }
    return false;
}

/* Volumes of the claims' names are the claims. */
static void set_volumes(struct arena *arena, const struct apps_v1_stateful_set *set, struct core_v1_pod *pod,
                        int32_t ordinal)
{
    __typeof__(pod->spec.volumes) volumes = {0};

    LIST_EACH(template, &set->spec.volume_claim_templates)
    {
        struct core_v1_persistent_volume_claim_volume_source *source =
            ARENA_NEW(arena, struct core_v1_persistent_volume_claim_volume_source);
        struct core_v1_volume *volume = LIST_ADD(arena, &volumes);

        source->claim_name = claim_name(arena, set, template, ordinal);
        volume->name = template->metadata.name;
        volume->volume_source.persistent_volume_claim = source;
    }
    LIST_EACH(volume, &pod->spec.volumes)
    {
        if (!is_claimed(set, volume->name)) {
            *LIST_ADD(arena, &volumes) = *volume;
        }
    }
    pod->spec.volumes.items = volumes.items;
    pod->spec.volumes.len = volumes.len;
}

struct core_v1_pod *statefulset_pod(struct arena *arena, const struct apps_v1_stateful_set *set,
                                    const struct core_v1_pod_template_spec *template, int32_t ordinal,
                                    struct str revision)
{
    struct core_v1_pod *pod = pod_template_pod(arena, template, &apps_v1_stateful_set_kind, set);

    pod->metadata.generate_name = (struct str){0};
    pod->metadata.name = statefulset_pod_name(arena, set, ordinal);
    pod->spec.hostname = pod->metadata.name;
    pod->spec.subdomain = set->spec.service_name;
    str_map_set(arena, &pod->metadata.labels, STR(POD_NAME_LABEL), pod->metadata.name);
    str_map_set(arena, &pod->metadata.labels, STR(POD_INDEX_LABEL), arena_printf(arena, "%d", ordinal));
    str_map_set(arena, &pod->metadata.labels, STR(REVISION_HASH_LABEL), revision);
    set_volumes(arena, set, pod, ordinal);
    return pod;
}

void statefulset_plan_claims(const struct world *world, struct plan *plan, const struct apps_v1_stateful_set *set,
                             int32_t ordinal)
{
    LIST_EACH(template, &set->spec.volume_claim_templates)
    {
        struct str name = claim_name(plan->arena, set, template, ordinal);

        if (world_find_in(world, &core_v1_persistent_volume_claim_kind, set->metadata.namespace, name) != NULL) {
            continue;
        }
        struct core_v1_persistent_volume_claim *claim =
            schema_copy(plan->arena, &core_v1_persistent_volume_claim_type, template);

        claim->metadata.name = name;
        claim->metadata.namespace = set->metadata.namespace;
        LIST_EACH(label, &set->spec.selector->match_labels)
        {
            str_map_set(plan->arena, &claim->metadata.labels, label->key, label->value);
        }
        plan_create(plan, &core_v1_persistent_volume_claim_kind, claim);
        plan_last(plan)->may_exist = true;
    }
}

const struct core_v1_pod_template_spec *statefulset_template_of(struct arena *arena,
                                                                const struct apps_v1_controller_revision *revision)
{
    struct core_v1_pod_template_spec *template = ARENA_NEW(arena, struct core_v1_pod_template_spec);
    struct value *data;
    struct status *status = value_read_json(arena, revision->data.json, &data, NULL);

    if (status == NULL) {
        struct str text = value_json(arena, value_find_path(data, "spec.template"));

        status = json_decode(arena, &core_v1_pod_template_spec_type, text, template, NULL);
    }
    if (status != NULL) {
        status_free(status);
        return NULL;
    }
    return template;
}
