/* Kubeconfig files of one cluster, user and context, with all certificates inside. */
#ifndef MAIN_KUBECONFIG_FILE_H
#define MAIN_KUBECONFIG_FILE_H

#include "base/arena.h"
#include "base/status.h"

#include <sys/types.h>

struct kubeconfig_file {
    const char *path;
    struct str server; /* https://HOST:PORT */
    struct str name;   /* of cluster, user and context */
    const char *tls;   /* directory of ca.crt, CLIENT.crt and CLIENT.key */
    const char *client;
    mode_t mode;
    uid_t uid; /* owner; 0: as we are */
};

/* Makes the directory too. Blocks. */
MUST_USE struct status *kubeconfig_file_write(struct arena *arena, const struct kubeconfig_file *file);

#endif
