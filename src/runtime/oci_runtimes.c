#include "runtime/oci_runtimes.h"

#include "base/env.h"
#include "base/file.h"
#include "base/log.h"
#include "net/process.h"

#include <string.h>
#include <unistd.h>

#define FORGET_TIMEOUT (30 * ENV_SECOND)

enum { OUTPUT_BYTES_MAX = 4096 };

#define PROGRAM_DIRECTORIES "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool locate(struct arena *arena, struct str program, struct str *ret)
{
    struct str rest = STR(PROGRAM_DIRECTORIES), directory;

    if (str_find(program, STR("/")) != SIZE_MAX) {
        *ret = arena_str(arena, program);
        return access(ret->p, X_OK) == 0;
    }
    while (str_next(&rest, ':', &directory)) {
        *ret = arena_printf(arena, "%.*s/%.*s", STR_ARG(directory), STR_ARG(program));
        if (access(ret->p, X_OK) == 0) {
            return true;
        }
    }
    return false;
}

static struct str program_of(struct str item, struct str *ret_name)
{
    struct str program;

    return str_cut(item, '=', ret_name, &program) ? program : *ret_name;
}

struct status *oci_runtime_find(struct arena *arena, struct str configured, struct str handler, struct str *ret_program)
{
    struct str rest = configured, item, name;

    *ret_program = STR("");
    if (handler.n == 0) {
        return NULL;
    }
    while (str_next(&rest, ',', &item)) {
        struct str program = program_of(item, &name);

        if (!str_eq(name, handler)) {
            continue;
        }
        return locate(arena, program, ret_program)
                   ? NULL
                   : status_new(STATUS_INVALID, "no runtime for \"%.*s\" is configured: program %.*s is not there",
                                STR_ARG(handler), STR_ARG(program));
    }
    return status_new(STATUS_INVALID, "no runtime for \"%.*s\" is configured", STR_ARG(handler));
}

void oci_runtime_list(struct arena *arena, struct str configured, struct str_list *ret)
{
    struct str rest = configured, item, name, path;

    while (str_next(&rest, ',', &item)) {
        struct str program = program_of(item, &name);

        if (name.n > 0 && locate(arena, program, &path)) {
            *LIST_ADD(arena, ret) = name;
        }
    }
}

void oci_runtime_forget(const struct shim_container_plan *plan)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct process_output output = {0};

    if (plan == NULL || plan->oci_runtime.n == 0) {
        return;
    }
    const char *id = strrchr(plan->bundle.p, '/') + 1;
    const char *argv[] = {plan->oci_runtime.p, "--root", plan->oci_root.p, "delete", "--force", id, NULL};
    struct process_options options = {.argv = argv, .cwd = "/"};

    if (!file_exists(arena_printf(arena, "%.*s/%s", STR_ARG(plan->oci_root), id).p)) {
        return;
    }
    struct status *status =
        process_run(&options, STR(""), OUTPUT_BYTES_MAX, env_mono() + FORGET_TIMEOUT, arena, &output);

    if (status == NULL && output.end.code != 0) {
        status = status_new(STATUS_INTERNAL_ERROR, "%.*s", STR_ARG(str_trim(output.err)));
    }
    if (status != NULL) {
        log_warn("%.*s does not forget container %s: %.*s", STR_ARG(plan->oci_runtime), id, STR_ARG(status->message));
        status_free(status);
    }
}
