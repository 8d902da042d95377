#include "base/pmap.h"

#include "base/attr.h"
#include "base/mem.h"

#include <stdlib.h>

/* An AVL tree. In the functions below a node is passed with one reference, which they take, and returned with one. */
struct pmap_node {
    uint32_t refs;
    uint32_t height;
    size_t count;
    void *value;
    struct pmap_node *left, *right;
};

static struct pmap_node *node_ref(struct pmap_node *node)
{
    if (node != NULL) {
        __atomic_add_fetch(&node->refs, 1, __ATOMIC_RELAXED);
    }
    return node;
}

static void node_unref(const struct pmap_type *type, struct pmap_node *node)
{
    if (node != NULL && __atomic_sub_fetch(&node->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        type->unref(node->value);
        node_unref(type, node->left);
        node_unref(type, node->right);
        free(node);
    }
}

/* The node itself when nobody else sees it, else a copy. */
static struct pmap_node *node_own(const struct pmap_type *type, struct pmap_node *node)
{
    if (__atomic_load_n(&node->refs, __ATOMIC_ACQUIRE) == 1) {
        return node;
    }
    struct pmap_node *copy = MEM_NEW(struct pmap_node);

    *copy = *node;
    copy->refs = 1;
    type->ref(copy->value);
    node_ref(copy->left);
    node_ref(copy->right);
    node_unref(type, node);
    return copy;
}

static uint32_t height(const struct pmap_node *node)
{
    return node != NULL ? node->height : 0;
}

static size_t count(const struct pmap_node *node)
{
    return node != NULL ? node->count : 0;
}

static struct pmap_node *update(struct pmap_node *node)
{
    node->height = 1 + MAX(height(node->left), height(node->right));
    node->count = 1 + count(node->left) + count(node->right);
    return node;
}

static struct pmap_node *rotate_right(const struct pmap_type *type, struct pmap_node *node)
{
    struct pmap_node *top = node_own(type, node->left);

    node->left = top->right;
    top->right = update(node);
    return update(top);
}

static struct pmap_node *rotate_left(const struct pmap_type *type, struct pmap_node *node)
{
    struct pmap_node *top = node_own(type, node->right);

    node->right = top->left;
    top->left = update(node);
    return update(top);
}

/* `node` is owned and its sides differ by two at most. */
static struct pmap_node *balance(const struct pmap_type *type, struct pmap_node *node)
{
    if (height(node->left) > height(node->right) + 1) {
        if (height(node->left->right) > height(node->left->left)) {
            node->left = rotate_left(type, node_own(type, node->left));
        }
        return rotate_right(type, node);
    }
    if (height(node->right) > height(node->left) + 1) {
        if (height(node->right->left) > height(node->right->right)) {
            node->right = rotate_right(type, node_own(type, node->right));
        }
        return rotate_left(type, node);
    }
    return update(node);
}

static struct pmap_node *set(const struct pmap_type *type, struct pmap_node *node, struct str key, void *value)
{
    if (node == NULL) {
        node = MEM_NEW(struct pmap_node);
        *node = (struct pmap_node){.refs = 1, .height = 1, .count = 1, .value = value};
        return node;
    }
    node = node_own(type, node);
    int order = str_cmp(key, type->key(node->value));

    if (order == 0) {
        void *before = node->value;

        node->value = value;
        type->unref(before);
        return node;
    }
    if (order < 0) {
        node->left = set(type, node->left, key, value);
    } else {
        node->right = set(type, node->right, key, value);
    }
    return balance(type, node);
}

/* Takes the smallest value out. */
static struct pmap_node *take_first(const struct pmap_type *type, struct pmap_node *node, void **ret_value)
{
    node = node_own(type, node);
    if (node->left == NULL) {
        struct pmap_node *rest = node->right;

        *ret_value = node->value;
        free(node);
        return rest;
    }
    node->left = take_first(type, node->left, ret_value);
    return balance(type, node);
}

/* The key is there. */
static struct pmap_node *take(const struct pmap_type *type, struct pmap_node *node, struct str key)
{
    node = node_own(type, node);
    int order = str_cmp(key, type->key(node->value));

    if (order < 0) {
        node->left = take(type, node->left, key);
    } else if (order > 0) {
        node->right = take(type, node->right, key);
    } else if (node->left == NULL || node->right == NULL) {
        struct pmap_node *rest = node->left != NULL ? node->left : node->right;

        type->unref(node->value);
        free(node);
        return rest;
    } else {
        type->unref(node->value);
        node->right = take_first(type, node->right, &node->value);
    }
    return balance(type, node);
}

void pmap_done(struct pmap *map)
{
    node_unref(map->type, TAKE(map->root));
}

struct pmap pmap_snapshot(const struct pmap *map)
{
    return (struct pmap){map->type, node_ref(map->root)};
}

size_t pmap_count(const struct pmap *map)
{
    return count(map->root);
}

void *pmap_find(const struct pmap *map, struct str key)
{
    const struct pmap_node *node = map->root;

    while (node != NULL) {
        int order = str_cmp(key, map->type->key(node->value));

        if (order == 0) {
            return node->value;
        }
        node = order < 0 ? node->left : node->right;
    }
    return NULL;
}

void pmap_set(struct pmap *map, void *value)
{
    map->root = set(map->type, map->root, map->type->key(value), value);
}

bool pmap_remove(struct pmap *map, struct str key)
{
    if (pmap_find(map, key) == NULL) {
        return false;
    }
    map->root = take(map->type, map->root, key);
    return true;
}

size_t pmap_rank(const struct pmap *map, struct str key)
{
    const struct pmap_node *node = map->root;
    size_t rank = 0;

    while (node != NULL) {
        if (str_cmp(map->type->key(node->value), key) < 0) {
            rank += count(node->left) + 1;
            node = node->right;
        } else {
            node = node->left;
        }
    }
    return rank;
}

void pmap_walk(struct pmap_walk *walk, const struct pmap *map, struct str first)
{
    const struct pmap_node *node = map->root;

    walk->depth = 0;
    while (node != NULL) {
        if (str_cmp(map->type->key(node->value), first) >= 0) {
            walk->path[walk->depth++] = node;
            node = node->left;
        } else {
            node = node->right;
        }
    }
}

void *pmap_next(struct pmap_walk *walk)
{
    if (walk->depth == 0) {
        return NULL;
    }
    const struct pmap_node *at = walk->path[--walk->depth];

    for (const struct pmap_node *node = at->right; node != NULL; node = node->left) {
        walk->path[walk->depth++] = node;
    }
    return at->value;
}
