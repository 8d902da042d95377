/* The first process of a pod: holds its namespaces, reaps what is orphaned in a shared PID namespace, and ends when
 * asked to. It uses nothing but the C library's signal calls, so a static build is a few kilobytes. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_child(int signal_number)
{
    (void)signal_number;
    while (waitpid(-1, 0, WNOHANG) > 0) {
    }
}

static void on_end(int signal_number)
{
    (void)signal_number;
    _exit(0);
}

int main(void)
{
    struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP | SA_RESTART};
    struct sigaction end = {.sa_handler = on_end};

    if (sigaction(SIGCHLD, &child, 0) != 0 || sigaction(SIGINT, &end, 0) != 0 || sigaction(SIGTERM, &end, 0) != 0) {
        return 1;
    }
    for (;;) {
        pause();
    }
}
