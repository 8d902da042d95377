#include "trace/trace_main.h"

#include "api/apps_v1.h"
#include "api/core_v1.h"
#include "api/kinds.h"
#include "base/flags.h"
#include "client/kubeconfig.h"
#include "client/trace_spans.h"
#include "net/event_loop.h"
#include "trace/pod_trace.h"

#include <stdio.h>

enum { TRACE_ID_DIGITS = 32, SPANS_READ_MAX = 1 << 20 };

struct options {
    struct str kubeconfig, context, namespace, output;
};

#define OPTION(kind, member, name, shorthand, help) FLAG(kind, struct options, member, name, shorthand, help)

static const struct flag table[] = {
    OPTION(STRING, kubeconfig, "kubeconfig", 0, "kubeconfig file"),
    OPTION(STRING, context, "context", 0, "context of the kubeconfig"),
    OPTION(STRING, namespace, "namespace", 'n', "namespace of the pod"),
    OPTION(STRING, output, "output", 'o', "json; else lines for people"),
};

static const char usage[] = "Shows how a pod came to be: the 46 steps with lane, time and what was done.\n\n"
                            "Usage:\n"
                            "  c8s trace pod/NAME      the story of a pod\n"
                            "  c8s trace TRACE-ID      that of one kubectl command, also when it was refused\n"
                            "  c8s trace last          that of the latest kubectl command\n\n";

/* What one run works with. */
struct run {
    struct options options;
    struct str subject;
    struct arena *arena;
    struct client *client;
    struct str namespace;
    struct trace_span_list spans;
    struct status *status;
};

static struct status *read_spans(struct run *run, struct str query)
{
    struct str body;

    TRY(client_get_raw(run->client, arena_printf(run->arena, "/c8s/trace/spans?%.*s", STR_ARG(query)), STR(""), run->arena,
                       &body));
    return trace_spans_decode(run->arena, body, SPANS_READ_MAX, &run->spans);
}

static const struct meta_v1_owner_reference *owner_of_kind(const struct meta_v1_object_meta *meta, const char *kind)
{
    LIST_EACH(owner, &meta->owner_references)
    {
        if (str_is(owner->kind, kind) && owner->controller != NULL && *owner->controller) {
            return owner;
        }
    }
    return NULL;
}

/* A ReplicaSet that is gone leaves the chain at the pod's own word. */
static struct status *find_chain(struct run *run, struct str name, struct pod_trace_chain *ret)
{
    const struct kind *pods = kind_find_resource(STR(""), STR("v1"), STR("pods"));
    const struct kind *replicasets = kind_find_resource(STR("apps"), STR("v1"), STR("replicasets"));
    void *object;

    TRY(client_get(run->client, pods, run->namespace, name, run->arena, &object));
    const struct core_v1_pod *pod = object;
    const struct meta_v1_owner_reference *owner = owner_of_kind(&pod->metadata, "ReplicaSet");

    *ret = (struct pod_trace_chain){.pod_uid = pod->metadata.uid};
    if (owner == NULL) {
        return NULL;
    }
    ret->replicaset_uid = owner->uid;
    struct status *status = client_get(run->client, replicasets, run->namespace, owner->name, run->arena, &object);

    if (status_free_if(&status, STATUS_NOT_FOUND)) {
        return NULL;
    }
    TRY(status);
    const struct apps_v1_replica_set *replicaset = object;

    owner = owner_of_kind(&replicaset->metadata, "Deployment");
    if (owner != NULL) {
        ret->deployment_uid = owner->uid;
    }
    return NULL;
}

static struct status *trace_pod(struct run *run, struct str name, struct pod_trace *ret)
{
    struct pod_trace_chain chain;

    TRY(find_chain(run, name, &chain));
    struct str uids = arena_printf(run->arena, "uid=%.*s,%.*s,%.*s", STR_ARG(chain.pod_uid), STR_ARG(chain.replicaset_uid),
                                   STR_ARG(chain.deployment_uid));

    TRY(read_spans(run, uids));
    struct str root = chain.deployment_uid.n > 0   ? chain.deployment_uid
                      : chain.replicaset_uid.n > 0 ? chain.replicaset_uid
                                                   : chain.pod_uid;
    struct str origin = pod_trace_origin(&run->spans, root);

    if (origin.n > 0) { /* kubectl's own steps have no uid, only the trace id */
        TRY(read_spans(run, arena_printf(run->arena, "%.*s&trace=%.*s", STR_ARG(uids), STR_ARG(origin))));
    }
    *ret = pod_trace_join(&run->spans, &chain, run->arena);
    return NULL;
}

