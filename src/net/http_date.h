/* The time as HTTP writes it: "Sun, 06 Nov 1994 08:49:37 GMT". */
#ifndef NET_HTTP_DATE_H
#define NET_HTTP_DATE_H

#include "base/str.h"

/* `wall` is env_wall(). Borrowed until the next call on this thread. */
struct str http_date(int64_t wall);

#endif
