#include "kubelet/volumes/volume_files.h"

#include "schema/map_of.h"

bool volume_path_is_inside(struct str path)
{
    if (path.n == 0 || path.p[0] == '/' || str_index(path, '\0') != SIZE_MAX) {
        return false;
    }
    for (struct str rest = path, part; str_next(&rest, '/', &part);) {
        if (str_is(part, "..")) {
            return false;
        }
    }
    return true;
}

static void add(struct arena *arena, struct volume_files *files, struct str path, struct str content, uint32_t mode)
{
    /* Of two sources with one path the later counts. */
    LIST_EACH (file, files) {
        if (str_eq(file->path, path)) {
            *file = (struct volume_file){.path = path, .content = content, .mode = mode};
            return;
        }
    }
    *LIST_ADD(arena, files) = (struct volume_file){.path = path, .content = content, .mode = mode};
}

static void add_all(struct arena *arena, struct volume_files *files, const struct str_map *data, uint32_t mode)
{
    if (data == NULL) {
        return;
    }
    LIST_EACH (entry, data) {
        add(arena, files, entry->key, entry->value, mode);
    }
}

struct status *volume_files_add_keys(struct arena *arena, struct volume_files *files, const struct str_map *data,
                                     const struct str_map *more, const struct key_selection *selection)
{
    if (selection->len == 0) {
        add_all(arena, files, data, selection->mode);
        add_all(arena, files, more, selection->mode);
        return NULL;
    }
    for (size_t i = 0; i < selection->len; i++) {
        const struct core_v1_key_to_path *item = &selection->items[i];
        uint32_t mode = item->mode != NULL ? (uint32_t)*item->mode : selection->mode;
        const struct str_map *holder = str_map_has(data, item->key)                   ? data
                                       : more != NULL && str_map_has(more, item->key) ? more
                                                                                      : NULL;

        if (!volume_path_is_inside(item->path)) {
            return status_new(STATUS_INVALID, "invalid path \"%.*s\": must be relative and not contain \"..\"",
                              STR_ARG(item->path));
        }
        if (holder != NULL) {
            add(arena, files, item->path, str_map_get(holder, item->key), mode);
        } else if (!selection->is_optional) {
            return status_new(STATUS_INVALID, "references non-existent %s key: %.*s", selection->kind,
                              STR_ARG(item->key));
        }
    }
    return NULL;
}

struct status *volume_files_add_downward(struct arena *arena, struct volume_files *files,
                                         const struct downward_facts *facts,
                                         const struct core_v1_downward_api_volume_file *items, size_t len,
                                         uint32_t mode)
{
    for (size_t i = 0; i < len; i++) {
        const struct core_v1_downward_api_volume_file *item = &items[i];
        struct str value = STR("");

        if (!volume_path_is_inside(item->path)) {
            return status_new(STATUS_INVALID, "invalid path \"%.*s\": must be relative and not contain \"..\"",
                              STR_ARG(item->path));
        }
        if (item->field_ref != NULL) {
            TRY(downward_field(arena, facts, item->field_ref->field_path, &value));
        } else if (item->resource_field_ref != NULL) {
            TRY(downward_resource(arena, facts, item->resource_field_ref, NULL, &value));
        }
        add(arena, files, item->path, value, item->mode != NULL ? (uint32_t)*item->mode : mode);
    }
    return NULL;
}
