/* Command line flags, as a table over a struct of options; Kubernetes' components and kubectl share its rules (those of
 * the pflag library, with its error texts).
 *
 *   struct options { struct str bind_address; int64_t port; };
 *   static const struct flag flags[] = {
 *       FLAG(STRING, struct options, bind_address, "bind-address", 0, "address to listen on"),
 *       FLAG(INT, struct options, port, "secure-port", 'p', "port to listen on"),
 *   };
 *
 * --name=value and --name value; a bool is --name, --name=true or --name=false; -p8080, -p 8080, -p=8080; several
 * one-letter bools may stand together; "--" ends flags. Defaults are what the struct holds before parsing. */
#ifndef BASE_FLAGS_H
#define BASE_FLAGS_H

#include "base/arena.h"
#include "base/duration.h"
#include "base/status.h"

#include <stdint.h>

enum flag_type {
    FLAG_TYPE_STRING,   /* struct str */
    FLAG_TYPE_STRINGS,  /* struct flag_strings; commas separate, the flag may be repeated */
    FLAG_TYPE_ARRAY,    /* struct flag_strings; each use is one value, whatever commas it holds */
    FLAG_TYPE_BOOL,     /* bool */
    FLAG_TYPE_INT,      /* int64_t */
    FLAG_TYPE_FLOAT,    /* double */
    FLAG_TYPE_DURATION, /* int64_t, nanoseconds */
    FLAG_TYPE_IGNORED,  /* taken with a value, for compatibility, and without effect */
    FLAG_TYPE_IGNORED_BOOL,
};

struct flag_strings {
    struct str *items;
    size_t len;
    bool is_set; /* given on the command line: a default that stood here was replaced */
};

struct flag {
    const char *name;
    char shorthand; /* 0: none */
    enum flag_type type;
    size_t offset;
    const char *help;
    /* What a flag of another type than bool means without "=value" ("--dry-run" is "unchanged"); NULL: it needs one. */
    const char *bare;
};

#define FLAG(kind, options, member, name, shorthand, help) \
    {name, shorthand, FLAG_TYPE_##kind, offsetof(options, member), help, NULL}
#define FLAG_IGNORE(name) {name, 0, FLAG_TYPE_IGNORED, 0, NULL, NULL}
#define FLAG_IGNORE_BOOL(name) {name, 0, FLAG_TYPE_IGNORED_BOOL, 0, NULL, NULL}

struct flag_table {
    const struct flag *flags;
    size_t count;
    void *options; /* the struct that the offsets point into */
};

struct flags_result {
    struct flag_strings positional;
    size_t after_dashes;      /* how many positionals came before "--"; SIZE_MAX without one */
    bool wants_help;          /* --help or -h, when no table has it */
    struct flag_strings seen; /* long names of all flags given, in order */
};

/* Reads args (without the program's name) by several tables, the first that knows a flag taking it. Strings point into
 * args. With `interspersed`, flags may follow positionals. BAD_REQUEST with pflag's message. */
MUST_USE struct status *flags_parse(const struct flag_table *tables, size_t table_count, char *const *args,
                                    size_t arg_count, bool interspersed, struct arena *arena,
                                    struct flags_result *ret);
bool flags_seen(const struct flags_result *result, const char *name);
/* "      --name type   help" lines, as stock prints usages. */
struct str flags_usage(const struct flag_table *table, struct arena *arena);

#endif
