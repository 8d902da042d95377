#include "apiserver/openapi/document.h"

#include "apiserver/openapi/paths.h"
#include "base/version.h"

#define INFO "\"info\":{\"title\":\"Kubernetes\",\"version\":\"v" KUBERNETES_VERSION "\"}"

void openapi_document(const struct resources *resources, struct str group, struct str version, struct buf *out)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(openapi_writer_done) struct openapi_writer writer = {
        .version = OPENAPI_V3, .arena = arena, .out = out, .group = group, .group_version = version};
    bool first = true;

    buf_add_str(out, STR("{\"openapi\":\"3.0.0\"," INFO ",\"paths\":{"));
    openapi_paths(&writer, resources, group, version, &first);
    buf_add_str(out, STR("},\"components\":{\"schemas\":{"));
    openapi_schemas(&writer);
    buf_add_str(out, STR("},\"securitySchemes\":{\"BearerToken\":{\"description\":\"Bearer Token authentication\","
                         "\"in\":\"header\",\"name\":\"authorization\",\"type\":\"apiKey\"}}}}"));
}

void openapi_document_v2(const struct resources *resources, struct buf *out)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(openapi_writer_done) struct openapi_writer writer = {
        .version = OPENAPI_V2, .arena = arena, .out = out, .of_all = true};
    struct str group = {0}, version = {0};
    bool first = true;

    buf_add_str(out, STR("{\"swagger\":\"2.0\"," INFO ",\"paths\":{"));
    for (size_t i = 0; i < resources->len; i++) {
        const struct kind *kind = resources->items[i].kind;

        if (i == 0 || !str_eq(kind->group, group) || !str_eq(kind->version, version)) {
            group = kind->group;
            version = kind->version;
            openapi_paths(&writer, resources, group, version, &first);
        }
    }
    buf_add_str(out, STR("},\"definitions\":{"));
    openapi_schemas(&writer);
    buf_add_str(out,
                STR("},\"security\":[{\"BearerToken\":[]}],\"securityDefinitions\":{\"BearerToken\":{\"description\":"
                    "\"Bearer Token authentication\",\"in\":\"header\",\"name\":\"authorization\","
                    "\"type\":\"apiKey\"}}}"));
}
