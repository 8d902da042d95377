/* A CNI network configuration: reading it, and what a plugin is given of it. No program is run here. */
#ifndef NETWORK_CNI_CONF_H
#define NETWORK_CNI_CONF_H

#include "base/limits.h"
#include "network/cni_invoker.h"
#include "schema/value.h"

struct cni_conf {
    struct str name, version; /* of the network, and of the specification: "1.0.0" */
    bool disable_check;
    const struct value *plugins; /* an array of objects with a type */
    struct str text;             /* the list as JSON, also when it was read from a *.conf */
};

/* The highest version of the specification that c8s speaks. */
#define CNI_VERSION_MAX "1.1.0"

/* Reads a list of plugins, or (`is_list` false) a single one, which becomes a list. BAD_REQUEST in libcni's words. */
MUST_USE struct status *cni_conf_parse(struct arena *arena, struct str text, bool is_list, struct cni_conf *ret);
/* The first configuration of a directory by name. NOT_FOUND when there is none. Blocks; any thread. */
MUST_USE struct status *cni_conf_load(struct arena *arena, struct str directory, struct cni_conf *ret);

/* Whether a specification's version is at least major.minor. */
bool cni_version_is(struct str version, int major, int minor);

/* What an attachment offers to plugins with capabilities: {"portMappings": [...], ...}; empty object when nothing. */
struct value *cni_capability_args(struct arena *arena, const struct cni_attachment *attachment);
/* What goes to a plugin's standard input; `previous` is the result so far or NULL. */
struct str cni_plugin_input(struct arena *arena, const struct cni_conf *conf, const struct value *plugin,
                            struct value *previous, struct value *capability_args);

#endif
