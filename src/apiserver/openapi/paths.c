#include "apiserver/openapi/paths.h"

#include "api/kinds.h"
#include "apiserver/openapi/operation.h"
#include "apiserver/registry/strategy.h"

#include <ctype.h>
#include <stdlib.h>

#define DELETE_PARAMETERS                                                                                   \
    "dryRun:s gracePeriodSeconds:i ignoreStoreReadErrorWithClusterBreakingPotential:b orphanDependents:b "  \
    "propagationPolicy:s"
#define DELETE_COLLECTION_PARAMETERS                                                                            \
    "continue:s dryRun:s fieldSelector:s gracePeriodSeconds:i ignoreStoreReadErrorWithClusterBreakingPotential:b " \
    "labelSelector:s limit:i orphanDependents:b propagationPolicy:s resourceVersion:s resourceVersionMatch:s "  \
    "sendInitialEvents:b shardSelector:s timeoutSeconds:i"
#define LIST_PATH_PARAMETERS                                                                                \
    "allowWatchBookmarks:b continue:s fieldSelector:s labelSelector:s limit:i pretty:s resourceVersion:s "  \
    "resourceVersionMatch:s sendInitialEvents:b shardSelector:s timeoutSeconds:i watch:b"

/* The resource whose paths are being written. */
struct place {
    struct openapi_writer *writer;
    const struct resource *resource;
    const struct kind *kind;
    struct str root;  /* /apis/apps/v1 */
    struct str camel; /* AppsV1: part of every operation's name */
    struct str tag;   /* apps_v1 */
    bool *first;      /* path of the document */
};

static struct str capitalized(struct arena *arena, struct str text)
{
    char *copy = arena_cstr(arena, text);

    copy[0] = (char)toupper((unsigned char)copy[0]);
    return (struct str){copy, text.n};
}

/* "rbac.authorization.k8s.io" is RbacAuthorization; the core group is Core. */
static struct str camel_group(struct arena *arena, struct str group)
{
    OWNED(buf_done) struct buf out = {0};
    struct str rest = group, part;

    if (group.n == 0) {
        return STR("Core");
    }
    if (str_has_suffix(rest, STR(".k8s.io"))) {
        rest.n -= sizeof ".k8s.io" - 1;
    }
    while (str_next(&rest, '.', &part)) {
        buf_add_str(&out, capitalized(arena, part));
    }
    return arena_str(arena, buf_str(&out));
}

static void begin_path(struct place *place, struct str path, const char *path_parameters, const char *query_parameters)
{
    struct buf *out = place->writer->out;
    bool first = true;

    buf_printf(out, "%s\"%.*s\":{", *place->first ? "" : ",", STR_ARG(path));
    *place->first = false;
    if (path_parameters[0] != 0 || query_parameters[0] != 0) {
        buf_add_str(out, STR("\"parameters\":["));
        openapi_parameters(place->writer, path_parameters, "path", &first);
        openapi_parameters(place->writer, query_parameters, "query", &first);
        buf_add_char(out, ']');
    }
}

static void end_path(struct place *place)
{
    buf_add_char(place->writer->out, '}');
}

/* verb + AppsV1 + more + (Namespaced) + kind + suffix */
static struct str operation_id(struct place *place, const char *verb, const char *more, bool namespaced,
                               const char *suffix)
{
    return arena_printf(place->writer->arena, "%s%.*s%s%s%.*s%s", verb, STR_ARG(place->camel), more,
                        namespaced ? "Namespaced" : "", STR_ARG(place->kind->kind), suffix);
}

static struct openapi_operation operation_of(struct place *place, const char *method, struct str id)
{
    const struct kind *kind = place->kind;

    return (struct openapi_operation){.method = method,
                                      .id = id,
                                      .tag = place->tag,
                                      .parameters = "",
                                      .type = kind->type,
                                      .codes = "200",
                                      .group = kind->group,
                                      .version = kind->version,
                                      .kind = kind->kind};
}

static void add(struct place *place, const struct openapi_operation *operation)
{
    struct buf *out = place->writer->out;

    if (out->p[out->n - 1] != '{') {
        buf_add_char(out, ',');
    }
    openapi_operation(place->writer, operation);
}

static void add_list(struct place *place, bool for_all)
{
    const struct kind *kind = place->kind;
    struct openapi_operation list =
        operation_of(place, "get", operation_id(place, "list", "", kind->namespaced && !for_all,
                                                for_all ? "ForAllNamespaces" : ""));
    bool inline_parameters = !for_all && (kind->verbs & VERB_CREATE) != 0;

    list.action = "list";
    list.parameters = inline_parameters ? OPENAPI_LIST : "";
    list.answer = OPENAPI_WATCHED;
    list.type = kind->list->type;
    add(place, &list);
}

