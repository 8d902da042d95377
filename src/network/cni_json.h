/* Members of CNI's JSON objects that are left out when there is nothing to say. Any thread. */
#ifndef NETWORK_CNI_JSON_H
#define NETWORK_CNI_JSON_H

#include "schema/value.h"

void cni_set_text(struct arena *arena, struct value *object, struct str key, struct str text);
void cni_set_texts(struct arena *arena, struct value *object, struct str key, struct str_list texts);
/* An object or array. */
void cni_set_filled(struct arena *arena, struct value *object, struct str key, struct value *member);

#endif
