#include "test.h"

#include "kubelet/pod_plan.h"

#include <stdio.h>
#include <string.h>

/* A pod and its runtime state in one line each, and the plan as text.
 *
 * Spec: "i:NAME" init, "s:NAME" sidecar, "c:NAME" regular, "e:NAME" ephemeral container, each with a suffix of S
 * (startup probe) and L (liveness probe) after a "/"; "A", "F", "N" the restart policy, "H" host network, "D" deleted.
 * Runtime, newest first: "+" ready sandbox, "-" dead one, "0" ready without address, "h" ready on the host network;
 * "NAME=STATE" a container of the newest sandbox: r running, c created, u unknown, a number: exited with that code,
 * m: OOMKilled; "~NAME=STATE" of an older one; a suffix "!" means its definition differs. Probes: "NAME" then s or l,
 * then + or -. */
struct world {
    struct plan_pod pod;
    struct runtime_pod runtime;
    const char *probes;
};

static void add_spec(struct arena *arena, struct world *world, struct str word)
{
    struct str name, flags;

    if (word.n == 1) {
        world->pod.restart = word.p[0] == 'F'   ? RESTART_ON_FAILURE
                             : word.p[0] == 'N' ? RESTART_NEVER
                                                : world->pod.restart;
        world->pod.is_host_network |= word.p[0] == 'H';
        world->pod.is_deleted |= word.p[0] == 'D';
        return;
    }
    str_cut(str_from(word, 2), '/', &name, &flags);
    struct plan_containers *list = word.p[0] == 'c'   ? &world->pod.regular
                                   : word.p[0] == 'e' ? &world->pod.ephemeral
                                                      : &world->pod.init;

    *LIST_ADD(arena, list) = (struct plan_container){
        .name = name,
        .hash = 7,
        .is_sidecar = word.p[0] == 's',
        .has_startup_probe = str_index(flags, 'S') != SIZE_MAX,
        .has_liveness_probe = str_index(flags, 'L') != SIZE_MAX,
    };
}

static void add_runtime(struct arena *arena, struct world *world, struct str word)
{
    struct str name, state;

    if (!str_cut(word, '=', &name, &state)) {
        struct runtime_sandbox *sandbox = LIST_ADD(arena, &world->runtime.sandboxes);

        *sandbox = (struct runtime_sandbox){
            .id = arena_printf(arena, "sandbox%zu", world->runtime.sandboxes.len),
            .attempt = (uint32_t)(5 - world->runtime.sandboxes.len),
            .is_ready = word.p[0] != '-',
            .has_network = true,
            .is_host_network = word.p[0] == 'h',
        };
        if (word.p[0] == '+') {
            *LIST_ADD(arena, &sandbox->ips) = STR("10.0.0.1");
        }
        return;
    }
    bool is_old = name.p[0] == '~';
    int64_t code = 0;

    name = str_from(name, is_old);
    bool is_different = str_has_suffix(state, STR("!"));

    state.n -= is_different;
    str_to_i64(state, &code);
    *LIST_ADD(arena, &world->runtime.containers) = (struct runtime_container){
        .id = arena_printf(arena, "id-%.*s", STR_ARG(name)),
        .name = name,
        .sandbox_id = is_old ? STR("old") : STR("sandbox1"),
        .hash = is_different ? 8 : 7,
        .state = state.p[0] == 'r'   ? RUNTIME_RUNNING
                 : state.p[0] == 'c' ? RUNTIME_CREATED
                 : state.p[0] == 'u' ? RUNTIME_UNKNOWN
                                     : RUNTIME_EXITED,
        .exit_code = (int32_t)code,
        .reason = state.p[0] == 'm' ? STR("OOMKilled") : STR(""),
    };
}

static enum probe_result probe(void *arg, struct str id, enum probe_kind kind)
{
    const struct world *world = arg;

    for (struct str rest = str_of(world->probes), word; str_next(&rest, ' ', &word);) {
        if (word.n > 2 && str_eq(str_sub(word, 0, word.n - 2), str_from(id, 3)) &&
            word.p[word.n - 2] == (kind == PROBE_STARTUP ? 's' : kind == PROBE_LIVENESS ? 'l' : 'r')) {
            return word.p[word.n - 1] == '+' ? PROBE_SUCCESS : PROBE_FAILURE;
        }
    }
    return PROBE_UNKNOWN;
}

