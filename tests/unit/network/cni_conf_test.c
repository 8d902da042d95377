#include "test.h"

#include "network/cni_conf.h"
#include "network/cni_result.h"

static struct status *parse(struct arena *arena, const char *text, bool is_list, struct cni_conf *ret)
{
    return cni_conf_parse(arena, str_of(text), is_list, ret);
}

TEST("network/cni_conf/reads a list")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cni_conf conf;

    CHECK_OK(parse(arena, "{\"cniVersion\":\"1.0.0\",\"name\":\"net\",\"disableCheck\":\"true\",\"plugins\":"
                          "[{\"type\":\"bridge\"},{\"type\":\"portmap\"}]}", true, &conf));
    CHECK_STR(conf.name, "net");
    CHECK_STR(conf.version, "1.0.0");
    CHECK(conf.disable_check);
    CHECK_INT(value_count(conf.plugins), 2);
}

TEST("network/cni_conf/makes a list of a single plugin")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cni_conf conf, again;

    CHECK_OK(parse(arena, "{\"name\":\"net\",\"type\":\"bridge\",\"mtu\":1400}", false, &conf));
    CHECK_STR(conf.version, "0.1.0");
    CHECK_INT(value_count(conf.plugins), 1);
    CHECK_OK(cni_conf_parse(arena, conf.text, true, &again));
    CHECK_INT(value_find(value_item(again.plugins, 0), STR("mtu"))->integer, 1400);
}

TEST("network/cni_conf/chooses the newest version offered that it knows")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cni_conf conf;

    CHECK_OK(parse(arena, "{\"cniVersion\":\"0.4.0\",\"cniVersions\":[\"1.0.0\",\"9.0.0\",\"0.3.1\"],\"name\":\"n\","
                          "\"plugins\":[{\"type\":\"x\"}]}", true, &conf));
    CHECK_STR(conf.version, "1.0.0");
    CHECK_ERROR(parse(arena, "{\"cniVersion\":\"9.0.0\",\"name\":\"n\",\"plugins\":[{\"type\":\"x\"}]}", true, &conf),
                "cniVersion \"9.0.0\" is not supported");
}

TEST("network/cni_conf/refuses what libcni refuses, in its words")
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"{", "error parsing configuration list: unexpected end of JSON input"},
        {"[]", "error parsing configuration list: want an object, got array"},
        {"{}", "error parsing configuration list: no name"},
        {"{\"name\":\"../x\"}", "invalid network name"},
        {"{\"name\":\"x\",\"cniVersion\":1}", "invalid cniVersion type number"},
        {"{\"name\":\"x\"}", "error parsing configuration list: no 'plugins' key"},
        {"{\"name\":\"x\",\"plugins\":{}}", "invalid 'plugins' type object"},
        {"{\"name\":\"x\",\"plugins\":[]}", "error parsing configuration list: no plugins in list"},
        {"{\"name\":\"x\",\"plugins\":[{\"type\":\"a\"},{}]}", "failed to parse plugin config 1: error parsing "
                                                              "configuration: missing 'type'"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct cni_conf conf;

        CHECK_ERROR(parse(arena, rows[i].text, true, &conf), rows[i].error);
    }
}

TEST("network/cni_conf/gives a plugin its configuration, the result before it, and what it can use")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cni_conf conf;
    struct cni_port_mapping ports[] = {{.host_port = 8080, .container_port = 80, .protocol = STR_INIT("tcp")},
                                       {.host_port = 0, .container_port = 81, .protocol = STR_INIT("tcp")}};
    struct str ips[] = {STR("10.0.0.5/24")};
    struct cni_attachment pod = {.port_mappings = {ports, 2}, .ips = {ips, 1}};
    struct value *previous = value_object(arena);

    CHECK_OK(parse(arena, "{\"cniVersion\":\"1.0.0\",\"name\":\"net\",\"plugins\":[{\"type\":\"portmap\","
                          "\"capabilities\":{\"portMappings\":true,\"ips\":false,\"dns\":true}}]}", true, &conf));
    CHECK_STR(cni_plugin_input(arena, &conf, value_item(conf.plugins, 0), previous, cni_capability_args(arena, &pod)),
              "{\"capabilities\":{\"dns\":true,\"ips\":false,\"portMappings\":true},\"cniVersion\":\"1.0.0\","
              "\"name\":\"net\",\"prevResult\":{},\"runtimeConfig\":{\"portMappings\":[{\"containerPort\":80,"
              "\"hostIP\":\"\",\"hostPort\":8080,\"protocol\":\"tcp\"}]},\"type\":\"portmap\"}");
    CHECK(value_find(value_item(conf.plugins, 0), STR("prevResult")) == NULL);
}

