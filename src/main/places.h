/* Where the files of one server are: all below its data directory, sockets and locks below the run directory. */
#ifndef MAIN_PLACES_H
#define MAIN_PLACES_H

#include "base/arena.h"
#include "base/status.h"

#include <sys/types.h>

#define DEFAULT_DATA_DIR "/var/lib/c8s"
#define DEFAULT_RUN_DIR "/run/c8s"
#define DEFAULT_KUBECONFIG "/etc/c8s/c8s.yaml"

/* All are NUL-terminated past their end, in the arena. */
struct places {
    struct str data;
    struct str run; /* /run/c8s for root with the default data directory, else DATA/run */
    struct str tls, store, kubeconfigs, runtime, kubelet, cni_conf, cni_bin;
    struct str cri_socket;
    struct str trace; /* the components' flight recorders */
    struct str pid_file; /* locked by the server that runs */
    struct str arguments; /* those of the server that ran last */
    struct str kubeconfig; /* where the administrator's goes unless told */
};

struct places places_of(struct arena *arena, struct str data_dir);
/* Makes them; those that the unprivileged components write become the user's (0: as we are). Blocks. */
MUST_USE struct status *places_make(const struct places *places, uid_t uid, bool has_node);

/* Takes the lock of the pid file and writes our pid; CONFLICT naming the pid when a server of this data directory runs.
 * The lock is held until the process ends. */
MUST_USE struct status *places_lock(const struct places *places, int *ret_fd);
/* The pid of the server that holds the lock; 0 when none runs. */
pid_t places_running(const struct places *places);

#endif
