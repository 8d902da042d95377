#include "api/validation/pod.h"
#include "api/validation/storage.h"
#include "schema/quantity.h"

#include <limits.h>

enum { MODE_MAX = 0777, TOKEN_SECONDS_MIN = 600 };

static bool steps_back(struct str path)
{
    for (struct str rest = path, part; str_next(&rest, '/', &part);) {
        if (str_is(part, "..")) {
            return true;
        }
    }
    return false;
}

/* Below a directory; `reserved`: names that start with ".." are the kubelet's own. */
void check_local_path(struct status *to, const struct path *at, struct str path, bool reserved)
{
    if (str_has_prefix(path, STR("/"))) {
        check_invalid_str(to, at, path, "must be a relative path");
    }
    if (steps_back(path)) {
        check_invalid_str(to, at, path, "must not contain '..'");
    } else if (reserved && str_has_prefix(path, STR("..")) && !str_has_prefix(path, STR("../"))) {
        check_invalid_str(to, at, path, "must not start with '..'");
    }
}

static void check_mode(struct status *to, const struct path *at, const int32_t *mode)
{
    if (mode != NULL && (*mode < 0 || *mode > MODE_MAX)) {
        check_invalid_int(to, at, *mode, "must be a number between 0 and 0777 (octal), both inclusive");
    }
}

static void check_key_to_path(struct status *to, const struct path *at, const struct core_v1_key_to_path *item)
{
    check_present(to, AT(at, "key"), item->key);
    check_present(to, AT(at, "path"), item->path);
    check_local_path(to, AT(at, "path"), item->path, true);
    check_mode(to, AT(at, "mode"), item->mode);
}

/* "metadata.labels['a']" and its key; false when there is no subscript. */
static bool split_subscript(struct str path, struct str *ret_path, struct str *ret_key)
{
    size_t open = str_find(path, STR("['"));

    if (open == SIZE_MAX || !str_has_suffix(path, STR("']"))) {
        return false;
    }
    *ret_path = str_sub(path, 0, open);
    *ret_key = str_sub(path, open + 2, path.n - 2);
    return true;
}

static bool is_convertible(struct str path)
{
    static const char *const known[] = {"metadata.annotations", "metadata.labels", "metadata.name",
                                        "metadata.namespace",   "metadata.uid",    "spec.nodeName",
                                        "spec.restartPolicy",   "spec.serviceAccountName", "spec.schedulerName",
                                        "status.phase",         "status.hostIP",   "status.hostIPs",
                                        "status.podIP",         "status.podIPs",   "spec.host", NULL};

    return is_one_of(path, known);
}

void check_field_ref(struct status *to, const struct path *at, const struct core_v1_object_field_selector *ref,
                     const char *const *supported)
{
    struct str path, key;

    if (!check_present(to, AT(at, "apiVersion"), ref->api_version) ||
        !check_present(to, AT(at, "fieldPath"), ref->field_path)) {
        return;
    }
    if (split_subscript(ref->field_path, &path, &key)) {
        if (str_is(path, "metadata.annotations") || str_is(path, "metadata.labels")) {
            check_name(to, at, key, name_is_qualified);
        } else {
            check_invalid_str(to, AT(at, "fieldPath"), ref->field_path,
                              "error converting fieldPath: field label does not support subscript");
        }
        return;
    }
    if (!is_convertible(ref->field_path)) {
        check_invalid_str(to, AT(at, "fieldPath"), ref->field_path,
                          "error converting fieldPath: field label not supported: %.*s", STR_ARG(ref->field_path));
        return;
    }
    check_one_of(to, AT(at, "fieldPath"), ref->field_path, supported);
}

static bool divisor_is_fine(struct str resource, struct quantity divisor)
{
    static const char *const cpu[] = {"0", "1m", "1", NULL};
    static const char *const memory[] = {"0",   "1",  "1k", "1M", "1G", "1T", "1P", "1E", "1Ki",
                                         "1Mi", "1Gi", "1Ti", "1Pi", "1Ei", NULL};

    return divisor.text.n == 0 || is_one_of(divisor.text, str_has_suffix(resource, STR(".cpu")) ? cpu : memory);
}

