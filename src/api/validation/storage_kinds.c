/* Kinds of storage.k8s.io, and ControllerRevisions. */
#include "api/apps_v1.h"
#include "api/storage_v1.h"
#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "api/validation/storage.h"
#include "schema/copy.h"
#include "schema/quantity.h"

enum { PARAMETERS_MAX = 512, PARAMETERS_MAX_BYTES = 256 * 1024, TOKEN_SECONDS_MIN = 600, UPDATE_SECONDS_MIN = 10 };

static void check_parameters(struct status *to, const struct path *at, const struct str_map *parameters, bool required)
{
    size_t size = 0;

    if (required && parameters->len == 0) {
        check_required(to, at, "must contain at least one key/value pair");
    }
    if (parameters->len > PARAMETERS_MAX) {
        check_too_long(to, at, PARAMETERS_MAX);
        return;
    }
    LIST_EACH(parameter, parameters) {
        if (parameter->key.n == 0) {
            check_invalid_str(to, at, parameter->key, "field can not be empty.");
        }
        size += parameter->key.n + parameter->value.n;
    }
    if (size > PARAMETERS_MAX_BYTES) {
        check_too_long(to, at, PARAMETERS_MAX_BYTES);
    }
}

static void check_topology(struct status *to, const struct path *at, const struct core_v1_topology_selector_term *term)
{
    LIST_EACH(expression, &term->match_label_expressions) {
        const struct path *one =
            ITEM(AT(at, "matchLabelExpressions"), INDEX_OF(expression, &term->match_label_expressions));
        const struct path *values = AT(one, "values");

        if (expression->values.len == 0) {
            check_required(to, values, "%s", "");
        }
        OWNED(seen_done) struct seen seen = {0};

        for (size_t i = 0; i < expression->values.len; i++) {
            if (seen_before(&seen, expression->values.items[i])) {
                check_duplicate(to, ITEM(values, i), expression->values.items[i]);
            }
        }
        check_name(to, AT(one, "key"), expression->key, name_is_qualified);
    }
}

void validate_storage_class(struct status *to, const void *object)
{
    static const char *const reclaim_policies[] = {"Delete", "Retain", NULL};
    static const char *const binding_modes[] = {"Immediate", "WaitForFirstConsumer", NULL};
    const struct storage_v1_storage_class *class = object;

    if (check_present(to, AT(NULL, "provisioner"), class->provisioner)) {
        check_name(to, AT(NULL, "provisioner"), class->provisioner, name_is_qualified);
    }
    check_parameters(to, AT(NULL, "parameters"), &class->parameters, false);
    if (class->reclaim_policy != NULL) {
        check_one_of(to, AT(NULL, "reclaimPolicy"), *class->reclaim_policy, reclaim_policies);
    }
    if (class->volume_binding_mode == NULL) {
        check_required(to, AT(NULL, "volumeBindingMode"), "%s", "");
    } else {
        check_one_of(to, AT(NULL, "volumeBindingMode"), *class->volume_binding_mode, binding_modes);
    }
    LIST_EACH(term, &class->allowed_topologies) {
        check_topology(to, ITEM(AT(NULL, "allowedTopologies"), INDEX_OF(term, &class->allowed_topologies)), term);
    }
}

/* The field of a struct is as it was. */
static bool is_same(const struct type *type, const char *name, const void *object, const void *old)
{
    const struct field *field = type_field(type, str_of(name));

    return schema_field_equal(field, (const char *)object + field->offset, (const char *)old + field->offset);
}

void validate_storage_class_update(struct status *to, const void *object, const void *old)
{
    static const char *const fields[] = {"parameters", "provisioner", "reclaimPolicy"};

    validate_storage_class(to, object);
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        if (!is_same(&storage_v1_storage_class_type, fields[i], object, old)) {
            check_forbidden(to, AT(NULL, fields[i]), "updates to %s are forbidden.", fields[i]);
        }
    }
    if (!is_same(&storage_v1_storage_class_type, "volumeBindingMode", object, old)) {
        check_invalid_json(to, AT(NULL, "volumeBindingMode"),
                           dump_field(to->arena, &storage_v1_storage_class_type, "volumeBindingMode", object),
                           "field is immutable");
    }
}

