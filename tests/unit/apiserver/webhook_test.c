#include "test.h"

#include "apiserver/authz/webhook.h"

TEST("apiserver/webhook/questions")
{
    struct str groups[] = {STR("dev"), STR("system:authenticated")};
    struct user user = {.name = STR("jane"), .groups = {groups, 2}};
    struct authz_attributes pods = {.user = &user,
                                    .verb = STR("get"),
                                    .is_resource = true,
                                    .version = STR("v1"),
                                    .namespace = STR("n"),
                                    .resource = STR("pods"),
                                    .subresource = STR("log"),
                                    .name = STR("a")};
    struct authz_attributes path = {.user = &user, .verb = STR("get"), .path = STR("/metrics")};
    OWNED(arena_freep) struct arena *arena = arena_new();

    CHECK_STR(webhook_question(arena, &pods, STR("v1")),
              "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\",\"metadata\":{},\"spec\":{"
              "\"groups\":[\"dev\",\"system:authenticated\"],\"resourceAttributes\":{\"name\":\"a\",\"namespace\":\"n\","
              "\"resource\":\"pods\",\"subresource\":\"log\",\"verb\":\"get\",\"version\":\"v1\"},\"user\":\"jane\"}}");
    CHECK_STR(webhook_question(arena, &path, STR("v1beta1")),
              "{\"apiVersion\":\"authorization.k8s.io/v1beta1\",\"kind\":\"SubjectAccessReview\",\"metadata\":{},\"spec\":{"
              "\"group\":[\"dev\",\"system:authenticated\"],\"nonResourceAttributes\":{\"path\":\"/metrics\",\"verb\":"
              "\"get\"},\"user\":\"jane\"}}");
}

TEST("apiserver/webhook/answers")
{
    static const struct {
        const char *json, *reason;
        enum authz_verdict verdict;
        bool has_error;
    } rows[] = {
        {"{\"status\":{\"allowed\":true}}", "", AUTHZ_ALLOW, false},
        {"{\"status\":{\"allowed\":false,\"reason\":\"not today\"}}", "not today", AUTHZ_NO_OPINION, false},
        {"{\"status\":{\"denied\":true,\"reason\":\"never\"}}", "never", AUTHZ_DENY, false},
        {"{\"status\":{\"allowed\":true,\"denied\":true}}", "", AUTHZ_NO_OPINION, true},
        {"{}", "", AUTHZ_NO_OPINION, false},
        {"<html>", "", AUTHZ_NO_OPINION, true},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct authz_decision decision = webhook_answer(arena, str_of(rows[i].json));

        CHECK_INT(decision.verdict, rows[i].verdict);
        CHECK_STR(decision.reason, rows[i].reason);
        CHECK_INT(decision.error.n != 0, rows[i].has_error);
    }
}
