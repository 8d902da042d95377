#include "test.h"

#include "base/env.h"
#include "kubelet/docker_config.h"
#include "kubelet/eviction.h"
#include "kubelet/garbage.h"
#include "kubelet/qos_values.h"

TEST("kubelet/qos_values shares, quotas and OOM scores are stock's")
{
    static const struct {
        int64_t milli, shares, quota;
    } rows[] = {{0, 2, 0},
                {1, 2, 1000},
                {2, 2, 1000},
                {10, 10, 1000},
                {100, 102, 10000},
                {500, 512, 50000},
                {1000, 1024, 100000},
                {2500, 2560, 250000},
                {1000000, 262144, 100000000}};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CHECK_INT(qos_cpu_shares(rows[i].milli), rows[i].shares);
        CHECK_INT(qos_cpu_quota(rows[i].milli, 100000), rows[i].quota);
    }
    int64_t capacity = INT64_C(4000000000);

    CHECK_INT(qos_oom_score_adjust(QOS_GUARANTEED, false, 0, capacity), -997);
    CHECK_INT(qos_oom_score_adjust(QOS_BURSTABLE, true, 0, capacity), -997);
    CHECK_INT(qos_oom_score_adjust(QOS_BEST_EFFORT, false, 0, capacity), 1000);
    CHECK_INT(qos_oom_score_adjust(QOS_BURSTABLE, false, 0, capacity), 999);
    CHECK_INT(qos_oom_score_adjust(QOS_BURSTABLE, false, capacity / 2, capacity), 500);
    CHECK_INT(qos_oom_score_adjust(QOS_BURSTABLE, false, capacity - 1, capacity), 3);
}

static const struct eviction_observation calm[EVICTION_SIGNAL_COUNT] = {
    [EVICTION_MEMORY_AVAILABLE] = {1 << 30, INT64_C(4) << 30},
    [EVICTION_NODEFS_AVAILABLE] = {INT64_C(50) << 30, INT64_C(100) << 30},
};

TEST("kubelet/eviction hard thresholds act at once and the condition outlasts them")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct eviction_thresholds thresholds;
    struct eviction_observation now[EVICTION_SIGNAL_COUNT];
    struct eviction_state state = {0};
    struct eviction_decision decision;
    int64_t minute = 60 * ENV_SECOND, transition = 5 * minute, at = 100 * minute;

    eviction_default_thresholds(arena, &thresholds);
    eviction_decide(&thresholds, calm, &state, at, transition, &decision);
    CHECK(decision.threshold == NULL && !decision.pressure[EVICTION_MEMORY_PRESSURE]);
    __builtin_memcpy(now, calm, sizeof(now));
    now[EVICTION_MEMORY_AVAILABLE].available = 50 << 20;
    now[EVICTION_NODEFS_AVAILABLE].available = INT64_C(5) << 30;
    eviction_decide(&thresholds, now, &state, at, transition, &decision);
    CHECK(decision.threshold != NULL);
    CHECK_INT(decision.threshold->signal, EVICTION_MEMORY_AVAILABLE);
    CHECK_INT(decision.threshold_value, 100 << 20);
    CHECK(decision.pressure[EVICTION_MEMORY_PRESSURE] && decision.pressure[EVICTION_DISK_PRESSURE]);
    eviction_decide(&thresholds, calm, &state, at + 4 * minute, transition, &decision);
    CHECK(decision.threshold == NULL && decision.pressure[EVICTION_MEMORY_PRESSURE]);
    eviction_decide(&thresholds, calm, &state, at + 6 * minute, transition, &decision);
    CHECK(!decision.pressure[EVICTION_MEMORY_PRESSURE] && !decision.pressure[EVICTION_DISK_PRESSURE]);
}

TEST("kubelet/eviction soft thresholds wait for their grace period")
{
    struct eviction_threshold soft = {
        .signal = EVICTION_MEMORY_AVAILABLE, .value = INT64_C(2) << 30, .grace_period = 90 * ENV_SECOND};
    struct eviction_thresholds thresholds = {&soft, 1};
    struct eviction_state state = {0};
    struct eviction_decision decision;

    eviction_decide(&thresholds, calm, &state, 1000 * ENV_SECOND, 0, &decision);
    CHECK(decision.threshold == NULL && decision.pressure[EVICTION_MEMORY_PRESSURE]);
    eviction_decide(&thresholds, calm, &state, 1089 * ENV_SECOND, 0, &decision);
    CHECK(decision.threshold == NULL);
    eviction_decide(&thresholds, calm, &state, 1090 * ENV_SECOND, 0, &decision);
    CHECK(decision.threshold == &soft);
}

TEST("kubelet/eviction ranks by request, priority and excess")
{
    struct eviction_pod pods[] = {
        {.priority = 0, .memory_usage = 10, .memory_request = 20, .owner = (char *)"within"},
        {.priority = 5, .memory_usage = 90, .memory_request = 20, .owner = (char *)"high priority over"},
        {.priority = 0, .memory_usage = 30, .memory_request = 20, .owner = (char *)"little over"},
        {.priority = 0, .memory_usage = 80, .memory_request = 20, .owner = (char *)"much over"},
        {.priority = 0, .memory_usage = 999, .is_critical = true, .owner = (char *)"critical"},
    };
    static const char *const wanted[] = {"much over", "little over", "high priority over", "within", "critical"};

    eviction_rank(pods, COUNT_OF(pods), EVICTION_MEMORY_AVAILABLE);
    for (size_t i = 0; i < COUNT_OF(pods); i++) {
        CHECK_STR(str_of(pods[i].owner), wanted[i]);
    }
}

