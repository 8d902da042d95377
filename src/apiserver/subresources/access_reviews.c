/* May someone do something? The authorizers' answer, for whoever has to decide elsewhere. */
#include "apiserver/subresources/handlers.h"

#include "api/authorization_v1.h"
#include "apiserver/authz/authorize.h"
#include "apiserver/decode.h"
#include "apiserver/errors.h"
#include "apiserver/registry/managed_fields.h"
#include "apiserver/respond.h"
#include "apiserver/server.h"
#include "schema/value.h"

#include <string.h>

static struct str group = STR_INIT("authorization.k8s.io");

/* What all reviews ask. */
struct question {
    const struct authorization_v1_resource_attributes *resource;
    const struct authorization_v1_non_resource_attributes *path;
    const struct user *user;
};

static struct status *finish(struct status *errors)
{
    return error_invalid_finish(errors, group, (struct str){0}, (struct str){0});
}

static struct status *check(const struct question *question)
{
    struct status *errors = error_invalid_start();

    if ((question->resource != NULL) == (question->path != NULL)) {
        error_invalid_value(errors, question->resource != NULL ? STR("spec.nonResourceAttributes") : STR("spec"),
                            STR("null"), "%s",
                            question->resource != NULL ? "cannot be specified in combination with resourceAttributes"
                                                       : "exactly one of nonResourceAttributes or resourceAttributes "
                                                         "must be specified");
    }
    return finish(errors);
}

static struct str or_all(struct str text)
{
    return text.n == 0 ? STR("*") : text;
}

/* Requirements as the text of a selector, for authorizers that look at it. */
static struct str field_selector_text(struct arena *arena,
                                      const struct authorization_v1_field_selector_attributes *from)
{
    OWNED(buf_done) struct buf text = {0};

    if (from == NULL || from->raw_selector.n != 0) {
        return from == NULL ? (struct str){0} : from->raw_selector;
    }
    LIST_EACH(requirement, &from->requirements) {
        bool is_in = str_is(requirement->operator, "In");

        if (requirement->values.len == 1 && (is_in || str_is(requirement->operator, "NotIn"))) {
            buf_printf(&text, "%s%.*s%s%.*s", text.n == 0 ? "" : ",", STR_ARG(requirement->key), is_in ? "=" : "!=",
                       STR_ARG(requirement->values.items[0]));
        }
    }
    return arena_str(arena, buf_str(&text));
}

static struct status *answer(struct request *request, const struct question *question,
                             struct authorization_v1_subject_access_review_status *ret)
{
    struct authz_attributes attributes = {.user = question->user};
    struct authz_decision decision;

    if (question->resource != NULL) {
        const struct authorization_v1_resource_attributes *r = question->resource;

        attributes.is_resource = true;
        attributes.verb = r->verb;
        attributes.namespace = r->namespace;
        attributes.group = r->group;
        attributes.version = or_all(r->version);
        attributes.resource = r->resource;
        attributes.subresource = r->subresource;
        attributes.name = r->name;
        attributes.field_selector = field_selector_text(request->arena, r->field_selector);
    } else {
        attributes.path = question->path->path;
        attributes.verb = question->path->verb;
    }
    TRY(authorize(request->server, &attributes, request->arena, &decision));
    *ret = (struct authorization_v1_subject_access_review_status){.allowed = decision.verdict == AUTHZ_ALLOW,
                                                                  .denied = decision.verdict == AUTHZ_DENY,
                                                                  .reason = decision.reason,
                                                                  .evaluation_error = decision.error};
    return NULL;
}

static const struct user *user_of(struct arena *arena, const struct authorization_v1_subject_access_review_spec *spec)
{
    struct user *user = ARENA_NEW(arena, struct user);

    user->name = spec->user;
    user->uid = spec->uid;
    user->groups = spec->groups;
    LIST_EACH(entry, &spec->extra) {
        LIST_EACH(value, &entry->value) {
            user_extra_add(arena, user, entry->key, *value);
        }
    }
    return user;
}

static struct status *read_review(struct request *request, void **ret)
{
    struct write_options options;
    struct str body;

    TRY(query_write_options(request->arena, request->exchange->query, WRITE_CREATE, &options));
    TRY(decode_read_body(request, &body));
    TRY(decode_object(request, body, request->resource->kind, options.field_validation, ret));
    managed_fields_update(&(struct managed_write){.arena = request->arena,
                                                  .kind = request->resource->kind,
                                                  .manager = request_field_manager(request, options.field_manager)},
                          NULL, *ret);
    return NULL;
}

static struct status *check_user(const struct authorization_v1_subject_access_review_spec *spec)
{
    struct status *errors = error_invalid_start();

    if (spec->user.n == 0 && spec->groups.len == 0) {
        error_invalid_value(errors, STR("spec.user"), STR("\"\""), "at least one of user or group must be specified");
    }
    return finish(errors);
}

struct status *subject_access_review_create(struct request *request)
{
    void *decoded;

    TRY(read_review(request, &decoded));
    struct authorization_v1_subject_access_review *review = decoded;
    struct question question = {review->spec.resource_attributes, review->spec.non_resource_attributes,
                                user_of(request->arena, &review->spec)};

    TRY(check(&question));
    TRY(check_user(&review->spec));
    TRY(answer(request, &question, &review->status));
    return respond_object(request, 201, request->resource->kind, review);
}