static void add_create(struct place *place)
{
    const struct kind *kind = place->kind;
    struct openapi_operation create =
        operation_of(place, "post", operation_id(place, "create", "", kind->namespaced, ""));

    create.action = "post";
    create.parameters = (kind->verbs & VERB_LIST) != 0 ? OPENAPI_WRITE : "";
    create.body = kind->type;
    create.codes = "200 201 202";
    add(place, &create);
}

static void add_delete_collection(struct place *place)
{
    struct openapi_operation operation =
        operation_of(place, "delete", operation_id(place, "delete", "Collection", place->kind->namespaced, ""));

    operation.action = "deletecollection";
    operation.parameters = DELETE_COLLECTION_PARAMETERS;
    operation.body = &meta_v1_delete_options_type;
    operation.body_is_optional = true;
    operation.type = &meta_v1_status_type;
    add(place, &operation);
}

static struct str collection_path(struct place *place)
{
    return arena_printf(place->writer->arena, "%.*s/%s%.*s", STR_ARG(place->root),
                        place->kind->namespaced ? "namespaces/{namespace}/" : "", STR_ARG(place->kind->plural));
}

/* Namespaces are named {name} in paths of their own. */
static const char *path_parameters(const struct place *place, bool is_named)
{
    bool namespaced = place->kind->namespaced;

    return namespaced && is_named ? "name:s namespace:s" : namespaced ? "namespace:s" : is_named ? "name:s" : "";
}

static void write_collection(struct place *place)
{
    unsigned verbs = place->kind->verbs;
    bool reads_only = (verbs & VERB_CREATE) == 0, writes_only = (verbs & VERB_LIST) == 0;

    begin_path(place, collection_path(place), path_parameters(place, false),
               reads_only ? LIST_PATH_PARAMETERS : writes_only ? OPENAPI_WRITE " pretty:s" : "pretty:s");
    if ((verbs & VERB_LIST) != 0) {
        add_list(place, false);
    }
    if ((verbs & VERB_CREATE) != 0) {
        add_create(place);
    }
    if ((verbs & VERB_DELETECOLLECTION) != 0) {
        add_delete_collection(place);
    }
    end_path(place);
}

/* GET, PUT and PATCH of the object or a part of it; `suffix` names the part. What the path
 * says of parameters isn't said again. */
static void add_changes(struct place *place, unsigned verbs, const struct type *type, struct openapi_operation base,
                        const char *suffix, bool path_has_parameters)
{
    static const struct {
        enum verb verb;
        const char *method, *word, *codes, *parameters;
    } rows[] = {{VERB_GET, "get", "read", "200", ""},
                {VERB_UPDATE, "put", "replace", "200 201", OPENAPI_WRITE},
                {VERB_PATCH, "patch", "patch", "200 201", OPENAPI_WRITE " force:b"}};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if ((verbs & rows[i].verb) == 0) {
            continue;
        }
        struct openapi_operation operation = base;

        operation.method = rows[i].method;
        operation.action = rows[i].method;
        operation.id = operation_id(place, rows[i].word, "", place->kind->namespaced, suffix);
        operation.parameters = path_has_parameters ? "" : rows[i].parameters;
        operation.codes = rows[i].codes;
        operation.type = type;
        operation.body_is_patch = rows[i].verb == VERB_PATCH;
        operation.body = operation.body_is_patch ? &meta_v1_patch_type : rows[i].verb == VERB_UPDATE ? type : NULL;
        add(place, &operation);
    }
}

/* Stock's documents tell of a Status in some places where the object comes back. */
static bool delete_tells_object(const struct place *place)
{
    static const char *const told_otherwise[] = {"namespaces", "devicetaintrules", "csistoragecapacities"};

    for (size_t i = 0; i < COUNT_OF(told_otherwise); i++) {
        if (str_is(place->kind->plural, told_otherwise[i])) {
            return false;
        }
    }
    return (place->resource->strategy->flags & STRATEGY_RETURNS_DELETED) != 0;
}

static void add_delete(struct place *place)
{
    struct openapi_operation operation =
        operation_of(place, "delete", operation_id(place, "delete", "", place->kind->namespaced, ""));

    operation.action = "delete";
    operation.parameters = DELETE_PARAMETERS;
    operation.body = &meta_v1_delete_options_type;
    operation.body_is_optional = true;
    operation.codes = "200 202";
    operation.type = delete_tells_object(place) ? place->kind->type : &meta_v1_status_type;
    add(place, &operation);
}

