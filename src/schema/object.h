/* What all persisted kinds begin with, so that their metadata can be reached without knowing the kind.
 * Every type with the flag TYPE_OBJECT may be pointed at as struct object, every TYPE_LIST as struct object_list. */
#ifndef SCHEMA_OBJECT_H
#define SCHEMA_OBJECT_H

#include "schema/meta_v1.h"

struct object {
    struct meta_v1_type_meta type_meta;
    struct meta_v1_object_meta metadata;
};

struct object_list {
    struct meta_v1_type_meta type_meta;
    struct meta_v1_list_meta metadata;
    struct any_list items; /* of the kind's item type */
};

#endif
