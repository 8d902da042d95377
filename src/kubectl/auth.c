/* kubectl auth can-i | whoami. */
#include "kubectl/auth.h"
#include "kubectl/discovery.h"
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/tab_writer.h"

struct auth_options {
    struct str subresource;
    bool quiet, list, no_headers;
};

static void set(struct kubectl *k, struct value *object, const char *key, struct str text)
{
    if (text.n > 0) {
        value_set(k->arena, object, str_of(key), value_string(k->arena, text));
    }
}

static bool is_known_verb(struct str verb)
{
    static const char *const known[] = {"get",    "list",  "watch",  "create",           "update", "patch",
                                        "delete", "use",   "bind",   "deletecollection", "escalate", "impersonate", "*",
                                        "post",   "put",   "head",   "approve",          "sign"};

    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (str_is(verb, known[i])) {
            return true;
        }
    }
    return false;
}

/* Warnings of can-i have an empty line after them. */
static void warn(struct kubectl *k, struct str text)
{
    fprintf(k->err, "Warning: %.*s\n\n", STR_ARG(text));
}

static struct status *resource_attributes(struct kubectl *k, const struct auth_options *options, struct str verb,
                                          struct str word, struct value **ret)
{
    struct value *attributes = value_object(k->arena);
    struct str resource, name;
    const struct kind *kind;

    str_cut(word, '/', &resource, &name);
    struct status *status = discovery_find(k, resource, &kind);

    if (status != NULL && status->code != 0) {
        return status;
    }
    set(k, attributes, "namespace", k->selector.all_namespaces ? STR("") : kubectl_namespace(k));
    set(k, attributes, "verb", verb);
    if (status_free_if(&status, STATUS_BAD_REQUEST)) {
        if (!str_is(resource, "*")) {
            warn(k, arena_printf(k->arena, "the server doesn't have a resource type '%.*s'", STR_ARG(resource)));
        }
        set(k, attributes, "resource", resource);
    } else {
        if (!kind->namespaced) {
            warn(k, arena_printf(k->arena, "resource '%.*s' is not namespace scoped%s%.*s%s", STR_ARG(kind->plural),
                                 kind->group.n > 0 ? " in group '" : "", STR_ARG(kind->group),
                                 kind->group.n > 0 ? "'" : ""));
        }
        set(k, attributes, "group", kind->group);
        set(k, attributes, "resource", kind->plural);
    }
    if (!is_known_verb(verb)) {
        warn(k, arena_printf(k->arena, "verb '%.*s' is not a known verb", STR_ARG(verb)));
    }
    set(k, attributes, "subresource", options->subresource);
    set(k, attributes, "name", name);
    *ret = attributes;
    return NULL;
}

static struct status *can_i_run(struct kubectl *k, void *arg)
{
    const struct auth_options *options = arg;
    struct value *review = value_object(k->arena), *spec = value_object(k->arena), *attributes, *answer;

    if (options->list) {
        return k->args.positional.len > 0 ? error_local("list option must be specified with no arguments")
                                          : auth_list(k, options->no_headers);
    }
    if (k->args.positional.len != 2) {
        return error_local("you must specify two arguments: verb resource or verb resource/resourceName.\nSee 'kubectl auth "
                           "can-i -h' for help and examples.");
    }
    struct str verb = k->args.positional.items[0], word = k->args.positional.items[1];

    TRY(kubectl_configure(k));
    if (str_has_prefix(word, STR("/"))) {
        attributes = value_object(k->arena);
        set(k, attributes, "path", word);
        set(k, attributes, "verb", verb);
        value_set(k->arena, spec, STR("nonResourceAttributes"), attributes);
    } else {
        TRY(resource_attributes(k, options, verb, word, &attributes));
        value_set(k->arena, spec, STR("resourceAttributes"), attributes);
    }
    set(k, review, "apiVersion", STR("authorization.k8s.io/v1"));
    set(k, review, "kind", STR("SelfSubjectAccessReview"));
    value_set(k->arena, review, STR("spec"), spec);
    TRY(api_call(k,
                 &(struct api_request){.method = "POST",
                                       .path = STR("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
                                       .body = review},
                 &answer));
    const struct value *allowed = value_find_path(answer, "status.allowed");
    bool yes = value_is(allowed, VALUE_BOOL) && allowed->boolean;
    struct str reason = value_str_at(answer, "status.reason"), problem = value_str_at(answer, "status.evaluationError");

    if (!options->quiet) {
        fprintf(k->out, "%s%s%.*s%s%.*s\n", yes ? "yes" : "no", !yes && reason.n > 0 ? " - " : "",
                STR_ARG(yes ? STR("") : reason), !yes && problem.n > 0 ? " - " : "", STR_ARG(yes ? STR("") : problem));
    }
    k->exit_code = yes ? 0 : 1;
    return NULL;
}

static struct str bracketed(struct kubectl *k, const struct value *list)
{
    struct str text = STR("");

