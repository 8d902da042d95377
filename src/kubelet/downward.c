#include "kubelet/downward.h"

#include "base/buf.h"
#include "kubelet/amounts.h"
#include "kubelet/pod_view.h"
#include "schema/map_of.h"
#include "schema/quantity.h"

/* As Go prints %q. */
static void quote(struct buf *out, struct str text)
{
    buf_add_char(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c == '"' || c == '\\') {
            buf_printf(out, "\\%c", c);
        } else if (c == '\n') {
            buf_add_str(out, STR("\\n"));
        } else if (c == '\t') {
            buf_add_str(out, STR("\\t"));
        } else if (c == '\r') {
            buf_add_str(out, STR("\\r"));
        } else if (c < 0x20 || c == 0x7f) {
            buf_printf(out, "\\x%02x", c);
        } else {
            buf_add_char(out, (char)c);
        }
    }
    buf_add_char(out, '"');
}

static struct str format_map(struct arena *arena, const struct str_map *map)
{
    struct buf out = {0};

    LIST_EACH (entry, map) {
        buf_printf(&out, "%s%.*s=", out.n > 0 ? "\n" : "", STR_ARG(entry->key));
        quote(&out, entry->value);
    }
    struct str text = arena_str(arena, buf_str(&out));

    buf_done(&out);
    return text;
}

/* The key of "metadata.labels['KEY']". */
static bool subscript(struct str path, struct str prefix, struct str *ret_key)
{
    if (!str_has_prefix(path, prefix) || !str_has_suffix(path, STR("']")) || path.n < prefix.n + 4 ||
        path.p[prefix.n] != '[' || path.p[prefix.n + 1] != '\'') {
        return false;
    }
    *ret_key = str_sub(path, prefix.n + 2, path.n - 2);
    return true;
}

struct status *downward_field(struct arena *arena, const struct downward_facts *facts, struct str path,
                              struct str *ret)
{
    const struct core_v1_pod *pod = facts->pod;
    const struct {
        const char *path;
        struct str value;
    } plain[] = {
        {"metadata.name", pod->metadata.name},
        {"metadata.namespace", pod->metadata.namespace},
        {"metadata.uid", pod->metadata.uid},
        {"spec.nodeName", pod->spec.node_name},
        {"spec.serviceAccountName", pod->spec.service_account_name},
        {"status.hostIP", facts->host_ip},
        {"status.hostIPs", facts->host_ip},
        {"status.podIP", facts->pod_ip},
        {"status.podIPs", facts->pod_ips},
    };
    struct str key;

    for (size_t i = 0; i < COUNT_OF(plain); i++) {
        if (str_is(path, plain[i].path)) {
            *ret = plain[i].value;
            return NULL;
        }
    }
    if (str_is(path, "metadata.labels")) {
        *ret = format_map(arena, &pod->metadata.labels);
    } else if (str_is(path, "metadata.annotations")) {
        *ret = format_map(arena, &pod->metadata.annotations);
    } else if (subscript(path, STR("metadata.labels"), &key)) {
        *ret = str_map_get(&pod->metadata.labels, key);
    } else if (subscript(path, STR("metadata.annotations"), &key)) {
        *ret = str_map_get(&pod->metadata.annotations, key);
    } else {
        return status_new(STATUS_INVALID, "unsupported fieldPath: %.*s", STR_ARG(path));
    }
    return NULL;
}

static int64_t divided(int64_t value, int64_t by)
{
    return by <= 0 ? value : (value + by - 1) / by;
}

struct status *downward_resource(struct arena *arena, const struct downward_facts *facts,
                                 const struct core_v1_resource_field_selector *selector,
                                 const struct core_v1_container *container, struct str *ret)
{
    struct str list, name;

    if (selector->container_name.n > 0) {
        container = pod_find_container(arena, facts->pod, selector->container_name, NULL);
        if (container == NULL) {
            return status_new(STATUS_INVALID, "container %.*s not found", STR_ARG(selector->container_name));
        }
    }
    if (!str_cut(selector->resource, '.', &list, &name) || (!str_is(list, "limits") && !str_is(list, "requests")) ||
        container == NULL) {
        return status_new(STATUS_INVALID, "Unsupported container resource : %.*s", STR_ARG(selector->resource));
    }
    const struct quantity_map *amounts =
        str_is(list, "limits") ? &container->resources.limits : &container->resources.requests;

    if (str_is(list, "limits") && !amount_has(amounts, name) && facts->allocatable != NULL) {
        amounts = facts->allocatable;
    }
    bool has_divisor = selector->divisor.text.n > 0 && quantity_milli(selector->divisor) != 0;
    int64_t value = str_is(name, "cpu")
                        ? divided(amount_milli(amounts, name), has_divisor ? quantity_milli(selector->divisor) : 1000)
                        : divided(amount_value(amounts, name), has_divisor ? quantity_value(selector->divisor) : 1);

    *ret = arena_printf(arena, "%lld", (long long)value);
    return NULL;
}
