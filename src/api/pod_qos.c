#include "api/pod_qos.h"

#include "schema/map_of.h"
#include "schema/quantity.h"

/* What the containers ask for together, of cpu and memory alone. */
struct sums {
    bool has_request[2], has_limit[2];
    bool differs;      /* a container's request isn't its limit */
    bool lacks_limit;  /* a container without one */
};

static const char *const counted[] = {"cpu", "memory"};

static const struct quantity *amount(const struct quantity_map *map, size_t i)
{
    const struct quantity *quantity = quantity_map_get(map, str_of(counted[i]));

    return quantity == NULL || quantity_is_zero(*quantity) ? NULL : quantity;
}

static void add_container(struct sums *sums, const struct core_v1_resource_requirements *resources)
{
    for (size_t i = 0; i < COUNT_OF(counted); i++) {
        const struct quantity *request = amount(&resources->requests, i), *limit = amount(&resources->limits, i);

        sums->has_request[i] |= request != NULL;
        sums->has_limit[i] |= limit != NULL;
        sums->lacks_limit |= limit == NULL;
        sums->differs |= (request == NULL) != (limit == NULL) ||
                         (request != NULL && quantity_cmp(*request, *limit) != 0);
    }
}

struct str pod_qos_class(const struct core_v1_pod_spec *spec)
{
    struct sums sums = {0};

    if (spec->resources != NULL && (spec->resources->requests.len != 0 || spec->resources->limits.len != 0)) {
        add_container(&sums, spec->resources); /* those of the pod as a whole count instead */
    } else {
        LIST_EACH(container, &spec->containers) {
            add_container(&sums, &container->resources);
        }
        LIST_EACH(container, &spec->init_containers) {
            add_container(&sums, &container->resources);
        }
    }
    if (!sums.has_request[0] && !sums.has_request[1] && !sums.has_limit[0] && !sums.has_limit[1]) {
        return STR("BestEffort");
    }
    return !sums.lacks_limit && !sums.differs ? STR("Guaranteed") : STR("Burstable");
}
