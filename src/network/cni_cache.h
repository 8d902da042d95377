/* What attached a pod, kept on disk: files of the form stock's libcni writes, CACHE/results/NETWORK-CONTAINER-INTERFACE.
 * All calls block; any thread. */
#ifndef NETWORK_CNI_CACHE_H
#define NETWORK_CNI_CACHE_H

#include "network/cni_conf.h"

struct cni_kept {
    struct str path;
    struct cni_conf conf;
    struct value *capability_args; /* NULL: none */
    struct value *result;
    struct str result_json;
};

MUST_USE struct status *cni_cache_write(const struct cni_invoker *invoker, const struct cni_attachment *attachment,
                                        const struct cni_conf *conf, struct value *capability_args,
                                        struct value *result);
/* Whatever network it was. NOT_FOUND when nothing is kept, BAD_REQUEST when it can't be read. */
MUST_USE struct status *cni_cache_read(const struct cni_invoker *invoker, const struct cni_attachment *attachment,
                                       struct arena *arena, struct cni_kept *ret);
MUST_USE struct status *cni_cache_forget(struct str path);

#endif
