/* The functions there are, from the libraries' declarations. */
#include "base/mem.h"
#include "cel/cel_parts.h"

#include <pthread.h>
#include <string.h>

static struct map functions; /* name to struct cel_function; constant once made */
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct declaration {
    struct arena *arena;
    const char *at;
};

static bool take(struct declaration *in, char c)
{
    while (*in->at == ' ') {
        in->at++;
    }
    if (*in->at != c) {
        return false;
    }
    in->at++;
    return true;
}

static const struct cel_type *take_type(struct declaration *in)
{
    static const char *const words[] = {[CEL_NULL] = "null", [CEL_BOOL] = "bool", [CEL_INT] = "int", [CEL_UINT] = "uint",
                                        [CEL_DOUBLE] = "double", [CEL_STRING] = "string", [CEL_BYTES] = "bytes",
                                        [CEL_DURATION] = "duration", [CEL_TIMESTAMP] = "timestamp", [CEL_LIST] = "list",
                                        [CEL_MAP] = "map", [CEL_TYPE] = "type", [CEL_OPTIONAL] = "optional", [CEL_DYN] = "dyn"};
    while (*in->at == ' ') {
        in->at++;
    }
    struct str word = {in->at, strcspn(in->at, "(), :")};
    in->at += word.n;
    if (word.n == 1) {
        return cel_type_make(in->arena, CEL_PARAM, word, NULL, NULL);
    }
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (words[i] == NULL || !str_is(word, words[i])) {
            continue;
        }
        if (!take(in, '(')) {
            return cel_type_basic((enum cel_kind)i);
        }
        const struct cel_type *a = take_type(in), *b = take(in, ',') ? take_type(in) : NULL;
        take(in, ')');
        return cel_type_make(in->arena, (enum cel_kind)i, (struct str){0}, a, b);
    }
    const struct cel_type *named = cel_type_named(arena_cstr(in->arena, word));
    if (named == NULL) {
        mem_die("CEL declaration with an unknown type");
    }
    return named;
}

/* "[receiver -> ]name(args): result" */
static void declare(struct arena *arena, const struct cel_row *row)
{
    struct declaration in = {arena, row->declaration};
    struct cel_overload overload = {.call = row->call};
    const char *arrow = strstr(row->declaration, "->");

    if (arrow != NULL) {
        overload.is_member = true;
        overload.args[overload.count++] = take_type(&in);
        in.at = arrow + 3; /* past the space */
    }
    struct str name = {in.at, strcspn(in.at, "(")};
    in.at += name.n + 1;
    while (!take(&in, ')')) {
        overload.args[overload.count++] = take_type(&in);
        take(&in, ',');
    }
    take(&in, ':');
    overload.result = take_type(&in);
    struct cel_function *function = map_find(&functions, name);
    if (function == NULL) {
        function = ARENA_NEW(arena, struct cel_function);
        function->name = name;
        map_set(&functions, name, function);
    }
    *LIST_ADD(arena, function) = overload;
}

static void make(void)
{
    static const struct cel_row *const libraries[] = {cel_standard_rows, cel_convert_rows, cel_time_rows,     cel_string_rows,
                                                      cel_list_rows,     cel_optional_rows, cel_network_rows, cel_quantity_rows,
                                                      cel_authorizer_rows};
    static struct arena *arena;

    arena = arena_new();
    for (size_t i = 0; i < COUNT_OF(libraries); i++) {
        for (const struct cel_row *row = libraries[i]; row->declaration != NULL; row++) {
            declare(arena, row);
        }
    }
}

const struct cel_function *cel_function_find(struct str name)
{
    pthread_once(&once, make);
    return map_find(&functions, name);
}
