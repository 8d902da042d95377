#include "test.h"

#include "cel/cel.h"

static const char object_json[] =
    "{\"a\": 4, \"b\": 0, \"s\": \"h\\u00e9llo\", \"l\": [1, 2, 3], \"m\": {\"x\": \"y\", \"k\": \"v\"}, \"n\": null, \"d\": 1.5}";

struct world {
    struct arena *arena;
    struct cel_env *env;
    struct cel_binding self;
};

static struct world world_new(void)
{
    struct world world = {arena_new(), cel_env_new(), {.name = STR("self")}};
    struct value *object;

    CHECK_OK(value_read_json(world.arena, str_of(object_json), &object, NULL));
    cel_env_variable(world.env, STR("self"), cel_type_basic(CEL_DYN));
    world.self.value = cel_val_json(object, NULL);
    return world;
}

static void world_done(struct world *world)
{
    cel_env_free(world->env);
    arena_free(world->arena);
}

/* The result as text: JSON, or "error: why", or the compiler's complaint. */
static struct str run(struct world *world, const char *expression)
{
    struct str problem;
    struct cel_program *program = cel_compile(world->env, str_of(expression), world->arena, &problem);
    struct value *json;

    if (program == NULL) {
        return problem;
    }
    struct cel_result result = cel_eval(program, world->arena, &world->self, 1, CEL_COST_PER_CALL);
    struct str text = STR("?");
    if (result.value.kind == CEL_ERROR) {
        text = arena_printf(world->arena, "error: %.*s", STR_ARG(result.value.string));
    } else if (cel_val_to_json(world->arena, result.value, &json)) {
        text = value_json(world->arena, json);
    }
    cel_program_free(program);
    return text;
}

struct row {
    const char *expression, *wanted;
};

static void check_rows(const struct row *rows, size_t count)
{
    struct world world = world_new();

    for (size_t i = 0; i < count; i++) {
        struct str got = run(&world, rows[i].expression);

        if (!str_is(got, rows[i].wanted)) {
            test_fail(__FILE__, __LINE__, "%s gives %.*s, not %s", rows[i].expression, STR_ARG(got), rows[i].wanted);
        }
    }
    world_done(&world);
}
#define CHECK_ROWS(...)                            \
    do {                                           \
        static const struct row rows[] = {__VA_ARGS__}; \
        check_rows(rows, COUNT_OF(rows));          \
    } while (0)

TEST("cel/arithmetic and its overflows")
{
    CHECK_ROWS({"1 + 2 * 3", "7"}, {"7 / -2", "-3"}, {"-7 % 3", "-1"}, {"1 / 0", "error: division by zero"},
               {"1 % 0", "error: modulus by zero"}, {"9223372036854775807 + 1", "error: integer overflow"},
               {"0u - 1u", "error: unsigned integer overflow"}, {"1.0 / 0.0 > 1e300", "true"}, {"0x1F", "31"},
               {"-9223372036854775808", "-9223372036854775808"}, {"--3", "3"}, {"!!true", "true"}, {"dyn(5u + 2u) == 7", "true"},
               {"1 < 1.5 && 2u > 1", "true"}, {"'a' + 'b' == 'ab'", "true"}, {"[1] + [2, 3]", "[1,2,3]"}, {"b'ab' + b'c' == b'abc'", "true"});
}

TEST("cel/logic takes in errors of the side that does not matter")
{
    CHECK_ROWS({"true || 1/0 > 0", "true"}, {"1/0 > 0 || true", "true"}, {"false && 1/0 > 0", "false"}, {"1/0 > 0 && false", "false"},
               {"1/0 > 0 && true", "error: division by zero"}, {"true ? 1 : 1/0", "1"}, {"[1, 0].exists(x, 2 / x > 1)", "true"},
               {"[0, 2].all(x, 2 / x > 5)", "false"}, {"[0].all(x, 2 / x > 5)", "error: division by zero"});
}

TEST("cel/members, elements and tests for them")
{
    CHECK_ROWS({"self.a", "4"}, {"self.zz", "error: no such key: zz"}, {"has(self.a)", "true"}, {"has(self.zz)", "false"},
               {"self.l[1]", "2"}, {"self.l[3]", "error: index out of bounds: 3"}, {"self['m']['x']", "\"y\""}, {"self.n == null", "true"},
               {"'x' in self.m", "true"}, {"4 in self.l", "false"}, {"{'a': 1}.a", "1"}, {"size(self.m)", "2"}, {"self.s.size()", "5"},
               {"{1: 'a', 1: 'b'}", "error: Failed with repeated key [1]"}, {"type(1) == int", "true"}, {"type(self.d) == double", "true"},
               {"self.a / self.b > 0", "error: division by zero"}, {"self.l == [1, 2, 3]", "true"}, {"self.m == {'k': 'v', 'x': 'y'}", "true"});
}

