/* ImageLocality: nodes that have the pod's images are liked better, less so when few nodes do. */
#include "scheduler/plugin.h"

#include "base/attr.h"

/* Below and above these sizes (of one container's image) size does not matter. */
#define SIZE_MIN ((int64_t)23 << 20)
#define SIZE_MAX_EACH ((int64_t)1000 << 20)

/* "nginx" is known as "nginx:latest". */
static struct str with_tag(struct arena *arena, struct str image)
{
    size_t colon = str_last_index(image, ':'), slash = str_last_index(image, '/');
    bool has_tag = colon != SIZE_MAX && (slash == SIZE_MAX || colon > slash);

    return has_tag ? image : arena_printf(arena, "%.*s:latest", STR_ARG(image));
}

static int64_t size_on(const struct node_info *node, struct str image)
{
    LIST_EACH(known, &node->node->status.images)
    {
        LIST_EACH(name, &known->names)
        {
            if (str_eq(*name, image)) {
                return known->size_bytes;
            }
        }
    }
    return 0;
}

/* The size of the image if the node has it, less the fewer nodes do: else all pods would pile up on one. */
static int64_t worth(const struct attempt *attempt, const struct node_info *node, struct str name)
{
    struct str image = with_tag(attempt->arena, name);
    int64_t size = size_on(node, image);
    size_t having = 0;

    for (size_t i = 0; size > 0 && i < attempt->nodes.len; i++) {
        having += size_on(attempt->nodes.items[i], image) > 0;
    }
    return size > 0 ? (int64_t)((double)size * ((double)having / (double)attempt->nodes.len)) : 0;
}

static int64_t score(const struct attempt *attempt, const struct node_info *node)
{
    const struct core_v1_pod_spec *spec = &attempt->pod->pod->spec;
    int64_t most = SIZE_MAX_EACH * (int64_t)(spec->containers.len + spec->init_containers.len);
    int64_t sum = 0;

    LIST_EACH(container, &spec->init_containers)
    {
        sum += worth(attempt, node, container->image);
    }
    LIST_EACH(container, &spec->containers)
    {
        sum += worth(attempt, node, container->image);
    }
    sum = MIN(MAX(sum, SIZE_MIN), most);
    return most > SIZE_MIN ? SCORE_MAX * (sum - SIZE_MIN) / (most - SIZE_MIN) : 0;
}

const struct plugin image_locality_plugin = {.name = "ImageLocality", .weight = 1, .score = score};
