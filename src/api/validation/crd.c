#include "api/validation/crd.h"

#include "api/validation/kinds.h"
#include "api/validation/webhook.h"
#include "schema/copy.h"

enum { WARNING_MAX = 256, SELECTABLE_MAX = 8 };

typedef const struct apiextensions_v1_custom_resource_definition_spec *spec_ref;

/* True when the field is the same in all versions: stock's internal type has it once then, and tells it there. */
static bool is_shared(spec_ref spec, const char *name)
{
    const struct type *type = &apiextensions_v1_custom_resource_definition_version_type;
    const struct field *field = type_field(type, str_of(name));

    for (size_t i = 1; i < spec->versions.len; i++) {
        if (!schema_field_equal(field, (const char *)&spec->versions.items[0] + field->offset,
                                (const char *)&spec->versions.items[i] + field->offset)) {
            return false;
        }
    }
    return true;
}

/* The versions as they print: without what is shared. */
static struct str dump_versions(struct arena *arena, spec_ref spec)
{
    struct apiextensions_v1_custom_resource_definition_spec shown = *spec;
    bool schema = is_shared(spec, "schema"), subresources = is_shared(spec, "subresources");
    bool columns = is_shared(spec, "additionalPrinterColumns"), fields = is_shared(spec, "selectableFields");

    shown.versions.items = arena_array(arena, spec->versions.len, sizeof(*shown.versions.items));
    for (size_t i = 0; i < spec->versions.len; i++) {
        struct apiextensions_v1_custom_resource_definition_version *version = &shown.versions.items[i];

        *version = spec->versions.items[i];
        version->schema = schema ? NULL : version->schema;
        version->subresources = subresources ? NULL : version->subresources;
        if (columns) {
            version->additional_printer_columns.items = NULL;
            version->additional_printer_columns.len = 0;
        }
        if (fields) {
            version->selectable_fields.items = NULL;
            version->selectable_fields.len = 0;
        }
    }
    return dump_field(arena, &apiextensions_v1_custom_resource_definition_spec_type, "versions", &shown);
}

/* A path of names below `root`, such as ".spec". */
static void check_scale_path(struct status *to, const struct path *at, struct str path, const char *root)
{
    struct str names = str_from(path, 1);

    if (!check_present(to, at, path)) {
        return;
    }
    bool is_simple = str_has_prefix(path, STR(".")) && names.n != 0;

    for (size_t i = 0; i < names.n; i++) {
        is_simple &= str_index(STR("[]'\"*? "), names.p[i]) == SIZE_MAX;
    }
    if (!is_simple) {
        check_invalid_str(to, at, path, "must be a simple json path starting with .");
    } else if (!str_has_prefix(path, str_of(root)) || path.n <= str_of(root).n) {
        check_invalid_str(to, at, path, "should be a json path under %.*s", (int)str_of(root).n - 1, root);
    }
}

static void check_subresources(struct status *to, const struct path *at,
                               const struct apiextensions_v1_custom_resource_subresources *subresources)
{
    const struct path *scale = AT(at, "scale");

    if (subresources != NULL && subresources->scale != NULL) {
        check_scale_path(to, AT(scale, "specReplicasPath"), subresources->scale->spec_replicas_path, ".spec.");
        check_scale_path(to, AT(scale, "statusReplicasPath"), subresources->scale->status_replicas_path, ".status.");
    }
}

static void check_column(struct status *to, const struct path *at,
                         const struct apiextensions_v1_custom_resource_column_definition *column)
{
    static const char *const types[] = {"boolean", "date", "integer", "number", "string", NULL};
    static const char *const formats[] = {"byte",  "date",  "date-time", "double", "float",
                                          "int32", "int64", "password",  NULL};

    check_present(to, AT(at, "name"), column->name);
    if (column->type.n == 0) {
        check_required(to, AT(at, "type"), "must be one of boolean,date,integer,number,string");
    } else if (!is_one_of(column->type, types)) {
        check_invalid_str(to, AT(at, "type"), column->type, "must be one of boolean,date,integer,number,string");
    }
    if (column->format.n != 0 && !is_one_of(column->format, formats)) {
        check_invalid_str(to, AT(at, "format"), column->format,
                          "must be one of byte,date,date-time,double,float,int32,int64,password");
    }
    check_present(to, AT(at, "jsonPath"), column->json_path);
}

