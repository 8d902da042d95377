#include "api/validation/storage.h"

#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "api/validation/pod.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

static const char *const access_modes[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod", NULL};
static const char *const volume_modes[] = {"Block", "Filesystem", NULL};

void check_csi_driver_name(struct status *to, const struct path *at, struct str driver)
{
    enum { DRIVER_NAME_MAX = 63 };

    if (!check_present(to, at, driver)) {
        return;
    }
    if (driver.n > DRIVER_NAME_MAX) {
        check_too_long(to, at, DRIVER_NAME_MAX);
    }
    struct name_errors errors = {0};

    if (!name_is_dns1123_subdomain(lower_case(to->arena, driver), &errors)) {
        for (size_t i = 0; i < errors.len; i++) {
            check_invalid_str(to, at, driver, "%.*s", STR_ARG(errors.items[i]));
        }
    }
}

static void check_access_modes(struct status *to, const struct path *at, const struct str_list *modes)
{
    bool alone = false;

    LIST_EACH(mode, modes) {
        check_one_of(to, at, *mode, access_modes);
        alone |= str_is(*mode, "ReadWriteOncePod");
    }
    if (alone && modes->len > 1) {
        check_forbidden(to, at, "may not use ReadWriteOncePod with other access modes");
    }
}

static void check_positive(struct status *to, const struct path *at, struct quantity amount)
{
    if (quantity_cmp(amount, (struct quantity){STR("0")}) <= 0) {
        check_invalid_str(to, at, amount.text.n != 0 ? amount.text : STR("0"), "must be greater than zero");
    }
}

void check_claim_spec(struct status *to, const struct path *at, const struct core_v1_persistent_volume_claim_spec *spec)
{
    const struct quantity *size = quantity_map_get(&spec->resources.requests, STR("storage"));
    const struct path *storage = KEY(AT(at, "resources"), STR("storage"));

    if (spec->access_modes.len == 0) {
        check_required(to, AT(at, "accessModes"), "at least 1 access mode is required");
    }
    check_label_selector(to, AT(at, "selector"), spec->selector);
    check_access_modes(to, AT(at, "accessModes"), (const struct str_list *)&spec->access_modes);
    if (size == NULL) {
        check_required(to, storage, "%s", "");
    } else {
        check_positive(to, storage, *size);
    }
    if (spec->storage_class_name != NULL && spec->storage_class_name->n > 0) {
        check_name(to, AT(at, "storageClassName"), *spec->storage_class_name, name_is_dns1123_subdomain);
    }
    if (spec->volume_mode != NULL) {
        check_one_of(to, AT(at, "volumeMode"), *spec->volume_mode, volume_modes);
    }
}

void check_claim_template(struct status *to, const struct path *at,
                          const struct core_v1_persistent_volume_claim_template *template)
{
    const struct path *meta = AT(at, "metadata");

    check_labels(to, AT(meta, "labels"), &template->metadata.labels);
    check_annotations(to, AT(meta, "annotations"), &template->metadata.annotations);
    check_claim_spec(to, AT(at, "spec"), &template->spec);
}

void validate_persistent_volume_claim(struct status *to, const void *object)
{
    check_claim_spec(to, AT(NULL, "spec"), &((const struct core_v1_persistent_volume_claim *)object)->spec);
}

static void check_size_change(struct status *to, const struct core_v1_persistent_volume_claim *claim,
                              const struct core_v1_persistent_volume_claim *old)
{
    const struct quantity *now = quantity_map_get(&claim->spec.resources.requests, STR("storage"));
    const struct quantity *before = quantity_map_get(&old->spec.resources.requests, STR("storage"));
    const struct quantity *has = quantity_map_get(&old->status.capacity, STR("storage"));

    if (now == NULL || before == NULL || quantity_cmp(*now, *before) >= 0) {
        return;
    }
    if (has == NULL || quantity_cmp(*now, *has) <= 0) {
        check_forbidden(to, AT(AT(AT(AT(NULL, "spec"), "resources"), "requests"), "storage"),
                        "field can not be less than status.capacity");
    }
}

void validate_persistent_volume_claim_update(struct status *to, const void *object, const void *old_object)
{
    const struct core_v1_persistent_volume_claim *claim = object, *old = old_object;
    struct core_v1_persistent_volume_claim_spec *same =
        schema_copy_shallow(to->arena, &core_v1_persistent_volume_claim_spec_type, &claim->spec);

    validate_persistent_volume_claim(to, object);
    if (old->spec.volume_name.n == 0) { /* binding sets it, once */
        same->volume_name = old->spec.volume_name;
        if (old->spec.storage_class_name == NULL) { /* the default class came later than the claim */
            same->storage_class_name = NULL;
        }
    }
    if (str_is(old->status.phase, "Bound")) {
        const struct quantity *before = quantity_map_get(&old->spec.resources.requests, STR("storage"));

        if (before != NULL && quantity_map_get(&same->resources.requests, STR("storage")) != NULL) {
            quantity_map_set(to->arena, &same->resources.requests, STR("storage"), *before);
        }
        same->volume_attributes_class_name = old->spec.volume_attributes_class_name;
    }
    if (!schema_equal(&core_v1_persistent_volume_claim_spec_type, same, &old->spec)) {
        struct str diff = dump_diff(to->arena, &core_v1_persistent_volume_claim_spec_type, &old->spec, same);

        check_forbidden(to, AT(NULL, "spec"),
                        "spec is immutable after creation except resources.requests and volumeAttributesClassName for "
                        "bound claims\n%.*s",
                        STR_ARG(diff));
    }
    check_size_change(to, claim, old);
    const struct str *now = claim->spec.volume_mode, *before = old->spec.volume_mode;

    if (now != NULL && before != NULL) {
        check_immutable_str(to, AT(NULL, "volumeMode"), *now, *before);
    }
}

/* What of a volume's source: pointers, of which one is set. */
static size_t count_sources(const struct core_v1_persistent_volume_source *source)
{
    const void *const *pointers = (const void *const *)source;
    size_t count = 0;

    for (size_t i = 0; i < sizeof(*source) / sizeof(*pointers); i++) {
        count += pointers[i] != NULL;
    }
    return count;
}

static void check_capacity(struct status *to, const struct path *at, const struct quantity_map *capacity)
{
    static const char *const supported[] = {"storage", NULL};

    if (capacity->len == 0) {
        check_required(to, at, "%s", "");
    }
    if (quantity_map_get(capacity, STR("storage")) == NULL || capacity->len > 1) {
        check_unsupported(to, at, capacity->len == 0 ? STR("") : capacity->items[0].key, supported);
    }
    LIST_EACH(amount, capacity) {
        check_positive(to, KEY(at, amount->key), amount->value);
    }
}

void validate_persistent_volume(struct status *to, const void *object)
{
    static const char *const policies[] = {"Delete", "Recycle", "Retain", NULL};
    const struct core_v1_persistent_volume_spec *spec = &((const struct core_v1_persistent_volume *)object)->spec;
    const struct path *at = AT(NULL, "spec");
    size_t sources = count_sources(&spec->persistent_volume_source);

    if (spec->access_modes.len == 0) {
        check_required(to, AT(at, "accessModes"), "%s", "");
    }
    check_access_modes(to, AT(at, "accessModes"), (const struct str_list *)&spec->access_modes);
    check_capacity(to, AT(at, "capacity"), &spec->capacity);
    if (spec->persistent_volume_reclaim_policy.n > 0) {
        check_one_of(to, AT(at, "persistentVolumeReclaimPolicy"), spec->persistent_volume_reclaim_policy, policies);
    }
    if (spec->node_affinity != NULL) {
        if (spec->node_affinity->required == NULL) {
            check_required(to, AT(AT(at, "nodeAffinity"), "required"), "must specify required node constraints");
        } else {
            check_node_selector(to, AT(AT(at, "nodeAffinity"), "required"), spec->node_affinity->required);
        }
    }
    if (sources == 0) {
        check_required(to, at, "must specify a volume type");
    } else if (sources > 1) {
        check_forbidden(to, at, "may not specify more than 1 volume type");
    }
    const struct core_v1_host_path_volume_source *host_path = spec->persistent_volume_source.host_path;

    if (host_path != NULL && check_present(to, AT(AT(at, "hostPath"), "path"), host_path->path) &&
        str_is(host_path->path, "/") && str_is(spec->persistent_volume_reclaim_policy, "Recycle")) {
        check_forbidden(to, AT(at, "persistentVolumeReclaimPolicy"),
                        "may not be 'recycle' for a hostPath mount of '/'");
    }
    if (spec->storage_class_name.n > 0) {
        check_name(to, AT(at, "storageClassName"), spec->storage_class_name, name_is_dns1123_subdomain);
    }
    if (spec->volume_mode != NULL) {
        check_one_of(to, AT(at, "volumeMode"), *spec->volume_mode, volume_modes);
    }
}

void validate_persistent_volume_update(struct status *to, const void *object, const void *old_object)
{
    const struct core_v1_persistent_volume_spec *spec = &((const struct core_v1_persistent_volume *)object)->spec;
    const struct core_v1_persistent_volume_spec *old = &((const struct core_v1_persistent_volume *)old_object)->spec;
    const struct type *type = &core_v1_persistent_volume_source_type;

    validate_persistent_volume(to, object);
    if (!schema_equal(type, &spec->persistent_volume_source, &old->persistent_volume_source)) {
        struct str diff = dump_diff(to->arena, type, &old->persistent_volume_source, &spec->persistent_volume_source);

        check_forbidden(to, AT(AT(NULL, "spec"), "persistentvolumesource"),
                        "spec.persistentvolumesource is immutable after creation\n%.*s", STR_ARG(diff));
    }
    if (spec->volume_mode != NULL && old->volume_mode != NULL) {
        check_immutable_str(to, AT(NULL, "volumeMode"), *spec->volume_mode, *old->volume_mode);
    }
}
