#include "apiserver/admission/secret_references.h"

static void add(struct arena *arena, struct secret_references *list, struct str name, struct str what)
{
    *LIST_ADD(arena, list) = (struct secret_reference){.name = name, .what = what};
}

static void add_volume(struct arena *arena, struct secret_references *list, struct str name)
{
    add(arena, list, name, arena_printf(arena, "volume with secret.secretName=\"%.*s\"", STR_ARG(name)));
}

static void add_volumes(struct arena *arena, const struct core_v1_pod_spec *spec, struct secret_references *list)
{
    LIST_EACH(volume, &spec->volumes) {
        const struct core_v1_volume_source *source = &volume->volume_source;

        if (source->secret != NULL) {
            add_volume(arena, list, source->secret->secret_name);
        }
        for (size_t i = 0; source->projected != NULL && i < source->projected->sources.len; i++) {
            const struct core_v1_secret_projection *secret = source->projected->sources.items[i].secret;

            if (secret != NULL) {
                add_volume(arena, list, secret->local_object_reference.name);
            }
        }
    }
}

static void add_environment(struct arena *arena, const char *sort, const struct core_v1_container *container,
                            struct secret_references *list)
{
    LIST_EACH(env, &container->env) {
        if (env->value_from != NULL && env->value_from->secret_key_ref != NULL) {
            struct str name = env->value_from->secret_key_ref->local_object_reference.name;

            add(arena, list, name,
                arena_printf(arena, "%s %.*s with envVar %.*s referencing secret.secretName=\"%.*s\"", sort,
                             STR_ARG(container->name), STR_ARG(env->name), STR_ARG(name)));
        }
    }
    LIST_EACH(from, &container->env_from) {
        if (from->secret_ref != NULL) {
            struct str name = from->secret_ref->local_object_reference.name;

            add(arena, list, name,
                arena_printf(arena, "%s %.*s with envFrom referencing secret.secretName=\"%.*s\"", sort,
                             STR_ARG(container->name), STR_ARG(name)));
        }
    }
}

void secret_references(struct arena *arena, const struct core_v1_pod_spec *spec, struct secret_references *ret)
{
    *ret = (struct secret_references){0};
    add_volumes(arena, spec, ret);
    LIST_EACH(container, &spec->init_containers) {
        add_environment(arena, "init container", container, ret);
    }
    LIST_EACH(container, &spec->containers) {
        add_environment(arena, "container", container, ret);
    }
    for (size_t i = 0; i < spec->image_pull_secrets.len; i++) {
        struct str name = spec->image_pull_secrets.items[i].name;

        add(arena, ret, name, arena_printf(arena, "imagePullSecrets[%zu].name=\"%.*s\"", i, STR_ARG(name)));
        ret->items[ret->len - 1].is_pull_secret = true;
    }
}
