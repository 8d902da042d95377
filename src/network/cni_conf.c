#include "network/cni_conf.h"

#include "base/file.h"
#include "network/cni_json.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool cni_version_is(struct str version, int major, int minor)
{
    struct str rest = version, part;
    uint64_t numbers[2] = {0};

    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if (!str_next(&rest, '.', &part) || !str_to_u64(part, &numbers[i])) {
            return false;
        }
    }
    return numbers[0] > (uint64_t)major || (numbers[0] == (uint64_t)major && numbers[1] >= (uint64_t)minor);
}

static const char *const versions[] = {"1.1.0", "1.0.0", "0.4.0", "0.3.1", "0.3.0", "0.2.0", "0.1.0"};


/* The newest version that both sides speak, of cniVersion and (since 1.1) the list cniVersions. */
static struct status *choose_version(const struct value *list, struct str *ret)
{
    const struct value *one = value_find(list, STR("cniVersion")), *several = value_find(list, STR("cniVersions"));

    if (one != NULL && !value_is(one, VALUE_STRING)) {
        return status_new(STATUS_BAD_REQUEST, "error parsing configuration list: invalid cniVersion type %s",
                          value_type_name(one));
    }
    struct str chosen = one != NULL && value_str(one).n > 0 ? value_str(one) : STR("0.1.0");

    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        bool is_offered = str_is(chosen, versions[i]);

        VALUE_EACH_ITEM(item, several) {
            is_offered = is_offered || str_is(value_str(*item), versions[i]);
        }
        if (is_offered) {
            *ret = str_of(versions[i]);
            return NULL;
        }
    }
    return status_new(STATUS_BAD_REQUEST,
                      "error parsing configuration list: cniVersion \"%.*s\" is not supported, the newest is "
                      CNI_VERSION_MAX, STR_ARG(chosen));
}

static struct status *check_plugins(const struct value *plugins)
{
    size_t i = 0;

    if (plugins == NULL) {
        return status_new(STATUS_BAD_REQUEST, "error parsing configuration list: no 'plugins' key");
    }
    if (!value_is(plugins, VALUE_ARRAY)) {
        return status_new(STATUS_BAD_REQUEST, "error parsing configuration list: invalid 'plugins' type %s",
                          value_type_name(plugins));
    }
    if (value_count(plugins) == 0) {
        return status_new(STATUS_BAD_REQUEST, "error parsing configuration list: no plugins in list");
    }
    VALUE_EACH_ITEM(plugin, plugins) {
        if (value_str_at(*plugin, "type").n == 0) {
            return status_new(STATUS_BAD_REQUEST,
                              "failed to parse plugin config %zu: error parsing configuration: missing 'type'", i);
        }
        i++;
    }
    return NULL;
}

/* {"name", "cniVersion", "plugins": [plugin]} */
static struct value *wrap_plugin(struct arena *arena, struct value *plugin)
{
    struct value *list = value_object(arena), *plugins = value_array(arena);
    static const struct str shared[] = {STR_INIT("name"), STR_INIT("cniVersion")};

    for (size_t i = 0; i < COUNT_OF(shared); i++) {
        if (value_find(plugin, shared[i]) != NULL) {
            value_set(arena, list, shared[i], value_find(plugin, shared[i]));
        }
    }
    value_add(arena, plugins, plugin);
    value_set(arena, list, STR("plugins"), plugins);
    return list;
}

/* A boolean that may also be written as a string. */
static bool is_true(const struct value *value)
{
    return value_is(value, VALUE_BOOL) ? value->boolean : str_eq_nocase(value_str(value), STR("true"));
}

struct status *cni_conf_parse(struct arena *arena, struct str text, bool is_list, struct cni_conf *ret)
{
    struct value *list;
    struct status *bad = value_read_json(arena, arena_str(arena, text), &list, NULL);

    if (bad != NULL) {
        return status_while(bad, "error parsing configuration list");
    }
    if (!value_is(list, VALUE_OBJECT)) {
        return status_new(STATUS_BAD_REQUEST, "error parsing configuration list: want an object, got %s",
                          value_type_name(list));
    }
    list = is_list ? list : wrap_plugin(arena, list);
    struct cni_conf conf = {
        .name = value_str_at(list, "name"),
        .disable_check = is_true(value_find(list, STR("disableCheck"))),
        .plugins = value_find(list, STR("plugins")),
        .text = value_json(arena, list),
    };

    if (conf.name.n == 0) {
        return status_new(STATUS_BAD_REQUEST, "error parsing configuration list: no name");
    }
    if (conf.name.p[0] == '.' || str_index(conf.name, '/') != SIZE_MAX || memchr(conf.name.p, '\0', conf.name.n)) {
        return status_new(STATUS_BAD_REQUEST, "error parsing configuration list: invalid network name \"%.*s\"",
                          STR_ARG(conf.name)); /* it is part of file names */
    }
    TRY(choose_version(list, &conf.version));
    TRY(check_plugins(conf.plugins));
    *ret = conf;
    return NULL;
}

