#include "test.h"

#include "base/env.h"
#include "kubelet/backoff.h"
#include "kubelet/container_log.h"
#include "kubelet/expansion.h"
#include "kubelet/probe_state.h"
#include "kubelet/resolv_conf.h"

#include <string.h>

TEST("kubelet/backoff doubles from ten seconds to five minutes and starts over after ten")
{
    struct backoff backoff = {.initial = 10 * ENV_SECOND, .max = 300 * ENV_SECOND};
    static const int wanted[] = {10, 20, 40, 80, 160, 300, 300};
    int64_t now = 1000 * ENV_SECOND;

    CHECK(!backoff_is_waiting(&backoff, STR("a"), now, now));
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        backoff_step(&backoff, STR("a"), now);
        CHECK_INT(backoff_delay(&backoff, STR("a")) / ENV_SECOND, wanted[i]);
        CHECK(backoff_is_waiting(&backoff, STR("a"), now, now + wanted[i] * ENV_SECOND - 1));
        CHECK(!backoff_is_waiting(&backoff, STR("a"), now, now + wanted[i] * ENV_SECOND));
        now += wanted[i] * ENV_SECOND;
    }
    now += 601 * ENV_SECOND;
    CHECK(!backoff_is_waiting(&backoff, STR("a"), now, now));
    backoff_step(&backoff, STR("a"), now);
    CHECK_INT(backoff_delay(&backoff, STR("a")) / ENV_SECOND, 10);
    backoff_forget_prefix(&backoff, STR("a"));
    CHECK_INT(backoff_delay(&backoff, STR("a")), 0);
    backoff_done(&backoff);
}

TEST("kubelet/probe_state goes by thresholds and holds after a failed liveness")
{
    static const struct {
        enum probe_kind kind;
        int success, failure;
        const char *results; /* s, f, u(nknown) */
        const char *wanted;  /* what counts after each: S, F, U */
    } rows[] = {
        {PROBE_READINESS, 1, 3, "sffsfff", "SSSSSSF"},
        {PROBE_READINESS, 2, 1, "ssfss", "FSFFS"},
        {PROBE_READINESS, 1, 1, "usuf", "FSSF"},
        {PROBE_LIVENESS, 1, 3, "ffsffff", "SSSSSFF"},
        {PROBE_LIVENESS, 1, 1, "fs", "FF"},
        {PROBE_STARTUP, 1, 3, "ffs", "UUS"},
        {PROBE_STARTUP, 1, 2, "ffs", "UFF"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct probe_state state;

        probe_state_start(&state, rows[i].kind, rows[i].success, rows[i].failure);
        for (size_t at = 0; rows[i].results[at] != '\0'; at++) {
            char result = rows[i].results[at];

            probe_state_take(&state, result == 's' ? PROBE_SUCCESS : result == 'f' ? PROBE_FAILURE : PROBE_UNKNOWN);
            CHECK_INT(state.result == PROBE_SUCCESS ? 'S' : state.result == PROBE_FAILURE ? 'F' : 'U',
                      rows[i].wanted[at]);
        }
    }
}

static bool lookup(void *arg, struct str name, struct str *ret)
{
    if (str_is(name, "A")) {
        *ret = STR("one");
        return true;
    }
    if (str_is(name, "EMPTY")) {
        *ret = STR("");
        return true;
    }
    return false;
}

TEST("kubelet/expand replaces references and leaves the rest")
{
    static const struct {
        const char *text, *wanted;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"$(A)", "one"},
        {"x$(A)y$(A)", "xoneyone"},
        {"$(MISSING)", "$(MISSING)"},
        {"$$(A)", "$(A)"},
        {"$$$(A)", "$one"},
        {"$$$$(A)", "$$(A)"},
        {"$A", "$A"},
        {"$", "$"},
        {"a$", "a$"},
        {"$(A", "$(A"},
        {"$(EMPTY)x", "x"},
        {"$()", "$()"},
        {"$(A)$(", "one$("},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CHECK_STR(expand(arena, str_of(rows[i].text), lookup, NULL, NULL), rows[i].wanted);
    }
    struct str missing = {0};

    expand(arena, STR("$(A)$(X)$(Y)"), lookup, NULL, &missing);
    CHECK_STR(missing, "X");
}

TEST("kubelet/container_log parses the CRI format")
{
    struct container_log_line line;

    CHECK_OK(container_log_parse(STR("2016-10-06T00:17:09.669794202Z stdout F hello world\n"), &line));
    CHECK_INT(line.time, INT64_C(1475713029669794202));
    CHECK(!line.is_stderr && !line.is_partial);
    CHECK_STR(line.content, "hello world\n");
    CHECK_OK(container_log_parse(STR("2016-10-06T02:17:09.5+02:00 stderr P part\n"), &line));
    CHECK_INT(line.time, INT64_C(1475713029500000000));
    CHECK(line.is_stderr && line.is_partial);
    CHECK_STR(line.content, "part");
    CHECK_OK(container_log_parse(STR("1970-01-01T00:00:00Z stdout F:x \n"), &line));
    CHECK_INT(line.time, 0);
    CHECK_ERROR(container_log_parse(STR("hello\n"), &line), "timestamp");
    CHECK_ERROR(container_log_parse(STR("2016-10-06T00:17:09Z stdxxx F x\n"), &line), "stream type");
    CHECK_ERROR(container_log_parse(STR("2016-10-06T00:17:09Z stdout F"), &line), "no tag");
    CHECK_ERROR(container_log_parse(STR("2016-13-06T00:17:09Z stdout F x"), &line), "timestamp");
}

