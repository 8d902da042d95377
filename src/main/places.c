#include "main/places.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct places places_of(struct arena *arena, struct str data_dir)
{
    struct places places = {.data = arena_str(arena, data_dir)};
    bool is_system = geteuid() == 0 && str_is(data_dir, DEFAULT_DATA_DIR);

#define BELOW(directory, name) arena_printf(arena, "%.*s/" name, STR_ARG(directory))
    places.run = is_system ? STR(DEFAULT_RUN_DIR) : BELOW(places.data, "run");
    places.kubeconfig = is_system ? STR(DEFAULT_KUBECONFIG) : BELOW(places.data, "c8s.yaml");
    places.tls = BELOW(places.data, "tls");
    places.store = BELOW(places.data, "store");
    places.kubeconfigs = BELOW(places.data, "kubeconfig");
    places.runtime = BELOW(places.data, "runtime");
    places.kubelet = BELOW(places.data, "kubelet");
    places.cni_conf = BELOW(places.data, "cni/net.d");
    places.cni_bin = BELOW(places.data, "cni/bin");
    places.arguments = BELOW(places.data, "server.args");
    places.cri_socket = BELOW(places.run, "cri.sock");
    places.trace = BELOW(places.run, "trace");
    places.pid_file = BELOW(places.run, "server.pid");
#undef BELOW
    return places;
}

static struct status *make_for(struct str path, mode_t mode, uid_t uid)
{
    TRY(file_make_directories(path.p, mode));
    if (geteuid() == 0 && chmod(path.p, mode) != 0) { /* it may have been made by another with less for others to see */
        return status_errno(errno, "setting the mode of %s", path.p);
    }
    if (uid != 0 && chown(path.p, uid, uid) != 0) {
        return status_errno(errno, "giving %s to user %u", path.p, uid);
    }
    return NULL;
}

struct status *places_make(const struct places *places, uid_t uid, bool has_node)
{
    TRY(make_for(places->data, 0755, 0));
    TRY(make_for(places->run, 0755, 0));
    TRY(make_for(places->trace, 0755, 0));
    TRY(make_for(places->tls, 0755, 0));
    TRY(make_for(places->store, 0700, uid));
    TRY(make_for(places->kubeconfigs, 0755, 0));
    if (!has_node) {
        return NULL;
    }
    TRY(make_for(places->runtime, 0711, 0));
    TRY(make_for(places->kubelet, 0755, 0));
    TRY(make_for(places->cni_conf, 0755, 0));
    return make_for(places->cni_bin, 0755, 0);
}

/* POSIX locks, which tell who holds them and end with the process. */
static struct flock whole_file(short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}

struct status *places_lock(const struct places *places, int *ret_fd)
{
    struct flock lock = whole_file(F_WRLCK);
    char text[16];
    int fd = open(places->pid_file.p, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

    if (fd < 0) {
        return status_errno(errno, "opening %s", places->pid_file.p);
    }
    if (fcntl(fd, F_SETLK, &lock) != 0) {
        pid_t pid = places_running(places);

        close(fd);
        return status_new(STATUS_CONFLICT, "a server of %s runs already (pid %d); \"c8s stop\" ends it", places->data.p,
                          (int)pid);
    }
    int length = snprintf(text, sizeof(text), "%d\n", (int)getpid());

    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)length, 0) != length) {
        int error = errno;

        close(fd);
        return status_errno(error, "writing %s", places->pid_file.p);
    }
    *ret_fd = fd;
    return NULL;
}

pid_t places_running(const struct places *places)
{
    struct flock lock = whole_file(F_WRLCK);
    int fd = open(places->pid_file.p, O_RDWR | O_CLOEXEC);

    if (fd < 0) {
        return 0;
    }
    bool is_known = fcntl(fd, F_GETLK, &lock) == 0;

    close(fd);
    return is_known && lock.l_type != F_UNLCK ? lock.l_pid : 0;
}
