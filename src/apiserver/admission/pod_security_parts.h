/* What the checks of pod_security_checks.h are made of; for pod_security_*.c only. */
#ifndef APISERVER_ADMISSION_POD_SECURITY_PARTS_H
#define APISERVER_ADMISSION_POD_SECURITY_PARTS_H

#include "apiserver/admission/pod_security_checks.h"

/* One pod under check: containers of all three sorts, with their security contexts (never NULL). */
struct pod_security_pod {
    struct arena *arena;
    int minor;
    const struct meta_v1_object_meta *meta;
    const struct core_v1_pod_spec *spec;
    const struct core_v1_pod_security_context *context;
    struct {
        const struct core_v1_container **items;
        size_t len;
    } containers;
    struct pod_security_violations *violations;
};

typedef void pod_security_check_fn(const struct pod_security_pod *pod);

/* In the order they are told; `since` is the minor version. */
struct pod_security_row {
    pod_security_check_fn *check;
    int since;
    bool is_replaced; /* by a stricter one of the restricted level */
};

extern const struct pod_security_row pod_security_baseline[];
extern const struct pod_security_row pod_security_restricted[];
/* Both end with a NULL check. */

const struct core_v1_security_context *pod_security_context(const struct core_v1_container *container);
void pod_security_violate(const struct pod_security_pod *pod, const char *reason, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* "a", "b" */
struct str pod_security_quoted(struct arena *arena, const struct str_list *list);
/* container "a"; containers "a", "b" */
struct str pod_security_named(struct arena *arena, const struct str_list *containers);
void pod_security_add_once(struct arena *arena, struct str_list *list, struct str text);
/* By text. */
void pod_security_sort(struct str_list *list);
/* The pod, and the containers: pod and container "c". */
struct str pod_security_setters(struct arena *arena, bool is_pod, const struct str_list *containers);

#endif
