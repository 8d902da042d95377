/* Kinds of custom resources: what a version of a CustomResourceDefinition makes of struct kind and struct type, so that
 * their objects go the ways of all others.
 *
 * In memory such an object begins with its typed metadata, as every other; each further property of the root is JSON text
 * (TYPE_RAW), and a root that preserves unknown fields keeps them in a map at the end (type->rest). What the schema says
 * is applied to trees of these (custom_schema.h). Nothing changes after custom_kind_new(), so any thread may read. */
#ifndef API_CUSTOM_KIND_H
#define API_CUSTOM_KIND_H

#include "api/apiextensions_v1.h"
#include "base/arena.h"
#include "base/status.h"
#include "schema/json.h"
#include "schema/value.h"

struct custom_kind {
    struct kind kind, list;
    const struct apiextensions_v1_custom_resource_definition *definition;
    const struct apiextensions_v1_custom_resource_definition_version *version;
    const struct apiextensions_v1_json_schema_props *schema; /* of the root; never NULL */
};

/* The kind of one version. All of it lives in the arena, as `definition` (custom_definition_copy) has to. */
struct custom_kind *custom_kind_new(struct arena *arena,
                                    const struct apiextensions_v1_custom_resource_definition *definition,
                                    const struct apiextensions_v1_custom_resource_definition_version *version);

/* The object as a tree: metadata and all, without apiVersion and kind. Borrows from the object. */
struct value *custom_object_tree(struct arena *arena, const struct kind *kind, const void *object);
/* The object's property of the root (not metadata) as a tree; NULL when it is not there. */
struct value *custom_object_property(struct arena *arena, const struct kind *kind, const void *object, struct str name);
/* Sets it; NULL takes it away. Nothing happens when the kind has no such property. */
void custom_object_set(struct arena *arena, const struct kind *kind, void *object, struct str name,
                       const struct value *value);
/* What a path such as ".spec.replicas" leads to, in a tree; NULL when nowhere. */
struct value *custom_path_find(const struct value *tree, struct str path);

/* Takes away what the schema doesn't know. `problems` (NULL is fine) gets what strict decoding says of it, and of keys
 * that come twice. */
void custom_object_prune(struct arena *arena, const struct kind *kind, void *object, struct json_problems *problems);
/* Fills defaults, after taking away nulls that may not be. */
void custom_object_default(struct arena *arena, const struct kind *kind, void *object);
/* Adds what is wrong with the object to the causes, in stock's words and order. `old` (NULL at a create) is what it was:
 * what has not changed is not held against it. */
void custom_object_validate(const struct kind *kind, const void *object, const void *old, struct status *causes);
/* The same object as another version, without conversion of fields. */
void *custom_object_convert(struct arena *arena, const struct kind *from, const struct kind *to, const void *object);

/* Versions in the order of discovery: v11, v2, v1, v2beta1, v1alpha1, others by name. Negative when a comes first. */
int custom_version_cmp(struct str a, struct str b);

#endif
