/* Plans carried out against a small server over HTTP on loopback, which notes what it is asked for. */
#include "controller/carry_out.h"

#include "api/apps_v1.h"
#include "api/core_v1.h"
#include "base/buf.h"
#include "base/env.h"
#include "base/task.h"
#include "net/event_loop.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "schema/json.h"
#include "schema/object.h"
#include "test.h"

struct bed {
    struct arena *arena;
    struct http_server *server;
    struct client *client;
    struct event_recorder *recorder;
    struct plan plan;
    struct aftermath *after;
    struct buf log; /* "POST /api/v1/..." lines, without those of events */
    struct buf events;
    int creates, in_flight, most_in_flight[8], waves;
    int fail_at; /* which creation fails; 0: none */
    const char *refusal;
};

static void respond(struct http_exchange *exchange, int code, struct str body)
{
    struct http_headers headers = {0};

    http_header_add(exchange->arena, &headers, STR("content-type"), STR("application/json"));
    status_free(http_respond(exchange, code, &headers, body));
}

/* A wave is what is in flight together. */
static void creates(struct bed *bed, struct http_exchange *exchange, struct str body)
{
    int number = ++bed->creates;

    bed->waves += bed->in_flight == 0;
    bed->in_flight++;
    bed->most_in_flight[bed->waves - 1] = MAX(bed->most_in_flight[bed->waves - 1], bed->in_flight);
    task_sleep(30 * ENV_MS);
    bed->in_flight--;
    if (number == bed->fail_at) {
        respond(exchange, 403, str_of(bed->refusal));
        return;
    }
    struct core_v1_pod pod = {0};

    CHECK_OK(json_decode(exchange->arena, &core_v1_pod_type, body, &pod, NULL));
    pod.metadata.name = arena_printf(exchange->arena, "pod-%d", number);
    pod.metadata.resource_version = arena_printf(exchange->arena, "%d", 100 + number);
    OWNED(buf_done) struct buf answer = {0};

    json_encode(&core_v1_pod_type, &pod, &answer);
    respond(exchange, 201, buf_str(&answer));
}

static void serves(struct http_exchange *exchange, void *arg)
{
    struct bed *bed = arg;
    struct str body;

    CHECK_OK(http_read_all(exchange, 100000, &body));
    if (str_has_suffix(exchange->path, STR("/events"))) {
        struct core_v1_event event = {0};

        CHECK_OK(json_decode(exchange->arena, &core_v1_event_type, body, &event, NULL));
        buf_printf(&bed->events, "%.*s %.*s: %.*s\n", STR_ARG(event.type), STR_ARG(event.reason),
                   STR_ARG(event.message));
        respond(exchange, 201, body);
        return;
    }
    buf_printf(&bed->log, "%.*s %.*s\n", STR_ARG(exchange->method), STR_ARG(exchange->path));
    if (str_is(exchange->method, "POST")) {
        creates(bed, exchange, body);
    } else if (str_is(exchange->method, "DELETE")) {
        respond(exchange, 404, STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"reason\":\"NotFound\",\"code\":404}"));
    } else {
        struct apps_v1_replica_set set = {0};
        OWNED(buf_done) struct buf answer = {0};

        CHECK_OK(json_decode(exchange->arena, &apps_v1_replica_set_type, body, &set, NULL));
        buf_printf(&bed->log, "  of version %.*s\n", STR_ARG(set.metadata.resource_version));
        set.metadata.resource_version = STR("77");
        json_encode(&apps_v1_replica_set_type, &set, &answer);
        respond(exchange, 200, buf_str(&answer));
    }
}

static void begin(struct bed *bed)
{
    struct listener *listener;

    bed->arena = arena_new();
    bed->plan.arena = bed->arena;
    bed->after = aftermath_new();
    CHECK_OK(listener_open(STR("127.0.0.1:0"), 0, &listener));
    struct str address = arena_str(bed->arena, str_of(listener_name(listener).text));

    bed->server = http_server_new(serves, bed);
    http_server_listen(bed->server, listener, NULL);
    bed->client = client_new(http_client_new(&(struct http_client_options){.address = address}),
                             &(struct client_options){.user_agent = STR("test"), .json_only = true});
    bed->recorder = event_recorder_new(bed->client, STR("test"), STR(""));
}

/* Afterwards all events have been written. */
static void act(struct bed *bed)
{
    carry_out(bed->client, bed->recorder, &bed->plan, bed->after);
    event_recorder_free(TAKE(bed->recorder));
}

static void end(struct bed *bed)
{
    aftermath_free(bed->after);
    client_free(bed->client);
    http_server_free(bed->server);
    buf_done(&bed->log);
    buf_done(&bed->events);
    arena_free(bed->arena);
}

static struct apps_v1_replica_set *set_of(struct bed *bed)
{
    struct apps_v1_replica_set *set = ARENA_NEW(bed->arena, struct apps_v1_replica_set);

    set->metadata.namespace = STR("d");
    set->metadata.name = STR("web");
    set->metadata.resource_version = STR("5");
    return set;
}

