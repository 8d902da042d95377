/* "Did you mean this?" for a word that is no command. Pure. */
#ifndef KUBECTL_SUGGEST_H
#define KUBECTL_SUGGEST_H

#include "base/arena.h"

/* The text to put after the error, beginning with a newline; empty when no name (NULL-terminated list) is near. */
struct str suggest(struct arena *arena, const char *const *names, struct str word);

#endif
