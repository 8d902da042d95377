#include "test.h"

#include "store/store.h"

TEST("store/blob/is its bytes")
{
    struct blob *blob = blob_of(STR("abc"));
    struct blob *same = blob_ref(blob);

    blob_unref(blob);
    CHECK_STR(blob_str(same), "abc");
    CHECK_INT(same->p[same->n], 0);
    blob_unref(same);
    blob_unref(NULL);
    CHECK_INT(blob_str(NULL).n, 0);
}
