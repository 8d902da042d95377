/* The formats that strings of custom resources can be held to. Any thread. */
#ifndef API_CUSTOM_FORMAT_H
#define API_CUSTOM_FORMAT_H

#include "base/str.h"

#include <stdbool.h>

/* True too for formats that nobody knows. */
bool custom_format_matches(struct str format, struct str text);

#endif
