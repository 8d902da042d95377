#include "kubectl/describe.h"

#include "api/age.h"
#include "kubectl/request.h"
#include "schema/timestamp.h"

#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

enum { ANNOTATION_MAX = 140 };

void describe_line(struct description *d, int level, const char *format, ...)
{
    va_list args;

    for (int i = 0; i < level; i++) {
        buf_add_str(&d->text, STR("  "));
    }
    va_start(args, format);
    buf_vprintf(&d->text, format, args);
    va_end(args);
}

struct str describe_or_none(struct str text)
{
    return text.n > 0 ? text : STR("<none>");
}

struct str describe_value(struct arena *arena, const struct value *value)
{
    return value_is(value, VALUE_STRING)                    ? value_str(value)
           : value == NULL || value_is(value, VALUE_NULL) ? STR("<nil>")
                                                            : value_json(arena, value);
}

struct str describe_pairs(struct arena *arena, const struct value *map)
{
    struct str *keys = value_sorted_keys(arena, map), text = STR("");

    for (size_t i = 0; i < value_count(map); i++) {
        text = arena_printf(arena, "%.*s%s%.*s=%.*s", STR_ARG(text), i > 0 ? "," : "", STR_ARG(keys[i]),
                            STR_ARG(value_str(value_find(map, keys[i]))));
    }
    return describe_or_none(text);
}

void describe_map(struct description *d, const char *indent, const char *title, const struct value *map)
{
    struct str *keys = value_sorted_keys(d->k->arena, map);

    buf_printf(&d->text, "%s%s:\t", indent, title);
    if (value_count(map) == 0) {
        buf_add_str(&d->text, STR("<none>\n"));
    }
    for (size_t i = 0; i < value_count(map); i++) {
        struct str value = describe_value(d->k->arena, value_find(map, keys[i]));

        buf_printf(&d->text, "%s%s%.*s=%.*s\n", i > 0 ? indent : "", i > 0 ? "\t" : "", STR_ARG(keys[i]), STR_ARG(value));
    }
}

static void annotation_lines(struct description *d, const char *indent, struct str value)
{
    struct str line;

    while (str_next(&value, '\n', &line)) {
        bool is_long = line.n > ANNOTATION_MAX - 2;

        buf_printf(&d->text, "%s\t  %.*s%s\n", indent, STR_ARG(str_sub(line, 0, ANNOTATION_MAX - 2)),
                   is_long ? "..." : "");
    }
}

void describe_annotations(struct description *d, const char *indent, const char *title, const struct value *map)
{
    struct str *keys = value_sorted_keys(d->k->arena, map);
    bool is_first = true;

    buf_printf(&d->text, "%s%s:\t", indent, title);
    for (size_t i = 0; i < value_count(map); i++) {
        struct str value = value_str(value_find(map, keys[i]));

        if (str_is(keys[i], "kubectl.kubernetes.io/last-applied-configuration")) {
            continue;
        }
        buf_printf(&d->text, "%s%s", is_first ? "" : indent, is_first ? "" : "\t");
        is_first = false;
        value = str_has_suffix(value, STR("\n")) ? str_sub(value, 0, value.n - 1) : value;
        if (keys[i].n + value.n + 2 > ANNOTATION_MAX || str_index(value, '\n') != SIZE_MAX) {
            buf_printf(&d->text, "%.*s:\n", STR_ARG(keys[i]));
            annotation_lines(d, indent, value);
        } else {
            buf_printf(&d->text, "%.*s: %.*s\n", STR_ARG(keys[i]), STR_ARG(value));
        }
    }
    if (is_first) {
        buf_add_str(&d->text, STR("<none>\n"));
    }
}

static int by_key(const void *left, const void *right)
{
    return str_cmp(value_str_at(*(struct value *const *)left, "key"), value_str_at(*(struct value *const *)right, "key"));
}

void describe_tolerations(struct description *d, const char *indent, const struct value *tolerations)
{
    size_t count = value_count(tolerations);
    struct value **sorted = ARENA_ARRAY(d->k->arena, struct value *, count);

    for (size_t i = 0; i < count; i++) {
        sorted[i] = value_item(tolerations, i);
    }
    if (count > 0) {
        qsort(sorted, count, sizeof(*sorted), by_key);
    }
    buf_printf(&d->text, "%sTolerations:\t%s", indent, count == 0 ? "<none>\n" : "");
    for (size_t i = 0; i < count; i++) {
        struct str key = value_str_at(sorted[i], "key"), value = value_str_at(sorted[i], "value");
        struct str effect = value_str_at(sorted[i], "effect");
        const struct value *seconds = value_find(sorted[i], STR("tolerationSeconds"));
        bool exists = str_is(value_str_at(sorted[i], "operator"), "Exists");

        buf_printf(&d->text, "%s%s%.*s%s%.*s%s%.*s", i > 0 ? indent : "", i > 0 ? "\t" : "", STR_ARG(key),
                   value.n > 0 ? "=" : "", STR_ARG(value), effect.n > 0 ? ":" : "", STR_ARG(effect));
        if (exists) {
            buf_printf(&d->text, "%sop=Exists", key.n + value.n + effect.n > 0 ? " " : "");
        }
        if (value_is(seconds, VALUE_INT)) {
            buf_printf(&d->text, " for %llds", (long long)seconds->integer);
        }
        buf_add_char(&d->text, '\n');
    }
}

