#include "apiserver/health.h"

#include "apiserver/encode.h"
#include "apiserver/errors.h"
#include "apiserver/respond.h"
#include "apiserver/server.h"
#include "base/version.h"
#include "schema/json.h"
#include "schema/version.h"

/* What is looked at. All but the last are true of any server that answers. */
static const char *const checks[] = {"ping", "log", "etcd", "poststarthook/bootstrap"};

static bool is_passing(const struct apiserver *server, const char *check)
{
    return check != checks[COUNT_OF(checks) - 1] || (server->is_ready && !server->is_stopping);
}

static bool is_excluded(struct request *request, const char *check)
{
    struct str rest = request->exchange->query, name, value;

    while (http_query_next(request->arena, &rest, &name, &value)) {
        if (str_is(name, "exclude") && str_is(value, check)) {
            return true;
        }
    }
    return false;
}

static struct status *answer_all(struct request *request, const char *what)
{
    OWNED(buf_done) struct buf text = {0};
    struct str value;
    bool is_verbose = http_query_find(request->arena, request->exchange->query, STR("verbose"), &value);
    bool passes = true;

    for (size_t i = 0; i < COUNT_OF(checks); i++) {
        /* what is still starting is alive */
        bool ok = str_is(STR("readyz"), what) ? is_passing(request->server, checks[i]) : true;

        if (is_excluded(request, checks[i])) {
            buf_printf(&text, "[+]%s excluded: ok\n", checks[i]);
            continue;
        }
        passes = passes && ok;
        buf_printf(&text, "[%c]%s %s\n", ok ? '+' : '-', checks[i], ok ? "ok" : "failed: reason withheld");
    }
    if (!passes) {
        buf_printf(&text, "%s check failed\n", what);
        return respond_text(request, 500, buf_str(&text));
    }
    if (!is_verbose) {
        return respond_text(request, 200, STR("ok"));
    }
    buf_printf(&text, "%s check passed\n", what);
    return respond_text(request, 200, buf_str(&text));
}

static struct status *answer(struct request *request, const char *what)
{
    struct str rest = str_from(request->info.path, 1 + str_of(what).n + 1);

    if (rest.n == 0) {
        return answer_all(request, what);
    }
    for (size_t i = 0; i < COUNT_OF(checks); i++) {
        if (str_is(rest, checks[i])) {
            return is_passing(request->server, checks[i])
                       ? respond_text(request, 200, STR("ok"))
                       : respond_text(request, 500, STR("internal server error: not yet started\n"));
        }
    }
    return respond_text(request, 404, STR("404 page not found\n"));
}

static struct status *healthz(struct request *request)
{
    return answer(request, "healthz");
}

static struct status *livez(struct request *request)
{
    return answer(request, "livez");
}

static struct status *readyz(struct request *request)
{
    return answer(request, "readyz");
}

static struct status *version(struct request *request)
{
    static const struct version_info info = {
        .major = STR_INIT(KUBERNETES_MAJOR),
        .minor = STR_INIT(KUBERNETES_MINOR),
        .emulation_major = STR_INIT(KUBERNETES_MAJOR),
        .emulation_minor = STR_INIT(KUBERNETES_MINOR),
        .min_compatibility_major = STR_INIT("1"),
        .min_compatibility_minor = STR_INIT("36"),
        .git_version = STR_INIT(GIT_VERSION),
        .git_tree_state = STR_INIT("clean"),
        .compiler = STR_INIT("gcc"),
#ifdef __aarch64__
        .platform = STR_INIT("linux/arm64"),
#else
        .platform = STR_INIT("linux/amd64"),
#endif
    };
    OWNED(buf_done) struct buf json = {0};
    OWNED(buf_done) struct buf text = {0};

    if (!str_is(request->exchange->method, "GET")) {
        return error_method_not_allowed();
    }
    /* who asks for another form is told in that form that there is none */
    status_free(negotiate_accept(request_header(request, "accept"), NEGOTIATE_PLAIN, &request->accepted));
    TRY(negotiate_accept(request_header(request, "accept"), NEGOTIATE_JSON_ONLY, &request->accepted));
    json_encode(&version_info_type, &info, &json);
    encode_indent(buf_str(&json), &text);
    return respond_bytes(request, 200, STR("application/json"), buf_str(&text));
}

void health_open(struct apiserver *server)
{
    apiserver_handle(server, "/healthz/", healthz);
    apiserver_handle(server, "/livez/", livez);
    apiserver_handle(server, "/readyz/", readyz);
    apiserver_handle(server, "/version/", version);
}
