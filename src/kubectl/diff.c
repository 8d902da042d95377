/* kubectl diff: what apply would change, shown by the diff program. */
#include "base/file.h"
#include "kubectl/apply.h"
#include "kubectl/report.h"
#include "schema/yaml.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { ARGUMENTS_MAX = 16 };

struct diff_options {
    bool server_side, force_conflicts;
};

/* Two folders, a file for each object in them. */
struct comparison {
    struct kubectl *k;
    char *live, *merged;
    struct str_list files;
};

static char *make_folder(struct kubectl *k, const char *name)
{
    const char *base = getenv("TMPDIR");

    return mkdtemp(arena_cstr(k->arena, arena_printf(k->arena, "%s/%s-XXXXXX", base != NULL ? base : "/tmp", name)));
}

static const char *file_in(const struct comparison *comparison, const char *folder, struct str name)
{
    return arena_cstr(comparison->k->arena, arena_printf(comparison->k->arena, "%s/%.*s", folder, STR_ARG(name)));
}

static void remove_folders(const struct comparison *comparison)
{
    LIST_EACH(name, &comparison->files)
    {
        unlink(file_in(comparison, comparison->live, *name));
        unlink(file_in(comparison, comparison->merged, *name));
    }
    rmdir(comparison->live);
    rmdir(comparison->merged);
}

static struct status *write_file(const struct comparison *comparison, const char *folder, struct str name,
                                 const struct value *object)
{
    OWNED(buf_done) struct buf text = {0};

    if (object != NULL) {
        yaml_write(&text, object);
    }
    struct status *status = file_write_unsynced(file_in(comparison, folder, name), buf_str(&text), 0600);

    if (status != NULL) {
        status->code = 0;
    }
    return status;
}

/* A Secret's values are not shown, only which of them change. */
static void mask(struct kubectl *k, struct value *live, struct value *merged)
{
    struct value *before = value_find(live, STR("data")), *after = value_find(merged, STR("data"));
    struct value *masked = value_object(k->arena);

    VALUE_EACH_MEMBER(member, before)
    {
        struct value *other = value_find(after, member->key);
        bool changes = other != NULL && !value_equal(member->value, other);

        if (other != NULL) {
            value_set(k->arena, masked, member->key, value_string(k->arena, changes ? STR("*** (after)") : STR("***")));
        }
        member->value = value_string(k->arena, changes ? STR("*** (before)") : STR("***"));
    }
    VALUE_EACH_MEMBER(member, after)
    {
        struct value *told = value_find(masked, member->key);

        member->value = told != NULL ? told : value_string(k->arena, STR("***"));
    }
}

static void hide_managed_fields(struct value *object)
{
    struct value *metadata = value_find(object, STR("metadata"));

    if (value_is(metadata, VALUE_OBJECT)) {
        value_delete(metadata, STR("managedFields"));
    }
}

static struct status *add_object(struct comparison *comparison, const struct diff_options *options,
                                 const struct selected *selected)
{
    struct kubectl *k = comparison->k;
    const struct kind *kind = selected->kind;
    struct value *live, *merged;
    struct str name = arena_printf(k->arena, "%.*s%s%.*s.%.*s.%.*s.%.*s", STR_ARG(kind->group), kind->group.n > 0 ? "." : "",
                                   STR_ARG(kind->version), STR_ARG(kind->kind), STR_ARG(selected->namespace),
                                   STR_ARG(selected->name));

    TRY(apply_preview(k, selected, options->server_side, options->force_conflicts, &live, &merged));
    hide_managed_fields(live);
    hide_managed_fields(merged);
    if (str_is(kind->kind, "Secret") && kind->group.n == 0) {
        mask(k, live, merged);
    }
    *LIST_ADD(k->arena, &comparison->files) = name;
    TRY(write_file(comparison, comparison->live, name, live));
    return write_file(comparison, comparison->merged, name, merged);
}

/* KUBECTL_EXTERNAL_DIFF may name another program, and words for it. It ends with 1 when there are differences. */
static struct status *run_program(const struct comparison *comparison)
{
    struct kubectl *k = comparison->k;
    const char *program = getenv("KUBECTL_EXTERNAL_DIFF");
    struct str rest = str_of(program != NULL && program[0] != '\0' ? program : "diff -u -N"), word;
    char *words[ARGUMENTS_MAX + 3];
    size_t count = 0;
    pid_t pid;
    int ended;

    while (count < ARGUMENTS_MAX && str_next(&rest, ' ', &word)) {
        if (word.n > 0) {
            words[count++] = arena_cstr(k->arena, word);
        }
    }
    words[count++] = comparison->live;
    words[count++] = comparison->merged;
    words[count] = NULL;
    fflush(k->out);
    int problem = posix_spawnp(&pid, words[0], NULL, NULL, words, environ);

    if (problem != 0) {
        return error_local("failed to run \"%s\": %s", words[0], strerror(problem));
    }
    while (waitpid(pid, &ended, 0) < 0 && errno == EINTR) {
    }
    k->exit_code = WIFEXITED(ended) ? WEXITSTATUS(ended) : 2;
    return k->exit_code <= 1 ? NULL : error_local("exit status %d", k->exit_code);
}

static struct status *diff_run(struct kubectl *k, void *arg)
{
    struct comparison comparison = {.k = k};
    struct selection selection;
    struct status *status = NULL;

    if (k->args.positional.len > 0) {
        return error_usage(k, "Unexpected args: [%.*s]", STR_ARG(k->args.positional.items[0]));
    }
    if (k->files.names.len == 0) {
        return error_local("must specify one of -f and -k");
    }
    TRY(selection_of_files(k, &selection));
    comparison.live = make_folder(k, "LIVE");
    comparison.merged = make_folder(k, "MERGED");
    if (comparison.live == NULL || comparison.merged == NULL) {
        return error_local("cannot make a temporary folder: %s", strerror(errno));
    }
    for (size_t i = 0; i < selection.len && status == NULL; i++) {
        status = add_object(&comparison, arg, &selection.items[i]);
    }
    if (status == NULL) {
        status = run_program(&comparison);
    }
    remove_folders(&comparison);
    return status;
}

static const struct flag diff_flags[] = {
    FLAG(BOOL, struct diff_options, server_side, "server-side", 0, "what an apply by the server would change"),
    FLAG(BOOL, struct diff_options, force_conflicts, "force-conflicts", 0, "take fields from their other owners"),
    FLAG_IGNORE("concurrency"),
};

const struct command command_diff = {
    .name = "diff",
    .help = "Diff the live version against a would-be applied version",
    .usage = "-f FILENAME",
    .uses = USES_FILES | USES_SELECTOR | USES_WRITE,
    .flags = diff_flags,
    .flag_count = COUNT_OF(diff_flags),
    .options_size = sizeof(struct diff_options),
    .run = diff_run,
};
