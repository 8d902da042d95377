#include "api/defaults.h"

#include "api/admissionregistration_v1.h"
#include "api/apiextensions_v1.h"
#include "api/apps_v1.h"
#include "api/autoscaling_v1.h"
#include "api/autoscaling_v2.h"
#include "api/batch_v1.h"
#include "api/core_v1.h"
#include "api/defaults/fillers.h"
#include "api/networking_v1.h"
#include "api/rbac_v1.h"
#include "api/resource_v1.h"
#include "api/storage_v1.h"
#include "base/attr.h"
#include "base/mem.h"
#include "schema/copy.h"
#include "schema/quantity.h"

static const struct {
    const struct type *type;
    filler *fill;
} fillers[] = {
    {&core_v1_container_type, fill_container},
    {&core_v1_ephemeral_container_common_type, fill_ephemeral_container},
    {&core_v1_volume_type, fill_volume},
    {&core_v1_pod_type, fill_pod},
    {&core_v1_persistent_volume_type, fill_persistent_volume},
    {&core_v1_namespace_type, fill_namespace},
    {&core_v1_node_status_type, fill_node_status},
    {&core_v1_limit_range_item_type, fill_limit_range_item},
    {&core_v1_replication_controller_type, fill_replication_controller},
    {&core_v1_service_type, fill_service},
    {&core_v1_service_spec_type, fill_service_spec},
    {&apps_v1_deployment_strategy_type, fill_deployment_strategy},
    {&apps_v1_daemon_set_update_strategy_type, fill_daemon_set_update_strategy},
    {&apps_v1_stateful_set_update_strategy_type, fill_stateful_set_update_strategy},
    {&apps_v1_stateful_set_spec_type, fill_stateful_set_spec},
    {&batch_v1_job_type, fill_job},
    {&autoscaling_v2_horizontal_pod_autoscaler_spec_type, fill_autoscaler_spec},
    {&autoscaling_v1_horizontal_pod_autoscaler_type, fill_autoscaler_v1},
    {&resource_v1_exact_device_request_type, fill_exact_device_request},
    {&resource_v1_device_sub_request_type, fill_device_sub_request},
    {&rbac_v1_subject_type, fill_subject},
    {&networking_v1_network_policy_spec_type, fill_network_policy_spec},
    {&storage_v1_csi_driver_spec_type, fill_csi_driver_spec},
    {&apiextensions_v1_custom_resource_definition_spec_type, fill_custom_resource_definition_spec},
};

static filler *filler_of(const struct type *type)
{
    for (size_t i = 0; i < COUNT_OF(fillers); i++) {
        if (fillers[i].type == type) {
            return fillers[i].fill;
        }
    }
    mem_die("a type has defaults by a function that isn't there");
}

/* The constant, as JSON, into one T. Those of the descriptions are words, numbers and empty objects. */
static void set_constant(const struct field *field, struct str json, void *place)
{
    struct str word = json.n >= 2 && json.p[0] == '"' ? str_sub(json, 1, json.n - 1) : json;
    int64_t number = 0;

    (void)str_to_i64(json, &number);
    switch ((enum type_kind)field->kind) {
    case TYPE_STRING:
        *(struct str *)place = word;
        return;
    case TYPE_BOOL:
        *(bool *)place = str_is(json, "true");
        return;
    case TYPE_INT32:
        *(int32_t *)place = (int32_t)number;
        return;
    case TYPE_INT64:
        *(int64_t *)place = number;
        return;
    case TYPE_INT_OR_STRING:
        *(struct int_or_string *)place = json.p[0] == '"'
                                             ? (struct int_or_string){.is_string = true, .text = word}
                                             : (struct int_or_string){.number = (int32_t)number};
        return;
    case TYPE_STRUCT: /* {}: zero, as it is */
        return;
    default:
        mem_die("a default of a kind that has none");
    }
}

static void fill_constant(struct arena *arena, const struct field *field, void *place)
{
    struct str constant = field->rules->fill.n != 0 ? field->rules->fill : field->rules->default_value;

    if (constant.n == 0) {
        return;
    }
    if (field->shape == SHAPE_POINTER) {
        void **pointer = place;

        if (*pointer == NULL) {
            *pointer = arena_alloc(arena, field_item_size(field));
            set_constant(field, constant, *pointer);
        }
    } else if (field->shape == SHAPE_PLAIN && schema_field_is_zero(field, place)) {
        set_constant(field, constant, place);
    }
}

/* Amounts finer than thousandths are rounded up. */
static void round_amounts(struct arena *arena, struct quantity_map *map)
{
    for (size_t i = 0; i < map->len; i++) {
        struct quantity *amount = &map->items[i].value;
        char last = amount->text.n != 0 ? amount->text.p[amount->text.n - 1] : '0';

        if (last == 'n' || last == 'u' || str_contains(amount->text, STR("e-"))) {
            *amount = quantity_of_milli(arena, quantity_milli(*amount), quantity_format_of(*amount));
        }
    }
}

static void fill_field(struct arena *arena, const struct field *field, void *place)
{
    const struct any_list *list = place;

    switch ((enum field_shape)field->shape) {
    case SHAPE_PLAIN:
        api_defaults_apply(field->type, place, arena);
        return;
    case SHAPE_POINTER:
        if (*(void **)place != NULL) {
            api_defaults_apply(field->type, *(void **)place, arena);
        }
        return;
    case SHAPE_LIST:
        for (size_t i = 0; i < list->len; i++) {
            api_defaults_apply(field->type, (char *)list->items + i * field_item_size(field), arena);
        }
        return;
    case SHAPE_MAP:
        for (size_t i = 0; i < list->len; i++) {
            char *entry = (char *)list->items + i * field_entry_size(field);

            api_defaults_apply(field->type, entry + sizeof(struct str), arena);
        }
        return;
    }
}

void api_defaults_apply(const struct type *type, void *object, struct arena *arena)
{
    if (!(type->flags & TYPE_HAS_DEFAULTS)) {
        return;
    }
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].rules != NULL) {
            fill_constant(arena, &type->fields[i], (char *)object + type->fields[i].offset);
        }
    }
    if (type->flags & TYPE_HAS_FILLER) {
        filler_of(type)(arena, object);
    }
    for (size_t i = 0; i < type->field_count; i++) {
        const struct field *field = &type->fields[i];
        void *place = (char *)object + field->offset;

        if (field->kind == TYPE_STRUCT && field->type->flags & TYPE_HAS_DEFAULTS) {
            fill_field(arena, field, place);
        } else if (field->kind == TYPE_QUANTITY && field->shape == SHAPE_MAP && type->package == &core_v1_package) {
            round_amounts(arena, place);
        }
    }
}
