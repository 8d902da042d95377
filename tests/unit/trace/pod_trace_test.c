#include "trace/pod_trace.h"

#include "base/env.h"
#include "test.h"

#define DEPLOYMENT STR_INIT("d-uid")
#define REPLICASET STR_INIT("r-uid")
#define POD STR_INIT("p-uid")
#define TRACE_ID STR_INIT("11111111111111111111111111111111")

static const struct pod_trace_chain chain = {.pod_uid = POD, .replicaset_uid = REPLICASET, .deployment_uid = DEPLOYMENT};

static struct trace_span span_at(enum trace_step step, int64_t start_ms)
{
    struct trace_span span = {.step = step, .start = start_ms * ENV_MS, .end = (start_ms + 1) * ENV_MS};

    if (step <= TRACE_RESPOND) {
        span.trace_id = (struct str)TRACE_ID;
        span.uid = step >= TRACE_STORAGE_WRITE ? (struct str)DEPLOYMENT : STR("");
    } else if (step == TRACE_DEPLOYMENT_OBSERVED || step == TRACE_REPLICASET_ENSURED || step == TRACE_DEPLOYMENT_STATUS) {
        span.uid = (struct str)DEPLOYMENT;
    } else {
        span.uid = step <= TRACE_DEPLOYMENT_STATUS ? (struct str)REPLICASET : (struct str)POD;
    }
    return span;
}

/* Each step once, ten milliseconds apart. */
static struct trace_span_list whole_story(struct arena *arena)
{
    struct trace_span_list spans = {0};

    for (int step = 1; step < TRACE_STEP_COUNT; step++) {
        *LIST_ADD(arena, &spans) = span_at((enum trace_step)step, step * 10);
    }
    return spans;
}

TEST("trace/pod_trace/joins all 46 steps of a Deployment's pod")
{
    struct arena *arena = arena_new();
    struct trace_span_list spans = whole_story(arena);
    struct pod_trace trace = pod_trace_join(&spans, &chain, arena);

    for (int step = 1; step < TRACE_STEP_COUNT; step++) {
        CHECK(trace.lines[step].span != NULL);
        CHECK_INT(trace.lines[step].span->start, step * 10 * ENV_MS);
    }
    CHECK_INT(trace.failed, 0);
    struct str text = pod_trace_text(&trace, arena);
    size_t lines = 0;

    for (size_t i = 0; i < text.n; i++) {
        lines += text.p[i] == '\n';
    }
    CHECK_INT(lines, 47);
    CHECK(str_contains(text, STR("  46  kubelet            running                   +450ms   1.00ms")));
    arena_free(arena);
}

TEST("trace/pod_trace/takes of repeated steps those that led to this pod")
{
    struct arena *arena = arena_new();
    struct trace_span_list spans = {0};

    *LIST_ADD(arena, &spans) = span_at(TRACE_DEPLOYMENT_OBSERVED, 10);
    *LIST_ADD(arena, &spans) = span_at(TRACE_DEPLOYMENT_STATUS, 20);
    *LIST_ADD(arena, &spans) = span_at(TRACE_DEPLOYMENT_OBSERVED, 30);
    *LIST_ADD(arena, &spans) = span_at(TRACE_POD_QUEUED, 40);
    *LIST_ADD(arena, &spans) = span_at(TRACE_DEPLOYMENT_STATUS, 50);
    *LIST_ADD(arena, &spans) = span_at(TRACE_DEPLOYMENT_OBSERVED, 60);
    *LIST_ADD(arena, &spans) = span_at(TRACE_DEPLOYMENT_STATUS, 70);
    struct pod_trace trace = pod_trace_join(&spans, &chain, arena);

    CHECK_INT(trace.lines[TRACE_DEPLOYMENT_OBSERVED].span->start, 30 * ENV_MS);
    CHECK_INT(trace.lines[TRACE_DEPLOYMENT_STATUS].span->start, 50 * ENV_MS);
    CHECK(trace.lines[TRACE_RUNNING].span == NULL);
    CHECK(str_contains(pod_trace_text(&trace, arena), STR("not recorded")));
    arena_free(arena);
}

