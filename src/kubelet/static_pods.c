#include "kubelet/static_pods.h"

#include "api/defaults.h"
#include "api/validation.h"
#include "base/base64.h"
#include "base/env.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "kubelet/housekeeping.h"
#include "kubelet/pod_workers.h"
#include "net/crypto.h"
#include "schema/json.h"
#include "schema/map_of.h"
#include "schema/timestamp.h"
#include "schema/yaml.h"

#include <stdlib.h>

enum { MANIFEST_BYTES_MAX = 1 << 20, UID_BYTES = 16 };

struct static_pods {
    struct kubelet *kubelet;
    struct map pods;     /* by UID, as struct pod_ref */
    struct map problems; /* by path: the last complaint, on the heap, so that it is told once */
    bool has_synced;
};

struct static_pods *static_pods_new(struct kubelet *kubelet)
{
    struct static_pods *pods = MEM_NEW(struct static_pods);

    pods->kubelet = kubelet;
    return pods;
}

void static_pods_free(struct static_pods *pods)
{
    size_t at = 0;

    if (pods == NULL) {
        return;
    }
    for (struct map_entry *e; (e = map_next(&pods->pods, &at)) != NULL;) {
        pod_unref(e->value);
    }
    at = 0;
    for (struct map_entry *e; (e = map_next(&pods->problems, &at)) != NULL;) {
        free(e->value);
    }
    map_done(&pods->pods);
    map_done(&pods->problems);
    free(pods);
}

static struct str hash_of(struct arena *arena, struct str text, struct str path, struct str node_name)
{
    unsigned char digest[SHA256_BYTES];
    struct str all =
        arena_printf(arena, "host:%.*s\nfile:%.*s\n%.*s", STR_ARG(node_name), STR_ARG(path), STR_ARG(text));

    crypto_sha256(all, digest);
    return hex_encode(arena, (struct str){(const char *)digest, UID_BYTES});
}

static struct status *decode(struct arena *arena, struct str text, struct core_v1_pod *pod)
{
    OWNED(buf_done) struct buf json = {0};
    struct value *tree;

    TRY(yaml_read(arena, text, false, &tree)); /* JSON is YAML */
    if (!str_is(value_str_at(tree, "kind"), "Pod") || !str_is(value_str_at(tree, "apiVersion"), "v1")) {
        return status_new(STATUS_BAD_REQUEST, "want a Pod of v1, found kind \"%.*s\" of \"%.*s\"",
                          STR_ARG(value_str_at(tree, "kind")), STR_ARG(value_str_at(tree, "apiVersion")));
    }
    value_write_json(&json, tree, 0);
    return json_decode(arena, &core_v1_pod_type, arena_str(arena, buf_str(&json)), pod, NULL);
}

/* Static pods are not evicted by taints. */
static void tolerate_all(struct arena *arena, struct core_v1_pod *pod)
{
    *LIST_ADD(arena, &pod->spec.tolerations) =
        (struct core_v1_toleration){.operator = STR("Exists"), .effect = STR("NoExecute")};
}

struct status *static_pod_read(struct arena *arena, struct str text, struct str path, struct str node_name,
                               struct core_v1_pod **ret)
{
    struct core_v1_pod *pod = ARENA_NEW(arena, struct core_v1_pod);
    struct timestamp now = timestamp_now();

    TRY(decode(arena, text, pod));
    if (pod->metadata.uid.n == 0) {
        pod->metadata.uid = hash_of(arena, text, path, node_name);
    }
    pod->metadata.name = arena_printf(arena, "%.*s-%.*s", STR_ARG(pod->metadata.name), STR_ARG(node_name));
    if (pod->metadata.namespace.n == 0) {
        pod->metadata.namespace = STR("default");
    }
    str_map_set(arena, &pod->metadata.annotations, STR("kubernetes.io/config.source"), STR("file"));
    str_map_set(arena, &pod->metadata.annotations, STR("kubernetes.io/config.hash"), pod->metadata.uid);
    str_map_set(arena, &pod->metadata.annotations, STR("kubernetes.io/config.seen"), timestamp_format(arena, now));
    pod->spec.node_name = node_name;
    pod->status = (struct core_v1_pod_status){.phase = STR("Pending")};
    tolerate_all(arena, pod);
    api_defaults_apply(&core_v1_pod_type, pod, arena);
    struct status *causes = status_new(STATUS_INVALID, "invalid pod");

