#include "apiserver/registry/kinds.h"

#include "api/apps_v1.h"
#include "api/batch_v1.h"
#include "api/certificates_v1.h"
#include "api/core_v1.h"
#include "api/discovery_v1.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/timestamp.h"

#include <string.h>

void persistent_volume_create(struct request *request, void *object)
{
    struct core_v1_persistent_volume *volume = object;

    volume->status.phase = CORE_V1_VOLUME_PENDING;
    volume->status.last_phase_transition_time = ARENA_NEW(request->arena, struct timestamp);
    *volume->status.last_phase_transition_time = timestamp_now();
}

/* The older field for a claim's source and the newer one say the same. */
static void take_data_source(struct arena *arena, struct core_v1_persistent_volume_claim_spec *spec)
{
    if (spec->data_source != NULL && spec->data_source_ref == NULL) {
        spec->data_source_ref = ARENA_NEW(arena, struct core_v1_typed_object_reference);
        spec->data_source_ref->api_group = spec->data_source->api_group;
        spec->data_source_ref->kind = spec->data_source->kind;
        spec->data_source_ref->name = spec->data_source->name;
    } else if (spec->data_source == NULL && spec->data_source_ref != NULL && spec->data_source_ref->namespace == NULL) {
        spec->data_source = ARENA_NEW(arena, struct core_v1_typed_local_object_reference);
        spec->data_source->api_group = spec->data_source_ref->api_group;
        spec->data_source->kind = spec->data_source_ref->kind;
        spec->data_source->name = spec->data_source_ref->name;
    }
}

void persistent_volume_claim_create(struct request *request, void *object)
{
    struct core_v1_persistent_volume_claim *claim = object;

    claim->status.phase = CORE_V1_CLAIM_PENDING;
    take_data_source(request->arena, &claim->spec);
}

/* stringData is for writing only: it goes into data. */
void secret_fold(struct arena *arena, struct core_v1_secret *secret)
{
    if (secret->string_data.len == 0) {
        return;
    }
    secret->data = str_map_copy(arena, &secret->data);
    LIST_EACH(entry, &secret->string_data) {
        str_map_set(arena, &secret->data, entry->key, entry->value);
    }
    secret->string_data = (struct str_map){0};
}

void secret_update(struct request *request, void *object, const void *old)
{
    struct core_v1_secret *secret = object;
    const struct core_v1_secret *before = old;

    if (secret->type.n == 0) {
        secret->type = before->type;
    }
}

/* Server-side counters of templates that old clients still show. */
void daemon_set_create(struct request *request, void *object)
{
    struct apps_v1_daemon_set *set = object;

    str_map_set(request->arena, &set->metadata.annotations, STR("deprecated.daemonset.template.generation"), STR("1"));
}

void daemon_set_update(struct request *request, void *object, const void *old)
{
    struct apps_v1_daemon_set *set = object;
    const struct apps_v1_daemon_set *before = old;
    struct str key = STR("deprecated.daemonset.template.generation");
    int64_t generation = 0;

    str_to_i64(str_map_get(&before->metadata.annotations, key), &generation);
    if (!schema_equal(&core_v1_pod_template_spec_type, &set->spec.template, &before->spec.template)) {
        generation++;
    }
    set->metadata.annotations = str_map_copy(request->arena, &set->metadata.annotations);
    str_map_set(request->arena, &set->metadata.annotations, key,
                arena_printf(request->arena, "%lld", (long long)generation));
}

/* A Job without a selector of its own selects by its uid. */
static void generate_selector(struct arena *arena, struct batch_v1_job *job)
{
    struct str_map *labels = &job->spec.template.metadata.labels;

    if (job->spec.manual_selector != NULL && *job->spec.manual_selector) {
        return;
    }
    *labels = str_map_copy(arena, labels);
    for (size_t i = 0; i < 2; i++) {
        struct str name_key = i == 0 ? STR("batch.kubernetes.io/job-name") : STR("job-name");
        struct str uid_key = i == 0 ? STR("batch.kubernetes.io/controller-uid") : STR("controller-uid");

        if (!str_map_has(labels, name_key)) {
            str_map_set(arena, labels, name_key, job->metadata.name);
        }
        if (!str_map_has(labels, uid_key)) {
            str_map_set(arena, labels, uid_key, job->metadata.uid);
        }
    }
    if (job->spec.selector == NULL) {
        job->spec.selector = ARENA_NEW(arena, struct meta_v1_label_selector);
    }
    struct str key = STR("batch.kubernetes.io/controller-uid");

    if (!str_map_has(&job->spec.selector->match_labels, key)) {
        str_map_set(arena, &job->spec.selector->match_labels, key, job->metadata.uid);
    }
}

void job_create(struct request *request, void *object)
{
    generate_selector(request->arena, object);
}

/* A default that stock applies to what it has written: no validation sees it. */
struct status *job_label(struct request *request, const struct write_options *options, void *object, const void *old)
{
    struct batch_v1_job *job = object;

    (void)request;
    (void)options;
    if (old == NULL && job->metadata.labels.len == 0) {
        job->metadata.labels = job->spec.template.metadata.labels;
    }
    return NULL;
}

void job_update(struct request *request, void *object, const void *old)
{
}

/* Who asks is recorded, whatever the client says. */
void signing_request_create(struct request *request, void *object)
{
    struct certificates_v1_certificate_signing_request *csr = object;
    const struct user *user = request->user;

    memset(&csr->status, 0, sizeof csr->status);
    csr->spec.username = user->name;
    csr->spec.uid = user->uid;
    csr->spec.groups = user->groups;
    memset(&csr->spec.extra, 0, sizeof csr->spec.extra);
    for (size_t i = 0; i < user->extra.len; i++) {
        struct str_list_entry *entry = LIST_ADD(request->arena, &csr->spec.extra);

        entry->key = user->extra.items[i].key;
        entry->value = user->extra.items[i].values;
    }
}

void signing_request_update(struct request *request, void *object, const void *old)
{
    struct certificates_v1_certificate_signing_request *csr = object;
    const struct certificates_v1_certificate_signing_request *before = old;

    csr->spec = before->spec;
    csr->status = before->status;
}

/* `approval` may decide and nothing else, `status` anything but that. */
void signing_request_update_subresource(struct request *request, struct str subresource, void *object, const void *old)
{
    struct certificates_v1_certificate_signing_request *csr = object;
    const struct certificates_v1_certificate_signing_request *before = old;
    bool approves = str_is(subresource, "approval");
    struct timestamp now = timestamp_now();

    csr->spec = before->spec;
    LIST_EACH(condition, &csr->status.conditions) {
        if (!condition->last_update_time.is_set) {
            condition->last_update_time = now;
        }
        if (!condition->last_transition_time.is_set) {
            condition->last_transition_time = now;
        }
    }
    if (approves) {
        csr->status.certificate = before->status.certificate;
    }
}

/* discovery.k8s.io/v1 has nodeName and zone instead. */
void endpoint_slice_create(struct request *request, void *object)
{
    struct discovery_v1_endpoint_slice *slice = object;

    (void)request;
    LIST_EACH(endpoint, &slice->endpoints) {
        endpoint->deprecated_topology = (struct str_map){0};
    }
}

void endpoint_slice_update(struct request *request, void *object, const void *old)
{
    (void)old;
    endpoint_slice_create(request, object);
}
