#include "apiserver/authn/service_account.h"

#include "schema/json_lexer.h"
#include "schema/meta_v1.h"
#include "schema/value.h"

/* Clocks of nodes may be this far off. */
enum { LEEWAY_SECONDS = 60 };

static void add_member(struct buf *out, const char *key, struct str value)
{
    buf_printf(out, "%s\"%s\":", out->p[out->n - 1] == '{' ? "" : ",", key);
    json_add_string(out, value);
}

static void add_object(struct buf *out, const char *key, struct str name, struct str uid)
{
    if (name.n == 0) {
        return;
    }
    buf_printf(out, "%s\"%s\":{", out->p[out->n - 1] == '{' ? "" : ",", key);
    add_member(out, "name", name);
    add_member(out, "uid", uid);
    buf_add_char(out, '}');
}

struct str service_account_claims_json(const struct service_account_claims *c, struct arena *arena)
{
    OWNED(buf_done) struct buf out = {0};

    buf_add_str(&out, STR("{\"aud\":["));
    for (size_t i = 0; i < c->audiences.len; i++) {
        buf_add_str(&out, i == 0 ? (struct str){0} : STR(","));
        json_add_string(&out, c->audiences.items[i]);
    }
    buf_printf(&out, "],\"exp\":%lld,\"iat\":%lld", (long long)c->expires, (long long)c->issued);
    add_member(&out, "iss", c->issuer);
    add_member(&out, "jti", c->id);
    buf_add_str(&out, STR(",\"kubernetes.io\":{"));
    add_member(&out, "namespace", c->namespace);
    add_object(&out, "node", c->node_name, c->node_uid);
    add_object(&out, "pod", c->pod_name, c->pod_uid);
    add_object(&out, "secret", c->secret_name, c->secret_uid);
    add_object(&out, "serviceaccount", c->name, c->uid);
    if (c->warn_after != 0) {
        buf_printf(&out, ",\"warnafter\":%lld", (long long)c->warn_after);
    }
    buf_printf(&out, "},\"nbf\":%lld,\"sub\":\"system:serviceaccount:%.*s:%.*s\"}", (long long)c->issued,
               STR_ARG(c->namespace), STR_ARG(c->name));
    return arena_str(arena, buf_str(&out));
}

static struct str_list audiences_of(const struct value *claims, struct arena *arena)
{
    struct value *aud = value_find(claims, STR("aud"));
    struct str_list list = {0};

    if (value_is(aud, VALUE_STRING)) {
        *LIST_ADD(arena, &list) = value_str(aud);
    }
    VALUE_EACH_ITEM(item, aud)
    {
        *LIST_ADD(arena, &list) = value_str(*item);
    }
    return list;
}

static struct str quoted_list(const struct str_list *list, struct arena *arena)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < list->len; i++) {
        buf_printf(&out, "%s\"%.*s\"", i == 0 ? "" : " ", STR_ARG(list->items[i]));
    }
    return arena_str(arena, buf_str(&out));
}

static struct authn_token_result rejected(struct str error)
{
    return (struct authn_token_result){.verdict = AUTHN_REJECTED, .error = error};
}

static bool number_claim(const struct value *claims, const char *name, int64_t *ret)
{
    struct value *value = value_find(claims, str_of(name));

    if (value_is(value, VALUE_INT)) {
        *ret = value->integer;
        return true;
    }
    if (value_is(value, VALUE_DOUBLE) && value->number > -1e15 && value->number < 1e15) {
        *ret = (int64_t)value->number;
        return true;
    }
    return false;
}

/* The bound object is there with that UID, and (grace over) not on its way out. */
static bool is_alive(const struct service_account_lookup *lookup, enum bound_kind kind, struct str namespace,
                     struct str name, struct str uid, int64_t now)
{
    const struct meta_v1_object_meta *meta = lookup->find(lookup->arg, kind, namespace, name);

    if (meta == NULL || !str_eq(meta->uid, uid)) {
        return false;
    }
    return meta->deletion_timestamp == NULL || meta->deletion_timestamp->seconds + LEEWAY_SECONDS >= now;
}

static const char *bound_error(const struct service_account_verifier *verifier, const struct value *claims,
                               int64_t now)
{
    static const struct {
        const char *member;
        enum bound_kind kind;
        bool namespaced;
        const char *error;
    } bound[] = {
        {"serviceaccount", BOUND_SERVICE_ACCOUNT, true, "service account token has been invalidated"},
        {"pod", BOUND_POD, true, "service account token has been invalidated"},
        {"secret", BOUND_SECRET, true, "service account token has been invalidated"},
    };
    struct value *own = value_find(claims, STR("kubernetes.io"));
    struct str namespace = value_str_at(own, "namespace");

    for (size_t i = 0; verifier->lookup != NULL && i < COUNT_OF(bound); i++) {
        struct value *object = value_find(own, str_of(bound[i].member));

        if (object != NULL && !is_alive(verifier->lookup, bound[i].kind, namespace, value_str_at(object, "name"),
                                        value_str_at(object, "uid"), now)) {
            return bound[i].error;
        }
    }
    return NULL;
}

