/* ConfigMaps, Secrets and namespaces. */
#include "api/core_v1.h"
#include "api/validation/kinds.h"
#include "api/validation/meta.h"
#include "schema/copy.h"
#include "schema/map_of.h"
#include "schema/value.h"

enum { DATA_MAX_BYTES = 1024 * 1024 };

static void check_immutable_data(struct status *to, const char *field, const struct type *type, const void *object,
                                 const void *old)
{
    const struct field *data = type_field(type, str_of(field));

    if (!schema_field_equal(data, (const char *)object + data->offset, (const char *)old + data->offset)) {
        check_forbidden(to, AT(NULL, field), "field is immutable when `immutable` is set");
    }
}

static bool is_set(const bool *flag)
{
    return flag != NULL && *flag;
}

static bool has_key(const void *items, size_t len, size_t entry_size, struct str key)
{
    return map_of_find(items, len, entry_size, key, NULL);
}

void validate_config_map(struct status *to, const void *object)
{
    const struct core_v1_config_map *map = object;
    size_t size = 0;

    LIST_EACH(entry, &map->data) {
        const struct path *one = KEY(AT(NULL, "data"), entry->key);

        check_name(to, one, entry->key, name_is_config_map_key);
        if (has_key(map->binary_data.items, map->binary_data.len, sizeof(*map->binary_data.items), entry->key)) {
            check_invalid_str(to, one, entry->key, "duplicate of key present in binaryData");
        }
        size += entry->value.n;
    }
    LIST_EACH(entry, &map->binary_data) {
        check_name(to, KEY(AT(NULL, "binaryData"), entry->key), entry->key, name_is_config_map_key);
        size += entry->value.n;
    }
    if (size > DATA_MAX_BYTES) {
        check_too_long(to, KEY(NULL, STR("")), DATA_MAX_BYTES);
    }
}

void validate_config_map_update(struct status *to, const void *object, const void *old)
{
    const struct type *type = &core_v1_config_map_type;

    if (is_set(((const struct core_v1_config_map *)old)->immutable)) {
        if (!is_set(((const struct core_v1_config_map *)object)->immutable)) {
            check_forbidden(to, AT(NULL, "immutable"), "field is immutable when `immutable` is set");
        }
        check_immutable_data(to, "data", type, object, old);
        check_immutable_data(to, "binaryData", type, object, old);
    }
    validate_config_map(to, object);
}

static const struct str *secret_data(const struct core_v1_secret *secret, const char *key)
{
    size_t at;

    return map_of_find(secret->data.items, secret->data.len, sizeof(*secret->data.items), str_of(key), &at)
               ? &secret->data.items[at].value
               : NULL;
}

static void check_json_data(struct status *to, const struct core_v1_secret *secret, const char *key)
{
    const struct path *at = KEY(AT(NULL, "data"), str_of(key));
    const struct str *data = secret_data(secret, key);
    struct value *value;

    if (data == NULL) {
        check_required(to, at, "%s", "");
        return;
    }
    OWNED(status_freep) struct status *status = value_read_json(to->arena, *data, &value, NULL);

    if (status != NULL) {
        check_invalid_str(to, at, STR("<secret contents redacted>"), "%.*s", STR_ARG(status->message));
    } else if (!value_is(value, VALUE_OBJECT)) {
        check_invalid_str(to, at, STR("<secret contents redacted>"),
                          "json: cannot unmarshal %s into Go value of type map[string]interface {}",
                          value_type_name(value));
    }
}

