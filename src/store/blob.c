#include "store/blob.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct blob *blob_new(size_t size)
{
    struct blob *blob = size < UINT32_MAX ? malloc(mem_add(sizeof(*blob) + 1, size)) : NULL;

    if (blob == NULL) {
        mem_die("no memory for a stored value");
    }
    blob->refs = 1;
    blob->n = (uint32_t)size;
    blob->p[size] = '\0';
    return blob;
}

struct blob *blob_of(struct str bytes)
{
    struct blob *blob = blob_new(bytes.n);

    if (bytes.n > 0) {
        memcpy(blob->p, bytes.p, bytes.n);
    }
    return blob;
}

struct blob *blob_ref(struct blob *blob)
{
    if (blob != NULL) {
        __atomic_add_fetch(&blob->refs, 1, __ATOMIC_RELAXED);
    }
    return blob;
}

void blob_unref(struct blob *blob)
{
    if (blob != NULL && __atomic_sub_fetch(&blob->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        free(blob);
    }
}

void blob_unrefp(struct blob **blob)
{
    blob_unref(*blob);
}

struct str blob_str(const struct blob *blob)
{
    return blob != NULL ? (struct str){blob->p, blob->n} : (struct str){NULL, 0};
}
