#include "apiserver/admission/node_labels.h"

#include "apiserver/user.h"
#include "schema/map_of.h"

#include <stdlib.h>

static const char *const own_labels[] = {
    "kubernetes.io/hostname",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
};

static bool is_within(struct str domain, const char *of)
{
    struct str suffix = str_of(of);

    return str_eq(domain, suffix) ||
           (str_has_suffix(domain, suffix) && domain.n > suffix.n && domain.p[domain.n - suffix.n - 1] == '.');
}

/* Labels of Kubernetes' own domains are reserved, but for those that kubelets are there to tell. */
static bool is_own(struct str key)
{
    struct str domain, name;

    for (size_t i = 0; i < COUNT_OF(own_labels); i++) {
        if (str_is(key, own_labels[i])) {
            return true;
        }
    }
    if (!str_cut(key, '/', &domain, &name)) {
        return true;
    }
    if (is_within(domain, "node-restriction.kubernetes.io")) {
        return false;
    }
    if (is_within(domain, "kubelet.kubernetes.io") || is_within(domain, "node.kubernetes.io")) {
        return true;
    }
    return !is_within(domain, "kubernetes.io") && !is_within(domain, "k8s.io");
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct str node_labels_forbidden(struct arena *arena, const struct str_map *old, const struct str_map *labels)
{
    struct str_list keys = {0};

    LIST_EACH(entry, labels) {
        bool same = str_map_has(old, entry->key) && str_eq(str_map_get(old, entry->key), entry->value);

        if (!same && !is_own(entry->key)) {
            *LIST_ADD(arena, &keys) = entry->key;
        }
    }
    LIST_EACH(entry, old) {
        if (!str_map_has(labels, entry->key) && !is_own(entry->key)) {
            *LIST_ADD(arena, &keys) = entry->key;
        }
    }
    if (keys.len != 0) {
        qsort(keys.items, keys.len, sizeof *keys.items, by_text);
    }
    return str_list_join(arena, &keys, ", ");
}
