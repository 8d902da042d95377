#include "base/buf.h"
#include "controller/job_parts.h"
#include "schema/map_of.h"

struct job_indexes job_indexes_parse(struct arena *arena, struct str text, int32_t size)
{
    struct job_indexes indexes = {ARENA_ARRAY(arena, bool, (size_t)size), size};

    for (struct str rest = text, item; text.n > 0 && str_next(&rest, ',', &item);) {
        struct str first_text, last_text;
        int64_t first, last;
        bool is_range = str_cut(item, '-', &first_text, &last_text);

        if (!str_to_i64(first_text, &first) || (is_range && !str_to_i64(last_text, &last))) {
            continue;
        }
        for (int64_t i = MAX(first, 0); i <= (is_range ? last : first) && i < size; i++) {
            indexes.has[i] = true;
        }
    }
    return indexes;
}

struct str job_indexes_format(struct arena *arena, const struct job_indexes *indexes)
{
    OWNED(buf_done) struct buf out = {0};

    for (int32_t i = 0; i < indexes->size; i++) {
        int32_t last = i;

        if (!indexes->has[i]) {
            continue;
        }
        while (last + 1 < indexes->size && indexes->has[last + 1]) {
            last++;
        }
        buf_printf(&out, "%s%d", out.n > 0 ? "," : "", i);
        if (last > i) { /* two in a row are a list, as stock writes them */
            buf_printf(&out, "%c%d", last == i + 1 ? ',' : '-', last);
        }
        i = last;
    }
    return arena_str(arena, buf_str(&out));
}

int32_t job_indexes_count(const struct job_indexes *indexes)
{
    int32_t count = 0;

    for (int32_t i = 0; i < indexes->size; i++) {
        count += indexes->has[i];
    }
    return count;
}

int32_t job_index_of(const struct core_v1_pod *pod)
{
    int64_t index;
    struct str text = str_map_get(&pod->metadata.annotations, STR(JOB_INDEX));

    return str_to_i64(text, &index) && index >= 0 && index < INT32_MAX ? (int32_t)index : -1;
}
