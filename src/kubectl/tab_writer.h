/* Columns of text, aligned as Go's text/tabwriter aligns them: a column is as wide as its widest cell in consecutive
 * lines; cells end with tabs, what follows a line's last tab belongs to no column. Pure. */
#ifndef KUBECTL_TAB_WRITER_H
#define KUBECTL_TAB_WRITER_H

#include "base/buf.h"

/* Appends `text` with its tabs turned into spaces: columns are at least `width_min` wide, and `padding` wider than their
 * widest cell. A text that does not end with a newline keeps its last line open. */
void tab_write(struct buf *out, struct str text, size_t width_min, size_t padding);

/* How many characters a UTF-8 text has. */
size_t text_width(struct str text);

#endif
