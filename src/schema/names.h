/* What names of all sorts may look like, and stock's words for what is wrong with one.
 *
 * Each check returns whether the value is valid; what is wrong is appended to *errors unless that is NULL, in stock's
 * order. The messages are constants: they need no memory and live on. Any thread. */
#ifndef SCHEMA_NAMES_H
#define SCHEMA_NAMES_H

#include "base/arena.h"
#include "base/str.h"

enum { NAME_ERRORS_MAX = 6 };

struct name_errors {
    struct str items[NAME_ERRORS_MAX];
    size_t len;
};

/* The messages with the separator ("; ", ",") between. */
struct str name_errors_join(struct arena *arena, const struct name_errors *errors, const char *separator);

/* Names of namespaces, services' DNS parts and the like: at most 63 of a-z, 0-9 and "-". */
bool name_is_dns1123_label(struct str value, struct name_errors *errors);
/* Names of most objects: labels with dots between, at most 253. */
bool name_is_dns1123_subdomain(struct str value, struct name_errors *errors);
bool name_is_dns1123_subdomain_with_underscore(struct str value, struct name_errors *errors);
/* Names of services: as a label, but starting with a letter. */
bool name_is_dns1035_label(struct str value, struct name_errors *errors);
/* "*." and a subdomain. */
bool name_is_wildcard_dns1123_subdomain(struct str value, struct name_errors *errors);
/* Keys of labels and annotations, finalizers, conditions: an optional subdomain and "/", then a name of at most 63. */
bool name_is_qualified(struct str value, struct name_errors *errors);
/* The same, with the prefix. */
bool name_is_prefixed_label_key(struct str value, struct name_errors *errors);
bool name_is_label_value(struct str value, struct name_errors *errors);
bool name_is_c_identifier(struct str value, struct name_errors *errors);
bool name_is_port_name(struct str value, struct name_errors *errors);
bool name_is_port_number(int64_t port, struct name_errors *errors);
/* User and group ids of a security context. */
bool name_is_user_id(int64_t id, struct name_errors *errors);
bool name_is_percent(struct str value, struct name_errors *errors);
bool name_is_http_header(struct str value, struct name_errors *errors);
bool name_is_env_var(struct str value, struct name_errors *errors);
/* What stock takes since 1.32: any printable ASCII but "=". */
bool name_is_relaxed_env_var(struct str value, struct name_errors *errors);
bool name_is_config_map_key(struct str value, struct name_errors *errors);
/* Names that are one part of a URL's path, such as those of roles. */
bool name_is_path_segment(struct str value, struct name_errors *errors);
/* The same for a generateName. */
bool name_is_path_segment_prefix(struct str value, struct name_errors *errors);
bool name_is_decimal_integer(struct str value, struct name_errors *errors);

/* A generateName as it is checked: a dash at the end is fine there, since more follows. In the arena when changed. */
struct str name_mask_trailing_dash(struct arena *arena, struct str name);

#endif
