#include "apiserver/bootstrap/bootstrap.h"

#include "api/networking_v1.h"
#include "apiserver/bootstrap/initial_objects.h"
#include "apiserver/bootstrap/reconcile.h"
#include "apiserver/errors.h"
#include "apiserver/registry/registry.h"
#include "apiserver/registry/rules.h"
#include "base/file.h"
#include "base/log.h"
#include "schema/copy.h"
#include "schema/ip.h"
#include "schema/timestamp.h"

/* Writes at once: enough that the store commits them together. */
enum { AT_ONCE = 64, FILE_BYTES_MAX = 1 << 20 };

/* One pass over a list, by several tasks that take turns. */
struct pass {
    struct apiserver *server;
    const struct initial_objects *list;
    size_t next;
    struct status *failure; /* the first */
};

static struct status *make_reconciled(struct change_op *op, const struct object *current, struct object **ret)
{
    const struct initial_object *wanted = op->arg;

    *ret = schema_copy_shallow(op->request->arena, op->resource->kind->type, current);
    reconcile(op->request->arena, wanted, *ret);
    return NULL;
}

static struct status *bring_up_to_date(struct request *request, const struct initial_object *wanted,
                                       struct stored *stored)
{
    const struct write_options options = {.field_manager = STR("kube-apiserver")};
    struct change_op op = {.request = request,
                           .resource = request->resource,
                           .namespace = wanted->object->metadata.namespace,
                           .name = wanted->object->metadata.name,
                           .options = &options,
                           .make = make_reconciled,
                           .arg = (void *)(uintptr_t)wanted,
                           .keeps_version = true};
    const void *object;

    TRY(stored_object(stored, &object));
    struct object *copy = schema_copy_shallow(request->arena, wanted->kind->type, object);

    return reconcile(request->arena, wanted, copy) ? registry_change(&op) : NULL;
}

static struct status *ensure(struct apiserver *server, struct arena *arena, const struct initial_object *wanted)
{
    const struct write_options options = {.field_manager = STR("kube-apiserver")};
    const struct kind *kind = wanted->kind;
    const struct resource *resource = resources_find(&server->resources, kind->group, kind->version, kind->plural);
    struct meta_v1_object_meta *meta = &wanted->object->metadata;
    struct request *request = request_internal(server, arena, resource, "create");
    struct str key = resource_key(arena, resource, meta->namespace, meta->name);
    OWNED(stored_unrefp) struct stored *stored = NULL;

    request->info.namespace = meta->namespace;
    TRY(watch_cache_get(resource->cache, key, FRESH_ANY, 0, &stored, NULL));
    if (stored != NULL) {
        return bring_up_to_date(request, wanted, stored);
    }
    struct object *object = schema_copy_shallow(arena, kind->type, wanted->object);

    rules_default(arena, kind, object);
    struct status *status = registry_store_new(request, resource, &options, object);

    return status_free_if(&status, STATUS_ALREADY_EXISTS) ? NULL : status;
}

static void work(void *arg)
{
    struct pass *pass = arg;

    while (pass->next < pass->list->len && pass->failure == NULL) {
        const struct initial_object *wanted = &pass->list->items[pass->next++];
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct status *status = ensure(pass->server, arena, wanted);

        if (status != NULL) {
            status = status_while(status, "%.*s %.*s", STR_ARG(wanted->kind->kind),
                                  STR_ARG(wanted->object->metadata.name));
            if (pass->failure == NULL) {
                pass->failure = status;
            } else {
                status_free(status);
            }
        }
    }
}

static struct status *ensure_all(struct apiserver *server, const struct initial_objects *list)
{
    struct pass pass = {.server = server, .list = list};
    struct task_group group;

    task_group_init(&group);
    for (size_t i = 0; i < MIN(list->len, (size_t)AT_ONCE); i++) {
        task_group_spawn(&group, "bootstrap", work, &pass);
    }
    task_group_wait(&group);
    return pass.failure;
}

static struct status *read_ca(struct arena *arena, struct str path, struct str *ret)
{
    return path.n == 0 ? NULL : file_read(arena, arena_cstr(arena, path), FILE_BYTES_MAX, ret);
}

