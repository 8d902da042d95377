/* Nobody grants by roles and bindings what he has not got himself, unless he may "escalate" or "bind". */
#ifndef APISERVER_AUTHZ_ESCALATION_H
#define APISERVER_AUTHZ_ESCALATION_H

#include "apiserver/admission/admission.h"

/* FORBIDDEN in stock's words; NULL also for requests that are about other things. Parks. */
MUST_USE struct status *escalation_check(const struct admission_request *admission);

#endif
