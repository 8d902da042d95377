#include "api/validation/meta.h"

#include "base/buf.h"
#include "schema/copy.h"
#include "schema/timestamp.h"

enum { ANNOTATIONS_MAX_BYTES = 256 * 1024 };

void check_labels(struct status *to, const struct path *at, const struct str_map *labels)
{
    LIST_EACH(label, labels) {
        check_name(to, at, label->key, name_is_qualified);
        check_name(to, at, label->value, name_is_label_value);
    }
}

/* Keys of annotations may have capitals in their domain. */
void check_annotations(struct status *to, const struct path *at, const struct str_map *annotations)
{
    size_t size = 0;

    LIST_EACH(annotation, annotations) {
        struct name_errors errors = {0};

        if (!name_is_qualified(annotation->key, NULL) &&
            !name_is_qualified(lower_case(to->arena, annotation->key), &errors)) {
            for (size_t i = 0; i < errors.len; i++) {
                check_invalid_str(to, at, annotation->key, "%.*s", STR_ARG(errors.items[i]));
            }
        }
        size += annotation->key.n + annotation->value.n;
    }
    if (size > ANNOTATIONS_MAX_BYTES) {
        check_too_long(to, at, ANNOTATIONS_MAX_BYTES);
    }
}

static void check_owner(struct status *to, const struct path *at, const struct meta_v1_owner_reference *owner)
{
    struct str version, rest;

    if (owner->api_version.n == 0) {
        check_required(to, AT(at, "apiVersion"), "must not be empty");
    } else if (str_cut(owner->api_version, '/', &version, &rest) && str_index(rest, '/') != SIZE_MAX) {
        check_invalid_str(to, AT(at, "apiVersion"), owner->api_version, "must be <group>/<version> or <version>");
    }
    if (owner->kind.n == 0) {
        check_required(to, AT(at, "kind"), "must not be empty");
    }
    if (owner->name.n == 0) {
        check_required(to, AT(at, "name"), "must not be empty");
    }
    if (owner->uid.n == 0) {
        check_required(to, AT(at, "uid"), "must not be empty");
    }
    if (str_is(owner->api_version, "v1") && str_is(owner->kind, "Event")) {
        check_invalid_struct(to, at, &meta_v1_owner_reference_type, owner,
                             "/v1, Kind=Event is disallowed from being an owner");
    }
}

static void check_owners(struct status *to, const struct path *at, const struct meta_v1_object_meta *meta)
{
    const struct meta_v1_owner_reference *controller = NULL;

    LIST_EACH(owner, &meta->owner_references) {
        check_owner(to, ITEM(at, INDEX_OF(owner, &meta->owner_references)), owner);
        if (owner->controller == NULL || !*owner->controller) {
            continue;
        }
        if (controller != NULL) {
            check_invalid_json(to, at, dump_field(to->arena, &meta_v1_object_meta_type, "ownerReferences", meta),
                               "Only one reference can have Controller set to true. Found \"true\" in references for "
                               "%.*s/%.*s and %.*s/%.*s",
                               STR_ARG(controller->kind), STR_ARG(controller->name), STR_ARG(owner->kind),
                               STR_ARG(owner->name));
        } else {
            controller = owner;
        }
    }
}

void check_finalizer_domain(struct status *to, const struct path *at, struct str finalizer)
{
    static const char *const standard[] = {"kubernetes", "orphan", "foregroundDeletion", NULL};

    if (str_index(finalizer, '/') == SIZE_MAX && !is_one_of(finalizer, standard)) {
        check_invalid_str(to, at, finalizer, "name is neither a standard finalizer name nor is it fully qualified");
    }
}

static void check_finalizers(struct status *to, const struct path *at, const struct str_list *finalizers)
{
    bool orphan = false, foreground = false;

    LIST_EACH(finalizer, finalizers) {
        check_name(to, at, *finalizer, name_is_qualified);
        orphan |= str_is(*finalizer, "orphan");
        foreground |= str_is(*finalizer, "foregroundDeletion");
    }
    if (orphan && foreground) {
        check_invalid_json(to, at, dump_strings(to->arena, finalizers),
                           "finalizer orphan and foregroundDeletion cannot be both set");
    }
}

static void check_finalizer_domains(struct status *to, const struct path *at, const struct str_list *finalizers)
{
    LIST_EACH(finalizer, finalizers) {
        check_finalizer_domain(to, ITEM(at, INDEX_OF(finalizer, finalizers)), *finalizer);
    }
}

static void check_namespace(struct status *to, const struct path *at, struct str namespace, bool namespaced)
{
    if (namespaced && namespace.n == 0) {
        check_required(to, at, "%s", "");
    } else if (namespaced) {
        check_name(to, at, namespace, name_is_dns1123_label);
    } else if (namespace.n != 0) {
        check_forbidden(to, at, "not allowed on this type");
    }
}

void check_object_meta(struct status *to, const struct meta_v1_object_meta *meta, bool namespaced, name_check *name,
                       bool any_finalizer)
{
    const struct path *at = AT(NULL, "metadata");

    if (meta->generate_name.n != 0) {
        struct name_errors errors = {0};
        struct str masked = name_mask_trailing_dash(to->arena, meta->generate_name);

        name = name == name_is_path_segment ? name_is_path_segment_prefix : name;
        if (!name(masked, &errors)) {
            for (size_t i = 0; i < errors.len; i++) {
                check_invalid_str(to, AT(at, "generateName"), meta->generate_name, "%.*s", STR_ARG(errors.items[i]));
            }
        }
    }
    if (meta->name.n == 0) {
        check_required(to, AT(at, "name"), "name or generateName is required");
    } else {
        check_name(to, AT(at, "name"), meta->name, name);
    }
    check_namespace(to, AT(at, "namespace"), meta->namespace, namespaced);
    check_non_negative(to, AT(at, "generation"), meta->generation);
    check_labels(to, AT(at, "labels"), &meta->labels);
    check_annotations(to, AT(at, "annotations"), &meta->annotations);
    check_owners(to, AT(at, "ownerReferences"), meta);
    check_finalizers(to, AT(at, "finalizers"), &meta->finalizers);
    if (!any_finalizer) {
        check_finalizer_domains(to, AT(at, "finalizers"), &meta->finalizers);
    }
}

