/* What pods and the node use (server.h): the runtime's figures as stock's Summary and as metrics. */
#include "base/env.h"
#include "kubelet/pod_workers.h"
#include "kubelet/runtime_fetch.h"
#include "kubelet/server.h"
#include "schema/json_lexer.h"
#include "schema/map_of.h"
#include "schema/timestamp.h"

enum { PROC_STAT_BYTES = 16384, JIFFIES_A_SECOND = 100 };

struct figures {
    struct http_exchange *exchange;
    struct kubelet *kubelet;
    struct host_usage usage;
    struct host_fs_usage fs;
    int64_t cpu_ns; /* of the node, since it was booted; below 0: unknown */
    struct cri_v1_list_container_stats_response *containers;
};

static uint64_t value_of(const struct cri_v1_u_int64_value *value)
{
    return value == NULL ? 0 : value->value;
}

/* The time all CPUs were not idle, by the first line of /proc/stat. */
static int64_t node_cpu(struct figures *figures)
{
    struct str text, line, rest, word;
    int64_t jiffies = 0, one;
    struct status *error = host_read(figures->kubelet->host, "/proc/stat", PROC_STAT_BYTES, figures->exchange->arena,
                                     &text);

    if (error != NULL) {
        status_free(error);
        return -1;
    }
    str_cut(text, '\n', &line, &rest);
    rest = str_trim(str_from(line, 3)); /* "cpu  user nice system idle iowait irq softirq steal" */
    for (int i = 0; i < 8 && str_next(&rest, ' ', &word); i++) {
        bool is_idle = i == 3 || i == 4;

        jiffies += !is_idle && str_to_i64(word, &one) ? one : 0;
    }
    return jiffies * (ENV_SECOND / JIFFIES_A_SECOND);
}

static struct status *gather(struct figures *figures)
{
    struct kubelet *kubelet = figures->kubelet;
    struct cri_v1_list_container_stats_request request = {0};

    TRY(host_usage(kubelet->host, &figures->usage));
    TRY(host_fs_usage(kubelet->host, arena_cstr(figures->exchange->arena, kubelet->options.root_dir), &figures->fs));
    figures->cpu_ns = node_cpu(figures);
    return cri_list_container_stats(kubelet->cri, &request, figures->exchange->arena, &figures->containers);
}

static struct str label(const struct cri_v1_container_stats *stats, struct str key)
{
    return str_map_get(&stats->attributes->labels, key);
}

static bool is_of_pod(const struct cri_v1_container_stats *stats, const struct core_v1_pod *pod)
{
    return stats->attributes != NULL && str_eq(label(stats, LABEL_POD_UID), pod->metadata.uid);
}

static struct str time_text(struct arena *arena, int64_t nanos)
{
    struct timestamp time = timestamp_of_nanos(nanos);

    time.nanos = 0;
    return timestamp_format(arena, time);
}

static void add_cpu(struct buf *out, struct arena *arena, int64_t at, uint64_t cores, uint64_t nanoseconds)
{
    buf_printf(out, "\"cpu\":{\"time\":\"%.*s\",\"usageNanoCores\":%llu,\"usageCoreNanoSeconds\":%llu}",
               STR_ARG(time_text(arena, at)), (unsigned long long)cores, (unsigned long long)nanoseconds);
}

static void add_memory(struct buf *out, struct arena *arena, int64_t at, uint64_t usage, uint64_t working_set,
                       uint64_t rss)
{
    buf_printf(out, "\"memory\":{\"time\":\"%.*s\",\"usageBytes\":%llu,\"workingSetBytes\":%llu,\"rssBytes\":%llu}",
               STR_ARG(time_text(arena, at)), (unsigned long long)usage, (unsigned long long)working_set,
               (unsigned long long)rss);
}

static void add_fs(struct buf *out, struct arena *arena, const char *name, const struct host_fs_usage *fs,
                   uint64_t used)
{
    buf_printf(out,
               "\"%s\":{\"time\":\"%.*s\",\"availableBytes\":%lld,\"capacityBytes\":%lld,\"usedBytes\":%llu,"
               "\"inodesFree\":%lld,\"inodes\":%lld}",
               name, STR_ARG(time_text(arena, env_wall())), (long long)fs->available, (long long)fs->capacity,
               (unsigned long long)used, (long long)fs->inodes_free, (long long)fs->inodes);
}

struct sums {
    uint64_t cores, nanoseconds, usage, working_set, rss;
};

static void add_container(struct buf *out, struct figures *figures, const struct cri_v1_container_stats *stats,
                          struct sums *sums)
{
    struct arena *arena = figures->exchange->arena;
    int64_t now = env_wall();
    uint64_t cores = 0, nanoseconds = 0, usage = 0, working_set = 0, rss = 0;

