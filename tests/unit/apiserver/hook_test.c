#include "test.h"

#include "apiserver/admission/webhook/hook.h"
#include "schema/json.h"

static const struct admissionregistration_v1_validating_webhook *webhook_of(struct arena *arena, const char *rest)
{
    const struct type *type = &admissionregistration_v1_validating_webhook_type;
    void *webhook = arena_alloc(arena, type->size);

    CHECK_OK(json_decode(arena, type, arena_printf(arena, "{\"name\":\"h.example.com\",%s}", rest), webhook, NULL));
    return webhook;
}

#define RULE(operations, groups, resources, more)                                                                  \
    "\"rules\":[{\"operations\":[" operations "],\"apiGroups\":[" groups "],\"apiVersions\":[\"v1\"],\"resources\":[" \
    resources "]" more "}]"

TEST("apiserver/hook/which requests a webhook is asked about")
{
    static const struct {
        const char *webhook, *operation, *group, *resource, *subresource;
        bool matches;
    } rows[] = {
        {RULE("\"CREATE\"", "\"\"", "\"pods\"", ""), "CREATE", "", "pods", "", true},
        {RULE("\"CREATE\"", "\"\"", "\"pods\"", ""), "UPDATE", "", "pods", "", false},
        {RULE("\"*\"", "\"apps\"", "\"pods\"", ""), "CREATE", "", "pods", "", false},
        {RULE("\"*\"", "\"*\"", "\"*\"", ""), "DELETE", "apps", "deployments", "", true},
        {RULE("\"*\"", "\"*\"", "\"*\"", ""), "UPDATE", "apps", "deployments", "scale", false},
        {RULE("\"*\"", "\"*\"", "\"*/*\"", ""), "UPDATE", "apps", "deployments", "scale", true},
        {RULE("\"*\"", "\"*\"", "\"pods/*\"", ""), "UPDATE", "", "pods", "status", true},
        {RULE("\"*\"", "\"*\"", "\"*/scale\"", ""), "UPDATE", "apps", "deployments", "status", false},
        {RULE("\"*\"", "\"*\"", "\"*\"", ",\"scope\":\"Cluster\""), "CREATE", "", "pods", "", false},
        {RULE("\"*\"", "\"*\"", "\"*\"", ",\"scope\":\"Namespaced\""), "CREATE", "", "pods", "", true},
        {RULE("\"*\"", "\"*\"", "\"*\"", "") ",\"objectSelector\":{\"matchLabels\":{\"app\":\"x\"}}", "CREATE", "",
         "pods", "", true},
        {RULE("\"*\"", "\"*\"", "\"*\"", "") ",\"objectSelector\":{\"matchLabels\":{\"app\":\"y\"}}", "CREATE", "",
         "pods", "", false},
        {RULE("\"*\"", "\"*\"", "\"*\"", "") ",\"namespaceSelector\":{\"matchExpressions\":[{\"key\":\"app\","
                                             "\"operator\":\"DoesNotExist\"}]}",
         "CREATE", "", "pods", "", false},
    };
    struct str_entry entry = {STR_INIT("app"), STR_INIT("x")};
    const struct str_map labels = {&entry, 1};
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hook hook = hook_of_validating(webhook_of(arena, rows[i].webhook));
        struct hook_subject subject = {.operation = str_of(rows[i].operation),
                                       .group = str_of(rows[i].group),
                                       .version = STR("v1"),
                                       .resource = str_of(rows[i].resource),
                                       .subresource = str_of(rows[i].subresource),
                                       .is_namespaced = true,
                                       .namespace_labels = &labels,
                                       .labels = &labels};
        bool matches;

        CHECK_OK(hook_matches(arena, &hook, &subject, &matches));
        if (matches != rows[i].matches) {
            test_fail(__FILE__, __LINE__, "row %zu", i);
        }
    }
}

TEST("apiserver/hook/defaults")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct hook hook = hook_of_validating(webhook_of(arena, "\"rules\":null"));

    CHECK_INT(hook.timeout_seconds, 10);
    CHECK(!hook.ignores_failure);
    CHECK(hook.has_side_effects);
    hook = hook_of_validating(
        webhook_of(arena, "\"failurePolicy\":\"Ignore\",\"sideEffects\":\"NoneOnDryRun\",\"timeoutSeconds\":3"));
    CHECK_INT(hook.timeout_seconds, 3);
    CHECK(hook.ignores_failure);
    CHECK(!hook.has_side_effects);
}

#define ANSWER(response) "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\"" response "}"

TEST("apiserver/hook/answers")
{
    static const struct {
        const char *json, *error;
    } rows[] = {
        {ANSWER(",\"response\":{\"uid\":\"u\",\"allowed\":true}"), NULL},
        {ANSWER(""), "webhook response was absent"},
        {ANSWER(",\"response\":{\"uid\":\"other\"}"), "expected response.uid=\"u\", got \"other\""},
        {ANSWER(",\"response\":{\"uid\":\"u\",\"patch\":\"W10=\"}"),
         "webhook returned response.patch but not response.patchType"},
        {"{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}", "got v1, Kind=Pod"},
        {"<html>", "invalid character"},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct admission_v1_admission_response *response;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct status *status = hook_answer(arena, str_of(rows[i].json), STR("u"), &response);

        if (rows[i].error == NULL) {
            CHECK_OK(status);
        } else {
            CHECK_ERROR(status, rows[i].error);
        }
    }
}

TEST("apiserver/hook/refusals")
{
    struct meta_v1_status told = {.code = 418, .message = STR("no tea"), .reason = STR("Conflict")};
    struct admission_v1_admission_response response = {.status = &told};
    struct status *status = hook_refusal(STR("h"), &response);

    CHECK_STR(status->message, "admission webhook \"h\" denied the request: no tea");
    CHECK_INT(status->code, 418);
    CHECK_INT(status->reason, STATUS_CONFLICT);
    status_free(status);

    response.status = NULL;
    status = hook_refusal(STR("h"), &response);
    CHECK_STR(status->message, "admission webhook \"h\" denied the request without explanation");
    CHECK_INT(status->code, 403);
    status_free(status);
}
