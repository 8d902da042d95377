/* One run of kubectl: what all its commands share.
 *
 * Commands work on objects as trees of values, so that they take any kind the server has. Everything lives in the run's
 * arena. What goes wrong is a status: one that a server answered keeps that mark (report.h), all others are ours. */
#ifndef KUBECTL_KUBECTL_H
#define KUBECTL_KUBECTL_H

#include "base/flags.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/kubeconfig.h"
#include "schema/type.h"
#include "schema/value.h"

#include <stdio.h>

struct discovery;
struct kubectl_trace;

/* Flags that every command takes. */
struct global_flags {
    struct kubeconfig_overrides config;
    struct str request_timeout, as_uid;
    struct flag_strings as_groups;
    int64_t verbosity;
};

/* -o and what belongs to it. */
struct output_flags {
    struct str format, template;
    bool show_managed_fields;
    bool allow_missing_keys;
};

/* -f, -k, -R. */
struct file_flags {
    struct flag_strings names;
    struct str kustomize;
    bool recursive;
};

struct selector_flags {
    struct str labels, fields;
    bool all_namespaces;
};

enum dry_run { DRY_RUN_NONE, DRY_RUN_CLIENT, DRY_RUN_SERVER };

/* --dry-run, --validate, --field-manager. */
struct write_flags {
    struct str dry_run_text, validate, field_manager;
    enum dry_run dry_run;         /* of dry_run_text */
    struct str field_validation;  /* of validate: Strict, Warn, Ignore */
};

enum command_uses { USES_OUTPUT = 1, USES_FILES = 2, USES_SELECTOR = 4, USES_WRITE = 8, USES_LABELS = 16 };

struct kubectl {
    struct arena *arena;
    const struct command *command;
    struct str path; /* of the command: "create deployment" */
    struct str line; /* all words of the command line, secrets hidden */
    int64_t start;   /* of the run (trace_now()) */
    int64_t timeout; /* of each request; 0: none */
    struct global_flags flags;
    struct output_flags output;
    struct file_flags files;
    struct selector_flags selector;
    struct write_flags write;
    struct flags_result args;
    struct kubeconfig config;
    struct client *client;       /* NULL until kubectl_connect() */
    struct discovery *discovery; /* NULL until the first look */
    struct kubectl_trace *trace;
    VEC(struct status *) errors; /* reported, to be printed at the end */
    VEC(struct str) warnings;    /* printed already */
    FILE *out, *err;
    bool is_local; /* --local: objects of files stay as they are */
    int exit_code; /* of a program run in a container; else 0 */
};

/* Reads the kubeconfig once. */
MUST_USE struct status *kubectl_configure(struct kubectl *k);
/* The same and makes the client. */
MUST_USE struct status *kubectl_connect(struct kubectl *k);
/* The namespace to work in; kubectl_configure() first. */
struct str kubectl_namespace(const struct kubectl *k);

struct command {
    const char *name, *aliases; /* comma-separated, or NULL */
    const char *help;           /* a line */
    const char *about;          /* more, before the usage; NULL: the line */
    const char *usage;          /* after the command's path: "NAME --image=IMAGE" */
    unsigned uses;              /* enum command_uses */
    const struct flag *flags;   /* into an options struct of options_size bytes */
    size_t flag_count, options_size;
    void (*defaults)(struct kubectl *k, void *options); /* NULL: all zero */
    struct status *(*run)(struct kubectl *k, void *options); /* NULL: it only has subcommands */
    const struct command *const *subcommands; /* NULL-terminated, or NULL */
};

extern const struct command command_annotate, command_api_resources, command_api_versions, command_apply,
    command_attach, command_auth, command_autoscale, command_certificate, command_cluster_info, command_config, command_cordon,
    command_create, command_delete, command_describe, command_diff, command_drain, command_events, command_exec, command_expose,
    command_get, command_label, command_logs, command_patch, command_port_forward, command_replace, command_rollout,
    command_run, command_scale, command_set, command_taint, command_uncordon, command_version, command_wait;

#endif