    api_validate_create(&core_v1_pod_kind, pod, causes);
    if (causes->cause_count > 0) {
        struct status_cause first = causes->causes[0];

        return status_while(causes, "%.*s: %.*s", STR_ARG(first.field), STR_ARG(first.message));
    }
    status_free(causes);
    *ret = pod;
    return NULL;
}

static void complain(struct static_pods *pods, struct str path, struct str message)
{
    const char *before = map_find(&pods->problems, path);

    if (before == NULL || !str_is(message, before)) {
        char *text = mem_zalloc(message.n + 1);

        __builtin_memcpy(text, message.p, message.n);
        log_warn("could not process manifest file %.*s: %s", STR_ARG(path), text);
        free(map_set(&pods->problems, path, text));
    }
}

static void take_file(struct static_pods *pods, struct str path, struct map *seen)
{
    struct kubelet *kubelet = pods->kubelet;
    struct arena *arena = arena_new();
    struct str text;
    struct core_v1_pod *pod;
    struct status *error = host_read(kubelet->host, arena_cstr(arena, path), MANIFEST_BYTES_MAX, arena, &text);

    if (error == NULL) {
        error = static_pod_read(arena, text, arena_str(arena, path), kubelet->node_name, &pod);
    }
    if (error != NULL) {
        complain(pods, path, error->message);
        status_free(error);
        arena_free(arena);
        return;
    }
    free(map_remove(&pods->problems, path));
    map_set(seen, pod->metadata.uid, pods);
    if (map_find(&pods->pods, pod->metadata.uid) != NULL) {
        arena_free(arena);
        return;
    }
    struct pod_ref *ref = pod_ref_of_arena(arena, pod);

    map_set(&pods->pods, pod->metadata.uid, ref);
    log_info("static pod %.*s/%.*s from %.*s", STR_ARG(pod->metadata.namespace), STR_ARG(pod->metadata.name),
             STR_ARG(path));
    pod_workers_update(kubelet->workers, ref);
}

static void drop_absent(struct static_pods *pods, const struct map *seen)
{
    size_t at = 0;

    for (struct map_entry *e; (e = map_next(&pods->pods, &at)) != NULL;) {
        if (map_find(seen, e->key) == NULL) {
            struct pod_ref *pod = e->value;

            pod_workers_remove(pods->kubelet->workers, e->key);
            map_remove(&pods->pods, e->key);
            pod_unref(pod);
        }
    }
}

/* An error means that nothing is known: the pods stay. */
static struct status *look(struct static_pods *pods)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(map_done) struct map seen = {0};
    struct str path = pods->kubelet->options.manifest_path;
    struct host_stat stat;
    struct host_names names = {0};

    TRY(host_stat(pods->kubelet->host, arena_cstr(arena, path), true, &stat));
    if (stat.type == HOST_FILE) {
        take_file(pods, path, &seen);
    } else {
        TRY(host_list(pods->kubelet->host, arena_cstr(arena, path), arena, &names));
    }
    LIST_EACH (name, &names) {
        struct str file = arena_printf(arena, "%.*s/%.*s", STR_ARG(path), STR_ARG(*name));

        /* Editors leave hidden files behind. */
        if (name->p[0] != '.' && host_stat(pods->kubelet->host, file.p, true, &stat) == NULL &&
            stat.type == HOST_FILE) {
            take_file(pods, file, &seen);
        }
    }
    drop_absent(pods, &seen);
    return NULL;
}

static void look_task(void *arg)
{
    struct static_pods *pods = arg;

    do {
        struct status *error = look(pods);

        if (error != NULL) {
            log_warn("reading static pods: %.*s", STR_ARG(error->message));
        } else if (!pods->has_synced) {
            pods->has_synced = true;
            housekeeping_wake(pods->kubelet->housekeeping);
        }
        status_free(error);
    } while (task_sleep(pods->kubelet->options.file_check_frequency));
}

void static_pods_start(struct static_pods *pods)
{
    if (pods->kubelet->options.manifest_path.n == 0) {
        pods->has_synced = true;
    } else {
        task_group_spawn(&pods->kubelet->tasks, "static-pods", look_task, pods);
    }
}

bool static_pods_is_synced(const struct static_pods *pods)
{
    return pods->has_synced;
}
