#include "test.h"

#include "apiserver/negotiate.h"

TEST("apiserver/negotiate/Accept")
{
    static const struct {
        const char *accept;
        enum negotiate_scope scope;
        int media; /* -1: not acceptable */
        enum transform transform;
    } rows[] = {
        {"", NEGOTIATE_RESOURCE, MEDIA_JSON, TRANSFORM_NONE},
        {"text/html", NEGOTIATE_RESOURCE, -1, TRANSFORM_NONE},
        {"application/*", NEGOTIATE_RESOURCE, -1, TRANSFORM_NONE},
        {"application/json;q=0", NEGOTIATE_RESOURCE, MEDIA_JSON, TRANSFORM_NONE},
        {"text/html, application/json", NEGOTIATE_RESOURCE, MEDIA_JSON, TRANSFORM_NONE},
        {"text/html,*/*;q=0.1", NEGOTIATE_RESOURCE, MEDIA_JSON, TRANSFORM_NONE},
        {"application/json;q=0.5, application/yaml", NEGOTIATE_RESOURCE, MEDIA_YAML, TRANSFORM_NONE},
        {"application/vnd.kubernetes.protobuf,application/json", NEGOTIATE_RESOURCE, MEDIA_PROTOBUF, TRANSFORM_NONE},
        {"application/vnd.kubernetes.protobuf", NEGOTIATE_JSON_ONLY, -1, TRANSFORM_NONE},
        {"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", NEGOTIATE_RESOURCE, MEDIA_JSON,
         TRANSFORM_TABLE},
        {"application/json;as=Table;v=v2;g=meta.k8s.io,application/json", NEGOTIATE_RESOURCE, MEDIA_JSON,
         TRANSFORM_NONE},
        {"application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json", NEGOTIATE_RESOURCE,
         MEDIA_JSON, TRANSFORM_NONE},
        {"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", NEGOTIATE_RESOURCE,
         MEDIA_PROTOBUF, TRANSFORM_PARTIAL_METADATA_LIST},
        {"application/json;as=Nope;v=v1;g=meta.k8s.io", NEGOTIATE_RESOURCE, -1, TRANSFORM_NONE},
        {"application/json;stream=watch", NEGOTIATE_RESOURCE, MEDIA_JSON, TRANSFORM_NONE},
        {";;;,,", NEGOTIATE_RESOURCE, -1, TRANSFORM_NONE},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct accepted accepted;
        struct status *status = negotiate_accept(str_of(rows[i].accept), rows[i].scope, &accepted);

        if (rows[i].media < 0) {
            CHECK_ERROR(status, "406: Not Acceptable\n\nAvailable representations: application/json");
        } else {
            CHECK_OK(status);
            CHECK_INT(accepted.media, rows[i].media);
            CHECK_INT(accepted.transform, rows[i].transform);
        }
    }
}

TEST("apiserver/negotiate/aggregated discovery is told by version")
{
    struct accepted accepted;

    CHECK_OK(negotiate_accept(STR("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"),
                              NEGOTIATE_DISCOVERY, &accepted));
    CHECK_STR(accepted.discovery_version, "v2");
    CHECK_OK(negotiate_accept(STR("application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,application/json"),
                              NEGOTIATE_DISCOVERY, &accepted));
    CHECK_STR(accepted.discovery_version, "");
}

TEST("apiserver/negotiate/content types of bodies and patches")
{
    enum media media;
    enum patch_type patch;

    CHECK_OK(negotiate_body(STR("application/yaml; charset=utf-8"), &media));
    CHECK_INT(media, MEDIA_YAML);
    CHECK_OK(negotiate_body(STR(""), &media));
    CHECK_INT(media, MEDIA_JSON);
    CHECK_ERROR(negotiate_body(STR("text/plain"), &media), "the body of the request was in an unknown format");
    CHECK_OK(negotiate_patch(STR("application/strategic-merge-patch+json"), true, &patch));
    CHECK_INT(patch, PATCH_STRATEGIC);
    CHECK_ERROR(negotiate_patch(STR("application/strategic-merge-patch+json"), false, &patch), "unknown format");
    CHECK_ERROR(negotiate_patch(STR("application/json"), true, &patch), "unknown format");
}
