#include "apiserver/admission/limit_rules.h"

#include "api/pod_amounts.h"
#include "apiserver/user.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

/* Quantities up to here are compared by thousandths. */
#define MILLI_MAX ((INT64_C(1) << 53) - 1) / 1000

/* Adds to the amounts what they lack of the defaults; the names of those added, "cpu, memory". */
static struct str fill_amounts(struct arena *arena, struct quantity_map *amounts, const struct quantity_map *defaults)
{
    struct str_list added = {0};

    LIST_EACH(entry, defaults) {
        if (quantity_map_get(amounts, entry->key) == NULL) {
            quantity_map_set(arena, amounts, entry->key, entry->value);
            *LIST_ADD(arena, &added) = entry->key;
        }
    }
    return str_list_join(arena, &added, ", ");
}

static void fill_container(struct arena *arena, const struct core_v1_limit_range_item *item,
                           struct core_v1_container *container, const char *sort, struct str_list *notes)
{
    struct str requests = fill_amounts(arena, &container->resources.requests, &item->default_request);
    struct str limits = fill_amounts(arena, &container->resources.limits, &item->default_);

    if (requests.n != 0) {
        *LIST_ADD(arena, notes) = arena_printf(arena, "%.*s request for %s %.*s", STR_ARG(requests), sort,
                                               STR_ARG(container->name));
    }
    if (limits.n != 0) {
        *LIST_ADD(arena, notes) =
            arena_printf(arena, "%.*s limit for %s %.*s", STR_ARG(limits), sort, STR_ARG(container->name));
    }
}

void limit_range_fill(struct arena *arena, const struct core_v1_limit_range *range, struct core_v1_pod *pod)
{
    struct str_list notes = {0};

    LIST_EACH(item, &range->spec.limits) {
        if (!str_is(item->type, "Container")) {
            continue;
        }
        LIST_EACH(container, &pod->spec.containers) {
            fill_container(arena, item, container, "container", &notes);
        }
        LIST_EACH(container, &pod->spec.init_containers) {
            fill_container(arena, item, container, "init container", &notes);
        }
    }
    if (notes.len != 0) {
        str_map_set(arena, &pod->metadata.annotations, STR("kubernetes.io/limit-ranger"),
                    arena_printf(arena, "LimitRanger plugin set: %.*s", STR_ARG(str_list_join(arena, &notes, "; "))));
    }
}

/* One bound on one sort of amount. */
struct bound {
    struct arena *arena;
    struct str type, name; /* "Container", "cpu" */
    struct quantity value;
    const struct quantity *request, *limit; /* NULL: none */
    struct str_list *errors;
};

#define ADD_ERROR(bound, format, ...) \
    (*LIST_ADD((bound)->arena, (bound)->errors) = arena_printf((bound)->arena, format, __VA_ARGS__))

static void check_min(const struct bound *b)
{
    if (b->request == NULL) {
        ADD_ERROR(b, "minimum %.*s usage per %.*s is %.*s.  No request is specified", STR_ARG(b->name),
                  STR_ARG(b->type), STR_ARG(b->value.text));
        return;
    }
    if (quantity_cmp(*b->request, b->value) < 0) {
        ADD_ERROR(b, "minimum %.*s usage per %.*s is %.*s, but request is %.*s", STR_ARG(b->name), STR_ARG(b->type),
                  STR_ARG(b->value.text), STR_ARG(b->request->text));
    } else if (b->limit != NULL && quantity_cmp(*b->limit, b->value) < 0) {
        ADD_ERROR(b, "minimum %.*s usage per %.*s is %.*s, but limit is %.*s", STR_ARG(b->name), STR_ARG(b->type),
                  STR_ARG(b->value.text), STR_ARG(b->limit->text));
    }
}

static void check_max(const struct bound *b)
{
    if (b->limit == NULL) {
        ADD_ERROR(b, "maximum %.*s usage per %.*s is %.*s.  No limit is specified", STR_ARG(b->name), STR_ARG(b->type),
                  STR_ARG(b->value.text));
        return;
    }
    if (quantity_cmp(*b->limit, b->value) > 0) {
        ADD_ERROR(b, "maximum %.*s usage per %.*s is %.*s, but limit is %.*s", STR_ARG(b->name), STR_ARG(b->type),
                  STR_ARG(b->value.text), STR_ARG(b->limit->text));
    } else if (b->request != NULL && quantity_cmp(*b->request, b->value) > 0) {
        ADD_ERROR(b, "maximum %.*s usage per %.*s is %.*s, but request is %.*s", STR_ARG(b->name), STR_ARG(b->type),
                  STR_ARG(b->value.text), STR_ARG(b->request->text));
    }
}

