/* The parts of table_columns.h: what fills the cells of each kind. For table_*.c only. */
#ifndef API_TABLE_ROWS_H
#define API_TABLE_ROWS_H

#include "api/core_v1.h"
#include "api/table_columns.h"

/* A row in the making. */
struct cells {
    struct arena *arena;
    struct timestamp now;
    struct table_row *row;
};

void cell_str(struct cells *cells, struct str text);
/* The text, or something else in its place when it is empty. */
void cell_str_or(struct cells *cells, struct str text, struct str otherwise);
void cell_ptr_or(struct cells *cells, const struct str *text, struct str otherwise);
void cell_printf(struct cells *cells, const char *format, ...) PRINTF_LIKE(2, 3);
void cell_int(struct cells *cells, int64_t number);
void cell_bool(struct cells *cells, bool boolean);
void cell_age(struct cells *cells, struct timestamp then);
void cell_name(struct cells *cells, const void *object);
/* The age of the object. */
void cell_object_age(struct cells *cells, const void *object);
/* Names and images of the containers: two cells. */
void cell_containers(struct cells *cells, const struct core_v1_pod_spec *spec);
/* "a=b,c=d"; "<none>" when there are none. */
void cell_labels(struct cells *cells, const struct str_map *labels);
/* "a=b,c in (d)"; `empty` when nothing is selected by it. */
void cell_selector(struct cells *cells, const struct meta_v1_label_selector *selector, struct str empty);

/* Joined with `separator`, in the arena. */
struct str join_strings(struct arena *arena, const struct str_list *strings, const char *separator);
/* The first `max` of them with commas; " + N more..." when there were more than that (`count` in all). */
struct str join_some(struct arena *arena, const struct str_list *strings, size_t count, size_t max);
/* The amount's text, "0" for none. */
struct str amount_text(const struct quantity *amount);
int32_t number_or(const int32_t *number, int32_t otherwise);

/* One function for each kind: fills the row. */
#define TABLE_ROWS(X)                                                                                                  \
    X(pod) X(pod_template) X(node) X(event) X(events_event) X(namespace) X(secret) X(service_account)                  \
    X(config_map) X(component_status) X(resource_quota) X(replication_controller) X(replica_set) X(deployment)         \
    X(daemon_set) X(stateful_set) X(controller_revision) X(job) X(cron_job) X(hpa) X(hpa_v1) X(pdb) X(scale)           \
    X(service) X(endpoints) X(endpoint_slice) X(ingress) X(ingress_class) X(network_policy) X(service_cidr)            \
    X(ip_address) X(pv) X(pvc) X(storage_class) X(volume_attachment) X(csi_driver) X(csi_node)                         \
    X(volume_attributes_class) X(role_binding) X(cluster_role_binding) X(csr) X(cluster_trust_bundle)                  \
    X(pod_certificate_request) X(lease) X(priority_class) X(runtime_class) X(validating_webhooks)                      \
    X(mutating_webhooks) X(validating_policy) X(mutating_policy) X(validating_binding) X(mutating_binding)             \
    X(flow_schema) X(priority_level) X(api_service) X(storage_version_migration) X(resource_claim)                     \
    X(resource_slice) X(name_and_age)
#define TABLE_ROW_DECLARE_(name) void row_##name(struct cells *cells, const void *object);
TABLE_ROWS(TABLE_ROW_DECLARE_)
#undef TABLE_ROW_DECLARE_

#endif
