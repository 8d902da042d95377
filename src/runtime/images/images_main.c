#include "runtime/images/images_main.h"

#include "base/env.h"
#include "base/flags.h"
#include "base/task.h"
#include "net/event_loop.h"
#include "runtime/images/image_import.h"
#include "runtime/images/image_pull.h"
#include "schema/image_reference.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TICK (200 * ENV_MS)

struct images_options {
    struct str root, registries;
};

/* One run of the command. */
struct images_run {
    struct arena *arena;
    struct images_options options;
    struct flags_result flags;
    struct image_store *store;
    struct image_puller *puller;
    int code;
};

static const struct flag flags[] = {
    FLAG(STRING, struct images_options, root, "root", 0, "directory of the runtime, as that of `c8s cri`"),
    FLAG(STRING, struct images_options, registries, "registries", 0, "file with mirrors and credentials"),
};

static void complain(struct images_run *run, struct str what, struct status *failure)
{
    fprintf(stderr, "c8s images: %.*s: %.*s\n", STR_ARG(what), STR_ARG(failure->message));
    status_free(failure);
    run->code = 1;
}

static struct status *import_file(struct images_run *run, struct str path)
{
    bool is_stdin = str_is(path, "-");
    int fd = is_stdin ? STDIN_FILENO : open(arena_cstr(run->arena, path), O_RDONLY | O_CLOEXEC);
    struct str_list names;

    if (fd < 0) {
        return status_errno(errno, "opening %.*s", STR_ARG(path));
    }
    struct status *failure = image_import(run->store, fd, run->arena, &names);

    if (!is_stdin) {
        close(fd);
    }
    TRY(failure);
    LIST_EACH(name, &names)
    {
        printf("%.*s\n", STR_ARG(*name));
    }
    return NULL;
}

static void print_row(const char *name, const struct image *image)
{
    printf("%-60s %.*s %8.1f MB%s\n", name, (int)MIN(image->id.n, 19), image->id.p, (double)image->size / 1e6,
           image->is_pinned ? " pinned" : "");
}

static struct status *list_images(struct images_run *run)
{
    struct images images;

    TRY(image_store_list(run->store, run->arena, &images));
    for (size_t i = 0; i < images.len; i++) {
        const struct image *image = images.items[i];
        const struct str_list *names = image->tags.len > 0 ? &image->tags : &image->digests;

        LIST_EACH(name, names)
        {
            print_row(name->p, image);
        }
    }
    return NULL;
}

static void run_each(struct images_run *run, struct status *(*step)(struct images_run *run, struct str item))
{
    if (run->flags.positional.len < 2) {
        fprintf(stderr, "c8s images %.*s: nothing named\n", STR_ARG(run->flags.positional.items[0]));
        run->code = 2;
    }
    for (size_t i = 1; i < run->flags.positional.len; i++) {
        struct str item = run->flags.positional.items[i];
        struct status *failure = step(run, item);

        if (failure != NULL) {
            complain(run, item, failure);
        }
    }
}

static struct status *remove_image(struct images_run *run, struct str reference)
{
    OWNED(image_unrefp) struct image *image = NULL;

    TRY(image_store_find(run->store, reference, &image));
    return image_store_remove(run->store, reference);
}

/* Tells how far the pull is, on a terminal; until it is cancelled. */
struct ticker {
    struct image_puller *puller;
    struct str name;
};

static void run_ticker(void *arg)
{
    const struct ticker *ticker = arg;
    bool has_printed = false;

    while (isatty(STDERR_FILENO) && task_sleep(TICK)) {
        struct pull_progress progress;

        if (image_pull_progress(ticker->puller, ticker->name, &progress) && progress.bytes_total > 0) {
            fprintf(stderr, "\r%.*s: %zu of %zu layers, %.1f of %.1f MB ", STR_ARG(ticker->name), progress.layers_done,
                    progress.layers_total, (double)progress.bytes_done / 1e6, (double)progress.bytes_total / 1e6);
            has_printed = true;
        }
    }
    if (has_printed) {
        fputc('\n', stderr);
    }
}

static struct status *pull_image(struct images_run *run, struct str reference)
{
    OWNED(image_unrefp) struct image *image = NULL;
    struct image_reference parsed;
    struct ticker ticker = {.puller = run->puller};
    struct task_group group;

    task_group_init(&group);
    TRY(image_reference_parse(run->arena, reference, &parsed));
    ticker.name = image_reference_text(run->arena, &parsed);
    task_group_spawn(&group, "progress", run_ticker, &ticker);
    struct status *failure = image_pull(run->puller, reference, NULL, &image);

    task_group_cancel(&group);
    TRY(failure);
    printf("%.*s\n", STR_ARG(image->id));
    return NULL;
}

static void run_command(struct images_run *run)
{
    struct str command = run->flags.positional.len > 0 ? run->flags.positional.items[0] : STR("");

    if (str_is(command, "list") && run->flags.positional.len == 1) {
        struct status *failure = list_images(run);

        if (failure != NULL) {
            complain(run, command, failure);
        }
    } else if (str_is(command, "import")) {
        run_each(run, import_file);
    } else if (str_is(command, "remove")) {
        run_each(run, remove_image);
    } else if (str_is(command, "pull")) {
        run->puller = image_puller_new(run->store, run->options.registries);
        run_each(run, pull_image);
        image_puller_free(run->puller);
    } else {
        fprintf(stderr, "usage: c8s images [--root DIR] [--registries FILE] list | import FILE... | pull IMAGE... | "
                        "remove IMAGE...\n");
        run->code = 2;
    }
}

static void run_task(void *arg)
{
    struct images_run *run = arg;
    struct str directory = arena_printf(run->arena, "%.*s/images", STR_ARG(run->options.root));
    struct status *failure = image_store_open(directory, &run->store);

    if (failure != NULL) {
        complain(run, directory, failure);
        return;
    }
    run_command(run);
    image_store_close(run->store);
}

int images_main(int argc, char **argv)
{
    struct images_run run = {.arena = arena_new(), .options = {.root = STR("/var/lib/c8s/runtime")}};
    struct flag_table table = {flags, COUNT_OF(flags), &run.options};
    struct status *failure =
        flags_parse(&table, 1, argv + 1, (size_t)MAX(argc - 1, 0), true, run.arena, &run.flags);

    if (failure != NULL) {
        fprintf(stderr, "c8s images: %.*s\n", STR_ARG(failure->message));
        status_free(failure);
        run.code = 2;
    } else {
        struct env *env = event_loop_new();

        event_loop_run_task(env, "images", run_task, &run);
        event_loop_free(env);
    }
    arena_free(run.arena);
    return run.code;
}
