/* Reading -f: files, folders, standard input. */
#include "base/file.h"
#include "kubectl/report.h"
#include "kubectl/selection.h"
#include "schema/yaml.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((size_t)64 << 20)
enum { DEPTH_MAX = 32 };

/* Lists stand for what is in them. */
static void add_object(struct kubectl *k, struct value *object, struct str source, struct manifest_list *ret)
{
    struct value *items = value_find(object, STR("items"));

    if (str_has_suffix(value_str_at(object, "kind"), STR("List")) && value_is(items, VALUE_ARRAY)) {
        VALUE_EACH_ITEM(item, items)
        {
            add_object(k, *item, source, ret);
        }
        return;
    }
    *LIST_ADD(k->arena, ret) = (struct manifest){object, source};
}

static struct status *read_text(struct kubectl *k, struct str text, struct str source, struct manifest_list *ret)
{
    struct str document;

    for (;;) {
        struct value *object;

        TRY(yaml_next_document(&text, &document));
        if (document.p == NULL) {
            return NULL;
        }
        struct status *status = yaml_read(k->arena, document, false, &object);

        if (status == NULL && !value_is(object, VALUE_NULL) && !value_is(object, VALUE_OBJECT)) {
            status = error_local("json: cannot unmarshal %s into Go value of type map[string]interface {}",
                                 value_type_name(object));
        } else if (status != NULL) {
            status = status_while(status, "error converting YAML to JSON");
        }
        if (status != NULL) {
            status->code = 0;
            return status_while(status, "error parsing %.*s", STR_ARG(source));
        }
        if (value_is(object, VALUE_OBJECT) && value_count(object) > 0) {
            add_object(k, object, source, ret);
        }
    }
}

static struct status *read_stdin(struct kubectl *k, struct str *ret)
{
    struct buf text = {0};
    ssize_t size;

    do {
        size = read(STDIN_FILENO, buf_reserve(&text, 65536), 65536);
        text.n += size > 0 ? (size_t)size : 0;
    } while ((size > 0 && text.n <= FILE_BYTES_MAX) || (size < 0 && errno == EINTR));
    *ret = arena_str(k->arena, buf_str(&text));
    buf_done(&text);
    return size < 0 ? error_local("reading standard input: %s", strerror(errno)) : NULL;
}

static bool is_manifest_name(const char *name)
{
    struct str text = str_of(name);

    return str_has_suffix(text, STR(".yaml")) || str_has_suffix(text, STR(".yml")) || str_has_suffix(text, STR(".json"));
}

static struct status *read_path(struct kubectl *k, const char *path, int depth, struct manifest_list *ret);

static int not_dots(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static struct status *read_folder(struct kubectl *k, const char *path, int depth, struct manifest_list *ret)
{
    struct dirent **entries;
    int count = scandir(path, &entries, not_dots, alphasort);
    struct status *status = NULL;

    if (count < 0) {
        return error_local("open %s: %s", path, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        const char *inner = arena_cstr(k->arena, arena_printf(k->arena, "%s/%s", path, entries[i]->d_name));
        struct stat about;
        bool is_folder = stat(inner, &about) == 0 && S_ISDIR(about.st_mode);

        if (status == NULL && (is_folder ? k->files.recursive && depth < DEPTH_MAX : is_manifest_name(inner))) {
            status = read_path(k, inner, depth + 1, ret);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

static struct status *read_path(struct kubectl *k, const char *path, int depth, struct manifest_list *ret)
{
    struct stat about;
    struct str text;

    if (stat(path, &about) != 0) {
        return errno == ENOENT ? error_local("the path \"%s\" does not exist", path)
                               : error_local("the path \"%s\" cannot be accessed: %s", path, strerror(errno));
    }
    if (S_ISDIR(about.st_mode)) {
        return read_folder(k, path, depth, ret);
    }
    struct status *status = file_read(k->arena, path, FILE_BYTES_MAX, &text);

    if (status != NULL) {
        status->code = 0;
        return status;
    }
    return read_text(k, text, str_of(path), ret);
}

struct status *manifests_read(struct kubectl *k, struct manifest_list *ret)
{
    *ret = (struct manifest_list){0};
    LIST_EACH(name, &k->files.names)
    {
        if (str_is(*name, "-")) {
            struct str text;

            TRY(read_stdin(k, &text));
            TRY(read_text(k, text, STR("STDIN"), ret));
        } else if (str_has_prefix(*name, STR("http://")) || str_has_prefix(*name, STR("https://"))) {
            return error_local("unable to read URL \"%.*s\": manifests are taken from files and standard input only",
                               STR_ARG(*name));
        } else {
            TRY(read_path(k, arena_cstr(k->arena, *name), 0, ret));
        }
    }
    return NULL;
}
