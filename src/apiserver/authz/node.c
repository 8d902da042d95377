#include "apiserver/authz/node.h"

#include "api/core_v1.h"
#include "api/storage_v1.h"
#include "apiserver/server.h"

/* What every node may do; what is below `node_decide` narrows some of it down. */
static const struct {
    const char *group, *resource, *verbs;
} rules[] = {
    {"authentication.k8s.io", "tokenreviews", "create"},
    {"authorization.k8s.io", "localsubjectaccessreviews", "create"},
    {"authorization.k8s.io", "subjectaccessreviews", "create"},
    {"", "services", "get list watch"},
    {"", "nodes", "create get list watch patch update"},
    {"", "nodes/status", "patch update"},
    {"", "events", "create patch update"},
    {"events.k8s.io", "events", "create patch update"},
    {"", "pods", "get list watch create delete"},
    {"", "pods/status", "patch update"},
    {"", "pods/eviction", "create"},
    {"", "endpoints", "get"},
    {"certificates.k8s.io", "certificatesigningrequests", "create get list watch"},
    {"storage.k8s.io", "csidrivers", "get list watch"},
    {"node.k8s.io", "runtimeclasses", "get list watch"},
    {"certificates.k8s.io", "clustertrustbundles", "get list watch"},
    {"certificates.k8s.io", "podcertificaterequests", "create get list watch"},
};

struct node_question {
    struct apiserver *server;
    const struct authz_attributes *attributes;
    struct arena *arena;
    struct str node;
};

static struct authz_decision no(struct str reason)
{
    return (struct authz_decision){.verdict = AUTHZ_NO_OPINION, .reason = reason};
}

static const struct authz_decision yes = {.verdict = AUTHZ_ALLOW};

static bool has_verb(const char *verbs, struct str verb)
{
    for (struct str rest = str_of(verbs), item; str_next(&rest, ' ', &item);) {
        if (str_eq(item, verb)) {
            return true;
        }
    }
    return false;
}

static bool is_ruled(const struct node_question *question)
{
    const struct authz_attributes *a = question->attributes;
    struct str resource = a->subresource.n == 0 ? a->resource
                                                : arena_printf(question->arena, "%.*s/%.*s", STR_ARG(a->resource),
                                                               STR_ARG(a->subresource));

    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        if (str_is(a->group, rules[i].group) && str_is(resource, rules[i].resource) &&
            has_verb(rules[i].verbs, a->verb)) {
            return true;
        }
    }
    return false;
}

/* Some object of the cache about which fn says yes. */
static struct status *find(struct node_question *question, const char *group, const char *plural, struct str scope,
                           bool (*fn)(struct node_question *question, const void *object, void *arg), void *arg,
                           bool *ret)
{
    OWNED(watch_snapshot_done) struct watch_snapshot snapshot = {0};
    const struct resource *resource = apiserver_resource(question->server, group, "v1", plural);
    struct watch_snapshot_walk walk;

    TRY(watch_cache_snapshot(resource->cache, FRESH_ANY, 0, &snapshot));
    *ret = false;
    watch_snapshot_walk(&walk, &snapshot, scope, (struct str){0});
    for (struct stored *stored; !*ret && (stored = watch_snapshot_next(&walk)) != NULL;) {
        const void *object;

        TRY(stored_object(stored, &object));
        *ret = fn(question, object, arg);
    }
    return NULL;
}

struct reference {
    enum node_reference what;
    struct str name;
};

static bool pod_is_here_and_refers(struct node_question *question, const void *object, void *arg)
{
    const struct core_v1_pod *pod = object;
    const struct reference *reference = arg;

    return str_eq(pod->spec.node_name, question->node) && node_pod_refers(pod, reference->what, reference->name);
}

static struct status *is_referred(struct node_question *question, enum node_reference what, struct str name, bool *ret)
{
    struct reference reference = {what, name};
    struct str scope = arena_printf(question->arena, "%.*s/", STR_ARG(question->attributes->namespace));

    return find(question, "", "pods", scope, pod_is_here_and_refers, &reference, ret);
}

/* A volume is reached by the claim it is bound to. */
static bool pod_uses_claim(struct node_question *question, const void *object, void *arg)
{
    const struct core_v1_object_reference *claim = arg;
    const struct core_v1_pod *pod = object;

    return str_eq(pod->metadata.namespace, claim->namespace) && str_eq(pod->spec.node_name, question->node) &&
           node_pod_refers(pod, NODE_CLAIM, claim->name);
}

static bool is_claim_of_volume(struct node_question *question, const void *object, void *arg)
{
    const struct core_v1_persistent_volume *volume = object;
    struct core_v1_object_reference *ret_claim = arg;

    if (volume->spec.claim_ref == NULL || !str_eq(volume->metadata.name, question->attributes->name)) {
        return false;
    }
    ret_claim->namespace = arena_str(question->arena, volume->spec.claim_ref->namespace);
    ret_claim->name = arena_str(question->arena, volume->spec.claim_ref->name);
    return true;
}

