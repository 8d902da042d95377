#include "main/kubeconfig_file.h"

#include "base/base64.h"
#include "base/file.h"
#include "main/pki.h"
#include "schema/yaml.h"

#include <errno.h>
#include <unistd.h>

static struct value *text(struct arena *arena, struct str string)
{
    return value_string(arena, string);
}

/* A list of one item {name: NAME, KEY: content}, as kubeconfigs name things. */
static struct value *named(struct arena *arena, struct str name, struct str key, struct value *content)
{
    struct value *list = value_array(arena);
    struct value *item = value_object(arena);

    value_set(arena, item, key, content);
    value_set(arena, item, STR("name"), text(arena, name));
    value_add(arena, list, item);
    return list;
}

static struct status *set_file(struct arena *arena, struct value *object, const char *key, const char *directory,
                               const char *file)
{
    struct str pem;

    TRY(pki_read(arena, directory, file, &pem));
    value_set(arena, object, str_of(key), text(arena, base64_encode(arena, pem)));
    return NULL;
}

static struct status *build(struct arena *arena, const struct kubeconfig_file *file, struct value **ret)
{
    struct value *config = value_object(arena), *cluster = value_object(arena), *user = value_object(arena);
    struct value *context = value_object(arena);

    TRY(set_file(arena, cluster, "certificate-authority-data", file->tls, "ca.crt"));
    value_set(arena, cluster, STR("server"), text(arena, file->server));
    TRY(set_file(arena, user, "client-certificate-data", file->tls, arena_printf(arena, "%s.crt", file->client).p));
    TRY(set_file(arena, user, "client-key-data", file->tls, arena_printf(arena, "%s.key", file->client).p));
    value_set(arena, context, STR("cluster"), text(arena, file->name));
    value_set(arena, context, STR("user"), text(arena, file->name));
    value_set(arena, config, STR("apiVersion"), text(arena, STR("v1")));
    value_set(arena, config, STR("clusters"), named(arena, file->name, STR("cluster"), cluster));
    value_set(arena, config, STR("contexts"), named(arena, file->name, STR("context"), context));
    value_set(arena, config, STR("current-context"), text(arena, file->name));
    value_set(arena, config, STR("kind"), text(arena, STR("Config")));
    value_set(arena, config, STR("users"), named(arena, file->name, STR("user"), user));
    *ret = config;
    return NULL;
}

struct status *kubeconfig_file_write(struct arena *arena, const struct kubeconfig_file *file)
{
    OWNED(buf_done) struct buf out = {0};
    struct value *config;
    size_t slash = str_last_index(str_of(file->path), '/');

    TRY(build(arena, file, &config));
    if (slash != SIZE_MAX && slash > 0) {
        TRY(file_make_directories(arena_cstr(arena, str_sub(str_of(file->path), 0, slash)), 0755));
    }
    yaml_write(&out, config);
    TRY(file_write(file->path, buf_str(&out), file->mode));
    if (file->uid != 0 && chown(file->path, file->uid, file->uid) != 0) {
        return status_errno(errno, "giving %s to user %u", file->path, file->uid);
    }
    return NULL;
}
