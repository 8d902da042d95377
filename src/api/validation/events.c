/* Events of both groups: the older one lets more pass. */
#include "api/core_v1.h"
#include "api/events_v1.h"
#include "api/validation/check.h"
#include "api/validation/kinds.h"

enum { WORD_MAX = 128, MESSAGE_MAX = 1024 };

/* What both have, under one name. */
struct event_view {
    struct str namespace, about_namespace, controller, instance, action, reason, message;
    const char *about_field, *controller_field, *message_field;
    bool has_time;
};

static void check_word(struct status *to, const char *field, struct str value)
{
    if (value.n == 0) {
        check_required(to, AT(NULL, field), "%s", "");
    } else if (value.n > WORD_MAX) {
        check_invalid_str(to, AT(NULL, field), STR(""), "can have at most %d characters", WORD_MAX);
    }
}

static void check_event(struct status *to, const struct event_view *event)
{
    const struct path *about = AT(AT(NULL, event->about_field), "namespace");
    bool is_default = str_is(event->namespace, "default");

    if (!event->has_time) {
        if (event->about_namespace.n == 0 ? event->namespace.n != 0 && !is_default
                                          : !str_eq(event->about_namespace, event->namespace)) {
            check_invalid_str(to, about, event->about_namespace, "does not match event.namespace");
        }
    } else {
        if (event->about_namespace.n == 0 && !is_default && !str_is(event->namespace, "kube-system")) {
            check_invalid_str(to, about, event->about_namespace, "does not match event.namespace");
        }
        check_present(to, AT(NULL, event->controller_field), event->controller);
        check_name(to, AT(NULL, event->controller_field), event->controller, name_is_qualified);
        check_word(to, "reportingInstance", event->instance);
        check_word(to, "action", event->action);
        check_word(to, "reason", event->reason);
        if (event->message.n > MESSAGE_MAX) {
            check_invalid_str(to, AT(NULL, "message"), STR(""), "can have at most %d characters", MESSAGE_MAX);
        }
    }
    check_name(to, AT(NULL, "namespace"), event->namespace, name_is_dns1123_subdomain);
}

void validate_event(struct status *to, const void *object)
{
    const struct core_v1_event *event = object;

    check_event(to, &(const struct event_view){.namespace = event->metadata.namespace,
                                               .about_namespace = event->involved_object.namespace,
                                               .controller = event->reporting_component,
                                               .instance = event->reporting_instance,
                                               .action = event->action,
                                               .reason = event->reason,
                                               .message = event->message,
                                               .about_field = "involvedObject",
                                               .controller_field = "reportingComponent",
                                               .has_time = event->event_time.is_set});
}

void validate_event_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_event(to, object);
}

static void check_series(struct status *to, const struct events_v1_event *event)
{
    const struct path *at = AT(NULL, "series");

    if (event->series == NULL) {
        return;
    }
    if (event->series->count < 2) {
        check_invalid_str(to, AT(at, "count"), STR(""), "should be at least 2");
    }
    if (!event->series->last_observed_time.is_set) {
        check_required(to, AT(at, "lastObservedTime"), "%s", "");
    }
}

void validate_new_event(struct status *to, const void *object)
{
    const struct events_v1_event *event = object;

    check_event(to, &(const struct event_view){.namespace = event->metadata.namespace,
                                               .about_namespace = event->regarding.namespace,
                                               .controller = event->reporting_controller,
                                               .instance = event->reporting_instance,
                                               .action = event->action,
                                               .reason = event->reason,
                                               .message = event->note,
                                               .about_field = "involvedObject",
                                               .controller_field = "reportingController",
                                               .has_time = event->event_time.is_set});
    check_series(to, event);
    if (!event->event_time.is_set) {
        check_required(to, AT(NULL, "eventTime"), "%s", "");
    }
    if (!str_is(event->type, "Normal") && !str_is(event->type, "Warning")) {
        check_invalid_str(to, AT(NULL, "type"), STR(""), "has invalid value: %.*s", STR_ARG(event->type));
    }
    const struct {
        const char *field;
        bool is_set;
    } unset[] = {
        {"firstTimestamp", event->deprecated_first_timestamp.is_set},
        {"lastTimestamp", event->deprecated_last_timestamp.is_set},
        {"count", event->deprecated_count != 0},
        {"source", event->deprecated_source.component.n + event->deprecated_source.host.n != 0},
    };

    for (size_t i = 0; i < COUNT_OF(unset); i++) {
        if (unset[i].is_set) {
            check_invalid_str(to, AT(NULL, unset[i].field), STR(""), "needs to be unset");
        }
    }
}

void validate_new_event_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    check_series(to, object);
}
