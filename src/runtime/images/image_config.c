#include "runtime/images/image_config.h"

#include "base/limits.h"
#include "runtime/images/digest.h"
#include "schema/value.h"

enum { STRINGS_MAX = 10000 };

static struct status *decode_strings(struct arena *arena, const struct value *from, const char *what,
                                     struct str_list *ret)
{
    if (from != NULL && !value_is(from, VALUE_ARRAY) && !value_is(from, VALUE_NULL)) {
        return status_new(STATUS_BAD_REQUEST, "image config: %s is not an array", what);
    }
    if (value_count(from) > STRINGS_MAX) {
        return status_new(STATUS_BAD_REQUEST, "image config: %s has too many entries", what);
    }
    VALUE_EACH_ITEM(item, from)
    {
        if (!value_is(*item, VALUE_STRING) || str_index((*item)->string, '\0') != SIZE_MAX) {
            return status_new(STATUS_BAD_REQUEST, "image config: %s holds something that is not a string", what);
        }
        *LIST_ADD(arena, ret) = (*item)->string;
    }
    return NULL;
}

static void decode_keys(struct arena *arena, const struct value *from, struct str_list *ret)
{
    if (value_is(from, VALUE_OBJECT)) {
        ret->len = value_count(from);
        ret->items = value_sorted_keys(arena, from);
    }
}

static void decode_labels(struct arena *arena, const struct value *from, struct str_map *ret)
{
    struct str_list keys = {0};

    decode_keys(arena, from, &keys);
    LIST_EACH(key, &keys)
    {
        *LIST_ADD(arena, ret) = (struct str_entry){*key, value_str(value_find(from, *key))};
    }
}

struct status *image_config_decode(struct arena *arena, struct str json, struct image_config *ret)
{
    struct value *root;

    if (json.n > LIMIT_IMAGE_METADATA_BYTES) {
        return status_new(STATUS_REQUEST_ENTITY_TOO_LARGE, "image config is larger than %zu bytes",
                          LIMIT_IMAGE_METADATA_BYTES);
    }
    TRY(value_read_json(arena, json, &root, NULL));
    if (!value_is(root, VALUE_OBJECT)) {
        return status_new(STATUS_BAD_REQUEST, "image config: want an object, found %s", value_type_name(root));
    }
    const struct value *config = value_find(root, STR("config"));
    struct image_config decoded = {
        .os = value_str(value_find(root, STR("os"))),
        .architecture = value_str(value_find(root, STR("architecture"))),
        .variant = value_str(value_find(root, STR("variant"))),
        .user = value_str(value_find(config, STR("User"))),
        .working_dir = value_str(value_find(config, STR("WorkingDir"))),
        .stop_signal = value_str(value_find(config, STR("StopSignal"))),
    };

    TRY(decode_strings(arena, value_find(config, STR("Entrypoint")), "Entrypoint", &decoded.entrypoint));
    TRY(decode_strings(arena, value_find(config, STR("Cmd")), "Cmd", &decoded.cmd));
    TRY(decode_strings(arena, value_find(config, STR("Env")), "Env", &decoded.env));
    TRY(decode_strings(arena, value_find_path(root, "rootfs.diff_ids"), "diff_ids", &decoded.diff_ids));
    decode_keys(arena, value_find(config, STR("Volumes")), &decoded.volumes);
    decode_keys(arena, value_find(config, STR("ExposedPorts")), &decoded.exposed_ports);
    decode_labels(arena, value_find(config, STR("Labels")), &decoded.labels);
    LIST_EACH(diff_id, &decoded.diff_ids)
    {
        if (!digest_is_valid(*diff_id)) {
            return status_new(STATUS_BAD_REQUEST, "image config: invalid diff ID \"%.*s\"", (int)MIN(diff_id->n, 200),
                              diff_id->n != 0 ? diff_id->p : "");
        }
    }
    *ret = decoded;
    return NULL;
}

void image_config_user(const struct image_config *config, bool *ret_is_number, int64_t *ret_uid, struct str *ret_name)
{
    struct str group;

    str_cut(config->user, ':', ret_name, &group);
    *ret_uid = 0;
    *ret_is_number = ret_name->n == 0 || str_to_i64(*ret_name, ret_uid);
}
