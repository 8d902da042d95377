#include "api_bed.h"
#include "test.h"

#define MAPS "/api/v1/namespaces/default/configmaps"
#define PODS "/api/v1/namespaces/default/pods"
#define POD(name) "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"

static void created(struct api_bed *bed)
{
    CHECK_INT(api_call(bed, "POST", MAPS "?fieldManager=m", "{\"metadata\":{\"name\":\"a\"},\"data\":{\"x\":\"1\"}}"), 201);
    CHECK_STR(api_at(bed, "kind"), "ConfigMap");
    CHECK_STR(api_at(bed, "metadata.namespace"), "default");
    CHECK_INT(api_at(bed, "metadata.uid").n, 36);
    struct str version = arena_str(bed->arena, api_at(bed, "metadata.resourceVersion"));

    CHECK(version.n > 0 && !str_is(version, "0"));
    CHECK_INT(api_call(bed, "GET", MAPS "/a", NULL), 200);
    CHECK(str_eq(api_at(bed, "metadata.resourceVersion"), version));
    CHECK_STR(value_str(value_find(value_item(value_find_path(bed->body, "metadata.managedFields"), 0), STR("manager"))),
              "m");
    CHECK_INT(api_call(bed, "POST", MAPS, "{\"metadata\":{\"name\":\"a\"}}"), 409);
    CHECK_STR(api_at(bed, "message"), "configmaps \"a\" already exists");
    CHECK_INT(api_call(bed, "GET", MAPS "/none", NULL), 404);
    CHECK_STR(api_at(bed, "message"), "configmaps \"none\" not found");
    CHECK_INT(api_call(bed, "POST", MAPS, "{\"metadata\":{\"generateName\":\"g-\"}}"), 201);
    CHECK_INT(api_at(bed, "metadata.name").n, 7);
    CHECK_INT(api_call(bed, "POST", "/api/v1/namespaces/none/configmaps", "{\"metadata\":{\"name\":\"a\"}}"), 404);
    CHECK_INT(api_call(bed, "POST", MAPS "?fieldValidation=Strict", "{\"metadata\":{\"name\":\"s\"},\"bogus\":1}"), 400);
    CHECK(str_contains(api_at(bed, "message"), STR("unknown field \"bogus\"")));
}

TEST("apiserver/registry/objects are created once and read back")
{
    api_bed_run(created);
}

static void updated(struct api_bed *bed)
{
    CHECK_INT(api_call(bed, "POST", MAPS, "{\"metadata\":{\"name\":\"a\"},\"data\":{\"x\":\"1\"}}"), 201);
    const char *put = arena_printf(bed->arena, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"%.*s\"},\"data\":{\"x\":\"2\"}}",
                                   STR_ARG(api_at(bed, "metadata.resourceVersion"))).p;

    CHECK_INT(api_call(bed, "PUT", MAPS "/a", put), 200);
    CHECK_STR(api_at(bed, "data.x"), "2");
    CHECK_INT(api_call(bed, "PUT", MAPS "/a", put), 409);
    CHECK_STR(api_at(bed, "reason"), "Conflict");
    CHECK_INT(api_call(bed, "PUT", MAPS "/a", "{\"metadata\":{\"name\":\"b\"}}"), 400);
    bed->content_type = "application/merge-patch+json";
    CHECK_INT(api_call(bed, "PATCH", MAPS "/a", "{\"data\":{\"x\":null,\"y\":\"3\"}}"), 200);
    CHECK(value_find_path(bed->body, "data.x") == NULL);
    CHECK_STR(api_at(bed, "data.y"), "3");
    struct str version = arena_str(bed->arena, api_at(bed, "metadata.resourceVersion"));

    bed->content_type = "application/merge-patch+json";
    CHECK_INT(api_call(bed, "PATCH", MAPS "/a", "{\"data\":{\"y\":\"3\"}}"), 200);
    CHECK(str_eq(api_at(bed, "metadata.resourceVersion"), version)); /* nothing changed: nothing was written */
    bed->content_type = "application/json-patch+json";
    CHECK_INT(api_call(bed, "PATCH", MAPS "/a", "[{\"op\":\"test\",\"path\":\"/data/y\",\"value\":\"4\"}]"), 422);
    CHECK_INT(api_call(bed, "PUT", MAPS "/a?dryRun=All", "{\"metadata\":{\"name\":\"a\"},\"data\":{\"z\":\"9\"}}"), 200);
    CHECK_INT(api_call(bed, "GET", MAPS "/a", NULL), 200);
    CHECK(value_find_path(bed->body, "data.z") == NULL);
}

