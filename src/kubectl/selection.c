#include "kubectl/selection.h"

#include "kubectl/report.h"
#include "kubectl/request.h"

#include <string.h>

static struct str namespace_for(const struct kubectl *k, const struct kind *kind)
{
    return kind->namespaced && !k->selector.all_namespaces ? kubectl_namespace(k) : STR("");
}

static struct status *no_slashes_and_types(const char *command)
{
    return error_local("there is no need to specify a resource type as a separate argument when passing arguments in "
                       "resource/name form (e.g. 'kubectl %s resource/<resource_name>' instead of 'kubectl %s resource "
                       "resource/<resource_name>'",
                       command, command);
}

static struct status *add_pairs(struct kubectl *k, const struct str *args, size_t count,
                                const struct selection_rules *rules, struct selection *ret)
{
    for (size_t i = 0; i < count; i++) {
        struct str type, name;
        const struct kind *kind;

        if (!str_cut(args[i], '/', &type, &name)) {
            return no_slashes_and_types(rules->command);
        }
        if (type.n == 0 || name.n == 0 || str_index(name, '/') != SIZE_MAX) {
            return error_local("arguments in resource/name form must have a single resource and name");
        }
        TRY(discovery_find(k, type, &kind));
        *LIST_ADD(k->arena, ret) = (struct selected){.kind = kind, .namespace = namespace_for(k, kind), .name = name};
    }
    ret->is_single = count == 1;
    return NULL;
}

/* "pods,svc" and categories such as "all". */
static struct status *types_of(struct kubectl *k, struct str words, struct kind_list *ret)
{
    struct str word;

    while (str_next(&words, ',', &word)) {
        struct kind_list category;

        TRY(discovery_category(k, word, &category));
        LIST_EACH(kind, &category)
        {
            *LIST_ADD(k->arena, ret) = *kind;
        }
        if (category.len == 0) {
            const struct kind *kind;

            TRY(discovery_find(k, word, &kind));
            *LIST_ADD(k->arena, ret) = kind;
        }
    }
    return NULL;
}

static struct status *add_types(struct kubectl *k, struct str words, const struct selection_rules *rules,
                                struct selection *ret)
{
    struct kind_list kinds = {0};

    if (rules->needs_names && !rules->all && k->selector.labels.n == 0 && k->selector.fields.n == 0) {
        TRY(types_of(k, words, &kinds));
        return error_local("resource(s) were provided, but no name was specified");
    }
    TRY(types_of(k, words, &kinds));
    LIST_EACH(kind, &kinds)
    {
        *LIST_ADD(k->arena, ret) = (struct selected){.kind = *kind, .namespace = namespace_for(k, *kind)};
    }
    return NULL;
}

struct status *selection_of_args(struct kubectl *k, const struct str *args, size_t count,
                                 const struct selection_rules *rules, struct selection *ret)
{
    struct kind_list kinds = {0};
    bool has_slash = false;

    TRY(kubectl_configure(k));
    *ret = (struct selection){0};
    for (size_t i = 0; i < count; i++) {
        has_slash = has_slash || str_index(args[i], '/') != SIZE_MAX;
    }
    bool has_selector = k->selector.labels.n > 0 || k->selector.fields.n > 0 || rules->all;

    if (rules->all && (k->selector.labels.n > 0 || k->selector.fields.n > 0)) {
        return error_local("setting 'all' parameter but found a non empty selector. ");
    }
    if (has_selector && (has_slash || count > 1)) {
        return error_local("name cannot be provided when a selector is specified");
    }
    if (has_slash) {
        if (k->selector.all_namespaces) {
            return error_local("a resource cannot be retrieved by name across all namespaces");
        }
        return add_pairs(k, args, count, rules, ret);
    }
    if (count == 0) {
        return error_local("You must provide one or more resources by argument or filename.\n"
                           "Example resource specifications include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n"
                           "   '<resource> <name>'\n   '<resource>'");
    }
    if (count == 1) {
        return add_types(k, args[0], rules, ret);
    }
    TRY(types_of(k, args[0], &kinds));
    if (kinds.len != 1) {
        return error_local("you must specify only one resource");
    }
    if (k->selector.all_namespaces) {
        return error_local("a resource cannot be retrieved by name across all namespaces");
    }
    for (size_t i = 1; i < count; i++) {
        *LIST_ADD(k->arena, ret) = (struct selected){
            .kind = kinds.items[0], .namespace = namespace_for(k, kinds.items[0]), .name = args[i]};
    }
    ret->is_single = count == 2;
    return NULL;
}

/* Where the object belongs: its own namespace, or the one we work in, which it is given. */
static struct status *set_namespace(struct kubectl *k, struct value *object, const struct kind *kind, struct str *ret)
{
    struct value *metadata = value_find(object, STR("metadata"));

