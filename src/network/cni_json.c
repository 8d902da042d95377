#include "network/cni_json.h"

void cni_set_text(struct arena *arena, struct value *object, struct str key, struct str text)
{
    if (text.n > 0) {
        value_set(arena, object, key, value_string(arena, text));
    }
}

void cni_set_texts(struct arena *arena, struct value *object, struct str key, struct str_list texts)
{
    struct value *array = value_array(arena);

    LIST_EACH(text, &texts) {
        value_add(arena, array, value_string(arena, *text));
    }
    cni_set_filled(arena, object, key, array);
}

void cni_set_filled(struct arena *arena, struct value *object, struct str key, struct value *member)
{
    if (value_count(member) > 0) {
        value_set(arena, object, key, member);
    }
}
