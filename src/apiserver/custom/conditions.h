/* What the status of a CustomResourceDefinition says, decided from all definitions there are. Pure but for the clock. */
#ifndef APISERVER_CUSTOM_CONDITIONS_H
#define APISERVER_CUSTOM_CONDITIONS_H

#include "api/apiextensions_v1.h"
#include "base/arena.h"

struct definitions {
    const struct apiextensions_v1_custom_resource_definition **items;
    size_t len;
};

/* Sets a condition; its time is that of the last change of its status. The object is a copy that may be changed. */
void condition_set(struct arena *arena, struct apiextensions_v1_custom_resource_definition *definition, const char *type,
                   const char *status, const char *reason, const char *message);
bool condition_is_true(const struct apiextensions_v1_custom_resource_definition *definition, const char *type);

/* Brings acceptedNames and the conditions NamesAccepted and Established up to date. True when something changed. */
bool conditions_decide(struct arena *arena, const struct definitions *all,
                       struct apiextensions_v1_custom_resource_definition *definition);

#endif