    *ret = STR("");
    if (!kind->namespaced) {
        return NULL;
    }
    *ret = value_str_at(object, "metadata.namespace");
    if (ret->n > 0 && k->flags.config.namespace.n > 0 && !str_eq(*ret, k->flags.config.namespace)) {
        return error_local("the namespace from the provided object \"%.*s\" does not match the namespace \"%.*s\". You "
                           "must pass '--namespace=%.*s' to perform this operation.",
                           STR_ARG(*ret), STR_ARG(k->flags.config.namespace), STR_ARG(*ret));
    }
    if (ret->n == 0) {
        *ret = kubectl_namespace(k);
        if (!value_is(metadata, VALUE_OBJECT)) {
            metadata = value_object(k->arena);
            value_set(k->arena, object, STR("metadata"), metadata);
        }
        value_set(k->arena, metadata, STR("namespace"), value_string(k->arena, *ret));
    }
    return NULL;
}

static struct status *add_manifest(struct kubectl *k, const struct manifest *manifest, struct selection *ret)
{
    struct value *object = manifest->object;
    struct str api_version = value_str_at(object, "apiVersion"), kind_name = value_str_at(object, "kind");
    struct selected selected = {.object = object, .source = manifest->source};

    if (kind_name.n == 0 || api_version.n == 0) {
        return error_local("error validating \"%.*s\": error validating data: %s not set; if you choose to ignore these "
                           "errors, turn validation off with --validate=false",
                           STR_ARG(manifest->source), kind_name.n == 0 ? "kind" : "apiVersion");
    }
    TRY(discovery_find_kind(k, api_version, kind_name, &selected.kind));
    selected.name = value_str_at(object, "metadata.name");
    if (selected.kind == NULL) {
        return error_local("resource mapping not found for name: \"%.*s\" namespace: \"%.*s\" from \"%.*s\": no matches "
                           "for kind \"%.*s\" in version \"%.*s\"\nensure CRDs are installed first",
                           STR_ARG(selected.name), STR_ARG(value_str_at(object, "metadata.namespace")),
                           STR_ARG(manifest->source), STR_ARG(kind_name), STR_ARG(api_version));
    }
    if (!k->is_local) {
        TRY(set_namespace(k, object, selected.kind, &selected.namespace));
    }
    *LIST_ADD(k->arena, ret) = selected;
    return NULL;
}

struct status *selection_of_files(struct kubectl *k, struct selection *ret)
{
    struct manifest_list manifests;

    *ret = (struct selection){0};
    TRY(kubectl_configure(k));
    TRY(manifests_read(k, &manifests));
    LIST_EACH(manifest, &manifests)
    {
        report_error(k, add_manifest(k, manifest, ret)); /* the others are still taken */
    }
    ret->is_single = manifests.len == 1;
    return NULL;
}

struct status *selection_of(struct kubectl *k, const struct str *args, size_t count,
                            const struct selection_rules *rules, struct selection *ret)
{
    if (k->files.names.len == 0) {
        return selection_of_args(k, args, count, rules, ret);
    }
    if (count > 0) {
        return error_local("when paths, URLs, or stdin is provided as input, you may not specify resource arguments as "
                           "well");
    }
    return selection_of_files(k, ret);
}

struct str selected_path(struct kubectl *k, const struct selected *selected)
{
    struct str path = client_path(k->arena, selected->kind, selected->namespace, selected->name, STR(""));

    if (selected->name.n > 0) {
        return path;
    }
    path = path_with(k, path, "labelSelector", k->selector.labels);
    return path_with(k, path, "fieldSelector", k->selector.fields);
}

struct status *selection_list(struct kubectl *k, struct selection *selection)
{
    struct selection out = {.is_single = selection->is_single};

    LIST_EACH(selected, selection)
    {
        struct value *list;

        if (selected->name.n > 0) {
            *LIST_ADD(k->arena, &out) = *selected;
            continue;
        }
        TRY(api_get(k, selected_path(k, selected), &list));
        VALUE_EACH_ITEM(item, value_find(list, STR("items")))
        {
            value_set(k->arena, *item, STR("apiVersion"), value_string(k->arena, selected->kind->api_version));
            value_set(k->arena, *item, STR("kind"), value_string(k->arena, selected->kind->kind));
            *LIST_ADD(k->arena, &out) = (struct selected){.kind = selected->kind,
                                                          .namespace = value_str_at(*item, "metadata.namespace"),
                                                          .name = value_str_at(*item, "metadata.name"),
                                                          .object = *item};
        }
    }
    *selection = out;
    return NULL;
}

struct status *selected_error(const struct selected *selected, const char *doing, struct status *status)
{
    return selected->source.n > 0 && status != NULL
               ? status_while(status, "error when %s \"%.*s\"", doing, STR_ARG(selected->source))
               : status;
}
