/* What containers are made of: environment, configuration, hosts file, volumes' files, limits. */
#include "test.h"

#include "base/env.h"
#include "kubelet/container_config.h"
#include "kubelet/hosts_file.h"
#include "kubelet/pod_cgroups.h"
#include "kubelet/server_auth.h"
#include "kubelet/volumes/volume_files.h"
#include "schema/json.h"
#include "schema/map_of.h"

static void *decode(struct arena *arena, const struct type *type, const char *json)
{
    void *object = arena_alloc(arena, type->size);

    CHECK_OK(json_decode(arena, type, str_of(json), object, NULL));
    return object;
}

static struct status *secret(void *arg, struct str name, struct arena *arena, const struct core_v1_secret **ret)
{
    (void)arg;
    if (!str_is(name, "s")) {
        return status_new(STATUS_NOT_FOUND, "secret \"%.*s\" not found", STR_ARG(name));
    }
    *ret = decode(arena, &core_v1_secret_type, "{\"data\":{\"user\":\"YWRtaW4=\"}}");
    return NULL;
}

static struct status *config_map(void *arg, struct str name, struct arena *arena, const struct core_v1_config_map **ret)
{
    (void)arg;
    if (!str_is(name, "m")) {
        return status_new(STATUS_NOT_FOUND, "configmap \"%.*s\" not found", STR_ARG(name));
    }
    *ret = decode(arena, &core_v1_config_map_type, "{\"data\":{\"color\":\"blue\",\"size\":\"1\"}}");
    return NULL;
}

static struct status *make_env(struct arena *arena, const char *container, struct env_vars *ret)
{
    const struct core_v1_pod *pod = decode(
        arena, &core_v1_pod_type,
        "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"labels\":{\"app\":\"x\"}},\"spec\":{\"nodeName\":\"n\"}}");
    const struct core_v1_service *services[] = {
        decode(arena, &core_v1_service_type,
               "{\"metadata\":{\"name\":\"my-db\",\"namespace\":\"ns\"},\"spec\":{\"clusterIP\":\"10.1.2.3\",\"ports\":"
               "[{\"port\":5432,\"protocol\":\"TCP\"}]}}"),
        decode(arena, &core_v1_service_type,
               "{\"metadata\":{\"name\":\"hidden\",\"namespace\":\"other\"},\"spec\":{\"clusterIP\":\"10.1.2.4\"}}"),
    };
    struct downward_facts facts = {.pod = pod, .pod_ip = STR("10.0.0.5"), .host_ip = STR("10.0.0.1")};
    struct env_sources sources = {secret, config_map, NULL, services, COUNT_OF(services)};

    return env_vars_make(arena, &facts, decode(arena, &core_v1_container_type, container), &sources, ret);
}

TEST("kubelet/env_vars/come from values, references, fields, objects and services")
{
    static const struct {
        const char *env, *name, *value; /* value NULL: not set */
    } rows[] = {
        {"\"env\":[{\"name\":\"A\",\"value\":\"1\"}]", "A", "1"},
        {"\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":\"B\",\"value\":\"$(A)2\"}]", "B", "12"},
        {"\"env\":[{\"name\":\"B\",\"value\":\"$(A)2\"},{\"name\":\"A\",\"value\":\"1\"}]", "B", "$(A)2"},
        {"\"env\":[{\"name\":\"B\",\"value\":\"$$(A)\"}]", "B", "$(A)"},
        {"\"env\":[{\"name\":\"B\",\"value\":\"$(MY_DB_SERVICE_HOST)\"}]", "B", "10.1.2.3"},
        {"\"env\":[{\"name\":\"A\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.labels['app']\"}}}]", "A", "x"},
        {"\"env\":[{\"name\":\"A\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"status.podIP\"}}}]", "A", "10.0.0.5"},
        {"\"env\":[{\"name\":\"A\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"spec.nodeName\"}}}]", "A", "n"},
        {"\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"user\"}}}]", "A", "admin"},
        {"\"env\":[{\"name\":\"A\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":\"m\",\"key\":\"color\"}}}]", "A", "blue"},
        {"\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"no\",\"key\":\"x\",\"optional\":true}}}]",
         "A", NULL},
        {"\"envFrom\":[{\"configMapRef\":{\"name\":\"m\"},\"prefix\":\"P_\"}]", "P_color", "blue"},
        {"\"envFrom\":[{\"configMapRef\":{\"name\":\"m\"}}],\"env\":[{\"name\":\"color\",\"value\":\"red\"}]", "color",
         "red"},
        {"\"image\":\"x\"", "MY_DB_SERVICE_PORT", "5432"},
        {"\"image\":\"x\"", "MY_DB_PORT_5432_TCP_ADDR", "10.1.2.3"},
        {"\"image\":\"x\"", "HIDDEN_SERVICE_HOST", NULL},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct env_vars vars;
        struct str value = STR("");

        CHECK_OK(make_env(arena, arena_printf(arena, "{\"name\":\"c\",%s}", rows[i].env).p, &vars));
        CHECK_INT(env_vars_find(&vars, str_of(rows[i].name), &value), rows[i].value != NULL);
        CHECK_STR(value, rows[i].value != NULL ? rows[i].value : "");
    }
}

