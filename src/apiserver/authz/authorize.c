#include "apiserver/authz/authorize.h"

#include "apiserver/authz/node.h"
#include "apiserver/authz/webhook.h"
#include "apiserver/server.h"

static const void *first_of(const struct watch_snapshot *snapshot, struct str key)
{
    struct watch_snapshot_walk walk;
    const void *object = NULL;

    watch_snapshot_walk(&walk, snapshot, key, (struct str){0});
    struct stored *stored = watch_snapshot_next(&walk);

    if (stored == NULL || !str_eq(stored_key(stored), key)) {
        return NULL;
    }
    struct status *status = stored_object(stored, &object);

    if (status != NULL) {
        status_free(status);
        return NULL;
    }
    return object;
}

static const struct rbac_v1_cluster_role *cluster_role(void *arg, struct str name)
{
    const struct rbac_view *view = arg;

    return name.n == 0 ? NULL : first_of(&view->cluster_roles, name);
}

static const struct rbac_v1_role *role(void *arg, struct str namespace, struct str name)
{
    const struct rbac_view *view = arg;
    OWNED(buf_done) struct buf key = {0};

    buf_printf(&key, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
    return first_of(&view->roles, buf_str(&key));
}

static const void *next_object(struct watch_snapshot_walk *walk)
{
    struct stored *stored;

    while ((stored = watch_snapshot_next(walk)) != NULL) {
        const void *object;
        struct status *status = stored_object(stored, &object);

        if (status == NULL) {
            return object;
        }
        status_free(status); /* damaged: it grants nothing */
    }
    return NULL;
}

static struct rbac_cluster_bindings cluster_bindings(void *arg, struct arena *arena)
{
    const struct rbac_view *view = arg;
    struct rbac_cluster_bindings bindings = {0};
    struct watch_snapshot_walk walk;

    watch_snapshot_walk(&walk, &view->cluster_role_bindings, (struct str){0}, (struct str){0});
    for (const void *object; (object = next_object(&walk)) != NULL;) {
        *LIST_ADD(arena, &bindings) = object;
    }
    return bindings;
}

static struct rbac_bindings bindings_in(void *arg, struct str namespace, struct arena *arena)
{
    const struct rbac_view *view = arg;
    struct rbac_bindings bindings = {0};
    struct watch_snapshot_walk walk;

    watch_snapshot_walk(&walk, &view->role_bindings, arena_printf(arena, "%.*s/", STR_ARG(namespace)), (struct str){0});
    for (const void *object; (object = next_object(&walk)) != NULL;) {
        *LIST_ADD(arena, &bindings) = object;
    }
    return bindings;
}

static struct status *snapshot_of(struct apiserver *server, const char *plural, struct watch_snapshot *ret)
{
    const struct resource *resource = apiserver_resource(server, "rbac.authorization.k8s.io", "v1", plural);

    return watch_cache_snapshot(resource->cache, FRESH_ANY, 0, ret);
}

static struct status *take_all(struct apiserver *server, struct rbac_view *view)
{
    TRY(snapshot_of(server, "roles", &view->roles));
    TRY(snapshot_of(server, "rolebindings", &view->role_bindings));
    TRY(snapshot_of(server, "clusterroles", &view->cluster_roles));
    return snapshot_of(server, "clusterrolebindings", &view->cluster_role_bindings);
}

struct status *rbac_view_open(struct apiserver *server, struct rbac_view *ret)
{
    *ret = (struct rbac_view){.source = {.arg = ret,
                                         .cluster_bindings = cluster_bindings,
                                         .bindings = bindings_in,
                                         .cluster_role = cluster_role,
                                         .role = role}};
    struct status *status = take_all(server, ret);

    if (status != NULL) {
        rbac_view_done(ret);
    }
    return status;
}

void rbac_view_done(struct rbac_view *view)
{
    watch_snapshot_done(&view->roles);
    watch_snapshot_done(&view->role_bindings);
    watch_snapshot_done(&view->cluster_roles);
    watch_snapshot_done(&view->cluster_role_bindings);
}

static struct status *ask_rbac(struct apiserver *server, const struct authz_attributes *attributes,
                               struct arena *arena, struct authz_decision *ret)
{
    OWNED(rbac_view_done) struct rbac_view view = {0};

    TRY(rbac_view_open(server, &view));
    struct authz_decision decision = rbac_decide(&view.source, attributes, arena);

    decision.reason = arena_str(arena, decision.reason);
    decision.error = arena_str(arena, decision.error);
    *ret = decision;
    return NULL;
}

static struct status *ask(struct apiserver *server, struct str mode, const struct authz_attributes *attributes,
                          struct arena *arena, struct authz_decision *ret)
{
    *ret = (struct authz_decision){.verdict = AUTHZ_NO_OPINION};
    if (str_is(mode, "AlwaysAllow")) {
        ret->verdict = AUTHZ_ALLOW;
    } else if (str_is(mode, "AlwaysDeny")) {
        ret->reason = STR("Everything is forbidden.");
    } else if (str_is(mode, "ABAC") && server->abac != NULL) {
        *ret = abac_decide(server->abac, attributes);
    } else if (str_is(mode, "Webhook") && server->webhook != NULL) {
        *ret = webhook_decide(server->webhook, attributes, arena);
    } else if (str_is(mode, "Node")) {
        return node_decide(server, attributes, arena, ret);
    } else if (str_is(mode, "RBAC")) {
        return ask_rbac(server, attributes, arena, ret);
    }
    return NULL;
}

struct status *authorize(struct apiserver *server, const struct authz_attributes *attributes, struct arena *arena,
                         struct authz_decision *ret)
{
    const struct flag_strings *modes = &server->options->authorization_mode;
    struct authz_decision decision = {0};

    if (user_has_group(attributes->user, GROUP_MASTERS)) {
        *ret = (struct authz_decision){.verdict = AUTHZ_ALLOW};
        return NULL;
    }
    *ret = decision;
    for (size_t i = 0; i < modes->len; i++) {
        TRY(ask(server, modes->items[i], attributes, arena, &decision));
        if (decision.verdict != AUTHZ_NO_OPINION) {
            *ret = decision;
            return NULL;
        }
        if (decision.reason.n != 0) {
            ret->reason = decision.reason;
        }
        if (decision.error.n != 0) {
            ret->error = decision.error;
        }
    }
    return NULL;
}

struct authz_attributes authorize_attributes(const struct request *request)
{
    const struct request_info *info = &request->info;

    return (struct authz_attributes){.user = request->user,
                                     .verb = info->verb,
                                     .is_resource = info->is_resource,
                                     .path = info->path,
                                     .group = info->group,
                                     .version = info->version,
                                     .namespace = info->namespace,
                                     .resource = info->resource,
                                     .subresource = info->subresource,
                                     .name = info->name,
                                     .field_selector = info->field_selector,
                                     .label_selector = info->label_selector};
}
