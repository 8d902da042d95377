#include "test.h"

#include "apiserver/authn/authn.h"
#include "apiserver/authz/authz.h"

TEST("apiserver/authn/token file and its groups")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct authn_file *file;

    CHECK_OK(authn_file_parse(STR("secret,alice,u1,\"admins,dev\"\n# note\n\n \"a\"\"b,c\" , bob,u2\n"), STR("f"),
                              &file));
    struct user *alice = authn_file_by_token(file, STR("secret"), arena);

    CHECK(alice != NULL && user_has_group(alice, "admins") && user_has_group(alice, "dev"));
    CHECK_STR(alice->uid, "u1");
    struct user *bob = authn_file_by_token(file, STR("a\"b,c"), arena);

    CHECK(bob != NULL && bob->groups.len == 0);
    CHECK(authn_file_by_token(file, STR("secre"), arena) == NULL);
    CHECK(authn_file_by_password(file, STR("alice"), STR("secret"), arena) != NULL);
    CHECK(authn_file_by_password(file, STR("bob"), STR("secret"), arena) == NULL);
    authn_file_free(file);
    CHECK_ERROR(authn_file_parse(STR("a,b\n"), STR("f"), &file), "f: line 1: must have at least 3 columns");
}

TEST("apiserver/authn/Authorization headers")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str token, name, password;

    CHECK(authn_bearer(STR("bearer abc"), &token));
    CHECK_STR(token, "abc");
    CHECK(!authn_bearer(STR("Bearer "), &token) && !authn_bearer(STR("Basic x"), &token) &&
          !authn_bearer(STR(""), &token) && !authn_bearer(STR("Nonsense"), &token));
    CHECK(authn_basic(STR("Basic dXNlcjpwYTpzcw=="), arena, &name, &password));
    CHECK_STR(name, "user");
    CHECK_STR(password, "pa:ss");
    CHECK(!authn_basic(STR("Basic ???"), arena, &name, &password));
    CHECK(!authn_basic(STR("Basic dXNlcg=="), arena, &name, &password));
}

static struct authz_attributes ask(const struct user *user, const char *verb, const char *resource)
{
    return (struct authz_attributes){.user = user, .verb = str_of(verb), .is_resource = true,
                                     .resource = str_of(resource), .namespace = STR("default")};
}

TEST("apiserver/authz/ABAC policies")
{
    struct abac *abac;
    struct user user = {.name = STR("bob")};

    CHECK_OK(abac_parse(STR("{\"apiVersion\":\"abac.authorization.kubernetes.io/v1beta1\",\"kind\":\"Policy\","
                            "\"spec\":{\"user\":\"bob\",\"namespace\":\"default\",\"resource\":\"pods\","
                            "\"apiGroup\":\"*\",\"readonly\":true}}\n"
                            "{\"apiVersion\":\"abac.authorization.kubernetes.io/v1beta1\",\"kind\":\"Policy\","
                            "\"spec\":{\"group\":\"ops\",\"nonResourcePath\":\"/logs/*\"}}\n"),
                        STR("policy"), &abac));
    struct authz_attributes get = ask(&user, "get", "pods"), create = ask(&user, "create", "pods"),
                            secrets = ask(&user, "get", "secrets"),
                            path = {.user = &user, .verb = STR("get"), .path = STR("/logs/a")};

    CHECK_INT(abac_decide(abac, &get).verdict, AUTHZ_ALLOW);
    CHECK_INT(abac_decide(abac, &create).verdict, AUTHZ_NO_OPINION);
    CHECK_INT(abac_decide(abac, &secrets).verdict, AUTHZ_NO_OPINION);
    CHECK_INT(abac_decide(abac, &path).verdict, AUTHZ_NO_OPINION);
    struct str ops = STR("ops");

    user.groups = (struct str_list){&ops, 1};
    CHECK_INT(abac_decide(abac, &path).verdict, AUTHZ_ALLOW);
    abac_free(abac);
    CHECK_ERROR(abac_parse(STR("\n{\"kind\":\"Policy\"}"), STR("policy"), &abac), "policy: line 2: wanted apiVersion");
    CHECK_ERROR(abac_parse(STR("{"), STR("policy"), &abac), "policy: line 1: ");
}

TEST("apiserver/authz/stock's words for what is forbidden")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct user user = {.name = STR("a<b")};
    struct authz_attributes pods = ask(&user, "list", "pods"),
                            scale = {.user = &user, .verb = STR("get"), .is_resource = true, .group = STR("apps"),
                                     .resource = STR("deployments"), .subresource = STR("scale"), .name = STR("d")},
                            path = {.user = &user, .verb = STR("get"), .path = STR("/x")};

    CHECK_ERROR(authz_forbidden(&pods, (struct str){0}, arena),
                "pods is forbidden: User \"a&lt;b\" cannot list resource \"pods\" in API group \"\" in the namespace "
                "\"default\"");
    CHECK_ERROR(authz_forbidden(&scale, STR("why"), arena),
                "deployments.apps \"d\" is forbidden: User \"a&lt;b\" cannot get resource \"deployments/scale\" in API "
                "group \"apps\" at the cluster scope: why");
    CHECK_ERROR(authz_forbidden(&path, (struct str){0}, arena), "forbidden: User \"a&lt;b\" cannot get path \"/x\"");
}
