#include "kubelet/expansion.h"

#include "base/buf.h"

struct str expand(struct arena *arena, struct str text, expansion_lookup *lookup, void *arg, struct str *ret_missing)
{
    struct buf out = {0};

    for (size_t at = 0; at < text.n; at++) {
        if (text.p[at] != '$' || at + 1 == text.n) {
            buf_add_char(&out, text.p[at]);
            continue;
        }
        char next = text.p[++at];

        if (next == '$') {
            buf_add_char(&out, '$');
            continue;
        }
        size_t close = next == '(' ? str_index(str_from(text, at), ')') : SIZE_MAX;

        if (close == SIZE_MAX) {
            /* No reference: both characters stand for themselves. */
            buf_add_char(&out, '$');
            buf_add_char(&out, next);
            continue;
        }
        struct str name = str_sub(text, at + 1, at + close), value;

        if (lookup(arg, name, &value)) {
            buf_add_str(&out, value);
        } else {
            buf_printf(&out, "$(%.*s)", STR_ARG(name));
            if (ret_missing != NULL && ret_missing->p == NULL) {
                *ret_missing = arena_str(arena, name);
            }
        }
        at += close;
    }
    struct str result = arena_str(arena, buf_str(&out));

    buf_done(&out);
    return result;
}
