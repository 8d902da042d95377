/* KYAML: YAML in flow style with quotes around every string, as `-o kyaml` prints. Pure. */
#ifndef KUBECTL_KYAML_H
#define KUBECTL_KYAML_H

#include "base/buf.h"
#include "schema/value.h"

/* Appends "---" and the value. */
void kyaml_write(struct buf *out, const struct value *value);

#endif