void check_resource_field_ref(struct status *to, const struct path *at,
                              const struct core_v1_resource_field_selector *ref, bool in_volume)
{
    static const char *const supported[] = {"limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
                                            "requests.cpu", "requests.ephemeral-storage", "requests.memory", NULL};

    if (in_volume && ref->container_name.n == 0) {
        check_required(to, AT(at, "containerName"), "%s", "");
    } else if (ref->resource.n == 0) {
        check_required(to, AT(at, "resource"), "%s", "");
    } else if (!str_has_prefix(ref->resource, STR("limits.hugepages-")) &&
               !str_has_prefix(ref->resource, STR("requests.hugepages-"))) {
        check_one_of(to, AT(at, "resource"), ref->resource, supported);
    }
    if (!divisor_is_fine(ref->resource, ref->divisor)) {
        check_invalid_str(to, AT(at, "divisor"), ref->divisor.text,
                          str_has_suffix(ref->resource, STR(".cpu"))
                              ? "only divisor's values 1m and 1 are supported with the cpu resource"
                              : "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are "
                                "supported with the memory resource");
    }
}

/* Stock's paths leave out which of the files it is. */
static void check_downward_file(struct status *to, const struct path *at,
                                const struct core_v1_downward_api_volume_file *file)
{
    static const char *const supported[] = {"metadata.annotations", "metadata.labels", "metadata.name",
                                            "metadata.namespace", "metadata.uid", NULL};

    check_present(to, AT(at, "path"), file->path);
    check_local_path(to, AT(at, "path"), file->path, true);
    if (file->field_ref != NULL) {
        check_field_ref(to, AT(at, "fieldRef"), file->field_ref, supported);
        if (file->resource_field_ref != NULL) {
            check_invalid_str(to, at, STR("resource"),
                              "fieldRef and resourceFieldRef can not be specified simultaneously");
        }
    } else if (file->resource_field_ref != NULL) {
        check_resource_field_ref(to, AT(at, "resourceFieldRef"), file->resource_field_ref, true);
    } else {
        check_required(to, at, "one of fieldRef and resourceFieldRef is required");
    }
    check_mode(to, AT(at, "mode"), file->mode);
}

static void check_host_path(struct status *to, const struct path *at, const void *source)
{
    const struct core_v1_host_path_volume_source *it = source;
    static const char *const types[] = {"",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
                                        "File", "FileOrCreate", "Socket",     NULL};

    if (!check_present(to, AT(at, "path"), it->path)) {
        return;
    }
    if (steps_back(it->path)) {
        check_invalid_str(to, AT(at, "path"), it->path, "must not contain '..'");
    }
    if (it->type != NULL) {
        check_one_of(to, AT(at, "type"), *it->type, types);
    }
}

static void check_empty_dir(struct status *to, const struct path *at, const void *source)
{
    const struct core_v1_empty_dir_volume_source *it = source;
    if (it->size_limit != NULL && quantity_cmp(*it->size_limit, (struct quantity){STR("0")}) < 0) {
        check_forbidden(to, AT(at, "sizeLimit"), "SizeLimit field must be a valid resource quantity");
    }
}

#define CHECK_ITEMS_(to, at, items_)                                                       \
    LIST_EACH(item, (items_)) {                                                            \
        check_key_to_path((to), ITEM(AT((at), "items"), INDEX_OF(item, (items_))), item); \
    }

static void check_secret(struct status *to, const struct path *at, const void *source)
{
    const struct core_v1_secret_volume_source *it = source;
    check_present(to, AT(at, "secretName"), it->secret_name);
    check_mode(to, AT(at, "defaultMode"), it->default_mode);
    CHECK_ITEMS_(to, at, &it->items)
}

static void check_config_map(struct status *to, const struct path *at, const void *source)
{
    const struct core_v1_config_map_volume_source *it = source;
    check_present(to, AT(at, "name"), it->local_object_reference.name);
    check_mode(to, AT(at, "defaultMode"), it->default_mode);
    CHECK_ITEMS_(to, at, &it->items)
}

static void check_nfs(struct status *to, const struct path *at, const void *source)
{
    const struct core_v1_nfs_volume_source *it = source;
    check_present(to, AT(at, "server"), it->server);
    check_present(to, AT(at, "path"), it->path);
    if (!str_has_prefix(it->path, STR("/"))) {
        check_invalid_str(to, AT(at, "path"), it->path, "must be an absolute path");
    }
}

static void check_downward(struct status *to, const struct path *at, const void *source)
{
    const struct core_v1_downward_api_volume_source *it = source;
    check_mode(to, AT(at, "defaultMode"), it->default_mode);
    LIST_EACH(file, &it->items) {
        check_downward_file(to, at, file);
    }
}

