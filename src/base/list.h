/* An intrusive doubly linked list. The head is a link too; an empty list points at itself.
 * A link that is in no list is zero, or unlinked by list_remove(). One thread at a time. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include "base/attr.h"

#include <stdbool.h>
#include <stddef.h>

struct link {
    struct link *prev, *next;
};

static inline void list_init(struct link *head)
{
    head->prev = head->next = head;
}

static inline bool list_empty(const struct link *head)
{
    return head->next == head || head->next == NULL;
}

static inline void list_add_tail(struct link *head, struct link *link)
{
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

/* Does nothing when the link is in no list. */
static inline void list_remove(struct link *link)
{
    if (link->next != NULL) {
        link->prev->next = link->next;
        link->next->prev = link->prev;
        link->prev = link->next = NULL;
    }
}

/* Takes the first link off; NULL when there is none. */
static inline struct link *list_pop(struct link *head)
{
    if (list_empty(head)) {
        return NULL;
    }
    struct link *first = head->next;

    list_remove(first);
    return first;
}

/* Safe against removing `at` inside the loop. */
#define LINK_EACH(at, head) \
    for (struct link *at = (head)->next, *at##_next = at->next; at != (head); at = at##_next, at##_next = at->next)

#endif
