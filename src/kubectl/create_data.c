/* kubectl create configmap | secret generic: data from literals, files and folders. */
#include "api/core_v1.h"
#include "base/file.h"
#include "kubectl/create.h"
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/trace.h"
#include "net/crypto.h"
#include "schema/map_of.h"
#include "schema/names.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DATA_BYTES_MAX ((size_t)4 << 20)

struct data_options {
    struct flag_strings literals, files, env_files;
    struct str type;
    bool append_hash;
};

/* The data as it grows, and what it is for. */
struct data {
    struct kubectl *k;
    const char *kind;
    struct str name;
    struct str_map text, bytes; /* of a Secret all is bytes */
    bool all_bytes;
};

static bool is_utf8(struct str text)
{
    for (size_t i = 0; i < text.n;) {
        unsigned char c = (unsigned char)text.p[i];
        size_t more = c < 0x80 ? 0 : c >= 0xC2 && c < 0xE0 ? 1 : (c & 0xF0) == 0xE0 ? 2 : c >= 0xF0 && c < 0xF5 ? 3 : 9;

        if (more > 3 || i + more >= text.n) {
            return false;
        }
        for (size_t j = 1; j <= more; j++) {
            if (((unsigned char)text.p[i + j] & 0xC0) != 0x80) {
                return false;
            }
        }
        i += more + 1;
    }
    return true;
}

static struct status *add(struct data *data, struct str key, struct str value)
{
    struct name_errors errors = {0};

    if (!name_is_config_map_key(key, &errors)) {
        return error_local("\"%.*s\" is not a valid key name for a %s: %.*s", STR_ARG(key), data->kind,
                           STR_ARG(name_errors_join(data->k->arena, &errors, ",")));
    }
    if (str_map_has(&data->text, key) || str_map_has(&data->bytes, key)) {
        return error_local("cannot add key \"%.*s\", another key by that name already exists in Data for %s \"%.*s\"",
                           STR_ARG(key), data->kind, STR_ARG(data->name));
    }
    str_map_set(data->k->arena, data->all_bytes || !is_utf8(value) ? &data->bytes : &data->text, key, value);
    return NULL;
}

static struct status *add_file(struct data *data, struct str key, const char *path)
{
    struct str content;
    struct status *status = file_read(data->k->arena, path, DATA_BYTES_MAX, &content);

    if (status != NULL) {
        status->code = 0;
        return status;
    }
    return add(data, key, content);
}