static void check_driver_options(struct status *to, const struct path *at,
                                 const struct storage_v1_csi_driver_spec *spec)
{
    static const char *const modes[] = {"Persistent", "Ephemeral", NULL};
    static const char *const policies[] = {"File", "None", "ReadWriteOnceWithFSType", NULL};

    if (spec->attach_required == NULL) {
        check_required(to, AT(at, "attachedRequired"), "%s", "");
    }
    if (spec->pod_info_on_mount == NULL) {
        check_required(to, AT(at, "podInfoOnMount"), "%s", "");
    }
    if (spec->storage_capacity == NULL) {
        check_required(to, AT(at, "storageCapacity"), "%s", "");
    }
    if (spec->fs_group_policy == NULL) {
        check_required(to, AT(at, "fsGroupPolicy"), "%s", "");
    } else {
        check_one_of(to, AT(at, "fsGroupPolicy"), *spec->fs_group_policy, policies);
    }
    LIST_EACH(mode, &spec->volume_lifecycle_modes) {
        check_one_of(to, AT(at, "volumeLifecycleModes"), *mode, modes);
    }
}

void validate_csi_driver(struct status *to, const void *object)
{
    const struct storage_v1_csi_driver *driver = object;
    const struct storage_v1_csi_driver_spec *spec = &driver->spec;
    const struct path *at = AT(NULL, "spec");

    OWNED(seen_done) struct seen audiences = {0};

    check_driver_options(to, at, spec);
    LIST_EACH(request, &spec->token_requests) {
        const struct path *one = ITEM(AT(at, "tokenRequests"), INDEX_OF(request, &spec->token_requests));

        if (seen_before(&audiences, request->audience)) {
            check_duplicate(to, AT(one, "audience"), request->audience);
        }
        if (request->expiration_seconds != NULL && *request->expiration_seconds < TOKEN_SECONDS_MIN) {
            check_invalid_int(to, AT(one, "expirationSeconds"), *request->expiration_seconds,
                              "may not specify a duration less than 10 minutes");
        }
    }
    if (spec->node_allocatable_update_period_seconds != NULL &&
        *spec->node_allocatable_update_period_seconds < UPDATE_SECONDS_MIN) {
        check_invalid_int(to, AT(at, "nodeAllocatableUpdatePeriodSeconds"),
                          *spec->node_allocatable_update_period_seconds, "must be greater than or equal to %d seconds",
                          UPDATE_SECONDS_MIN);
    }
}

void validate_csi_driver_update(struct status *to, const void *object, const void *old)
{
    static const struct {
        const char *field, *shown; /* stock has a name of its own for one */
    } fixed[] = {{"attachRequired", "attachedRequired"}, {"volumeLifecycleModes", "volumeLifecycleModes"}};
    const struct type *type = &storage_v1_csi_driver_spec_type;
    const struct storage_v1_csi_driver_spec *spec = &((const struct storage_v1_csi_driver *)object)->spec;
    const struct storage_v1_csi_driver_spec *before = &((const struct storage_v1_csi_driver *)old)->spec;

    validate_csi_driver(to, object);
    for (size_t i = 0; i < COUNT_OF(fixed); i++) {
        if (!is_same(type, fixed[i].field, spec, before)) {
            check_invalid_json(to, AT(AT(NULL, "spec"), fixed[i].shown),
                               dump_field(to->arena, type, fixed[i].field, spec), "field is immutable");
        }
    }
}

void validate_csi_node(struct status *to, const void *object)
{
    enum { NODE_ID_MAX = 192 };
    const struct storage_v1_csi_node_spec *spec = &((const struct storage_v1_csi_node *)object)->spec;
    const struct path *at = AT(AT(NULL, "spec"), "drivers");

    OWNED(seen_done) struct seen names = {0};

    LIST_EACH(driver, &spec->drivers) {
        const struct path *one = ITEM(at, INDEX_OF(driver, &spec->drivers));

        check_csi_driver_name(to, AT(one, "name"), driver->name);
        if (check_present(to, AT(one, "nodeID"), driver->node_id) && driver->node_id.n > NODE_ID_MAX) {
            check_invalid_str(to, AT(one, "nodeID"), driver->node_id, "must be %d characters or less", NODE_ID_MAX);
        }
        if (driver->allocatable != NULL && driver->allocatable->count != NULL) {
            check_non_negative(to, AT(AT(one, "allocatable"), "count"), *driver->allocatable->count);
        }
        if (seen_before(&names, driver->name)) {
            check_duplicate(to, AT(one, "name"), driver->name);
        }
    }
}

