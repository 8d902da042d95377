/* YAML <-> value trees, as sigs.k8s.io/yaml reads and writes it: what kubectl takes from files and prints with -o yaml.
 *
 * Reading follows YAML 1.1 as go-yaml v2 resolves it: yes/no/on/off are booleans, 0644 and 0o644 are octal, 1_000 is
 * a number, dates stay strings, keys that are numbers or booleans become their text, "<<" merges. As everything goes
 * through JSON there, 1e3 and 1.0 are the integers 1000 and 1. Anchors are expanded, within go-yaml's ratio and
 * LIMIT_YAML_EXPANDED_BYTES; nesting ends at LIMIT_DECODE_DEPTH. Any thread. */
#ifndef SCHEMA_YAML_H
#define SCHEMA_YAML_H

#include "schema/value.h"

/* Takes the next document off *rest, cut at lines of "---" (and perhaps a comment) as kubectl cuts a file;
 * ret_document->p is NULL when there is no more. Documents of comments only read as null. */
MUST_USE struct status *yaml_next_document(struct str *rest, struct str *ret_document);

/* Reads the first document of the text; an empty one is null. Errors are BAD_REQUEST with go-yaml's text, such as
 * "yaml: line 2: did not find expected key"; with `strict`, keys that come again in a mapping are errors too
 * ("yaml: unmarshal errors:\n  line 2: key \"a\" already set in map"), else the last one counts. */
MUST_USE struct status *yaml_read(struct arena *arena, struct str text, bool strict, struct value **ret);

/* Appends the value in block style with a newline at the end: keys in go-yaml's natural order (a2 before a10), two
 * spaces a level, "- " not indented below its key, strings quoted only when they must be, several lines as "|". */
void yaml_write(struct buf *out, const struct value *value);

#endif
