#include "api/kinds.h"

#include "schema/meta_v1.h"

/* Kinds known in every group and version, as stock registers them. */
static const struct kind *everywhere(struct str kind)
{
    static const struct kind *const kinds[] = {
        &meta_v1_list_options_kind,  &meta_v1_get_options_kind,   &meta_v1_delete_options_kind,
        &meta_v1_create_options_kind, &meta_v1_update_options_kind, &meta_v1_patch_options_kind,
        &meta_v1_watch_event_kind,
    };

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (str_eq(kinds[i]->kind, kind)) {
            return kinds[i];
        }
    }
    return NULL;
}

/* Kinds of core/v1's name that live in meta: Status, APIGroup, APIVersions, ... */
static const struct kind *unversioned(struct str version, struct str kind)
{
    for (size_t i = 0; i < kinds_all_count && str_is(version, "v1"); i++) {
        if (kinds_all[i]->type->package == &meta_v1_package && str_eq(kinds_all[i]->kind, kind)) {
            return kinds_all[i];
        }
    }
    return NULL;
}

const struct kind *kind_find(struct str group, struct str version, struct str kind)
{
    for (size_t i = 0; i < kinds_all_count; i++) {
        if (str_eq(kinds_all[i]->kind, kind) && str_eq(kinds_all[i]->group, group) &&
            str_eq(kinds_all[i]->version, version)) {
            return kinds_all[i];
        }
    }
    const struct kind *found = everywhere(kind);

    return found != NULL || group.n != 0 ? found : unversioned(version, kind);
}

void api_version_split(struct str api_version, struct str *ret_group, struct str *ret_version)
{
    if (!str_cut(api_version, '/', ret_group, ret_version)) {
        *ret_group = STR("");
        *ret_version = api_version;
    }
}

const struct kind *kind_find_api_version(struct str api_version, struct str kind)
{
    struct str group, version;

    api_version_split(api_version, &group, &version);
    return kind_find(group, version, kind);
}

const struct kind *kind_find_resource(struct str group, struct str version, struct str plural)
{
    for (size_t i = 0; i < kinds_all_count && plural.n != 0; i++) {
        if (str_eq(kinds_all[i]->plural, plural) && str_eq(kinds_all[i]->group, group) &&
            str_eq(kinds_all[i]->version, version)) {
            return kinds_all[i];
        }
    }
    return NULL;
}
