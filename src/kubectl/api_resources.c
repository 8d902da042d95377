/* kubectl api-resources and api-versions: what the server has. */
#include "kubectl/discovery.h"
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/tab_writer.h"

#include <stdlib.h>

struct resources_options {
    struct str group, namespaced, sort_by;
    struct flag_strings verbs, categories;
    bool no_headers, cached;
};

static int by_group_and_name(const void *left, const void *right)
{
    const struct kind *a = *(const struct kind *const *)left, *b = *(const struct kind *const *)right;
    int order = str_cmp(a->group, b->group);

    return order != 0 ? order : str_cmp(a->plural, b->plural);
}

static int by_name(const void *left, const void *right)
{
    const struct kind *a = *(const struct kind *const *)left, *b = *(const struct kind *const *)right;
    int order = str_cmp(a->plural, b->plural);

    return order != 0 ? order : str_cmp(a->group, b->group);
}

static int by_kind(const void *left, const void *right)
{
    const struct kind *a = *(const struct kind *const *)left, *b = *(const struct kind *const *)right;
    int order = str_cmp(a->kind, b->kind);

    return order != 0 ? order : by_group_and_name(left, right);
}

static bool has_all(const struct flag_strings *wanted, const struct str_list *has)
{
    LIST_EACH(want, wanted)
    {
        bool found = false;

        LIST_EACH(one, has)
        {
            found = found || str_eq(*one, *want);
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static bool is_wanted(struct kubectl *k, const struct resources_options *options, const struct kind *kind)
{
    LIST_EACH(verb, &options->verbs)
    {
        if (verb_of(*verb) == 0 || (kind->verbs & verb_of(*verb)) == 0) {
            return false;
        }
    }
    return (!flags_seen(&k->args, "api-group") || str_eq(options->group, kind->group)) &&
           (options->namespaced.n == 0 || kind->namespaced == str_is(options->namespaced, "true")) &&
           has_all(&options->categories, &kind->categories);
}

static struct str joined(struct kubectl *k, const struct str_list *words)
{
    struct str text = STR("");

    LIST_EACH(word, words)
    {
        text = arena_printf(k->arena, "%.*s%s%.*s", STR_ARG(text), text.n > 0 ? "," : "", STR_ARG(*word));
    }
    return text;
}

static struct str verbs_of(struct kubectl *k, const struct kind *kind)
{
    static const unsigned order[] = {VERB_CREATE, VERB_DELETE, VERB_DELETECOLLECTION, VERB_GET,
                                     VERB_LIST,   VERB_PATCH,  VERB_UPDATE,           VERB_WATCH};
    struct str_list names = {0};

    for (size_t i = 0; i < COUNT_OF(order); i++) {
        if (kind->verbs & order[i]) {
            *LIST_ADD(k->arena, &names) = verb_name((enum verb)order[i]);
        }
    }
    return joined(k, &names);
}

static void print_rows(struct kubectl *k, const struct resources_options *options, const struct kind_list *kinds)
{
    OWNED(buf_done) struct buf lines = {0};
    OWNED(buf_done) struct buf out = {0};
    bool wide = str_is(k->output.format, "wide");

    if (!options->no_headers) {
        buf_printf(&lines, "NAME\tSHORTNAMES\tAPIVERSION\tNAMESPACED\tKIND%s\n", wide ? "\tVERBS\tCATEGORIES" : "");
    }
    LIST_EACH(at, kinds)
    {
        const struct kind *kind = *at;

        buf_printf(&lines, "%.*s\t%.*s\t%.*s\t%s\t%.*s", STR_ARG(kind->plural), STR_ARG(joined(k, &kind->short_names)),
                   STR_ARG(kind->api_version), kind->namespaced ? "true" : "false", STR_ARG(kind->kind));
        if (wide) {
            buf_printf(&lines, "\t%.*s\t%.*s", STR_ARG(verbs_of(k, kind)), STR_ARG(joined(k, &kind->categories)));
        }
        buf_add_char(&lines, '\n');
    }
    tab_write(&out, buf_str(&lines), 6, 3);
    output_text(k, buf_str(&out));
}

static struct status *resources_run(struct kubectl *k, void *arg)
{
    const struct resources_options *options = arg;
    struct kind_list all, wanted = {0};

    if (k->args.positional.len > 0) {
        return error_usage(k, "unexpected arguments: [%.*s]", STR_ARG(k->args.positional.items[0]));
    }
    if (options->sort_by.n > 0 && !str_is(options->sort_by, "name") && !str_is(options->sort_by, "kind")) {
        return error_local("--sort-by accepts only name or kind");
    }
    if (k->output.format.n > 0 && !str_is(k->output.format, "wide") && !str_is(k->output.format, "name")) {
        return error_local("--output %.*s is not available", STR_ARG(k->output.format));
    }
    TRY(discovery_preferred(k, &all));
    LIST_EACH(kind, &all)
    {
        if (is_wanted(k, options, *kind)) {
            *LIST_ADD(k->arena, &wanted) = *kind;
        }
    }
    if (wanted.len > 0) {
        qsort(wanted.items, wanted.len, sizeof(*wanted.items),
              str_is(options->sort_by, "kind")   ? by_kind
              : str_is(options->sort_by, "name") ? by_name
                                                 : by_group_and_name);
    }
    if (!str_is(k->output.format, "name")) {
        print_rows(k, options, &wanted);
        return NULL;
    }
    LIST_EACH(kind, &wanted)
    {
        fprintf(k->out, "%.*s\n", STR_ARG(kind_resource(k->arena, *kind)));
    }
    return NULL;
}

static const struct flag resources_flags[] = {
    FLAG(STRING, struct resources_options, group, "api-group", 0, "resources of this group only"),
    {"namespaced", 0, FLAG_TYPE_STRING, offsetof(struct resources_options, namespaced),
     "only those that are in namespaces (true) or are not (false)", "true"},
    FLAG(STRING, struct resources_options, sort_by, "sort-by", 0, "name or kind"),
    FLAG(STRINGS, struct resources_options, verbs, "verbs", 0, "only those that take these verbs"),
    FLAG(STRINGS, struct resources_options, categories, "categories", 0, "only those of these categories"),
    FLAG(BOOL, struct resources_options, no_headers, "no-headers", 0, "leave out the line of column names"),
    FLAG_IGNORE_BOOL("cached"),
};

const struct command command_api_resources = {
    .name = "api-resources",
    .help = "Print the supported API resources on the server",
    .uses = USES_OUTPUT,
    .flags = resources_flags,
    .flag_count = COUNT_OF(resources_flags),
    .options_size = sizeof(struct resources_options),
    .run = resources_run,
};

static int by_text(const void *left, const void *right)
{
    return str_cmp(*(const struct str *)left, *(const struct str *)right);
}

static struct status *versions_run(struct kubectl *k, void *arg)
{
    struct kind_list all;
    struct str_list versions = {0};

    (void)arg;
    TRY(discovery_all(k, &all));
    LIST_EACH(kind, &all)
    {
        bool is_new = true;

        LIST_EACH(version, &versions)
        {
            is_new = is_new && !str_eq(*version, (*kind)->api_version);
        }
        if (is_new) {
            *LIST_ADD(k->arena, &versions) = (*kind)->api_version;
        }
    }
    if (versions.len > 0) {
        qsort(versions.items, versions.len, sizeof(*versions.items), by_text);
    }
    LIST_EACH(version, &versions)
    {
        fprintf(k->out, "%.*s\n", STR_ARG(*version));
    }
    return NULL;
}

const struct command command_api_versions = {
    .name = "api-versions",
    .help = "Print the supported API versions on the server, in the form of \"group/version\"",
    .run = versions_run,
};
