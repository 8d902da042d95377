/* Telling what went wrong, in stock's words and layout. */
#ifndef KUBECTL_REPORT_H
#define KUBECTL_REPORT_H

#include "kubectl/kubectl.h"

/* Marks in status->code of where an error comes from; without one it is our own. */
enum { REPORT_FROM_SERVER = 1 << 16, REPORT_UNREACHABLE = 1 << 17, REPORT_BARE = 1 << 18 /* without "error: " */ };

/* Printed as "error: ..."; the code is 0. */
MUST_USE struct status *error_local(const char *format, ...) PRINTF_LIKE(1, 2);
/* The same with a hint at the command's help. */
MUST_USE struct status *error_usage(const struct kubectl *k, const char *format, ...) PRINTF_LIKE(2, 3);
/* Keeps an error for the end of the run, which goes on. NULL is fine. Takes it. */
void report_error(struct kubectl *k, struct status *status);
/* Prints all that was kept, and returns the exit code. */
int report_all(struct kubectl *k);
/* "Warning: ..." on stderr, each text once. */
void report_warning(struct kubectl *k, struct str text);
bool error_is_not_found(const struct status *status);

#endif
