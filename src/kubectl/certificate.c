/* kubectl certificate approve | deny. */
#include "kubectl/output.h"
#include "kubectl/report.h"
#include "kubectl/request.h"
#include "kubectl/selection.h"

enum { CONFLICTS_MAX = 10 };

struct certificate_options {
    bool force;
};

/* What is decided, in words. */
struct verdict {
    const char *type, *opposite, *reason, *message, *done;
};

static const struct verdict approval = {"Approved", "Denied", "KubectlApprove",
                                        "This CSR was approved by kubectl certificate approve.", "approved"};
static const struct verdict denial = {"Denied", "Approved", "KubectlDeny",
                                      "This CSR was denied by kubectl certificate deny.", "denied"};

static bool has_condition(const struct value *request, const char *type)
{
    VALUE_EACH_ITEM(condition, value_find_path(request, "status.conditions"))
    {
        if (str_is(value_str_at(*condition, "type"), type)) {
            return true;
        }
    }
    return false;
}

static void add_condition(struct kubectl *k, struct value *request, const struct verdict *verdict)
{
    struct value *status = value_find(request, STR("status")), *condition = value_object(k->arena), *conditions;

    if (!value_is(status, VALUE_OBJECT)) {
        status = value_object(k->arena);
        value_set(k->arena, request, STR("status"), status);
    }
    conditions = value_find(status, STR("conditions"));
    if (!value_is(conditions, VALUE_ARRAY)) {
        conditions = value_array(k->arena);
        value_set(k->arena, status, STR("conditions"), conditions);
    }
    value_set(k->arena, condition, STR("type"), value_string(k->arena, str_of(verdict->type)));
    value_set(k->arena, condition, STR("status"), value_string(k->arena, STR("True")));
    value_set(k->arena, condition, STR("reason"), value_string(k->arena, str_of(verdict->reason)));
    value_set(k->arena, condition, STR("message"), value_string(k->arena, str_of(verdict->message)));
    value_add(k->arena, conditions, condition);
}

static struct status *decide(struct kubectl *k, const struct verdict *verdict, const struct certificate_options *options,
                             const struct output *output, const struct selected *selected, bool is_first)
{
    for (int tries = 0;; tries++) {
        struct str path = client_path(k->arena, selected->kind, STR(""), selected->name, STR(""));
        struct value *request;

        TRY(api_get(k, path, &request));
        if (has_condition(request, verdict->opposite)) {
            return error_local("certificate signing request \"%.*s\" is already %s", STR_ARG(selected->name),
                               verdict->opposite);
        }
        struct status *status = NULL;

        if (!has_condition(request, verdict->type) || options->force) {
            if (!has_condition(request, verdict->type)) {
                add_condition(k, request, verdict);
            }
            path = client_path(k->arena, selected->kind, STR(""), selected->name, STR("approval"));
            status = api_call(k, &(struct api_request){.method = "PUT", .path = path, .body = request}, &request);
        }
        if (status_is(status, STATUS_CONFLICT) && tries < CONFLICTS_MAX) {
            status_free(status);
            continue;
        }
        TRY(status);
        return output_done(k, output, selected->kind, request, selected->name, verdict->done, is_first);
    }
}

static struct status *decide_all(struct kubectl *k, const struct verdict *verdict, const struct certificate_options *options)
{
    struct selection selection = {0};
    struct output output;
    const struct kind *kind;

    TRY(output_parse(k, false, &output));
    if (k->args.positional.len == 0 && k->files.names.len == 0) {
        return error_local("one or more CSRs must be specified as <name> or -f <filename>");
    }
    TRY(kubectl_configure(k));
    if (k->files.names.len > 0) {
        TRY(selection_of_files(k, &selection));
    }
    TRY(discovery_find(k, STR("certificatesigningrequests.certificates.k8s.io"), &kind));
    LIST_EACH(name, &k->args.positional)
    {
        *LIST_ADD(k->arena, &selection) = (struct selected){.kind = kind, .name = *name};
    }
    for (size_t i = 0; i < selection.len; i++) {
        report_error(k, decide(k, verdict, options, &output, &selection.items[i], i == 0));
    }
    return NULL;
}

static struct status *approve_run(struct kubectl *k, void *arg)
{
    return decide_all(k, &approval, arg);
}

static struct status *deny_run(struct kubectl *k, void *arg)
{
    return decide_all(k, &denial, arg);
}

static const struct flag certificate_flags[] = {
    FLAG(BOOL, struct certificate_options, force, "force", 0, "update the request even if it is decided already"),
};

static const struct command certificate_approve = {
    .name = "approve",
    .help = "Approve a certificate signing request",
    .usage = "(-f FILENAME | NAME)",
    .uses = USES_OUTPUT | USES_FILES,
    .flags = certificate_flags,
    .flag_count = COUNT_OF(certificate_flags),
    .options_size = sizeof(struct certificate_options),
    .run = approve_run,
};

static const struct command certificate_deny = {
    .name = "deny",
    .help = "Deny a certificate signing request",
    .usage = "(-f FILENAME | NAME)",
    .uses = USES_OUTPUT | USES_FILES,
    .flags = certificate_flags,
    .flag_count = COUNT_OF(certificate_flags),
    .options_size = sizeof(struct certificate_options),
    .run = deny_run,
};

static const struct command *const subcommands[] = {&certificate_approve, &certificate_deny, NULL};

const struct command command_certificate = {
    .name = "certificate",
    .help = "Modify certificate resources",
    .usage = "SUBCOMMAND",
    .subcommands = subcommands,
};