TEST("kubelet/garbage deletes least recently used images down to the low threshold")
{
    struct garbage_image_policy policy = {.high_percent = 85, .low_percent = 80, .minimum_age = 120 * ENV_SECOND};
    int64_t now = 1000 * ENV_SECOND;
    struct garbage_image images[] = {
        {.id = STR_INIT("new"), .size = 10, .detected = now, .last_used = 0},
        {.id = STR_INIT("used"), .size = 10, .last_used = 1, .is_in_use = true},
        {.id = STR_INIT("old"), .size = 4, .last_used = 2},
        {.id = STR_INIT("older"), .size = 4, .last_used = 1},
        {.id = STR_INIT("pinned"), .size = 4, .is_pinned = true},
        {.id = STR_INIT("recent"), .size = 4, .last_used = 3},
    };
    int64_t lacking;

    CHECK_INT(garbage_images(images, COUNT_OF(images), &policy, 100, 16, now, &lacking), 0);
    CHECK_INT(garbage_images(images, COUNT_OF(images), &policy, 100, 14, now, &lacking), 2);
    CHECK_STR(images[0].id, "older");
    CHECK_STR(images[1].id, "old");
    CHECK_INT(lacking, 0);
    CHECK_INT(garbage_images(images, COUNT_OF(images), &policy, 100, 1, now, &lacking), 3);
    CHECK_INT(lacking, 7);
}

TEST("kubelet/garbage keeps the newest dead container of each name")
{
    struct garbage_container containers[] = {
        {STR_INIT("1"), STR_INIT("p"), STR_INIT("a"), 1, false},
        {STR_INIT("2"), STR_INIT("p"), STR_INIT("a"), 2, false},
        {STR_INIT("3"), STR_INIT("p"), STR_INIT("b"), 1, false},
        {STR_INIT("4"), STR_INIT("gone"), STR_INIT("a"), 9, true},
        {STR_INIT("5"), STR_INIT("p"), STR_INIT("a"), 3, false},
    };
    bool removed[6] = {0};
    size_t count = garbage_containers(containers, COUNT_OF(containers), 1);

    CHECK_INT(count, 3);
    for (size_t i = 0; i < count; i++) {
        removed[containers[i].id.p[0] - '0'] = true;
    }
    CHECK(removed[1] && removed[2] && !removed[3] && removed[4] && !removed[5]);
}

TEST("kubelet/docker_config finds the credentials for an image")
{
    static const char json[] =
        "{\"auths\":{\"https://index.docker.io/v1/\":{\"auth\":\"aHViOnNlY3JldDp4\"},"
        "\"registry.example.com\":{\"username\":\"any\",\"password\":\"p\"},"
        "\"registry.example.com/team\":{\"username\":\"team\",\"password\":\"p\"},"
        "\"*.corp.io:5000\":{\"username\":\"corp\",\"password\":\"p\"}}}";
    static const struct {
        const char *image, *first;
        size_t count;
    } rows[] = {
        {"nginx", "hub", 1},
        {"docker.io/me/app:1", "hub", 1},
        {"registry.example.com/other/app", "any", 1},
        {"registry.example.com/team/app", "team", 2},
        {"a.corp.io:5000/x", "corp", 1},
        {"a.corp.io/x", NULL, 0},
        {"a.b.corp.io:5000/x", NULL, 0},
        {"quay.io/x", NULL, 0},
        {"Bad Image", NULL, 0},
    };
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct docker_config config = {0};

    CHECK_OK(docker_config_add(&config, arena, str_of(json), false));
    CHECK_INT(config.len, 4);
    CHECK_STR(config.items[0].password, "secret:x");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct docker_config found;

        docker_config_find(&config, arena, str_of(rows[i].image), &found);
        CHECK_INT(found.len, rows[i].count);
        if (rows[i].first != NULL) {
            CHECK_STR(found.items[0].username, rows[i].first);
        }
    }
    CHECK_OK(docker_config_add(&config, arena, STR("{\"old.io\":{\"username\":\"u\",\"password\":\"p\"}}"), true));
    CHECK_INT(config.len, 5);
    CHECK_ERROR(docker_config_add(&config, arena, STR("[]"), false), "not a docker config");
    CHECK_ERROR(docker_config_add(&config, arena, STR("{\"auths\":{\"x\":{\"auth\":\"!\"}}}"), false), "base64");
    CHECK_ERROR(docker_config_add(&config, arena, STR("{\"auths\":{\"x\":{\"auth\":\"YWJj\"}}}"), false), "username:"
                                                                                                          "password");
    CHECK_ERROR(docker_config_add(&config, arena, STR("{"), false), "");
}
