/* Showing objects in the form that -o asks for. */
#ifndef KUBECTL_OUTPUT_H
#define KUBECTL_OUTPUT_H

#include "kubectl/kubectl.h"

enum output_format {
    OUTPUT_PLAIN, /* none asked for: a table, or "pod/a created" */
    OUTPUT_WIDE,
    OUTPUT_NAME,
    OUTPUT_JSON,
    OUTPUT_YAML,
    OUTPUT_KYAML,
    OUTPUT_JSONPATH,
    OUTPUT_JSONPATH_AS_JSON,
    OUTPUT_CUSTOM_COLUMNS,
};

struct output {
    enum output_format format;
    struct str template; /* of JSONPath and custom columns */
};

/* What -o says, checked: an unknown format is stock's error. `tables` allows wide and custom columns. */
MUST_USE struct status *output_parse(struct kubectl *k, bool tables, struct output *ret);
/* Prints one object (or a List). `is_first` is false when another was printed before. */
MUST_USE struct status *output_object(struct kubectl *k, const struct output *output, const struct kind *kind,
                                      struct value *object, bool is_first);
/* "pod/a created", with what a dry run adds; with -o the object instead. `object` is what the server answered. */
MUST_USE struct status *output_done(struct kubectl *k, const struct output *output, const struct kind *kind,
                                    struct value *object, struct str name, const char *done, bool is_first);
/* Prints the text. */
void output_text(struct kubectl *k, struct str text);
/* " (dry run)", " (server dry run)" or nothing. */
const char *output_dry_run(const struct kubectl *k);
/* A value of a typed struct; status and the like as Go writes them. */
struct value *output_value_of(struct kubectl *k, const struct kind *kind, void *object);

#endif
