/* The parts of the Job controller: for job*.c only. Pure. */
#ifndef CONTROLLER_JOB_PARTS_H
#define CONTROLLER_JOB_PARTS_H

#include "api/batch_v1.h"
#include "api/core_v1.h"
#include "controller/world.h"

#define JOB_FINALIZER "batch.kubernetes.io/job-tracking"
#define JOB_INDEX "batch.kubernetes.io/job-completion-index"
#define JOB_INDEX_FAILURES "batch.kubernetes.io/job-index-failure-count"

/* A set of completion indexes, such as "0,2-4". */
struct job_indexes {
    bool *has;
    int32_t size; /* indexes are below */
};

struct job_indexes job_indexes_parse(struct arena *arena, struct str text, int32_t size);
struct str job_indexes_format(struct arena *arena, const struct job_indexes *indexes);
int32_t job_indexes_count(const struct job_indexes *indexes);
/* -1 when the pod has none. */
int32_t job_index_of(const struct core_v1_pod *pod);

struct job_pods {
    const struct core_v1_pod **items;
    size_t len;
};

/* One look at one Job. */
struct job_pass {
    const struct world *world;
    struct plan *plan;
    const struct batch_v1_job *job;
    struct batch_v1_job_status status; /* as it is to be */
    struct job_pods pods, active;
    bool is_indexed;
    struct job_indexes done;     /* of an Indexed job */
    struct job_indexes given_up; /* with a back-off limit for each index; size 0: none */
    struct str policy_message;   /* a pod failed in a way that fails the Job; empty: none did */
    int32_t succeeded, failed, terminating;
};

bool job_has_finalizer(const struct core_v1_pod *pod);
void job_plan_remove_finalizer(struct plan *plan, const struct core_v1_pod *pod);
/* Counts each finished pod once, whatever happens between two looks: its UID is written in the status before its
 * finalizer goes, and the number is raised when that is gone. */
void job_track(struct job_pass *pass);

/* What the pod failure policy says of a failed pod: "Count" (also without one), "Ignore", "FailIndex", "FailJob"; the
 * message is set when a rule matched. */
struct str job_policy_for(struct job_pass *pass, const struct core_v1_pod *pod, struct str *ret_message);
/* The number of the rule of the success policy that is met; -1: none. */
int job_policy_success(const struct job_pass *pass);
/* How often the index has failed, as its pods tell. */
int32_t job_failures_of(const struct job_pass *pass, int32_t index);
/* Gives up indexes that failed too often, or in a way that fails them. */
void job_fail_indexes(struct job_pass *pass);

/* So many more pods, for the lowest indexes that are neither done nor being worked on. */
void job_create_pods(struct job_pass *pass, int32_t count);
void job_delete_pods(struct job_pass *pass, int32_t count);

#endif
