/* Rows of nodes, events, namespaces, configuration and quota. */
#include "api/events_v1.h"
#include "api/table_rows.h"
#include "base/buf.h"
#include "schema/map_of.h"

#include <ctype.h>
#include <stdlib.h>

static int compare_strings(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void cell_node_status(struct cells *cells, const struct core_v1_node *node)
{
    const char *cordoned = node->spec.unschedulable ? ",SchedulingDisabled" : "";
    const char *status = "Unknown";

    LIST_EACH(condition, &node->status.conditions) {
        if (str_is(condition->type, "Ready")) {
            status = str_is(condition->status, "True") ? "Ready" : "NotReady";
        }
    }
    cell_printf(cells, "%s%s", status, cordoned);
}

static void cell_node_roles(struct cells *cells, const struct core_v1_node *node)
{
    const struct str prefix = STR("node-role.kubernetes.io/");
    struct str_list roles = {0}, once = {0};

    LIST_EACH(label, &node->metadata.labels) {
        struct str role = str_has_prefix(label->key, prefix)              ? str_from(label->key, prefix.n)
                          : str_is(label->key, "kubernetes.io/role") ? label->value
                                                                          : STR("");

        if (role.n > 0) {
            *LIST_ADD(cells->arena, &roles) = role;
        }
    }
    if (roles.len > 0) {
        qsort(roles.items, roles.len, sizeof(*roles.items), compare_strings);
    }
    LIST_EACH(role, &roles) {
        if (once.len == 0 || !str_eq(once.items[once.len - 1], *role)) {
            *LIST_ADD(cells->arena, &once) = *role;
        }
    }
    cell_str_or(cells, join_strings(cells->arena, &once, ","), STR("<none>"));
}

static void cell_node_address(struct cells *cells, const struct core_v1_node *node, const char *type)
{
    LIST_EACH(address, &node->status.addresses) {
        if (str_is(address->type, type)) {
            cell_str(cells, address->address);
            return;
        }
    }
    cell_str(cells, STR("<none>"));
}

void row_node(struct cells *cells, const void *object)
{
    const struct core_v1_node *node = object;
    const struct core_v1_node_system_info *info = &node->status.node_info;

    cell_name(cells, object);
    cell_node_status(cells, node);
    cell_node_roles(cells, node);
    cell_object_age(cells, object);
    cell_str(cells, info->kubelet_version);
    cell_node_address(cells, node, "InternalIP");
    cell_node_address(cells, node, "ExternalIP");
    cell_str_or(cells, info->os_image, STR("<unknown>"));
    if (info->kernel_version.n > 0 && info->architecture.n > 0) {
        cell_printf(cells, "%.*s (%.*s)", STR_ARG(info->kernel_version), STR_ARG(info->architecture));
    } else {
        cell_str_or(cells, info->kernel_version, STR("<unknown>"));
    }
    cell_str_or(cells, info->container_runtime_version, STR("<unknown>"));
}

/* An event of either group. */
struct any_event {
    struct str name, type, reason, message, component, instance;
    const struct core_v1_object_reference *about;
    struct timestamp time, first, last, series_last;
    bool has_series;
    int32_t count;
};

static void event_row(struct cells *cells, const struct any_event *event)
{
    struct timestamp first = event->first.is_set ? event->first : event->time;
    struct timestamp last = event->has_series ? event->series_last : event->last.is_set ? event->last : first;
    struct str kind = arena_str(cells->arena, event->about->kind), name = event->about->name;

    for (size_t i = 0; i < kind.n; i++) {
        ((char *)kind.p)[i] = (char)tolower((unsigned char)kind.p[i]);
    }
    cell_age(cells, last);
    cell_str(cells, event->type);
    cell_str(cells, event->reason);
    cell_printf(cells, "%.*s%s%.*s", STR_ARG(kind), name.n > 0 ? "/" : "", STR_ARG(name));
    cell_str(cells, event->about->field_path);
    cell_printf(cells, "%.*s%s%.*s", STR_ARG(event->component), event->instance.n > 0 ? ", " : "",
                STR_ARG(event->instance));
    cell_str(cells, str_trim(event->message));
    cell_age(cells, first);
    cell_int(cells, event->count != 0 || event->has_series ? event->count : 1);
    cell_str(cells, event->name);
}

void row_event(struct cells *cells, const void *object)
{
    const struct core_v1_event *event = object;
    struct any_event any = {
        .name = event->metadata.name,
        .type = event->type,
        .reason = event->reason,
        .message = event->message,
        .component = event->source.component.n > 0 ? event->source.component : event->reporting_component,
        .instance = event->source.host.n > 0 ? event->source.host : event->reporting_instance,
        .about = &event->involved_object,
        .time = event->event_time,
        .first = event->first_timestamp,
        .last = event->last_timestamp,
        .count = event->count,
    };

    if (event->series != NULL) {
        any.has_series = true;
        any.series_last = event->series->last_observed_time;
        any.count = event->series->count;
    }
    event_row(cells, &any);
}

void row_events_event(struct cells *cells, const void *object)
{
    const struct events_v1_event *event = object;
    const struct core_v1_event_source *source = &event->deprecated_source;
    struct any_event any = {
        .name = event->metadata.name,
        .type = event->type,
        .reason = event->reason,
        .message = event->note,
        .component = source->component.n > 0 ? source->component : event->reporting_controller,
        .instance = source->host.n > 0 ? source->host : event->reporting_instance,
        .about = &event->regarding,
        .time = event->event_time,
        .first = event->deprecated_first_timestamp,
        .last = event->deprecated_last_timestamp,
        .count = event->deprecated_count,
    };

    if (event->series != NULL) {
        any.has_series = true;
        any.series_last = event->series->last_observed_time;
        any.count = event->series->count;
    }
    event_row(cells, &any);
}

void row_namespace(struct cells *cells, const void *object)
{
    cell_name(cells, object);
    cell_str(cells, ((const struct core_v1_namespace *)object)->status.phase);
    cell_object_age(cells, object);
}

void row_secret(struct cells *cells, const void *object)
{
    const struct core_v1_secret *secret = object;

    cell_name(cells, object);
    cell_str(cells, secret->type);
    cell_int(cells, (int64_t)secret->data.len);
    cell_object_age(cells, object);
}

void row_service_account(struct cells *cells, const void *object)
{
    row_name_and_age(cells, object);
}

void row_config_map(struct cells *cells, const void *object)
{
    const struct core_v1_config_map *map = object;

    cell_name(cells, object);
    cell_int(cells, (int64_t)(map->data.len + map->binary_data.len));
    cell_object_age(cells, object);
}

void row_component_status(struct cells *cells, const void *object)
{
    const struct core_v1_component_status *component = object;
    const struct core_v1_component_condition *healthy = NULL;

    LIST_EACH(condition, &component->conditions) {
        if (healthy == NULL && str_is(condition->type, "Healthy")) {
            healthy = condition;
        }
    }
    cell_name(cells, object);
    cell_str(cells, healthy == NULL                        ? STR("Unknown")
                    : str_is(healthy->status, "True") ? STR("Healthy")
                                                           : STR("Unhealthy"));
    cell_str(cells, healthy != NULL ? healthy->message : STR(""));
    cell_str(cells, healthy != NULL ? healthy->error : STR(""));
}

void row_resource_quota(struct cells *cells, const void *object)
{
    const struct core_v1_resource_quota_status *status = &((const struct core_v1_resource_quota *)object)->status;
    OWNED(buf_done) struct buf requests = {0};
    OWNED(buf_done) struct buf limits = {0};

    LIST_EACH(hard, &status->hard) {
        struct buf *out = str_has_prefix(hard->key, STR("limits.")) ? &limits : &requests;
        const struct quantity *used = quantity_map_get(&status->used, hard->key);

        buf_printf(out, "%s%.*s: %.*s/%.*s", out->n > 0 ? ", " : "", STR_ARG(hard->key), STR_ARG(amount_text(used)),
                   STR_ARG(amount_text(&hard->value)));
    }
    cell_name(cells, object);
    cell_str(cells, arena_str(cells->arena, buf_str(&requests)));
    cell_str(cells, arena_str(cells->arena, buf_str(&limits)));
    cell_object_age(cells, object);
}
