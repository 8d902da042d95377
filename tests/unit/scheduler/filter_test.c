#include "bed.h"
#include "test.h"

enum { NODES_MAX = 4, PODS_MAX = 4 };

struct row {
    const char *what;
    const char *nodes[NODES_MAX];
    const char *pods[PODS_MAX]; /* already there */
    const char *pod;
    const char *answer; /* the node, or why there is none */
};

#define CONTAINER(more) "'containers':[{'name':'c'" more "}]"
#define ASKS(cpu, memory) "{'spec':{" CONTAINER(",'resources':{'requests':{'cpu':'" cpu "','memory':'" memory "'}}") "}}"
#define WHY(nodes, reasons, preemption) \
    "0/" #nodes " nodes are available: " reasons ". no new claims to deallocate, preemption: 0/" #nodes \
    " nodes are available: " preemption "."
#define NO_VICTIMS(n) #n " No preemption victims found for incoming pod"
#define NOT_HELPFUL(n) #n " Preemption is not helpful for scheduling"

static void run(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct bed bed;

        bed_init(&bed);
        for (size_t n = 0; n < NODES_MAX && rows[i].nodes[n] != NULL; n++) {
            bed_node(&bed, rows[i].nodes[n]);
        }
        for (size_t n = 0; n < PODS_MAX && rows[i].pods[n] != NULL; n++) {
            bed_pod(&bed, rows[i].pods[n]);
        }
        struct str answer = bed_answer(&bed, rows[i].pod);

        if (!str_is(answer, rows[i].answer)) {
            test_fail(__FILE__, __LINE__, "%s: got \"%.*s\", wanted \"%s\"", rows[i].what, STR_ARG(answer),
                      rows[i].answer);
        }
        bed_done(&bed);
    }
}

#define A "{'metadata':{'name':'a'}}"

TEST("scheduler/filter/resources")
{
    static const struct row rows[] = {
        {"there is room", {A}, {NULL}, ASKS("4", "8Gi"), "a"},
        {"no nodes at all", {NULL}, {NULL}, "{}", "no nodes available to schedule pods"},
        {"too large for any",
         {A},
         {NULL},
         ASKS("4001m", "9Gi"),
         WHY(1, "1 Insufficient cpu, 1 Insufficient memory", NOT_HELPFUL(1))},
        {"what is there counts",
         {A},
         {"{'spec':{'nodeName':'a'," CONTAINER(",'resources':{'requests':{'cpu':'3'}}") "}}"},
         ASKS("1500m", "1Gi"),
         WHY(1, "1 Insufficient cpu", NO_VICTIMS(1))},
        {"nothing asked for always fits",
         {A},
         {"{'spec':{'nodeName':'a'," CONTAINER(",'resources':{'requests':{'cpu':'4'}}") "}}"},
         "{'spec':{" CONTAINER("") "}}",
         "a"},
        {"an init container needs its own at most",
         {A},
         {NULL},
         "{'spec':{'initContainers':[{'name':'i','resources':{'requests':{'cpu':'4'}}}],"
         CONTAINER(",'resources':{'requests':{'cpu':'1'}}") "}}",
         "a"},
        {"a sidecar runs beside the rest",
         {A},
         {NULL},
         "{'spec':{'initContainers':[{'name':'i','restartPolicy':'Always','resources':{'requests':{'cpu':'3500m'}}}],"
         CONTAINER(",'resources':{'requests':{'cpu':'1'}}") "}}",
         WHY(1, "1 Insufficient cpu", NOT_HELPFUL(1))},
        {"overhead counts",
         {A},
         {NULL},
         "{'spec':{'overhead':{'cpu':'1'}," CONTAINER(",'resources':{'requests':{'cpu':'3500m'}}") "}}",
         WHY(1, "1 Insufficient cpu", NOT_HELPFUL(1))},
        {"an extended resource that no node has",
         {A},
         {NULL},
         "{'spec':{" CONTAINER(",'resources':{'requests':{'example.com/gpu':'1'}}") "}}",
         WHY(1, "1 Insufficient example.com/gpu", NOT_HELPFUL(1))},
        {"no more pods",
         {"{'metadata':{'name':'a'},'status':{'allocatable':{'cpu':'4','memory':'8Gi','pods':'1'}}}"},
         {"{'spec':{'nodeName':'a'," CONTAINER("") "}}"},
         "{'spec':{" CONTAINER("") "}}",
         WHY(1, "1 Too many pods", NO_VICTIMS(1))},
    };

    run(rows, COUNT_OF(rows));
}

