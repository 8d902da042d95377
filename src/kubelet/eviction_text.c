#include "kubelet/eviction_text.h"

#include "schema/quantity.h"

/* "10%" or a quantity. */
static struct status *parse_amount(struct arena *arena, struct str text, int64_t *ret_value, double *ret_percent)
{
    struct quantity amount;
    int64_t percent;

    *ret_value = 0;
    *ret_percent = 0;
    if (str_has_suffix(text, STR("%"))) {
        struct str whole, fraction;
        int64_t tenths = 0;

        str_cut(str_sub(text, 0, text.n - 1), '.', &whole, &fraction);
        if (!str_to_i64(whole, &percent) || percent < 0 || percent > 100 ||
            (fraction.n > 0 && !str_to_i64(str_sub(fraction, 0, 1), &tenths))) {
            return status_new(STATUS_BAD_REQUEST,
                              "eviction percentage threshold %.*s must be positive and at most 100%%", STR_ARG(text));
        }
        *ret_percent = ((double)percent + (double)tenths / 10) / 100;
        return NULL;
    }
    TRY(quantity_parse(arena, text, &amount));
    *ret_value = quantity_value(amount);
    return *ret_value < 0 ? status_new(STATUS_BAD_REQUEST, "eviction threshold %.*s must be positive", STR_ARG(text))
                          : NULL;
}

static struct status *parse_list(struct arena *arena, const struct flag_strings *texts, struct eviction_thresholds *ret)
{
    LIST_EACH (text, texts) {
        struct eviction_threshold threshold = {0};
        struct str name, amount;

        if (text->n == 0) {
            continue;
        }
        if (!str_cut(*text, '<', &name, &amount)) {
            return status_new(STATUS_BAD_REQUEST,
                              "invalid eviction threshold syntax %.*s, expected <signal><operator><value>",
                              STR_ARG(*text));
        }
        if (!eviction_signal_parse(name, &threshold.signal)) {
            return status_new(STATUS_BAD_REQUEST, "unsupported eviction signal %.*s", STR_ARG(name));
        }
        TRY(parse_amount(arena, amount, &threshold.value, &threshold.percent));
        *LIST_ADD(arena, ret) = threshold;
    }
    return NULL;
}

/* The value given to a signal in "signal=value"; false when there is none. */
static bool find_text(const struct flag_strings *texts, enum eviction_signal signal, struct str *ret)
{
    LIST_EACH (text, texts) {
        struct str name, value;

        if (str_cut(*text, '=', &name, &value) && str_is(name, eviction_signal_name(signal))) {
            *ret = value;
            return true;
        }
    }
    return false;
}

struct status *eviction_thresholds_parse(struct arena *arena, const struct eviction_texts *texts,
                                         struct eviction_thresholds *ret)
{
    struct eviction_thresholds thresholds = {0};

    if (texts->hard->len == 0) {
        eviction_default_thresholds(arena, &thresholds);
    }
    TRY(parse_list(arena, texts->hard, &thresholds));
    size_t hard_count = thresholds.len;

    TRY(parse_list(arena, texts->soft, &thresholds));
    for (size_t i = 0; i < thresholds.len; i++) {
        struct eviction_threshold *threshold = &thresholds.items[i];
        struct str text;
        double percent;

        if (i >= hard_count && (!find_text(texts->soft_grace, threshold->signal, &text) ||
                                !duration_parse(text, &threshold->grace_period) || threshold->grace_period <= 0)) {
            return status_new(STATUS_BAD_REQUEST, "grace period must be specified for the soft eviction threshold %s",
                              eviction_signal_name(threshold->signal));
        }
        if (find_text(texts->minimum_reclaim, threshold->signal, &text)) {
            TRY(parse_amount(arena, text, &threshold->minimum_reclaim, &percent));
        }
    }
    *ret = thresholds;
    return NULL;
}
