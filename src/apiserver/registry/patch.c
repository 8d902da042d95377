#include "apiserver/decode.h"
#include "apiserver/encode.h"
#include "apiserver/errors.h"
#include "apiserver/registry/object_meta.h"
#include "apiserver/registry/registry.h"
#include "apiserver/registry/rules.h"
#include "apiserver/respond.h"
#include "base/env.h"
#include "base/limits.h"
#include "base/trace.h"
#include "schema/go_value.h"
#include "schema/json_lexer.h"
#include "schema/patch.h"

/* A patch on its way to one object, whatever its kind. */
struct patch_op {
    enum patch_type type;
    struct str text; /* as sent */
    struct value *patch;
    const struct kind *kind; /* as which the object is patched */
    const struct write_options *options;
};

static const char *go_type(enum patch_type type)
{
    return type == PATCH_JSON ? "[]handlers.jsonPatchOp" : "map[string]interface {}";
}

static struct status *read_patch(struct request *request, struct patch_op *op)
{
    struct status *status = value_read_json(request->arena, op->text, &op->patch, NULL);
    enum value_type wanted = op->type == PATCH_JSON ? VALUE_ARRAY : VALUE_OBJECT;

    if (status != NULL) {
        status_free(status);
        return error_bad_request("invalid JSON patch");
    }
    if (op->type == PATCH_MERGE && value_is(op->patch, VALUE_NULL)) {
        return error_bad_request("Invalid JSON Patch");
    }
    if (!value_is(op->patch, wanted)) {
        return error_bad_request("error decoding patch: json: cannot unmarshal %s into Go value of type %s",
                                 value_type_name(op->patch), go_type(op->type));
    }
    if (op->type == PATCH_JSON && value_count(op->patch) > LIMIT_JSON_PATCH_OPERATIONS) {
        return status_new(STATUS_REQUEST_ENTITY_TOO_LARGE,
                          "The allowed maximum operations in a JSON patch is %d, got %zu", LIMIT_JSON_PATCH_OPERATIONS,
                          value_count(op->patch));
    }
    return NULL;
}

static struct status *apply(struct arena *arena, const struct patch_op *op, const struct value *document,
                            struct value **ret)
{
    switch (op->type) {
    case PATCH_MERGE:
        *ret = patch_merge(arena, document, op->patch);
        return NULL;
    case PATCH_STRATEGIC:
        return patch_strategic(arena, op->kind->type, document, op->patch, ret);
    case PATCH_JSON:
    case PATCH_APPLY:
        break;
    }
    struct status *status = patch_json(arena, document, op->patch, ret);

    /* stock doesn't tell clients why an operation doesn't apply */
    return status_free_if(&status, STATUS_INVALID)
               ? status_new(STATUS_INVALID, "the server rejected our request due to an error in our request")
               : status;
}

/* What a patch made that is no object of the kind is the patch's fault. */
static struct status *patched_is_wrong(struct arena *arena, const struct patch_op *op, struct str text,
                                       struct status *cause)
{
    struct status *errors = error_invalid_start();
    OWNED(buf_done) struct buf quoted = {0};
    struct value value = {.type = VALUE_STRING,
                          .string = op->type == PATCH_STRATEGIC ? go_value_text(arena, op->patch) : text};
    struct str why = cause->message;
    size_t at = str_find(why, STR(": "));

    if (str_contains(why, STR(" cannot be handled as a ")) && at != SIZE_MAX) {
        why = str_from(why, at + 2); /* the error itself, without what the decoder was doing */
    }
    value_write_json(&quoted, &value, VALUE_JSON_PLAIN);
    error_invalid_value(errors, STR("patch"), buf_str(&quoted), "%.*s", STR_ARG(why));
    status_free(cause);
    return error_invalid_finish(errors, (struct str){0}, (struct str){0}, (struct str){0});
}

/* The outcome as stock's library writes it, which errors quote: objects that the patch touches have sorted keys, others
 * stay as they were. */