TEST("scheduler/filter/name, unschedulable, taints")
{
#define TAINTED(name, effect) \
    "{'metadata':{'name':'" name "'},'spec':{'taints':[{'key':'k','value':'v','effect':'" effect "'}]}}"
#define TOLERATES(what) "{'spec':{'tolerations':[" what "]}}"
    static const char untolerated[] = WHY(1, "1 node(s) had untolerated taint(s)", NOT_HELPFUL(1));
    static const struct row rows[] = {
        {"a cordoned node",
         {"{'metadata':{'name':'a'},'spec':{'unschedulable':true}}"},
         {NULL},
         "{}",
         WHY(1, "1 node(s) were unschedulable", NOT_HELPFUL(1))},
        {"a cordoned node, tolerated",
         {"{'metadata':{'name':'a'},'spec':{'unschedulable':true}}"},
         {NULL},
         TOLERATES("{'key':'node.kubernetes.io/unschedulable','operator':'Exists'}"),
         "a"},
        {"NoSchedule", {TAINTED("a", "NoSchedule")}, {NULL}, "{}", untolerated},
        {"NoExecute", {TAINTED("a", "NoExecute")}, {NULL}, "{}", untolerated},
        {"PreferNoSchedule", {TAINTED("a", "PreferNoSchedule")}, {NULL}, "{}", "a"},
        {"equal", {TAINTED("a", "NoSchedule")}, {NULL}, TOLERATES("{'key':'k','value':'v','effect':'NoSchedule'}"), "a"},
        {"another value", {TAINTED("a", "NoSchedule")}, {NULL}, TOLERATES("{'key':'k','value':'w'}"), untolerated},
        {"another effect",
         {TAINTED("a", "NoSchedule")},
         {NULL},
         TOLERATES("{'key':'k','operator':'Exists','effect':'NoExecute'}"),
         untolerated},
        {"everything is tolerated", {TAINTED("a", "NoExecute")}, {NULL}, TOLERATES("{'operator':'Exists'}"), "a"},
        {"reasons are counted and sorted",
         {TAINTED("a", "NoSchedule"), "{'metadata':{'name':'b'},'spec':{'unschedulable':true}}",
          TAINTED("c", "NoExecute")},
         {NULL},
         "{}",
         WHY(3, "1 node(s) were unschedulable, 2 node(s) had untolerated taint(s)", NOT_HELPFUL(3))},
        {"another node fits", {TAINTED("a", "NoSchedule"), "{'metadata':{'name':'b'}}"}, {NULL}, "{}", "b"},
    };

    run(rows, COUNT_OF(rows));
}

TEST("scheduler/filter/selectors and node affinity")
{
#define NODE(labels) "{'metadata':{'name':'a','labels':{" labels "}}}"
#define REQUIRES(terms) \
    "{'spec':{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[" terms \
    "]}}}}}"
#define EXPRESSION(key, operator, values) \
    "{'matchExpressions':[{'key':'" key "','operator':'" operator "','values':[" values "]}]}"
    static const char no[] = WHY(1, "1 node(s) didn't match Pod's node affinity/selector", NOT_HELPFUL(1));
    static const struct row rows[] = {
        {"nodeSelector", {NODE("'disk':'ssd'")}, {NULL}, "{'spec':{'nodeSelector':{'disk':'ssd'}}}", "a"},
        {"nodeSelector, other", {NODE("'disk':'hdd'")}, {NULL}, "{'spec':{'nodeSelector':{'disk':'ssd'}}}", no},
        {"In", {NODE("'z':'1'")}, {NULL}, REQUIRES(EXPRESSION("z", "In", "'0','1'")), "a"},
        {"In, absent", {NODE("")}, {NULL}, REQUIRES(EXPRESSION("z", "In", "'0','1'")), no},
        {"NotIn", {NODE("'z':'1'")}, {NULL}, REQUIRES(EXPRESSION("z", "NotIn", "'1'")), no},
        {"NotIn, absent", {NODE("")}, {NULL}, REQUIRES(EXPRESSION("z", "NotIn", "'1'")), "a"},
        {"Exists", {NODE("'z':''")}, {NULL}, REQUIRES(EXPRESSION("z", "Exists", "")), "a"},
        {"DoesNotExist", {NODE("'z':''")}, {NULL}, REQUIRES(EXPRESSION("z", "DoesNotExist", "")), no},
        {"Gt", {NODE("'z':'10'")}, {NULL}, REQUIRES(EXPRESSION("z", "Gt", "'9'")), "a"},
        {"Gt, equal", {NODE("'z':'9'")}, {NULL}, REQUIRES(EXPRESSION("z", "Gt", "'9'")), no},
        {"Lt, no number", {NODE("'z':'x'")}, {NULL}, REQUIRES(EXPRESSION("z", "Lt", "'9'")), no},
        {"one of the terms", {NODE("'z':'1'")}, {NULL}, REQUIRES(EXPRESSION("y", "Exists", "") "," EXPRESSION("z", "Exists", "")), "a"},
        {"an empty term matches nothing", {NODE("")}, {NULL}, REQUIRES("{}"), no},
        {"by name",
         {NODE("")},
         {NULL},
         REQUIRES("{'matchFields':[{'key':'metadata.name','operator':'In','values':['b']}]}"),
         no},
    };

    run(rows, COUNT_OF(rows));
}