static void check_selectable(struct status *to, const struct path *at,
                             const struct apiextensions_v1_custom_resource_definition_version *version)
{
    const struct apiextensions_v1_json_schema_props *root =
        version->schema == NULL ? NULL : version->schema->open_api_v3_schema;

    if (version->selectable_fields.len > SELECTABLE_MAX) {
        check_too_many(to, at, version->selectable_fields.len, SELECTABLE_MAX);
    }
    LIST_EACH(field, &version->selectable_fields) {
        const struct path *one = AT(ITEM(at, INDEX_OF(field, &version->selectable_fields)), "jsonPath");

        if (!check_present(to, one, field->json_path) || root == NULL) {
            continue;
        }
        const struct apiextensions_v1_json_schema_props *schema = schema_at(root, field->json_path);

        if (schema == NULL) {
            check_invalid_str(to, one, field->json_path, "is an invalid path: does not refer to a valid field");
        } else if (!str_is(schema->type, "string") && !str_is(schema->type, "integer") &&
                   !str_is(schema->type, "boolean")) {
            check_invalid_str(
                to, one, field->json_path,
                "must point to a field of type boolean, integer, or string. Enum string fields and string "
                "fields with formats are allowed.");
        }
    }
}

static void check_warning(struct status *to, const struct path *at,
                          const struct apiextensions_v1_custom_resource_definition_version *version)
{
    if (version->deprecation_warning == NULL) {
        return;
    }
    struct str text = *version->deprecation_warning;

    if (!version->deprecated) {
        check_invalid_str(to, at, text, "can only be set for deprecated versions");
    }
    if (text.n == 0) {
        check_invalid_str(to, at, text, "must not be an empty string");
    }
    if (text.n > WARNING_MAX) {
        check_invalid_str(to, at, text, "must be <= %d characters long", WARNING_MAX);
    }
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c < 0x20 || c == 0x7f) {
            check_invalid_str(
                to, at, text,
                "must only contain printable UTF-8 characters; non-printable character found at index %zu", i);
            return;
        }
    }
}

static void check_columns(struct status *to, const struct path *at,
                          const struct apiextensions_v1_custom_resource_definition_version *version)
{
    LIST_EACH(column, &version->additional_printer_columns) {
        check_column(to, ITEM(at, INDEX_OF(column, &version->additional_printer_columns)), column);
    }
}

/* What only the version itself has, and what it doesn't share with the others. */
static void check_version(struct status *to, const struct path *at, spec_ref spec,
                          const struct apiextensions_v1_custom_resource_definition_version *version)
{
    const struct apiextensions_v1_json_schema_props *schema =
        version->schema == NULL ? NULL : version->schema->open_api_v3_schema;
    const struct path *schema_path = AT(AT(at, "schema"), "openAPIV3Schema");

    check_name(to, AT(at, "name"), version->name, name_is_dns1035_label);
    check_warning(to, AT(at, "deprecationWarning"), version);
    if (schema == NULL) {
        check_required(to, schema_path, "%s", "");
    } else if (!is_shared(spec, "schema")) {
        check_structural(to, schema_path, schema);
    }
    if (!is_shared(spec, "subresources")) {
        check_subresources(to, AT(at, "subresources"), version->subresources);
    }
    if (!is_shared(spec, "additionalPrinterColumns")) {
        check_columns(to, AT(at, "additionalPrinterColumns"), version);
    }
    if (!is_shared(spec, "selectableFields")) {
        check_selectable(to, AT(at, "selectableFields"), version);
    }
}

static void check_shared(struct status *to, const struct path *at, spec_ref spec)
{
    const struct apiextensions_v1_custom_resource_definition_version *version = spec->versions.items;

    if (is_shared(spec, "schema") && version->schema != NULL && version->schema->open_api_v3_schema != NULL) {
        check_structural(to, AT(AT(at, "validation"), "openAPIV3Schema"), version->schema->open_api_v3_schema);
    }
    if (is_shared(spec, "subresources")) {
        check_subresources(to, AT(at, "subresources"), version->subresources);
    }
    if (is_shared(spec, "additionalPrinterColumns")) {
        check_columns(to, AT(at, "additionalPrinterColumns"), version);
    }
    if (is_shared(spec, "selectableFields")) {
        check_selectable(to, AT(at, "selectableFields"), version);
    }
}

