/* Whole commands against a server in a process of its own, which answers as stock's does. */
#include "test.h"

#include "base/file.h"
#include "base/task.h"
#include "kubectl/kubectl_main.h"
#include "net/event_loop.h"
#include "net/http_server.h"
#include "net/websocket.h"
#include "schema/value.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DISCOVERY(group, resources)                                                                                 \
    "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2\",\"metadata\":{},\"items\":[{"      \
    "\"metadata\":{\"name\":\"" group "\"},\"versions\":[{\"version\":\"v1\",\"resources\":[" resources "]}]}]}"
#define RESOURCE(plural, singular, short_name, kind)                                                               \
    "{\"resource\":\"" plural "\",\"responseKind\":{\"group\":\"\",\"version\":\"\",\"kind\":\"" kind "\"},"        \
    "\"scope\":\"Namespaced\",\"singularResource\":\"" singular "\",\"verbs\":[\"get\",\"list\",\"create\"],"      \
    "\"shortNames\":[\"" short_name "\"],\"categories\":[\"all\"]}"
#define POD "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"namespace\":\"default\"},"      \
    "\"spec\":{\"containers\":[{\"name\":\"c\"},{\"name\":\"d\"}]},\"status\":{\"phase\":\"Running\"}}"
#define TABLE "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"resourceVersion\":\"5\"},"     \
    "\"columnDefinitions\":[{\"name\":\"Name\",\"priority\":0},{\"name\":\"Age\",\"priority\":0},"                   \
    "{\"name\":\"IP\",\"priority\":1}],\"rows\":[{\"cells\":[\"a\",\"5s\",\"10.0.0.1\"],"                            \
    "\"object\":{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\"}}}]}"
#define NOT_FOUND "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"pods \\\"none\\\" "\
    "not found\",\"reason\":\"NotFound\",\"details\":{\"name\":\"none\",\"kind\":\"pods\"},\"code\":404}"

static void respond(struct http_exchange *exchange, int code, const char *json)
{
    struct http_headers headers = {0};

    http_header_add(exchange->arena, &headers, STR("content-type"), STR("application/json"));
    status_free(http_respond(exchange, code, &headers, str_of(json)));
}

/* Gives what was created back, with a UID. */
static void create(struct http_exchange *exchange)
{
    struct str body;
    struct value *object;
    OWNED(buf_done) struct buf out = {0};

    if (http_read_all(exchange, 100000, &body) != NULL || value_read_json(exchange->arena, body, &object, NULL) != NULL) {
        respond(exchange, 500, "{}");
        return;
    }
    value_set(exchange->arena, value_find(object, STR("metadata")), STR("uid"),
              value_string(exchange->arena, http_header_find(&exchange->headers, STR("traceparent"))));
    value_set(exchange->arena, value_find(object, STR("metadata")), STR("query"),
              value_string(exchange->arena, exchange->query));
    value_write_json(&out, object, 0);
    buf_add_char(&out, '\0');
    respond(exchange, 201, out.p);
}

/* A command that writes what it reads, in capital letters, and ends with code 3. */
static void run_command(struct http_exchange *exchange)
{
    static const char *const protocols[] = {"v5.channel.k8s.io", NULL};
    struct websocket *socket;
    struct buf message = {0};
    enum websocket_kind kind;
    bool more;

    CHECK_OK(websocket_accept(exchange, protocols, &socket));
    CHECK_OK(websocket_write(socket, WEBSOCKET_BINARY, STR("\1"), exchange->query));
    while (websocket_read(socket, &message, &kind, &more) == NULL && more && (unsigned char)message.p[0] != 255) {
        CHECK_OK(websocket_write(socket, WEBSOCKET_BINARY, STR("\2"), str_from(buf_str(&message), 1)));
    }
    CHECK_OK(websocket_write(socket, WEBSOCKET_BINARY, STR("\3"),
                             STR("{\"status\":\"Failure\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{"
                                 "\"reason\":\"ExitCode\",\"message\":\"3\"}]}}")));
    websocket_close(socket, WEBSOCKET_NORMAL, STR(""));
    buf_done(&message);
}

