/* The terminal that kubectl runs in, or what stands in its place: input read without blocking the loop, raw mode, size. */
#ifndef KUBECTL_TERMINAL_H
#define KUBECTL_TERMINAL_H

#include "base/status.h"

#include <stdint.h>

struct terminal;

/* Before the first task_offload(), so that the signal of a new size reaches us. */
MUST_USE struct status *terminal_open(struct terminal **ret);
/* Standard input is a terminal. */
bool terminal_is_tty(const struct terminal *terminal);
/* Passes on every key as it is typed, until terminal_close(). */
void terminal_make_raw(struct terminal *terminal);
/* Parks for input; *ret_size is 0 at its end, or when terminal_interrupt() was called. */
MUST_USE struct status *terminal_read(struct terminal *terminal, char *bytes, size_t size, size_t *ret_size);
/* Ends a terminal_read() that waits, and all later ones. */
void terminal_interrupt(struct terminal *terminal);
void terminal_size(uint16_t *ret_width, uint16_t *ret_height);
/* Parks until the size changes. */
MUST_USE struct status *terminal_wait_resize(struct terminal *terminal);
/* Gives the terminal back as it was. NULL is fine. */
void terminal_close(struct terminal *terminal);

#endif
