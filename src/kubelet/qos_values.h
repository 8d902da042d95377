/* Numbers of CPU shares, quotas and OOM scores that follow from requests and limits. Pure. */
#ifndef KUBELET_QOS_VALUES_H
#define KUBELET_QOS_VALUES_H

#include "base/attr.h"

#include <stdbool.h>
#include <stdint.h>

enum qos_class { QOS_GUARANTEED, QOS_BURSTABLE, QOS_BEST_EFFORT };

/* "Guaranteed", "Burstable", "BestEffort" */
const char *qos_class_name(enum qos_class qos);
/* cpu.shares: 1024 a CPU, at least 2, at most 262144. */
int64_t qos_cpu_shares(int64_t milli_cpu);
/* cpu.cfs_quota_us for a period; 0 (none) when there is no limit, at least 1000. */
int64_t qos_cpu_quota(int64_t milli_cpu, int64_t period_us);
/* oom_score_adj of a container. `remaining_memory` is what the pod's other containers leave; stock's rule. */
int64_t qos_oom_score_adjust(enum qos_class qos, bool is_node_critical, int64_t memory_request,
                             int64_t memory_capacity);

#endif
