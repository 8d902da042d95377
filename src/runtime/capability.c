#include "runtime/capability.h"

#include "base/arena.h"

static const char *const names[] = {
    "CAP_CHOWN",           "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER",          "CAP_FSETID",
    "CAP_KILL",            "CAP_SETGID",       "CAP_SETUID",          "CAP_SETPCAP",         "CAP_LINUX_IMMUTABLE",
    "CAP_NET_BIND_SERVICE", "CAP_NET_BROADCAST", "CAP_NET_ADMIN",     "CAP_NET_RAW",         "CAP_IPC_LOCK",
    "CAP_IPC_OWNER",       "CAP_SYS_MODULE",   "CAP_SYS_RAWIO",       "CAP_SYS_CHROOT",      "CAP_SYS_PTRACE",
    "CAP_SYS_PACCT",       "CAP_SYS_ADMIN",    "CAP_SYS_BOOT",        "CAP_SYS_NICE",        "CAP_SYS_RESOURCE",
    "CAP_SYS_TIME",        "CAP_SYS_TTY_CONFIG", "CAP_MKNOD",         "CAP_LEASE",           "CAP_AUDIT_WRITE",
    "CAP_AUDIT_CONTROL",   "CAP_SETFCAP",      "CAP_MAC_OVERRIDE",    "CAP_MAC_ADMIN",       "CAP_SYSLOG",
    "CAP_WAKE_ALARM",      "CAP_BLOCK_SUSPEND", "CAP_AUDIT_READ",     "CAP_PERFMON",         "CAP_BPF",
    "CAP_CHECKPOINT_RESTORE",
};

uint64_t capabilities_default(void)
{
    static const char *const wanted[] = {"CHOWN",  "DAC_OVERRIDE", "FSETID",  "FOWNER",  "MKNOD",
                                         "NET_RAW", "SETGID",      "SETUID",  "SETFCAP", "SETPCAP",
                                         "NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE"};
    uint64_t set = 0, bit = 0;

    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        status_free(capability_parse(str_of(wanted[i]), &bit)); /* all are known */
        set |= bit;
    }
    return set;
}

const char *capability_name(unsigned number)
{
    return number < COUNT_OF(names) ? names[number] : NULL;
}

struct status *capability_parse(struct str name, uint64_t *ret)
{
    if (str_eq_nocase(name, STR("ALL"))) {
        *ret = CAPABILITIES_ALL;
        return NULL;
    }
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct str known = str_of(names[i]);

        if (str_eq_nocase(name, known) || str_eq_nocase(name, str_from(known, 4))) {
            *ret = UINT64_C(1) << i;
            return NULL;
        }
    }
    return status_new(STATUS_INVALID, "unknown capability \"%.*s\"", STR_ARG(name));
}

/* Whole sets first, so that "add ALL, drop NET_RAW" means what it says. */
static struct status *collect(const struct str_list *list, bool *ret_all, uint64_t *ret)
{
    uint64_t bits;

    LIST_EACH(name, list) {
        TRY(capability_parse(*name, &bits));
        if (bits == CAPABILITIES_ALL) {
            *ret_all = true;
        } else {
            *ret |= bits;
        }
    }
    return NULL;
}

struct status *capabilities_apply(uint64_t base, const struct str_list *add, const struct str_list *drop, uint64_t *ret)
{
    bool adds_all = false, drops_all = false;
    uint64_t added = 0, dropped = 0;

    TRY(collect(add, &adds_all, &added));
    TRY(collect(drop, &drops_all, &dropped));
    if (adds_all) {
        base = CAPABILITIES_ALL;
    }
    if (drops_all) {
        base = 0;
    }
    *ret = (base | added) & ~dropped;
    return NULL;
}
