/* What the kubelet reads from files others write: logs, pull secrets, resolv.conf, its configuration. */
#include "kubelet/container_log.h"
#include "kubelet/docker_config.h"
#include "kubelet/kubelet_flags.h"
#include "kubelet/resolv_conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_log(struct str text)
{
    OWNED(buf_done) struct buf out = {0};
    struct container_log_writer writer = {
        .filter = {.limit_bytes = 1000, .timestamps = true, .want_stdout = true, .want_stderr = true}};
    bool is_complete;

    text = str_from(text, container_log_tail(text, 5, &is_complete));
    for (size_t end; text.n > 0; text = str_from(text, end)) {
        size_t newline = str_index(text, '\n');

        end = newline == SIZE_MAX ? text.n : newline + 1;
        container_log_write(&writer, str_sub(text, 0, end), &out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str text = {(const char *)data, size};
    struct docker_config credentials = {0};
    struct dns_config dns;
    struct str_list flags;

    read_log(text);
    status_free(docker_config_add(&credentials, arena, text, false));
    status_free(docker_config_add(&credentials, arena, text, true));
    resolv_conf_parse(arena, text, &dns);
    status_free(kubelet_config_to_flags(text, arena, &flags));
    return 0;
}