TEST("cel/comprehensions")
{
    CHECK_ROWS({"[1, 2, 3].map(x, x * 2)", "[2,4,6]"}, {"[1, 2, 3].filter(x, x > 1)", "[2,3]"}, {"[1, 2, 3].map(x, x > 1, x + 1)", "[3,4]"},
               {"[1, 2].exists_one(x, x == 1)", "true"}, {"self.m.all(k, self.m[k] != '')", "true"}, {"self.m.map(k, k)", "[\"k\",\"x\"]"},
               {"[5, 6].all(i, v, v == i + 5)", "true"}, {"[5, 6].transformList(i, v, i + v)", "[5,7]"},
               {"{'a': 1}.transformMap(k, v, v + 1)", "{\"a\":2}"}, {"['a'].transformMapEntry(i, v, {v: i})", "{\"a\":0}"},
               {"[[1, 2], [3]].map(x, x.map(y, y + size(x)))", "[[3,4],[4]]"}, {"{'a': 1}.existsOne(k, v, v == 1)", "true"});
}

TEST("cel/optional values")
{
    CHECK_ROWS({"self.?a.orValue(9)", "4"}, {"self.?zz.orValue(9)", "9"}, {"self.?m.?x.value()", "\"y\""}, {"self.?m.q.hasValue()", "false"},
               {"self.l[?9].orValue(0)", "0"}, {"[?self.?zz, 1]", "[1]"}, {"{?'a': optional.of(1), ?'b': optional.none()}", "{\"a\":1}"},
               {"optional.of(1).optMap(x, x + 1).value()", "2"}, {"optional.none().or(optional.of(3)).value()", "3"},
               {"optional.ofNonZeroValue(0).hasValue()", "false"}, {"optional.none().value()", "error: optional.none() dereference"},
               {"self.?a.optFlatMap(x, optional.of(x)).value()", "4"});
}

TEST("cel/strings")
{
    CHECK_ROWS({"self.s.charAt(1) == 'é'", "true"}, {"'tacocat'.indexOf('ac')", "1"}, {"'tacocat'.lastIndexOf('c')", "4"},
               {"'ABC'.lowerAscii() + 'd'.upperAscii()", "\"abcD\""}, {"'aXbX'.replace('X', '-')", "\"a-b-\""},
               {"'aXbX'.replace('X', '-', 1)", "\"a-bX\""}, {"'a,b'.split(',')", "[\"a\",\"b\"]"}, {"'abc'.split('')", "[\"a\",\"b\",\"c\"]"},
               {"'a,b,c'.split(',', 2)", "[\"a\",\"b,c\"]"}, {"'tacocat'.substring(4)", "\"cat\""}, {"'tacocat'.substring(0, 4)", "\"taco\""},
               {"'x'.substring(2)", "error: index out of range: 2"}, {"' a '.trim()", "\"a\""}, {"['a', 'b'].join('-')", "\"a-b\""},
               {"'abc'.matches('^a.c$')", "true"}, {"'a1b22'.findAll('[0-9]+')", "[\"1\",\"22\"]"}, {"'ab'.find('b')", "\"b\""},
               {"'%s is %d, %.2f, %x'.format([dyn('a'), 3, 1.5, 255])", "\"a is 3, 1.50, ff\""}, {"'\\u00e9\\n\\x41' == 'é\\nA'", "true"},
               {"r'\\n'.size()", "2"}, {"'''a'b'''", "\"a'b\""}, {"string(1.5) + string(true)", "\"1.5true\""}, {"int('12')", "12"});
}

TEST("cel/times")
{
    CHECK_ROWS({"duration('1h30m').getMinutes()", "90"}, {"timestamp('2023-01-01T00:00:00Z').getFullYear()", "2023"},
               {"timestamp('2023-01-01T00:00:00Z') + duration('36h') == timestamp('2023-01-02T12:00:00Z')", "true"},
               {"string(duration('90s'))", "\"90s\""}, {"timestamp('2023-01-01T00:00:00Z').getHours('+02:00')", "2"},
               {"timestamp('2023-01-02T00:00:00Z') - timestamp('2023-01-01T00:00:00Z') == duration('24h')", "true"});
}