TEST("network/cni_result/reads results old and new and writes them again")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cni_result result;
    struct value *tree;
    struct str text = STR("{\"cniVersion\":\"1.0.0\",\"dns\":{\"nameservers\":[\"10.0.0.10\"]},\"interfaces\":"
                          "[{\"name\":\"br0\"},{\"mac\":\"aa:bb:cc:dd:ee:ff\",\"name\":\"eth0\",\"sandbox\":\"/run/netns/x\"}],"
                          "\"ips\":[{\"address\":\"10.1.0.5/24\",\"gateway\":\"10.1.0.1\",\"interface\":1},"
                          "{\"address\":\"fd00::5/64\",\"interface\":0}],\"routes\":[{\"dst\":\"0.0.0.0/0\"}]}");

    CHECK_OK(cni_result_parse(arena, text, &result, &tree));
    CHECK_INT(result.addresses.len, 2);
    CHECK(cni_address_is_pod(&result, &result.addresses.items[0]));
    CHECK(!cni_address_is_pod(&result, &result.addresses.items[1]));
    CHECK_STR(ip_format(arena, &result.addresses.items[0].gateway), "10.1.0.1");
    CHECK_INT(result.routes.items[0].gateway.length, 0);
    CHECK_STR(value_json(arena, cni_result_tree(arena, &result, STR("1.0.0"))), text.p);
    CHECK_OK(cni_result_parse(arena, STR("{\"ip4\":{\"ip\":\"10.2.0.3/16\",\"gateway\":\"10.2.0.1\",\"routes\":"
                                         "[{\"dst\":\"10.0.0.0/8\",\"gw\":\"10.2.0.9\"}]}}"), &result, NULL));
    CHECK_INT(result.addresses.len, 1);
    CHECK_INT(result.routes.len, 1);
    CHECK_ERROR(cni_result_parse(arena, STR("{\"ips\":[{\"address\":\"10.1.0.5\"}]}"), &result, NULL),
                "invalid CIDR address: 10.1.0.5");
    CHECK_ERROR(cni_result_parse(arena, STR("{\"ips\":[{\"address\":\"10.1.0.5/24\",\"interface\":0}]}"), &result,
                                 NULL), "address of interface 0, of which there are 0");
}

TEST("network/cni_result/says what a plugin said")
{
    CHECK_ERROR(cni_plugin_failure(STR("bridge"), "add", 1, STR("{\"code\":7,\"msg\":\"bad\",\"details\":\"mtu\"}"),
                                   STR("")), "plugin type=\"bridge\" failed (add): bad; mtu");
    CHECK_ERROR(cni_plugin_failure(STR("b"), "add", 2, STR(""), STR("")),
                "plugin type=\"b\" failed (add): netplugin failed with no error message: exit status 2");
    CHECK_ERROR(cni_plugin_failure(STR("b"), "add", 2, STR(""), STR("panic\n")), "netplugin failed: \"panic\\n\"");
    CHECK_ERROR(cni_plugin_failure(STR("b"), "add", 2, STR("oops"), STR("")),
                "netplugin failed but error parsing its diagnostic message \"oops\": invalid character");
    OWNED(status_freep) struct status *later =
        cni_plugin_failure(STR("b"), "add", 1, STR("{\"code\":11,\"msg\":\"later\"}"), STR(""));

    CHECK(status_is(later, STATUS_SERVICE_UNAVAILABLE));
    CHECK_STR(later->causes[0].reason, "11");
    CHECK_STR(later->causes[0].field, "b");
}
