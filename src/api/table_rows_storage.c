/* Rows of volumes, their classes and drivers, and of devices. */
#include "api/resource_v1.h"
#include "api/storage_v1.h"
#include "api/table_rows.h"
#include "schema/map_of.h"

static const struct str unset = STR_INIT("<unset>");

/* Each mode once, in a fixed order, in short. */
static void cell_access_modes(struct cells *cells, const struct str_list *modes)
{
    static const struct {
        const char *mode, *text;
    } names[] = {
        {"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"},
    };
    struct str_list texts = {0};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        LIST_EACH(mode, modes) {
            if (str_is(*mode, names[i].mode)) {
                *LIST_ADD(cells->arena, &texts) = str_of(names[i].text);
                break;
            }
        }
    }
    cell_str(cells, join_strings(cells->arena, &texts, ","));
}

/* The class by the old annotation, else by the field. */
static void cell_storage_class(struct cells *cells, const void *object, struct str class)
{
    const struct str key = STR("volume.beta.kubernetes.io/storage-class");
    const struct str_map *annotations = &((const struct object *)object)->metadata.annotations;

    cell_str(cells, str_map_has(annotations, key) ? str_map_get(annotations, key) : class);
}

static struct str phase_of(const void *object, struct str phase)
{
    return ((const struct object *)object)->metadata.deletion_timestamp != NULL ? STR("Terminating") : phase;
}

void row_pv(struct cells *cells, const void *object)
{
    const struct core_v1_persistent_volume *volume = object;
    const struct core_v1_object_reference *claim = volume->spec.claim_ref;

    cell_name(cells, object);
    cell_str(cells, amount_text(quantity_map_get(&volume->spec.capacity, STR("storage"))));
    cell_access_modes(cells, &volume->spec.access_modes);
    cell_str(cells, volume->spec.persistent_volume_reclaim_policy);
    cell_str(cells, phase_of(object, volume->status.phase));
    if (claim != NULL) {
        cell_printf(cells, "%.*s/%.*s", STR_ARG(claim->namespace), STR_ARG(claim->name));
    } else {
        cell_str(cells, STR(""));
    }
    cell_storage_class(cells, object, volume->spec.storage_class_name);
    cell_ptr_or(cells, volume->spec.volume_attributes_class_name, unset);
    cell_str(cells, volume->status.reason);
    cell_object_age(cells, object);
    cell_ptr_or(cells, volume->spec.volume_mode, unset);
}

void row_pvc(struct cells *cells, const void *object)
{
    const struct core_v1_persistent_volume_claim *claim = object;
    const struct core_v1_persistent_volume_claim_spec *spec = &claim->spec;
    bool bound = spec->volume_name.n > 0;
    const struct str_list no_modes = {0};

    cell_name(cells, object);
    cell_str(cells, phase_of(object, claim->status.phase));
    cell_str(cells, spec->volume_name);
    cell_str(cells, bound ? amount_text(quantity_map_get(&claim->status.capacity, STR("storage"))) : STR(""));
    cell_access_modes(cells, bound ? &claim->status.access_modes : &no_modes);
    cell_storage_class(cells, object, spec->storage_class_name != NULL ? *spec->storage_class_name : STR(""));
    cell_ptr_or(cells, spec->volume_attributes_class_name, unset);
    cell_object_age(cells, object);
    cell_ptr_or(cells, spec->volume_mode, unset);
}

void row_storage_class(struct cells *cells, const void *object)
{
    const struct storage_v1_storage_class *class = object;
    const struct str_map *annotations = &class->metadata.annotations;
    bool is_default =
        str_is(str_map_get(annotations, STR("storageclass.kubernetes.io/is-default-class")), "true") ||
        str_is(str_map_get(annotations, STR("storageclass.beta.kubernetes.io/is-default-class")), "true");

    cell_printf(cells, "%.*s%s", STR_ARG(class->metadata.name), is_default ? " (default)" : "");
    cell_str(cells, class->provisioner);
    cell_ptr_or(cells, class->reclaim_policy, STR("Delete"));
    cell_ptr_or(cells, class->volume_binding_mode, STR("Immediate"));
    cell_bool(cells, class->allow_volume_expansion != NULL && *class->allow_volume_expansion);
    cell_object_age(cells, object);
}

void row_volume_attachment(struct cells *cells, const void *object)
{
    const struct storage_v1_volume_attachment *attachment = object;

    cell_name(cells, object);
    cell_str(cells, attachment->spec.attacher);
    cell_ptr_or(cells, attachment->spec.source.persistent_volume_name, STR(""));
    cell_str(cells, attachment->spec.node_name);
    cell_bool(cells, attachment->status.attached);
    cell_object_age(cells, object);
}

static bool is_set(const bool *flag, bool otherwise)
{
    return flag != NULL ? *flag : otherwise;
}

void row_csi_driver(struct cells *cells, const void *object)
{
    const struct storage_v1_csi_driver_spec *spec = &((const struct storage_v1_csi_driver *)object)->spec;
    struct str_list audiences = {0};

    LIST_EACH(token, &spec->token_requests) {
        *LIST_ADD(cells->arena, &audiences) = token->audience;
    }
    cell_name(cells, object);
    cell_bool(cells, is_set(spec->attach_required, true));
    cell_bool(cells, is_set(spec->pod_info_on_mount, false));
    cell_bool(cells, is_set(spec->storage_capacity, false));
    cell_str(cells, spec->token_requests.items != NULL ? join_strings(cells->arena, &audiences, ",") : unset);
    cell_bool(cells, is_set(spec->requires_republish, false));
    cell_str_or(cells, join_strings(cells->arena, &spec->volume_lifecycle_modes, ","), STR("<none>"));
    cell_object_age(cells, object);
}

void row_csi_node(struct cells *cells, const void *object)
{
    cell_name(cells, object);
    cell_int(cells, (int64_t)((const struct storage_v1_csi_node *)object)->spec.drivers.len);
    cell_object_age(cells, object);
}

void row_volume_attributes_class(struct cells *cells, const void *object)
{
    cell_name(cells, object);
    cell_str(cells, ((const struct storage_v1_volume_attributes_class *)object)->driver_name);
    cell_object_age(cells, object);
}

void row_resource_claim(struct cells *cells, const void *object)
{
    const struct resource_v1_resource_claim *claim = object;
    struct str_list states = {0};

    if (claim->metadata.deletion_timestamp != NULL) {
        *LIST_ADD(cells->arena, &states) = STR("deleted");
    }
    if (claim->status.allocation != NULL) {
        *LIST_ADD(cells->arena, &states) = STR("allocated");
        if (claim->status.reserved_for.len > 0) {
            *LIST_ADD(cells->arena, &states) = STR("reserved");
        }
    } else if (states.len == 0) {
        *LIST_ADD(cells->arena, &states) = STR("pending");
    }
    cell_name(cells, object);
    cell_str(cells, join_strings(cells->arena, &states, ","));
    cell_object_age(cells, object);
}

void row_resource_slice(struct cells *cells, const void *object)
{
    const struct resource_v1_resource_slice_spec *spec = &((const struct resource_v1_resource_slice *)object)->spec;

    cell_name(cells, object);
    cell_ptr_or(cells, spec->node_name, unset);
    cell_str(cells, spec->driver);
    cell_str(cells, spec->pool.name);
    cell_object_age(cells, object);
}
