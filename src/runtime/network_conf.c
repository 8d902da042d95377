#include "runtime/network_conf.h"

#include "base/buf.h"
#include "base/file.h"
#include "schema/ip.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <unistd.h>

enum { CONF_BYTES_MAX = 64 << 10 };

static struct status *check_cidr(struct str text)
{
    struct cidr cidr;

    return cidr_parse(text, &cidr) ? NULL : status_new(STATUS_BAD_REQUEST, "invalid CIDR \"%.*s\"", STR_ARG(text));
}

struct status *network_conf_text(struct arena *arena, const struct network_conf *conf, struct str pod_cidrs,
                                 struct str *ret)
{
    OWNED(buf_done) struct buf text = {0};
    const char *comma = "";

    buf_printf(&text, "{\"cniVersion\":\"1.0.0\",\"name\":\"c8s\",\"plugins\":[{\"type\":\"" NETWORK_PLUGIN_NAME
                      "\",\"capabilities\":{\"portMappings\":true},\"nonMasqueradeCIDRs\":[");
    for (struct str rest = conf->cluster_cidrs, cidr; str_next(&rest, ',', &cidr); comma = ",") {
        TRY(check_cidr(cidr));
        buf_printf(&text, "%s\"%.*s\"", comma, STR_ARG(cidr));
    }
    buf_printf(&text, "],\"ipam\":{\"type\":\"host-local\",\"dataDir\":\"%.*s\",\"ranges\":[", STR_ARG(conf->addresses_dir));
    comma = "";
    for (struct str rest = pod_cidrs, cidr; str_next(&rest, ',', &cidr); comma = ",") {
        TRY(check_cidr(cidr));
        buf_printf(&text, "%s[{\"subnet\":\"%.*s\"}]", comma, STR_ARG(cidr));
    }
    buf_printf(&text, "]}}]}\n");
    *ret = arena_str(arena, buf_str(&text));
    return NULL;
}

static bool is_conf(struct str name)
{
    return str_has_suffix(name, STR(".conflist")) || str_has_suffix(name, STR(".conf")) ||
           str_has_suffix(name, STR(".json"));
}

static bool has_foreign_conf(const char *directory)
{
    DIR *entries = opendir(directory);
    bool found = false;

    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        struct str name = str_of(entry->d_name);

        found |= is_conf(name) && !str_is(name, NETWORK_CONF_NAME);
    }
    if (entries != NULL) {
        closedir(entries);
    }
    return found;
}

/* The plugin is this very program, by the name it is called. */
static struct status *link_plugin(struct arena *arena, struct str bin_dir)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    struct str path = arena_printf(arena, "%.*s/" NETWORK_PLUGIN_NAME, STR_ARG(bin_dir));

    if (n < 0) {
        return status_errno(errno, "finding this program");
    }
    self[n] = '\0';
    TRY(file_make_directories(arena_cstr(arena, bin_dir), 0755));
    if ((unlink(path.p) != 0 && errno != ENOENT) || symlink(self, path.p) != 0) {
        return status_errno(errno, "linking %s", path.p);
    }
    return NULL;
}

struct status *network_conf_write(const struct network_conf *conf, struct str pod_cidrs)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str path = arena_printf(arena, "%.*s/" NETWORK_CONF_NAME, STR_ARG(conf->conf_dir));
    struct str text, before = STR("");

    if (has_foreign_conf(arena_cstr(arena, conf->conf_dir))) {
        return NULL;
    }
    TRY(network_conf_text(arena, conf, pod_cidrs, &text));
    TRY(link_plugin(arena, conf->bin_dir));
    TRY(file_make_directories(arena_cstr(arena, conf->conf_dir), 0755));
    struct status *status = file_read(arena, path.p, CONF_BYTES_MAX, &before);

    status_free(status);
    return str_eq(before, text) ? NULL : file_write(path.p, text, 0644);
}