    if (stats->cpu != NULL) {
        cores = value_of(stats->cpu->usage_nano_cores);
        nanoseconds = value_of(stats->cpu->usage_core_nano_seconds);
    }
    if (stats->memory != NULL) {
        working_set = value_of(stats->memory->working_set_bytes);
        usage = stats->memory->usage_bytes != NULL ? value_of(stats->memory->usage_bytes) : working_set;
        rss = value_of(stats->memory->rss_bytes);
    }
    buf_add_str(out, STR("{\"name\":"));
    json_add_string(out, label(stats, LABEL_CONTAINER_NAME));
    buf_add_char(out, ',');
    add_cpu(out, arena, now, cores, nanoseconds);
    buf_add_char(out, ',');
    add_memory(out, arena, now, usage, working_set, rss);
    buf_add_char(out, ',');
    add_fs(out, arena, "rootfs", &figures->fs,
           stats->writable_layer != NULL ? value_of(stats->writable_layer->used_bytes) : 0);
    buf_add_char(out, '}');
    sums->cores += cores;
    sums->nanoseconds += nanoseconds;
    sums->usage += usage;
    sums->working_set += working_set;
    sums->rss += rss;
}

static void add_pod(struct buf *out, struct figures *figures, const struct core_v1_pod *pod)
{
    struct arena *arena = figures->exchange->arena;
    struct sums sums = {0};
    bool is_first = true;

    buf_add_str(out, STR("{\"podRef\":{\"name\":"));
    json_add_string(out, pod->metadata.name);
    buf_add_str(out, STR(",\"namespace\":"));
    json_add_string(out, pod->metadata.namespace);
    buf_add_str(out, STR(",\"uid\":"));
    json_add_string(out, pod->metadata.uid);
    buf_printf(out, "},\"startTime\":\"%.*s\",\"containers\":[",
               STR_ARG(timestamp_format(arena, pod->metadata.creation_timestamp)));
    LIST_EACH (stats, &figures->containers->stats) {
        if (is_of_pod(stats, pod)) {
            buf_add_str(out, is_first ? STR("") : STR(","));
            add_container(out, figures, stats, &sums);
            is_first = false;
        }
    }
    buf_add_str(out, STR("],"));
    add_cpu(out, arena, env_wall(), sums.cores, sums.nanoseconds);
    buf_add_char(out, ',');
    add_memory(out, arena, env_wall(), sums.usage, sums.working_set, sums.rss);
    buf_add_char(out, '}');
}

static void add_node(struct buf *out, struct figures *figures)
{
    struct arena *arena = figures->exchange->arena;
    const struct host_usage *usage = &figures->usage;
    uint64_t working_set = (uint64_t)(usage->memory_capacity - usage->memory_available);
    uint64_t used = (uint64_t)(figures->fs.capacity - figures->fs.available);

    buf_add_str(out, STR("\"node\":{\"nodeName\":"));
    json_add_string(out, figures->kubelet->node_name);
    buf_printf(out, ",\"startTime\":\"%.*s\",",
               STR_ARG(time_text(arena, env_wall() - (env_mono() - figures->kubelet->started_at))));
    if (figures->cpu_ns >= 0) {
        add_cpu(out, arena, env_wall(), 0, (uint64_t)figures->cpu_ns);
        buf_add_char(out, ',');
    }
    add_memory(out, arena, env_wall(), working_set, working_set, working_set);
    buf_add_char(out, ',');
    add_fs(out, arena, "fs", &figures->fs, used);
    buf_add_str(out, STR(",\"runtime\":{"));
    add_fs(out, arena, "imageFs", &figures->fs, used);
    buf_printf(out, "},\"rlimit\":{\"time\":\"%.*s\",\"maxpid\":%lld,\"curproc\":%lld}}",
               STR_ARG(time_text(arena, env_wall())), (long long)usage->pids_max, (long long)usage->pids);
}

static void respond(struct http_exchange *exchange, struct str type, struct str body)
{
    struct http_headers headers = {0};

    http_header_add(exchange->arena, &headers, STR("content-type"), type);
    status_free(http_respond(exchange, 200, &headers, body));
}

static bool gather_or_fail(struct figures *figures)
{
    struct status *error = gather(figures);

    if (error != NULL) {
        server_error(figures->exchange, 500, "%.*s", STR_ARG(error->message));
        status_free(error);
        return false;
    }
    return true;
}

void server_stats_summary(struct kubelet *kubelet, struct http_exchange *exchange)
{
    OWNED(buf_done) struct buf out = {0};
    struct figures figures = {.exchange = exchange, .kubelet = kubelet};
    bool is_first = true;

    if (!gather_or_fail(&figures)) {
        return;
    }
    struct pod_refs pods = pod_workers_pods(kubelet->workers, exchange->arena);

    buf_add_char(&out, '{');
    add_node(&out, &figures);
    buf_add_str(&out, STR(",\"pods\":["));
    LIST_EACH (pod, &pods) {
        if (pod_workers_is_active(kubelet->workers, (*pod)->pod->metadata.uid)) {
            buf_add_str(&out, is_first ? STR("") : STR(","));
            add_pod(&out, &figures, (*pod)->pod);
            is_first = false;
        }
    }
    buf_add_str(&out, STR("]}"));
    respond(exchange, STR("application/json"), buf_str(&out));
}