static struct str object_path(struct place *place)
{
    return arena_printf(place->writer->arena, "%.*s/{name}", STR_ARG(collection_path(place)));
}

static void write_object(struct place *place)
{
    const struct kind *kind = place->kind;

    begin_path(place, object_path(place), path_parameters(place, true), "pretty:s");
    add_changes(place, kind->verbs, kind->type, operation_of(place, "get", (struct str){0}), "", false);
    if ((kind->verbs & VERB_DELETE) != 0) {
        add_delete(place);
    }
    end_path(place);
}

/* Connections carry anything; what they take are the members of the kind of options. */
static struct str connect_parameters(struct arena *arena, const struct type *type)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; type != NULL && i < type->member_count; i++) {
        const struct field *field = type->members[i].field;
        char sign = field->kind == TYPE_BOOL ? 'b' : field->kind == TYPE_INT64 || field->kind == TYPE_INT32 ? 'i' : 's';

        if (!str_is(field->name, "kind") && !str_is(field->name, "apiVersion")) {
            buf_printf(&out, "%.*s:%c ", STR_ARG(field->name), sign);
        }
    }
    return arena_str(arena, buf_str(&out));
}

static void write_connect(struct place *place, const struct subresource *sub, const struct kind *options, bool is_deep)
{
    static const struct {
        const char *method, *word;
    } methods[] = {{"get", "Get"},       {"post", "Post"}, {"put", "Put"},        {"delete", "Delete"},
                   {"patch", "Patch"},   {"head", "Head"}, {"options", "Options"}};
    struct arena *arena = place->writer->arena;
    struct str suffix =
        arena_printf(arena, "%.*s%s", STR_ARG(capitalized(arena, sub->name)), is_deep ? "WithPath" : "");
    struct str path = arena_printf(arena, "%.*s/%.*s%s", STR_ARG(object_path(place)), STR_ARG(sub->name),
                                   is_deep ? "/{path}" : "");
    struct str names = arena_printf(arena, "%s%s", path_parameters(place, true), is_deep ? " path:s" : "");
    size_t count = str_is(sub->name, "proxy") ? COUNT_OF(methods) : 2;

    begin_path(place, path, names.p, connect_parameters(arena, options->type).p);
    for (size_t i = 0; i < count; i++) {
        struct openapi_operation operation = operation_of(
            place, methods[i].method,
            operation_id(place, "connect", methods[i].word, place->kind->namespaced, suffix.p));

        operation.action = "connect";
        operation.answer = OPENAPI_ANYTHING;
        operation.group = options->group;
        operation.version = options->version;
        operation.kind = options->kind;
        add(place, &operation);
    }
    end_path(place);
}

static void add_sub_create(struct place *place, const struct kind *kind, const char *suffix)
{
    struct openapi_operation create =
        operation_of(place, "post", operation_id(place, "create", "", place->kind->namespaced, suffix));

    create.action = "post";
    create.body = create.type = kind->type;
    create.codes = "200 201 202";
    create.group = kind->group;
    create.version = kind->version;
    create.kind = kind->kind;
    add(place, &create);
}

static void write_log(struct place *place, struct str path)
{
    struct openapi_operation operation =
        operation_of(place, "get", operation_id(place, "read", "", place->kind->namespaced, "Log"));

    begin_path(place, path, path_parameters(place, true),
               "container:s follow:b insecureSkipTLSVerifyBackend:b limitBytes:i pretty:s previous:b sinceSeconds:i "
               "stream:s tailLines:i timestamps:b");
    operation.action = "get";
    operation.answer = OPENAPI_TEXT;
    add(place, &operation);
    end_path(place);
}

static void write_subresource(struct place *place, const struct subresource *sub)
{
    struct arena *arena = place->writer->arena;
    const struct kind *kind = kind_find(sub->version.n != 0 ? sub->group : place->kind->group,
                                        sub->version.n != 0 ? sub->version : place->kind->version, sub->kind);
    struct str path = arena_printf(arena, "%.*s/%.*s", STR_ARG(object_path(place)), STR_ARG(sub->name));
    struct str suffix = capitalized(arena, sub->name);
    bool creates = (sub->verbs & VERB_CREATE) != 0;
    bool has_own_parameters = creates || str_is(sub->name, "finalize");

    if (kind == NULL) {
        return;
    }
    if (str_is(sub->name, "log")) {
        write_log(place, path);
        return;
    }
    if (str_has_suffix(sub->kind, STR("Options"))) {
        write_connect(place, sub, kind, false);
        if (str_is(sub->name, "proxy")) {
            write_connect(place, sub, kind, true);
        }
        return;
    }
    struct openapi_operation base = operation_of(place, "get", (struct str){0});

    base.group = kind->group;
    base.version = kind->version;
    base.kind = kind->kind;
    begin_path(place, path, path_parameters(place, true), has_own_parameters ? OPENAPI_WRITE " pretty:s" : "pretty:s");
    if (creates) {
        add_sub_create(place, kind, suffix.p);
    }
    add_changes(place, sub->verbs, kind->type, base, suffix.p, has_own_parameters);
    end_path(place);
}

