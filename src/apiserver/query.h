/* Query parameters of requests: options of lists, watches and writes, with stock's conversions and checks; and continue
 * tokens. Pure. */
#ifndef APISERVER_QUERY_H
#define APISERVER_QUERY_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct list_options {
    struct str label_selector, field_selector;
    struct str resource_version, resource_version_match, continue_token;
    int64_t limit;
    const int64_t *timeout_seconds;
    const bool *send_initial_events;
    bool watch, allow_bookmarks;
};

/* BAD_REQUEST or INVALID in stock's words. */
MUST_USE struct status *query_list_options(struct arena *arena, struct str query, bool is_watch,
                                           struct list_options *ret);

enum field_validation { FIELD_VALIDATION_WARN, FIELD_VALIDATION_STRICT, FIELD_VALIDATION_IGNORE };
enum write_verb { WRITE_CREATE, WRITE_UPDATE, WRITE_PATCH, WRITE_APPLY };

struct write_options {
    bool dry_run, force;
    struct str field_manager; /* empty: the user agent's */
    enum field_validation field_validation;
};

MUST_USE struct status *query_write_options(struct arena *arena, struct str query, enum write_verb verb,
                                            struct write_options *ret);

struct delete_options {
    const int64_t *grace_period_seconds;
    const bool *orphan_dependents;
    struct str propagation_policy; /* empty: none given */
    struct str uid, resource_version; /* preconditions; empty: none */
    bool has_uid, has_resource_version;
    bool dry_run;
};

/* Those of the query; a body's replace them all. */
MUST_USE struct status *query_delete_options(struct arena *arena, struct str query, struct delete_options *ret);
MUST_USE struct status *query_delete_options_check(const struct delete_options *options,
                                                   const struct str *dry_run_values, size_t dry_run_count);

/* "json" parameters like pretty: given and not "false" or "0". */
bool query_bool(struct arena *arena, struct str query, struct str name);

/* The place where a list goes on: the revision it reads at and the next key, relative to the list's prefix. */
struct str continue_encode(struct arena *arena, int64_t revision, struct str start);
MUST_USE struct status *continue_decode(struct arena *arena, struct str token, int64_t *ret_revision,
                                        struct str *ret_start);

/* A resource version in a query: empty counts as 0. INVALID in stock's words ("resourceVersion" is the field). */
MUST_USE struct status *resource_version_parse(struct str text, int64_t *ret);

#endif
