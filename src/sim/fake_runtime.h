/* A container runtime that is memory, for the simulation: CRI's calls as the kubelet makes them (kubelet/cri.h), with
 * latencies and failures from the env's random numbers. Containers go on running while the kubelet is down. */
#ifndef SIM_FAKE_RUNTIME_H
#define SIM_FAKE_RUNTIME_H

#include "kubelet/cri.h"

struct fake_runtime;

struct fake_runtime_faults {
    int64_t latency_max;      /* ns; each call takes up to that */
    unsigned failures_in_1000; /* calls that fail and do nothing */
};

/* Called when a pod's sandbox starts (`runs`) and when it has stopped. */
typedef void fake_runtime_observer(void *arg, struct str node, struct str pod_uid, bool runs);

struct fake_runtime *fake_runtime_new(struct str node, uint8_t subnet, fake_runtime_observer *observer, void *arg);
void fake_runtime_free(struct fake_runtime *runtime);
void fake_runtime_set_faults(struct fake_runtime *runtime, const struct fake_runtime_faults *faults);
/* A kubelet's end; freeing it leaves the runtime. */
struct cri *fake_runtime_connect(struct fake_runtime *runtime);
/* All that runs ends at once, as when a machine loses power; what the runtime keeps on disk stays. */
void fake_runtime_reboot(struct fake_runtime *runtime);
/* One of the running containers, at random, ends with that code; false when none runs. */
bool fake_runtime_end_container(struct fake_runtime *runtime, int32_t code);
/* Sandboxes that are ready. */
size_t fake_runtime_running(const struct fake_runtime *runtime);

#endif
