#include "test.h"

#include "apiserver/admission/node_labels.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/admission/secret_references.h"
#include "apiserver/options.h"
#include "schema/json.h"

static struct core_v1_pod *pod_of(struct arena *arena, const char *spec)
{
    struct core_v1_pod *pod = ARENA_NEW(arena, struct core_v1_pod);

    CHECK_OK(json_decode(arena, &core_v1_pod_type, arena_printf(arena, "{\"spec\":%s}", spec), pod, NULL));
    return pod;
}

static void check_tolerations(const char *before, const char *after)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf out = {0};
    struct core_v1_pod *pod = pod_of(arena, before);
    struct apiserver_options options;

    apiserver_options_init(&options);
    default_toleration_seconds(arena, &options, &pod->spec);
    json_encode_field(type_field(&core_v1_pod_spec_type, STR("tolerations")), &pod->spec.tolerations, &out);
    CHECK_STR(buf_str(&out), after);
}

TEST("apiserver/admission/tolerations are added where none counts")
{
    static const char not_ready[] = "{\"key\":\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\","
                                    "\"effect\":\"NoExecute\",\"tolerationSeconds\":300}";
    static const char unreachable[] = "{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\","
                                      "\"effect\":\"NoExecute\",\"tolerationSeconds\":300}";
    OWNED(arena_freep) struct arena *arena = arena_new();

    check_tolerations("{\"containers\":null}", arena_printf(arena, "[%s,%s]", not_ready, unreachable).p);
    check_tolerations("{\"containers\":null,\"tolerations\":[{\"operator\":\"Exists\"}]}",
                      "[{\"operator\":\"Exists\"}]");
    check_tolerations("{\"containers\":null,\"tolerations\":[{\"key\":\"a\"},{\"key\":\"b\"},"
                      "{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoExecute\"}]}",
                      arena_printf(arena,
                                   "[{\"key\":\"a\"},{\"key\":\"b\"},{\"key\":\"node.kubernetes.io/not-ready\","
                                   "\"effect\":\"NoExecute\"},%s]",
                                   unreachable)
                          .p);
}

/* Names are random, which only a task's env can be. */
static void mount_where_nothing_is(void *arg)
{
    (void)arg;
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct core_v1_pod *pod = pod_of(
        arena,
        "{\"initContainers\":[{\"name\":\"i\"}],\"containers\":[{\"name\":\"a\"},{\"name\":\"b\",\"volumeMounts\":["
        "{\"name\":\"e\",\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\"}]}]}");
    struct core_v1_pod_spec *spec = &pod->spec;

    service_account_mount_token(arena, spec);
    CHECK_INT(spec->volumes.len, 1);
    struct str name = spec->volumes.items[0].name;

    CHECK_INT(name.n, 21);
    CHECK(str_has_prefix(name, STR("kube-api-access-")));
    CHECK_INT(spec->volumes.items[0].volume_source.projected->sources.len, 3);
    CHECK(str_eq(spec->containers.items[0].volume_mounts.items[0].name, name));
    CHECK(str_eq(spec->init_containers.items[0].volume_mounts.items[0].name, name));
    CHECK_STR(spec->containers.items[1].volume_mounts.items[0].name, "e");

    /* again, as for a pod that was read and created anew: what is there is enough */
    service_account_mount_token(arena, spec);
    CHECK_INT(spec->volumes.len, 1);
    CHECK_INT(spec->containers.items[0].volume_mounts.len, 1);
}

TEST("apiserver/admission/the token is mounted where nothing else is")
{
    test_run_task(mount_where_nothing_is, NULL);
}

static void mount_nowhere(void *arg)
{
    (void)arg;
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct core_v1_pod *pod = pod_of(arena, "{\"containers\":[{\"name\":\"b\",\"volumeMounts\":[{\"name\":\"e\","
                                            "\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\"}]}]}");

    service_account_mount_token(arena, &pod->spec);
    CHECK_INT(pod->spec.volumes.len, 0);
}

TEST("apiserver/admission/no volume when every container has its own")
{
    test_run_task(mount_nowhere, NULL);
}