static void check_secret_type(struct status *to, const struct core_v1_secret *secret)
{
    const struct path *at = AT(NULL, "data");
    struct str type = secret->type;

    if (str_is(type, "kubernetes.io/service-account-token")) {
        struct str name = STR("kubernetes.io/service-account.name");

        check_present(to, KEY(AT(AT(NULL, "metadata"), "annotations"), name),
                      str_map_get(&secret->metadata.annotations, name));
    } else if (str_is(type, "kubernetes.io/dockercfg")) {
        check_json_data(to, secret, ".dockercfg");
    } else if (str_is(type, "kubernetes.io/dockerconfigjson")) {
        check_json_data(to, secret, ".dockerconfigjson");
    } else if (str_is(type, "kubernetes.io/basic-auth")) {
        if (secret_data(secret, "username") == NULL && secret_data(secret, "password") == NULL) {
            check_required(to, KEY(at, STR("username")), "%s", "");
            check_required(to, KEY(at, STR("password")), "%s", "");
        }
    } else if (str_is(type, "kubernetes.io/ssh-auth")) {
        const struct str *key = secret_data(secret, "ssh-privatekey");

        check_present(to, KEY(at, STR("ssh-privatekey")), key == NULL ? (struct str){0} : *key);
    } else if (str_is(type, "kubernetes.io/tls")) {
        if (secret_data(secret, "tls.crt") == NULL) {
            check_required(to, KEY(at, STR("tls.crt")), "%s", "");
        }
        if (secret_data(secret, "tls.key") == NULL) {
            check_required(to, KEY(at, STR("tls.key")), "%s", "");
        }
    }
}

void validate_secret(struct status *to, const void *object)
{
    const struct core_v1_secret *secret = object;
    size_t size = 0;

    LIST_EACH(entry, &secret->data) {
        check_name(to, KEY(AT(NULL, "data"), entry->key), entry->key, name_is_config_map_key);
        size += entry->value.n;
    }
    if (size > DATA_MAX_BYTES) {
        check_too_long(to, AT(NULL, "data"), DATA_MAX_BYTES);
    }
    check_secret_type(to, secret);
}

void validate_secret_update(struct status *to, const void *object, const void *old)
{
    const struct core_v1_secret *secret = object, *before = old;

    check_immutable_str(to, AT(NULL, "type"), secret->type, before->type);
    if (is_set(before->immutable)) {
        if (!is_set(secret->immutable)) {
            check_forbidden(to, AT(NULL, "immutable"), "field is immutable when `immutable` is set");
        }
        check_immutable_data(to, "data", &core_v1_secret_type, object, old);
    }
    validate_secret(to, object);
}

void validate_namespace(struct status *to, const void *object)
{
    const struct core_v1_namespace *namespace = object;
    const struct path *at = AT(AT(NULL, "spec"), "finalizers");

    LIST_EACH(finalizer, &namespace->spec.finalizers) {
        check_name(to, at, *finalizer, name_is_qualified);
        check_finalizer_domain(to, at, *finalizer);
    }
}

void validate_namespace_update(struct status *to, const void *object, const void *old)
{
    (void)to, (void)object, (void)old; /* the finalizers are those of the old one */
}

void validate_namespace_status(struct status *to, const void *object, const void *old)
{
    const struct core_v1_namespace *namespace = object;
    const struct path *phase = AT(AT(NULL, "status"), "Phase");
    bool is_deleted = namespace->metadata.deletion_timestamp != NULL;

    (void)old;
    if (!is_deleted && !str_is(namespace->status.phase, "Active")) {
        check_invalid_str(to, phase, namespace->status.phase, "may only be 'Active' if `deletionTimestamp` is empty");
    } else if (is_deleted && !str_is(namespace->status.phase, "Terminating")) {
        check_invalid_str(to, phase, namespace->status.phase,
                          "may only be 'Terminating' if `deletionTimestamp` is not empty");
    }
}

void validate_namespace_finalize(struct status *to, const void *object, const void *old)
{
    const struct core_v1_namespace *namespace = object;
    const struct path *at = AT(AT(NULL, "spec"), "finalizers");

    (void)old;
    LIST_EACH(finalizer, &namespace->spec.finalizers) {
        const struct path *one = ITEM(at, INDEX_OF(finalizer, &namespace->spec.finalizers));

        check_name(to, one, *finalizer, name_is_qualified);
        check_finalizer_domain(to, one, *finalizer);
    }
}