void describe_controller(struct description *d, const struct value *object)
{
    VALUE_EACH_ITEM(owner, value_find_path(object, "metadata.ownerReferences"))
    {
        const struct value *controller = value_find(*owner, STR("controller"));

        if (value_is(controller, VALUE_BOOL) && controller->boolean) {
            buf_printf(&d->text, "Controlled By:\t%.*s/%.*s\n", STR_ARG(value_str_at(*owner, "kind")),
                       STR_ARG(value_str_at(*owner, "name")));
        }
    }
}

struct str describe_time(struct arena *arena, const struct value *time)
{
    struct timestamp when;
    struct tm parts;
    char text[64];

    if (!timestamp_parse(value_str(time), &when) && !timestamp_parse_micro(value_str(time), &when)) {
        return STR("<unset>");
    }
    time_t seconds = when.seconds;

    gmtime_r(&seconds, &parts);
    strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S +0000", &parts);
    return arena_str(arena, str_of(text));
}

struct str describe_age(struct arena *arena, const struct value *time)
{
    struct timestamp when = {0};

    if (!timestamp_parse(value_str(time), &when)) {
        (void)timestamp_parse_micro(value_str(time), &when);
    }
    return human_age(arena, when, timestamp_now());
}

/* "2m", or "10s (x3 over 2m)" for an event that came again. */
static struct str event_age(struct arena *arena, const struct value *event)
{
    const struct value *count = value_find(event, STR("count")), *first = value_find(event, STR("firstTimestamp"));
    const struct value *last = value_find(event, STR("lastTimestamp"));

    if (value_find_path(event, "series.count") != NULL) {
        count = value_find_path(event, "series.count");
        last = value_find_path(event, "series.lastObservedTime");
    }
    if (value_str(first).n == 0) {
        first = value_find(event, STR("eventTime"));
    }
    if (value_is(count, VALUE_INT) && count->integer > 1) {
        return arena_printf(arena, "%.*s (x%lld over %.*s)", STR_ARG(describe_age(arena, last)),
                            (long long)count->integer, STR_ARG(describe_age(arena, first)));
    }
    return describe_age(arena, first);
}

static struct str event_source(struct arena *arena, const struct value *event)
{
    struct str component = value_str_at(event, "source.component"), host = value_str_at(event, "source.host");

    if (component.n == 0) {
        component = value_str_at(event, "reportingComponent");
    }
    return host.n > 0 ? arena_printf(arena, "%.*s, %.*s", STR_ARG(component), STR_ARG(host)) : component;
}

static struct str last_seen(const struct value *event)
{
    struct str last = value_str_at(event, "lastTimestamp");

    return last.n > 0 ? last : value_str_at(event, "eventTime");
}

static int by_last_seen(const void *left, const void *right)
{
    return str_cmp(last_seen(*(struct value *const *)left), last_seen(*(struct value *const *)right));
}

static struct status *events_of(struct kubectl *k, const struct value *object, struct str namespace,
                                struct value **ret_events)
{
    struct buf selector = {0};
    struct str uid = value_str_at(object, "metadata.uid"), path;

    buf_printf(&selector, "involvedObject.name=%.*s,involvedObject.kind=%.*s", STR_ARG(value_str_at(object, "metadata.name")),
               STR_ARG(value_str_at(object, "kind")));
    if (namespace.n > 0) {
        buf_printf(&selector, ",involvedObject.namespace=%.*s", STR_ARG(namespace));
    }
    /* Of a node, its name is the UID that the kubelet's events carry. */
    if (uid.n > 0 && namespace.n > 0) {
        buf_printf(&selector, ",involvedObject.uid=%.*s", STR_ARG(uid));
    }
    path = namespace.n > 0 ? arena_printf(k->arena, "/api/v1/namespaces/%.*s/events", STR_ARG(namespace))
                           : STR("/api/v1/events");
    path = path_with(k, path, "fieldSelector", arena_str(k->arena, buf_str(&selector)));
    buf_done(&selector);
    struct value *list;

    TRY(api_get(k, path_with(k, path, "limit", STR("500")), &list));
    *ret_events = value_find(list, STR("items"));
    return NULL;
}

struct status *describe_events(struct description *d, const struct value *object, struct str namespace)
{
    struct value *events;
    struct status *status = events_of(d->k, object, namespace, &events);

    if (status != NULL) {
        status_free(status); /* who may see the object may not be one who sees events */
        return NULL;
    }
    if (value_count(events) == 0) {
        buf_add_str(&d->text, STR("Events:\t<none>\n"));
        return NULL;
    }
    qsort(events->array.items, value_count(events), sizeof(struct value *), by_last_seen);
    describe_line(d, 0, "Events:\n");
    describe_line(d, 1, "Type\tReason\tAge\tFrom\tMessage\n");
    describe_line(d, 1, "----\t------\t----\t----\t-------\n");
    VALUE_EACH_ITEM(event, events)
    {
        describe_line(d, 1, "%.*s\t%.*s\t%.*s\t%.*s\t%.*s\n", STR_ARG(value_str_at(*event, "type")),
                      STR_ARG(value_str_at(*event, "reason")), STR_ARG(event_age(d->k->arena, *event)),
                      STR_ARG(event_source(d->k->arena, *event)), STR_ARG(str_trim(value_str_at(*event, "message"))));
    }
    return NULL;
}
