#include "apiserver/admission/admission.h"
#include "apiserver/bootstrap/bootstrap.h"
#include "apiserver/custom/definitions.h"
#include "apiserver/discovery/discovery.h"
#include "apiserver/openapi/openapi.h"
#include "apiserver/server.h"
#include "apiserver/trace_api.h"

#include <stddef.h>

const struct apiserver_extension *const apiserver_extensions[] = {
    &admission_extension,
    &discovery_extension,
    &trace_api_extension,
    &openapi_extension,
    &bootstrap_extension,
    &definitions_extension,
    NULL,
};
