/* Log lines on stderr: time, level, component, message. Written by one write() each, so lines of several processes
 * do not mix. Libraries return statuses and do not log; engines and main do. Any thread. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/attr.h"

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* The component's name in each line; it must live on. */
void log_component(const char *name);
/* Lines below the level are dropped; INFO at the start. */
void log_level(enum log_level level);
bool log_is_on(enum log_level level);
/* Whose time lines carry from now on (ns since 1970, any thread); NULL: the system's. For simulation. */
void log_clock(int64_t (*wall)(void));
void log_line(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);

#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, __VA_ARGS__)
/* Only when a person should act. */
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)

#endif