TEST("scheduler/filter/host ports")
{
#define PORT(what) "{'spec':{'nodeName':'a'," CONTAINER(",'ports':[{'containerPort':80," what "}]") "}}"
#define WANTS(what) "{'spec':{" CONTAINER(",'ports':[{'containerPort':80," what "}]") "}}"
    static const char no[] =
        WHY(1, "1 node(s) didn't have free ports for the requested pod ports", NO_VICTIMS(1));
    static const struct row rows[] = {
        {"taken", {A}, {PORT("'hostPort':80")}, WANTS("'hostPort':80"), no},
        {"another", {A}, {PORT("'hostPort':80")}, WANTS("'hostPort':81"), "a"},
        {"another protocol", {A}, {PORT("'hostPort':80,'protocol':'UDP'")}, WANTS("'hostPort':80"), "a"},
        {"another address",
         {A},
         {PORT("'hostPort':80,'hostIP':'10.0.0.1'")},
         WANTS("'hostPort':80,'hostIP':'10.0.0.2'"),
         "a"},
        {"all addresses", {A}, {PORT("'hostPort':80,'hostIP':'10.0.0.1'")}, WANTS("'hostPort':80"), no},
        {"container ports don't clash", {A}, {PORT("'hostPort':0")}, WANTS("'hostPort':0"), "a"},
    };

    run(rows, COUNT_OF(rows));
}

#define IN_ZONE(name, zone) "{'metadata':{'name':'" name "','labels':{'zone':'" zone "'}}}"
#define WEB_ON(node) "{'metadata':{'labels':{'app':'web'}},'spec':{'nodeName':'" node "'}}"

TEST("scheduler/filter/topology spread")
{
#define SPREADS(more)                                                                                            \
    "{'metadata':{'labels':{'app':'web'}},'spec':{'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone'," \
    "'whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchLabels':{'app':'web'}}" more "}]}}"
    static const struct row rows[] = {
        {"the emptier zone", {IN_ZONE("a", "1"), IN_ZONE("b", "2")}, {WEB_ON("a")}, SPREADS(""), "b"},
        {"no zone can take it within the skew",
         {IN_ZONE("a", "1"), "{'metadata':{'name':'b','labels':{'zone':'2'}},'spec':{'unschedulable':true}}"},
         {WEB_ON("a")},
         SPREADS(""),
         WHY(2, "1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable",
             "1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling")},
        {"a node without the key",
         {A},
         {NULL},
         SPREADS(""),
         WHY(1, "1 node(s) didn't match pod topology spread constraints (missing required label)", NOT_HELPFUL(1))},
        {"too few domains count as empty ones",
         {IN_ZONE("a", "1")},
         {WEB_ON("a")},
         SPREADS(",'minDomains':2"),
         WHY(1, "1 node(s) didn't match pod topology spread constraints", NO_VICTIMS(1))},
        {"other pods don't count",
         {IN_ZONE("a", "1")},
         {"{'metadata':{'labels':{'app':'db'}},'spec':{'nodeName':'a'}}",
          "{'metadata':{'namespace':'other','labels':{'app':'web'}},'spec':{'nodeName':'a'}}"},
         SPREADS(",'minDomains':2"),
         "a"},
    };

    run(rows, COUNT_OF(rows));
}

