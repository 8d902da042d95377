/* A pod acts as a service account, whose token it finds in a volume in every container. */
#include "api/core_v1.h"
#include "apiserver/admission/objects.h"
#include "apiserver/admission/plugins.h"
#include "apiserver/admission/secret_references.h"
#include "apiserver/registry/object_meta.h"
#include "schema/map_of.h"

#define MOUNT_PATH STR("/var/run/secrets/kubernetes.io/serviceaccount")
#define VOLUME_PREFIX STR("kube-api-access-")

/* A little over an hour, by which the server knows tokens of pods. */
enum { TOKEN_SECONDS = 3607, FILE_MODE = 0644 };

static bool is_mirror(const struct core_v1_pod *pod)
{
    return str_map_has(&pod->metadata.annotations, STR("kubernetes.io/config.mirror"));
}

static bool wants_token(const struct core_v1_service_account *account, const struct core_v1_pod_spec *spec)
{
    if (spec->automount_service_account_token != NULL) {
        return *spec->automount_service_account_token;
    }
    return account->automount_service_account_token == NULL || *account->automount_service_account_token;
}

static bool mount_into(struct arena *arena, struct core_v1_container *container, struct str volume)
{
    LIST_EACH(mount, &container->volume_mounts) {
        if (str_eq(mount->mount_path, MOUNT_PATH)) {
            return false;
        }
    }
    *LIST_APPEND(arena, &container->volume_mounts) =
        (struct core_v1_volume_mount){.name = volume, .read_only = true, .mount_path = MOUNT_PATH};
    return true;
}

static struct core_v1_projected_volume_source *token_sources(struct arena *arena)
{
    struct core_v1_projected_volume_source *source = ARENA_NEW(arena, struct core_v1_projected_volume_source);
    struct core_v1_service_account_token_projection *token =
        ARENA_NEW(arena, struct core_v1_service_account_token_projection);
    struct core_v1_config_map_projection *ca = ARENA_NEW(arena, struct core_v1_config_map_projection);
    struct core_v1_downward_api_projection *downward = ARENA_NEW(arena, struct core_v1_downward_api_projection);
    struct core_v1_object_field_selector *field = ARENA_NEW(arena, struct core_v1_object_field_selector);

    source->default_mode = ARENA_NEW(arena, int32_t);
    *source->default_mode = FILE_MODE;
    token->path = STR("token");
    token->expiration_seconds = ARENA_NEW(arena, int64_t);
    *token->expiration_seconds = TOKEN_SECONDS;
    ca->local_object_reference.name = STR("kube-root-ca.crt");
    *LIST_ADD(arena, &ca->items) = (struct core_v1_key_to_path){.key = STR("ca.crt"), .path = STR("ca.crt")};
    *field = (struct core_v1_object_field_selector){.api_version = STR("v1"), .field_path = STR("metadata.namespace")};
    *LIST_ADD(arena, &downward->items) =
        (struct core_v1_downward_api_volume_file){.path = STR("namespace"), .field_ref = field};
    *LIST_ADD(arena, &source->sources) = (struct core_v1_volume_projection){.service_account_token = token};
    *LIST_ADD(arena, &source->sources) = (struct core_v1_volume_projection){.config_map = ca};
    *LIST_ADD(arena, &source->sources) = (struct core_v1_volume_projection){.downward_api = downward};
    return source;
}

void service_account_mount_token(struct arena *arena, struct core_v1_pod_spec *spec)
{
    struct str name = {0};
    bool is_there = false, is_needed = false;

    LIST_EACH(volume, &spec->volumes) {
        if (!is_there && str_has_prefix(volume->name, VOLUME_PREFIX)) {
            name = volume->name;
            is_there = true;
        }
    }
    if (!is_there) {
        name = object_meta_generate_name(arena, VOLUME_PREFIX);
    }
    LIST_EACH(container, &spec->init_containers) {
        is_needed = mount_into(arena, container, name) || is_needed;
    }
    LIST_EACH(container, &spec->containers) {
        is_needed = mount_into(arena, container, name) || is_needed;
    }
    if (is_needed && !is_there) {
        *LIST_APPEND(arena, &spec->volumes) =
            (struct core_v1_volume){.name = name, .volume_source = {.projected = token_sources(arena)}};
    }
}