static void add_metric(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s [STABLE] %s\n# TYPE %s %s\n", name, help, name, type);
}

static double seconds_of(const struct cri_v1_container_stats *stats)
{
    return stats->cpu == NULL ? 0 : (double)value_of(stats->cpu->usage_core_nano_seconds) / 1e9;
}

static void add_container_metrics(struct buf *out, struct figures *figures)
{
    add_metric(out, "container_cpu_usage_seconds_total", "counter",
               "Cumulative cpu time consumed by the container in core-seconds");
    LIST_EACH (stats, &figures->containers->stats) {
        if (stats->attributes != NULL && label(stats, LABEL_POD_UID).n > 0) {
            buf_printf(out,
                       "container_cpu_usage_seconds_total{container=\"%.*s\",namespace=\"%.*s\",pod=\"%.*s\"} %.9g\n",
                       STR_ARG(label(stats, LABEL_CONTAINER_NAME)), STR_ARG(label(stats, LABEL_POD_NAMESPACE)),
                       STR_ARG(label(stats, LABEL_POD_NAME)), seconds_of(stats));
        }
    }
    add_metric(out, "container_memory_working_set_bytes", "gauge", "Current working set of the container in bytes");
    LIST_EACH (stats, &figures->containers->stats) {
        if (stats->attributes != NULL && label(stats, LABEL_POD_UID).n > 0 && stats->memory != NULL) {
            buf_printf(out,
                       "container_memory_working_set_bytes{container=\"%.*s\",namespace=\"%.*s\",pod=\"%.*s\"} %llu\n",
                       STR_ARG(label(stats, LABEL_CONTAINER_NAME)), STR_ARG(label(stats, LABEL_POD_NAMESPACE)),
                       STR_ARG(label(stats, LABEL_POD_NAME)),
                       (unsigned long long)value_of(stats->memory->working_set_bytes));
        }
    }
}

static void add_pod_metrics(struct buf *out, struct figures *figures, bool is_memory)
{
    struct pod_refs pods = pod_workers_pods(figures->kubelet->workers, figures->exchange->arena);

    LIST_EACH (pod, &pods) {
        double seconds = 0;
        uint64_t bytes = 0;

        LIST_EACH (stats, &figures->containers->stats) {
            if (is_of_pod(stats, (*pod)->pod)) {
                seconds += seconds_of(stats);
                bytes += stats->memory == NULL ? 0 : value_of(stats->memory->working_set_bytes);
            }
        }
        buf_printf(out, "pod_%s{namespace=\"%.*s\",pod=\"%.*s\"} %.15g\n",
                   is_memory ? "memory_working_set_bytes" : "cpu_usage_seconds_total",
                   STR_ARG((*pod)->pod->metadata.namespace), STR_ARG((*pod)->pod->metadata.name),
                   is_memory ? (double)bytes : seconds);
    }
}

void server_metrics_resource(struct kubelet *kubelet, struct http_exchange *exchange)
{
    OWNED(buf_done) struct buf out = {0};
    struct figures figures = {.exchange = exchange, .kubelet = kubelet};

    if (!gather_or_fail(&figures)) {
        return;
    }
    add_container_metrics(&out, &figures);
    if (figures.cpu_ns >= 0) {
        add_metric(&out, "node_cpu_usage_seconds_total", "counter",
                   "Cumulative cpu time consumed by the node in core-seconds");
        buf_printf(&out, "node_cpu_usage_seconds_total %.9g\n", (double)figures.cpu_ns / 1e9);
    }
    add_metric(&out, "node_memory_working_set_bytes", "gauge", "Current working set of the node in bytes");
    buf_printf(&out, "node_memory_working_set_bytes %lld\n",
               (long long)(figures.usage.memory_capacity - figures.usage.memory_available));
    add_metric(&out, "pod_cpu_usage_seconds_total", "counter",
               "Cumulative cpu time consumed by the pod in core-seconds");
    add_pod_metrics(&out, &figures, false);
    add_metric(&out, "pod_memory_working_set_bytes", "gauge", "Current working set of the pod in bytes");
    add_pod_metrics(&out, &figures, true);
    add_metric(&out, "resource_scrape_error", "gauge",
               "1 if there was an error while getting container metrics, 0 otherwise");
    buf_add_str(&out, STR("resource_scrape_error 0\n"));
    respond(exchange, STR("text/plain; version=0.0.4; charset=utf-8"), buf_str(&out));
}