/* What `kubectl apply` finds: applied before with one replica and paused, and meanwhile scaled by someone else. */
#define APPLIED "{\"kind\":\"Deployment\",\"apiVersion\":\"apps/v1\",\"metadata\":{\"name\":\"web\","                 \
    "\"namespace\":\"default\",\"uid\":\"u\",\"resourceVersion\":\"7\",\"annotations\":{"                               \
    "\"kubectl.kubernetes.io/last-applied-configuration\":\"{\\\"apiVersion\\\":\\\"apps/v1\\\",\\\"kind\\\":"               \
    "\\\"Deployment\\\",\\\"metadata\\\":{\\\"annotations\\\":{},\\\"name\\\":\\\"web\\\",\\\"namespace\\\":"                 \
    "\\\"default\\\"},\\\"spec\\\":{\\\"paused\\\":true,\\\"replicas\\\":1}}\\n\"}},"                                     \
    "\"spec\":{\"paused\":true,\"replicas\":5,\"minReadySeconds\":3},\"status\":{}}"

/* Answers a patch with an object that tells it, its type and its parameters. */
static void patched(struct http_exchange *exchange)
{
    struct str body;
    struct value *patch, *object = value_object(exchange->arena), *metadata = value_object(exchange->arena);
    OWNED(buf_done) struct buf out = {0};

    CHECK_OK(http_read_all(exchange, 100000, &body));
    CHECK_OK(value_read_json(exchange->arena, body, &patch, NULL));
    struct value *inner = value_find_path(patch, "metadata.annotations");

    if (inner != NULL) { /* checked by itself: it is long */
        CHECK(str_contains(value_json(exchange->arena, inner), STR("\\\"replicas\\\":")));
        value_delete(patch, STR("metadata"));
    }
    value_set(exchange->arena, metadata, STR("name"), value_string(exchange->arena, STR("web")));
    value_set(exchange->arena, object, STR("metadata"), metadata);
    value_set(exchange->arena, object, STR("patch"), patch);
    value_set(exchange->arena, object, STR("type"),
              value_string(exchange->arena, http_header_find(&exchange->headers, STR("content-type"))));
    value_set(exchange->arena, object, STR("query"), value_string(exchange->arena, exchange->query));
    value_write_json(&out, object, 0);
    buf_add_char(&out, '\0');
    respond(exchange, 200, out.p);
}

static void serves(struct http_exchange *exchange, void *arg)
{
    (void)arg;
    if (str_is(exchange->path, "/api")) {
        respond(exchange, 200, DISCOVERY("", RESOURCE("pods", "pod", "po", "Pod")));
    } else if (str_is(exchange->path, "/apis")) {
        respond(exchange, 200, DISCOVERY("apps", RESOURCE("deployments", "deployment", "deploy", "Deployment")));
    } else if (str_is(exchange->path, "/c8s/trace/spans")) {
        respond(exchange, 404, "{}"); /* as a server that is not c8s */
    } else if (str_is(exchange->method, "POST")) {
        create(exchange);
    } else if (str_is(exchange->method, "PATCH")) {
        patched(exchange);
    } else if (str_is(exchange->method, "DELETE")) {
        respond(exchange, 200, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\",\"details\":{\"uid\":\"u\"}}");
    } else if (str_has_suffix(exchange->path, STR("/deployments/web"))) {
        respond(exchange, 200, APPLIED);
    } else if (str_has_suffix(exchange->path, STR("/exec"))) {
        run_command(exchange);
    } else if (str_has_suffix(exchange->path, STR("/log"))) {
        respond(exchange, 200, "a line\n");
    } else if (str_has_suffix(exchange->path, STR("/none"))) {
        respond(exchange, 404, NOT_FOUND);
    } else if (str_contains(http_header_find(&exchange->headers, STR("accept")), STR("as=Table"))) {
        respond(exchange, 200, TABLE);
    } else {
        respond(exchange, 200, POD);
    }
}

