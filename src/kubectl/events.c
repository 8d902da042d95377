/* kubectl events: what happened, oldest first. */
#include "kubectl/describe.h"
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"
#include "kubectl/tab_writer.h"

#include <stdlib.h>

struct events_options {
    struct str about;
    struct flag_strings types;
    bool no_headers;
};

static const struct value *last_seen(const struct value *event)
{
    const struct value *series = value_find_path(event, "series.lastObservedTime");
    const struct value *last = value_find(event, STR("lastTimestamp"));

    return series != NULL ? series : value_str(last).n > 0 ? last : value_find(event, STR("eventTime"));
}

static int by_time(const void *left, const void *right)
{
    return str_cmp(value_str(last_seen(*(struct value *const *)left)), value_str(last_seen(*(struct value *const *)right)));
}

static struct status *check_types(const struct events_options *options)
{
    LIST_EACH(type, &options->types)
    {
        if (!str_eq_nocase(*type, STR("Normal")) && !str_eq_nocase(*type, STR("Warning"))) {
            return error_local("valid --types are Normal or Warning");
        }
    }
    return NULL;
}

static bool is_wanted(const struct events_options *options, const struct value *event)
{
    bool wanted = options->types.len == 0;

    LIST_EACH(type, &options->types)
    {
        wanted = wanted || str_eq_nocase(*type, value_str_at(event, "type"));
    }
    return wanted;
}

/* The selector of events about "pod/a". */
static struct status *selector_of(struct kubectl *k, struct str about, struct str *ret)
{
    struct str type, name;
    const struct kind *kind;

    *ret = STR("");
    if (about.n == 0) {
        return NULL;
    }
    if (!str_cut(about, '/', &type, &name) || name.n == 0) {
        return error_local("--for must be in resource/name form");
    }
    TRY(discovery_find(k, type, &kind));
    *ret = arena_printf(k->arena, "involvedObject.kind=%.*s,involvedObject.apiVersion=%.*s,involvedObject.name=%.*s",
                        STR_ARG(kind->kind), STR_ARG(kind->api_version), STR_ARG(name));
    return NULL;
}

static void print_table(struct kubectl *k, const struct events_options *options, const struct value *events)
{
    struct buf lines = {0}, out = {0};
    bool all = k->selector.all_namespaces;

    if (!options->no_headers) {
        buf_printf(&lines, "%sLAST SEEN\tTYPE\tREASON\tOBJECT\tMESSAGE\n", all ? "NAMESPACE\t" : "");
    }
    VALUE_EACH_ITEM(event, events)
    {
        struct str kind = value_str_at(*event, "involvedObject.kind");

        if (all) {
            buf_printf(&lines, "%.*s\t", STR_ARG(value_str_at(*event, "metadata.namespace")));
        }
        buf_printf(&lines, "%.*s\t%.*s\t%.*s\t%.*s/%.*s\t%.*s\n", STR_ARG(describe_age(k->arena, last_seen(*event))),
                   STR_ARG(value_str_at(*event, "type")), STR_ARG(value_str_at(*event, "reason")), STR_ARG(kind),
                   STR_ARG(value_str_at(*event, "involvedObject.name")),
                   STR_ARG(str_trim(value_str_at(*event, "message"))));
    }
    tab_write(&out, buf_str(&lines), 6, 3);
    output_text(k, buf_str(&out));
    buf_done(&lines);
    buf_done(&out);
}

static void tell_none(struct kubectl *k)
{
    if (k->selector.all_namespaces) {
        fprintf(k->err, "No events found.\n");
    } else {
        fprintf(k->err, "No events found in %.*s namespace.\n", STR_ARG(kubectl_namespace(k)));
    }
}

static struct status *events_run(struct kubectl *k, void *arg)
{
    const struct events_options *options = arg;
    struct value *list, *wanted = value_array(k->arena);
    const struct kind *kind;
    struct output output;
    struct str selector;

    TRY(output_parse(k, false, &output));
    TRY(check_types(options));
    TRY(kubectl_configure(k));
    TRY(selector_of(k, options->about, &selector));
    TRY(discovery_find(k, STR("events"), &kind));
    struct str path = client_path(k->arena, kind, k->selector.all_namespaces ? STR("") : kubectl_namespace(k), STR(""),
                                  STR(""));

    TRY(api_get(k, path_with(k, path, "fieldSelector", selector), &list));
    VALUE_EACH_ITEM(event, value_find(list, STR("items")))
    {
        if (is_wanted(options, *event)) {
            value_set(k->arena, *event, STR("apiVersion"), value_string(k->arena, kind->api_version));
            value_set(k->arena, *event, STR("kind"), value_string(k->arena, kind->kind));
            value_add(k->arena, wanted, *event);
        }
    }
    if (value_count(wanted) == 0) {
        tell_none(k);
        return NULL;
    }
    qsort(wanted->array.items, value_count(wanted), sizeof(struct value *), by_time);
    if (output.format == OUTPUT_PLAIN) {
        print_table(k, options, wanted);
        return NULL;
    }
    if (output.format == OUTPUT_NAME) {
        return NULL; /* stock's list has no name */
    }
    value_set(k->arena, list, STR("items"), wanted);
    return output_object(k, &output, kind, list, true);
}

static const struct flag events_flags[] = {
    FLAG(STRING, struct events_options, about, "for", 0, "about this object only: TYPE/NAME"),
    FLAG(STRINGS, struct events_options, types, "types", 0, "Normal, Warning"),
    FLAG(BOOL, struct events_options, no_headers, "no-headers", 0, "leave out the line of column names"),
};

const struct command command_events = {
    .name = "events",
    .help = "List events",
    .usage = "[(-o|--output=)json|yaml|name|...] [--for TYPE/NAME] [--types=Normal|Warning]",
    .uses = USES_OUTPUT | USES_SELECTOR,
    .flags = events_flags,
    .flag_count = COUNT_OF(events_flags),
    .options_size = sizeof(struct events_options),
    .run = events_run,
};
