/* What CronJobs are made of. For src/api/validation* only. */
#ifndef API_VALIDATION_CRON_H
#define API_VALIDATION_CRON_H

#include "api/batch_v1.h"
#include "api/validation/check.h"

/* The spec of the Jobs a CronJob makes (job.c). */
void check_job_template(struct status *to, const struct path *at, const struct batch_v1_job_spec *spec);
/* What is wrong with "0 *\/5 * * *" or "@daily", in stock's words; empty when nothing is. */
struct str cron_problem(struct arena *arena, struct str schedule);

#endif