static int is_configuration(const struct dirent *entry)
{
    struct str name = str_of(entry->d_name);

    return name.p[0] != '.' && (str_has_suffix(name, STR(".conflist")) || str_has_suffix(name, STR(".conf")) ||
                                str_has_suffix(name, STR(".json")));
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

struct status *cni_conf_load(struct arena *arena, struct str directory, struct cni_conf *ret)
{
    struct dirent **entries = NULL;
    int count = scandir(arena_cstr(arena, directory), &entries, is_configuration, by_bytes);
    struct str name = {0};

    if (count < 0 && errno != ENOENT) {
        return status_errno(errno, "reading %.*s", STR_ARG(directory));
    }
    for (int i = 0; i < count; i++) {
        name = i == 0 ? arena_str(arena, str_of(entries[i]->d_name)) : name;
        free(entries[i]);
    }
    free(entries);
    if (name.n == 0) {
        return status_new(STATUS_NOT_FOUND, "no network config found in %.*s: cni plugin not initialized",
                          STR_ARG(directory));
    }
    struct str path = arena_printf(arena, "%.*s/%.*s", STR_ARG(directory), STR_ARG(name)), text;

    TRY(file_read(arena, path.p, LIMIT_CNI_BYTES, &text));
    struct status *bad = cni_conf_parse(arena, text, str_has_suffix(name, STR(".conflist")), ret);

    return bad != NULL ? status_while(bad, "loading CNI configuration %.*s", STR_ARG(path)) : NULL;
}

static void set_number(struct arena *arena, struct value *object, struct str key, int64_t number)
{
    if (number > 0) {
        value_set(arena, object, key, value_int(arena, number));
    }
}

static struct value *port_mappings(struct arena *arena, const struct cni_attachment *attachment)
{
    struct value *array = value_array(arena);

    LIST_EACH(port, &attachment->port_mappings) {
        struct value *item = value_object(arena);

        if (port->host_port <= 0) {
            continue; /* a container's port that is not to be seen on the host */
        }
        value_set(arena, item, STR("hostPort"), value_int(arena, port->host_port));
        value_set(arena, item, STR("containerPort"), value_int(arena, port->container_port));
        value_set(arena, item, STR("protocol"), value_string(arena, port->protocol));
        value_set(arena, item, STR("hostIP"), value_string(arena, port->host_ip));
        value_add(arena, array, item);
    }
    return array;
}

struct value *cni_capability_args(struct arena *arena, const struct cni_attachment *attachment)
{
    struct value *args = value_object(arena), *dns = value_object(arena), *bandwidth = value_object(arena);

    cni_set_filled(arena, args, STR("portMappings"), port_mappings(arena, attachment));
    cni_set_texts(arena, args, STR("ips"), attachment->ips);
    cni_set_text(arena, args, STR("mac"), attachment->mac);
    cni_set_texts(arena, dns, STR("servers"), attachment->dns.nameservers);
    cni_set_texts(arena, dns, STR("searches"), attachment->dns.search);
    cni_set_texts(arena, dns, STR("options"), attachment->dns.options);
    cni_set_filled(arena, args, STR("dns"), dns);
    set_number(arena, bandwidth, STR("ingressRate"), attachment->ingress_rate);
    set_number(arena, bandwidth, STR("ingressBurst"), attachment->ingress_burst);
    set_number(arena, bandwidth, STR("egressRate"), attachment->egress_rate);
    set_number(arena, bandwidth, STR("egressBurst"), attachment->egress_burst);
    cni_set_filled(arena, args, STR("bandwidth"), bandwidth);
    cni_set_text(arena, args, STR("cgroupPath"), attachment->cgroup_path);
    return args;
}

struct str cni_plugin_input(struct arena *arena, const struct cni_conf *conf, const struct value *plugin,
                            struct value *previous, struct value *capability_args)
{
    struct value *input = value_copy(arena, plugin), *runtime_config = value_object(arena);

    value_set(arena, input, STR("name"), value_string(arena, conf->name));
    value_set(arena, input, STR("cniVersion"), value_string(arena, conf->version));
    value_delete(input, STR("prevResult"));
    if (previous != NULL) {
        value_set(arena, input, STR("prevResult"), previous);
    }
    VALUE_EACH_MEMBER(capability, value_find(plugin, STR("capabilities"))) {
        struct value *given = value_find(capability_args, capability->key);

        if (is_true(capability->value) && given != NULL) {
            value_set(arena, runtime_config, capability->key, given);
        }
    }
    cni_set_filled(arena, input, STR("runtimeConfig"), runtime_config);
    return value_json(arena, input);
}
