#include "kubelet/env_vars.h"

#include "kubelet/expansion.h"
#include "schema/map_of.h"

bool env_vars_find(const struct env_vars *vars, struct str name, struct str *ret)
{
    LIST_EACH (var, vars) {
        if (str_eq(var->key, name)) {
            *ret = var->value;
            return true;
        }
    }
    return false;
}

bool env_vars_lookup(void *arg, struct str name, struct str *ret)
{
    return env_vars_find(arg, name, ret);
}

static void set(struct arena *arena, struct env_vars *vars, struct str name, struct str value)
{
    LIST_EACH (var, vars) {
        if (str_eq(var->key, name)) {
            var->value = value;
            return;
        }
    }
    *LIST_ADD(arena, vars) = (struct str_entry){.key = name, .value = value};
}

/* MY_SERVICE of my-service. */
static struct str upper(struct arena *arena, struct str name)
{
    char *text = arena_cstr(arena, name);

    for (size_t i = 0; i < name.n; i++) {
        text[i] = text[i] == '-' ? '_' : text[i] >= 'a' && text[i] <= 'z' ? (char)(text[i] - 32) : text[i];
    }
    return (struct str){text, name.n};
}

static void add_port(struct arena *arena, struct env_vars *vars, struct str prefix, struct str ip,
                     const struct core_v1_service_port *port, bool is_first)
{
    struct str protocol = port->protocol.n > 0 ? port->protocol : STR("TCP");
    char *lower = arena_cstr(arena, protocol);

    for (char *c = lower; *c != '\0'; c++) {
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
    }
    const char *host = str_index(ip, ':') != SIZE_MAX ? arena_printf(arena, "[%.*s]", STR_ARG(ip)).p
                                                      : arena_cstr(arena, ip);
    struct str url = arena_printf(arena, "%s://%s:%d", lower, host, port->port);
    struct str base = arena_printf(arena, "%.*s_PORT_%d_%.*s", STR_ARG(prefix), port->port, STR_ARG(protocol));

    if (is_first) {
        set(arena, vars, arena_printf(arena, "%.*s_PORT", STR_ARG(prefix)), url);
    }
    set(arena, vars, base, url);
    set(arena, vars, arena_printf(arena, "%.*s_PROTO", STR_ARG(base)), str_of(lower));
    set(arena, vars, arena_printf(arena, "%.*s_PORT", STR_ARG(base)), arena_printf(arena, "%d", port->port));
    set(arena, vars, arena_printf(arena, "%.*s_ADDR", STR_ARG(base)), ip);
}

static void add_service(struct arena *arena, struct env_vars *vars, const struct core_v1_service *service)
{
    struct str prefix = upper(arena, service->metadata.name);
    struct str ip = service->spec.cluster_ip;

    set(arena, vars, arena_printf(arena, "%.*s_SERVICE_HOST", STR_ARG(prefix)), ip);
    if (service->spec.ports.len > 0) {
        set(arena, vars, arena_printf(arena, "%.*s_SERVICE_PORT", STR_ARG(prefix)),
            arena_printf(arena, "%d", service->spec.ports.items[0].port));
    }
    LIST_EACH (port, &service->spec.ports) {
        if (port->name.n > 0) {
            set(arena, vars,
                arena_printf(arena, "%.*s_SERVICE_PORT_%.*s", STR_ARG(prefix), STR_ARG(upper(arena, port->name))),
                arena_printf(arena, "%d", port->port));
        }
    }
    for (size_t i = 0; i < service->spec.ports.len; i++) {
        add_port(arena, vars, prefix, ip, &service->spec.ports.items[i], i == 0);
    }
}

void env_vars_of_services(struct arena *arena, const struct core_v1_pod *pod,
                          const struct core_v1_service *const *services, size_t count, struct env_vars *ret)
{
    bool links = pod->spec.enable_service_links == NULL || *pod->spec.enable_service_links;

    *ret = (struct env_vars){0};
    for (size_t i = 0; i < count; i++) {
        const struct core_v1_service *service = services[i];
        bool is_master = str_is(service->metadata.namespace, "default") && str_is(service->metadata.name, "kubernetes");

        if (service->spec.cluster_ip.n == 0 || str_is(service->spec.cluster_ip, "None")) {
            continue;
        }
        if (is_master || (links && str_eq(service->metadata.namespace, pod->metadata.namespace))) {
            add_service(arena, ret, service);
        }
    }
}

struct making {
    struct arena *arena;
    const struct downward_facts *facts;
    const struct core_v1_container *container;
    const struct env_sources *sources;
    struct env_vars vars, services;
};

static bool lookup_both(void *arg, struct str name, struct str *ret)
{
    struct making *making = arg;

    return env_vars_find(&making->vars, name, ret) || env_vars_find(&making->services, name, ret);
}

