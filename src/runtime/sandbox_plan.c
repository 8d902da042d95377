#include "runtime/sandbox_plan.h"

#include "base/buf.h"
#include "schema/cri_v1.h"

#include <sched.h>
#include <string.h>

enum { PAUSE_OOM_SCORE_ADJ = -998, SHM_BYTES = 64 << 20, HOSTNAME_BYTES_MAX = 64 };

static const struct cri_v1_linux_sandbox_security_context *security_of(const struct cri_v1_pod_sandbox_config *config)
{
    return config->linux_ != NULL ? config->linux_->security_context : NULL;
}

struct sandbox_sharing sandbox_sharing_of(const struct cri_v1_pod_sandbox_config *config)
{
    const struct cri_v1_linux_sandbox_security_context *security = security_of(config);
    const struct cri_v1_namespace_option *options = security != NULL ? security->namespace_options : NULL;

    if (options == NULL) {
        return (struct sandbox_sharing){.is_pid_shared = true}; /* zero is POD in all three */
    }
    return (struct sandbox_sharing){
        .has_host_network = options->network == CRI_V1_NAMESPACE_MODE_NODE,
        .has_host_ipc = options->ipc == CRI_V1_NAMESPACE_MODE_NODE,
        .has_host_pid = options->pid == CRI_V1_NAMESPACE_MODE_NODE,
        .is_pid_shared = options->pid == CRI_V1_NAMESPACE_MODE_POD,
    };
}

struct str sandbox_cgroup_path(struct arena *arena, const struct cri_v1_pod_sandbox_config *config, struct str id)
{
    struct str parent = config->linux_ != NULL ? config->linux_->cgroup_parent : STR("");

    while (str_has_suffix(parent, STR("/"))) {
        parent.n--;
    }
    if (parent.n == 0) {
        parent = STR("/k8s.io");
    }
    return arena_printf(arena, "%s%.*s/%.*s", parent.p[0] == '/' ? "" : "/", STR_ARG(parent), STR_ARG(id));
}

struct status *sandbox_sysctl_path(struct arena *arena, struct str name, struct str *ret)
{
    struct str path = arena_str(arena, name);
    size_t dot = str_index(name, '.'), slash = str_index(name, '/');

    /* What comes first is the separator; the other one is part of a name then. */
    for (size_t i = 0; dot < slash && i < path.n; i++) {
        char *c = (char *)path.p + i;

        *c = *c == '.' ? '/' : *c == '/' ? '.' : *c;
    }
    for (struct str rest = path, part; str_next(&rest, '/', &part);) {
        if (part.n == 0 || str_is(part, ".") || str_is(part, "..")) {
            return status_new(STATUS_BAD_REQUEST, "invalid sysctl \"%.*s\"", STR_ARG(name));
        }
    }
    *ret = path;
    return NULL;
}

static struct status *plan_sysctls(struct arena *arena, const struct cri_v1_pod_sandbox_config *config,
                                   bool has_host_network, struct shim_sandbox_plan *plan)
{
    static const struct shim_sysctl defaults[] = {
        {STR_INIT("net/ipv4/ip_unprivileged_port_start"), STR_INIT("0")},
        {STR_INIT("net/ipv4/ping_group_range"), STR_INIT("0 2147483647")},
    };

    for (size_t i = 0; i < COUNT_OF(defaults) && !has_host_network; i++) {
        *LIST_ADD(arena, &plan->sysctls) = defaults[i];
    }
    if (config->linux_ == NULL) {
        return NULL;
    }
    LIST_EACH(sysctl, &config->linux_->sysctls) {
        struct str path = STR("");

        TRY(sandbox_sysctl_path(arena, sysctl->key, &path));
        *LIST_ADD(arena, &plan->sysctls) = (struct shim_sysctl){path, sysctl->value};
    }
    return NULL;
}

struct status *sandbox_plan_make(struct arena *arena, const struct cri_v1_pod_sandbox_config *config, struct str id,
                                 const struct cgroup_machine *machine, struct str hostname,
                                 struct shim_sandbox_plan *ret)
{
    const struct cri_v1_linux_sandbox_security_context *security = security_of(config);
    const struct cri_v1_namespace_option *options = security != NULL ? security->namespace_options : NULL;
    struct sandbox_sharing sharing = sandbox_sharing_of(config);
    struct shim_sandbox_plan plan = {.oom_score_adj = PAUSE_OOM_SCORE_ADJ};

    if (options != NULL && options->userns_options != NULL &&
        options->userns_options->mode != CRI_V1_NAMESPACE_MODE_NODE) {
        return status_new(STATUS_INVALID, "user namespaces are not supported");
    }
    if (config->hostname.n > HOSTNAME_BYTES_MAX) {
        return status_new(STATUS_INVALID, "hostname \"%.*s\" is longer than %d bytes", STR_ARG(config->hostname),
                          HOSTNAME_BYTES_MAX);
    }
    if (!sharing.has_host_network) {
        plan.namespaces |= CLONE_NEWNET | CLONE_NEWUTS;
        plan.hostname = config->hostname.n > 0 ? config->hostname : hostname;
    }
    if (!sharing.has_host_ipc) {
        plan.namespaces |= CLONE_NEWIPC;
        plan.shm_bytes = SHM_BYTES;
    }
    if (sharing.is_pid_shared) {
        plan.namespaces |= CLONE_NEWPID;
    }
    TRY(plan_sysctls(arena, config, sharing.has_host_network, &plan));
    cgroup_place(arena, machine, sandbox_cgroup_path(arena, config, id), &plan.cgroups);
    *ret = plan;
    return NULL;
}

static void add_words(struct buf *into, const char *keyword, const struct str_list *words)
{
    if (words->len == 0) {
        return;
    }
    buf_printf(into, "%s", keyword);
    LIST_EACH(word, words) {
        buf_printf(into, " %.*s", STR_ARG(*word));
    }
    buf_add_char(into, '\n');
}

struct str sandbox_resolv_conf(struct arena *arena, const struct cri_v1_dns_config *dns, struct str of_host)
{
    OWNED(buf_done) struct buf text = {0};

    if (dns == NULL || (dns->servers.len == 0 && dns->searches.len == 0 && dns->options.len == 0)) {
        return of_host;
    }
    add_words(&text, "search", &dns->searches);
    LIST_EACH(server, &dns->servers) {
        buf_printf(&text, "nameserver %.*s\n", STR_ARG(*server));
    }
    add_words(&text, "options", &dns->options);
    return arena_str(arena, buf_str(&text));
}
