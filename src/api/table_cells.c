#include "api/age.h"
#include "api/table_rows.h"
#include "base/buf.h"
#include "schema/selectors.h"

void cell_str(struct cells *cells, struct str text)
{
    value_add(cells->arena, cells->row->cells, value_string(cells->arena, text));
}

void cell_str_or(struct cells *cells, struct str text, struct str otherwise)
{
    cell_str(cells, text.n > 0 ? text : otherwise);
}

void cell_ptr_or(struct cells *cells, const struct str *text, struct str otherwise)
{
    cell_str(cells, text != NULL ? *text : otherwise);
}

void cell_printf(struct cells *cells, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    cell_str(cells, arena_vprintf(cells->arena, format, args));
    va_end(args);
}

void cell_int(struct cells *cells, int64_t number)
{
    value_add(cells->arena, cells->row->cells, value_int(cells->arena, number));
}

void cell_bool(struct cells *cells, bool boolean)
{
    value_add(cells->arena, cells->row->cells, value_bool(cells->arena, boolean));
}

void cell_age(struct cells *cells, struct timestamp then)
{
    cell_str(cells, human_age(cells->arena, then, cells->now));
}

void cell_name(struct cells *cells, const void *object)
{
    cell_str(cells, ((const struct object *)object)->metadata.name);
}

void cell_object_age(struct cells *cells, const void *object)
{
    cell_age(cells, ((const struct object *)object)->metadata.creation_timestamp);
}

struct str join_strings(struct arena *arena, const struct str_list *strings, const char *separator)
{
    OWNED(buf_done) struct buf out = {0};

    for (size_t i = 0; i < strings->len; i++) {
        buf_printf(&out, "%s%.*s", i > 0 ? separator : "", STR_ARG(strings->items[i]));
    }
    return arena_str(arena, buf_str(&out));
}

struct str join_some(struct arena *arena, const struct str_list *strings, size_t count, size_t max)
{
    struct str_list shown = {strings->items, MIN(strings->len, max)};
    struct str text = join_strings(arena, &shown, ",");

    return count > max ? arena_printf(arena, "%.*s + %zu more...", STR_ARG(text), count - max) : text;
}

void cell_containers(struct cells *cells, const struct core_v1_pod_spec *spec)
{
    struct str_list names = {0}, images = {0};

    LIST_EACH(container, &spec->containers) {
        *LIST_ADD(cells->arena, &names) = container->name;
        *LIST_ADD(cells->arena, &images) = container->image;
    }
    cell_str(cells, join_strings(cells->arena, &names, ","));
    cell_str(cells, join_strings(cells->arena, &images, ","));
}

void cell_labels(struct cells *cells, const struct str_map *labels)
{
    struct str_list pairs = {0};

    LIST_EACH(label, labels) {
        *LIST_ADD(cells->arena, &pairs) =
            arena_printf(cells->arena, "%.*s=%.*s", STR_ARG(label->key), STR_ARG(label->value));
    }
    cell_str_or(cells, join_strings(cells->arena, &pairs, ","), STR("<none>"));
}

void cell_selector(struct cells *cells, const struct meta_v1_label_selector *selector, struct str empty)
{
    struct label_selector parsed;
    struct status *error = label_selector_of(cells->arena, selector, &parsed);

    if (error != NULL) {
        status_free(error);
        cell_str(cells, empty.n > 0 ? STR("<error>") : STR("<invalid>"));
        return;
    }
    cell_str_or(cells, label_selector_format(cells->arena, &parsed), empty);
}

struct str amount_text(const struct quantity *amount)
{
    return amount != NULL && amount->text.n > 0 ? amount->text : STR("0");
}

int32_t number_or(const int32_t *number, int32_t otherwise)
{
    return number != NULL ? *number : otherwise;
}

void row_name_and_age(struct cells *cells, const void *object)
{
    cell_name(cells, object);
    cell_object_age(cells, object);
}
