#include "base/base64.h"
#include "runtime/images/challenge.h"
#include "runtime/images/image_config.h"
#include "runtime/images/manifest.h"
#include "runtime/images/registries.h"
#include "test.h"

#define D1 "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define D2 "sha256:2222222222222222222222222222222222222222222222222222222222222222"
#define CONFIG "{\"mediaType\":\"" MEDIA_OCI_CONFIG "\",\"digest\":\"" D1 "\",\"size\":2}"
#define LAYER "{\"mediaType\":\"" MEDIA_OCI_LAYER "+zstd\",\"digest\":\"" D2 "\",\"size\":3}"

TEST("runtime/images/manifest reads manifests of both kinds")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct manifest manifest;

    CHECK_OK(manifest_decode(arena, STR("{\"schemaVersion\":2,\"config\":" CONFIG ",\"layers\":[" LAYER "]}"),
                             STR(MEDIA_DOCKER_MANIFEST), &manifest));
    CHECK(!manifest.is_index);
    CHECK_STR(manifest.config.digest, D1);
    CHECK_INT(manifest.layers.len, 1);
    CHECK_INT(manifest.layers.items[0].size, 3);
    /* A registry that says nothing of use: the text's own word counts, or OCI's type. */
    CHECK_OK(manifest_decode(arena, STR("{\"schemaVersion\":2,\"config\":" CONFIG ",\"layers\":[]}"),
                             STR("application/json"), &manifest));
    CHECK_STR(manifest.media_type, MEDIA_OCI_MANIFEST);
}

TEST("runtime/images/manifest refuses what it can't be sure of")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct manifest manifest;
    static const struct { const char *json, *error; } rows[] = {
        {"[]", "neither an image manifest nor an index"},
        {"{", ""},
        {"{\"schemaVersion\":1}", "is no longer supported, please rebuild the image"},
        {"{\"manifests\":[],\"config\":" CONFIG ",\"layers\":[]}", "neither an image manifest nor an index"},
        {"{\"mediaType\":\"" MEDIA_OCI_INDEX "\",\"config\":" CONFIG ",\"layers\":[]}", "unexpected media type"},
        {"{\"config\":{\"digest\":\"sha256:12\",\"size\":1},\"layers\":[]}", "config: invalid digest \"sha256:12\""},
        {"{\"config\":{\"digest\":\"" D1 "\",\"size\":-1},\"layers\":[]}", "config: invalid size"},
        {"{\"config\":{\"digest\":\"" D1 "\",\"size\":1e300},\"layers\":[]}", "config: invalid size"},
        {"{\"config\":" CONFIG ",\"layers\":[{\"digest\":\"../../etc\",\"size\":1}]}", "layers: invalid digest"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CHECK_ERROR(manifest_decode(arena, str_of(rows[i].json), STR(""), &manifest), rows[i].error);
    }
}

static struct descriptor made_for(const char *os, const char *architecture, const char *variant, const char *digest)
{
    return (struct descriptor){.media_type = STR(MEDIA_OCI_MANIFEST),
                               .digest = str_of(digest),
                               .platform = {str_of(os), str_of(architecture), str_of(variant)}};
}

TEST("runtime/images/manifest chooses the entry that suits best")
{
    struct descriptor entries[] = {
        made_for("unknown", "unknown", "", "attestation"), made_for("windows", "arm64", "", "windows"),
        made_for("linux", "arm64", "", "plain"), made_for("linux", "arm64", "v8", "exact"),
        made_for("linux", "arm64", "v9", "newer"), made_for("linux", "amd64", "v1", "amd64"),
    };
    struct manifest index = {.is_index = true, .manifests = {entries, COUNT_OF(entries)}};
    struct platform arm = {STR("linux"), STR("arm64"), STR("v8")}, riscv = {STR("linux"), STR("riscv64"), STR("")};
    struct platform amd = {STR("linux"), STR("amd64"), STR("")};

    CHECK_STR(manifest_choose(&index, arm)->digest, "exact");
    CHECK_STR(manifest_choose(&index, amd)->digest, "amd64");
    CHECK(manifest_choose(&index, riscv) == NULL);
}

TEST("runtime/images/config reads what containers run")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct image_config config;
    bool is_number;
    int64_t uid;
    struct str name;

    CHECK_OK(image_config_decode(arena,
                                 STR("{\"os\":\"linux\",\"architecture\":\"amd64\",\"config\":{\"User\":\"www:grp\","
                                     "\"Entrypoint\":[\"/e\"],\"Cmd\":null,\"Env\":[\"A=b\"],\"WorkingDir\":\"/w\","
                                     "\"Volumes\":{\"/z\":{},\"/d\":{}},\"StopSignal\":\"SIGQUIT\","
                                     "\"Labels\":{\"k\":\"v\"}},\"rootfs\":{\"diff_ids\":[\"" D1 "\"]}}"),
                                 &config));
    CHECK_STR(config.entrypoint.items[0], "/e");
    CHECK_INT(config.cmd.len, 0);
    CHECK_STR(config.volumes.items[0], "/d");
    CHECK_STR(config.labels.items[0].value, "v");
    CHECK_INT(config.diff_ids.len, 1);
    image_config_user(&config, &is_number, &uid, &name);
    CHECK(!is_number);
    CHECK_STR(name, "www");
    config.user = STR("1000:5");
    image_config_user(&config, &is_number, &uid, &name);
    CHECK(is_number);
    CHECK_INT(uid, 1000);
    CHECK_ERROR(image_config_decode(arena, STR("{\"config\":{\"Cmd\":\"sh\"}}"), &config), "Cmd is not an array");
    CHECK_ERROR(image_config_decode(arena, STR("{\"config\":{\"Env\":[\"a\\u0000b\"]}}"), &config), "Env holds");
    CHECK_ERROR(image_config_decode(arena, STR("{\"rootfs\":{\"diff_ids\":[\"x\"]}}"), &config), "invalid diff ID");
    CHECK_ERROR(image_config_decode(arena, STR("7"), &config), "want an object, found number");
}

