/* Environments, and compiling: parse, check, and the errors as text. */
#include "cel/cel_parts.h"
#include "base/mem.h"
#include "schema/regex.h"

#include <stdlib.h>

struct cel_env *cel_env_new(void)
{
    struct cel_env *env = MEM_NEW(struct cel_env);

    env->arena = arena_new();
    return env;
}

void cel_env_free(struct cel_env *env)
{
    if (env != NULL) {
        map_done(&env->variables);
        arena_free(env->arena);
        free(env);
    }
}

void cel_env_variable(struct cel_env *env, struct str name, const struct cel_type *type)
{
    map_set(&env->variables, name, (void *)(uintptr_t)type);
}

void cel_env_allow_mutation(struct cel_env *env)
{
    env->mutation = true;
}

static int by_place(const void *a, const void *b)
{
    const struct cel_issue *x = a, *y = b;

    return x->at != y->at ? (x->at < y->at ? -1 : 1) : str_cmp(x->message, y->message);
}

/* "ERROR: <input>:1:5: message", the line of text, and a mark under the place. */
static void show(struct buf *out, struct str text, const struct cel_issue *issue, bool no_text)
{
    size_t byte = cel_character(text, issue->at), start = byte, line = 1;

    if (no_text) {
        buf_printf(out, "ERROR: <input>:-1:0: %.*s", STR_ARG(issue->message));
        return;
    }
    for (size_t i = 0; i < byte; i++) {
        line += text.p[i] == '\n';
    }
    while (start > 0 && text.p[start - 1] != '\n') {
        start--;
    }
    size_t column = cel_characters(str_sub(text, start, byte));
    struct str shown = str_from(text, start), rest;
    str_cut(shown, '\n', &shown, &rest);
    if (text.n == 0) {
        buf_printf(out, "ERROR: <input>:1:0: %.*s", STR_ARG(issue->message));
        return;
    }
    buf_printf(out, "ERROR: <input>:%zu:%zu: %.*s\n | ", line, column + 1, STR_ARG(issue->message));
    for (size_t i = 0; i < shown.n; i++) {
        buf_add_char(out, shown.p[i] == '\t' ? ' ' : shown.p[i]);
    }
    buf_add_str(out, STR("\n | "));
    for (size_t i = 0; i < column; i++) {
        size_t at = cel_character(shown, i);

        buf_add_str(out, at < shown.n && (unsigned char)shown.p[at] >= 0xe0 ? STR("．") : STR("."));
    }
    buf_add_char(out, '^');
}

struct cel_program *cel_compile(struct cel_env *env, struct str expression, struct arena *arena, struct str *ret_problem)
{
    struct cel_program *program = MEM_NEW(struct cel_program);
    struct cel_issues issues = {0};
    bool no_text;

    program->arena = arena_new();
    program->env = env;
    program->root = cel_parse(program->arena, arena_str(program->arena, expression), &no_text, &issues);
    if (program->root != NULL) {
        cel_check(env, program->arena, program, &issues);
    }
    if (issues.len == 0) {
        return program;
    }
    OWNED(buf_done) struct buf out = {0};
    qsort(issues.items, issues.len, sizeof(*issues.items), by_place);
    for (size_t i = 0; i < issues.len; i++) {
        bool again = i > 0 && by_place(&issues.items[i - 1], &issues.items[i]) == 0;

        if (!again) {
            buf_add_str(&out, i > 0 ? STR("\n") : STR(""));
            show(&out, expression, &issues.items[i], no_text);
        }
    }
    *ret_problem = arena_str(arena, buf_str(&out));
    cel_program_free(program);
    return NULL;
}

void cel_program_free(struct cel_program *program)
{
    if (program != NULL) {
        for (size_t i = 0; i < program->regexes.len; i++) {
            regex_free(program->regexes.items[i]);
        }
        arena_free(program->arena);
        free(program);
    }
}

const struct cel_type *cel_program_type(const struct cel_program *program)
{
    return program->root->type;
}

static bool uses(const struct cel_node *node, struct str variable)
{
    if (node->kind == NODE_IDENT && node->slot < 0 && str_eq(node->name, variable)) {
        return true;
    }
    for (size_t i = 0; i < node->count; i++) {
        if (uses(node->args[i], variable)) {
            return true;
        }
    }
    return false;
}

bool cel_program_uses(const struct cel_program *program, struct str variable)
{
    return uses(program->root, variable);
}