static void set_all(struct making *making, struct str prefix, const struct str_map *data)
{
    LIST_EACH (entry, data) {
        struct str name = prefix.n > 0 ? arena_printf(making->arena, "%.*s%.*s", STR_ARG(prefix), STR_ARG(entry->key))
                                       : entry->key;

        set(making->arena, &making->vars, name, entry->value);
    }
}

static struct status *add_from(struct making *making, const struct core_v1_env_from_source *from)
{
    const struct env_sources *sources = making->sources;
    struct status *error = NULL;
    bool optional = false;

    if (from->config_map_ref != NULL) {
        const struct core_v1_config_map *map;

        optional = from->config_map_ref->optional != NULL && *from->config_map_ref->optional;
        error =
            sources->config_map(sources->arg, from->config_map_ref->local_object_reference.name, making->arena, &map);
        if (error == NULL) {
            set_all(making, from->prefix, &map->data);
        }
    } else if (from->secret_ref != NULL) {
        const struct core_v1_secret *secret;

        optional = from->secret_ref->optional != NULL && *from->secret_ref->optional;
        error = sources->secret(sources->arg, from->secret_ref->local_object_reference.name, making->arena, &secret);
        if (error == NULL) {
            set_all(making, from->prefix, &secret->data);
        }
    }
    return optional && status_free_if(&error, STATUS_NOT_FOUND) ? NULL : error;
}

/* Sets *ret_skip when the variable is optional and its source is not there. */
static struct status *key_of(struct making *making, struct status *error, const struct str_map *data, struct str key,
                             const bool *optional, const char *kind, struct str object, struct str *ret,
                             bool *ret_skip)
{
    bool found = false, may_lack = optional != NULL && *optional;

    if (error != NULL) {
        *ret_skip = may_lack && status_free_if(&error, STATUS_NOT_FOUND);
        return *ret_skip ? NULL : error;
    }
    found = str_map_has(data, key);
    *ret = str_map_get(data, key);
    *ret_skip = !found && may_lack;
    if (!found && !may_lack) {
        return status_new(STATUS_NOT_FOUND, "couldn't find key %.*s in %s %.*s/%.*s", STR_ARG(key), kind,
                          STR_ARG(making->facts->pod->metadata.namespace), STR_ARG(object));
    }
    return NULL;
}

static struct status *value_from(struct making *making, const struct core_v1_env_var_source *from, struct str *ret,
                                 bool *ret_skip)
{
    const struct env_sources *sources = making->sources;

    if (from->field_ref != NULL) {
        return downward_field(making->arena, making->facts, from->field_ref->field_path, ret);
    }
    if (from->resource_field_ref != NULL) {
        return downward_resource(making->arena, making->facts, from->resource_field_ref, making->container, ret);
    }
    if (from->config_map_key_ref != NULL) {
        const struct core_v1_config_map *map = NULL;
        struct str name = from->config_map_key_ref->local_object_reference.name;
        struct status *error = sources->config_map(sources->arg, name, making->arena, &map);

        return key_of(making, error, map == NULL ? NULL : &map->data, from->config_map_key_ref->key,
                      from->config_map_key_ref->optional, "ConfigMap", name, ret, ret_skip);
    }
    if (from->secret_key_ref != NULL) {
        const struct core_v1_secret *secret = NULL;
        struct str name = from->secret_key_ref->local_object_reference.name;
        struct status *error = sources->secret(sources->arg, name, making->arena, &secret);

        return key_of(making, error, secret == NULL ? NULL : &secret->data, from->secret_key_ref->key,
                      from->secret_key_ref->optional, "Secret", name, ret, ret_skip);
    }
    *ret = STR("");
    return NULL;
}

struct status *env_vars_make(struct arena *arena, const struct downward_facts *facts,
                             const struct core_v1_container *container, const struct env_sources *sources,
                             struct env_vars *ret)
{
    struct making making = {.arena = arena, .facts = facts, .container = container, .sources = sources};

    env_vars_of_services(arena, facts->pod, sources->services, sources->service_count, &making.services);
    LIST_EACH (from, &container->env_from) {
        TRY(add_from(&making, from));
    }
    LIST_EACH (var, &container->env) {
        struct str value = STR("");
        bool skip = false;

        if (var->value.n > 0) {
            value = expand(arena, var->value, lookup_both, &making, NULL);
        } else if (var->value_from != NULL) {
            TRY(value_from(&making, var->value_from, &value, &skip));
        }
        if (!skip) {
            set(arena, &making.vars, var->name, value);
        }
    }
    LIST_EACH (var, &making.services) {
        struct str ignored;

        if (!env_vars_find(&making.vars, var->key, &ignored)) {
            *LIST_ADD(arena, &making.vars) = *var;
        }
    }
    *ret = making.vars;
    return NULL;
}
