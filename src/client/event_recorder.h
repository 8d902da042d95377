/* Writes Events about objects, as stock's recorder does: core/v1 Events named NAME.HEX, the same event again raises
 * its count instead of making a new one, and a flood about one object is dropped (25, then one in five minutes).
 * Recording never parks and never fails its caller: a task of the recorder's own does the writing. */
#ifndef CLIENT_EVENT_RECORDER_H
#define CLIENT_EVENT_RECORDER_H

#include "client/client.h"

struct event_recorder;

/* component: source.component and reportingComponent ("kubelet"); host may be empty. */
struct event_recorder *event_recorder_new(struct client *client, struct str component, struct str host);
/* Parks until what is recorded has been written or two seconds have passed. */
void event_recorder_free(struct event_recorder *recorder);
/* type: "Normal" or "Warning". The object is of that kind; field_path, such as spec.containers{nginx}, may be empty. */
void event_record(struct event_recorder *recorder, const struct kind *kind, const void *object, struct str field_path,
                  const char *type, const char *reason, const char *format, ...) PRINTF_LIKE(7, 8);

#endif