TEST("scheduler/filter/affinity between pods")
{
#define TERM(selector, more) "[{'labelSelector':{'matchLabels':{" selector "}},'topologyKey':'zone'" more "}]"
#define REQUIRED(kind, labels, term) \
    "{'metadata':{'labels':{" labels "}},'spec':{'affinity':{'" kind \
    "':{'requiredDuringSchedulingIgnoredDuringExecution':" term "}}}}"
#define NEAR(selector) REQUIRED("podAffinity", "'app':'x'", TERM(selector, ""))
#define FAR(selector) REQUIRED("podAntiAffinity", "'app':'x'", TERM(selector, ""))
    static const struct row rows[] = {
        {"near one that is there", {IN_ZONE("a", "1"), IN_ZONE("b", "2")}, {WEB_ON("b")}, NEAR("'app':'web'"), "b"},
        {"near nobody",
         {IN_ZONE("a", "1")},
         {NULL},
         NEAR("'app':'web'"),
         WHY(1, "1 node(s) didn't match pod affinity rules", NOT_HELPFUL(1))},
        {"the first of its own kind", {IN_ZONE("a", "1")}, {NULL}, NEAR("'app':'x'"), "a"},
        {"far from one that is there",
         {IN_ZONE("a", "1"), IN_ZONE("b", "2"), IN_ZONE("c", "1")},
         {WEB_ON("a")},
         FAR("'app':'web'"),
         "b"},
        {"nowhere far enough",
         {IN_ZONE("a", "1"), IN_ZONE("b", "1")},
         {WEB_ON("a")},
         FAR("'app':'web'"),
         WHY(2, "2 node(s) didn't match pod anti-affinity rules", NO_VICTIMS(2))},
        {"one that is there keeps others away",
         {IN_ZONE("a", "1")},
         {"{'metadata':{'labels':{'app':'db'}},'spec':{'nodeName':'a','affinity':{'podAntiAffinity':"
          "{'requiredDuringSchedulingIgnoredDuringExecution':" TERM("'app':'x'", "") "}}}}"},
         "{'metadata':{'labels':{'app':'x'}}}",
         WHY(1, "1 node(s) didn't satisfy existing pods anti-affinity rules", NO_VICTIMS(1))},
        {"pods of other namespaces do not count",
         {IN_ZONE("a", "1")},
         {"{'metadata':{'namespace':'other','labels':{'app':'web'}},'spec':{'nodeName':'a'}}"},
         FAR("'app':'web'"),
         "a"},
        {"unless they are named",
         {IN_ZONE("a", "1")},
         {"{'metadata':{'namespace':'other','labels':{'app':'web'}},'spec':{'nodeName':'a'}}"},
         REQUIRED("podAntiAffinity", "", TERM("'app':'web'", ",'namespaces':['other']")),
         WHY(1, "1 node(s) didn't match pod anti-affinity rules", NO_VICTIMS(1))},
    };

    run(rows, COUNT_OF(rows));
}

TEST("scheduler/filter/namespaces are selected by their labels")
{
    struct bed bed;
    static const char pod[] = REQUIRED(
        "podAntiAffinity", "", TERM("'app':'web'", ",'namespaceSelector':{'matchLabels':{'team':'a'}}"));

    bed_init(&bed);
    bed_node(&bed, IN_ZONE("a", "1"));
    bed_pod(&bed, "{'metadata':{'namespace':'other','labels':{'app':'web'}},'spec':{'nodeName':'a'}}");
    CHECK_STR(bed_answer(&bed, pod), "a");
    bed_namespace(&bed, "{'metadata':{'name':'other','labels':{'team':'a'}}}");
    CHECK(!str_is(bed_answer(&bed, pod), "a"));
    bed_namespace(&bed, "{'metadata':{'name':'other','labels':{'team':'b'}}}");
    CHECK_STR(bed_answer(&bed, pod), "a");
    bed_done(&bed);
}