static struct status *find_account(struct admission_request *admission, const struct core_v1_pod_spec *spec,
                                   const struct core_v1_service_account **ret)
{
    const void *object;
    struct status *status = admission_find(admission, "", "v1", "serviceaccounts", admission->namespace,
                                           spec->service_account_name, &object);

    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        return admission_forbidden(admission,
                                   "error looking up service account %.*s/%.*s: serviceaccount \"%.*s\" not found",
                                   STR_ARG(admission->namespace), STR_ARG(spec->service_account_name),
                                   STR_ARG(spec->service_account_name));
    }
    TRY(status);
    *ret = object;
    return NULL;
}

static struct status *mutate(struct admission_request *admission)
{
    struct core_v1_pod *pod = admission->object;
    struct core_v1_pod_spec *spec = &pod->spec;
    const struct core_v1_service_account *account;

    if (!admission_is_about(admission, &core_v1_pod_kind) || is_mirror(pod)) {
        return NULL;
    }
    if (spec->service_account_name.n == 0) {
        spec->service_account_name = spec->service_account.n != 0 ? spec->service_account : STR("default");
    }
    spec->service_account = spec->service_account_name; /* the older name of the same field */
    TRY(find_account(admission, spec, &account));
    if (wants_token(account, spec)) {
        service_account_mount_token(admission->request->arena, spec);
    }
    if (spec->image_pull_secrets.len == 0) {
        LIST_EACH(secret, &account->image_pull_secrets) {
            *LIST_APPEND(admission->request->arena, &spec->image_pull_secrets) = *secret;
        }
    }
    return NULL;
}

static struct status *check_mirror(const struct admission_request *admission, const struct core_v1_pod *pod)
{
    struct secret_references secrets = {0};

    if (pod->spec.service_account_name.n != 0) {
        return admission_forbidden(admission, "a mirror pod may not reference service accounts");
    }
    secret_references(admission->request->arena, &pod->spec, &secrets);
    if (secrets.len != 0) {
        return admission_forbidden(admission, "a mirror pod may not reference secrets");
    }
    LIST_EACH(volume, &pod->spec.volumes) {
        const struct core_v1_projected_volume_source *projected = volume->volume_source.projected;

        for (size_t i = 0; projected != NULL && i < projected->sources.len; i++) {
            if (projected->sources.items[i].service_account_token != NULL) {
                return admission_forbidden(admission,
                                           "a mirror pod may not use ServiceAccountToken volume projections");
            }
        }
    }
    return NULL;
}

static bool account_has_secret(const struct core_v1_service_account *account, struct str name)
{
    LIST_EACH(secret, &account->secrets) {
        if (str_eq(secret->name, name)) {
            return true;
        }
    }
    return false;
}

static bool account_has_pull_secret(const struct core_v1_service_account *account, struct str name)
{
    LIST_EACH(secret, &account->image_pull_secrets) {
        if (str_eq(secret->name, name)) {
            return true;
        }
    }
    return false;
}

/* Accounts can say that their pods mount no other secrets than theirs. */
static struct status *check_secrets(const struct admission_request *admission, const struct core_v1_pod_spec *spec,
                                    const struct core_v1_service_account *account)
{
    struct secret_references references = {0};
    struct str name = account->metadata.name;

    secret_references(admission->request->arena, spec, &references);
    LIST_EACH(reference, &references) {
        if (reference->is_pull_secret ? !account_has_pull_secret(account, reference->name)
                                      : !account_has_secret(account, reference->name)) {
            return admission_forbidden(admission,
                                       "%.*s is not allowed because service account %.*s does not reference that %s",
                                       STR_ARG(reference->what), STR_ARG(name),
                                       reference->is_pull_secret ? "imagePullSecret" : "secret");
        }
    }
    return NULL;
}

static struct status *validate(struct admission_request *admission)
{
    const struct core_v1_pod *pod = admission->object;
    const struct core_v1_service_account *account;

    if (!admission_is_about(admission, &core_v1_pod_kind)) {
        return NULL;
    }
    if (is_mirror(pod)) {
        return check_mirror(admission, pod);
    }
    if (pod->spec.service_account_name.n == 0) {
        return admission_forbidden(admission, "no service account specified for pod %.*s/%.*s",
                                   STR_ARG(admission->namespace), STR_ARG(admission->name));
    }
    TRY(find_account(admission, &pod->spec, &account));
    return str_is(str_map_get(&account->metadata.annotations, STR("kubernetes.io/enforce-mountable-secrets")), "true")
               ? check_secrets(admission, &pod->spec, account)
               : NULL;
}

const struct admission_plugin service_account_plugin = {
    .name = "ServiceAccount",
    .operations = ADMIT_CREATE,
    .mutate = mutate,
    .validate = validate,
};
