/* Finding, reading and merging kubeconfig files. */
#include "base/base64.h"
#include "base/file.h"
#include "client/kubeconfig.h"
#include "schema/value.h"
#include "schema/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Kubeconfigs are written by people and by tools; a megabyte is far beyond any. */
#define CONFIG_BYTES_MAX ((size_t)4 << 20)

static struct str directory_of(struct str path)
{
    size_t slash = str_last_index(path, '/');

    return slash == SIZE_MAX ? STR(".") : slash == 0 ? STR("/") : str_sub(path, 0, slash);
}

/* Paths in a file are relative to that file. */
static void make_absolute(struct arena *arena, struct str directory, struct value *object, struct str key)
{
    struct str path = value_str(value_find(object, key));

    if (path.n > 0 && path.p[0] != '/') {
        struct str whole = arena_printf(arena, "%.*s/%.*s", STR_ARG(directory), STR_ARG(path));

        if (whole.p[0] != '/') {
            char *resolved = realpath(arena_cstr(arena, directory), NULL);

            if (resolved != NULL) {
                whole = arena_printf(arena, "%s/%.*s", resolved, STR_ARG(path));
            }
            free(resolved);
        }
        value_set(arena, object, key, value_string(arena, whole));
    }
}

static void make_paths_absolute(struct arena *arena, struct str directory, struct value *config)
{
    static const struct str user_paths[] = {STR_INIT("client-certificate"), STR_INIT("client-key"),
                                            STR_INIT("tokenFile")};

    VALUE_EACH_ITEM(cluster, value_find(config, STR("clusters")))
    {
        make_absolute(arena, directory, value_find(*cluster, STR("cluster")), STR("certificate-authority"));
    }
    VALUE_EACH_ITEM(user, value_find(config, STR("users")))
    {
        for (size_t i = 0; i < COUNT_OF(user_paths); i++) {
            make_absolute(arena, directory, value_find(*user, STR("user")), user_paths[i]);
        }
    }
}

static bool has_name(const struct value *list, struct str name)
{
    VALUE_EACH_ITEM(item, list)
    {
        if (str_eq(value_str(value_find(*item, STR("name"))), name)) {
            return true;
        }
    }
    return false;
}

/* Adds what `more` names and `config` does not have yet. */
static void merge(struct arena *arena, struct value *config, struct value *more)
{
    static const struct str lists[] = {STR_INIT("clusters"), STR_INIT("contexts"), STR_INIT("users")};

    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct value *into = value_find(config, lists[i]);

        VALUE_EACH_ITEM(item, value_find(more, lists[i]))
        {
            if (!has_name(into, value_str(value_find(*item, STR("name"))))) {
                value_add(arena, into, *item);
            }
        }
    }
    if (value_str(value_find(config, STR("current-context"))).n == 0) {
        struct value *current = value_find(more, STR("current-context"));

        if (current != NULL) {
            value_set(arena, config, STR("current-context"), current);
        }
    }
}

static struct status *merge_file(struct arena *arena, struct str path, struct value *config)
{
    struct str text;
    struct value *more;

    TRY(file_read(arena, arena_cstr(arena, path), CONFIG_BYTES_MAX, &text));
    struct status *status = yaml_read(arena, text, false, &more);

    if (status == NULL && !value_is(more, VALUE_OBJECT) && !value_is(more, VALUE_NULL)) {
        status = status_new(STATUS_BAD_REQUEST,
                            "json: cannot unmarshal %s into Go value of type struct { APIVersion string \"json:"
                            "\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }",
                            value_type_name(more));
    }
    if (status != NULL) {
        return status_while(status, "error loading config file \"%.*s\"", STR_ARG(path));
    }
    make_paths_absolute(arena, directory_of(path), more);
    merge(arena, config, more);
    return NULL;
}

static struct value *empty_config(struct arena *arena)
{
    struct value *config = value_object(arena);

    value_set(arena, config, STR("kind"), value_string(arena, STR("Config")));
    value_set(arena, config, STR("apiVersion"), value_string(arena, STR("v1")));
    value_set(arena, config, STR("clusters"), value_array(arena));
    value_set(arena, config, STR("users"), value_array(arena));
    value_set(arena, config, STR("contexts"), value_array(arena));
    value_set(arena, config, STR("current-context"), value_string(arena, STR("")));
    return config;
}

struct status *kubeconfig_merge(struct str path, struct arena *arena, struct value **ret_config)
{
    struct value *config = empty_config(arena);
    struct str files = path.n > 0 ? path : str_of(getenv("KUBECONFIG")), file;

    if (path.n > 0) {
        struct status *status = merge_file(arena, path, config);

        if (status_free_if(&status, STATUS_NOT_FOUND)) {
            return status_new(STATUS_NOT_FOUND, "stat %.*s: no such file or directory", STR_ARG(path));
        }
        TRY(status);
        *ret_config = config;
        return NULL;
    }
    if (files.n == 0 && getenv("HOME") != NULL) {
        files = arena_printf(arena, "%s/.kube/config", getenv("HOME"));
    }
    while (str_next(&files, ':', &file)) {
        struct status *status = file.n > 0 ? merge_file(arena, file, config) : NULL;

        if (!status_free_if(&status, STATUS_NOT_FOUND)) {
            TRY(status);
        }
    }
    *ret_config = config;
    return NULL;
}
