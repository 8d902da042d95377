#include "test.h"

#include "api/kinds.h"
#include "api/warnings.h"
#include "base/buf.h"
#include "schema/json.h"

static struct str told(struct arena *arena, const struct kind *kind, const char *json, const char *old_json)
{
    void *object = arena_alloc(arena, kind->type->size), *old = NULL;
    struct str_list texts = {0};
    OWNED(buf_done) struct buf out = {0};

    CHECK_OK(json_decode(arena, kind->type, str_of(json), object, NULL));
    if (old_json != NULL) {
        old = arena_alloc(arena, kind->type->size);
        CHECK_OK(json_decode(arena, kind->type, str_of(old_json), old, NULL));
    }
    api_warnings(arena, kind, object, old, &texts);
    LIST_EACH(text, &texts) {
        buf_printf(&out, "%s%.*s", out.n == 0 ? "" : "\n", STR_ARG(*text));
    }
    return arena_str(arena, buf_str(&out));
}

#define POD(spec) "{\"metadata\":{\"name\":\"p\"},\"spec\":" spec "}"

TEST("api/warnings/what is told, by object")
{
    static const struct {
        const char *kind, *object, *told;
    } rows[] = {
        {"Pod", POD("{\"containers\":[{\"name\":\"c\"}]}"), ""},
        {"Pod",
         POD("{\"containers\":[{\"env\":[{\"name\":\"A\"},{\"name\":\"B\"},{\"name\":\"A\",\"value\":\"x\"}]}]}"),
         "spec.containers[0].env[2]: hides previous definition of \"A\", which may be dropped when using apply"},
        {"Pod", POD("{\"containers\":[{\"env\":[{\"name\":\"A\"},{\"name\":\"A\",\"value\":\"$(A)x\"}]}]}"), ""},
        {"Pod", POD("{\"containers\":[{\"resources\":{\"requests\":{\"memory\":\"100m\",\"cpu\":\"100m\"}}}]}"),
         "spec.containers[0].resources.requests[memory]: fractional byte value \"100m\" is invalid, must be an "
         "integer"},
        {"Pod", POD("{\"containers\":[],\"nodeSelector\":{\"beta.kubernetes.io/os\":\"linux\"}}"),
         "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \"kubernetes.io/os\" instead"},
        {"Pod",
         POD("{\"containers\":[],\"volumes\":[{\"name\":\"v\",\"projected\":{\"sources\":[{}]}},{\"name\":\"g\","
             "\"gitRepo\":{}}]}"),
         "volume \"v\" (Projected) has no sources provided\n"
         "spec.volumes[1].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"},
        {"Pod", "{\"metadata\":{\"name\":\"a.b\"},\"spec\":{\"containers\":[]}}",
         "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is "
         "recommended: [must not contain dots]"},
        {"Pod",
         POD("{\"containers\":[{\"ports\":[{\"containerPort\":80},{\"containerPort\":80},{\"containerPort\":1,"
             "\"hostIP\":\"::\",\"protocol\":\"TCP\"}]}]}"),
         "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]\n"
         "spec.containers[0].ports[2]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:1 Protocol:TCP "
         "HostIP:::}"},
        {"Service",
         "{\"spec\":{\"externalIPs\":[\"192.0.2.1\"],\"clusterIP\":\"None\",\"sessionAffinity\":\"ClientIP\"}}",
         "spec.externalIPs is ignored when spec.clusterIP is \"None\"\n"
         "spec.SessionAffinity is ignored for headless services"},
        {"Secret", "{\"type\":\"kubernetes.io/tls\",\"data\":{\"tls.crt\":\"eA==\",\"tls.key\":\"eA==\"}}",
         "tls: failed to find any PEM data in certificate input"},
        {"ConfigMap", "{}", ""},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CHECK_STR(told(arena, kind_find(STR(""), STR("v1"), str_of(rows[i].kind)), rows[i].object, NULL), rows[i].told);
    }
}

TEST("api/warnings/templates have paths of their own, and updates tell when the spec changes")
{
    static const char one[] = "{\"spec\":{\"template\":{\"spec\":{\"imagePullSecrets\":[{\"name\":\"\"}]}}}}";
    static const char two[] =
        "{\"spec\":{\"replicas\":2,\"template\":{\"spec\":{\"imagePullSecrets\":[{\"name\":\"\"}]}}}}";
    const struct kind *kind = kind_find(STR("apps"), STR("v1"), STR("Deployment"));
    OWNED(arena_freep) struct arena *arena = arena_new();

    CHECK_STR(told(arena, kind, one, NULL), "spec.template.spec.imagePullSecrets[0].name: invalid empty name \"\"");
    CHECK_STR(told(arena, kind, one, one), "");
    CHECK_STR(told(arena, kind, two, one), "spec.template.spec.imagePullSecrets[0].name: invalid empty name \"\"");
}