static struct status *is_volume_here(struct node_question *question, bool *ret)
{
    struct core_v1_object_reference claim = {0};
    bool is_bound;

    *ret = false;
    TRY(find(question, "", "persistentvolumes", question->attributes->name, is_claim_of_volume, &claim, &is_bound));
    return is_bound ? find(question, "", "pods", (struct str){0}, pod_uses_claim, &claim, ret) : NULL;
}

static bool is_attachment_here(struct node_question *question, const void *object, void *arg)
{
    const struct storage_v1_volume_attachment *attachment = object;

    return str_eq(attachment->metadata.name, question->attributes->name) &&
           str_eq(attachment->spec.node_name, question->node);
}

static struct authz_decision by_relation(struct node_question *question, bool is_related)
{
    return is_related ? yes
                      : no(arena_printf(question->arena, "no relationship found between node '%.*s' and this object",
                                        STR_ARG(question->node)));
}

/* Objects that a node may read one by one, when something on it refers to them. */
static struct status *decide_read(struct node_question *question, const char *verbs, enum node_reference what,
                                  struct authz_decision *ret)
{
    const struct authz_attributes *a = question->attributes;
    bool is_related;

    if (!has_verb(verbs, a->verb)) {
        *ret = no(str_is(str_of(verbs), "get") ? STR("can only get individual resources of this type")
                                               : STR("can only read resources of this type"));
        return NULL;
    }
    if (a->name.n == 0) {
        *ret = no(STR("No Object name found"));
        return NULL;
    }
    if (a->subresource.n != 0) {
        *ret = no(STR("cannot read subresource"));
        return NULL;
    }
    TRY(is_referred(question, what, a->name, &is_related));
    *ret = by_relation(question, is_related);
    return NULL;
}

static struct status *decide_claim(struct node_question *question, struct authz_decision *ret)
{
    const struct authz_attributes *a = question->attributes;
    bool is_related;

    if (str_is(a->subresource, "status")) {
        if (!has_verb("get update patch", a->verb)) {
            *ret = no(STR("can only get/update/patch this type"));
            return NULL;
        }
        TRY(is_referred(question, NODE_CLAIM, a->name, &is_related));
        *ret = by_relation(question, is_related);
        return NULL;
    }
    return decide_read(question, "get", NODE_CLAIM, ret);
}

static struct status *decide_token(struct node_question *question, struct authz_decision *ret)
{
    const struct authz_attributes *a = question->attributes;
    bool is_related;

    if (!str_is(a->verb, "create") || !str_is(a->subresource, "token") || a->name.n == 0) {
        *ret = no(str_is(a->verb, "create") ? STR("can only create token subresource of serviceaccount")
                                            : STR("can only create tokens for individual service accounts"));
        if (str_is(a->verb, "get") && a->subresource.n == 0) {
            return decide_read(question, "get", NODE_SERVICE_ACCOUNT, ret);
        }
        return NULL;
    }
    TRY(is_referred(question, NODE_SERVICE_ACCOUNT, a->name, &is_related));
    *ret = by_relation(question, is_related);
    return NULL;
}

/* A kubelet's own object, named as the node: its lease, its CSINode. Creating takes any name: admission looks at it. */
static struct authz_decision decide_own(struct node_question *question, const char *namespace)
{
    const struct authz_attributes *a = question->attributes;

    if (!has_verb("get create update patch delete", a->verb)) {
        return no(namespace != NULL ? STR("can only get, create, update, patch, or delete a node lease")
                                    : STR("can only get, create, update, patch, or delete a CSINode"));
    }
    if (namespace != NULL && !str_is(a->namespace, namespace)) {
        return no(STR("can only access leases in the \"kube-node-lease\" system namespace"));
    }
    if (!str_is(a->verb, "create") && !str_eq(a->name, question->node)) {
        return no(namespace != NULL ? STR("can only access node lease with the same name as the requesting node")
                                    : STR("can only access CSINode with the same name as the requesting node"));
    }
    return yes;
}

/* Reading nodes and pods is for one's own. */
static struct authz_decision decide_selected(struct node_question *question, const char *field)
{
    const struct authz_attributes *a = question->attributes;

    if (!has_verb("get list watch", a->verb)) {
        return is_ruled(question) ? yes : no((struct str){0});
    }
    bool is_node = str_is(a->resource, "nodes");

    if (a->name.n != 0 && is_node && a->subresource.n == 0) {
        return str_eq(a->name, question->node)
                   ? yes
                   : no(arena_printf(question->arena, "node '%.*s' cannot read '%.*s', only its own Node object",
                                     STR_ARG(question->node), STR_ARG(a->name)));
    }
    struct str wanted = arena_printf(question->arena, "%s=%.*s", field, STR_ARG(question->node));