void validate_csi_node_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_csi_node(to, object);
}

static void check_amount(struct status *to, const char *field, const struct quantity *amount)
{
    if (amount != NULL && quantity_cmp(*amount, (struct quantity){STR("0")}) < 0) {
        check_invalid_str(to, AT(NULL, field), amount->text, "must be greater than or equal to 0");
    }
}

void validate_csi_capacity(struct status *to, const void *object)
{
    const struct storage_v1_csi_storage_capacity *capacity = object;

    check_label_selector(to, AT(NULL, "nodeTopology"), capacity->node_topology);
    check_name(to, AT(NULL, "storageClassName"), capacity->storage_class_name, name_is_dns1123_subdomain);
    check_amount(to, "capacity", capacity->capacity);
}

void validate_csi_capacity_update(struct status *to, const void *object, const void *old)
{
    const struct storage_v1_csi_storage_capacity *capacity = object, *before = old;

    validate_csi_capacity(to, object);
    check_immutable_struct(to, AT(NULL, "nodeTopology"), &meta_v1_label_selector_type, capacity->node_topology,
                           before->node_topology);
    check_immutable_str(to, AT(NULL, "storageClassName"), capacity->storage_class_name, before->storage_class_name);
}

void validate_volume_attachment(struct status *to, const void *object)
{
    const struct storage_v1_volume_attachment_spec *spec = &((const struct storage_v1_volume_attachment *)object)->spec;
    const struct storage_v1_volume_attachment_source *source = &spec->source;
    const struct path *at = AT(NULL, "spec"), *volume = AT(AT(at, "source"), "persistentVolumeName");

    check_csi_driver_name(to, AT(at, "attacher"), spec->attacher);
    if ((source->inline_volume_spec == NULL) == (source->persistent_volume_name == NULL)) {
        if (source->inline_volume_spec == NULL) {
            check_required(to, AT(at, "source"),
                           "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
        } else {
            check_forbidden(to, AT(at, "source"),
                            "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
        }
    } else if (source->persistent_volume_name != NULL) {
        check_name(to, volume, *source->persistent_volume_name, name_is_dns1123_subdomain);
    }
    check_name(to, AT(at, "nodeName"), spec->node_name, name_is_dns1123_subdomain);
}

void validate_volume_attachment_update(struct status *to, const void *object, const void *old)
{
    check_immutable_struct(to, AT(NULL, "spec"), &storage_v1_volume_attachment_spec_type,
                           &((const struct storage_v1_volume_attachment *)object)->spec,
                           &((const struct storage_v1_volume_attachment *)old)->spec);
}

void validate_volume_attributes_class(struct status *to, const void *object)
{
    const struct storage_v1_volume_attributes_class *class = object;

    check_csi_driver_name(to, AT(NULL, "driverName"), class->driver_name);
    check_parameters(to, AT(NULL, "parameters"), &class->parameters, true);
}

void validate_volume_attributes_class_update(struct status *to, const void *object, const void *old)
{
    static const char *const fields[] = {"driverName", "parameters"};

    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        if (!is_same(&storage_v1_volume_attributes_class_type, fields[i], object, old)) {
            check_forbidden(to, AT(NULL, fields[i]), "updates to %s are forbidden.", fields[i]);
        }
    }
}

void validate_controller_revision(struct status *to, const void *object)
{
    const struct apps_v1_controller_revision *revision = object;

    check_non_negative(to, AT(NULL, "revision"), revision->revision);
    if (revision->data.json.n == 0 || str_is(revision->data.json, "null")) {
        check_required(to, AT(NULL, "data"), "data is mandatory");
    }
}

void validate_controller_revision_update(struct status *to, const void *object, const void *old)
{
    const struct apps_v1_controller_revision *revision = object;

    validate_controller_revision(to, object);
    if (!is_same(&apps_v1_controller_revision_type, "data", object, old)) {
        check_invalid_json(to, AT(NULL, "data"), revision->data.json, "field is immutable");
    }
}