TEST("runtime/images/challenge reads what registries ask for")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct challenge challenge = {0}, both = {0}, odd = {0};

    challenge_read(arena,
                   STR("Bearer realm=\"https://auth.docker.io/token\",service=\"registry.docker.io\","
                       "scope=\"repository:library/nginx:pull,push\",error=\"insufficient_scope\""),
                   &challenge);
    CHECK(challenge.wants_bearer && !challenge.wants_basic);
    CHECK_STR(challenge.realm, "https://auth.docker.io/token");
    CHECK_STR(challenge.service, "registry.docker.io");
    CHECK_STR(challenge.scope, "repository:library/nginx:pull,push");
    CHECK_STR(challenge.error, "insufficient_scope");
    challenge_read(arena, STR("Basic realm=\"a, \\\"b\\\"\", bearer realm=plain"), &both);
    CHECK(both.wants_bearer && both.wants_basic);
    CHECK_STR(both.realm, "plain");
    challenge_read(arena, STR("Bearer realm=\"never closed"), &odd);
    CHECK_STR(odd.realm, "never closed");
    challenge_read(arena, STR("=\"\\"), &odd);
}

TEST("runtime/images/challenge takes tokens that can be sent")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str token;

    CHECK_OK(challenge_token(arena, STR("{\"access_token\":\"abc\",\"expires_in\":300}"), &token));
    CHECK_STR(token, "abc");
    CHECK_ERROR(challenge_token(arena, STR("{\"token\":\"a\\r\\nHost: x\"}"), &token), "can't be sent in a header");
    CHECK_ERROR(challenge_token(arena, STR("{}"), &token), "holds no token");
}

TEST("runtime/images/registries lists mirrors before the registry itself")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct registries registries;
    struct registry_endpoints endpoints;

    CHECK_OK(registries_decode(arena,
                               STR("mirrors:\n"
                                   "  docker.io:\n"
                                   "    endpoint: [\"http://127.0.0.1:5000\", \"https://mirror.example/v2/hub/\"]\n"
                                   "  \"*\":\n"
                                   "    endpoint: [\"https://all.example\"]\n"
                                   "configs:\n"
                                   "  mirror.example:\n"
                                   "    auth: {auth: dXNlcjpwOnc=}\n"
                                   "    tls: {ca_file: /ca, insecure_skip_verify: true}\n"),
                               &registries));
    registries_endpoints(&registries, arena, STR("docker.io"), &endpoints);
    CHECK_INT(endpoints.len, 3);
    CHECK_STR(endpoints.items[0].url, "http://127.0.0.1:5000/v2");
    CHECK_STR(endpoints.items[0].namespace, "docker.io");
    CHECK_STR(endpoints.items[1].url, "https://mirror.example/v2/hub");
    CHECK_STR(endpoints.items[1].auth.username, "user");
    CHECK_STR(endpoints.items[1].auth.password, "p:w");
    CHECK(endpoints.items[1].tls.is_insecure && !endpoints.items[0].tls.is_insecure);
    CHECK_STR(endpoints.items[2].url, "https://registry-1.docker.io/v2");
    CHECK_STR(endpoints.items[2].namespace, "");
    registries_endpoints(&registries, arena, STR("quay.io"), &endpoints);
    CHECK_STR(endpoints.items[0].url, "https://all.example/v2");
    CHECK_STR(endpoints.items[1].url, "https://quay.io/v2");
    CHECK_OK(registries_decode(arena, STR(""), &registries));
    registries_endpoints(&registries, arena, STR("localhost:5000"), &endpoints);
    CHECK_STR(endpoints.items[0].url, "http://localhost:5000/v2");
    registries_endpoints(&registries, arena, STR("127.evil.example"), &endpoints);
    CHECK_STR(endpoints.items[0].url, "https://127.evil.example/v2");
}

TEST("runtime/images/registries says what is wrong with its file")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct registries registries;
    static const struct { const char *yaml, *error; } rows[] = {
        {"[]", "registries: the file: want a mapping, found array"},
        {"mirrors: 5", "registries: mirrors: want a mapping, found number"},
        {"mirrors: {a: {endpoint: x}}", "registries: mirrors.a.endpoint: want a list"},
        {"mirrors: {a: {endpoint: [\"ftp://x\"]}}", "registries: mirrors.a.endpoint: \"ftp://x\" is not a URL"},
        {"mirrors: {a: {endpoint: [\"http://u@x\"]}}", "\"http://u@x\" is not a URL"},
        {"configs: {a: {auth: {auth: \"?\"}}}", "registries: configs.a.auth.auth: not \"user:password\" in base64"},
        {"configs: {a: {tls: [x]}}", "want a mapping, found array"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CHECK_ERROR(registries_decode(arena, str_of(rows[i].yaml), &registries), rows[i].error);
    }
}