static struct str_list texts(const struct flag_strings *strings)
{
    return (struct str_list){strings->items, strings->len};
}

/* The first range, and its first address, which the Service "kubernetes" has. */
static void learn_service_range(struct arena *arena, struct str ranges, struct initial_facts *facts)
{
    struct str range, rest;
    struct cidr cidr;

    str_cut(ranges, ',', &range, &rest);
    if (!cidr_parse(range, &cidr)) {
        return;
    }
    cidr = cidr_masked(&cidr);
    facts->service_range = cidr_format(arena, &cidr);
    struct ip ip = cidr.ip;

    for (int i = ip.length - 1; i >= 0 && ++ip.bytes[i] == 0; i--) {
    }
    facts->service_address = ip_format(arena, &ip);
}

/* Pods can't reach a loopback address, and no Endpoints may hold one. */
static bool is_reachable(struct str address)
{
    struct ip ip;

    return ip_parse(address, &ip) && !(ip.length == 4 && ip.bytes[0] == 127) &&
           !(ip.length == 16 && str_is(address, "::1"));
}

static struct status *learn_facts(struct apiserver *server, struct arena *arena, struct initial_facts *facts)
{
    const struct apiserver_options *options = server->options;

    *facts = (struct initial_facts){
        .address = server->advertised,
        .port = server->port,
        .requestheader_names = texts(&options->requestheader_allowed_names),
        .requestheader_extra_prefixes = texts(&options->requestheader_extra_headers_prefix),
        .requestheader_groups = texts(&options->requestheader_group_headers),
        .requestheader_uids = texts(&options->requestheader_uid_headers),
        .requestheader_usernames = texts(&options->requestheader_username_headers),
    };
    if (!is_reachable(facts->address)) {
        log_warn("--advertise-address is \"%.*s\": pods cannot reach this server by the Service \"kubernetes\"",
                 STR_ARG(facts->address));
        facts->address = (struct str){0};
    }
    learn_service_range(arena, options->service_cluster_ip_range, facts);
    TRY(read_ca(arena, options->client_ca_file, &facts->client_ca));
    return read_ca(arena, options->requestheader_client_ca_file, &facts->requestheader_ca);
}

static struct status *make_ready(struct change_op *op, const struct object *current, struct object **ret)
{
    struct arena *arena = op->request->arena;
    struct networking_v1_service_cidr *range = schema_copy_shallow(arena, op->resource->kind->type, current);

    if (range->status.conditions.len == 0) {
        *LIST_ADD(arena, &range->status.conditions) =
            (struct meta_v1_condition){.type = STR("Ready"),
                                       .status = STR("True"),
                                       .last_transition_time = timestamp_now(),
                                       .message = STR("Kubernetes default Service CIDR is ready")};
    }
    *ret = (struct object *)range;
    return NULL;
}

static struct status *mark_service_range_ready(struct apiserver *server, struct arena *arena)
{
    const struct write_options options = {.field_manager = STR("kube-apiserver")};
    const struct resource *resource = apiserver_resource(server, "networking.k8s.io", "v1", "servicecidrs");
    struct change_op op = {.request = request_internal(server, arena, resource, "update"),
                           .resource = resource,
                           .subresource = STR("status"),
                           .name = STR("kubernetes"),
                           .options = &options,
                           .make = make_ready,
                           .keeps_version = true};
    struct status *status = registry_change(&op);

    return status_free_if(&status, STATUS_NOT_FOUND) ? NULL : status;
}

static struct status *bootstrap(struct apiserver *server)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct initial_objects namespaces = {0}, objects = {0};
    struct initial_facts facts;

    TRY(learn_facts(server, arena, &facts));
    TRY(initial_namespaces(arena, &namespaces));
    TRY(initial_objects(arena, &facts, &objects));
    TRY(ensure_all(server, &namespaces));
    TRY(ensure_all(server, &objects));
    return mark_service_range_ready(server, arena);
}

const struct apiserver_extension bootstrap_extension = {.name = "bootstrap", .bootstrap = bootstrap};
