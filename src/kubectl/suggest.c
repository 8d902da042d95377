#include "kubectl/suggest.h"

#include "base/buf.h"

#include <ctype.h>
#include <string.h>

/* cobra's: names at most this many edits away, or that begin with the word. */
enum { DISTANCE_MAX = 2, WORD_MAX = 32 };

static int edits(struct str a, struct str b)
{
    int row[WORD_MAX + 1];

    for (size_t j = 0; j <= b.n; j++) {
        row[j] = (int)j;
    }
    for (size_t i = 1; i <= a.n; i++) {
        int before = row[0];

        row[0] = (int)i;
        for (size_t j = 1; j <= b.n; j++) {
            int same = tolower((unsigned char)a.p[i - 1]) == tolower((unsigned char)b.p[j - 1]) ? 0 : 1;
            int next = MIN(MIN(row[j] + 1, row[j - 1] + 1), before + same);

            before = row[j];
            row[j] = next;
        }
    }
    return row[b.n];
}

struct str suggest(struct arena *arena, const char *const *names, struct str word)
{
    OWNED(buf_done) struct buf text = {0};

    for (; *names != NULL && word.n <= WORD_MAX; names++) {
        struct str name = str_of(*names);

        if (name.n <= WORD_MAX && (edits(word, name) <= DISTANCE_MAX || str_has_prefix(name, word))) {
            buf_printf(&text, "%s\t%s\n", text.n == 0 ? "\n\nDid you mean this?\n" : "", *names);
        }
    }
    return arena_str(arena, str_trim(buf_str(&text)).n > 0 ? str_sub(buf_str(&text), 0, text.n - 1) : STR(""));
}