static struct status *trace_request(struct run *run, struct str trace_id, struct pod_trace *ret)
{
    TRY(read_spans(run, arena_printf(run->arena, "trace=%.*s", STR_ARG(trace_id))));
    if (run->spans.len == 0) {
        return status_new(STATUS_NOT_FOUND, "nothing is recorded of trace %.*s", STR_ARG(trace_id));
    }
    *ret = pod_trace_of_request(&run->spans, trace_id, run->arena);
    return NULL;
}

static struct status *trace_last(struct run *run, struct pod_trace *ret)
{
    struct str last = STR("");

    TRY(read_spans(run, STR("")));
    LIST_EACH(span, &run->spans)
    {
        if (span->trace_id.n > 0) { /* kubectl sends them, and nobody else */
            last = span->trace_id;
        }
    }
    if (last.n == 0) {
        return status_new(STATUS_NOT_FOUND, "no kubectl command is recorded");
    }
    *ret = pod_trace_of_request(&run->spans, last, run->arena);
    return NULL;
}

static bool is_trace_id(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
            return false;
        }
    }
    return text.n == TRACE_ID_DIGITS;
}

static struct status *trace_subject(struct run *run, struct pod_trace *ret)
{
    struct str kind, name;

    if (str_is(run->subject, "last")) {
        return trace_last(run, ret);
    }
    if (is_trace_id(run->subject)) {
        return trace_request(run, run->subject, ret);
    }
    if (!str_cut(run->subject, '/', &kind, &name)) {
        name = kind;
        kind = STR("pod");
    }
    if ((!str_is(kind, "pod") && !str_is(kind, "pods") && !str_is(kind, "po")) || name.n == 0) {
        return status_new(STATUS_BAD_REQUEST, "\"%.*s\" is not pod/NAME, a trace id or \"last\"", STR_ARG(run->subject));
    }
    return trace_pod(run, name, ret);
}

static struct status *trace_it(struct run *run)
{
    struct kubeconfig_overrides overrides = {.path = run->options.kubeconfig, .context = run->options.context};
    struct kubeconfig config;
    struct pod_trace trace;

    TRY(kubeconfig_load(&overrides, run->arena, &config));
    TRY(kubeconfig_connect(&config, STR("c8s-trace"), &run->client));
    run->namespace = run->options.namespace.n > 0 ? run->options.namespace
                     : config.namespace.n > 0     ? config.namespace
                                                  : STR("default");
    TRY(trace_subject(run, &trace));
    if (str_is(run->options.output, "json")) {
        OWNED(buf_done) struct buf json = {0};

        pod_trace_json(&json, &trace);
        printf("%.*s\n", (int)json.n, json.p);
    } else {
        struct str text = pod_trace_text(&trace, run->arena);

        fwrite(text.p, 1, text.n, stdout);
    }
    return NULL;
}

static void run_task(void *arg)
{
    struct run *run = arg;

    run->status = trace_it(run);
    if (run->client != NULL) {
        client_free(run->client);
    }
}

static struct status *parse(struct run *run, int argc, char **argv, bool *ret_help)
{
    struct flag_table tables[] = {{table, COUNT_OF(table), &run->options}};
    struct flags_result result;

    TRY(flags_parse(tables, 1, argv + 1, (size_t)argc - 1, true, run->arena, &result));
    *ret_help = result.wants_help;
    if (result.wants_help) {
        return NULL;
    }
    if (result.positional.len != 1) {
        return status_new(STATUS_BAD_REQUEST, "pod/NAME is wanted");
    }
    if (run->options.output.n > 0 && !str_is(run->options.output, "json")) {
        return status_new(STATUS_BAD_REQUEST, "--output: \"%.*s\" is not json", STR_ARG(run->options.output));
    }
    run->subject = result.positional.items[0];
    return NULL;
}

int trace_main(int argc, char **argv)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct run run = {.arena = arena};
    bool wants_help = false;
    struct status *status = parse(&run, argc, argv, &wants_help);

    if (wants_help) {
        printf("%s%.*s", usage, STR_ARG(flags_usage(&(struct flag_table){table, COUNT_OF(table), &run.options}, arena)));
        return 0;
    }
    if (status == NULL) {
        struct env *env = event_loop_new();

        event_loop_run_task(env, "trace", run_task, &run);
        event_loop_free(env);
        status = run.status;
    }
    if (status != NULL) {
        fprintf(stderr, "c8s trace: %.*s\n", STR_ARG(status->message));
        status_free(status);
        return 1;
    }
    return 0;
}