static void write_watch(struct place *place, struct str path, const char *names, const char *action, bool namespaced,
                        const char *suffix)
{
    struct openapi_operation operation =
        operation_of(place, "get", operation_id(place, "watch", "", namespaced, suffix));

    begin_path(place, path, names, LIST_PATH_PARAMETERS);
    operation.action = action;
    operation.answer = OPENAPI_WATCHED;
    operation.type = &meta_v1_watch_event_type;
    add(place, &operation);
    end_path(place);
}

/* The old form of watches, in paths of its own. */
static void write_watches(struct place *place)
{
    struct arena *arena = place->writer->arena;
    const struct kind *kind = place->kind;
    const char *scope = kind->namespaced ? "namespaces/{namespace}/" : "";
    struct str one = arena_printf(arena, "%.*s/watch/%s%.*s", STR_ARG(place->root), scope, STR_ARG(kind->plural));

    write_watch(place, one, path_parameters(place, false), "watchlist", kind->namespaced, "List");
    write_watch(place, arena_printf(arena, "%.*s/{name}", STR_ARG(one)), path_parameters(place, true), "watch",
                kind->namespaced, "");
    if (kind->namespaced) {
        write_watch(place, arena_printf(arena, "%.*s/watch/%.*s", STR_ARG(place->root), STR_ARG(kind->plural)), "",
                    "watchlist", false, "ListForAllNamespaces");
    }
}

static void write_resource(struct place *place)
{
    const struct kind *kind = place->kind;

    write_collection(place);
    if ((kind->verbs & VERB_GET) != 0) {
        write_object(place);
    }
    for (size_t i = 0; i < kind->subresource_count; i++) {
        write_subresource(place, &kind->subresources[i]);
    }
    if (kind->namespaced && (kind->verbs & VERB_LIST) != 0) {
        begin_path(place, arena_printf(place->writer->arena, "%.*s/%.*s", STR_ARG(place->root), STR_ARG(kind->plural)),
                   "", LIST_PATH_PARAMETERS);
        add_list(place, true);
        end_path(place);
    }
    if ((kind->verbs & VERB_WATCH) != 0) {
        write_watches(place);
    }
}

static void write_version(struct place *place)
{
    struct openapi_operation operation = {.method = "get",
                                          .id = arena_printf(place->writer->arena, "get%.*sAPIResources",
                                                             STR_ARG(place->camel)),
                                          .tag = place->tag,
                                          .parameters = "",
                                          .type = &meta_v1_api_resource_list_type,
                                          .codes = "200"};

    begin_path(place, arena_printf(place->writer->arena, "%.*s/", STR_ARG(place->root)), "", "");
    add(place, &operation);
    end_path(place);
}

void openapi_paths(struct openapi_writer *writer, const struct resources *resources, struct str group,
                   struct str version, bool *first)
{
    struct arena *arena = writer->arena;
    struct str camel = camel_group(arena, group);
    char *small = arena_cstr(arena, camel);

    small[0] = (char)tolower((unsigned char)small[0]);
    struct place place = {
        .writer = writer,
        .root = group.n == 0 ? arena_printf(arena, "/api/%.*s", STR_ARG(version))
                             : arena_printf(arena, "/apis/%.*s/%.*s", STR_ARG(group), STR_ARG(version)),
        .camel = arena_printf(arena, "%.*s%.*s", STR_ARG(camel), STR_ARG(capitalized(arena, version))),
        .tag = arena_printf(arena, "%s_%.*s", small, STR_ARG(version)),
        .first = first,
    };

    write_version(&place);
    for (size_t i = 0; i < resources->len; i++) {
        const struct kind *kind = resources->items[i].kind;

        if (str_eq(kind->group, group) && str_eq(kind->version, version)) {
            place.resource = &resources->items[i];
            place.kind = kind;
            write_resource(&place);
        }
    }
}
