/* What the parts of `kubectl describe` share: a text with tabs, and the lines that most kinds have. */
#ifndef KUBECTL_DESCRIBE_H
#define KUBECTL_DESCRIBE_H

#include "kubectl/kubectl.h"
#include "schema/scalars.h"

struct description {
    struct kubectl *k;
    struct buf text; /* columns separated by tabs, to be aligned at the end */
};

/* A line, indented by two spaces a level; the format ends it. */
void describe_line(struct description *d, int level, const char *format, ...) PRINTF_LIKE(3, 4);
/* Name, namespace, labels and annotations. */
void describe_head(struct description *d, const struct value *object);
/* "Labels:\ta=b" and further ones below each other; "<none>" without any. `indent` goes before the title. */
void describe_map(struct description *d, const char *indent, const char *title, const struct value *map);
/* The same as "key: value"; what is long or has several lines goes below its key. */
void describe_annotations(struct description *d, const char *indent, const char *title, const struct value *map);
void describe_tolerations(struct description *d, const char *indent, const struct value *tolerations);
/* "Controlled By:\tReplicaSet/web-1" when something controls the object. */
void describe_controller(struct description *d, const struct value *object);
/* "Mon, 02 Jan 2006 15:04:05 +0000"; "<unset>" for no time. */
struct str describe_time(struct arena *arena, const struct value *time);
/* The events about the object, as a table. */
MUST_USE struct status *describe_events(struct description *d, const struct value *object, struct str namespace);
/* "2m ago" texts: how long ago a time of the API was. */
struct str describe_age(struct arena *arena, const struct value *time);
/* The value as text: "<none>" for an empty one. */
struct str describe_or_none(struct str text);
/* As Go prints a value with %v. */
struct str describe_value(struct arena *arena, const struct value *value);

/* A pod's containers, volumes, node selectors and tolerations. `statuses` are NULL for a template, whose containers are
 * indented by one more space. */
void describe_containers(struct description *d, const char *title, const struct value *containers,
                         const struct value *statuses, const struct value *pod, const char *space);
void describe_volumes(struct description *d, const struct value *volumes, const char *space);
/* "Pod Template:" of a workload. */
void describe_template(struct description *d, const struct value *template);

/* Of one kind; events not included. */
MUST_USE struct status *describe_pod(struct description *d, const struct value *pod);
MUST_USE struct status *describe_deployment(struct description *d, const struct value *deployment);
MUST_USE struct status *describe_replicaset(struct description *d, const struct value *replicaset);
MUST_USE struct status *describe_node(struct description *d, const struct value *node);
MUST_USE struct status *describe_config_map(struct description *d, const struct value *map);
MUST_USE struct status *describe_ingress(struct description *d, const struct value *ingress);
MUST_USE struct status *describe_service(struct description *d, const struct value *service);
MUST_USE struct status *describe_secret(struct description *d, const struct value *secret);
MUST_USE struct status *describe_service_account(struct description *d, const struct value *account);
MUST_USE struct status *describe_disruption_budget(struct description *d, const struct value *budget);
MUST_USE struct status *describe_storage_class(struct description *d, const struct value *class);
MUST_USE struct status *describe_attributes_class(struct description *d, const struct value *class);
MUST_USE struct status *describe_priority_class(struct description *d, const struct value *class);
MUST_USE struct status *describe_role(struct description *d, const struct value *role);
MUST_USE struct status *describe_role_binding(struct description *d, const struct value *binding);
MUST_USE struct status *describe_ingress_class(struct description *d, const struct value *class);
MUST_USE struct status *describe_endpoint_slice(struct description *d, const struct value *slice);
MUST_USE struct status *describe_namespace(struct description *d, const struct value *namespace);
MUST_USE struct status *describe_daemonset(struct description *d, const struct value *set);
MUST_USE struct status *describe_statefulset(struct description *d, const struct value *set);
MUST_USE struct status *describe_job(struct description *d, const struct value *job);
MUST_USE struct status *describe_cronjob(struct description *d, const struct value *cronjob);
/* "a=b,c=d", or "<none>". */
struct str describe_pairs(struct arena *arena, const struct value *map);
/* Any kind: its fields as they are. */
MUST_USE struct status *describe_any(struct description *d, const struct value *object);

#endif