static void write_patched(struct arena *arena, const struct value *patched, const struct value *patch, struct buf *out)
{
    struct str *keys;

    if (!value_is(patched, VALUE_OBJECT) || !value_is(patch, VALUE_OBJECT)) {
        value_write_json(out, patched, 0);
        return;
    }
    keys = value_sorted_keys(arena, patched);
    buf_add_char(out, '{');
    for (size_t i = 0; i < value_count(patched); i++) {
        buf_add_str(out, i == 0 ? STR("") : STR(","));
        json_add_string(out, keys[i]);
        buf_add_char(out, ':');
        write_patched(arena, value_find(patched, keys[i]), value_find(patch, keys[i]), out);
    }
    buf_add_char(out, '}');
}

static struct status *patch_object(struct request *request, const struct patch_op *op, const void *current, void **ret)
{
    struct arena *arena = request->arena;
    OWNED(buf_done) struct buf item = {0};
    OWNED(buf_done) struct buf whole = {0};
    OWNED(buf_done) struct buf out = {0};
    struct value *document, *patched;

    encode_item(MEDIA_JSON, op->kind->type, current, &item);
    encode_typed(MEDIA_JSON, op->kind->api_version, op->kind->kind, buf_str(&item), &whole);
    TRY(value_read_json(arena, arena_str(arena, buf_str(&whole)), &document, NULL));
    TRY(apply(arena, op, document, &patched));
    if (op->type == PATCH_JSON && !value_is(patched, VALUE_OBJECT)) {
        return status_new(STATUS_INVALID, "the server rejected our request due to an error in our request");
    }
    write_patched(arena, patched, op->type == PATCH_JSON ? value_object(arena) : op->patch, &out);
    struct str text = arena_str(arena, buf_str(&out));
    struct status *status = decode_json(request, text, op->kind, op->options->field_validation, ret);

    return status == NULL ? NULL : patched_is_wrong(arena, op, text, status);
}

static struct status *make_patched(struct change_op *change, const struct object *current, struct object **ret)
{
    struct patch_op *op = change->arg;
    void *object;

    TRY(patch_object(change->request, op, current, &object));
    rules_default(change->request->arena, op->kind, object);
    TRY(object_meta_set_namespace(op->kind, object, change->namespace));
    TRY(object_meta_check_name(object, change->name));
    *ret = object;
    return NULL;
}

struct status *registry_read_patch(struct request *request, const struct write_options *options,
                                   const struct kind *kind, struct patch_op **ret)
{
    struct patch_op *op = ARENA_NEW(request->arena, struct patch_op);

    op->options = options;
    op->kind = kind;
    TRY(negotiate_patch(request_header(request, "content-type"), kind->type->package != NULL, &op->type));
    if (op->type == PATCH_APPLY) {
        return error_bad_request("an apply configuration can't be applied to this subresource");
    }
    TRY(decode_read_body(request, &op->text));
    TRY(read_patch(request, op));
    *ret = op;
    return NULL;
}

struct status *registry_apply_patch(struct request *request, const struct patch_op *op, const void *current,
                                    void **ret)
{
    return patch_object(request, op, current, ret);
}

struct status *registry_patch(struct request *request)
{
    const struct resource *resource = request->resource;
    struct write_options options;
    struct patch_op *op;
    int64_t start = env_wall();
    enum patch_type type;

    TRY(negotiate_patch(request_header(request, "content-type"), resource->kind->type->package != NULL, &type));
    if (type == PATCH_APPLY) {
        return registry_apply(request);
    }
    TRY(query_write_options(request->arena, request->exchange->query, WRITE_PATCH, &options));
    TRY(registry_read_patch(request, &options, resource->kind, &op));
    request_trace(request, &(struct trace_span){.step = TRACE_DECODE_OBJECT, .start = start,
                                                .detail = resource->kind->kind});
    struct change_op change = {.request = request,
                               .resource = resource,
                               .subresource = request->info.subresource,
                               .namespace = request->info.namespace,
                               .name = request->info.name,
                               .options = &options,
                               .make = make_patched,
                               .arg = op,
                               .keeps_version = true};

    TRY(registry_change(&change));
    return respond_object(request, 200, resource->kind, change.object);
}
