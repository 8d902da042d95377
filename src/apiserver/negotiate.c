#include "apiserver/negotiate.h"

#include "base/buf.h"

#include <stdlib.h>

/* One alternative of an Accept header. */
struct clause {
    struct str type, subtype;
    struct str as, group, version, stream;
    bool pretty;
    int quality; /* thousandths */
};

static const struct {
    struct str subtype;
    enum media media;
} served[] = {
    {STR_INIT("json"), MEDIA_JSON},
    {STR_INIT("yaml"), MEDIA_YAML},
    {STR_INIT("vnd.kubernetes.protobuf"), MEDIA_PROTOBUF},
};

struct str media_type(enum media media)
{
    switch (media) {
    case MEDIA_YAML:
        return STR("application/yaml");
    case MEDIA_PROTOBUF:
        return STR("application/vnd.kubernetes.protobuf");
    case MEDIA_JSON:
        break;
    }
    return STR("application/json");
}

static int quality_of(struct str text)
{
    char copy[16];
    size_t n = MIN(text.n, sizeof copy - 1);

    __builtin_memcpy(copy, text.p, n);
    copy[n] = 0;
    double value = strtod(copy, NULL);

    return value >= 1 || !(value >= 0) ? 1000 : (int)(value * 1000);
}

static void clause_parameter(struct clause *clause, struct str parameter)
{
    struct str key, value;

    str_cut(parameter, '=', &key, &value);
    key = str_trim(key);
    value = str_trim(value);
    if (value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"') {
        value = str_sub(value, 1, value.n - 1);
    }
    if (str_is(key, "as")) {
        clause->as = value;
    } else if (str_is(key, "g")) {
        clause->group = value;
    } else if (str_is(key, "v")) {
        clause->version = value;
    } else if (str_is(key, "stream")) {
        clause->stream = value;
    } else if (str_is(key, "pretty")) {
        clause->pretty = str_is(value, "1");
    } else if (str_is(key, "q")) {
        clause->quality = quality_of(value);
    }
}

static struct clause clause_parse(struct str text)
{
    struct clause clause = {.quality = 1000};
    struct str rest = text, part;
    bool first = true;

    while (str_next(&rest, ';', &part)) {
        if (first) {
            str_cut(str_trim(part), '/', &clause.type, &clause.subtype);
            clause.type = str_trim(clause.type);
            clause.subtype = str_trim(clause.subtype);
            first = false;
        } else {
            clause_parameter(&clause, part);
        }
    }
    return clause;
}

static bool transform_allowed(const struct clause *clause, enum media media, enum negotiate_scope scope,
                              struct accepted *ret)
{
    ret->transform = TRANSFORM_NONE;
    ret->discovery_version = (struct str){0};
    if (clause->as.n == 0 || scope == NEGOTIATE_PLAIN || scope == NEGOTIATE_JSON_ONLY) {
        return true;
    }
    if (scope == NEGOTIATE_DISCOVERY) {
        ret->discovery_version = clause->version;
        return str_is(clause->as, "APIGroupDiscoveryList") && str_is(clause->group, "apidiscovery.k8s.io") &&
               (str_is(clause->version, "v2") || str_is(clause->version, "v2beta1"));
    }
    ret->transform_version = clause->version;
    if (!str_is(clause->group, "meta.k8s.io") ||
        !(str_is(clause->version, "v1") || str_is(clause->version, "v1beta1"))) {
        return false;
    }
    if (str_is(clause->as, "Table")) {
        ret->transform = TRANSFORM_TABLE;
        return media != MEDIA_PROTOBUF;
    }
    if (str_is(clause->as, "PartialObjectMetadata")) {
        ret->transform = TRANSFORM_PARTIAL_METADATA;
        return true;
    }
    ret->transform = TRANSFORM_PARTIAL_METADATA_LIST;
    return str_is(clause->as, "PartialObjectMetadataList");
}

static bool clause_accept(const struct clause *clause, enum negotiate_scope scope, struct accepted *ret)
{
    size_t count = scope == NEGOTIATE_JSON_ONLY ? 1 : COUNT_OF(served);

    for (size_t i = 0; i < count; i++) {
        bool any = str_is(clause->type, "*") && str_is(clause->subtype, "*");
        bool same = str_is(clause->type, "application") && str_eq(clause->subtype, served[i].subtype);

        if (!any && !same) {
            continue;
        }
        if (clause->stream.n != 0 && !str_is(clause->stream, "watch")) {
            continue;
        }
        if (transform_allowed(clause, served[i].media, scope, ret)) {
            ret->media = served[i].media;
            ret->pretty = clause->pretty;
            return true;
        }
    }
    return false;
}

/* Clauses in falling order of quality, equal ones as they stand; the header is short, so each round looks at all. */
struct status *negotiate_accept(struct str accept, enum negotiate_scope scope, struct accepted *ret)
{
    struct accepted found = {.media = MEDIA_JSON};
    int below = 1001;

    if (str_trim(accept).n == 0) {
        *ret = found;
        return NULL;
    }
    for (int rounds = 0; rounds < 64 && below > 0; rounds++) {
        struct str rest = accept, text;
        int best = -1;

        while (str_next(&rest, ',', &text)) {
            struct clause clause = clause_parse(text);

            best = clause.quality < below ? MAX(best, clause.quality) : best;
        }
        if (best < 0) {
            break;
        }
        rest = accept;
        while (str_next(&rest, ',', &text)) {
            struct clause clause = clause_parse(text);

            if (clause.quality == best && clause_accept(&clause, scope, &found)) {
                *ret = found;
                return NULL;
            }
        }
        below = best;
    }
    return status_new(STATUS_NOT_ACCEPTABLE, "406: Not Acceptable\n\nAvailable representations: %s",
                      scope == NEGOTIATE_JSON_ONLY
                          ? "application/json"
                          : "application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

struct status *negotiate_body(struct str content_type, enum media *ret)
{
    struct str type, parameters;

    str_cut(content_type, ';', &type, &parameters);
    type = str_trim(type);
    if (type.n == 0) {
        *ret = MEDIA_JSON;
        return NULL;
    }
    for (size_t i = 0; i < COUNT_OF(served); i++) {
        if (str_eq_nocase(type, media_type(served[i].media))) {
            *ret = served[i].media;
            return NULL;
        }
    }
    return status_new(STATUS_UNSUPPORTED_MEDIA_TYPE,
                      "the body of the request was in an unknown format - accepted media types include: "
                      "application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

struct status *negotiate_patch(struct str content_type, bool strategic_allowed, enum patch_type *ret)
{
    static const struct {
        const char *type;
        enum patch_type patch;
    } types[] = {{"application/json-patch+json", PATCH_JSON},
                 {"application/merge-patch+json", PATCH_MERGE},
                 {"application/apply-patch+yaml", PATCH_APPLY},
                 {"application/strategic-merge-patch+json", PATCH_STRATEGIC}};
    struct str type, parameters;

    str_cut(content_type, ';', &type, &parameters);
    type = str_trim(type);
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (str_is(type, types[i].type) && (strategic_allowed || types[i].patch != PATCH_STRATEGIC)) {
            *ret = types[i].patch;
            return NULL;
        }
    }
    return status_new(STATUS_UNSUPPORTED_MEDIA_TYPE,
                      "the body of the request was in an unknown format - accepted media types include: "
                      "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml%s",
                      strategic_allowed ? ", application/strategic-merge-patch+json" : "");
}