TEST("cel/libraries of Kubernetes")
{
    CHECK_ROWS({"[1, 3, 2].isSorted()", "false"}, {"[1, 2].sum() + [3, 1].max()", "6"}, {"[2, 1].min()", "1"}, {"[1, 2, 1].lastIndexOf(1)", "2"},
               {"sets.contains([1, 2], [2])", "true"}, {"sets.equivalent([1, 1], [1])", "true"}, {"sets.intersects([1], [2])", "false"},
               {"ip('10.0.0.1').family()", "4"}, {"isIP('010.0.0.1')", "false"}, {"cidr('10.0.0.0/8').containsIP('10.1.2.3')", "true"},
               {"cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", "true"}, {"string(ip('2001:DB8::1'))", "\"2001:db8::1\""},
               {"url('https://u@h.example:80/p?q=1&q=2').getQuery()['q']", "[\"1\",\"2\"]"}, {"url('https://h:80/p').getPort()", "\"80\""},
               {"isURL('../a')", "false"}, {"quantity('1Gi').isGreaterThan(quantity('1G'))", "true"}, {"quantity('50k').add(20).asInteger()", "50020"},
               {"isQuantity('x')", "false"}, {"semver('1.2.3').isLessThan(semver('1.10.0'))", "true"}, {"semver('v1.0', true).major()", "1"},
               {"isSemver('1.2')", "false"}, {"jsonpatch.escapeKey('a/b~c')", "\"a~1b~0c\""}, {"!format.dns1123Label().validate('a-b').hasValue()", "true"}, {"format.uuid().validate('x').value()", "[\"does not match the UUID format\"]"},
               {"format.named('nope').hasValue()", "false"}, {"quantity('1000m') == quantity('1')", "true"});
}

TEST("cel/mistakes in stock's words")
{
    CHECK_ROWS({"1 +", "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', "
                       "'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 +\n | ...^"},
               {"bogus.x", "ERROR: <input>:1:1: undeclared reference to 'bogus' (in container '')\n | bogus.x\n | ^"},
               {"1 == 'a'", "ERROR: <input>:1:3: found no matching overload for '_==_' applied to '(int, string)'\n | 1 == 'a'\n | ..^"},
               {"'a'.foo()", "ERROR: <input>:1:8: undeclared reference to 'foo' (in container '')\n | 'a'.foo()\n | .......^"},
               {"1.startsWith", "ERROR: <input>:1:2: type 'int' does not support field selection\n | 1.startsWith\n | .^"},
               {"'a'.size(1)", "ERROR: <input>:1:9: found no matching overload for 'size' applied to 'string.(int)'\n | 'a'.size(1)\n | ........^"},
               {"'a'.matches('(')", "ERROR: <input>:1:13: invalid matches argument\n | 'a'.matches('(')\n | ............^"},
               {"duration('x')", "ERROR: <input>:1:10: invalid duration argument\n | duration('x')\n | .........^"},
               {"", "ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', "
                    "'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"});
}

TEST("cel/evaluation stops at its budget")
{
    struct world world = world_new();
    struct str problem;
    struct cel_program *program =
        cel_compile(world.env, STR("[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, a * b > 0))"), world.arena, &problem);

    CHECK(program != NULL);
    struct cel_result result = cel_eval(program, world.arena, NULL, 0, 100);
    CHECK(result.over_budget);
    CHECK_STR(result.value.string, "operation cancelled: actual cost limit exceeded");
    result = cel_eval(program, world.arena, NULL, 0, CEL_COST_PER_CALL);
    CHECK(!result.over_budget && result.value.boolean && result.cost > 100);
    cel_program_free(program);
    world_done(&world);
}

TEST("cel/nesting is bounded")
{
    struct world world = world_new();
    char text[4001];

    for (int i = 0; i < 4000; i++) {
        text[i] = '(';
    }
    text[4000] = '\0';
    CHECK(str_contains(run(&world, text), STR("expression recursion limit exceeded: 250")));
    for (int i = 0; i < 4000; i++) {
        text[i] = i % 2 == 0 ? '1' : '+';
    }
    CHECK(str_contains(run(&world, text), STR("expression recursion limit exceeded: 250")));
    world_done(&world);
}

TEST("cel/values that share their parts are walked within bounds")
{
    struct world world = world_new();
    OWNED(buf_done) struct buf text = {0};

    buf_add_str(&text, STR("[1]"));
    for (int i = 0; i < 40; i++) {
        buf_add_str(&text, STR(".map(x, [x, x])"));
    }
    CHECK_STR(run(&world, buf_cstr(&text)), "?");
    buf_add_str(&text, STR(".map(x, x == x)"));
    CHECK_STR(run(&world, buf_cstr(&text)), "[false]");
    world_done(&world);
}
