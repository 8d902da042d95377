#include "main/supervisor.h"

#include "base/env.h"
#include "main/places.h"
#include "test.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

TEST("main/supervisor/waits longer each time a component ends soon")
{
    static const int64_t wanted_s[] = {0, 1, 2, 4, 8, 16, 30, 30};
    int failures = 0;

    for (size_t i = 0; i < COUNT_OF(wanted_s); i++) {
        CHECK_INT(supervisor_delay_ns(ENV_SECOND, &failures), wanted_s[i] * ENV_SECOND);
    }
    CHECK_INT(supervisor_delay_ns(61 * ENV_SECOND, &failures), 0);
    CHECK_INT(supervisor_delay_ns(ENV_SECOND, &failures), ENV_SECOND);
}

TEST("main/places/lets one server at a time have a data directory")
{
    char directory[] = "/tmp/c8s-places-XXXXXX";
    struct arena *arena = arena_new();
    int status, fd;

    CHECK(mkdtemp(directory) != NULL);
    struct places places = places_of(arena, str_of(directory));

    CHECK_OK(places_make(&places, 0, false));
    CHECK_INT(places_running(&places), 0);
    CHECK_OK(places_lock(&places, &fd));
    pid_t child = fork();

    if (child == 0) { /* locks are between processes */
        struct status *refused = places_lock(&places, &fd);
        bool is_right = places_running(&places) == getppid() && status_is(refused, STATUS_CONFLICT);

        status_free(refused);
        _exit(is_right ? 0 : 1);
    }
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(fd);
    CHECK_INT(places_running(&places), 0);

    char *argv[] = {(char *)"rm", (char *)"-rf", directory, NULL};

    child = fork();
    if (child == 0) {
        execvp("rm", argv);
        _exit(1);
    }
    waitpid(child, &status, 0);
    CHECK(status == 0);
    arena_free(arena);
}
