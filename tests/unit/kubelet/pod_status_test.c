/* Phase and conditions by what the runtime has, and what of a status is written to the API. */
#include "test.h"

#include "api/pod_condition.h"
#include "base/buf.h"
#include "base/env.h"
#include "kubelet/pod_status.h"
#include "kubelet/runtime_pod.h"
#include "kubelet/status_manager.h"
#include "kubelet/status_patch.h"
#include "schema/json.h"

#include <string.h>

static const struct core_v1_pod *pod_of(struct arena *arena, const char *spec)
{
    struct core_v1_pod *pod = ARENA_NEW(arena, struct core_v1_pod);

    CHECK_OK(json_decode(arena, &core_v1_pod_type,
                         arena_printf(arena, "{\"metadata\":{\"uid\":\"u\",\"name\":\"p\"},\"spec\":{%s}}", spec), pod,
                         NULL));
    return pod;
}

/* "a=run b=0 b=7": a runs, of b the newest ended with 0 and the one before with 7; "new" was created. */
static void runtime_of(struct arena *arena, const char *text, struct runtime_pod *ret)
{
    int64_t age = 0;

    *ret = (struct runtime_pod){.uid = STR("u"), .name = STR("p")};
    for (struct str rest = str_of(text), item; str_next(&rest, ' ', &item);) {
        struct str name, state;
        int64_t code = 0;
        struct runtime_container *container;

        if (!str_cut(item, '=', &name, &state)) {
            continue;
        }
        container = LIST_ADD(arena, &ret->containers);
        *container = (struct runtime_container){
            .id = arena_printf(arena, "id-%.*s-%lld", STR_ARG(name), (long long)age),
            .name = name,
            .sandbox_id = STR("s"),
            .state = str_is(state, "run")   ? RUNTIME_RUNNING
                     : str_is(state, "new") ? RUNTIME_CREATED
                                            : RUNTIME_EXITED,
            .created_at = 1000 - age,
            .started_at = 1000 - age,
        };
        if (container->state == RUNTIME_EXITED) {
            CHECK(str_to_i64(state, &code));
            container->exit_code = (int32_t)code;
            container->reason = code == 0 ? STR("Completed") : STR("Error");
            container->finished_at = 2000;
        }
        age++;
    }
    if (ret->containers.len > 0) {
        struct runtime_sandbox *sandbox = LIST_ADD(arena, &ret->sandboxes);

        *sandbox = (struct runtime_sandbox){.id = STR("s"), .is_ready = true};
        *LIST_ADD(arena, &sandbox->ips) = STR("10.0.0.5");
    }
}

static enum probe_result probe(void *arg, struct str container_id, enum probe_kind kind)
{
    (void)container_id;
    return kind == PROBE_READINESS && arg != NULL ? PROBE_FAILURE : PROBE_SUCCESS;
}

static void generate(struct arena *arena, const struct core_v1_pod *pod, const char *runtime, bool is_terminal,
                     struct core_v1_pod_status *ret)
{
    struct runtime_pod found;
    static const struct core_v1_pod_status none;
    struct pod_status_input input = {
        .pod = pod,
        .runtime = &found,
        .old = &none,
        .is_terminal = is_terminal,
        .runtime_name = STR("rt"),
        .host_ip = STR("10.0.0.1"),
        .now = 5 * ENV_SECOND,
        .probe = probe,
    };

    runtime_of(arena, runtime, &found);
    pod_status_generate(arena, &input, ret);
}

#define TWO "\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]"
#define INIT "\"initContainers\":[{\"name\":\"i\"}]," TWO
#define SIDE "\"initContainers\":[{\"name\":\"i\",\"restartPolicy\":\"Always\"}]," TWO
#define NEVER "\"restartPolicy\":\"Never\","
#define ALWAYS "\"restartPolicy\":\"Always\","
#define ON_FAILURE "\"restartPolicy\":\"OnFailure\","

