#include "test.h"

#include "apiserver/admission/pod_security_checks.h"
#include "base/buf.h"
#include "schema/json.h"

#include <limits.h>

/* "reason (detail); ..." */
static struct str told(struct arena *arena, enum pod_security_level level, int minor, const char *spec)
{
    struct core_v1_pod *pod = ARENA_NEW(arena, struct core_v1_pod);
    struct pod_security_violations violations;
    OWNED(buf_done) struct buf out = {0};

    CHECK_OK(json_decode(arena, &core_v1_pod_type, arena_printf(arena, "{\"spec\":%s}", spec), pod, NULL));
    pod_security_check(arena, level, minor, &pod->metadata, &pod->spec, &violations);
    LIST_EACH(violation, &violations) {
        buf_printf(&out, "%s%.*s (%.*s)", out.n == 0 ? "" : "; ", STR_ARG(violation->reason),
                   STR_ARG(violation->detail));
    }
    return arena_str(arena, buf_str(&out));
}

#define C(context) "{\"containers\":[{\"name\":\"c\",\"securityContext\":" context "}]}"

TEST("apiserver/pod_security/baseline")
{
    static const struct {
        const char *spec, *told;
    } rows[] = {
        {"{\"containers\":[{\"name\":\"c\"}]}", ""},
        {"{\"hostPID\":true,\"containers\":[{\"name\":\"c\"}]}", "host namespaces (hostPID=true)"},
        {C("{\"privileged\":true}"), "privileged (container \"c\" must not set securityContext.privileged=true)"},
        {C("{\"capabilities\":{\"add\":[\"NET_ADMIN\",\"KILL\",\"BPF\"]}}"),
         "non-default capabilities (container \"c\" must not include \"BPF\", \"NET_ADMIN\" in "
         "securityContext.capabilities.add)"},
        {C("{\"procMount\":\"Unmasked\"}"),
         "procMount (container \"c\" must not set securityContext.procMount to \"Unmasked\")"},
        {C("{\"seLinuxOptions\":{\"type\":\"spc_t\",\"user\":\"u\"}}"),
         "seLinuxOptions (container \"c\" set forbidden securityContext.seLinuxOptions: type \"spc_t\"; user may not "
         "be set)"},
        {C("{\"appArmorProfile\":{\"type\":\"Unconfined\"}}"),
         "forbidden AppArmor profile (container \"c\" must not set AppArmor profile type to \"Unconfined\")"},
        {"{\"securityContext\":{\"seccompProfile\":{\"type\":\"Unconfined\"}},\"containers\":[{\"name\":\"c\"}]}",
         "seccompProfile (pod must not set securityContext.seccompProfile.type to \"Unconfined\")"},
        {"{\"securityContext\":{\"sysctls\":[{\"name\":\"net.ipv4.tcp_syncookies\"},{\"name\":\"kernel.msgmax\"}]},"
         "\"containers\":[{\"name\":\"c\"}]}",
         "forbidden sysctls (kernel.msgmax)"},
        {"{\"volumes\":[{\"name\":\"v\",\"hostPath\":{\"path\":\"/\"}},{\"name\":\"w\",\"hostPath\":{\"path\":\"/\"}}],"
         "\"containers\":[{\"name\":\"c\"}]}",
         "hostPath volumes (volumes \"v\", \"w\")"},
        {"{\"initContainers\":[{\"name\":\"i\",\"ports\":[{\"hostPort\":80}]}],\"containers\":[{\"name\":\"c\","
         "\"ports\":[{"
         "\"hostPort\":443}]}]}",
         "hostPorts (containers \"i\", \"c\" use hostPorts 443, 80)"},
        {"{\"containers\":[{\"name\":\"c\"}],\"ephemeralContainers\":[{\"name\":\"e\",\"securityContext\":{"
         "\"privileged\":true}}]}",
         "privileged (container \"e\" must not set securityContext.privileged=true)"},
        {C("{\"windowsOptions\":{\"hostProcess\":true}}"),
         "hostProcess (container \"c\" must not set securityContext.windowsOptions.hostProcess=true)"},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CHECK_STR(told(arena, POD_SECURITY_BASELINE, INT_MAX, rows[i].spec), rows[i].told);
        CHECK_STR(told(arena, POD_SECURITY_PRIVILEGED, INT_MAX, rows[i].spec), "");
    }
}

#define GOOD "\"allowPrivilegeEscalation\":false,\"capabilities\":{\"drop\":[\"ALL\"]}"
#define GOOD_POD "\"securityContext\":{\"runAsNonRoot\":true,\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}"

TEST("apiserver/pod_security/restricted")
{
    static const struct {
        const char *spec, *told;
        int minor;
    } rows[] = {
        {"{" GOOD_POD ",\"containers\":[{\"name\":\"c\",\"securityContext\":{" GOOD "}}]}", "", INT_MAX},
        {"{" GOOD_POD ",\"containers\":[{\"name\":\"c\"}]}",
         "allowPrivilegeEscalation != false (container \"c\" must set securityContext.allowPrivilegeEscalation=false); "
         "unrestricted capabilities (container \"c\" must set securityContext.capabilities.drop=[\"ALL\"])",
         INT_MAX},
        {"{" GOOD_POD ",\"containers\":[{\"name\":\"c\"}]}",
         "allowPrivilegeEscalation != false (container \"c\" must set securityContext.allowPrivilegeEscalation=false)",
         20},
        {"{" GOOD_POD ",\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}},{\"name\":\"w\",\"iscsi\":{}}],\"containers\":[{"
         "\"name\":\"c\",\"securityContext\":{" GOOD "}}]}",
         "restricted volume types (volume \"w\" uses restricted volume type \"iscsi\")", INT_MAX},
        {"{\"containers\":[{\"name\":\"c\",\"securityContext\":{" GOOD
         ",\"runAsNonRoot\":false,\"seccompProfile\":{\"type\":\"Localhost\"}}}]}",
         "runAsNonRoot != true (container \"c\" must not set securityContext.runAsNonRoot=false)", INT_MAX},
        {"{\"containers\":[{\"name\":\"a\",\"securityContext\":{" GOOD
         ",\"runAsNonRoot\":true}},{\"name\":\"b\",\"securityContext\":{" GOOD
         ",\"runAsNonRoot\":true,\"runAsUser\":0,\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}}]}",
         "runAsUser=0 (container \"b\" must not set runAsUser=0); seccompProfile (pod or container \"a\" must set "
         "securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")",
         INT_MAX},
        {"{" GOOD_POD ",\"containers\":[{\"name\":\"c\",\"securityContext\":{\"allowPrivilegeEscalation\":false,"
         "\"capabilities\":{\"drop\":[\"ALL\"],\"add\":[\"KILL\",\"NET_BIND_SERVICE\"]}}}]}",
         "unrestricted capabilities (container \"c\" must not include \"KILL\" in securityContext.capabilities.add)",
         INT_MAX},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CHECK_STR(told(arena, POD_SECURITY_RESTRICTED, rows[i].minor, rows[i].spec), rows[i].told);
    }
}
