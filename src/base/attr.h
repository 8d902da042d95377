/* Compiler extensions c8s uses, each under one name. */
#ifndef BASE_ATTR_H
#define BASE_ATTR_H

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#define NO_RETURN __attribute__((noreturn))
#define UNUSED __attribute__((unused))

/* Releases a variable when it goes out of scope: OWNED(buf_done) struct buf out = {0}; */
#define OWNED(release) __attribute__((cleanup(release)))

/* Moves ownership out of a pointer variable: the variable becomes NULL. */
#define TAKE(pointer)                          \
    ({                                         \
        __typeof__(pointer) taken_ = (pointer); \
        (pointer) = NULL;                      \
        taken_;                                \
    })

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* The struct of `type` whose `member` is at `pointer`. */
#define CONTAINER_OF(pointer, type, member) \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
