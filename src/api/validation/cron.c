#include "api/validation/cron.h"

#include "api/validation/kinds.h"
#include "base/buf.h"
#include "base/file.h"

enum { CRON_FIELDS = 5, CRON_NAME_MAX = 52 };

struct cron_field {
    int64_t min, max;
    const char *const *names; /* of min, min + 1, ... */
    size_t name_count;
};

static const char *const months[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                     "jul", "aug", "sep", "oct", "nov", "dec"};
static const char *const days[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
static const struct cron_field cron_fields[CRON_FIELDS] = {
    {0, 59, NULL, 0},
    {0, 23, NULL, 0},
    {1, 31, NULL, 0},
    {1, 12, months, COUNT_OF(months)},
    {0, 6, days, COUNT_OF(days)},
};

/* A number or a name; the problem when it is neither. */
static struct str read_number(struct arena *arena, struct str text, const struct cron_field *field, int64_t *ret)
{
    for (size_t i = 0; i < field->name_count; i++) {
        if (str_eq_nocase(text, str_of(field->names[i]))) {
            *ret = field->min + (int64_t)i;
            return (struct str){0};
        }
    }
    if (!str_to_i64(text, ret)) {
        return arena_printf(arena, "failed to parse int from %.*s: strconv.Atoi: parsing \"%.*s\": invalid syntax",
                            STR_ARG(text), STR_ARG(text));
    }
    if (*ret < 0) {
        return arena_printf(arena, "negative number (%lld) not allowed: %.*s", (long long)*ret, STR_ARG(text));
    }
    return (struct str){0};
}

static size_t count_of(struct str text, char c)
{
    size_t count = 0;

    for (size_t i = 0; i < text.n; i++) {
        count += text.p[i] == c;
    }
    return count;
}

/* "*", "3", "1-5", each perhaps with "/2". */
static struct str range_problem(struct arena *arena, struct str text, const struct cron_field *field)
{
    static const struct cron_field plain = {0, 0, NULL, 0};
    struct str range, step_text, low, high, problem;
    bool has_step = str_cut(text, '/', &range, &step_text), is_range = str_cut(range, '-', &low, &high);
    int64_t start = field->min, end = field->max, step = 1;

    if (!str_is(low, "*") && !str_is(low, "?")) {
        problem = read_number(arena, low, field, &start);
        if (problem.n != 0) {
            return problem;
        }
        end = start;
        if (count_of(range, '-') > 1) {
            return arena_printf(arena, "too many hyphens: %.*s", STR_ARG(text));
        }
        if (is_range && (problem = read_number(arena, high, field, &end)).n != 0) {
            return problem;
        }
    }
    if (count_of(text, '/') > 1) {
        return arena_printf(arena, "too many slashes: %.*s", STR_ARG(text));
    }
    if (has_step) {
        problem = read_number(arena, step_text, &plain, &step);
        if (problem.n != 0) {
            return problem;
        }
        end = is_range ? end : field->max;
    }
    if (start < field->min) {
        return arena_printf(arena, "beginning of range (%lld) below minimum (%lld): %.*s", (long long)start,
                            (long long)field->min, STR_ARG(text));
    }
    if (end > field->max) {
        return arena_printf(arena, "end of range (%lld) above maximum (%lld): %.*s", (long long)end,
                            (long long)field->max, STR_ARG(text));
    }
    if (start > end) {
        return arena_printf(arena, "beginning of range (%lld) beyond end of range (%lld): %.*s", (long long)start,
                            (long long)end, STR_ARG(text));
    }
    return step == 0 ? arena_printf(arena, "step of range should be a positive number: %.*s", STR_ARG(text))
                     : (struct str){0};
}

static struct str descriptor_problem(struct arena *arena, struct str text)
{
    static const char *const known[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                        "@daily",  "@midnight", "@hourly",  NULL};

    if (is_one_of(text, known) || str_has_prefix(text, STR("@every "))) {
        return (struct str){0};
    }
    return arena_printf(arena, "unrecognized descriptor: %.*s", STR_ARG(text));
}

struct str cron_problem(struct arena *arena, struct str schedule)
{
    struct str fields[CRON_FIELDS];
    OWNED(buf_done) struct buf list = {0};
    size_t count = 0;

    if (str_has_prefix(schedule, STR("@"))) {
        return descriptor_problem(arena, schedule);
    }
    for (struct str rest = schedule, word; str_next(&rest, ' ', &word);) {
        if (word.n == 0) {
            continue;
        }
        if (count < CRON_FIELDS) {
            fields[count] = word;
        }
        buf_printf(&list, "%s%.*s", count == 0 ? "" : " ", STR_ARG(word));
        count++;
    }
    if (count != CRON_FIELDS) {
        return arena_printf(arena, "expected exactly %d fields, found %zu: [%.*s]", CRON_FIELDS, count,
                            STR_ARG(buf_str(&list)));
    }
    for (size_t i = 0; i < CRON_FIELDS; i++) {
        for (struct str rest = fields[i], part; str_next(&rest, ',', &part);) {
            struct str problem = range_problem(arena, part, &cron_fields[i]);

            if (problem.n != 0) {
                return problem;
            }
        }
    }
    return (struct str){0};
}

static bool zone_is_known(struct arena *arena, struct str zone)
{
    if (str_is(zone, "UTC") || !file_exists("/usr/share/zoneinfo/UTC")) {
        return true; /* without the database nobody can tell */
    }
    return !str_has_prefix(zone, STR("/")) && !str_contains(zone, STR("..")) &&
           file_exists(arena_printf(arena, "/usr/share/zoneinfo/%.*s", STR_ARG(zone)).p);
}

static void check_zone(struct status *to, const struct path *at, struct str zone)
{
    if (zone.n == 0) {
        check_invalid_str(to, at, zone, "timeZone must be nil or non-empty string");
    } else if (str_eq_nocase(zone, STR("Local"))) {
        check_invalid_str(to, at, zone,
                          "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
    } else if (!zone_is_known(to->arena, zone)) {
        check_invalid_str(to, at, zone, "unknown time zone %.*s", STR_ARG(zone));
    }
}

static void check_schedule(struct status *to, const struct path *at, struct str schedule)
{
    if (!check_present(to, at, schedule)) {
        return;
    }
    if (str_contains(schedule, STR("TZ"))) {
        check_invalid_str(to, at, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
        return;
    }
    struct str problem = cron_problem(to->arena, schedule);

    if (problem.n != 0) {
        check_invalid_str(to, at, schedule, "%.*s", STR_ARG(problem));
    }
}

void validate_cron_job(struct status *to, const void *object)
{
    static const char *const policies[] = {"Allow", "Forbid", "Replace", NULL};
    const struct batch_v1_cron_job *cron_job = object;
    const struct batch_v1_cron_job_spec *spec = &cron_job->spec;
    const struct path *at = AT(NULL, "spec");

    if (cron_job->metadata.name.n > CRON_NAME_MAX) {
        check_invalid_str(to, AT(AT(NULL, "metadata"), "name"), cron_job->metadata.name,
                          "must be no more than %d characters", CRON_NAME_MAX);
    }
    check_schedule(to, AT(at, "schedule"), spec->schedule);
    if (spec->starting_deadline_seconds != NULL) {
        check_non_negative(to, AT(at, "startingDeadlineSeconds"), *spec->starting_deadline_seconds);
    }
    if (spec->time_zone != NULL) {
        check_zone(to, AT(at, "timeZone"), *spec->time_zone);
    }
    if (check_present(to, AT(at, "concurrencyPolicy"), spec->concurrency_policy)) {
        check_one_of(to, AT(at, "concurrencyPolicy"), spec->concurrency_policy, policies);
    }
    check_job_template(to, AT(AT(at, "jobTemplate"), "spec"), &spec->job_template.spec);
    if (spec->successful_jobs_history_limit != NULL) {
        check_non_negative(to, AT(at, "successfulJobsHistoryLimit"), *spec->successful_jobs_history_limit);
    }
    if (spec->failed_jobs_history_limit != NULL) {
        check_non_negative(to, AT(at, "failedJobsHistoryLimit"), *spec->failed_jobs_history_limit);
    }
}

void validate_cron_job_update(struct status *to, const void *object, const void *old)
{
    (void)old;
    validate_cron_job(to, object);
}
