/* What a command is about: resources named on the command line, and objects in files. */
#ifndef KUBECTL_SELECTION_H
#define KUBECTL_SELECTION_H

#include "kubectl/discovery.h"

struct selected {
    const struct kind *kind;
    struct str namespace; /* empty for cluster-scoped kinds, and for all namespaces */
    struct str name;      /* empty: all, or those a selector picks */
    struct value *object; /* from a file; else NULL */
    struct str source;    /* the file it came from; empty without one */
};

struct selection {
    struct selected *items;
    size_t len;
    bool is_single; /* one resource by name: output is the object itself, not a List */
};

struct selection_rules {
    const char *command; /* "get", for messages */
    bool needs_names;    /* a type alone is not enough, unless there is a selector or --all */
    bool all;            /* --all was given */
};

/* From words: "pods", "pod a b", "pod/a deploy/b", "pods,svc". Error texts are stock's. */
MUST_USE struct status *selection_of_args(struct kubectl *k, const struct str *args, size_t count,
                                          const struct selection_rules *rules, struct selection *ret);
/* From the files of -f, folders and URLs of "-" too. Lists are taken apart. */
MUST_USE struct status *selection_of_files(struct kubectl *k, struct selection *ret);
/* Files when -f was given, else words. */
MUST_USE struct status *selection_of(struct kubectl *k, const struct str *args, size_t count,
                                     const struct selection_rules *rules, struct selection *ret);
/* Replaces what stands for all objects of a kind by the objects, listed by selector. */
MUST_USE struct status *selection_list(struct kubectl *k, struct selection *selection);
/* The path of the thing, or of the list, with the selectors. */
struct str selected_path(struct kubectl *k, const struct selected *selected);
/* Adds `error when creating "FILE": ` to an error about an object of a file. */
struct status *selected_error(const struct selected *selected, const char *doing, struct status *status);

/* Objects as they stand in files, without asking the server what they are. */
struct manifest {
    struct value *object;
    struct str source;
};
struct manifest_list {
    struct manifest *items;
    size_t len;
};
MUST_USE struct status *manifests_read(struct kubectl *k, struct manifest_list *ret);

#endif