static void check_token(struct status *to, const struct path *volume, const struct path *at,
                        const struct core_v1_service_account_token_projection *it)
{
    if (it->expiration_seconds != NULL && *it->expiration_seconds < TOKEN_SECONDS_MIN) {
        check_invalid_int(to, AT(at, "expirationSeconds"), *it->expiration_seconds,
                          "may not specify a duration less than 10 minutes");
    } else if (it->expiration_seconds != NULL && *it->expiration_seconds > (int64_t)UINT32_MAX + 1) {
        check_invalid_int(to, AT(at, "expirationSeconds"), *it->expiration_seconds,
                          "may not specify a duration larger than 2^32 seconds");
    }
    if (it->path.n == 0) {
        check_required(to, AT(volume, "path"), "%s", "");
    } else {
        check_local_path(to, AT(volume, "path"), it->path, true);
    }
}

/* Two sources may not write the same file. */
static void take_path(struct status *to, const struct path *at, struct seen *paths, struct str path,
                      struct str owner)
{
    if (path.n != 0 && seen_before(paths, path)) {
        check_invalid_str(to, at, owner, "conflicting duplicate paths");
    }
}

static void check_key_projection(struct status *to, const struct path *volume, const struct path *at, struct str name,
                                 const struct core_v1_key_to_path *items, size_t len, struct seen *paths)
{
    check_present(to, AT(at, "name"), name);
    for (size_t i = 0; i < len; i++) {
        check_key_to_path(to, ITEM(AT(at, "items"), i), &items[i]);
        take_path(to, volume, paths, items[i].path, name);
    }
}

static void check_downward_projection(struct status *to, const struct path *volume, const struct path *at,
                                      const struct core_v1_downward_api_projection *it, struct seen *paths)
{
    LIST_EACH(file, &it->items) {
        check_downward_file(to, at, file);
        take_path(to, volume, paths, file->path, file->path);
    }
}

static void check_projection(struct status *to, const struct path *volume, const struct path *at,
                             const struct core_v1_volume_projection *it, struct seen *paths)
{
    int count = 0;

    if (it->secret != NULL) {
        count++;
        check_key_projection(to, volume, AT(at, "secret"), it->secret->local_object_reference.name,
                             it->secret->items.items, it->secret->items.len, paths);
    }
    if (it->config_map != NULL && count++ == 0) {
        check_key_projection(to, volume, AT(at, "configMap"), it->config_map->local_object_reference.name,
                             it->config_map->items.items, it->config_map->items.len, paths);
    } else if (it->config_map != NULL) {
        check_forbidden(to, at, "may not specify more than 1 volume type per source");
    }
    if (it->downward_api != NULL && count++ == 0) {
        check_downward_projection(to, volume, AT(at, "downwardAPI"), it->downward_api, paths);
    } else if (it->downward_api != NULL) {
        check_forbidden(to, at, "may not specify more than 1 volume type per source");
    }
    if (it->service_account_token != NULL && count++ == 0) {
        check_token(to, volume, AT(at, "serviceAccountToken"), it->service_account_token);
        take_path(to, volume, paths, it->service_account_token->path, it->service_account_token->path);
    } else if (it->service_account_token != NULL) {
        check_forbidden(to, at, "may not specify more than 1 volume type per source");
    }
}

static void check_projected(struct status *to, const struct path *at, const void *source)
{
    const struct core_v1_projected_volume_source *it = source;
    OWNED(seen_done) struct seen paths = {0};

    check_mode(to, AT(at, "defaultMode"), it->default_mode);
    LIST_EACH(one, &it->sources) {
        check_projection(to, at, ITEM(AT(at, "sources"), INDEX_OF(one, &it->sources)), one, &paths);
    }
}

static void check_image(struct status *to, const struct path *at, const void *source)
{
    const struct core_v1_image_volume_source *it = source;
    static const char *const policies[] = {"Always", "IfNotPresent", "Never", NULL};

    check_present(to, AT(at, "reference"), it->reference);
    check_one_of(to, AT(at, "pullPolicy"), it->pull_policy, policies);
}

static void check_csi(struct status *to, const struct path *at, const void *source)
{
    const struct core_v1_csi_volume_source *it = source;
    check_csi_driver_name(to, AT(at, "driver"), it->driver);
    if (it->node_publish_secret_ref != NULL) {
        check_present(to, AT(AT(at, "nodePublishSecretRef"), "name"), it->node_publish_secret_ref->name);
    }
}

