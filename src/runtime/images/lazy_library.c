#include "runtime/images/lazy_library.h"

#include <dlfcn.h>
#include <pthread.h>

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static struct status *load(const char *file, const char *const *functions, size_t count, void **places)
{
    if (count == 0 || places[count - 1] != NULL) {
        return NULL;
    }
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        return status_new(STATUS_SERVICE_UNAVAILABLE, "the library %s can't be loaded: %s", file, dlerror());
    }
    for (size_t i = 0; i < count; i++) {
        void *function = dlsym(library, functions[i]);

        if (function == NULL) {
            return status_new(STATUS_SERVICE_UNAVAILABLE, "the library %s has no %s", file, functions[i]);
        }
        places[i] = function;
    }
    return NULL;
}

struct status *lazy_library_load(const char *file, const char *const *functions, size_t count, void *pointers)
{
    pthread_mutex_lock(&loading);
    struct status *status = load(file, functions, count, pointers);

    pthread_mutex_unlock(&loading);
    return status;
}
