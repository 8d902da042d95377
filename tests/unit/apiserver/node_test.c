#include "api_bed.h"
#include "test.h"

#include "api/core_v1.h"
#include "apiserver/authz/node.h"
#include "apiserver/subresources/proxy.h"
#include "schema/json.h"

static struct core_v1_pod *pod_of(struct arena *arena, const char *text)
{
    struct core_v1_pod *pod = ARENA_NEW(arena, struct core_v1_pod);

    CHECK_OK(json_decode(arena, &core_v1_pod_type, str_of(text), pod, NULL));
    return pod;
}

TEST("apiserver/node/a pod refers to what its spec names")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct core_v1_pod *pod = pod_of(
        arena, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"serviceAccountName\":\"sa\",\"imagePullSecrets\":[{\"name\":\"pull\"}],"
               "\"initContainers\":[{\"name\":\"i\",\"envFrom\":[{\"configMapRef\":{\"name\":\"init\"}}]}],"
               "\"containers\":[{\"name\":\"c\",\"env\":[{\"name\":\"E\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"env\",\"key\":\"k\"}}}]}],"
               "\"volumes\":[{\"name\":\"s\",\"secret\":{\"secretName\":\"vol\"}},{\"name\":\"e\",\"ephemeral\":{}},"
               "{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"claim\"}},"
               "{\"name\":\"j\",\"projected\":{\"sources\":[{\"configMap\":{\"name\":\"proj\"}}]}}]}}");
    static const struct {
        enum node_reference what;
        const char *name;
        bool wanted;
    } cases[] = {
        {NODE_SECRET, "pull", true},   {NODE_SECRET, "env", true},        {NODE_SECRET, "vol", true},
        {NODE_SECRET, "proj", false},  {NODE_CONFIG_MAP, "init", true},   {NODE_CONFIG_MAP, "proj", true},
        {NODE_CONFIG_MAP, "vol", false}, {NODE_CLAIM, "claim", true},     {NODE_CLAIM, "p-e", true},
        {NODE_CLAIM, "p-v", false},    {NODE_SERVICE_ACCOUNT, "sa", true}, {NODE_SERVICE_ACCOUNT, "default", false},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CHECK_INT(node_pod_refers(pod, cases[i].what, str_of(cases[i].name)), cases[i].wanted);
    }
}

TEST("apiserver/kubelet/the container is the one named, or the only one")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    const struct core_v1_pod *one = pod_of(arena, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"a\"}]}}");
    const struct core_v1_pod *two =
        pod_of(arena, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}],"
                      "\"initContainers\":[{\"name\":\"i\"}]}}");
    struct str name;

    CHECK_OK(kubelet_container(arena, one, STR(""), &name));
    CHECK_STR(name, "a");
    CHECK_OK(kubelet_container(arena, two, STR("i"), &name));
    CHECK_STR(name, "i");
    CHECK_ERROR(kubelet_container(arena, two, STR("x"), &name), "container x is not valid for pod p");
    CHECK_ERROR(kubelet_container(arena, two, STR(""), &name),
                "a container name must be specified for pod p, choose one of: [a b] or one of the init containers: [i]");
}

TEST("apiserver/kubelet/the address is the best the node has")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct core_v1_node *node = ARENA_NEW(arena, struct core_v1_node);
    struct str order[] = {STR("InternalIP"), STR("Hostname")}, address;
    struct flag_strings preferred = {.items = order, .len = COUNT_OF(order)};

    CHECK(!kubelet_address(node, &preferred, &address));
    *LIST_ADD(arena, &node->status.addresses) = (struct core_v1_node_address){STR("Hostname"), STR("n")};
    CHECK(kubelet_address(node, &preferred, &address));
    CHECK_STR(address, "n");
    *LIST_ADD(arena, &node->status.addresses) = (struct core_v1_node_address){STR("InternalIP"), STR("10.0.0.1")};
    CHECK(kubelet_address(node, &preferred, &address));
    CHECK_STR(address, "10.0.0.1");
}

/* One request as node n1's kubelet. */
static int as_node(struct api_bed *bed, const char *method, const char *target, const char *body)
{
    bed->token = "Bearer n1";
    return api_call(bed, method, target, body);
}

static void graph(struct api_bed *bed)
{
    authn_file_free(bed->server->tokens);
    CHECK_OK(authn_file_parse(STR("admin,admin,u-1,system:masters\nn1,system:node:n1,u-2,system:nodes\n"), STR("t"),
                              &bed->server->tokens));
    CHECK_INT(api_call(bed, "POST", "/api/v1/namespaces/default/serviceaccounts", "{\"metadata\":{\"name\":\"default\"}}"), 201);
    CHECK_INT(api_call(bed, "POST", "/api/v1/namespaces/default/secrets", "{\"metadata\":{\"name\":\"s\"}}"), 201);
    CHECK_INT(as_node(bed, "GET", "/api/v1/namespaces/default/secrets/s", NULL), 403);
    CHECK(str_has_suffix(api_at(bed, "message"), STR("node: no relationship found between node 'n1' and this object")));
    CHECK_INT(api_call(bed, "POST", "/api/v1/namespaces/default/pods",
                       "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}],"
                       "\"volumes\":[{\"name\":\"v\",\"secret\":{\"secretName\":\"s\"}}]}}"), 201);
    CHECK_INT(as_node(bed, "GET", "/api/v1/namespaces/default/secrets/s", NULL), 200);
    CHECK_INT(as_node(bed, "GET", "/api/v1/namespaces/default/secrets", NULL), 403);
    CHECK_INT(as_node(bed, "DELETE", "/api/v1/namespaces/default/secrets/s", NULL), 403);
    CHECK_INT(as_node(bed, "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", NULL), 200);
    CHECK_INT(as_node(bed, "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2", NULL), 403);
    CHECK_INT(as_node(bed, "GET", "/api/v1/pods", NULL), 403);
    CHECK_INT(as_node(bed, "GET", "/api/v1/nodes/n2", NULL), 403);
    CHECK_INT(as_node(bed, "GET", "/api/v1/nodes/n1", NULL), 404); /* allowed, but not there */
    CHECK_INT(as_node(bed, "GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2", NULL), 403);
    CHECK_INT(as_node(bed, "GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1", NULL), 404);
}

TEST("apiserver/node/a kubelet reads what its pods need, and no more")
{
    api_bed_run(graph);
}
