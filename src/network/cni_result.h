/* The JSON that CNI plugins answer with: results of every version of the specification, and errors. */
#ifndef NETWORK_CNI_RESULT_H
#define NETWORK_CNI_RESULT_H

#include "network/cni_invoker.h"
#include "schema/value.h"

/* The specification's error codes. */
enum cni_code {
    CNI_INCOMPATIBLE_VERSION = 1,
    CNI_UNSUPPORTED_FIELD = 2,
    CNI_UNKNOWN_CONTAINER = 3,
    CNI_INVALID_ENVIRONMENT = 4,
    CNI_IO_FAILURE = 5,
    CNI_DECODING_FAILURE = 6,
    CNI_INVALID_NETWORK_CONFIG = 7,
    CNI_TRY_AGAIN_LATER = 11,
    CNI_NOT_AVAILABLE = 50,
    CNI_NOT_AVAILABLE_LIMITED = 51,
    CNI_FAILED = 999, /* what plugins use for the rest; from 100 on codes are theirs */
};

/* Reads a result into `ret` and, unless NULL, as a tree. BAD_REQUEST when it is none. */
MUST_USE struct status *cni_result_parse(struct arena *arena, struct str text, struct cni_result *ret,
                                         struct value **ret_tree);
/* The result as a tree for that version of the specification ("0.3.0" to "1.1.0"). */
struct value *cni_result_tree(struct arena *arena, const struct cni_result *result, struct str version);
/* The status of a plugin that ended with `exit_code`, by what it printed. `command` is "add", "del", ... */
MUST_USE struct status *cni_plugin_failure(struct str type, const char *command, int exit_code, struct str out,
                                           struct str err);

#endif
