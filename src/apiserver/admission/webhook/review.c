/* What is asked, and what the answer means. Pure. */
#include "apiserver/admission/webhook/hook.h"

#include "apiserver/encode.h"
#include "apiserver/query.h"
#include "apiserver/resource.h"
#include "schema/json.h"

static struct raw_json object_json(const struct admission_request *admission, const void *object)
{
    OWNED(buf_done) struct buf item = {0};
    OWNED(buf_done) struct buf out = {0};
    const struct kind *kind = admission->kind;

    if (object == NULL) {
        return (struct raw_json){0};
    }
    encode_item(MEDIA_JSON, kind->type, object, &item);
    encode_typed(MEDIA_JSON, kind->api_version, kind->kind, buf_str(&item), &out);
    return (struct raw_json){arena_str(admission->request->arena, buf_str(&out))};
}

static const char *operation_name(enum admission_operation operation)
{
    switch (operation) {
    case ADMIT_CREATE:
        return "CREATE";
    case ADMIT_UPDATE:
        return "UPDATE";
    case ADMIT_DELETE:
        return "DELETE";
    case ADMIT_CONNECT:
        break;
    }
    return "CONNECT";
}

static struct raw_json options_json(const struct admission_request *admission)
{
    static const char *const names[] = {[ADMIT_CREATE] = "CreateOptions", [ADMIT_UPDATE] = "UpdateOptions",
                                        [ADMIT_DELETE] = "DeleteOptions"};

    if (admission->operation == ADMIT_CONNECT) {
        return (struct raw_json){0};
    }
    return (struct raw_json){arena_printf(admission->request->arena,
                                          "{\"kind\":\"%s\",\"apiVersion\":\"meta.k8s.io/v1\"%s}",
                                          names[admission->operation],
                                          admission->dry_run ? ",\"dryRun\":[\"All\"]" : "")};
}

static void fill_user(struct arena *arena, const struct user *user, struct authentication_v1_user_info *info)
{
    info->username = user->name;
    info->uid = user->uid;
    info->groups = user->groups;
    info->extra.items = user->extra.len == 0 ? NULL : arena_array(arena, user->extra.len, sizeof *info->extra.items);
    info->extra.len = user->extra.len;
    for (size_t i = 0; i < user->extra.len; i++) {
        info->extra.items[i].key = user->extra.items[i].key;
        info->extra.items[i].value = user->extra.items[i].values;
    }
}

struct str hook_question(const struct admission_request *admission, struct str uid)
{
    struct arena *arena = admission->request->arena;
    const struct kind *kind = admission->kind, *resource = admission->resource->kind;
    struct admission_v1_admission_request *request = ARENA_NEW(arena, struct admission_v1_admission_request);
    struct admission_v1_admission_review review = {
        .type_meta = {.kind = STR("AdmissionReview"), .api_version = STR("admission.k8s.io/v1")}, .request = request};
    OWNED(buf_done) struct buf out = {0};

    *request = (struct admission_v1_admission_request){
        .uid = uid,
        .kind = {.group = kind->group, .version = kind->version, .kind = kind->kind},
        .resource = {.group = resource->group, .version = resource->version, .resource = resource->plural},
        .sub_resource = admission->subresource,
        .request_sub_resource = admission->subresource,
        .name = admission->name,
        .namespace = admission->namespace,
        .operation = str_of(operation_name(admission->operation)),
        .object = object_json(admission, admission->object),
        .old_object = object_json(admission, admission->old_object),
        .dry_run = ARENA_NEW(arena, bool),
        .options = options_json(admission),
    };
    *request->dry_run = admission->dry_run;
    request->request_kind = &request->kind;
    request->request_resource = &request->resource;
    fill_user(arena, admission->request->user, &request->user_info);
    json_encode(&admission_v1_admission_review_type, &review, &out);
    return arena_str(arena, buf_str(&out));
}

struct status *hook_answer(struct arena *arena, struct str json, struct str uid,
                           const struct admission_v1_admission_response **ret)
{
    struct admission_v1_admission_review *review = ARENA_NEW(arena, struct admission_v1_admission_review);

    TRY(json_decode(arena, &admission_v1_admission_review_type, json, review, NULL));
    if (!str_is(review->type_meta.kind, "AdmissionReview") ||
        !str_is(review->type_meta.api_version, "admission.k8s.io/v1")) {
        return status_new(STATUS_BAD_REQUEST, "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, "
                                              "got %.*s, Kind=%.*s",
                          STR_ARG(review->type_meta.api_version), STR_ARG(review->type_meta.kind));
    }
    if (review->response == NULL) {
        return status_new(STATUS_BAD_REQUEST, "webhook response was absent");
    }
    if (!str_eq(review->response->uid, uid)) {
        return status_new(STATUS_BAD_REQUEST, "expected response.uid=\"%.*s\", got \"%.*s\"", STR_ARG(uid),
                          STR_ARG(review->response->uid));
    }
    if (review->response->patch.n != 0 &&
        (review->response->patch_type == NULL || !str_is(*review->response->patch_type, "JSONPatch"))) {
        return status_new(STATUS_BAD_REQUEST, "webhook returned response.patch but not response.patchType");
    }
    *ret = review->response;
    return NULL;
}

struct status *hook_refusal(struct str name, const struct admission_v1_admission_response *response)
{
    static const struct meta_v1_status none = {0};
    const struct meta_v1_status *told = response->status != NULL ? response->status : &none;
    struct str why = told->message.n != 0 ? told->message : told->reason;
    struct status *status =
        why.n != 0 ? status_new(status_reason_of(told->reason), "admission webhook \"%.*s\" denied the request: %.*s",
                                STR_ARG(name), STR_ARG(why))
                   : status_new(status_reason_of(told->reason),
                                "admission webhook \"%.*s\" denied the request without explanation", STR_ARG(name));

    status->code = told->code >= 400 ? told->code : 403;
    return status;
}
