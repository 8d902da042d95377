/* kubectl taint: what keeps pods off nodes. */
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"

struct taint_options {
    bool overwrite, all;
};

/* "key=value:Effect", or "key[:Effect]-" to take away. */
struct taint {
    struct str key, value, effect;
    bool removes;
};

struct taints {
    struct taint *items;
    size_t len;
};

static bool is_spec(struct str word)
{
    return str_index(word, '=') != SIZE_MAX || str_index(word, ':') != SIZE_MAX || str_has_suffix(word, STR("-"));
}

static struct status *parse_taint(struct kubectl *k, struct str word, struct taint *ret)
{
    struct str pair;

    ret->removes = str_has_suffix(word, STR("-"));
    word = ret->removes ? str_sub(word, 0, word.n - 1) : word;
    str_cut(word, ':', &pair, &ret->effect);
    str_cut(pair, '=', &ret->key, &ret->value);
    if (ret->removes && ret->effect.n == 0) {
        return NULL;
    }
    if (!str_is(ret->effect, "NoSchedule") && !str_is(ret->effect, "PreferNoSchedule") &&
        !str_is(ret->effect, "NoExecute")) {
        return error_usage(k, "invalid taint effect: %.*s, unsupported taint effect", STR_ARG(ret->effect));
    }
    return NULL;
}

static bool is_same(const struct value *old, const struct taint *taint)
{
    return str_eq(value_str_at(old, "key"), taint->key) &&
           (taint->effect.n == 0 || str_eq(value_str_at(old, "effect"), taint->effect));
}

static struct value *value_of(struct kubectl *k, const struct taint *taint)
{
    struct value *object = value_object(k->arena);

    value_set(k->arena, object, STR("key"), value_string(k->arena, taint->key));
    if (taint->value.n > 0) {
        value_set(k->arena, object, STR("value"), value_string(k->arena, taint->value));
    }
    value_set(k->arena, object, STR("effect"), value_string(k->arena, taint->effect));
    return object;
}

/* The node's taints after the changes. */
static struct status *change(struct kubectl *k, const struct taint_options *options, const struct taints *taints,
                             const struct value *node, struct value **ret, const char **ret_done)
{
    struct value *list = value_array(k->arena);
    size_t added = 0, removed = 0, replaced = 0;

    VALUE_EACH_ITEM(old, value_find_path(node, "spec.taints"))
    {
        value_add(k->arena, list, *old);
    }
    LIST_EACH(taint, taints)
    {
        size_t before = value_count(list);

        for (size_t i = before; i-- > 0;) {
            if (is_same(value_item(list, i), taint)) {
                value_remove(list, i);
            }
        }
        size_t matched = before - value_count(list);

        if (taint->removes && matched == 0) {
            return error_local("taint \"%.*s%s%.*s\" not found", STR_ARG(taint->key), taint->effect.n > 0 ? ":" : "",
                               STR_ARG(taint->effect));
        }
        if (!taint->removes && matched > 0 && !options->overwrite) {
            return error_local("node %.*s already has a taint(s) with same effect(s) and --overwrite is false",
                               STR_ARG(value_str_at(node, "metadata.name")));
        }
        removed += taint->removes;
        replaced += !taint->removes && matched > 0;
        added += !taint->removes;
        if (!taint->removes) {
            value_add(k->arena, list, value_of(k, taint));
        }
    }
    *ret = list;
    *ret_done = replaced > 0 || (added > 0 && removed > 0) ? "modified" : added > 0 ? "tainted" : "untainted";
    return NULL;
}

static struct status *taint_node(struct kubectl *k, const struct taint_options *options, const struct taints *taints,
                                 const struct selected *selected)
{
    struct value *node, *list = NULL, *spec = value_object(k->arena), *patch = value_object(k->arena);
    const char *done = NULL;

    TRY(api_get(k, client_path(k->arena, selected->kind, STR(""), selected->name, STR("")), &node));
    TRY(change(k, options, taints, node, &list, &done));
    value_set(k->arena, spec, STR("taints"), list);
    value_set(k->arena, patch, STR("spec"), spec);
    if (k->write.dry_run != DRY_RUN_CLIENT) {
        TRY(api_patch(k, selected->kind, STR(""), selected->name, STR(""), CLIENT_PATCH_MERGE, patch, "kubectl-taint",
                      &node));
    }
    fprintf(k->out, "node/%.*s %s\n", STR_ARG(selected->name), done);
    return NULL;
}

static struct status *taint_run(struct kubectl *k, void *arg)
{
    const struct taint_options *options = arg;
    struct selection selection;
    struct taints taints = {0};
    size_t resources = 0;
    const struct kind *kind;

    while (resources < k->args.positional.len && !is_spec(k->args.positional.items[resources])) {
        resources++;
    }
    for (size_t i = resources; i < k->args.positional.len; i++) {
        struct taint taint = {0};

        TRY(parse_taint(k, k->args.positional.items[i], &taint));
        *LIST_ADD(k->arena, &taints) = taint;
    }
    if (resources == 0) {
        return error_local("one or more resources must be specified as <resource> <name>");
    }
    TRY(kubectl_configure(k));
    TRY(discovery_find(k, k->args.positional.items[0], &kind));
    if (!str_is(kind->kind, "Node") || kind->group.n > 0) {
        return error_local("invalid resource type %.*s, only node types are supported",
                           STR_ARG(k->args.positional.items[0]));
    }
    if (taints.len == 0) {
        return error_local("at least one taint update is required");
    }
    TRY(selection_of_args(k, k->args.positional.items, resources,
                          &(struct selection_rules){.command = "taint", .needs_names = true, .all = options->all},
                          &selection));
    TRY(selection_list(k, &selection));
    LIST_EACH(selected, &selection)
    {
        report_error(k, taint_node(k, options, &taints, selected));
    }
    return NULL;
}

static const struct flag taint_flags[] = {
    FLAG(BOOL, struct taint_options, overwrite, "overwrite", 0, "change taints that are there"),
    FLAG(BOOL, struct taint_options, all, "all", 0, "all nodes"),
};

const struct command command_taint = {
    .name = "taint",
    .help = "Update the taints on one or more nodes",
    .usage = "NODE NAME KEY_1=VAL_1:TAINT_EFFECT_1 ... KEY_N=VAL_N:TAINT_EFFECT_N",
    .uses = USES_OUTPUT | USES_SELECTOR | USES_WRITE,
    .flags = taint_flags,
    .flag_count = COUNT_OF(taint_flags),
    .options_size = sizeof(struct taint_options),
    .run = taint_run,
};