TEST("kubelet/env_vars/say what is missing in stock's words")
{
    static const struct {
        const char *env, *message;
    } rows[] = {
        {"\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"no\",\"key\":\"x\"}}}]",
         "secret \"no\" not found"},
        {"\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"x\"}}}]",
         "couldn't find key x in Secret ns/s"},
        {"\"env\":[{\"name\":\"A\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":\"m\",\"key\":\"x\"}}}]",
         "couldn't find key x in ConfigMap ns/m"},
        {"\"envFrom\":[{\"secretRef\":{\"name\":\"no\"}}]", "secret \"no\" not found"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct env_vars vars;

        CHECK_ERROR(make_env(arena, arena_printf(arena, "{\"name\":\"c\",%s}", rows[i].env).p, &vars), rows[i].message);
    }
}

static struct status *configure(struct arena *arena, const char *pod_json, struct cri_v1_container_config **ret)
{
    const struct core_v1_pod *pod = decode(arena, &core_v1_pod_type, pod_json);
    struct env_vars *env = ARENA_NEW(arena, struct env_vars);
    struct container_facts facts = {.pod = pod,
                                    .container = &pod->spec.containers.items[0],
                                    .restart_count = 2,
                                    .image = STR("sha256:1"),
                                    .env = env,
                                    .memory_capacity = INT64_C(1) << 30,
                                    .cpu_cfs_quota = true,
                                    .cpu_cfs_quota_period = 100 * ENV_MS,
                                    .has_image_uid = true};

    *LIST_ADD(arena, env) = (struct str_entry){STR("WHO"), STR("me")};
    return container_config_make(arena, &facts, ret);
}

TEST("kubelet/container_config/says all that the runtime needs")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cri_v1_container_config *config;

    CHECK_OK(configure(arena,
                       "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\"},\"spec\":{\"containers\":[{"
                       "\"name\":\"c\",\"image\":\"nginx\",\"command\":[\"echo\",\"$(WHO)\"],\"workingDir\":\"/w\","
                       "\"resources\":{\"requests\":{\"cpu\":\"250m\",\"memory\":\"64Mi\"},\"limits\":{\"cpu\":\"1\","
                       "\"memory\":\"128Mi\"}},\"securityContext\":{\"runAsUser\":7,\"privileged\":false,"
                       "\"readOnlyRootFilesystem\":true,\"capabilities\":{\"add\":[\"NET_ADMIN\"],\"drop\":[\"ALL\"]}"
                       "}}]}}",
                       &config));
    CHECK_STR(config->metadata->name, "c");
    CHECK_INT(config->metadata->attempt, 2);
    CHECK_STR(config->image->user_specified_image, "nginx");
    CHECK_STR(config->command.items[1], "me");
    CHECK_STR(config->log_path, "c/2.log");
    CHECK_STR(str_map_get(&config->labels, STR("io.kubernetes.pod.uid")), "u");
    CHECK_STR(str_map_get(&config->labels, STR("io.kubernetes.container.name")), "c");
    CHECK_STR(str_map_get(&config->annotations, STR("io.kubernetes.container.restartCount")), "2");
    CHECK_INT(config->linux_->resources->cpu_shares, 256);
    CHECK_INT(config->linux_->resources->cpu_quota, 100000);
    CHECK_INT(config->linux_->resources->memory_limit_in_bytes, 128 << 20);
    CHECK_INT(config->linux_->security_context->run_as_user->value, 7);
    CHECK(config->linux_->security_context->readonly_rootfs);
    CHECK_STR(config->linux_->security_context->capabilities->add_capabilities.items[0], "NET_ADMIN");
    CHECK_STR(config->linux_->security_context->capabilities->drop_capabilities.items[0], "ALL");
}

TEST("kubelet/container_config/refuses root where it must not be")
{
    static const struct {
        const char *context, *message; /* empty: fine */
    } rows[] = {
        {"\"runAsNonRoot\":true", "container has runAsNonRoot and image will run as root"},
        {"\"runAsNonRoot\":true,\"runAsUser\":0", "container's runAsUser breaks non-root policy"},
        {"\"runAsNonRoot\":true,\"runAsUser\":5", ""},
        {"\"runAsNonRoot\":false", ""},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct cri_v1_container_config *config;
        struct status *error = configure(
            arena, arena_printf(arena, "{\"spec\":{\"containers\":[{\"name\":\"c\",\"securityContext\":{%s}}]}}",
                                rows[i].context)
                       .p,
            &config);

        if (rows[i].message[0] == '\0') {
            CHECK_OK(error);
        } else {
            CHECK_ERROR(error, rows[i].message);
        }
    }
}