TEST("kubelet/pod_status/the phase follows from containers and the restart policy")
{
    static const struct {
        const char *spec, *runtime;
        bool is_terminal;
        const char *phase;
    } rows[] = {
        {ALWAYS TWO, "", false, "Pending"},
        {ALWAYS TWO, "a=run", false, "Pending"},
        {ALWAYS TWO, "a=run b=run", false, "Running"},
        {ALWAYS TWO, "a=run b=1", false, "Running"},
        {ALWAYS TWO, "a=0 b=0", false, "Running"},
        {ALWAYS TWO, "a=0 b=0", true, "Succeeded"},
        {ALWAYS TWO, "a=0 b=137", true, "Failed"},
        {NEVER TWO, "a=run b=1", false, "Running"},
        {NEVER TWO, "a=0 b=0", false, "Succeeded"},
        {NEVER TWO, "a=0 b=1", false, "Failed"},
        {ON_FAILURE TWO, "a=0 b=0", false, "Succeeded"},
        {ON_FAILURE TWO, "a=0 b=1", false, "Running"},
        {ALWAYS INIT, "i=run", false, "Pending"},
        {ALWAYS INIT, "i=0", false, "Pending"},
        {ALWAYS INIT, "a=run b=run i=0", false, "Running"},
        {NEVER INIT, "i=1", false, "Failed"},
        {ALWAYS INIT, "i=1", false, "Pending"},
        {ALWAYS SIDE, "i=run", false, "Pending"},
        {ALWAYS SIDE, "a=run b=run i=run", false, "Running"},
        {NEVER SIDE, "a=0 b=0 i=run", false, "Running"},
        {NEVER SIDE, "a=0 b=0 i=0", false, "Succeeded"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct core_v1_pod_status status;

        generate(arena, pod_of(arena, rows[i].spec), rows[i].runtime, rows[i].is_terminal, &status);
        if (!str_is(status.phase, rows[i].phase)) {
            test_fail(__FILE__, __LINE__, "row %zu (%s): %.*s", i, rows[i].runtime, STR_ARG(status.phase));
        }
    }
}

/* "Type=Status:Reason Type=..." of the kubelet's conditions. */
static struct str conditions_text(struct arena *arena, const struct core_v1_pod_status *status)
{
    struct str text = STR("");

    LIST_EACH (condition, &status->conditions) {
        text = arena_printf(arena, "%.*s%s%.*s=%.*s%s%.*s", STR_ARG(text), text.n > 0 ? " " : "",
                            STR_ARG(condition->type), STR_ARG(condition->status), condition->reason.n > 0 ? ":" : "",
                            STR_ARG(condition->reason));
    }
    return text;
}

TEST("kubelet/pod_status/conditions say how far a pod is, and why not further")
{
    static const struct {
        const char *spec, *runtime, *conditions;
    } rows[] = {
        {ALWAYS TWO, "",
         "PodReadyToStartContainers=False:PodSandboxNotReady Initialized=True Ready=False:ContainersNotReady "
         "ContainersReady=False:ContainersNotReady PodScheduled=True"},
        {ALWAYS INIT, "i=run",
         "PodReadyToStartContainers=True Initialized=False:ContainersNotInitialized Ready=False:ContainersNotReady "
         "ContainersReady=False:ContainersNotReady PodScheduled=True"},
        {ALWAYS INIT, "a=run b=run i=0",
         "PodReadyToStartContainers=True Initialized=True Ready=True ContainersReady=True PodScheduled=True"},
        {ALWAYS TWO, "a=run b=1",
         "PodReadyToStartContainers=True Initialized=True Ready=False:ContainersNotReady "
         "ContainersReady=False:ContainersNotReady PodScheduled=True"},
        {NEVER TWO, "a=0 b=0",
         "PodReadyToStartContainers=True Initialized=True:PodCompleted Ready=False:PodCompleted "
         "ContainersReady=False:PodCompleted PodScheduled=True"},
        {NEVER TWO, "a=0 b=2",
         "PodReadyToStartContainers=True Initialized=True Ready=False:PodFailed ContainersReady=False:PodFailed "
         "PodScheduled=True"},
        {ALWAYS "\"readinessGates\":[{\"conditionType\":\"x/y\"}]," TWO, "a=run b=run",
         "PodReadyToStartContainers=True Initialized=True Ready=False:ReadinessGatesNotReady ContainersReady=True "
         "PodScheduled=True"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct core_v1_pod_status status;

        generate(arena, pod_of(arena, rows[i].spec), rows[i].runtime, false, &status);
        CHECK_STR(conditions_text(arena, &status), rows[i].conditions);
    }
}

TEST("kubelet/pod_status/containers tell what they are doing and what happened to them before")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct core_v1_pod_status status;

    generate(arena, pod_of(arena, ALWAYS TWO), "a=run a=7 b=new", false, &status);
    const struct core_v1_container_status *a = &status.container_statuses.items[0];

    CHECK_STR(a->name, "a");
    CHECK_STR(a->container_id, "rt://id-a-0");
    CHECK(a->ready && a->state.running != NULL);
    CHECK_INT(a->last_state.terminated->exit_code, 7);
    CHECK(status.container_statuses.items[1].state.waiting != NULL);
    CHECK_STR(status.pod_ip, "10.0.0.5");
    CHECK_STR(status.host_ip, "10.0.0.1");
    CHECK_STR(status.qos_class, "BestEffort");
    generate(arena, pod_of(arena, ALWAYS TWO), "", false, &status);
    CHECK_STR(status.container_statuses.items[0].state.waiting->reason, "ContainerCreating");
    generate(arena, pod_of(arena, ALWAYS INIT), "", false, &status);
    CHECK_STR(status.container_statuses.items[0].state.waiting->reason, "PodInitializing");
}

static struct core_v1_pod_status *status_of(struct arena *arena, const char *json)
{
    struct core_v1_pod_status *status = ARENA_NEW(arena, struct core_v1_pod_status);

    CHECK_OK(json_decode(arena, &core_v1_pod_status_type, str_of(json), status, NULL));
    return status;
}

TEST("kubelet/status_patch/holds the differences and nothing else")
{
    static const struct {
        const char *old, *new, *patch;
    } rows[] = {
        {"{\"phase\":\"Running\"}", "{\"phase\":\"Running\"}", "{}"},
        {"{\"phase\":\"Pending\"}", "{\"phase\":\"Running\",\"podIP\":\"1.2.3.4\"}",
         "{\"phase\":\"Running\",\"podIP\":\"1.2.3.4\"}"},
        {"{\"phase\":\"Running\",\"message\":\"x\"}", "{\"phase\":\"Running\"}", "{\"message\":null}"},
        {"{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"},{\"type\":\"B\",\"status\":\"True\"}]}",
         "{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"},{\"type\":\"B\",\"status\":\"False\"}]}",
         "{\"$setElementOrder/conditions\":[{\"type\":\"A\"},{\"type\":\"B\"}],\"conditions\":[{\"type\":\"B\","
         "\"status\":\"False\"}]}"},
        {"{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"},{\"type\":\"B\",\"status\":\"True\"}]}",
         "{\"conditions\":[{\"type\":\"B\",\"status\":\"True\"}]}",
         "{\"$setElementOrder/conditions\":[{\"type\":\"B\"}],\"conditions\":[{\"$patch\":\"delete\",\"type\":"
         "\"A\"}]}"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        OWNED(buf_done) struct buf out = {0};
        bool differs = status_patch(&core_v1_pod_status_type, status_of(arena, rows[i].old),
                                    status_of(arena, rows[i].new), &out);

        CHECK_STR(buf_str(&out), rows[i].patch);
        CHECK_INT(differs, strcmp(rows[i].patch, "{}") != 0);
    }
}

TEST("kubelet/status_manager/conditions of others stay, and an end waits for the containers")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct core_v1_pod_status merged;

    status_manager_merge(arena,
                         status_of(arena, "{\"phase\":\"Running\",\"nominatedNodeName\":\"n\",\"conditions\":["
                                          "{\"type\":\"x/y\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":"
                                          "\"True\"}]}"),
                         status_of(arena, "{\"phase\":\"Failed\",\"reason\":\"Evicted\",\"conditions\":[{\"type\":"
                                          "\"Ready\",\"status\":\"False\"}],\"containerStatuses\":[{\"name\":\"c\","
                                          "\"state\":{\"running\":{}}}]}"),
                         &merged);
    CHECK_STR(merged.phase, "Running"); /* c runs still */
    CHECK_STR(merged.reason, "");
    CHECK_STR(merged.nominated_node_name, "n");
    CHECK_STR(conditions_text(arena, &merged), "x/y=True Ready=False");
    status_manager_merge(arena, status_of(arena, "{\"phase\":\"Running\"}"),
                         status_of(arena, "{\"phase\":\"Failed\",\"reason\":\"Evicted\",\"containerStatuses\":[{"
                                          "\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":0}}}]}"),
                         &merged);
    CHECK_STR(merged.phase, "Failed");
    CHECK_STR(merged.reason, "Evicted");
}