static void serve_forever(void *arg)
{
    struct http_server *server = http_server_new(serves, NULL);

    http_server_listen(server, arg, NULL);
    task_sleep(60 * ENV_SECOND);
    _exit(0);
}

static char server[160];
static pid_t server_pid;

/* The port is taken here, by the parent, so that the child need not tell it. */
static void listen_in_child(void *arg)
{
    struct listener *listener;

    (void)arg;
    CHECK_OK(listener_open(STR("127.0.0.1:0"), 0, &listener));
    snprintf(server, sizeof(server), "--server=http://%s", listener_name(listener).text);
    server_pid = fork();
    if (server_pid == 0) {
        struct env *env = event_loop_new();

        event_loop_run_task(env, "server", serve_forever, listener);
    }
    listener_close(listener);
}

static void start_server(void)
{
    struct env *env = event_loop_new();

    setenv("KUBECONFIG", "/nonexistent", 1);
    event_loop_run_task(env, "listen", listen_in_child, NULL);
    event_loop_free(env);
}

static void stop_server(void)
{
    kill(server_pid, SIGKILL);
    waitpid(server_pid, NULL, 0);
}

/* Runs kubectl with `input`, and checks its exit code and what it printed; the words end with NULL. */
static void check(const char *input, int code, const char *out, const char *err, const char *const *words)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    char *argv[24] = {arena_cstr(arena, STR("kubectl")), server}, folder[] = "/tmp/c8s-kubectl-XXXXXX";
    int argc = 2;
    struct str got_out, got_err;

    CHECK(mkdtemp(folder) != NULL);
    const char *paths[3];

    for (int i = 0; i < 3; i++) {
        paths[i] = arena_cstr(arena, arena_printf(arena, "%s/%d", folder, i));
    }
    CHECK_OK(file_write(paths[0], str_of(input), 0600));
    for (; words[argc - 2] != NULL; argc++) {
        argv[argc] = arena_cstr(arena, str_of(words[argc - 2]));
    }
    pid_t pid = fork();

    if (pid == 0) {
        CHECK(dup2(open(paths[0], O_RDONLY | O_CLOEXEC), 0) == 0);
        CHECK(dup2(open(paths[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0600), 1) == 1);
        CHECK(dup2(open(paths[2], O_WRONLY | O_CREAT | O_CLOEXEC, 0600), 2) == 2);
        int result = kubectl_main(argc, argv);

        fflush(NULL);
        _exit(result);
    }
    int end;

    CHECK(waitpid(pid, &end, 0) == pid);
    CHECK_OK(file_read(arena, paths[1], 100000, &got_out));
    CHECK_OK(file_read(arena, paths[2], 100000, &got_err));
    for (int i = 0; i < 3; i++) {
        CHECK(unlink(paths[i]) == 0);
    }
    CHECK(rmdir(folder) == 0);
    CHECK_STR(got_err, err);
    CHECK_STR(got_out, out);
    CHECK_INT(WEXITSTATUS(end), code);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST("kubectl/get/prints the server's tables, names and errors")
{
    start_server();
    check("", 0, "NAME   AGE\na      5s\n", "", WORDS("get", "po"));
    check("", 0, "NAME   AGE   IP\na      5s    10.0.0.1\n", "", WORDS("get", "pods", "-owide"));
    check("", 0, "NAMESPACE   NAME   AGE\ndefault     a      5s\n", "", WORDS("get", "Pod", "-A"));
    check("", 0, "NAME    AGE\npod/a   5s\n\nNAME                AGE\ndeployment.apps/a   5s\n", "",
          WORDS("get", "pods,deploy"));
    check("", 0, "pod/a\n", "", WORDS("get", "pod/a", "-o", "name"));
    check("", 0, "c d", "", WORDS("get", "pod", "a", "-o", "jsonpath={.spec.containers[*].name}"));
    check("", 1, "", "Error from server (NotFound): pods \"none\" not found\n", WORDS("get", "pod", "none"));
    check("", 1, "", "error: the server doesn't have a resource type \"foos\"\n", WORDS("get", "foos"));
    stop_server();
}

TEST("kubectl/run/makes a pod, or with --replicas a Deployment")
{
    start_server();
    check("", 0, "pod/nginx created\n", "", WORDS("run", "nginx", "--image=nginx"));
    check("", 0, "deployment.apps/nginx created\n", "", WORDS("run", "nginx", "--image=nginx", "--replicas=3"));
    check("", 0, "3 nginx fieldManager=kubectl-run&fieldValidation=Strict", "",
          WORDS("run", "nginx", "--image=nginx", "--replicas=3", "-o",
                "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image} {.metadata.query}"));
    check("", 0,
          "apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    run: x\n  name: x\nspec:\n  containers:\n  - args:\n    - a\n"
          "    env:\n    - name: A\n      value: b\n    image: i\n    name: x\n    ports:\n    - containerPort: 80\n"
          "    resources: {}\n  dnsPolicy: ClusterFirst\n  restartPolicy: Never\nstatus: {}\n",
          "",
          WORDS("run", "x", "--image=i", "--port=80", "--env=A=b", "--restart=Never", "--dry-run=client", "-o", "yaml", "--",
                "a"));
    stop_server();
}

TEST("kubectl/run/checks before it asks")
{
    snprintf(server, sizeof(server), "--server=http://127.0.0.1:1"); /* nobody is asked */
    setenv("KUBECONFIG", "/nonexistent", 1);
    check("", 1, "", "error: NAME is required for run\nSee 'kubectl run -h' for help and examples\n", WORDS("run"));
    check("", 1, "", "error: required flag(s) \"image\" not set\n", WORDS("run", "x"));
    check("", 1, "", "error: Invalid image name \"A:B:C\": invalid reference format\n",
          WORDS("run", "x", "--image=A:B:C"));
    check("", 1, "",
          "The Pod \"-x\" is invalid: metadata.name: Invalid value: \"-x\": a lowercase RFC 1123 subdomain must consist of "
          "lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
          "'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\n",
          WORDS("run", "--image=i", "--", "-x"));
    check("", 1, "",
          "The Deployment \"x\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0\n",
          WORDS("run", "x", "--image=i", "--replicas=-1"));
    check("", 1, "", "error: invalid argument \"x\" for \"-r, --replicas\" flag: strconv.ParseInt: parsing \"x\": invalid "
                     "syntax\nSee 'kubectl run --help' for usage.\n",
          WORDS("run", "x", "--image=i", "--replicas=x"));
    check("", 1, "", "error: Invalid dry-run value (x). Must be \"none\", \"server\", or \"client\".\n",
          WORDS("run", "x", "--image=i", "--dry-run=x"));
    check("", 1, "", "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n",
          WORDS("run", "x", "--image=i"));
}

TEST("kubectl/create/takes objects from standard input")
{
    start_server();
    check("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n---\n# nothing\n---\napiVersion: apps/v1\nkind: Deployment\n"
          "metadata: {name: d}\n",
          0, "pod/p created\ndeployment.apps/d created\n", "", WORDS("create", "-f", "-"));
    check("apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: other}\n", 1, "",
          "error: the namespace from the provided object \"other\" does not match the namespace \"mine\". You must pass "
          "'--namespace=other' to perform this operation.\n",
          WORDS("create", "-f", "-", "-n", "mine"));
    check("apiVersion: v1\nkind: Foo\nmetadata: {name: p}\n", 1, "",
          "error: resource mapping not found for name: \"p\" namespace: \"\" from \"STDIN\": no matches for kind \"Foo\" in "
          "version \"v1\"\nensure CRDs are installed first\n",
          WORDS("create", "-f", "-"));
    check("", 1, "", "error: no objects passed to create\n", WORDS("create", "-f", "-"));
    stop_server();
}

TEST("kubectl/apply/sends what differs from the file, and takes away what the file has dropped")
{
    static const char file[] = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n";
    static const char same[] = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
                               "spec: {replicas: 5, paused: true}\n";

    start_server();
    check(file, 0, "deployment.apps/web configured\n", "", WORDS("apply", "-f", "-"));
    check(file, 0,
          "{\"spec\":{\"paused\":null,\"replicas\":2}} application/strategic-merge-patch+json "
          "fieldManager=kubectl-client-side-apply&fieldValidation=Strict",
          "", WORDS("apply", "-f", "-", "-o", "jsonpath={.patch} {.type} {.query}"));
    check(file, 0, "deployment.apps/web serverside-applied\n", "", WORDS("apply", "--server-side", "-f", "-"));
    check(same, 0, "deployment.apps/web configured (dry run)\n", "", WORDS("apply", "-f", "-", "--dry-run=client"));
    check("apiVersion: v1\nkind: Pod\nmetadata: {name: none}\n", 0, "pod/none created\n", "", WORDS("apply", "-f", "-"));
    check("apiVersion: v1\nkind: Pod\nmetadata: {generateName: x-}\n", 1, "",
          "error: from x-: cannot use generate name with apply\n", WORDS("apply", "-f", "-"));
    stop_server();
}

TEST("kubectl/scale, delete, wait/say what became of it")
{
    start_server();
    check("", 0, "deployment.apps/web scaled\n", "", WORDS("scale", "deploy/web", "--replicas=3"));
    check("", 0, "{\"spec\":{\"replicas\":3}} application/merge-patch+json", "",
          WORDS("scale", "deploy", "web", "--replicas=3", "-o", "jsonpath={.patch} {.type}"));
    check("", 1, "", "error: The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0\n",
          WORDS("scale", "deploy/web", "--replicas=-1"));
    check("", 0, "pod \"none\" deleted from default namespace\n", "", WORDS("delete", "pod", "none"));
    check("", 0, "pod \"a\" deleted from default namespace\n", "", WORDS("delete", "pod/a", "--wait=false"));
    check("", 0, "pod \"a\" force deleted from default namespace\n",
          "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The "
          "resource may continue to run on the cluster indefinitely.\n",
          WORDS("delete", "pod", "a", "--force", "--wait=false"));
    check("", 1, "", "error: resource(s) were provided, but no name was specified\n", WORDS("delete", "pods"));
    check("", 0, "pod/a condition met\n", "", WORDS("wait", "--for=jsonpath={.status.phase}=Running", "pod/a"));
    check("", 0, "", "", WORDS("wait", "--for=delete", "pod/none"));
    check("", 1, "", "error: timed out waiting for the condition on pods/a\n",
          WORDS("wait", "--for=condition=Ready", "pod/a", "--timeout=0"));
    stop_server();
}

TEST("kubectl/logs, exec/reach the container, and end as the command does")
{
    start_server();
    check("", 0, "a line\n", "", WORDS("logs", "a", "-c", "d"));
    check("", 0, "a line\n", "Defaulted container \"c\" out of: c, d\n", WORDS("logs", "pod/a"));
    check("", 1, "", "error: container x is not valid for pod a out of: c, d\n", WORDS("logs", "a", "-c", "x"));
    check("hello", 3, "command=cat&command=-n&container=c&stdin=true&stdout=true&stderr=true",
          "hellocommand terminated with exit code 3\n", WORDS("exec", "-i", "a", "-c", "c", "--", "cat", "-n"));
    stop_server();
}