/* Claims have requests alone. */
static void check_max_request(const struct bound *b)
{
    if (b->request == NULL) {
        ADD_ERROR(b, "maximum %.*s usage per %.*s is %.*s.  No request is specified", STR_ARG(b->name),
                  STR_ARG(b->type), STR_ARG(b->value.text));
    } else if (quantity_cmp(*b->request, b->value) > 0) {
        ADD_ERROR(b, "maximum %.*s usage per %.*s is %.*s, but request is %.*s", STR_ARG(b->name), STR_ARG(b->type),
                  STR_ARG(b->value.text), STR_ARG(b->request->text));
    }
}

static void check_ratio(const struct bound *b)
{
    bool is_small = quantity_value(b->value) <= MILLI_MAX;

    if (b->request == NULL || quantity_is_zero(*b->request)) {
        ADD_ERROR(b, "%.*s max limit to request ratio per %.*s is %.*s, but no request is specified or request is 0",
                  STR_ARG(b->name), STR_ARG(b->type), STR_ARG(b->value.text));
        return;
    }
    if (b->limit == NULL || quantity_is_zero(*b->limit)) {
        ADD_ERROR(b, "%.*s max limit to request ratio per %.*s is %.*s, but no limit is specified or limit is 0",
                  STR_ARG(b->name), STR_ARG(b->type), STR_ARG(b->value.text));
        return;
    }
    double ratio = quantity_double(*b->limit) / quantity_double(*b->request);
    double most = is_small ? (double)quantity_milli(b->value) / 1000 : (double)quantity_value(b->value);

    if (ratio > most) {
        ADD_ERROR(b, "%.*s max limit to request ratio per %.*s is %.*s, but provided ratio is %f", STR_ARG(b->name),
                  STR_ARG(b->type), STR_ARG(b->value.text), ratio);
    }
}

/* One check for each entry of the bounds. */
static void check_each(struct arena *arena, struct str type, const struct quantity_map *bounds,
                       const struct quantity_map *requests, const struct quantity_map *limits,
                       void (*check)(const struct bound *bound), struct str_list *errors)
{
    LIST_EACH(entry, bounds) {
        struct bound bound = {.arena = arena,
                              .type = type,
                              .name = entry->key,
                              .value = entry->value,
                              .request = quantity_map_get(requests, entry->key),
                              .limit = quantity_map_get(limits, entry->key),
                              .errors = errors};

        check(&bound);
    }
}

static void check_all(struct arena *arena, const struct core_v1_limit_range_item *item,
                      const struct quantity_map *requests, const struct quantity_map *limits, struct str_list *errors)
{
    check_each(arena, item->type, &item->min, requests, limits, check_min, errors);
    check_each(arena, item->type, &item->max, requests, limits, check_max, errors);
    check_each(arena, item->type, &item->max_limit_request_ratio, requests, limits, check_ratio, errors);
}

/* As Go's error aggregates read: each message once, several in brackets. */
static struct str joined(struct arena *arena, const struct str_list *errors)
{
    struct str_list once = {0};

    LIST_EACH(error, errors) {
        if (!str_list_has(&once, *error)) {
            *LIST_ADD(arena, &once) = *error;
        }
    }
    return once.len <= 1 ? (once.len == 0 ? STR("") : once.items[0])
                         : arena_printf(arena, "[%.*s]", STR_ARG(str_list_join(arena, &once, ", ")));
}

struct str limit_range_check_pod(struct arena *arena, const struct core_v1_limit_range *range,
                                 const struct core_v1_pod *pod)
{
    struct str_list errors = {0};

    LIST_EACH(item, &range->spec.limits) {
        if (str_is(item->type, "Container")) {
            LIST_EACH(container, &pod->spec.containers) {
                check_all(arena, item, &container->resources.requests, &container->resources.limits, &errors);
            }
            LIST_EACH(container, &pod->spec.init_containers) {
                check_all(arena, item, &container->resources.requests, &container->resources.limits, &errors);
            }
        } else if (str_is(item->type, "Pod")) {
            struct quantity_map requests = pod_requests(arena, &pod->spec), limits = pod_limits(arena, &pod->spec);

            check_all(arena, item, &requests, &limits, &errors);
        }
    }
    return joined(arena, &errors);
}

struct str limit_range_check_claim(struct arena *arena, const struct core_v1_limit_range *range,
                                   const struct core_v1_persistent_volume_claim *claim)
{
    static const struct quantity_map none = {0};
    struct str_list errors = {0};

    LIST_EACH(item, &range->spec.limits) {
        if (str_is(item->type, "PersistentVolumeClaim")) {
            const struct quantity_map *requests = &claim->spec.resources.requests;

            check_each(arena, item->type, &item->min, requests, &none, check_min, &errors);
            check_each(arena, item->type, &item->max, requests, &none, check_max_request, &errors);
        }
    }
    return joined(arena, &errors);
}
