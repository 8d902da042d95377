#include "apiserver/authn/authenticate.h"
#include "apiserver/authz/authorize.h"
#include "apiserver/errors.h"

#define EXTRA_PREFIX STR("impersonate-extra-")

/* What the headers ask for. */
struct wanted {
    struct user user;
    bool any;
};

static struct wanted read_headers(struct request *request)
{
    struct wanted wanted = {0};

    LIST_EACH(header, &request->exchange->headers) {
        if (str_is(header->name, "impersonate-user")) {
            wanted.user.name = header->value;
            wanted.any = true;
        } else if (str_is(header->name, "impersonate-group")) {
            str_list_add(request->arena, &wanted.user.groups, header->value);
            wanted.any = true;
        } else if (str_is(header->name, "impersonate-uid")) {
            wanted.user.uid = header->value;
            wanted.any = true;
        } else if (str_has_prefix(header->name, EXTRA_PREFIX)) {
            struct str key = str_from(header->name, EXTRA_PREFIX.n);
            struct status *status = http_unescape(request->arena, key, false, &key);

            status_free(status);
            user_extra_add(request->arena, &wanted.user, key, header->value);
            wanted.any = true;
        }
    }
    return wanted;
}

static struct status *may(struct request *request, struct authz_attributes attributes)
{
    struct authz_decision decision;

    attributes.user = request->user;
    attributes.verb = STR("impersonate");
    attributes.is_resource = true;
    attributes.version = STR("v1");
    TRY(authorize(request->server, &attributes, request->arena, &decision));
    return decision.verdict == AUTHZ_ALLOW ? NULL : authz_forbidden(&attributes, decision.reason, request->arena);
}

static struct status *may_all(struct request *request, const struct user *wanted)
{
    struct str namespace, name;

    if (user_service_account(wanted->name, &namespace, &name)) {
        TRY(may(request, (struct authz_attributes){
                             .resource = STR("serviceaccounts"), .namespace = namespace, .name = name}));
    } else {
        TRY(may(request, (struct authz_attributes){.resource = STR("users"), .name = wanted->name}));
    }
    LIST_EACH(group, &wanted->groups) {
        TRY(may(request, (struct authz_attributes){.resource = STR("groups"), .name = *group}));
    }
    for (size_t i = 0; i < wanted->extra.len; i++) {
        LIST_EACH(value, &wanted->extra.items[i].values) {
            TRY(may(request, (struct authz_attributes){.group = STR("authentication.k8s.io"),
                                                       .resource = STR("userextras"),
                                                       .subresource = wanted->extra.items[i].key,
                                                       .name = *value}));
        }
    }
    if (wanted->uid.n != 0) {
        TRY(may(request, (struct authz_attributes){
                             .group = STR("authentication.k8s.io"), .resource = STR("uids"), .name = wanted->uid}));
    }
    return NULL;
}

struct status *authenticate_impersonation(struct request *request)
{
    struct wanted wanted = read_headers(request);
    struct str namespace, name;

    if (!wanted.any) {
        return NULL;
    }
    if (wanted.user.name.n == 0) {
        return error_internal("requested %s without impersonating a user",
                              wanted.user.groups.len != 0 ? "groups" : "uid or extra");
    }
    TRY(may_all(request, &wanted.user));
    struct user *user = user_copy(request->arena, &wanted.user);

    if (user_service_account(user->name, &namespace, &name) && user->groups.len == 0) {
        user_add_service_account_groups(request->arena, user, namespace);
    }
    if (!str_is(user->name, USER_ANONYMOUS)) {
        if (!user_has_group(user, GROUP_UNAUTHENTICATED) && !user_has_group(user, GROUP_AUTHENTICATED)) {
            str_list_add(request->arena, &user->groups, STR(GROUP_AUTHENTICATED));
        }
    } else if (!user_has_group(user, GROUP_UNAUTHENTICATED)) {
        str_list_add(request->arena, &user->groups, STR(GROUP_UNAUTHENTICATED));
    }
    request->user = user;
    return NULL;
}