static void plan_pods(struct bed *bed, const struct apps_v1_replica_set *set, int count)
{
    for (int i = 0; i < count; i++) {
        struct core_v1_pod *pod = ARENA_NEW(bed->arena, struct core_v1_pod);

        pod->metadata.namespace = STR("d");
        pod->metadata.generate_name = STR("web-");
        plan_create(&bed->plan, &core_v1_pod_kind, pod);
        plan_last(&bed->plan)->batch = 1;
        plan_last(&bed->plan)->note = (struct plan_note){.kind = &apps_v1_replica_set_kind,
                                                        .about = set,
                                                        .done_reason = "SuccessfulCreate",
                                                        .done_format = "Created pod: %s",
                                                        .failed_reason = "FailedCreate",
                                                        .failed_format = "Error creating: %s"};
    }
}

static void run_on_loop(task_fn *fn)
{
    struct env *env = event_loop_new();

    event_loop_run_task(env, "test", fn, NULL);
    event_loop_free(env);
}

static size_t count(struct str text, const char *what)
{
    size_t n = 0;

    for (size_t at; (at = str_find(text, str_of(what))) != SIZE_MAX; n++) {
        text = str_from(text, at + 1);
    }
    return n;
}

static void slow_start_run(void *arg)
{
    struct bed bed = {0};

    begin(&bed);
    plan_pods(&bed, set_of(&bed), 7);
    act(&bed);
    CHECK_OK(TAKE(bed.after->failure));
    CHECK_INT(bed.waves, 3);
    CHECK_INT(bed.most_in_flight[0], 1);
    CHECK_INT(bed.most_in_flight[1], 2);
    CHECK_INT(bed.most_in_flight[2], 4);
    CHECK_INT(bed.after->written.len, 7);
    CHECK_STR(bed.after->written.items[0].revision, "101");
    CHECK_INT(count(buf_str(&bed.events), "Normal SuccessfulCreate: Created pod: pod-"), 7);
    end(&bed);
}

TEST("controller/carry_out/creations start slowly: one, two, four at once")
{
    run_on_loop(slow_start_run);
}

static void failure_run(void *arg)
{
    struct bed bed = {.fail_at = 2,
                      .refusal = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"reason\":\"Forbidden\",\"code\":403,"
                                 "\"message\":\"over quota\"}"};

    begin(&bed);
    struct apps_v1_replica_set *set = set_of(&bed);

    plan_pods(&bed, set, 7);
    plan_update(&bed.plan, &apps_v1_replica_set_kind, set);
    plan_update_status(&bed.plan, &apps_v1_replica_set_kind, set);
    act(&bed);
    CHECK_ERROR(TAKE(bed.after->failure), "over quota");
    CHECK_INT(bed.after->failed_verb, PLAN_CREATE);
    CHECK_INT(bed.creates, 3); /* the wave in which one fails is the last */
    /* The update is left out, the status is written all the same. */
    CHECK_INT(count(buf_str(&bed.log), "PUT /apis/apps/v1/namespaces/d/replicasets/web\n"), 0);
    CHECK_INT(count(buf_str(&bed.log), "PUT /apis/apps/v1/namespaces/d/replicasets/web/status\n"), 1);
    CHECK_INT(count(buf_str(&bed.events), "Warning FailedCreate: Error creating: over quota"), 1);
    CHECK_INT(count(buf_str(&bed.events), "Normal SuccessfulCreate"), 2);
    end(&bed);
}

TEST("controller/carry_out/a failure ends the batch and skips what follows, but not the status")
{
    run_on_loop(failure_run);
}

static void ending_run(void *arg)
{
    struct bed bed = {.fail_at = 1,
                      .refusal = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"reason\":\"Forbidden\",\"code\":403,"
                                 "\"message\":\"ending\",\"details\":{\"causes\":[{\"reason\":"
                                 "\"NamespaceTerminating\",\"message\":\"d\",\"field\":\"metadata.namespace\"}]}}"};

    begin(&bed);
    plan_pods(&bed, set_of(&bed), 1);
    plan_delete(&bed.plan, &core_v1_pod_kind, set_of(&bed));
    act(&bed);
    CHECK_OK(TAKE(bed.after->failure)); /* neither that nothing can be made there, nor that the pod is gone already */
    CHECK_INT(count(buf_str(&bed.log), "DELETE /api/v1/namespaces/d/pods/web\n"), 1);
    end(&bed);
}

TEST("controller/carry_out/what no later try can mend, or is as wanted already, is no failure")
{
    run_on_loop(ending_run);
}

static void revision_run(void *arg)
{
    struct bed bed = {0};

    begin(&bed);
    plan_update(&bed.plan, &apps_v1_replica_set_kind, set_of(&bed));
    plan_update_status(&bed.plan, &apps_v1_replica_set_kind, set_of(&bed));
    act(&bed);
    CHECK_STR(buf_str(&bed.log), "PUT /apis/apps/v1/namespaces/d/replicasets/web\n  of version 5\n"
                                 "PUT /apis/apps/v1/namespaces/d/replicasets/web/status\n  of version 77\n");
    end(&bed);
}

TEST("controller/carry_out/a second write of an object is of the version that the first one made")
{
    run_on_loop(revision_run);
}