static struct str describe(struct arena *arena, const struct world *world, const struct pod_plan *plan)
{
    struct str text = arena_printf(arena, "%s%s", plan->kill_pod ? "killpod " : "",
                                   plan->create_sandbox ? "sandbox " : "");

    LIST_EACH (kill, &plan->kills) {
        text = arena_printf(arena, "%.*skill(%.*s) ", STR_ARG(text), STR_ARG(kill->container->name));
    }
    LIST_EACH (start, &plan->starts) {
        const struct plan_containers *list = start->kind == PLAN_INIT      ? &world->pod.init
                                             : start->kind == PLAN_REGULAR ? &world->pod.regular
                                                                           : &world->pod.ephemeral;

        text = arena_printf(arena, "%.*sstart(%.*s) ", STR_ARG(text), STR_ARG(list->items[start->index].name));
    }
    return str_trim(text);
}

TEST("kubelet/pod_plan decides as stock")
{
    static const struct {
        const char *spec, *runtime, *probes, *wanted;
    } rows[] = {
        /* the sandbox */
        {"c:a", "", "", "killpod sandbox start(a)"},
        {"c:a c:b", "", "", "killpod sandbox start(a) start(b)"},
        {"c:a", "-", "", "killpod sandbox start(a)"},
        {"c:a", "+ + a=r", "", "killpod sandbox start(a)"},
        {"c:a", "0 a=r", "", "killpod sandbox start(a)"},
        {"c:a H", "+ a=r", "", "killpod sandbox start(a)"},
        {"c:a H", "h a=r", "", ""},
        {"c:a", "h a=r", "", "killpod sandbox start(a)"},
        {"c:a N", "- a=0", "", "killpod"},
        {"c:a N", "-", "", "killpod sandbox start(a)"},
        {"c:a c:b F", "- a=0 b=1", "", "killpod sandbox start(b)"},
        {"c:a F", "- a=0", "", "killpod"},
        {"i:x c:a", "- x=0 a=1", "", "killpod sandbox start(x)"},
        {"i:x c:a F", "- x=0 a=0", "", "killpod"},
        /* regular containers and restart policies */
        {"c:a", "+", "", "start(a)"},
        {"c:a", "+ a=r", "", ""},
        {"c:a c:b", "+ a=r", "", "start(b)"},
        {"c:a", "+ a=0", "", "start(a)"},
        {"c:a F", "+ a=1", "", "start(a)"},
        {"c:a F", "+ a=0", "", "killpod"},
        {"c:a N", "+ a=1", "", "killpod"},
        {"c:a c:b N", "+ a=1 b=r", "", ""},
        {"c:a", "+ a=c", "", "start(a)"},
        {"c:a", "+ a=u", "", "kill(a) start(a)"},
        {"c:a N", "+ a=u", "", "kill(a) start(a)"},
        {"c:a", "+ a=r!", "", "kill(a) start(a)"},
        {"c:a N", "+ a=r!", "", "kill(a) start(a)"},
        {"c:a D", "+ a=1", "", "killpod"},
        /* probes */
        {"c:a/L", "+ a=r", "al-", "kill(a) start(a)"},
        {"c:a/L", "+ a=r", "al+", ""},
        {"c:a/L N", "+ a=r", "al-", "killpod kill(a)"},
        {"c:a/S c:b N", "+ a=r b=r", "as-", "kill(a)"},
        /* init containers, one after the other */
        {"i:x i:y c:a", "", "", "killpod sandbox start(x)"},
        {"i:x i:y c:a", "+", "", "start(x)"},
        {"i:x i:y c:a", "+ x=r", "", ""},
        {"i:x i:y c:a", "+ x=0", "", "start(y)"},
        {"i:x i:y c:a", "+ y=0", "", "start(a)"},
        {"i:x i:y c:a", "+ y=0 x=0", "", "start(a)"},
        {"i:x c:a", "+ x=1", "", "start(x)"},
        {"i:x c:a N", "+ x=1", "", "killpod"},
        {"i:x c:a F", "+ x=1", "", "start(x)"},
        {"i:x c:a N", "+ x=u", "", "killpod"},
        {"i:x c:a", "+ x=u", "", "kill(x) start(x)"},
        {"i:x c:a", "+ x=c", "", "start(x)"},
        {"i:x c:a", "+ x=m", "", "start(x)"},
        {"i:x c:a", "+ x=0 a=r", "", ""},
        {"i:x c:a", "+ a=r", "", ""},
        {"i:x c:a", "+ ~a=1", "", "start(x)"},
        {"i:x c:a", "+ ~x=0", "", "start(x)"},
        /* sidecars */
        {"s:x c:a", "+", "", "start(x)"},
        {"s:x c:a", "+ x=r", "", "start(a)"},
        {"s:x i:y c:a", "+ x=r", "", "start(y)"},
        {"s:x i:y c:a", "+ x=r y=r", "", ""},
        {"s:x i:y c:a", "+ x=r y=0", "", "start(a)"},
        {"s:x/S c:a", "+ x=r", "", ""},
        {"s:x/S c:a", "+ x=r", "xs+", "start(a)"},
        {"s:x/S c:a", "+ x=r", "xs-", "kill(x) start(x)"},
        {"s:x/L c:a", "+ x=r a=r", "xl-", "kill(x) start(x)"},
        {"s:x c:a", "+ x=1 a=r", "", "start(x)"},
        {"s:x c:a", "+ a=r", "", "start(x)"},
        {"s:x c:a N", "+ x=0 a=r", "", "start(x)"},
        {"s:x c:a N", "+ x=r a=0", "", "killpod"},
        {"s:x c:a N", "+ x=1 a=0", "", "killpod"},
        {"s:x c:a", "+ x=r! a=r", "", "kill(x) start(x)"},
        {"s:x s:y c:a", "+ x=r y=r a=r", "", ""},
        /* ephemeral containers start once */
        {"c:a e:d", "+ a=r", "", "start(d)"},
        {"c:a e:d", "+ a=r d=1", "", ""},
        {"i:x c:a e:d", "+ x=r", "", "start(d)"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct world world = {.probes = rows[i].probes};
        struct pod_plan plan;

        for (struct str rest = str_of(rows[i].spec), word; str_next(&rest, ' ', &word);) {
            add_spec(arena, &world, word);
        }
        LIST_EACH (container, &world.pod.regular) {
            container->restart = world.pod.restart;
        }
        LIST_EACH (container, &world.pod.init) {
            container->restart = container->is_sidecar ? RESTART_ALWAYS : world.pod.restart;
        }
        for (struct str rest = str_of(rows[i].runtime), word; str_next(&rest, ' ', &word);) {
            if (word.n > 0) {
                add_runtime(arena, &world, word);
            }
        }
        pod_plan(arena, &world.pod, &world.runtime, probe, &world, &plan);
        struct str got = describe(arena, &world, &plan);

        if (!str_is(got, rows[i].wanted)) {
            test_fail(__FILE__, __LINE__, "spec \"%s\", runtime \"%s\", probes \"%s\": got \"%.*s\", wanted \"%s\"",
                      rows[i].spec, rows[i].runtime, rows[i].probes, STR_ARG(got), rows[i].wanted);
        }
    }
}

TEST("kubelet/pod_plan says why in stock's words")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct world world = {.probes = "al-"};
    struct pod_plan plan;

    add_spec(arena, &world, STR("c:a/L"));
    pod_plan(arena, &world.pod, &world.runtime, probe, &world, &plan);
    CHECK_STR(plan.sandbox_reason, "no pod sandbox exists");
    CHECK_INT(plan.attempt, 0);
    add_runtime(arena, &world, STR("-"));
    pod_plan(arena, &world.pod, &world.runtime, probe, &world, &plan);
    CHECK_STR(plan.sandbox_reason, "pod sandbox is not ready");
    CHECK_INT(plan.attempt, 5);
    world.runtime = (struct runtime_pod){0};
    add_runtime(arena, &world, STR("+"));
    add_runtime(arena, &world, STR("a=r"));
    pod_plan(arena, &world.pod, &world.runtime, probe, &world, &plan);
    CHECK_STR(plan.kills.items[0].message, "Container a failed liveness probe, will be restarted");
    CHECK_INT(plan.kills.items[0].reason, KILL_LIVENESS_PROBE);
    CHECK_STR(plan.sandbox_id, "sandbox1");
}

TEST("kubelet/pod_plan restart rules go before the policy")
{
    static const int32_t values[] = {42, 43};
    struct plan_rule in = {.values = values, .value_count = 2};
    struct plan_rule not_in = {.values = values, .value_count = 2, .is_not_in = true};
    struct plan_container container = {.restart = RESTART_NEVER, .rules = {&in, 1}};

    CHECK(plan_container_restarts(&container, 42));
    CHECK(!plan_container_restarts(&container, 1));
    container.rules.items = &not_in;
    CHECK(!plan_container_restarts(&container, 42));
    CHECK(plan_container_restarts(&container, 1));
}
