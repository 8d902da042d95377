#include "apiserver/registry/selection.h"

#include "api/custom_columns.h"
#include "apiserver/errors.h"
#include "schema/map_of.h"

#include <stdio.h>

/* What each kind can be selected by, beside its name and namespace. `path` is where the value stands in stored objects,
 * when that isn't what the field is called. */
struct field_label {
    const char *name, *path;
};

struct kind_labels {
    const char *group, *kind;
    struct field_label fields[20];
};

static const struct kind_labels labels_of_kinds[] = {
    {"", "Pod",
     {{"spec.nodeName", NULL}, {"spec.restartPolicy", NULL}, {"spec.schedulerName", NULL},
      {"spec.serviceAccountName", NULL}, {"spec.hostNetwork", NULL}, {"status.phase", NULL}, {"status.podIP", NULL},
      {"status.podIPs", "status.podIP"}, {"status.nominatedNodeName", NULL}}},
    {"", "Node", {{"spec.unschedulable", NULL}}},
    {"", "Namespace", {{"status.phase", NULL}}},
    {"", "Secret", {{"type", NULL}}},
    {"", "Service", {{"spec.clusterIP", NULL}, {"spec.type", NULL}}},
    {"", "ReplicationController", {{"status.replicas", NULL}}},
    {"apps", "ReplicaSet", {{"status.replicas", NULL}}},
    {"batch", "Job", {{"status.successful", "status.succeeded"}}},
    {"certificates.k8s.io", "CertificateSigningRequest", {{"spec.signerName", NULL}}},
    {"certificates.k8s.io", "ClusterTrustBundle", {{"spec.signerName", NULL}}},
    {"certificates.k8s.io", "PodCertificateRequest", {{"spec.signerName", NULL}, {"spec.podName", NULL},
                                                       {"spec.nodeName", NULL}}},
    {"resource.k8s.io", "ResourceSlice", {{"spec.nodeName", NULL}, {"spec.driver", NULL}}},
    {"", "Event",
     {{"involvedObject.kind", NULL}, {"involvedObject.namespace", NULL}, {"involvedObject.name", NULL},
      {"involvedObject.uid", NULL}, {"involvedObject.apiVersion", NULL}, {"involvedObject.resourceVersion", NULL},
      {"involvedObject.fieldPath", NULL}, {"reason", NULL}, {"reportingComponent", NULL},
      {"source", "source.component"}, {"type", NULL}}},
    {"events.k8s.io", "Event",
     {{"regarding.kind", "involvedObject.kind"}, {"regarding.namespace", "involvedObject.namespace"},
      {"regarding.name", "involvedObject.name"}, {"regarding.uid", "involvedObject.uid"},
      {"regarding.apiVersion", "involvedObject.apiVersion"},
      {"regarding.resourceVersion", "involvedObject.resourceVersion"},
      {"regarding.fieldPath", "involvedObject.fieldPath"}, {"reason", NULL},
      {"reportingController", "reportingComponent"}, {"type", NULL}}},
};

static const struct kind_labels *labels_of(const struct kind *kind)
{
    for (size_t i = 0; i < COUNT_OF(labels_of_kinds); i++) {
        if (str_is(kind->group, labels_of_kinds[i].group) && str_is(kind->kind, labels_of_kinds[i].kind)) {
            return &labels_of_kinds[i];
        }
    }
    return NULL;
}

/* The path of a field in stored objects; NULL when the kind has no such label. */
static const char *path_of(const struct kind_labels *labels, struct str name)
{
    for (size_t i = 0; labels != NULL && i < COUNT_OF(labels->fields) && labels->fields[i].name != NULL; i++) {
        if (str_is(name, labels->fields[i].name)) {
            return labels->fields[i].path != NULL ? labels->fields[i].path : labels->fields[i].name;
        }
    }
    return NULL;
}

static struct status *check_fields(const struct resource *resource, const struct field_selector *fields)
{
    const struct kind_labels *labels = labels_of(resource->kind);

    for (size_t i = 0; i < fields->len; i++) {
        struct str name = fields->items[i].field;

        if (resource->kind->custom != NULL && (str_is(name, "metadata.name") || str_is(name, "metadata.namespace") ||
                                               custom_is_selectable(resource->kind, name))) {
            continue;
        }
        if (resource->kind->custom != NULL) {
            return error_bad_request("field label not supported: %.*s", STR_ARG(name));
        }
        if (str_is(name, "metadata.name") || path_of(labels, name) != NULL ||
            (str_is(name, "metadata.namespace") && (resource->kind->namespaced || labels == NULL))) {
            continue;
        }
        if (labels == NULL) {
            return error_bad_request("\"%.*s\" is not a known field selector: only \"metadata.name\", "
                                     "\"metadata.namespace\"",
                                     STR_ARG(name));
        }
        return error_bad_request("field label not supported: %.*s", STR_ARG(name));
    }
    return NULL;
}

