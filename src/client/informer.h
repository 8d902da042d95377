/* A local, current copy of one kind of objects: list once, then watch, then tell.
 *
 * An informer runs a task of its own that lists and watches through a client and keeps the result in memory. Objects
 * are shared and immutable: hold one across a park with cached_ref(). Handlers run on the informer's task and must not
 * park; they normally put a key into a work queue. After a lost watch the informer goes on from its last
 * resourceVersion, or lists again and tells the differences. */
#ifndef CLIENT_INFORMER_H
#define CLIENT_INFORMER_H

#include "client/client.h"

struct informer;

/* One object of the cache, reference counted. */
struct cached {
    int refs;
    struct arena *arena;
    void *object; /* the generated struct; never changed */
    struct str key; /* "NAMESPACE/NAME", or "NAME" for cluster-scoped kinds */
};

struct cached *cached_ref(struct cached *cached);
void cached_unref(struct cached *cached);

/* `old` is NULL when the object is new, `new` when it is gone. Borrowed for the call. */
typedef void informer_handler(void *arg, const void *old, const void *new);
/* The keys under which an object is to be found in an index, added with LIST_ADD to `ret`. */
typedef void informer_index_fn(const void *object, struct arena *arena, struct str_list *ret);

struct informer *informer_new(struct client *client, const struct kind *kind, struct str namespace,
                              const struct client_list_options *selectors);
/* Before informer_start(). Any number. */
void informer_on_change(struct informer *informer, informer_handler *handler, void *arg);
/* Before informer_start(). Returns the index's number for informer_find_by(). */
int informer_add_index(struct informer *informer, informer_index_fn *fn);
void informer_start(struct informer *informer);
/* Ends its task (parks) and frees everything. */
void informer_free(struct informer *informer);

/* The first list is complete. */
bool informer_is_synced(const struct informer *informer);
/* Parks until it is; false when cancelled. */
bool informer_wait_synced(struct informer *informer);

/* Parks until the cache has seen that resourceVersion or a later one; false at the deadline or when cancelled. Versions of
 * one server are numbers that grow (KEP-5504). */
bool informer_wait_revision(struct informer *informer, struct str revision, int64_t deadline);
/* Parks until the object with that key and UID is gone from the cache or is being deleted. */
bool informer_wait_deleting(struct informer *informer, struct str key, struct str uid, int64_t deadline);

/* Borrowed until the next park; NULL when absent. */
const void *informer_find(const struct informer *informer, struct str namespace, struct str name);
const void *informer_find_key(const struct informer *informer, struct str key);
/* The same, to hold on to; NULL when absent. */
struct cached *informer_ref(const struct informer *informer, struct str key);
/* All objects, or all under an index key, in the order of their keys. The list is in the arena, the objects are
 * borrowed until the next park. */
struct object_pointers {
    const void **items;
    size_t len;
};
struct object_pointers informer_all(const struct informer *informer, struct arena *arena);
struct object_pointers informer_find_by(const struct informer *informer, int index, struct str key,
                                        struct arena *arena);
size_t informer_count(const struct informer *informer);

/* Ready-made index: the UID of the controlling owner reference. */
void informer_index_by_controller(const void *object, struct arena *arena, struct str_list *ret);
/* Ready-made index: the namespace. */
void informer_index_by_namespace(const void *object, struct arena *arena, struct str_list *ret);

#endif
