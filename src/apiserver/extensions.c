#include "apiserver/server.h"

#include <stddef.h>

const struct apiserver_extension *const apiserver_extensions[] = {
    NULL,
};