static int is_visible(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Each plain file of a folder under its own name. */
static struct status *add_folder(struct data *data, const char *path)
{
    struct dirent **entries;
    struct status *status = NULL;
    int count = scandir(path, &entries, is_visible, alphasort);

    if (count < 0) {
        return error_local("error listing files in %s: %s", path, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        const char *inner = arena_cstr(data->k->arena, arena_printf(data->k->arena, "%s/%s", path, entries[i]->d_name));
        struct stat about;

        if (status == NULL && stat(inner, &about) == 0 && S_ISREG(about.st_mode)) {
            status = add_file(data, arena_str(data->k->arena, str_of(entries[i]->d_name)), inner);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

static struct status *add_source(struct data *data, struct str source)
{
    struct str key, path;
    bool has_key = str_cut(source, '=', &key, &path);
    const char *name = arena_cstr(data->k->arena, has_key ? path : source);
    struct stat about;

    if (has_key && (key.n == 0 || path.n == 0)) {
        return error_local("key name for file path %.*s missing", STR_ARG(path));
    }
    if (stat(name, &about) != 0) {
        return error_local("error reading %s: %s", name,
                           errno == ENOENT ? "no such file or directory" : strerror(errno));
    }
    if (S_ISDIR(about.st_mode)) {
        return has_key ? error_local("cannot give a key name for a directory path") : add_folder(data, name);
    }
    size_t slash = str_last_index(source, '/');

    return add_file(data, has_key ? key : str_from(source, slash == SIZE_MAX ? 0 : slash + 1), name);
}

/* KEY=VALUE lines; comments and empty lines are left out, a key alone takes the environment's value. */
static struct status *add_env_file(struct data *data, struct str path)
{
    struct str text, line;
    struct status *status = file_read(data->k->arena, arena_cstr(data->k->arena, path), DATA_BYTES_MAX, &text);

    if (status != NULL) {
        status->code = 0;
        return status;
    }
    while (str_next(&text, '\n', &line)) {
        struct str key, value;

        while (line.n > 0 && (line.p[0] == ' ' || line.p[0] == '\t')) {
            line = str_from(line, 1);
        }
        line = str_has_suffix(line, STR("\r")) ? str_sub(line, 0, line.n - 1) : line;
        if (line.n == 0 || line.p[0] == '#') {
            continue;
        }
        if (!str_cut(line, '=', &key, &value)) {
            value = arena_str(data->k->arena, str_of(getenv(arena_cstr(data->k->arena, key))));
        }
        TRY(add(data, key, value));
    }
    return NULL;
}

static struct status *collect(struct data *data, const struct data_options *options)
{
    if (options->env_files.len > 0 && (options->files.len > 0 || options->literals.len > 0)) {
        return error_local("from-env-file cannot be combined with from-file or from-literal");
    }
    TRY(create_name(data->k, &data->name));
    LIST_EACH(source, &options->files)
    {
        TRY(add_source(data, *source));
    }
    LIST_EACH(literal, &options->literals)
    {
        struct str key, value;

        if (!str_cut(*literal, '=', &key, &value) || key.n == 0) {
            return error_local("invalid literal source %.*s, expected key=value", STR_ARG(*literal));
        }
        TRY(add(data, key, value));
    }
    LIST_EACH(path, &options->env_files)
    {
        TRY(add_env_file(data, *path));
    }
    return NULL;
}

/* Ten digits of the content's hash, spelled so that they make no words: "c-9dtcmmmm5t". */
static struct str hashed_name(struct kubectl *k, const char *kind, struct str name, struct str type,
                              const struct value *object)
{
    static const char letters[256] = {['0'] = 'g', ['1'] = 'h', ['3'] = 'k', ['a'] = 'm', ['e'] = 't'};
    struct value *content = value_object(k->arena), *bytes = value_find(object, STR("binaryData"));
    struct value *data = value_find(object, STR("data"));

    value_set(k->arena, content, STR("kind"), value_string(k->arena, str_of(kind)));
    value_set(k->arena, content, STR("name"), value_string(k->arena, name));
    value_set(k->arena, content, STR("data"), data != NULL ? data : value_string(k->arena, STR("")));
    if (type.p != NULL) {
        value_set(k->arena, content, STR("type"), value_string(k->arena, type));
    }
    if (bytes != NULL) {
        value_set(k->arena, content, STR("binaryData"), bytes);
    }
    struct str hex = crypto_sha256_hex(k->arena, value_json(k->arena, content));
    char *suffix = arena_cstr(k->arena, str_sub(hex, 0, 10));

    for (char *at = suffix; *at != '\0'; at++) {
        *at = letters[(unsigned char)*at] != 0 ? letters[(unsigned char)*at] : *at;
    }
    return arena_printf(k->arena, "%.*s-%s", STR_ARG(name), suffix);
}

static struct status *configmap_run(struct kubectl *k, void *arg)
{
    struct data data = {.k = k, .kind = "ConfigMap"};
    struct core_v1_config_map *map = ARENA_NEW(k->arena, struct core_v1_config_map);
    int64_t start = trace_now();

    TRY(collect(&data, arg));
    map->metadata.name = data.name;
    map->data = data.text;
    map->binary_data = data.bytes;
    if (((const struct data_options *)arg)->append_hash) {
        map->metadata.name = hashed_name(k, "ConfigMap", data.name, (struct str){0},
                                         output_value_of(k, &core_v1_config_map_kind, map));
    }
    return create_built(k, &core_v1_config_map_kind, map, start);
}

static struct status *secret_run(struct kubectl *k, void *arg)
{
    struct data data = {.k = k, .kind = "Secret", .all_bytes = true};
    struct core_v1_secret *secret = ARENA_NEW(k->arena, struct core_v1_secret);
    int64_t start = trace_now();

    TRY(collect(&data, arg));
    secret->metadata.name = data.name;
    secret->data = data.bytes;
    secret->type = ((const struct data_options *)arg)->type;
    if (((const struct data_options *)arg)->append_hash) {
        secret->metadata.name = hashed_name(k, "Secret", data.name, secret->type.n > 0 ? secret->type : STR(""),
                                            output_value_of(k, &core_v1_secret_kind, secret));
    }
    return create_built(k, &core_v1_secret_kind, secret, start);
}

static const struct flag data_flags[] = {
    FLAG(ARRAY, struct data_options, literals, "from-literal", 0, "KEY=VALUE; may be repeated"),
    FLAG(STRINGS, struct data_options, files, "from-file", 0, "[KEY=]FILE or a folder; may be repeated"),
    FLAG(STRINGS, struct data_options, env_files, "from-env-file", 0, "file of KEY=VALUE lines"),
    FLAG(BOOL, struct data_options, append_hash, "append-hash", 0, "a hash of the content at the end of the name"),
    FLAG(STRING, struct data_options, type, "type", 0, "of a secret"),
};

const struct command command_create_configmap = {
    .name = "configmap",
    .aliases = "cm",
    .help = "Create a config map from a local file, directory or literal value",
    .usage = "NAME [--from-file=[key=]source] [--from-literal=key1=value1]",
    .uses = USES_OUTPUT | USES_WRITE,
    .flags = data_flags,
    .flag_count = COUNT_OF(data_flags) - 1,
    .options_size = sizeof(struct data_options),
    .run = configmap_run,
};

static const struct command secret_generic = {
    .name = "generic",
    .help = "Create a secret from a local file, directory, or literal value",
    .usage = "NAME [--type=string] [--from-file=[key=]source] [--from-literal=key1=value1]",
    .uses = USES_OUTPUT | USES_WRITE,
    .flags = data_flags,
    .flag_count = COUNT_OF(data_flags),
    .options_size = sizeof(struct data_options),
    .run = secret_run,
};

static const struct command *const secrets[] = {&secret_generic, NULL};

const struct command command_create_secret = {
    .name = "secret",
    .help = "Create a secret using a specified subcommand",
    .usage = "generic NAME [flags]",
    .subcommands = secrets,
};