struct status *selection_parse(struct arena *arena, const struct resource *resource, struct str labels,
                               struct str fields, struct selection *ret)
{
    struct selection selection = {.resource = resource};

    if (labels.n != 0) {
        TRY(label_selector_parse(arena, labels, &selection.labels));
    }
    if (fields.n != 0) {
        TRY(field_selector_parse(arena, fields, &selection.fields));
        TRY(check_fields(resource, &selection.fields));
        field_selector_exact(&selection.fields, STR("metadata.name"), &selection.name);
    }
    *ret = selection;
    return NULL;
}

bool selection_is_everything(const struct selection *selection)
{
    return selection->fields.len == 0 && selection->labels.len == 0 && !selection->labels.nothing;
}

static bool scalar_text(const struct field *field, const void *at, char *text, size_t size, struct str *ret)
{
    long long number = 0;

    switch (field->kind) {
    case TYPE_STRING:
        *ret = *(const struct str *)at;
        return true;
    case TYPE_BOOL:
        *ret = *(const bool *)at ? STR("true") : STR("false");
        return true;
    case TYPE_INT32:
        number = *(const int32_t *)at;
        break;
    case TYPE_INT64:
        number = *(const int64_t *)at;
        break;
    default:
        return false;
    }
    *ret = (struct str){text, (size_t)snprintf(text, size, "%lld", number)};
    return true;
}

bool object_field_text(const struct type *type, const void *object, struct str path, char *text, size_t size,
                       struct str *ret)
{
    struct str name, rest;

    str_cut(path, '.', &name, &rest);
    const struct type_member *member = type_member(type, name);

    if (member == NULL) {
        return false;
    }
    const void *at = (const char *)object + member->offset;
    const struct field *field = member->field;

    if (field->shape == SHAPE_POINTER) {
        at = *(const void *const *)at;
    } else if (field->shape != SHAPE_PLAIN) {
        return false;
    }
    if (at == NULL) {
        /* absent counts as the zero value */
        *ret = field->kind == TYPE_BOOL ? STR("false") : STR("");
        return true;
    }
    return field->kind == TYPE_STRUCT ? object_field_text(field->type, at, rest, text, size, ret)
                                      : scalar_text(field, at, text, size, ret);
}

struct field_source {
    const struct selection *selection;
    const struct object *object;
};

/* The object's value of a field label; `text` holds numbers. */
static struct str label_value(const struct field_source *source, struct str name, char *text, size_t size)
{
    const struct resource *resource = source->selection->resource;
    struct str value = {0};

    if (str_is(name, "metadata.name")) {
        return source->object->metadata.name;
    }
    if (str_is(name, "metadata.namespace")) {
        return source->object->metadata.namespace;
    }
    const char *path = path_of(labels_of(resource->kind), name);

    object_field_text(resource->stored->type, source->object, str_of(path), text, size, &value);
    if (value.n == 0 && str_is(name, "source")) {
        object_field_text(resource->stored->type, source->object, STR("reportingComponent"), text, size, &value);
    }
    if (value.n == 0 && str_is(name, "reportingController")) {
        object_field_text(resource->stored->type, source->object, STR("source.component"), text, size, &value);
    }
    return value;
}

static bool fields_match(const struct selection *selection, const struct object *object)
{
    struct field_source source = {selection, object};

    for (size_t i = 0; i < selection->fields.len; i++) {
        const struct field_requirement *wanted = &selection->fields.items[i];
        const struct kind *stored = selection->resource->stored;
        char text[24];

        if (stored->custom != NULL && !str_has_prefix(wanted->field, STR("metadata."))) {
            if (custom_field_is(stored, object, wanted->field, wanted->value) == wanted->negative) {
                return false;
            }
            continue;
        }
        if (str_eq(label_value(&source, wanted->field, text, sizeof text), wanted->value) == wanted->negative) {
            return false;
        }
    }
    return true;
}

bool selection_matches(const struct selection *selection, const void *object)
{
    const struct object *typed = object;

    return fields_match(selection, typed) &&
           label_selector_matches(&selection->labels, str_map_lookup, &typed->metadata.labels);
}