static void check_versions(struct status *to, const struct path *at, spec_ref spec)
{
    const struct path *versions = AT(at, "versions");
    OWNED(seen_done) struct seen names = {0};
    size_t stored = 0;
    bool unique = true;

    LIST_EACH(version, &spec->versions) {
        check_version(to, ITEM(versions, INDEX_OF(version, &spec->versions)), spec, version);
        stored += version->storage;
        unique &= !seen_before(&names, version->name);
    }
    if (!unique) {
        check_invalid_json(to, versions, dump_versions(to->arena, spec), "must contain unique version names");
    }
    if (stored != 1) {
        check_invalid_json(to, versions, dump_versions(to->arena, spec),
                           "must have exactly one version marked as storage version");
    }
    if (spec->versions.len > 0) {
        check_name(to, AT(at, "version"), spec->versions.items[0].name, name_is_dns1035_label);
    }
}

/* Kinds may have capitals. */
static void check_kind_name(struct status *to, const struct path *at, struct str kind)
{
    struct name_errors errors = {0};

    if (kind.n != 0 && !name_is_dns1035_label(lower_case(to->arena, kind), &errors)) {
        check_invalid_str(to, at, kind, "may have mixed case, but should otherwise match: %.*s",
                          STR_ARG(name_errors_join(to->arena, &errors, ",")));
    }
}

static void check_names(struct status *to, const struct path *at,
                        const struct apiextensions_v1_custom_resource_definition_names *names)
{
    check_present(to, AT(at, "plural"), names->plural);
    check_present(to, AT(at, "singular"), names->singular);
    check_present(to, AT(at, "kind"), names->kind);
    check_present(to, AT(at, "listKind"), names->list_kind);
    if (names->plural.n != 0) {
        check_name(to, AT(at, "plural"), names->plural, name_is_dns1035_label);
    }
    if (names->singular.n != 0) {
        check_name(to, AT(at, "singular"), names->singular, name_is_dns1035_label);
    }
    check_kind_name(to, AT(at, "kind"), names->kind);
    check_kind_name(to, AT(at, "listKind"), names->list_kind);
    LIST_EACH(name, &names->short_names) {
        check_name(to, ITEM(AT(at, "shortNames"), INDEX_OF(name, &names->short_names)), *name, name_is_dns1035_label);
    }
    if (names->kind.n > 0 && str_eq(names->kind, names->list_kind)) {
        check_invalid_str(to, AT(at, "listKind"), names->list_kind, "kind and listKind may not be the same");
    }
    LIST_EACH(category, &names->categories) {
        check_name(to, ITEM(AT(at, "categories"), INDEX_OF(category, &names->categories)), *category,
                   name_is_dns1035_label);
    }
}

static void check_webhook(struct status *to, const struct path *at,
                          const struct apiextensions_v1_webhook_client_config *client)
{
    const struct apiextensions_v1_service_reference *service = client->service;

    if ((client->url == NULL) == (service == NULL)) {
        check_required(to, at, "exactly one of url or service is required");
    } else if (client->url != NULL) {
        check_webhook_url(to, AT(at, "url"), *client->url);
    } else {
        check_webhook_service(
            to, AT(at, "service"),
            &(const struct webhook_service){service->namespace, service->name, service->path, service->port});
    }
}

static void check_conversion(struct status *to, const struct path *at,
                             const struct apiextensions_v1_custom_resource_conversion *conversion)
{
    static const char *const strategies[] = {"None", "Webhook", NULL};
    static const char *const message = "should not be set when strategy is not set to Webhook";
    const struct path *client_at = AT(at, "webhookClientConfig"), *versions_at = AT(at, "conversionReviewVersions");

    if (conversion == NULL) {
        return;
    }
    const struct apiextensions_v1_webhook_client_config *client =
        conversion->webhook == NULL ? NULL : conversion->webhook->client_config;
    size_t versions = conversion->webhook == NULL ? 0 : conversion->webhook->conversion_review_versions.len;

    check_one_of(to, AT(at, "strategy"), conversion->strategy, strategies);
    if (str_is(conversion->strategy, "Webhook")) {
        if (client == NULL) {
            check_required(to, client_at, "required when strategy is set to Webhook");
        } else {
            check_webhook(to, client_at, client);
        }
        if (versions == 0) {
            check_required(to, versions_at, "%s", "");
        }
        return;
    }
    if (client != NULL) {
        check_forbidden(to, client_at, "%s", message);
    }
    if (versions > 0) {
        check_forbidden(to, versions_at, "%s", message);
    }
}

