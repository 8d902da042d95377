/* Who a process runs as: the user and groups of a plan, looked up in the image's /etc/passwd and /etc/group. Pure. */
#ifndef RUNTIME_SHIM_USERS_H
#define RUNTIME_SHIM_USERS_H

#include "base/arena.h"
#include "base/status.h"
#include "runtime/plan.h"

#include <sys/types.h>

enum { USERS_GROUPS_MAX = 256 };

struct user_identity {
    uid_t uid;
    gid_t gid;
    struct str home; /* "/" when passwd doesn't say */
    gid_t groups[USERS_GROUPS_MAX]; /* the primary group first */
    size_t group_count;
};

/* `passwd` and `group` are the files' text, empty when they are missing. The rules are those of containerd:
 * numbers that passwd does not know are taken as they are (group 0), names that it does not know are an error.
 * NOT_FOUND: "unable to find user NAME: no matching entries in passwd file". */
MUST_USE struct status *users_resolve(const struct shim_process_plan *plan, struct str passwd, struct str group,
                                      struct user_identity *ret);

#endif
