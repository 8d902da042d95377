#include "kubelet/qos_values.h"

const char *qos_class_name(enum qos_class qos)
{
    static const char *const names[] = {"Guaranteed", "Burstable", "BestEffort"};

    return names[qos];
}

int64_t qos_cpu_shares(int64_t milli_cpu)
{
    if (milli_cpu <= 0) {
        return 2;
    }
    if (milli_cpu > 262144 * INT64_C(1000) / 1024) {
        return 262144;
    }
    return MAX(milli_cpu * 1024 / 1000, 2);
}

int64_t qos_cpu_quota(int64_t milli_cpu, int64_t period_us)
{
    if (milli_cpu <= 0) {
        return 0;
    }
    return MAX(milli_cpu * period_us / 1000, 1000);
}

int64_t qos_oom_score_adjust(enum qos_class qos, bool is_node_critical, int64_t memory_request,
                             int64_t memory_capacity)
{
    if (is_node_critical || qos == QOS_GUARANTEED) {
        return -997;
    }
    if (qos == QOS_BEST_EFFORT || memory_capacity <= 0) {
        return 1000;
    }
    int64_t score = 1000 - (int64_t)((__int128)1000 * memory_request / memory_capacity);

    /* Above all guaranteed pods, below all best-effort ones. */
    if (score < 1000 + -997) {
        return 1000 + -997;
    }
    return score == 1000 ? 999 : score;
}