/* What is being deleted gets no new finalizers. */
static void check_no_new_finalizers(struct status *to, const struct path *at, const struct str_list *finalizers,
                                    const struct str_list *old)
{
    OWNED(buf_done) struct buf list = {0};
    OWNED(seen_done) struct seen known = {0};

    LIST_EACH(finalizer, old) {
        seen_before(&known, *finalizer);
    }
    LIST_EACH(finalizer, finalizers) {
        if (!seen_has(&known, *finalizer)) {
            buf_printf(&list, "%s\"%.*s\"", list.n == 0 ? "" : ", ", STR_ARG(*finalizer));
        }
    }
    if (list.n != 0) {
        check_forbidden(to, at,
                        "no new finalizers can be added if the object is being deleted, found new finalizers "
                        "[]string{%.*s}",
                        STR_ARG(buf_str(&list)));
    }
}

static void check_immutable_time(struct status *to, const struct path *at, const struct timestamp *value,
                                 const struct timestamp *old)
{
    bool is = value != NULL && value->is_set, was = old != NULL && old->is_set;

    if (is == was && (!is || (value->seconds == old->seconds && value->nanos == old->nanos))) {
        return;
    }
    if (is) {
        check_invalid_json(to, at, dump_string(to->arena, timestamp_format(to->arena, *value)), "field is immutable");
    } else {
        check_invalid_json(to, at, STR("null"), "field is immutable");
    }
}

void check_object_meta_update(struct status *to, const struct meta_v1_object_meta *meta,
                              const struct meta_v1_object_meta *old, bool any_finalizer)
{
    const struct path *at = AT(NULL, "metadata");

    if (old->deletion_timestamp != NULL) {
        check_no_new_finalizers(to, AT(at, "finalizers"), &meta->finalizers, &old->finalizers);
    }
    if (meta->resource_version.n == 0) {
        check_invalid_str(to, AT(at, "resourceVersion"), meta->resource_version, "must be specified for an update");
    }
    if (meta->generation < old->generation) {
        check_invalid_int(to, AT(at, "generation"), meta->generation, "must not be decremented");
    }
    check_immutable_str(to, AT(at, "name"), meta->name, old->name);
    check_immutable_str(to, AT(at, "namespace"), meta->namespace, old->namespace);
    check_immutable_str(to, AT(at, "uid"), meta->uid, old->uid);
    check_immutable_time(to, AT(at, "creationTimestamp"), &meta->creation_timestamp, &old->creation_timestamp);
    check_immutable_time(to, AT(at, "deletionTimestamp"), meta->deletion_timestamp, old->deletion_timestamp);
    const int64_t *grace = meta->deletion_grace_period_seconds, *before = old->deletion_grace_period_seconds;

    if (grace == NULL || before == NULL ? grace != before : *grace != *before) {
        check_invalid_json(to, AT(at, "deletionGracePeriodSeconds"),
                           grace == NULL ? STR("null") : arena_printf(to->arena, "%lld", (long long)*grace),
                           "field is immutable");
    }
    check_labels(to, AT(at, "labels"), &meta->labels);
    check_annotations(to, AT(at, "annotations"), &meta->annotations);
    check_owners(to, AT(at, "ownerReferences"), meta);
    if (!any_finalizer) {
        check_finalizer_domains(to, AT(at, "finalizers"), &meta->finalizers);
    }
}

static void check_requirement(struct status *to, const struct path *at,
                              const struct meta_v1_label_selector_requirement *requirement)
{
    const struct path *values = AT(at, "values");

    if (str_is(requirement->operator, "In") || str_is(requirement->operator, "NotIn")) {
        if (requirement->values.len == 0) {
            check_required(to, values, "must be specified when `operator` is 'In' or 'NotIn'");
        }
    } else if (str_is(requirement->operator, "Exists") || str_is(requirement->operator, "DoesNotExist")) {
        if (requirement->values.len > 0) {
            check_forbidden(to, values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        }
    } else {
        check_invalid_str(to, AT(at, "operator"), requirement->operator, "not a valid selector operator");
    }
    check_name(to, AT(at, "key"), requirement->key, name_is_qualified);
    LIST_EACH(value, &requirement->values) {
        check_name(to, ITEM(values, INDEX_OF(value, &requirement->values)), *value, name_is_label_value);
    }
}

void check_label_selector(struct status *to, const struct path *at, const struct meta_v1_label_selector *selector)
{
    if (selector == NULL) {
        return;
    }
    check_labels(to, AT(at, "matchLabels"), &selector->match_labels);
    LIST_EACH(requirement, &selector->match_expressions) {
        check_requirement(to, ITEM(AT(at, "matchExpressions"), INDEX_OF(requirement, &selector->match_expressions)),
                          requirement);
    }
}

bool selector_is_empty(const struct meta_v1_label_selector *selector)
{
    return selector->match_labels.len + selector->match_expressions.len == 0;
}