TEST("apiserver/admission/secrets are found wherever a pod names them")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct core_v1_pod *pod = pod_of(
        arena,
        "{\"volumes\":[{\"name\":\"v\",\"secret\":{\"secretName\":\"a\"}},{\"name\":\"w\",\"projected\":{\"sources\":["
        "{\"secret\":{\"name\":\"b\"}}]}}],\"initContainers\":[{\"name\":\"i\",\"envFrom\":[{\"secretRef\":{\"name\":"
        "\"c\"}}]}],\"containers\":[{\"name\":\"m\",\"env\":[{\"name\":\"E\",\"valueFrom\":{\"secretKeyRef\":{\"name\":"
        "\"d\",\"key\":\"k\"}}}]}],\"imagePullSecrets\":[{\"name\":\"e\"}]}");
    static const char *const wanted[] = {"volume with secret.secretName=\"a\"", "volume with secret.secretName=\"b\"",
                                         "init container i with envFrom referencing secret.secretName=\"c\"",
                                         "container m with envVar E referencing secret.secretName=\"d\"",
                                         "imagePullSecrets[0].name=\"e\""};
    struct secret_references references;

    secret_references(arena, &pod->spec, &references);
    CHECK_INT(references.len, COUNT_OF(wanted));
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        CHECK_STR(references.items[i].what, wanted[i]);
    }
}

static void check_flags(const char *enable, const char *disable, const char *error)
{
    struct apiserver_options options;
    struct str names[] = {str_of(enable), str_of(disable)};

    apiserver_options_init(&options);
    options.enable_admission_plugins = (struct flag_strings){.items = &names[0], .len = names[0].n != 0};
    options.disable_admission_plugins = (struct flag_strings){.items = &names[1], .len = names[1].n != 0};
    if (error == NULL) {
        CHECK_OK(admission_check_flags(&options));
    } else {
        CHECK_ERROR(admission_check_flags(&options), error);
    }
}

TEST("apiserver/admission/flags name plugins that there are")
{
    check_flags("SecurityContextDeny", "Priority", NULL);
    check_flags("AlwaysPullImages", "PodTopologyLabels", NULL);
    check_flags("", "Prioritty", "disable-admission-plugins plugin \"Prioritty\" is unknown");
    check_flags("Nope", "", "enable-admission-plugins plugin \"Nope\" is unknown");
    check_flags("EventRateLimit", "", "\"EventRateLimit\" is not part of this server");
    check_flags("Priority", "Priority", "overlapped");
}

TEST("apiserver/admission/labels that kubelets may give their node")
{
    static const struct {
        const char *old, *labels, *forbidden;
    } rows[] = {
        {"{}", "{\"kubernetes.io/hostname\":\"a\",\"example.com/x\":\"1\",\"plain\":\"1\"}", ""},
        {"{}", "{\"node.kubernetes.io/x\":\"1\",\"a.kubelet.kubernetes.io/x\":\"1\"}", ""},
        {"{}", "{\"node-role.kubernetes.io/control-plane\":\"\"}", "node-role.kubernetes.io/control-plane"},
        {"{}", "{\"node-restriction.kubernetes.io/a\":\"1\",\"x.k8s.io/b\":\"1\"}",
         "node-restriction.kubernetes.io/a, x.k8s.io/b"},
        {"{\"x.k8s.io/b\":\"1\"}", "{\"x.k8s.io/b\":\"1\"}", ""},
        {"{\"x.k8s.io/b\":\"1\"}", "{\"x.k8s.io/b\":\"2\"}", "x.k8s.io/b"},
        {"{\"x.k8s.io/b\":\"1\"}", "{}", "x.k8s.io/b"},
        {"{}", "{\"notkubernetes.io/b\":\"1\"}", ""},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct meta_v1_object_meta old = {0}, new = {0};

        CHECK_OK(json_decode(arena, &meta_v1_object_meta_type, arena_printf(arena, "{\"labels\":%s}", rows[i].old),
                             &old, NULL));
        CHECK_OK(json_decode(arena, &meta_v1_object_meta_type, arena_printf(arena, "{\"labels\":%s}", rows[i].labels),
                             &new, NULL));
        CHECK_STR(node_labels_forbidden(arena, &old.labels, &new.labels), rows[i].forbidden);
    }
}
