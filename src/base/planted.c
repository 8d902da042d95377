#include "base/planted.h"

#ifdef C8S_PLANTED_BUGS
enum planted_bug planted_awake_ = PLANTED_NONE;
#endif

static const struct {
    const char *name, *what;
} bugs[] = {
    [PLANTED_NONE] = {"none", "nothing"},
#define PLANTED_BUG(id, name, what) [PLANTED_##id] = {name, what},
#include "base/planted_bugs.def"
#undef PLANTED_BUG
};

bool planted_wake(enum planted_bug bug)
{
#ifdef C8S_PLANTED_BUGS
    planted_awake_ = bug;
    return true;
#else
    return bug == PLANTED_NONE;
#endif
}

const char *planted_name(enum planted_bug bug)
{
    return bug < PLANTED_COUNT ? bugs[bug].name : NULL;
}

const char *planted_what(enum planted_bug bug)
{
    return bug < PLANTED_COUNT ? bugs[bug].what : NULL;
}
