/* The volumes of a pod or of a template, as `kubectl describe` shows them. */
#include "kubectl/describe.h"

#define ADD(d, ...) buf_printf(&(d)->text, __VA_ARGS__)

static struct str text_at(struct arena *arena, const struct value *object, const char *key, const char *otherwise)
{
    const struct value *value = value_find(object, str_of(key));

    return value == NULL ? str_of(otherwise) : describe_value(arena, value);
}

/* A line of a volume's type: what it is called, the field, and what stands for none. */
struct volume_line {
    const char *title, *field, *otherwise;
};

static const struct {
    const char *source, *type;
    struct volume_line lines[4];
} sources[] = {
    {"hostPath", "HostPath (bare host directory volume)", {{"Path", "path", ""}, {"HostPathType", "type", ""}}},
    {"emptyDir",
     "EmptyDir (a temporary directory that shares a pod's lifetime)",
     {{"Medium", "medium", ""}, {"SizeLimit", "sizeLimit", "<unset>"}}},
    {"secret",
     "Secret (a volume populated by a Secret)",
     {{"SecretName", "secretName", ""}, {"Optional", "optional", "false"}}},
    {"configMap",
     "ConfigMap (a volume populated by a ConfigMap)",
     {{"Name", "name", ""}, {"Optional", "optional", "false"}}},
    {"persistentVolumeClaim",
     "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
     {{"ClaimName", "claimName", ""}, {"ReadOnly", "readOnly", "false"}}},
    {"nfs",
     "NFS (an NFS mount that lasts the lifetime of a pod)",
     {{"Server", "server", ""}, {"Path", "path", ""}, {"ReadOnly", "readOnly", "false"}}},
    {"image",
     "Image (a container image or OCI artifact)",
     {{"Reference", "reference", ""}, {"PullPolicy", "pullPolicy", ""}}},
    {"csi",
     "CSI (a Container Storage Interface (CSI) volume source)",
     {{"Driver", "driver", ""}, {"FSType", "fsType", ""}, {"ReadOnly", "readOnly", "false"}}},
};

static void projected(struct description *d, const struct value *list, const char *space)
{
    struct arena *arena = d->k->arena;

    ADD(d, "%s    Type:\tProjected (a volume that contains injected data from multiple sources)\n", space);
    VALUE_EACH_ITEM(source, list)
    {
        const struct value *secret = value_find(*source, STR("secret")), *map = value_find(*source, STR("configMap"));
        const struct value *token = value_find(*source, STR("serviceAccountToken"));
        const struct value *named = secret != NULL ? secret : map;

        if (named != NULL) {
            ADD(d, "%s    %s:\t%.*s\n%s    Optional:\t%.*s\n", space, secret != NULL ? "SecretName" : "ConfigMapName",
                STR_ARG(value_str_at(named, "name")), space, STR_ARG(text_at(arena, named, "optional", "false")));
        } else if (token != NULL) {
            ADD(d, "%s    TokenExpirationSeconds:\t%.*s\n", space,
                STR_ARG(text_at(arena, token, "expirationSeconds", "")));
        } else if (value_find(*source, STR("downwardAPI")) != NULL) {
            ADD(d, "%s    DownwardAPI:\ttrue\n", space);
        }
    }
}

static void downward(struct description *d, const struct value *items, const char *space)
{
    ADD(d, "%s    Type:\tDownwardAPI (a volume populated by information about the pod)\n%s    Items:\n", space, space);
    VALUE_EACH_ITEM(item, items)
    {
        struct str field = value_str_at(*item, "fieldRef.fieldPath");

        ADD(d, "%s      %.*s -> %.*s\n", space,
            STR_ARG(field.n > 0 ? field : value_str_at(*item, "resourceFieldRef.resource")),
            STR_ARG(value_str_at(*item, "path")));
    }
}

static void one(struct description *d, const struct value *volume, const char *space)
{
    const struct value *all = value_find_path(volume, "projected.sources"), *api = value_find(volume, STR("downwardAPI"));

    if (value_find(volume, STR("projected")) != NULL) {
        projected(d, all, space);
        return;
    }
    if (api != NULL) {
        downward(d, value_find(api, STR("items")), space);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        const struct value *source = value_find(volume, str_of(sources[i].source));

        if (source == NULL) {
            continue;
        }
        ADD(d, "%s    Type:\t%s\n", space, sources[i].type);
        for (const struct volume_line *line = sources[i].lines; line->title != NULL; line++) {
            ADD(d, "%s    %s:\t%.*s\n", space, line->title,
                STR_ARG(text_at(d->k->arena, source, line->field, line->otherwise)));
        }
        return;
    }
    ADD(d, "%s    <unknown>\n", space);
}

void describe_volumes(struct description *d, const struct value *volumes, const char *space)
{
    ADD(d, "%sVolumes:%s\n", space, value_count(volumes) == 0 ? "\t<none>" : "");
    VALUE_EACH_ITEM(volume, volumes)
    {
        /* In a template names stand three spaces in, what is said of them no further than elsewhere. */
        ADD(d, "%s%.*s:\n", space[0] == '\0' ? "  " : "   ", STR_ARG(value_str_at(*volume, "name")));
        one(d, *volume, "");
    }
}