TEST("kubelet/container_log writes what is asked for")
{
    static const char *const lines[] = {
        "2020-01-01T00:00:01Z stdout F one\n",
        "2020-01-01T00:00:02Z stderr F two\n",
        "2020-01-01T00:00:03Z stdout P th\n",
        "2020-01-01T00:00:04Z stdout F ree\n",
        "rubbish\n",
    };
    int64_t second_2 = INT64_C(1577836802) * ENV_SECOND;
    const struct {
        struct container_log_filter filter;
        const char *wanted;
    } rows[] = {
        {{.limit_bytes = -1, .want_stdout = true, .want_stderr = true}, "one\ntwo\nthree\n"},
        {{.limit_bytes = -1, .want_stdout = true}, "one\nthree\n"},
        {{.limit_bytes = -1, .want_stdout = true, .want_stderr = true, .since = second_2}, "two\nthree\n"},
        {{.limit_bytes = 5, .want_stdout = true, .want_stderr = true}, "one\nt"},
        {{.limit_bytes = 0, .want_stdout = true, .want_stderr = true}, ""},
        {{.limit_bytes = -1, .want_stdout = true, .timestamps = true},
         "2020-01-01T00:00:01Z one\n2020-01-01T00:00:03Z three\n"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct container_log_writer writer = {.filter = rows[i].filter};
        OWNED(buf_done) struct buf out = {0};

        for (size_t at = 0; at < COUNT_OF(lines); at++) {
            container_log_write(&writer, str_of(lines[at]), &out);
        }
        CHECK_STR(buf_str(&out), rows[i].wanted);
    }
}

TEST("kubelet/container_log finds the last lines")
{
    static const struct {
        const char *text;
        int count;
        const char *wanted;
        bool complete;
    } rows[] = {
        {"a\nb\nc\n", 1, "c\n", true},   {"a\nb\nc\n", 2, "b\nc\n", true}, {"a\nb\nc\n", 3, "a\nb\nc\n", false},
        {"a\nb\nc", 1, "c", true},       {"a\nb\n", 0, "", true},          {"", 5, "", false},
        {"a\n\n\n", 2, "\n\n", true},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool complete;
        size_t at = container_log_tail(str_of(rows[i].text), rows[i].count, &complete);

        CHECK_STR(str_from(str_of(rows[i].text), at), rows[i].wanted);
        CHECK_INT(complete, rows[i].complete);
    }
}

static struct str joined(struct arena *arena, const struct dns_list *list)
{
    struct str text = STR("");

    LIST_EACH (item, list) {
        text = arena_printf(arena, "%.*s%s%.*s", STR_ARG(text), text.n > 0 ? " " : "", STR_ARG(*item));
    }
    return text;
}

TEST("kubelet/resolv_conf decides by policy")
{
    static const struct {
        const char *policy;
        bool host_network, cluster;
        const char *servers, *searches, *options;
        bool no_cluster_dns;
    } rows[] = {
        {"ClusterFirst", false, true, "10.96.0.10", "ns.svc.cluster.local svc.cluster.local cluster.local example.com",
         "ndots:5", false},
        {"ClusterFirst", true, true, "1.1.1.1", "example.com", "timeout:2 rotate", false},
        {"ClusterFirstWithHostNet", true, true, "10.96.0.10",
         "ns.svc.cluster.local svc.cluster.local cluster.local example.com", "ndots:5", false},
        {"ClusterFirst", false, false, "1.1.1.1", "example.com", "timeout:2 rotate", true},
        {"Default", false, true, "1.1.1.1", "example.com", "timeout:2 rotate", false},
        {"None", false, true, "", "", "", false},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct dns_request request = {.namespace = STR("ns"), .cluster_domain = STR("cluster.local")};

    resolv_conf_parse(arena,
                      STR("# a comment\nnameserver 1.1.1.1\nsearch old.com\nsearch example.com. .\n"
                          "options timeout:1 rotate\noptions timeout:2\n"),
                      &request.node);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct dns_result result;

        request.policy = str_of(rows[i].policy);
        request.is_host_network = rows[i].host_network;
        request.cluster_dns = (struct dns_list){0};
        if (rows[i].cluster) {
            *LIST_ADD(arena, &request.cluster_dns) = STR("10.96.0.10");
        }
        resolv_conf_decide(arena, &request, &result);
        CHECK_STR(joined(arena, &result.config.servers), rows[i].servers);
        CHECK_STR(joined(arena, &result.config.searches), rows[i].searches);
        CHECK_STR(joined(arena, &result.config.options), rows[i].options);
        CHECK_INT(result.no_cluster_dns, rows[i].no_cluster_dns);
        CHECK_INT(result.warnings.len, 0);
    }
}

TEST("kubelet/resolv_conf keeps to the limits and says so")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct dns_request request = {.policy = STR("None"), .namespace = STR("ns")};
    struct dns_result result;

    for (int i = 0; i < 5; i++) {
        *LIST_ADD(arena, &request.extra.servers) = arena_printf(arena, "10.0.0.%d", i);
    }
    for (int i = 0; i < 40; i++) {
        *LIST_ADD(arena, &request.extra.searches) = arena_printf(arena, "s%d.example", i);
    }
    *LIST_ADD(arena, &request.extra.options) = STR("ndots:2");
    *LIST_ADD(arena, &request.extra.options) = STR("ndots:3");
    resolv_conf_decide(arena, &request, &result);
    CHECK_INT(result.config.servers.len, 3);
    CHECK_INT(result.config.searches.len, 32);
    CHECK_STR(joined(arena, &result.config.options), "ndots:3");
    CHECK_INT(result.warnings.len, 2);
    CHECK(str_has_prefix(result.warnings.items[0], STR("Nameserver limits were exceeded")));
    CHECK(str_has_prefix(result.warnings.items[1], STR("Search Line limits were exceeded")));
}
