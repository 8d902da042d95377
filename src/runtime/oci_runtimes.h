/* Which OCI runtimes (runc, crun) there are, by the handler that a RuntimeClass names. */
#ifndef RUNTIME_OCI_RUNTIMES_H
#define RUNTIME_OCI_RUNTIMES_H

#include "base/arena.h"
#include "base/status.h"
#include "schema/shim.h"

/* configured: "NAME" or "NAME=PROGRAM", separated by commas; a program without a slash, or the name itself, is looked
 * for where programs of the system are. The program's path, NUL-terminated; empty for handler "", which is the runtime's
 * own way. INVALID, in containerd's words, for a handler that is not configured or whose program is missing. */
MUST_USE struct status *oci_runtime_find(struct arena *arena, struct str configured, struct str handler,
                                         struct str *ret_program);
/* The handlers that would be found. */
void oci_runtime_list(struct arena *arena, struct str configured, struct str_list *ret);
/* Has the OCI runtime forget the container when nobody did since it was made: its watcher was killed. What fails is
 * logged. Parks. */
void oci_runtime_forget(const struct shim_container_plan *plan);

#endif