static struct status *check_local(struct request *request, struct authorization_v1_local_subject_access_review *review)
{
    const struct authorization_v1_resource_attributes *resource = review->spec.resource_attributes;
    const struct authorization_v1_non_resource_attributes *path = review->spec.non_resource_attributes;
    struct status *errors = error_invalid_start();

    if (path != NULL) {
        struct value text[2] = {{.type = VALUE_STRING, .string = path->path}, {.type = VALUE_STRING, .string = path->verb}};

        error_invalid_value(errors, STR("spec.nonResourceAttributes"),
                            arena_printf(request->arena, "{\"Path\":%.*s,\"Verb\":%.*s}",
                                         STR_ARG(value_json(request->arena, &text[0])),
                                         STR_ARG(value_json(request->arena, &text[1]))),
                            "disallowed on this kind of request");
    } else if (resource != NULL && !str_eq(resource->namespace, request->info.namespace)) {
        error_invalid_value(errors, STR("spec.resourceAttributes.namespace"),
                            arena_printf(request->arena, "\"%.*s\"", STR_ARG(resource->namespace)),
                            "must match metadata.namespace");
    }
    return finish(errors);
}

struct status *local_subject_access_review_create(struct request *request)
{
    void *decoded;

    TRY(read_review(request, &decoded));
    struct authorization_v1_local_subject_access_review *review = decoded;
    struct question question = {review->spec.resource_attributes, review->spec.non_resource_attributes,
                                user_of(request->arena, &review->spec)};

    if (!str_eq(review->metadata.namespace, request->info.namespace)) {
        return error_bad_request("the namespace of the provided object does not match the namespace sent on the request");
    }
    TRY(check_local(request, review));
    TRY(check(&question));
    TRY(check_user(&review->spec));
    TRY(answer(request, &question, &review->status));
    return respond_object(request, 201, request->resource->kind, review);
}

struct status *self_subject_access_review_create(struct request *request)
{
    void *decoded;

    TRY(read_review(request, &decoded));
    struct authorization_v1_self_subject_access_review *review = decoded;
    struct question question = {review->spec.resource_attributes, review->spec.non_resource_attributes, request->user};

    TRY(check(&question));
    TRY(answer(request, &question, &review->status));
    return respond_object(request, 201, request->resource->kind, review);
}

static void add_rule(struct arena *arena, struct authorization_v1_subject_rules_review_status *status,
                     const struct rbac_v1_policy_rule *rule)
{
    if (rule->non_resource_urls.len != 0) {
        *LIST_ADD(arena, &status->non_resource_rules) =
            (struct authorization_v1_non_resource_rule){.verbs = rule->verbs, .non_resource_urls = rule->non_resource_urls};
    } else {
        *LIST_ADD(arena, &status->resource_rules) =
            (struct authorization_v1_resource_rule){.verbs = rule->verbs,
                                                    .api_groups = rule->api_groups,
                                                    .resources = rule->resources,
                                                    .resource_names = rule->resource_names};
    }
}

static bool has_mode(const struct apiserver_options *options, const char *mode)
{
    LIST_EACH(item, &options->authorization_mode) {
        if (str_is(*item, mode)) {
            return true;
        }
    }
    return false;
}

/* The rules RBAC gives; other modes can't tell theirs. */
struct status *self_subject_rules_review_create(struct request *request)
{
    void *decoded;
    OWNED(rbac_view_done) struct rbac_view view = {0};

    TRY(read_review(request, &decoded));
    struct authorization_v1_self_subject_rules_review *review = decoded;
    struct str namespace = review->spec.namespace;
    struct authorization_v1_subject_rules_review_status *status = &review->status;
    static const struct str all[] = {STR_INIT("*")};
    static const struct str_list everything = {(struct str *)(uintptr_t)all, 1};
    struct rbac_v1_policy_rule any = {.verbs = everything, .api_groups = everything, .resources = everything};
    struct rbac_v1_policy_rule any_path = {.verbs = everything, .non_resource_urls = everything};

    if (namespace.n == 0) {
        return error_bad_request("no namespace on request");
    }
    memset(status, 0, sizeof *status);
    if (user_has_group(request->user, GROUP_MASTERS) || has_mode(request->server->options, "AlwaysAllow")) {
        add_rule(request->arena, status, &any);
        add_rule(request->arena, status, &any_path);
    }
    if (has_mode(request->server->options, "RBAC")) {
        TRY(rbac_view_open(request->server, &view));
        struct rbac_rules rules = rbac_rules_of(&view.source, request->user, namespace, request->arena);

        for (size_t i = 0; i < rules.len; i++) {
            add_rule(request->arena, status, rules.items[i]);
        }
        status->evaluation_error = rules.errors;
    }
    struct str node;

    if (has_mode(request->server->options, "Webhook") || user_node_name(request->user, &node)) {
        status->incomplete = true;
        status->evaluation_error = STR("node authorizer does not support user rule resolution");
    }
    if (status->resource_rules.items == NULL) {
        status->resource_rules.items = ARENA_NEW(request->arena, struct authorization_v1_resource_rule);
    }
    if (status->non_resource_rules.items == NULL) {
        status->non_resource_rules.items = ARENA_NEW(request->arena, struct authorization_v1_non_resource_rule);
    }
    review->spec.namespace = (struct str){0};
    memset(&review->metadata, 0, sizeof review->metadata);
    return respond_object(request, 201, request->resource->kind, review);
}
