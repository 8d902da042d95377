#include "apiserver/admission/pod_security_parts.h"

#include "apiserver/user.h"
#include "base/buf.h"

#include <stdlib.h>

/* An ephemeral container has all that others have, at the same places. */
_Static_assert(sizeof(struct core_v1_ephemeral_container_common) == sizeof(struct core_v1_container),
               "ephemeral containers look like containers");

const struct core_v1_security_context *pod_security_context(const struct core_v1_container *container)
{
    static const struct core_v1_security_context none = {0};

    return container->security_context != NULL ? container->security_context : &none;
}

void pod_security_violate(const struct pod_security_pod *pod, const char *reason, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    *LIST_ADD(pod->arena, pod->violations) =
        (struct pod_security_violation){str_of(reason), arena_vprintf(pod->arena, format, args)};
    va_end(args);
}

struct str pod_security_quoted(struct arena *arena, const struct str_list *list)
{
    OWNED(buf_done) struct buf out = {0};

    LIST_EACH(item, list) {
        buf_printf(&out, "%s\"%.*s\"", out.n == 0 ? "" : ", ", STR_ARG(*item));
    }
    return arena_str(arena, buf_str(&out));
}

struct str pod_security_named(struct arena *arena, const struct str_list *containers)
{
    return arena_printf(arena, "%s %.*s", containers->len == 1 ? "container" : "containers",
                        STR_ARG(pod_security_quoted(arena, containers)));
}

void pod_security_add_once(struct arena *arena, struct str_list *list, struct str text)
{
    if (!str_list_has(list, text)) {
        *LIST_ADD(arena, list) = text;
    }
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

void pod_security_sort(struct str_list *list)
{
    if (list->len != 0) {
        qsort(list->items, list->len, sizeof *list->items, by_text);
    }
}

struct str pod_security_setters(struct arena *arena, bool is_pod, const struct str_list *containers)
{
    if (containers->len == 0) {
        return is_pod ? STR("pod") : STR("");
    }
    return arena_printf(arena, "%s%.*s", is_pod ? "pod and " : "", STR_ARG(pod_security_named(arena, containers)));
}

static void add_containers(struct arena *arena, const struct core_v1_pod_spec *spec, struct pod_security_pod *pod)
{
    LIST_EACH(container, &spec->init_containers) {
        *LIST_ADD(arena, &pod->containers) = container;
    }
    LIST_EACH(container, &spec->containers) {
        *LIST_ADD(arena, &pod->containers) = container;
    }
    LIST_EACH(container, &spec->ephemeral_containers) {
        *LIST_ADD(arena, &pod->containers) = (const void *)&container->ephemeral_container_common;
    }
}

static void run(const struct pod_security_row *rows, const struct pod_security_pod *pod, bool is_restricted)
{
    for (; rows->check != NULL; rows++) {
        if (pod->minor >= rows->since && !(rows->is_replaced && is_restricted)) {
            rows->check(pod);
        }
    }
}

void pod_security_check(struct arena *arena, enum pod_security_level level, int minor,
                        const struct meta_v1_object_meta *meta, const struct core_v1_pod_spec *spec,
                        struct pod_security_violations *ret)
{
    static const struct core_v1_pod_security_context none = {0};
    struct pod_security_pod pod = {.arena = arena,
                                   .minor = minor,
                                   .meta = meta,
                                   .spec = spec,
                                   .context = spec->security_context != NULL ? spec->security_context : &none,
                                   .violations = ret};

    *ret = (struct pod_security_violations){0};
    if (level == POD_SECURITY_PRIVILEGED) {
        return;
    }
    add_containers(arena, spec, &pod);
    run(pod_security_baseline, &pod, level == POD_SECURITY_RESTRICTED);
    if (level == POD_SECURITY_RESTRICTED) {
        run(pod_security_restricted, &pod, true);
    }
}
