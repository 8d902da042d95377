/* A snapshot made from objects written as JSON (quotes may be written as '), and decisions on it. */
#ifndef TESTS_SCHEDULER_BED_H
#define TESTS_SCHEDULER_BED_H

#include "scheduler/cycle.h"

struct bed {
    struct arena *arena;
    struct snapshot *snapshot;
    int next_uid;
    struct core_v1_pod *last; /* that a decision was asked for */
};

void bed_init(struct bed *bed);
void bed_done(struct bed *bed);
/* A node with 4 CPUs, 8 GiB and 110 pods, on which the JSON is laid. */
void bed_node(struct bed *bed, const char *json);
/* A pod of namespace default with a UID of its own, on which the JSON is laid. */
struct cached *bed_cached_pod(struct bed *bed, const char *json);
void bed_pod(struct bed *bed, const char *json); /* on its spec.nodeName */
void bed_namespace(struct bed *bed, const char *json);
struct decision bed_decide(struct bed *bed, const char *json);
/* The name of the node chosen, or the message. */
struct str bed_answer(struct bed *bed, const char *json);

#endif