static struct user *user_of(const struct value *claims, struct arena *arena)
{
    static const struct {
        const char *path, *key;
    } extras[] = {{"pod.name", "authentication.kubernetes.io/pod-name"},
                  {"pod.uid", "authentication.kubernetes.io/pod-uid"},
                  {"node.name", "authentication.kubernetes.io/node-name"},
                  {"node.uid", "authentication.kubernetes.io/node-uid"}};
    struct value *own = value_find(claims, STR("kubernetes.io"));
    struct str namespace = value_str_at(own, "namespace"), name = value_str_at(own, "serviceaccount.name");
    struct str id = value_str_at(claims, "jti");
    struct user *user = ARENA_NEW(arena, struct user);

    user->name = arena_printf(arena, USER_SERVICE_ACCOUNT_PREFIX "%.*s:%.*s", STR_ARG(namespace), STR_ARG(name));
    user->uid = arena_str(arena, value_str_at(own, "serviceaccount.uid"));
    user_add_service_account_groups(arena, user, namespace);
    if (id.n != 0) {
        user_extra_add(arena, user, STR("authentication.kubernetes.io/credential-id"),
                       arena_printf(arena, "JTI=%.*s", STR_ARG(id)));
    }
    for (size_t i = 0; i < COUNT_OF(extras); i++) {
        struct str value = value_str_at(own, extras[i].path);

        if (value.n != 0) {
            user_extra_add(arena, user, str_of(extras[i].key), value);
        }
    }
    return user;
}

/* The audiences both sides have. */
static struct str_list both(const struct str_list *a, const struct str_list *b, struct arena *arena)
{
    struct str_list list = {0};

    LIST_EACH(item, a) {
        if (str_list_has(b, *item)) {
            *LIST_ADD(arena, &list) = *item;
        }
    }
    return list;
}

static struct authn_token_result check_claims(const struct service_account_verifier *verifier,
                                              const struct value *claims, const struct str_list *wanted, int64_t now,
                                              struct arena *arena)
{
    const struct str_list *targets = wanted != NULL && wanted->len != 0 ? wanted : verifier->audiences;
    struct str_list audiences = audiences_of(claims, arena), common = both(&audiences, targets, arena);
    int64_t expires, not_before;

    if (common.len == 0) {
        return rejected(arena_printf(arena, "token audiences [%.*s] is invalid for the target audiences [%.*s]",
                                     STR_ARG(quoted_list(&audiences, arena)), STR_ARG(quoted_list(targets, arena))));
    }
    if (number_claim(claims, "exp", &expires) && now > expires + LEEWAY_SECONDS) {
        return rejected(STR("service account token has expired"));
    }
    if (number_claim(claims, "nbf", &not_before) && now < not_before - LEEWAY_SECONDS) {
        return rejected(STR("service account token is not valid yet"));
    }
    const char *error = bound_error(verifier, claims, now);

    if (error != NULL) {
        return rejected(str_of(error));
    }
    return (struct authn_token_result){.verdict = AUTHN_OK, .user = user_of(claims, arena), .audiences = common};
}

struct authn_token_result service_account_verify(const struct service_account_verifier *verifier, struct str token,
                                                 const struct str_list *wanted, int64_t now, struct arena *arena)
{
    struct str header, text, signature;
    struct value *claims;
    struct authn_token_result none = {.verdict = AUTHN_NONE};

    if (!jwt_split(token, arena, &header, &text, &signature)) {
        return none;
    }
    struct status *status = value_read_json(arena, text, &claims, NULL);

    if (status != NULL) {
        status_free(status);
        return none;
    }
    if (!str_list_has(verifier->issuers, value_str_at(claims, "iss"))) {
        return none;
    }
    status = jwt_verify(token, verifier->keys, verifier->key_count, arena, &text);
    if (status != NULL) {
        struct str error = arena_str(arena, status->message);

        status_free(status);
        return rejected(error);
    }
    if (value_find(value_find(claims, STR("kubernetes.io")), STR("serviceaccount")) == NULL) {
        return rejected(STR("the token names no service account"));
    }
    return check_claims(verifier, claims, wanted, now, arena);
}
