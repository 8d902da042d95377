#include "apiserver/authz/authz.h"

#include "base/mem.h"
#include "schema/json_lexer.h"

#include <stdlib.h>

struct abac_policy {
    struct str user, group, api_group, resource, namespace, path;
    bool read_only;
};

struct abac {
    struct arena *arena;
    struct {
        struct abac_policy *items;
        size_t len;
    } policies;
};

static void spec_parse(struct json_lexer *in, struct abac_policy *policy)
{
    struct {
        const char *key;
        struct str *place;
    } fields[] = {{"user", &policy->user},           {"group", &policy->group},
                  {"apiGroup", &policy->api_group},  {"resource", &policy->resource},
                  {"namespace", &policy->namespace}, {"nonResourcePath", &policy->path}};
    struct str key;

    if (!json_object_start(in)) {
        return;
    }
    while (json_object_next(in, &key)) {
        bool known = false;

        for (size_t i = 0; i < COUNT_OF(fields) && !known; i++) {
            if (str_is(key, fields[i].key)) {
                known = true;
                json_string(in, fields[i].place);
            }
        }
        if (str_is(key, "readonly")) {
            json_bool(in, &policy->read_only);
        } else if (!known) {
            json_fail(in, "unknown field in spec");
        }
    }
}

static struct status *line_parse(struct abac *abac, struct str line)
{
    struct abac_policy policy = {0};
    struct json_lexer in;
    struct str key, version = {0}, kind = {0};

    json_begin(&in, line, abac->arena);
    if (json_peek(&in) != JSON_OBJECT) {
        return status_new(STATUS_BAD_REQUEST, "wanted a JSON object");
    }
    json_object_start(&in);
    while (json_object_next(&in, &key)) {
        if (str_is(key, "apiVersion")) {
            json_string(&in, &version);
        } else if (str_is(key, "kind")) {
            json_string(&in, &kind);
        } else if (str_is(key, "spec")) {
            spec_parse(&in, &policy);
        } else {
            json_skip(&in, NULL);
        }
    }
    TRY(json_finish(&in));
    if (!str_has_prefix(version, STR("abac.authorization.kubernetes.io/")) || !str_is(kind, "Policy")) {
        return status_new(STATUS_BAD_REQUEST,
                          "wanted apiVersion abac.authorization.kubernetes.io/v1beta1, kind Policy; found %.*s, %.*s",
                          STR_ARG(version), STR_ARG(kind));
    }
    *LIST_ADD(abac->arena, &abac->policies) = policy;
    return NULL;
}

struct status *abac_parse(struct str text, struct str path, struct abac **ret)
{
    struct abac *abac = MEM_NEW(struct abac);
    size_t number = 0;

    abac->arena = arena_new();
    /* Strings of the policies are borrowed from the text. */
    for (struct str rest = arena_str(abac->arena, text), line; str_next(&rest, '\n', &line);) {
        number++;
        line = str_trim(line);
        if (line.n == 0 || line.p[0] == '#') {
            continue;
        }
        struct status *status = line_parse(abac, line);

        if (status != NULL) {
            abac_free(abac);
            return status_while(status, "%.*s: line %zu", STR_ARG(path), number);
        }
    }
    *ret = abac;
    return NULL;
}

void abac_free(struct abac *abac)
{
    if (abac != NULL) {
        arena_free(abac->arena);
        free(abac);
    }
}

static bool subject_matches(const struct abac_policy *policy, const struct user *user)
{
    bool matched = false;

    if (policy->user.n != 0) {
        if (!str_is(policy->user, "*") && !str_eq(policy->user, user->name)) {
            return false;
        }
        matched = true;
    }
    if (policy->group.n != 0) {
        if (!str_is(policy->group, "*") && !str_list_has(&user->groups, policy->group)) {
            return false;
        }
        matched = true;
    }
    return matched;
}

static bool path_matches(struct str pattern, struct str path)
{
    if (str_is(pattern, "*") || str_eq(pattern, path)) {
        return true;
    }
    return pattern.n != 0 && pattern.p[pattern.n - 1] == '*' &&
           str_has_prefix(path, str_sub(pattern, 0, pattern.n - 1));
}

static bool is_or_any(struct str pattern, struct str value)
{
    return str_is(pattern, "*") || str_eq(pattern, value);
}

static bool policy_matches(const struct abac_policy *policy, const struct authz_attributes *a)
{
    if (!subject_matches(policy, a->user) || (policy->read_only && !authz_is_read_only(a))) {
        return false;
    }
    if (!a->is_resource) {
        return path_matches(policy->path, a->path);
    }
    return is_or_any(policy->namespace, a->namespace) && is_or_any(policy->resource, a->resource) &&
           is_or_any(policy->api_group, a->group);
}

struct authz_decision abac_decide(const struct abac *abac, const struct authz_attributes *attributes)
{
    LIST_EACH(policy, &abac->policies) {
        if (policy_matches(policy, attributes)) {
            return (struct authz_decision){.verdict = AUTHZ_ALLOW};
        }
    }
    return (struct authz_decision){.verdict = AUTHZ_NO_OPINION, .reason = STR("No policy matched.")};
}
