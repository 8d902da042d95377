#include "runtime/filter.h"

#include "base/file.h"
#include "base/mem.h"
#include "runtime/seccomp.h"

#include <string.h>

enum { PROFILE_BYTES_MAX = 4 << 20, FILTERS_MAX = 256 };

struct filter {
    struct str instructions;
    uint32_t flags;
};

/* What the worker needs and gives. */
struct making {
    struct arena *arena;
    struct str path; /* of a local profile; empty: the runtime's own */
    uint64_t capabilities;
    struct filter filter;
    struct str json;
    struct status *status;
};

static struct status *read_profile(struct making *making, struct seccomp_profile *ret)
{
    struct str json = STR("");

    if (making->path.n == 0) {
        seccomp_profile_default(making->arena, making->capabilities, ret);
        return NULL;
    }
    TRY(file_read(making->arena, making->path.p, PROFILE_BYTES_MAX, &json));
    return seccomp_profile_decode(making->arena, json, making->capabilities, ret);
}

static void make(void *arg)
{
    struct making *making = arg;
    struct seccomp_profile profile = {0};

    making->status = read_profile(making, &profile);
    if (making->status == NULL) {
        making->status = seccomp_filter_make(&profile, making->arena, &making->filter.instructions);
        making->filter.flags = (uint32_t)seccomp_filter_flags(&profile);
    }
}

static struct status *profile_of(const struct cri_v1_container_config *config, bool *ret_is_unconfined,
                                 struct str *ret_path)
{
    const struct cri_v1_linux_container_security_context *security =
        config->linux_ != NULL ? config->linux_->security_context : NULL;
    const struct cri_v1_security_profile *profile = security != NULL ? security->seccomp : NULL;

    *ret_path = STR("");
    /* Without a word a container is unconfined, as stock runtimes have it by default. */
    *ret_is_unconfined = profile == NULL || security->privileged ||
                         profile->profile_type == CRI_V1_SECURITY_PROFILE_PROFILE_TYPE_UNCONFINED;
    if (!*ret_is_unconfined && profile->profile_type == CRI_V1_SECURITY_PROFILE_PROFILE_TYPE_LOCALHOST) {
        *ret_path = profile->localhost_ref;
        if (ret_path->n == 0 || ret_path->p[0] != '/') {
            return status_new(STATUS_INVALID, "seccomp profile \"%.*s\" is no absolute path", STR_ARG(*ret_path));
        }
    }
    return NULL;
}

struct status *filter_find(struct runtime *runtime, const struct cri_v1_container_config *config,
                           uint64_t capabilities, struct str *ret_instructions, uint32_t *ret_flags)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct making making = {.arena = arena, .capabilities = capabilities};
    bool is_unconfined;

    *ret_instructions = STR("");
    *ret_flags = 0;
    TRY(profile_of(config, &is_unconfined, &making.path));
    if (is_unconfined) {
        return NULL;
    }
    making.path = arena_str(arena, making.path);
    struct str key = arena_printf(arena, "%llx", (unsigned long long)capabilities);
    /* A file may change; the runtime's own profile does not. */
    struct filter *known = making.path.n == 0 ? map_find(&runtime->filters, key) : NULL;

    if (known == NULL) {
        task_offload(make, &making);
        if (making.status != NULL) {
            return status_while(making.status, "seccomp profile %.*s", STR_ARG(making.path));
        }
        known = ARENA_NEW(runtime->arena, struct filter);
        known->flags = making.filter.flags;
        known->instructions = arena_str(runtime->arena, making.filter.instructions);
        if (making.path.n == 0 && runtime->filters.count < FILTERS_MAX) {
            map_set(&runtime->filters, key, known);
        }
    }
    *ret_instructions = known->instructions;
    *ret_flags = known->flags;
    return NULL;
}

static void encode(void *arg)
{
    struct making *making = arg;
    struct seccomp_profile profile = {0};

    making->status = read_profile(making, &profile);
    if (making->status == NULL) {
        making->json = seccomp_profile_encode(making->arena, &profile);
    }
}

struct status *filter_profile(struct arena *arena, const struct cri_v1_container_config *config, uint64_t capabilities,
                              struct str *ret_json)
{
    struct making making = {.arena = arena, .capabilities = capabilities};
    bool is_unconfined;

    *ret_json = STR("");
    TRY(profile_of(config, &is_unconfined, &making.path));
    if (is_unconfined) {
        return NULL;
    }
    making.path = arena_str(arena, making.path);
    task_offload(encode, &making);
    if (making.status != NULL) {
        return status_while(making.status, "seccomp profile %.*s", STR_ARG(making.path));
    }
    *ret_json = making.json;
    return NULL;
}
