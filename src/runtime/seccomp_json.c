#include "runtime/seccomp.h"

#include "base/limits.h"
#include "runtime/capability.h"
#include "schema/value.h"

#include <errno.h>

static const struct {
    const char *name;
    enum seccomp_action action;
} actions[] = {
    {"SCMP_ACT_ALLOW", SECCOMP_ALLOW},          {"SCMP_ACT_ERRNO", SECCOMP_ERRNO},
    {"SCMP_ACT_KILL", SECCOMP_KILL_THREAD},     {"SCMP_ACT_KILL_THREAD", SECCOMP_KILL_THREAD},
    {"SCMP_ACT_KILL_PROCESS", SECCOMP_KILL_PROCESS}, {"SCMP_ACT_TRAP", SECCOMP_TRAP},
    {"SCMP_ACT_TRACE", SECCOMP_TRACE},          {"SCMP_ACT_LOG", SECCOMP_LOG},
};

static const char *const compares[] = {"SCMP_CMP_NE", "SCMP_CMP_LT", "SCMP_CMP_LE",       "SCMP_CMP_EQ",
                                       "SCMP_CMP_GE", "SCMP_CMP_GT", "SCMP_CMP_MASKED_EQ"};

static struct status *to_action(struct str name, enum seccomp_action *ret)
{
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        if (str_is(name, actions[i].name)) {
            *ret = actions[i].action;
            return NULL;
        }
    }
    return status_new(STATUS_BAD_REQUEST, "seccomp: unknown action \"%.*s\"", STR_ARG(name));
}

static struct status *to_compare(struct str name, enum seccomp_compare *ret)
{
    for (size_t i = 0; i < COUNT_OF(compares); i++) {
        if (str_is(name, compares[i])) {
            *ret = (enum seccomp_compare)i;
            return NULL;
        }
    }
    return status_new(STATUS_BAD_REQUEST, "seccomp: unknown comparison \"%.*s\"", STR_ARG(name));
}

static int64_t to_int(const struct value *value, int64_t otherwise)
{
    return value_is(value, VALUE_INT) ? value->integer : otherwise;
}

static bool names_machine(const struct value *list)
{
#if defined(__x86_64__)
    static const char *const own = "amd64";
#else
    static const char *const own = "arm64";
#endif

    VALUE_EACH_ITEM(item, list) {
        if (str_is(value_str(*item), own)) {
            return true;
        }
    }
    return false;
}

/* All of the capabilities that the list names are there (or, for `any`, one of them). */
static bool names_capabilities(const struct value *list, uint64_t capabilities, bool any)
{
    bool found = false, all = true;

    VALUE_EACH_ITEM(item, list) {
        uint64_t bit = 0;

        status_free(capability_parse(value_str(*item), &bit));
        found |= (capabilities & bit) != 0;
        all &= bit != 0 && (capabilities & bit) == bit;
    }
    return any ? found : all;
}

static bool applies(const struct value *call, uint64_t capabilities)
{
    const struct value *includes = value_find(call, STR("includes")), *excludes = value_find(call, STR("excludes"));
    const struct value *arches = value_find(includes, STR("arches"));

    return (value_count(arches) == 0 || names_machine(arches)) &&
           names_capabilities(value_find(includes, STR("caps")), capabilities, false) &&
           !names_machine(value_find(excludes, STR("arches"))) &&
           !names_capabilities(value_find(excludes, STR("caps")), capabilities, true);
}

static struct status *decode_rule(struct arena *arena, const struct value *call, struct seccomp_rule *rule)
{
    TRY(to_action(value_str(value_find(call, STR("action"))), &rule->action));
    rule->error = (int)to_int(value_find(call, STR("errnoRet")), EPERM);
    if (value_is(value_find(call, STR("name")), VALUE_STRING)) {
        *LIST_ADD(arena, &rule->names) = value_str(value_find(call, STR("name")));
    }
    VALUE_EACH_ITEM(name, value_find(call, STR("names"))) {
        *LIST_ADD(arena, &rule->names) = value_str(*name);
    }
    VALUE_EACH_ITEM(item, value_find(call, STR("args"))) {
        struct seccomp_argument argument = {.index = (unsigned)to_int(value_find(*item, STR("index")), 0)};

        TRY(to_compare(value_str(value_find(*item, STR("op"))), &argument.compare));
        argument.value = (uint64_t)to_int(value_find(*item, STR("value")), 0);
        argument.value_two = (uint64_t)to_int(value_find(*item, STR("valueTwo")), 0);
        *LIST_ADD(arena, &rule->arguments) = argument;
    }
    return NULL;
}

static void add_architecture(struct arena *arena, struct seccomp_profile *profile, struct str name)
{
    static const struct {
        const char *name, *ours;
    } known[] = {{"SCMP_ARCH_X86_64", "x86_64"}, {"SCMP_ARCH_X86", "x86"}, {"SCMP_ARCH_X32", "x32"},
                 {"SCMP_ARCH_AARCH64", "aarch64"}, {"SCMP_ARCH_ARM", "arm"}};

    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (str_is(name, known[i].name)) {
            *LIST_ADD(arena, &profile->architectures) = str_of(known[i].ours);
        }
    }
}