    VALUE_EACH_ITEM(item, list)
    {
        text = arena_printf(k->arena, "%.*s%s%.*s", STR_ARG(text), text.n > 0 ? " " : "", STR_ARG(value_str(*item)));
    }
    return arena_printf(k->arena, "[%.*s]", STR_ARG(text));
}

static void print_user(struct kubectl *k, const struct value *user)
{
    struct buf lines = {0}, out = {0};
    const struct value *extra = value_find(user, STR("extra"));
    struct str *keys = value_sorted_keys(k->arena, extra);

    buf_printf(&lines, "ATTRIBUTE\tVALUE\nUsername\t%.*s\n", STR_ARG(value_str_at(user, "username")));
    if (value_str_at(user, "uid").n > 0) {
        buf_printf(&lines, "UID\t%.*s\n", STR_ARG(value_str_at(user, "uid")));
    }
    if (value_count(value_find(user, STR("groups"))) > 0) {
        buf_printf(&lines, "Groups\t%.*s\n", STR_ARG(bracketed(k, value_find(user, STR("groups")))));
    }
    for (size_t i = 0; i < value_count(extra); i++) {
        buf_printf(&lines, "Extra: %.*s\t%.*s\n", STR_ARG(keys[i]), STR_ARG(bracketed(k, value_find(extra, keys[i]))));
    }
    tab_write(&out, buf_str(&lines), 6, 3);
    output_text(k, buf_str(&out));
    buf_done(&lines);
    buf_done(&out);
}

static struct status *whoami_run(struct kubectl *k, void *arg)
{
    struct value *review = value_object(k->arena), *answer;
    struct output output;

    (void)arg;
    TRY(output_parse(k, false, &output));
    set(k, review, "apiVersion", STR("authentication.k8s.io/v1"));
    set(k, review, "kind", STR("SelfSubjectReview"));
    TRY(api_call(k,
                 &(struct api_request){.method = "POST",
                                       .path = STR("/apis/authentication.k8s.io/v1/selfsubjectreviews"),
                                       .body = review},
                 &answer));
    if (output.format != OUTPUT_PLAIN) {
        return output_object(k, &output, NULL, answer, true);
    }
    print_user(k, value_find_path(answer, "status.userInfo"));
    return NULL;
}

static const struct flag can_i_flags[] = {
    FLAG(STRING, struct auth_options, subresource, "subresource", 0, "of this part of the resource"),
    FLAG(BOOL, struct auth_options, quiet, "quiet", 'q', "tell by the exit code alone"),
    FLAG(BOOL, struct auth_options, list, "list", 0, "print all that is allowed"),
    FLAG(BOOL, struct auth_options, no_headers, "no-headers", 0, "leave out the line of column names"),
};

static const struct command auth_can_i = {
    .name = "can-i",
    .help = "Check whether an action is allowed",
    .usage = "VERB [TYPE | TYPE/NAME | NONRESOURCEURL]",
    .uses = USES_SELECTOR,
    .flags = can_i_flags,
    .flag_count = COUNT_OF(can_i_flags),
    .options_size = sizeof(struct auth_options),
    .run = can_i_run,
};

static const struct command auth_whoami = {
    .name = "whoami",
    .help = "Check self subject attributes",
    .uses = USES_OUTPUT,
    .run = whoami_run,
};

static const struct command *const subcommands[] = {&auth_can_i, &auth_whoami, NULL};

const struct command command_auth = {
    .name = "auth",
    .help = "Inspect authorization",
    .usage = "SUBCOMMAND",
    .subcommands = subcommands,
};
