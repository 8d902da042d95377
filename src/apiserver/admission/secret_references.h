/* Which secrets a pod's volumes, containers and image pulls name. Pure. */
#ifndef APISERVER_ADMISSION_SECRET_REFERENCES_H
#define APISERVER_ADMISSION_SECRET_REFERENCES_H

#include "api/core_v1.h"

struct secret_reference {
    struct str name;
    struct str what; /* where, in stock's words: volume with secret.secretName="a" */
    bool is_pull_secret;
};

struct secret_references {
    struct secret_reference *items;
    size_t len;
};

void secret_references(struct arena *arena, const struct core_v1_pod_spec *spec, struct secret_references *ret);

#endif
