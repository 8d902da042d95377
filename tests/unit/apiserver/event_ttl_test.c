#include "api_bed.h"
#include "test.h"

#include "apiserver/event_ttl.h"
#include "base/env.h"

#define EVENTS "/api/v1/namespaces/default/events"

static void expire(struct api_bed *bed)
{
    const char *event = "{\"metadata\":{\"generateName\":\"e-\",\"namespace\":\"default\"},\"involvedObject\":{\"kind\":\"Pod\","
                        "\"name\":\"p\",\"namespace\":\"default\"},\"reason\":\"Started\",\"type\":\"Normal\"}";

    CHECK_INT(api_call(bed, "POST", EVENTS, event), 201);
    CHECK_OK(apiserver_bootstrap(bed->server));
    task_sleep(bed->options.event_ttl / 2);
    CHECK_INT(api_call(bed, "POST", EVENTS, event), 201);
    CHECK_INT(api_call(bed, "GET", EVENTS, NULL), 200);
    CHECK_INT(value_count(value_find_path(bed->body, "items")), 2);
    task_sleep(bed->options.event_ttl / 2 + 180 * ENV_SECOND);
    CHECK_INT(api_call(bed, "GET", EVENTS, NULL), 200);
    CHECK_INT(value_count(value_find_path(bed->body, "items")), 1);
    task_sleep(bed->options.event_ttl);
    CHECK_INT(api_call(bed, "GET", EVENTS, NULL), 200);
    CHECK_INT(value_count(value_find_path(bed->body, "items")), 0);
}

TEST("apiserver/event_ttl/events go when nobody has heard of them for long")
{
    api_bed_run(expire);
}

static void crowd(struct api_bed *bed)
{
    bed->options.max_requests_inflight = 1;
    bed->server->reading = 1;
    bed->user = "jane";
    CHECK_INT(api_call(bed, "GET", "/version", NULL), 429);
    CHECK_STR(http_header_find(&bed->headers, STR("retry-after")), "1");
    CHECK_INT(api_call(bed, "GET", "/version", NULL), 200); /* system:masters get in */
    bed->server->reading = 0;
    bed->user = "jane";
    CHECK_INT(api_call(bed, "GET", "/version", NULL), 403);
    CHECK_INT(bed->server->reading, 0);
}

TEST("apiserver/serve/no more requests at once than may be")
{
    api_bed_run(crowd);
}
