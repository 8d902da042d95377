/* The adapter of libseccomp. */
#include "runtime/seccomp.h"

#include "base/mem.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

static uint32_t to_action(enum seccomp_action action, int error)
{
    switch (action) {
    case SECCOMP_ALLOW:
        return SCMP_ACT_ALLOW;
    case SECCOMP_ERRNO:
        return SCMP_ACT_ERRNO((uint32_t)error);
    case SECCOMP_KILL_THREAD:
        return SCMP_ACT_KILL_THREAD;
    case SECCOMP_KILL_PROCESS:
        return SCMP_ACT_KILL_PROCESS;
    case SECCOMP_TRAP:
        return SCMP_ACT_TRAP;
    case SECCOMP_TRACE:
        return SCMP_ACT_TRACE((uint32_t)error);
    case SECCOMP_LOG:
        return SCMP_ACT_LOG;
    }
    return SCMP_ACT_KILL_PROCESS;
}

static enum scmp_compare to_compare(enum seccomp_compare compare)
{
    static const enum scmp_compare known[] = {
        [SECCOMP_NOT_EQUAL] = SCMP_CMP_NE,        [SECCOMP_LESS] = SCMP_CMP_LT,
        [SECCOMP_LESS_OR_EQUAL] = SCMP_CMP_LE,    [SECCOMP_EQUAL] = SCMP_CMP_EQ,
        [SECCOMP_GREATER_OR_EQUAL] = SCMP_CMP_GE, [SECCOMP_GREATER] = SCMP_CMP_GT,
        [SECCOMP_MASKED_EQUAL] = SCMP_CMP_MASKED_EQ,
    };

    return known[compare];
}

static void release(scmp_filter_ctx *filter)
{
    if (*filter != NULL) {
        seccomp_release(*filter);
    }
}

static struct status *add_rule(scmp_filter_ctx filter, const struct seccomp_profile *profile,
                               const struct seccomp_rule *rule, struct arena *arena)
{
    struct scmp_arg_cmp arguments[6];
    unsigned count = 0;

    if (rule->action == profile->default_action && (rule->action != SECCOMP_ERRNO || rule->error == profile->default_error)) {
        return NULL; /* what happens anyway, which the library refuses */
    }
    LIST_EACH(argument, &rule->arguments) {
        if (count == COUNT_OF(arguments) || argument->index >= COUNT_OF(arguments)) {
            return status_new(STATUS_BAD_REQUEST, "a system call has only six arguments");
        }
        arguments[count++] = (struct scmp_arg_cmp){argument->index, to_compare(argument->compare), argument->value,
                                                   argument->value_two};
    }
    LIST_EACH(name, &rule->names) {
        int number = seccomp_syscall_resolve_name(arena_cstr(arena, *name));

        if (number == __NR_SCMP_ERROR) {
            continue;
        }
        int error = seccomp_rule_add_array(filter, to_action(rule->action, rule->error), number, count, arguments);

        /* EDOM: not on this architecture; EEXIST: said before. */
        if (error != 0 && error != -EDOM && error != -EEXIST) {
            return status_errno(-error, "seccomp rule for %.*s", STR_ARG(*name));
        }
    }
    return NULL;
}

static struct status *export(scmp_filter_ctx filter, struct arena *arena, struct str *ret)
{
    int fd = memfd_create("seccomp", MFD_CLOEXEC);

    if (fd < 0) {
        return status_errno(errno, "making a file for the seccomp filter");
    }
    int error = seccomp_export_bpf(filter, fd);
    off_t size = lseek(fd, 0, SEEK_END);
    char *bytes = arena_alloc(arena, size > 0 ? (size_t)size : 1);
    bool is_read = error == 0 && size > 0 && pread(fd, bytes, (size_t)size, 0) == size;

    close(fd);
    if (!is_read) {
        return status_errno(error != 0 ? -error : EIO, "making the seccomp filter");
    }
    *ret = (struct str){bytes, (size_t)size};
    return NULL;
}

struct status *seccomp_filter_make(const struct seccomp_profile *profile, struct arena *arena, struct str *ret)
{
    OWNED(release) scmp_filter_ctx filter = seccomp_init(to_action(profile->default_action, profile->default_error));

    if (filter == NULL) {
        return status_new(STATUS_INTERNAL_ERROR, "seccomp: no filter can be made");
    }
    seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
    seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a tree: some ten comparisons instead of hundreds */
    LIST_EACH(name, &profile->architectures) {
        uint32_t architecture = seccomp_arch_resolve_name(arena_cstr(arena, *name));
        int error = architecture != 0 ? seccomp_arch_add(filter, architecture) : 0;

        if (error != 0 && error != -EEXIST) {
            return status_errno(-error, "seccomp architecture %.*s", STR_ARG(*name));
        }
    }
    LIST_EACH(rule, &profile->rules) {
        TRY(add_rule(filter, profile, rule, arena));
    }
    return export(filter, arena, ret);
}

uint64_t seccomp_filter_flags(const struct seccomp_profile *profile)
{
    return (profile->has_log ? SECCOMP_FILTER_FLAG_LOG : 0) |
           (profile->has_speculation ? SECCOMP_FILTER_FLAG_SPEC_ALLOW : 0);
}
