#include "test.h"

#include "base/file.h"
#include "client/kubeconfig.h"

#include <stdlib.h>
#include <unistd.h>

static struct arena *arena;
static char folder[] = "/tmp/c8s-kubeconfig-XXXXXX";

static const char *path_of(const char *name)
{
    return arena_cstr(arena, arena_printf(arena, "%s/%s", folder, name));
}

static void write_files(void)
{
    arena = arena_new();
    CHECK(mkdtemp(folder) != NULL);
    CHECK_OK(file_write(path_of("ca.pem"), STR("the CA"), 0600));
    CHECK_OK(file_write(path_of("token"), STR("from a file\n"), 0600));
    CHECK_OK(file_write(path_of("a"),
                        STR("apiVersion: v1\nkind: Config\n"
                            "clusters:\n- name: one\n  cluster: {server: 'https://one:6443', certificate-authority: ca.pem}\n"
                            "users:\n- name: jane\n  user: {client-certificate-data: Y2VydA==, client-key-data: a2V5}\n"
                            "contexts:\n- name: work\n  context: {cluster: one, user: jane, namespace: dev}\n"
                            "current-context: work\n"),
                        0600));
    CHECK_OK(file_write(path_of("b"),
                        STR("clusters:\n- name: one\n  cluster: {server: 'https://other:6443'}\n"
                            "- name: two\n  cluster: {server: 'http://two', insecure-skip-tls-verify: true}\n"
                            "users:\n- name: joe\n  user: {tokenFile: token}\n"
                            "- name: basic\n  user: {username: u, password: p}\n"
                            "contexts:\n- name: home\n  context: {cluster: two, user: joe}\n"
                            "- name: broken\n  context: {cluster: three, user: joe}\n"
                            "current-context: home\n"),
                        0600));
    CHECK(setenv("KUBECONFIG", arena_cstr(arena, arena_printf(arena, "%s/none:%s/a:%s/b", folder, folder, folder)), 1) ==
          0);
}

static void remove_files(void)
{
    static const char *const names[] = {"ca.pem", "token", "a", "b"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CHECK(unlink(path_of(names[i])) == 0);
    }
    CHECK(rmdir(folder) == 0);
    arena_free(arena);
}

TEST("client/kubeconfig/merges files, the first that names something wins")
{
    struct kubeconfig config;
    struct kubeconfig_overrides overrides = {0};

    write_files();
    CHECK_OK(kubeconfig_load(&overrides, arena, &config));
    CHECK_STR(config.context, "work");
    CHECK_STR(config.server, "https://one:6443");
    CHECK_STR(config.namespace, "dev");
    CHECK_STR(config.ca_pem, "the CA");
    CHECK_STR(config.certificate_pem, "cert");
    CHECK_STR(config.key_pem, "key");
    overrides.context = STR("home");
    overrides.namespace = STR("other");
    CHECK_OK(kubeconfig_load(&overrides, arena, &config));
    CHECK_STR(config.server, "http://two");
    CHECK_STR(config.token, "from a file");
    CHECK_STR(config.namespace, "other");
    CHECK(config.insecure);
    overrides.user = STR("basic");
    CHECK_OK(kubeconfig_load(&overrides, arena, &config));
    CHECK_STR(config.username, "u");
    remove_files();
}

TEST("client/kubeconfig/tells what is missing in stock's words")
{
    struct kubeconfig config;

    write_files();
    CHECK_ERROR(kubeconfig_load(&(struct kubeconfig_overrides){.context = STR("x")}, arena, &config),
                "context \"x\" does not exist");
    CHECK_ERROR(kubeconfig_load(&(struct kubeconfig_overrides){.context = STR("broken")}, arena, &config),
                "cluster \"three\" does not exist");
    CHECK_ERROR(kubeconfig_load(&(struct kubeconfig_overrides){.user = STR("x")}, arena, &config),
                "auth info \"x\" does not exist");
    CHECK_ERROR(kubeconfig_load(&(struct kubeconfig_overrides){.path = STR("/nowhere/x")}, arena, &config),
                "stat /nowhere/x: no such file or directory");
    remove_files();
}

TEST("client/kubeconfig/is written so that it reads back")
{
    struct kubeconfig config, back;

    write_files();
    CHECK_OK(kubeconfig_load(&(struct kubeconfig_overrides){0}, arena, &config));
    CHECK_OK(file_write(path_of("b"), kubeconfig_format(arena, &config), 0600));
    CHECK_OK(kubeconfig_load(&(struct kubeconfig_overrides){.path = str_of(path_of("b"))}, arena, &back));
    CHECK_STR(back.server, "https://one:6443");
    CHECK_STR(back.key_pem, "key");
    CHECK_STR(back.ca_pem, "the CA");
    CHECK_STR(back.namespace, "dev");
    remove_files();
}