static void decode_architectures(struct arena *arena, const struct value *root, struct seccomp_profile *profile)
{
#if defined(__x86_64__)
    struct str own = STR("SCMP_ARCH_X86_64");
#else
    struct str own = STR("SCMP_ARCH_AARCH64");
#endif

    VALUE_EACH_ITEM(item, value_find(root, STR("architectures"))) {
        add_architecture(arena, profile, value_str(*item));
    }
    VALUE_EACH_ITEM(item, value_find(root, STR("archMap"))) {
        if (str_eq(value_str(value_find(*item, STR("architecture"))), own)) {
            VALUE_EACH_ITEM(sub, value_find(*item, STR("subArchitectures"))) {
                add_architecture(arena, profile, value_str(*sub));
            }
        }
    }
}

struct status *seccomp_profile_decode(struct arena *arena, struct str json, uint64_t capabilities,
                                      struct seccomp_profile *ret)
{
    struct value *root;
    struct seccomp_profile profile = {0};

    TRY(value_read_json(arena, json, &root, NULL));
    TRY(to_action(value_str(value_find(root, STR("defaultAction"))), &profile.default_action));
    profile.default_error = (int)to_int(value_find(root, STR("defaultErrnoRet")), EPERM);
    decode_architectures(arena, root, &profile);
    VALUE_EACH_ITEM(flag, value_find(root, STR("flags"))) {
        profile.has_log |= str_is(value_str(*flag), "SECCOMP_FILTER_FLAG_LOG");
        profile.has_speculation |= str_is(value_str(*flag), "SECCOMP_FILTER_FLAG_SPEC_ALLOW");
    }
    VALUE_EACH_ITEM(call, value_find(root, STR("syscalls"))) {
        if (applies(*call, capabilities)) {
            struct seccomp_rule rule = {0};

            TRY(decode_rule(arena, *call, &rule));
            *LIST_ADD(arena, &profile.rules) = rule;
        }
    }
    *ret = profile;
    return NULL;
}

static struct value *action_value(struct arena *arena, enum seccomp_action action)
{
    size_t at = 0;

    while (actions[at].action != action) {
        at++;
    }
    return value_string(arena, str_of(actions[at].name));
}

static struct value *rule_value(struct arena *arena, const struct seccomp_rule *rule)
{
    struct value *value = value_object(arena), *names = value_array(arena), *arguments = value_array(arena);

    LIST_EACH(name, &rule->names) {
        value_add(arena, names, value_string(arena, *name));
    }
    value_set(arena, value, STR("names"), names);
    value_set(arena, value, STR("action"), action_value(arena, rule->action));
    if (rule->action == SECCOMP_ERRNO || rule->action == SECCOMP_TRACE) {
        value_set(arena, value, STR("errnoRet"), value_int(arena, rule->error));
    }
    LIST_EACH(argument, &rule->arguments) {
        struct value *item = value_object(arena);

        value_set(arena, item, STR("index"), value_int(arena, argument->index));
        value_set(arena, item, STR("value"), value_int(arena, (int64_t)argument->value));
        value_set(arena, item, STR("valueTwo"), value_int(arena, (int64_t)argument->value_two));
        value_set(arena, item, STR("op"), value_string(arena, str_of(compares[argument->compare])));
        value_add(arena, arguments, item);
    }
    if (rule->arguments.len > 0) {
        value_set(arena, value, STR("args"), arguments);
    }
    return value;
}

struct str seccomp_profile_encode(struct arena *arena, const struct seccomp_profile *profile)
{
    struct value *root = value_object(arena), *architectures = value_array(arena), *calls = value_array(arena);

    value_set(arena, root, STR("defaultAction"), action_value(arena, profile->default_action));
    if (profile->default_action == SECCOMP_ERRNO) {
        value_set(arena, root, STR("defaultErrnoRet"), value_int(arena, profile->default_error));
    }
#if defined(__x86_64__)
    value_add(arena, architectures, value_string(arena, STR("SCMP_ARCH_X86_64")));
#elif defined(__aarch64__)
    value_add(arena, architectures, value_string(arena, STR("SCMP_ARCH_AARCH64")));
#endif
    LIST_EACH(name, &profile->architectures) {
        char *upper = arena_cstr(arena, arena_printf(arena, "SCMP_ARCH_%.*s", STR_ARG(*name)));

        for (char *c = upper; *c != '\0'; c++) {
            *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
        }
        value_add(arena, architectures, value_string(arena, str_of(upper)));
    }
    value_set(arena, root, STR("architectures"), architectures);
    LIST_EACH(rule, &profile->rules) {
        value_add(arena, calls, rule_value(arena, rule));
    }
    value_set(arena, root, STR("syscalls"), calls);
    return value_json(arena, root);
}