TEST("kubelet/hosts_file/names the pod and its aliases")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct core_v1_pod *pod =
        decode(arena, &core_v1_pod_type,
               "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\"},\"spec\":{\"subdomain\":\"sub\",\"hostAliases\":[{"
               "\"ip\":\"1.2.3.4\",\"hostnames\":[\"a\",\"b\"]}]}}");
    struct str hostname, domain, ip = STR("10.0.0.5");
    struct str_list ips = {&ip, 1};

    CHECK_OK(pod_hostname(arena, pod, STR("cluster.local"), &hostname, &domain));
    CHECK_STR(hostname, "p");
    CHECK_STR(domain, "sub.ns.svc.cluster.local");
    struct str text = hosts_file_make(arena, pod, &ips, hostname, domain, STR(""));

    CHECK(str_has_prefix(text, STR("# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n")));
    CHECK(str_contains(text, STR("10.0.0.5\tp.sub.ns.svc.cluster.local\tp\n")));
    CHECK(str_contains(text, STR("\n# Entries added by HostAliases.\n1.2.3.4\ta\tb\n")));
}

TEST("kubelet/volume_files/select keys and refuse paths that lead outside")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str_map data = {0};
    struct volume_files files = {0};
    struct core_v1_key_to_path item = {.key = STR("k"), .path = STR("deep/er")};
    struct key_selection selection = {.mode = 0400, .kind = "secret", .namespace = STR("ns"), .name = STR("s")};

    str_map_set(arena, &data, STR("k"), STR("v"));
    str_map_set(arena, &data, STR("l"), STR("w"));
    CHECK_OK(volume_files_add_keys(arena, &files, &data, NULL, &selection));
    CHECK_INT(files.len, 2);
    CHECK_INT(files.items[0].mode, 0400);
    selection.items = &item;
    selection.len = 1;
    files = (struct volume_files){0};
    CHECK_OK(volume_files_add_keys(arena, &files, &data, NULL, &selection));
    CHECK_INT(files.len, 1);
    CHECK_STR(files.items[0].path, "deep/er");
    item.key = STR("missing");
    CHECK_ERROR(volume_files_add_keys(arena, &files, &data, NULL, &selection),
                "references non-existent secret key: missing");
    selection.is_optional = true;
    CHECK_OK(volume_files_add_keys(arena, &files, &data, NULL, &selection));
    CHECK(volume_path_is_inside(STR("a/b..c")));
    CHECK(!volume_path_is_inside(STR("../a")));
    CHECK(!volume_path_is_inside(STR("a/../../b")));
    CHECK(!volume_path_is_inside(STR("/a")));
    CHECK(!volume_path_is_inside(STR("")));
}

TEST("kubelet/pod_cgroups/limit a pod by what its containers may use together")
{
    static const struct {
        const char *spec;
        int64_t shares, quota, memory;
    } rows[] = {
        {"\"containers\":[{\"name\":\"a\"}]", 2, 0, 0},
        {"\"containers\":[{\"name\":\"a\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]", 1024, 0, 0},
        {"\"containers\":[{\"name\":\"a\",\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Mi\"}}},{\"name\":\"b\","
         "\"resources\":{\"limits\":{\"cpu\":\"500m\",\"memory\":\"1Mi\"}}}]",
         1536, 150000, 2 << 20},
        {"\"containers\":[{\"name\":\"a\",\"resources\":{\"limits\":{\"cpu\":\"1\"}}},{\"name\":\"b\"}]", 1024, 0, 0},
        {"\"initContainers\":[{\"name\":\"i\",\"resources\":{\"limits\":{\"cpu\":\"2\",\"memory\":\"4Mi\"}}}],"
         "\"containers\":[{\"name\":\"a\",\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Mi\"}}}]",
         2048, 200000, 4 << 20},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct kubelet_options options;
        struct host_cgroup_limits limits;

        kubelet_options_default(&options);
        pod_cgroup_limits(decode(arena, &core_v1_pod_type, arena_printf(arena, "{\"spec\":{%s}}", rows[i].spec).p),
                          &options, &limits);
        CHECK_INT(limits.cpu_shares, rows[i].shares);
        CHECK_INT(limits.cpu_quota_us, rows[i].quota);
        CHECK_INT(limits.memory_bytes, rows[i].memory);
    }
}

TEST("kubelet/server_auth/paths and methods are subresources and verbs")
{
    static const struct {
        const char *path, *first, *second;
    } rows[] = {
        {"/pods", "pods", "proxy"},       {"/runningpods/", "pods", "proxy"}, {"/healthz/ping", "healthz", "proxy"},
        {"/stats/summary", "stats", ""},  {"/metrics", "metrics", ""},        {"/metrics/resource", "metrics", ""},
        {"/logs/x", "log", ""},           {"/logsx", "proxy", ""},            {"/containerLogs/a/b/c", "proxy", ""},
        {"/exec/a/b/c", "proxy", ""},     {"/configz", "configz", "proxy"},   {"/", "proxy", ""},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct str second;

        CHECK_STR(server_auth_subresource(str_of(rows[i].path), &second), rows[i].first);
        CHECK_STR(second, rows[i].second);
    }
    CHECK_STR(server_auth_verb(STR("POST")), "create");
    CHECK_STR(server_auth_verb(STR("GET")), "get");
    CHECK_STR(server_auth_verb(STR("HEAD")), "get");
    CHECK_STR(server_auth_verb(STR("DELETE")), "delete");
}
