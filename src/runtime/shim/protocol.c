#include "runtime/shim/protocol.h"

static const struct wire_field request_fields[] = {
    WIRE_FIELD(shim_request, 1, WIRE_U64, serial), WIRE_FIELD(shim_request, 2, WIRE_U64, verb),
    WIRE_FIELD(shim_request, 3, WIRE_TEXT, id),    WIRE_FIELD(shim_request, 4, WIRE_TEXT, exec),
    WIRE_FIELD(shim_request, 5, WIRE_U64, value),  WIRE_FIELD(shim_request, 6, WIRE_U64, rows),
    WIRE_FIELD(shim_request, 7, WIRE_U64, columns),
};
const struct wire_type shim_request_type = WIRE_TYPE(shim_request, request_fields);

static const struct wire_field process_fields[] = {
    WIRE_FIELD(shim_process, 1, WIRE_TEXT, id),           WIRE_FIELD(shim_process, 2, WIRE_TEXT, exec),
    WIRE_FIELD(shim_process, 3, WIRE_U64, state),         WIRE_FIELD(shim_process, 4, WIRE_U64, pid),
    WIRE_FIELD(shim_process, 5, WIRE_U64, uid),           WIRE_FIELD(shim_process, 6, WIRE_U64, gid),
    WIRE_FIELD(shim_process, 7, WIRE_U64S, groups),       WIRE_FIELD(shim_process, 8, WIRE_U64, started_at),
    WIRE_FIELD(shim_process, 9, WIRE_U64, finished_at),   WIRE_FIELD(shim_process, 10, WIRE_U64, exit_code),
    WIRE_FIELD(shim_process, 11, WIRE_U64, signal),       WIRE_FIELD(shim_process, 12, WIRE_U64, is_oom_killed),
};
const struct wire_type shim_process_type = WIRE_TYPE(shim_process, process_fields);

static const struct wire_field reply_fields[] = {
    WIRE_FIELD(shim_reply, 1, WIRE_U64, serial),   WIRE_FIELD(shim_reply, 2, WIRE_U64, event),
    WIRE_FIELD(shim_reply, 3, WIRE_U64, error),    WIRE_FIELD(shim_reply, 4, WIRE_TEXT, stage),
    WIRE_FIELD(shim_reply, 5, WIRE_TEXT, message), WIRE_FIELD_OF(shim_reply, 6, processes, shim_process_type),
};
const struct wire_type shim_reply_type = WIRE_TYPE(shim_reply, reply_fields);