TEST("apiserver/registry/updates want the version they saw, and patches change what they name")
{
    api_bed_run(updated);
}

static void applied(struct api_bed *bed)
{
    bed->content_type = "application/apply-patch+yaml";
    CHECK_INT(api_call(bed, "PATCH", MAPS "/a?fieldManager=one",
                       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '1', y: '2'}\n"), 201);
    bed->content_type = "application/apply-patch+yaml";
    CHECK_INT(api_call(bed, "PATCH", MAPS "/a?fieldManager=two",
                       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '9'}\n"), 409);
    CHECK_STR(api_at(bed, "message"), "Apply failed with 1 conflict: conflict with \"one\": .data.x");
    bed->content_type = "application/apply-patch+yaml";
    CHECK_INT(api_call(bed, "PATCH", MAPS "/a?fieldManager=one",
                       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '1'}\n"), 200);
    CHECK(value_find_path(bed->body, "data.y") == NULL);
    bed->content_type = "application/apply-patch+yaml";
    CHECK_INT(api_call(bed, "PATCH", MAPS "/a", "apiVersion: v1\nkind: ConfigMap\n"), 422); /* whose is it? */
}

TEST("apiserver/registry/server-side apply creates, conflicts and takes back")
{
    api_bed_run(applied);
}

static void listed(struct api_bed *bed)
{
    for (int i = 0; i < 5; i++) {
        const char *body = arena_printf(bed->arena, "{\"metadata\":{\"name\":\"m%d\",\"labels\":{\"odd\":\"%d\"}}}", i, i % 2).p;

        CHECK_INT(api_call(bed, "POST", MAPS, body), 201);
    }
    CHECK_INT(api_call(bed, "GET", MAPS "?limit=2", NULL), 200);
    CHECK_INT(value_count(value_find_path(bed->body, "items")), 2);
    CHECK_INT(api_int_at(bed, "metadata.remainingItemCount"), 3);
    const char *next = arena_printf(bed->arena, MAPS "?limit=2&continue=%.*s", STR_ARG(api_at(bed, "metadata.continue"))).p;

    CHECK_INT(api_call(bed, "GET", next, NULL), 200);
    CHECK_STR(value_str_at(value_item(value_find_path(bed->body, "items"), 0), "metadata.name"), "m2");
    CHECK_INT(api_call(bed, "GET", MAPS "?labelSelector=odd%3D1", NULL), 200);
    CHECK_INT(value_count(value_find_path(bed->body, "items")), 2);
    CHECK_INT(api_call(bed, "GET", "/api/v1/configmaps?fieldSelector=metadata.name%3Dm3", NULL), 200);
    CHECK_INT(value_count(value_find_path(bed->body, "items")), 1);
    CHECK_INT(api_call(bed, "GET", MAPS "?fieldSelector=spec.x%3D1", NULL), 400);
    bed->accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    CHECK_INT(api_call(bed, "GET", MAPS, NULL), 200);
    CHECK_STR(api_at(bed, "kind"), "Table");
    CHECK_INT(value_count(value_find_path(bed->body, "rows")), 5);
    bed->accept = "application/vnd.kubernetes.protobuf";
    CHECK_INT(api_call(bed, "GET", MAPS, NULL), 200);
    CHECK(str_has_prefix(bed->text, STR("k8s\0")));
    CHECK_INT(api_call(bed, "DELETE", MAPS "?labelSelector=odd%3D1", NULL), 200);
    CHECK_INT(api_call(bed, "GET", MAPS, NULL), 200);
    CHECK_INT(value_count(value_find_path(bed->body, "items")), 3);
}

TEST("apiserver/registry/lists are selected, paged, shown as tables, and deleted as a whole")
{
    api_bed_run(listed);
}

static void deleted(struct api_bed *bed)
{
    CHECK_INT(api_call(bed, "POST", MAPS, "{\"metadata\":{\"name\":\"a\",\"finalizers\":[\"example.com/x\"]}}"), 201);
    CHECK_INT(api_call(bed, "DELETE", MAPS "/a", NULL), 200);
    CHECK(api_at(bed, "metadata.deletionTimestamp").n > 0);
    bed->content_type = "application/merge-patch+json";
    CHECK_INT(api_call(bed, "PATCH", MAPS "/a", "{\"metadata\":{\"finalizers\":null}}"), 200);
    CHECK_INT(api_call(bed, "GET", MAPS "/a", NULL), 404);
    CHECK_INT(api_call(bed, "POST", "/api/v1/namespaces/default/serviceaccounts", "{\"metadata\":{\"name\":\"default\"}}"),
              201);
    CHECK_INT(api_call(bed, "POST", PODS, POD("p")), 201);
    CHECK_STR(api_at(bed, "status.phase"), "Pending");
    CHECK_STR(api_at(bed, "status.qosClass"), "BestEffort");
    CHECK_INT(api_call(bed, "POST", PODS "/p/binding",
                       "{\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":\"Node\",\"name\":\"n1\"}}"), 201);
    CHECK_INT(api_call(bed, "POST", PODS "/p/binding",
                       "{\"metadata\":{\"name\":\"p\"},\"target\":{\"kind\":\"Node\",\"name\":\"n2\"}}"), 409);
    CHECK_STR(api_at(bed, "message"),
              "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n1\"");
    CHECK_INT(api_call(bed, "DELETE", PODS "/p", NULL), 200);
    CHECK_INT(api_int_at(bed, "metadata.deletionGracePeriodSeconds"), 30);
    CHECK_INT(api_call(bed, "DELETE", PODS "/p", "{\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":\"x\"}}"), 409);
    CHECK_INT(api_call(bed, "DELETE", PODS "/p", "{\"gracePeriodSeconds\":0}"), 200);
    CHECK_INT(api_call(bed, "GET", PODS "/p", NULL), 404);
    CHECK_INT(api_call(bed, "DELETE", "/api/v1/namespaces/default", NULL), 403);
}

TEST("apiserver/registry/finalizers hold, pods get their time, bindings happen once")
{
    api_bed_run(deleted);
}

static void scaled(struct api_bed *bed)
{
    CHECK_INT(api_call(bed, "POST", "/apis/apps/v1/namespaces/default/deployments",
                       "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{"
                       "\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}"),
              201);
    CHECK_INT(api_int_at(bed, "metadata.generation"), 1);
    CHECK_INT(api_call(bed, "PUT", "/apis/apps/v1/namespaces/default/deployments/d/scale",
                       "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":4}}"), 200);
    CHECK_STR(api_at(bed, "status.selector"), "a=b");
    CHECK_INT(api_call(bed, "GET", "/apis/apps/v1/namespaces/default/deployments/d", NULL), 200);
    CHECK_INT(api_int_at(bed, "spec.replicas"), 4);
    CHECK_INT(api_int_at(bed, "metadata.generation"), 2);
    bed->content_type = "application/merge-patch+json";
    CHECK_INT(api_call(bed, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d/status",
                       "{\"spec\":{\"replicas\":9},\"status\":{\"replicas\":4}}"), 200);
    CHECK_INT(api_int_at(bed, "spec.replicas"), 4);
    CHECK_INT(api_int_at(bed, "status.replicas"), 4);
    CHECK_INT(api_int_at(bed, "metadata.generation"), 2);
}

TEST("apiserver/registry/scale and status change what is theirs")
{
    api_bed_run(scaled);
}

static void allocated(struct api_bed *bed)
{
    CHECK_INT(api_call(bed, "POST", "/api/v1/namespaces/default/services",
                       "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"type\":\"NodePort\",\"clusterIP\":\"10.96.0.7\",\"ports\":[{\"port\":80}]}}"),
              201);
    struct str port = value_json(bed->arena, value_find(value_item(value_find_path(bed->body, "spec.ports"), 0), STR("nodePort")));

    CHECK_STR(api_at(bed, "spec.clusterIP"), "10.96.0.7");
    CHECK(port.n == 5 && port.p[0] == '3');
    CHECK_INT(api_call(bed, "POST", "/api/v1/namespaces/default/services",
                       "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"clusterIP\":\"10.96.0.7\",\"ports\":[{\"port\":80}]}}"), 422);
    CHECK(str_contains(api_at(bed, "message"), STR("provided IP is already allocated")));
    CHECK_INT(api_call(bed, "POST", "/api/v1/namespaces/default/services",
                       "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"clusterIP\":\"10.97.0.7\",\"ports\":[{\"port\":80}]}}"), 422);
    CHECK(str_contains(api_at(bed, "message"), STR("does not match the current range")));
    CHECK_INT(api_call(bed, "DELETE", "/api/v1/namespaces/default/services/a", NULL), 200);
    CHECK_INT(api_call(bed, "POST", "/api/v1/namespaces/default/services",
                       "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"clusterIP\":\"10.96.0.7\",\"ports\":[{\"port\":80}]}}"), 201);
}

TEST("apiserver/registry/services get addresses and ports that are free")
{
    api_bed_run(allocated);
}

static void watched(struct api_bed *bed)
{
    CHECK_INT(api_call(bed, "POST", MAPS, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"l\":\"1\"}}}"), 201);
    struct str version = arena_str(bed->arena, api_at(bed, "metadata.resourceVersion"));

    CHECK_INT(api_call(bed, "POST", MAPS, "{\"metadata\":{\"name\":\"b\"}}"), 201);
    CHECK_INT(api_call(bed, "DELETE", MAPS "/b", NULL), 200);
    CHECK_INT(api_call(bed, "GET", MAPS "?watch=1&timeoutSeconds=1&labelSelector=l", NULL), 200);
    CHECK(str_has_prefix(bed->text, STR("{\"type\":\"ADDED\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"")));
    CHECK_INT(str_index(bed->text, '\n'), bed->text.n - 1); /* that event alone */
    CHECK_INT(api_call(bed, "GET",
                       arena_printf(bed->arena, MAPS "?watch=1&timeoutSeconds=1&resourceVersion=%.*s", STR_ARG(version)).p,
                       NULL), 200);
    CHECK(str_has_prefix(bed->text, STR("{\"type\":\"ADDED\"")));
    CHECK(str_contains(bed->text, STR("\n{\"type\":\"DELETED\"")));
    CHECK_INT(api_call(bed, "GET", MAPS "?watch=1&timeoutSeconds=1&sendInitialEvents=true&allowWatchBookmarks=true"
                                        "&resourceVersionMatch=NotOlderThan", NULL), 200);
    CHECK(str_contains(bed->text, STR("\"k8s.io/initial-events-end\":\"true\"")));
}

TEST("apiserver/registry/watches begin where they are told to, and bookmarks say how far they are")
{
    api_bed_run(watched);
}

static void refused(struct api_bed *bed)
{
    bed->token = "Bearer wrong";
    CHECK_INT(api_call(bed, "GET", MAPS, NULL), 401);
    bed->user = "jane";
    CHECK_INT(api_call(bed, "GET", MAPS, NULL), 403);
    CHECK_STR(api_at(bed, "message"), "configmaps is forbidden: User \"jane\" cannot list resource \"configmaps\" in API "
                                      "group \"\" in the namespace \"default\"");
    CHECK_INT(api_call(bed, "GET", "/api/v1/namespaces/default/nothing", NULL), 404);
    CHECK_INT(api_call(bed, "GET", "/nothing", NULL), 404);
    CHECK_STR(bed->text, "404 page not found\n");
    CHECK_INT(api_call(bed, "POST", "/api/v1/configmaps", "{}"), 405);
    CHECK_INT(api_call(bed, "POST", MAPS, "{"), 400);
    bed->content_type = "text/plain";
    CHECK_INT(api_call(bed, "POST", MAPS, "x"), 415);
    bed->accept = "image/png";
    CHECK_INT(api_call(bed, "GET", MAPS, NULL), 406);
    CHECK_INT(api_call(bed, "GET", PODS "/none/log", NULL), 404);
    CHECK_INT(api_call(bed, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                       "{\"spec\":{\"user\":\"jane\",\"resourceAttributes\":{\"verb\":\"get\",\"resource\":\"pods\"}}}"), 201);
    const struct value *allowed = value_find_path(bed->body, "status.allowed");

    CHECK(value_is(allowed, VALUE_BOOL) && !allowed->boolean);
}

TEST("apiserver/registry/who may not, and what makes no sense, is told so")
{
    api_bed_run(refused);
}
