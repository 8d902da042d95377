#include "api/tolerations.h"

bool toleration_tolerates(const struct core_v1_toleration *toleration, const struct core_v1_taint *taint)
{
    int64_t wanted, have;

    if ((toleration->effect.n > 0 && !str_eq(toleration->effect, taint->effect)) ||
        (toleration->key.n > 0 && !str_eq(toleration->key, taint->key))) {
        return false;
    }
    if (str_is(toleration->operator, "Exists")) {
        return true;
    }
    if (str_is(toleration->operator, "Lt") || str_is(toleration->operator, "Gt")) {
        if (!str_to_i64(toleration->value, &wanted) || !str_to_i64(taint->value, &have)) {
            return false;
        }
        return str_is(toleration->operator, "Lt") ? have < wanted : have > wanted;
    }
    return (toleration->operator.n == 0 || str_is(toleration->operator, "Equal")) &&
           str_eq(toleration->value, taint->value);
}

bool tolerations_of_pod_tolerate(const struct core_v1_pod *pod, const struct core_v1_taint *taint)
{
    LIST_EACH(toleration, &pod->spec.tolerations)
    {
        if (toleration_tolerates(toleration, taint)) {
            return true;
        }
    }
    return false;
}
