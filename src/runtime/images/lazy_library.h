/* Shared libraries that are loaded when first used: what only the runtime needs now and then should not be mapped and
 * relocated in every process of the binary (kubectl, CNI plugins, the other components), which took half of its start.
 *
 * An adapter lists its functions, has a struct of pointers to them, and calls through that:
 *
 *   #define CURL_FUNCTIONS(X) X(curl_easy_init) X(curl_easy_cleanup)
 *   static struct { CURL_FUNCTIONS(LAZY_POINTER) } curl;
 *   static const char *const curl_names[] = {CURL_FUNCTIONS(LAZY_NAME)};
 */
#ifndef RUNTIME_IMAGES_LAZY_LIBRARY_H
#define RUNTIME_IMAGES_LAZY_LIBRARY_H

#include "base/status.h"

#include <stddef.h>

#define LAZY_POINTER(function) __typeof__(function) *function;
#define LAZY_NAME(function) #function,

/* Loads the library for good and fills in the pointers in order: `pointers` is a struct of nothing but them, as
 * `functions` lists them. Nothing happens when it is loaded already. SERVICE_UNAVAILABLE names the library or function that
 * is missing. Any thread. */
MUST_USE struct status *lazy_library_load(const char *file, const char *const *functions, size_t count, void *pointers);

#endif
