/* What the parts of `kubectl set` share: objects are fetched, changed, and the difference is sent. */
#ifndef KUBECTL_SET_H
#define KUBECTL_SET_H

#include "kubectl/output.h"
#include "kubectl/selection.h"

/* The first member of every part's options. */
struct set_options {
    bool all, local;
};

#define SET_FLAGS(type)                                                                  \
    FLAG(BOOL, type, all, "all", 0, "all resources of the type in the namespace"),       \
        FLAG(BOOL, type, local, "local", 0, "work on the file alone, without the server")

struct set_way {
    /* Changes the object in place. */
    struct status *(*change)(struct kubectl *k, const struct selected *selected, struct value *object, void *arg);
    struct status *(*check)(struct kubectl *k, void *arg); /* of the arguments, once resources are known; or NULL */
    const char *done;                                      /* "image updated"; NULL: objects are only looked at */
};

/* One object; all that the first `resources` words (or files) name. Nothing is said of an object that stays as it is. */
MUST_USE struct status *set_change(struct kubectl *k, const struct set_options *options, const struct output *output,
                                   const struct selected *selected, const struct set_way *way, void *arg, bool is_first);
MUST_USE struct status *set_change_all(struct kubectl *k, const struct set_options *options, size_t resources,
                                       const struct set_way *way, void *arg);
/* The spec of the pods that an object makes, or is; NULL when there are none. */
struct value *set_template_spec(struct value *object);
/* Whether a container goes by what --containers says, which may have wildcards; empty stands for all. */
bool set_wants_container(struct kubectl *k, struct str wanted, const struct value *container);

extern const struct command set_env, set_resources, set_selector, set_service_account, set_subject;

#endif
