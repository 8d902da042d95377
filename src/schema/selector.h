/* Label and field selectors: parsed once, matched often.
 *
 * A selector lives in the arena it is parsed into; its strings may be borrowed from the text. Matching goes through a
 * lookup function, so that it works on any form of labels or fields. Error texts are stock's, as BAD_REQUEST. */
#ifndef SCHEMA_SELECTOR_H
#define SCHEMA_SELECTOR_H

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

enum selector_operator {
    SELECTOR_EQUALS,        /* = */
    SELECTOR_DOUBLE_EQUALS, /* ==, which is written back so */
    SELECTOR_NOT_EQUALS,
    SELECTOR_IN,
    SELECTOR_NOT_IN,
    SELECTOR_EXISTS,
    SELECTOR_DOES_NOT_EXIST,
    SELECTOR_GREATER_THAN,
    SELECTOR_LESS_THAN,
};

struct selector_values {
    struct str *items; /* sorted, each once */
    size_t len;
};

struct selector_requirement {
    struct str key;
    enum selector_operator op;
    struct selector_values values;
};

/* All requirements must hold; none at all match everything. The zero value is that. */
struct label_selector {
    struct selector_requirement *items; /* sorted by key */
    size_t len;
    bool nothing; /* matches nothing: what an absent LabelSelector stands for */
};

/* Gives the value of a label or field; false when there is none. */
typedef bool selector_lookup(const void *labels, struct str key, struct str *ret);

/* "a=b,c in (d,e),!f" and so on. */
MUST_USE struct status *label_selector_parse(struct arena *arena, struct str text, struct label_selector *ret);
/* Adds one requirement, checked as stock checks it; the values are copied and sorted. Use for LabelSelector structs:
 * matchLabels are EQUALS, matchExpressions by selector_operator_of(). */
MUST_USE struct status *label_selector_add(struct arena *arena, struct label_selector *selector, struct str key,
                                           enum selector_operator op, const struct str *values, size_t count);
/* "In", "NotIn", "Exists", "DoesNotExist" of a LabelSelector ("Gt", "Lt" too, with `node`: a NodeSelector's). The
 * error is `"X" is not a valid label selector operator`. */
MUST_USE struct status *selector_operator_of(struct str name, bool node, enum selector_operator *ret);
bool label_selector_matches(const struct label_selector *selector, selector_lookup *lookup, const void *labels);
bool label_selector_is_empty(const struct label_selector *selector);
bool selector_requirement_matches(const struct selector_requirement *requirement, selector_lookup *lookup,
                                  const void *labels);
/* The one value a label must have; false when the selector does not name one. */
bool label_selector_exact(const struct label_selector *selector, struct str key, struct str *ret);
struct str label_selector_format(struct arena *arena, const struct label_selector *selector);

struct field_requirement {
    struct str field, value;
    bool negative; /* != */
};

struct field_selector {
    struct field_requirement *items;
    size_t len;
};

/* "metadata.name=a,status.phase!=Running"; "\\", "\," and "\=" in values. Which fields exist is the caller's to say. */
MUST_USE struct status *field_selector_parse(struct arena *arena, struct str text, struct field_selector *ret);
/* A field without a value counts as empty. */
bool field_selector_matches(const struct field_selector *selector, selector_lookup *lookup, const void *fields);
bool field_selector_exact(const struct field_selector *selector, struct str field, struct str *ret);
struct str field_selector_format(struct arena *arena, const struct field_selector *selector);

#endif
