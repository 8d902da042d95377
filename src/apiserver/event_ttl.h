/* Events are kept for --event-ttl after they were last written. */
#ifndef APISERVER_EVENT_TTL_H
#define APISERVER_EVENT_TTL_H

#include "api/core_v1.h"

struct apiserver;

/* When the event was last heard of (ns since 1970). Pure. */
int64_t event_last_seen(const struct core_v1_event *event);
/* Removes events as they get too old, until the task is cancelled. Sleeps till the next one does. */
void event_ttl_run(void *server);

#endif
