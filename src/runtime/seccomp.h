/* Which system calls a container may make: a profile, its JSON, and the filter for the kernel made of it. */
#ifndef RUNTIME_SECCOMP_H
#define RUNTIME_SECCOMP_H

#include "base/arena.h"
#include "base/status.h"

#include <stdint.h>

enum seccomp_action {
    SECCOMP_ALLOW,
    SECCOMP_ERRNO,
    SECCOMP_KILL_THREAD,
    SECCOMP_KILL_PROCESS,
    SECCOMP_TRAP,
    SECCOMP_TRACE,
    SECCOMP_LOG,
};

enum seccomp_compare {
    SECCOMP_NOT_EQUAL,
    SECCOMP_LESS,
    SECCOMP_LESS_OR_EQUAL,
    SECCOMP_EQUAL,
    SECCOMP_GREATER_OR_EQUAL,
    SECCOMP_GREATER,
    SECCOMP_MASKED_EQUAL, /* (argument & value) == value_two */
};

struct seccomp_argument {
    unsigned index;
    enum seccomp_compare compare;
    uint64_t value, value_two;
};

struct seccomp_rule {
    struct str_list names; /* those this machine does not have are skipped */
    enum seccomp_action action;
    int error; /* of ERRNO and TRACE */
    struct {
        struct seccomp_argument *items;
        size_t len;
    } arguments; /* all must hold */
};

struct seccomp_profile {
    enum seccomp_action default_action;
    int default_error;
    struct str_list architectures; /* "x86_64", "x86"; beside the machine's own */
    bool has_log, has_speculation; /* SECCOMP_FILTER_FLAG_LOG, ..._SPEC_ALLOW */
    struct {
        struct seccomp_rule *items;
        size_t len;
    } rules;
};

/* Adds a rule for these calls, names with spaces between (they are borrowed): allowed, always or when the argument is so.
 * The caller may make another action of it. */
struct seccomp_rule *seccomp_allow(struct arena *arena, struct seccomp_profile *profile, const char *calls);
void seccomp_allow_when(struct arena *arena, struct seccomp_profile *profile, const char *call,
                        struct seccomp_argument argument);
/* RuntimeDefault: what a container with these capabilities (capability.h) may do. Pure. */
void seccomp_profile_default(struct arena *arena, uint64_t capabilities, struct seccomp_profile *ret);
/* A profile file in the OCI form or Docker's (with includes and excludes by capability and architecture). Pure; texts
 * borrow. BAD_REQUEST. */
MUST_USE struct status *seccomp_profile_decode(struct arena *arena, struct str json, uint64_t capabilities,
                                               struct seccomp_profile *ret);
/* The profile in the OCI form, for an OCI runtime. Pure. */
struct str seccomp_profile_encode(struct arena *arena, const struct seccomp_profile *profile);
/* The instructions (struct sock_filter[]), in the arena. Some milliseconds of work: on a worker, and keep the result. */
MUST_USE struct status *seccomp_filter_make(const struct seccomp_profile *profile, struct arena *arena,
                                            struct str *ret_instructions);
/* SECCOMP_FILTER_FLAG_*, for the system call. */
uint64_t seccomp_filter_flags(const struct seccomp_profile *profile);

#endif