static void check_ephemeral(struct status *to, const struct path *at, const void *source)
{
    const struct core_v1_ephemeral_volume_source *it = source;
    const struct path *template = AT(at, "volumeClaimTemplate");

    if (it->volume_claim_template == NULL) {
        check_required(to, template, "%s", "");
        return;
    }
    check_claim_template(to, template, it->volume_claim_template);
}

/* In stock's order. Of those without a function, only required members are checked. */
static const struct volume_check {
    const char *name;
    void (*check)(struct status *to, const struct path *at, const void *source);
    const char *required[3];
} volume_checks[] = {
    {"emptyDir", check_empty_dir, {NULL}},
    {"hostPath", check_host_path, {NULL}},
    {"gitRepo", NULL, {"repository"}},
    {"gcePersistentDisk", NULL, {"pdName"}},
    {"awsElasticBlockStore", NULL, {"volumeID"}},
    {"secret", check_secret, {NULL}},
    {"nfs", check_nfs, {NULL}},
    {"iscsi", NULL, {"targetPortal", "iqn"}},
    {"glusterfs", NULL, {"endpoints", "path"}},
    {"flocker", NULL, {NULL}},
    {"persistentVolumeClaim", NULL, {"claimName"}},
    {"rbd", NULL, {"monitors", "image"}},
    {"cinder", NULL, {"volumeID"}},
    {"cephfs", NULL, {"monitors"}},
    {"quobyte", NULL, {"registry", "volume"}},
    {"downwardAPI", check_downward, {NULL}},
    {"fc", NULL, {NULL}},
    {"flexVolume", NULL, {"driver"}},
    {"configMap", check_config_map, {NULL}},
    {"azureFile", NULL, {"secretName", "shareName"}},
    {"vsphereVolume", NULL, {"volumePath"}},
    {"photonPersistentDisk", NULL, {"pdID"}},
    {"portworxVolume", NULL, {"volumeID"}},
    {"azureDisk", NULL, {"diskName", "diskURI"}},
    {"storageos", NULL, {"volumeName"}},
    {"projected", check_projected, {NULL}},
    {"scaleIO", NULL, {"gateway", "system", "volumeName"}},
    {"csi", check_csi, {NULL}},
    {"ephemeral", check_ephemeral, {NULL}},
    {"image", check_image, {NULL}},
};

static void check_required_members(struct status *to, const struct path *at, const struct type *type,
                                   const char *source, const char *const *names)
{
    for (size_t i = 0; i < 3 && names[i] != NULL; i++) {
        const struct field *member = type_field(type, str_of(names[i]));
        const char *place = source + member->offset;

        if (member->shape == SHAPE_LIST ? ((const struct any_list *)place)->len == 0
                                        : ((const struct str *)place)->n == 0) {
            check_required(to, AT(at, names[i]), "%s", "");
        }
    }
}

static void check_volume_source(struct status *to, const struct path *at, const struct core_v1_volume_source *all)
{
    int count = 0;

    for (size_t i = 0; i < COUNT_OF(volume_checks); i++) {
        const struct volume_check *check = &volume_checks[i];
        const struct field *field = type_field(&core_v1_volume_source_type, str_of(check->name));
        const void *source = *(const void *const *)((const char *)all + field->offset);

        if (source == NULL) {
            continue;
        }
        if (count++ > 0) {
            check_forbidden(to, AT(at, check->name), "may not specify more than 1 volume type");
        } else if (check->check != NULL) {
            check->check(to, AT(at, check->name), source);
        } else {
            check_required_members(to, AT(at, check->name), field->type, source, check->required);
        }
    }
    if (count == 0) {
        check_required(to, at, "must specify a volume type");
    }
}

void check_volumes(struct status *to, const struct path *at, const struct core_v1_pod_spec *spec,
                   struct pod_names *names)
{
    LIST_EACH(volume, &spec->volumes) {
        const struct path *one = ITEM(at, INDEX_OF(volume, &spec->volumes));
        size_t before = to->cause_count;

        check_volume_source(to, one, &volume->volume_source);
        if (check_present(to, AT(one, "name"), volume->name)) {
            check_name(to, AT(one, "name"), volume->name, name_is_dns1123_label);
        }
        if (seen_has(&names->volumes, volume->name)) {
            check_duplicate(to, AT(one, "name"), volume->name);
        }
        if (to->cause_count != before) {
            continue;
        }
        seen_before(&names->volumes, volume->name);
        if (volume->volume_source.persistent_volume_claim != NULL || volume->volume_source.ephemeral != NULL) {
            seen_before(&names->block_volumes, volume->name);
        }
    }
}