static void check_group(struct status *to, const struct path *at, struct str group)
{
    if (!check_present(to, at, group) || !check_name(to, at, group, name_is_dns1123_subdomain)) {
        return;
    }
    if (str_index(group, '.') == SIZE_MAX) {
        check_invalid_str(to, at, group, "should be a domain with at least one dot");
    }
}

/* Each version that is or was stored must be known, and the one that is must be among them. A version found once isn't
 * found again, which is how stock treats one that is there twice. */
static void check_stored(struct status *to, const struct path *at,
                         const struct apiextensions_v1_custom_resource_definition *definition)
{
    const struct str_list *stored = &definition->status.stored_versions;
    bool *is_found = arena_array(to->arena, stored->len, sizeof(*is_found));
    struct str text = dump_strings(to->arena, stored);

    if (stored->len == 0) {
        check_invalid_json(to, at, text, "must have at least one stored version");
        return;
    }
    LIST_EACH(version, &definition->spec.versions) {
        bool found = false;

        for (size_t i = 0; i < stored->len && !found; i++) {
            found = !is_found[i] && str_eq(stored->items[i], version->name);
            is_found[i] |= found;
        }
        if (version->storage && !found) {
            check_invalid_json(to, at, text, "must have the storage version %.*s", STR_ARG(version->name));
        }
    }
    for (size_t i = 0; i < stored->len; i++) {
        if (!is_found[i]) {
            check_invalid_str(to, ITEM(at, i), stored->items[i], "must appear in spec.versions");
        }
    }
}

static void check_definition(struct status *to, const struct apiextensions_v1_custom_resource_definition *definition)
{
    static const char *const scopes[] = {"Cluster", "Namespaced", NULL};
    spec_ref spec = &definition->spec;
    const struct path *at = AT(NULL, "spec");

    check_group(to, AT(at, "group"), spec->group);
    if (check_present(to, AT(at, "scope"), spec->scope)) {
        check_one_of(to, AT(at, "scope"), spec->scope, scopes);
    }
    check_versions(to, at, spec);
    check_names(to, AT(at, "names"), &spec->names);
    if (spec->versions.len > 0) {
        check_shared(to, at, spec);
    }
    check_conversion(to, AT(at, "conversion"), spec->conversion);
    check_stored(to, AT(AT(NULL, "status"), "storedVersions"), definition);
}

static void check_pruning(struct status *to, spec_ref spec)
{
    if (spec->preserve_unknown_fields) {
        check_invalid_bool(to, AT(AT(NULL, "spec"), "preserveUnknownFields"), true,
                           "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                           "spec.versions[*].schema instead");
    }
}

void validate_resource_definition(struct status *to, const void *object)
{
    const struct apiextensions_v1_custom_resource_definition *definition = object;
    struct str name =
        arena_printf(to->arena, "%.*s.%.*s", STR_ARG(definition->spec.names.plural), STR_ARG(definition->spec.group));

    if (!str_eq(definition->metadata.name, name)) {
        check_invalid_str(to, AT(AT(NULL, "metadata"), "name"), definition->metadata.name,
                          "must be spec.names.plural+\".\"+spec.group");
    }
    check_definition(to, definition);
    check_pruning(to, &definition->spec);
}

void validate_resource_definition_update(struct status *to, const void *object, const void *old)
{
    const struct apiextensions_v1_custom_resource_definition *definition = object, *before = old;
    spec_ref spec = &definition->spec, was = &before->spec;
    const struct path *at = AT(NULL, "spec"), *names = AT(at, "names");

    check_definition(to, definition);
    check_immutable_str(to, AT(at, "group"), spec->group, was->group);
    check_immutable_str(to, AT(at, "scope"), spec->scope, was->scope);
    check_immutable_str(to, AT(names, "kind"), spec->names.kind, was->names.kind);
    check_immutable_str(to, AT(names, "plural"), spec->names.plural, was->names.plural);
    check_pruning(to, spec);
}