    for (struct str rest = a->field_selector, term; a->field_selector.n != 0 && str_next(&rest, ',', &term);) {
        if (str_eq(term, wanted)) {
            return yes;
        }
    }
    if (!is_node && str_is(a->verb, "get") && a->name.n != 0) {
        return yes; /* the caller looks whether the pod is here */
    }
    return no(arena_printf(question->arena, "can only list/watch %.*s with %s field selector", STR_ARG(a->resource),
                           str_is(str_of(field), "metadata.name") ? "metadata.name" : "spec.nodeName"));
}

static bool is_pod_here(struct node_question *question, const void *object, void *arg)
{
    const struct core_v1_pod *pod = object;

    return str_eq(pod->metadata.name, question->attributes->name) && str_eq(pod->spec.node_name, question->node);
}

static struct status *decide_pods(struct node_question *question, struct authz_decision *ret)
{
    const struct authz_attributes *a = question->attributes;
    bool is_here;

    *ret = decide_selected(question, "spec.nodeName");
    if (!str_is(a->verb, "get") || a->name.n == 0 || ret->verdict != AUTHZ_ALLOW) {
        return NULL;
    }
    TRY(find(question, "", "pods", arena_printf(question->arena, "%.*s/%.*s", STR_ARG(a->namespace), STR_ARG(a->name)),
             is_pod_here, NULL, &is_here));
    *ret = by_relation(question, is_here);
    return NULL;
}

static struct status *decide_core(struct node_question *question, struct authz_decision *ret)
{
    struct str resource = question->attributes->resource;
    bool is_related;

    if (str_is(resource, "secrets")) {
        return decide_read(question, "get list watch", NODE_SECRET, ret);
    }
    if (str_is(resource, "configmaps")) {
        return decide_read(question, "get list watch", NODE_CONFIG_MAP, ret);
    }
    if (str_is(resource, "persistentvolumeclaims")) {
        return decide_claim(question, ret);
    }
    if (str_is(resource, "serviceaccounts")) {
        return decide_token(question, ret);
    }
    if (str_is(resource, "nodes")) {
        *ret = decide_selected(question, "metadata.name");
        return NULL;
    }
    if (str_is(resource, "pods")) {
        return decide_pods(question, ret);
    }
    if (str_is(resource, "persistentvolumes") && str_is(question->attributes->verb, "get")) {
        TRY(is_volume_here(question, &is_related));
        *ret = by_relation(question, is_related);
        return NULL;
    }
    *ret = is_ruled(question) ? yes : no((struct str){0});
    return NULL;
}

static struct status *decide_other(struct node_question *question, struct authz_decision *ret)
{
    const struct authz_attributes *a = question->attributes;
    bool is_related;

    if (str_is(a->group, "coordination.k8s.io") && str_is(a->resource, "leases")) {
        *ret = decide_own(question, "kube-node-lease");
    } else if (str_is(a->group, "storage.k8s.io") && str_is(a->resource, "csinodes")) {
        *ret = decide_own(question, NULL);
    } else if (str_is(a->group, "storage.k8s.io") && str_is(a->resource, "volumeattachments") && str_is(a->verb, "get")) {
        TRY(find(question, "storage.k8s.io", "volumeattachments", a->name, is_attachment_here, NULL, &is_related));
        *ret = by_relation(question, is_related);
    } else if (str_is(a->group, "resource.k8s.io") && str_is(a->resource, "resourceclaims")) {
        return decide_read(question, "get", NODE_RESOURCE_CLAIM, ret);
    } else if (str_is(a->group, "resource.k8s.io") && str_is(a->resource, "resourceslices")) {
        /* its own drivers' slices; what is in them is held to the node's name by their selectors */
        *ret = has_verb("get list watch create update patch delete deletecollection", a->verb) ? yes
                                                                                               : no((struct str){0});
    } else {
        *ret = is_ruled(question) ? yes : no((struct str){0});
    }
    return NULL;
}

struct status *node_decide(struct apiserver *server, const struct authz_attributes *attributes, struct arena *arena,
                           struct authz_decision *ret)
{
    struct node_question question = {.server = server, .attributes = attributes, .arena = arena};

    *ret = (struct authz_decision){.verdict = AUTHZ_NO_OPINION};
    if (!user_node_name(attributes->user, &question.node) || !attributes->is_resource) {
        return NULL;
    }
    TRY(attributes->group.n == 0 ? decide_core(&question, ret) : decide_other(&question, ret));
    if (ret->reason.n != 0) {
        ret->reason = arena_printf(arena, "node: %.*s", STR_ARG(ret->reason));
    }
    return NULL;
}