TEST("trace/pod_trace/ends where the flow failed, unless it was tried again")
{
    struct arena *arena = arena_new();
    struct trace_span_list spans = {0};
    struct trace_span failed = span_at(TRACE_IMAGE, 400);

    failed.outcome = TRACE_FAILED;
    failed.detail = STR("not found");
    *LIST_ADD(arena, &spans) = span_at(TRACE_SANDBOX, 370);
    *LIST_ADD(arena, &spans) = failed;
    struct pod_trace trace = pod_trace_join(&spans, &chain, arena);

    CHECK_INT(trace.failed, TRACE_IMAGE);
    struct str text = pod_trace_text(&trace, arena);

    CHECK(str_contains(text, STR("FAILED: not found")));
    CHECK(!str_contains(text, STR("container-started")));

    *LIST_ADD(arena, &spans) = span_at(TRACE_RESOURCES_INITIALISED, 380); /* which was done before: the image still failed */
    trace = pod_trace_join(&spans, &chain, arena);
    CHECK_INT(trace.failed, TRACE_IMAGE);

    *LIST_ADD(arena, &spans) = span_at(TRACE_IMAGE, 500);
    trace = pod_trace_join(&spans, &chain, arena);
    CHECK_INT(trace.failed, 0);
    CHECK_INT(trace.lines[TRACE_IMAGE].span->start, 500 * ENV_MS);
    arena_free(arena);
}

TEST("trace/pod_trace/skips the controllers of a pod that was made by itself, and shows parts of a step")
{
    struct arena *arena = arena_new();
    struct trace_span_list spans = {0};
    struct trace_span write = span_at(TRACE_STORAGE_WRITE, 150), admission = span_at(TRACE_ADMISSION, 130);
    struct trace_span part = span_at(TRACE_ADMISSION, 130);
    const struct pod_trace_chain alone = {.pod_uid = POD};

    write.uid = (struct str)POD;
    part.child = STR("ServiceAccount");
    *LIST_ADD(arena, &spans) = admission;
    *LIST_ADD(arena, &spans) = part;
    *LIST_ADD(arena, &spans) = write;
    struct pod_trace trace = pod_trace_join(&spans, &alone, arena);

    CHECK_STR(str_of(trace.lines[TRACE_REPLICASET_ENSURED].skipped), "the pod was made by itself");
    CHECK_INT(trace.lines[TRACE_ADMISSION].children.len, 1);
    OWNED(buf_done) struct buf json = {0};

    pod_trace_json(&json, &trace);
    CHECK(str_contains(buf_str(&json), STR("\"part\": \"ServiceAccount\"")));
    arena_free(arena);
}

TEST("trace/pod_trace/lets the first container stand for a step that each has")
{
    struct arena *arena = arena_new();
    struct trace_span_list spans = {0};
    struct trace_span part = span_at(TRACE_CONTAINER_STARTED, 440);

    part.child = STR("main");
    *LIST_ADD(arena, &spans) = part;
    struct pod_trace trace = pod_trace_join(&spans, &chain, arena);

    CHECK_STR(trace.lines[TRACE_CONTAINER_STARTED].span->child, "main");
    CHECK_INT(trace.lines[TRACE_CONTAINER_STARTED].children.len, 0);
    part.child = STR("side");
    part.start += ENV_MS;
    *LIST_ADD(arena, &spans) = part;
    trace = pod_trace_join(&spans, &chain, arena);
    CHECK_STR(trace.lines[TRACE_CONTAINER_STARTED].span->child, "main");
    CHECK_INT(trace.lines[TRACE_CONTAINER_STARTED].children.len, 2);
    spans.items[1].outcome = TRACE_FAILED;
    trace = pod_trace_join(&spans, &chain, arena);
    CHECK_STR(trace.lines[TRACE_CONTAINER_STARTED].span->child, "side");
    CHECK_INT(trace.failed, TRACE_CONTAINER_STARTED);
    arena_free(arena);
}

TEST("trace/pod_trace/tells of a request that was refused")
{
    struct arena *arena = arena_new();
    struct trace_span_list spans = {0};
    struct trace_span refused = span_at(TRACE_AUTHENTICATION_RESULT, 90);

    refused.outcome = TRACE_FAILED;
    refused.detail = STR("Unauthorized");
    struct trace_span answer = span_at(TRACE_RESPOND, 91);

    answer.outcome = TRACE_FAILED;
    *LIST_ADD(arena, &spans) = span_at(TRACE_COMMAND, 10);
    *LIST_ADD(arena, &spans) = refused;
    *LIST_ADD(arena, &spans) = answer;
    struct pod_trace trace = pod_trace_of_request(&spans, (struct str)TRACE_ID, arena);

    CHECK_INT(trace.failed, TRACE_AUTHENTICATION_RESULT);
    CHECK(trace.lines[TRACE_COMMAND].span != NULL);
    arena_free(arena);
}
