#include "test.h"

#include "api/apiextensions_v1.h"
#include "cel/cel.h"
#include "schema/json.h"

/* Types the env by a schema, as `self`. */
static const struct cel_type *declare(struct cel_env *env, struct arena *arena, const char *schema_json)
{
    struct apiextensions_v1_json_schema_props *schema = ARENA_NEW(arena, struct apiextensions_v1_json_schema_props);

    CHECK_OK(json_decode(arena, &apiextensions_v1_json_schema_props_type, str_of(schema_json), schema, NULL));
    const struct cel_type *type = cel_type_of_schema(env, schema, false);
    CHECK(type != NULL);
    cel_env_variable(env, STR("self"), type);
    return type;
}

static struct cel_val evaluate(struct cel_env *env, struct arena *arena, const struct cel_type *type, const char *object, const char *rule)
{
    struct value *json;
    struct str problem = {0};
    struct cel_program *program = cel_compile(env, str_of(rule), arena, &problem);

    CHECK_OK(value_read_json(arena, str_of(object), &json, NULL));
    if (program == NULL) {
        test_fail(__FILE__, __LINE__, "%.*s", STR_ARG(problem));
    }
    struct cel_binding self = {STR("self"), cel_val_json(json, type)};
    struct cel_val value = cel_eval(program, arena, &self, 1, CEL_COST_PER_CALL).value;
    cel_program_free(program);
    return value;
}

TEST("cel/schema/fields are typed, escaped, and formats are values of their own")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cel_env *env = cel_env_new();
    struct str problem;
    const struct cel_type *type = declare(env, arena,
        "{\"type\":\"object\",\"properties\":{\"when\":{\"type\":\"string\",\"format\":\"date-time\"},\"for\":{\"type\":\"integer\"},"
        "\"a-b\":{\"type\":\"string\"},\"ratio\":{\"type\":\"number\"},\"port\":{\"x-kubernetes-int-or-string\":true},"
        "\"tags\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"string\"}}}}");
    static const char object[] = "{\"when\":\"2024-02-29T10:00:00Z\",\"for\":3,\"a-b\":\"x\",\"ratio\":1,\"port\":\"http\",\"tags\":[\"p\",\"q\"]}";

    CHECK(evaluate(env, arena, type, object, "self.when.getMonth() == 1 && self.__for__ == 3 && self.a__dash__b == 'x'").boolean);
    CHECK(evaluate(env, arena, type, object, "self.ratio * 2.0 == 2.0 && type(self.port) == string").boolean);
    CHECK(evaluate(env, arena, type, object, "self.tags == ['q', 'p'] && (self.tags + ['p']).size() == 2").boolean);
    CHECK(cel_compile(env, STR("self.nope == 1"), arena, &problem) == NULL);
    CHECK_STR(problem, "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope == 1\n | ....^");
    cel_env_free(env);
}

TEST("cel/schema/estimates grow with what is allowed")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cel_env *env = cel_env_new();
    struct str problem;

    declare(env, arena, "{\"type\":\"array\",\"maxItems\":10,\"items\":{\"type\":\"string\",\"maxLength\":5}}");
    struct cel_program *small = cel_compile(env, STR("self.all(x, self.all(y, x == y))"), arena, &problem);
    CHECK(small != NULL && cel_program_estimate(small) < CEL_ESTIMATE_PER_RULE);
    cel_program_free(small);
    cel_env_free(env);

    env = cel_env_new();
    declare(env, arena, "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}");
    struct cel_program *large = cel_compile(env, STR("self.all(x, self.all(y, x == y))"), arena, &problem);
    CHECK(large != NULL && cel_program_estimate(large) / 100 > CEL_ESTIMATE_PER_RULE);
    cel_program_free(large);
    cel_env_free(env);
}

static bool permit(const struct cel_authorizer *authorizer, const struct cel_authz_request *request, struct str *ret_reason, struct str *ret_error)
{
    *ret_reason = STR("because");
    return str_is(request->verb, "get") && str_is(request->resource, "pods") && str_is(request->namespace, "ns");
}

static bool one_field(const struct cel_lazy *lazy, struct cel_run *run, struct str field, struct cel_val *ret)
{
    *ret = cel_val_int(*(int64_t *)lazy->context += 1);
    return str_is(field, "x");
}

TEST("cel/authorizer and lazy objects are asked")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cel_env *env = cel_env_new();
    struct cel_type *variables = cel_type_object(env, STR("variables"));
    int64_t asked = 0;
    struct cel_authorizer authorizer = {permit, NULL};
    struct cel_lazy lazy = {one_field, &asked};
    struct str problem;

    cel_type_field(env, variables, STR("x"), cel_type_basic(CEL_INT));
    cel_env_variable(env, STR("authorizer"), cel_type_named("kubernetes.authorization.Authorizer"));
    cel_env_variable(env, STR("variables"), variables);
    struct cel_program *program = cel_compile(
        env, STR("authorizer.group('').resource('pods').namespace('ns').check('get').allowed() && variables.x == 1"), arena, &problem);
    CHECK(program != NULL && cel_program_uses(program, STR("variables")) && !cel_program_uses(program, STR("other")));
    struct cel_binding bindings[] = {{STR("authorizer"), cel_val_authorizer(&authorizer)}, {STR("variables"), cel_val_lazy(&lazy, variables)}};
    struct cel_result result = cel_eval(program, arena, bindings, 2, CEL_COST_PER_CALL);
    CHECK(result.value.kind == CEL_BOOL && result.value.boolean);
    CHECK(result.cost > 350000);
    CHECK_INT(asked, 1);
    cel_program_free(program);
    CHECK(cel_compile(env, STR("variables.b"), arena, &problem) == NULL);
    CHECK_STR(problem, "ERROR: <input>:1:10: undefined field 'b'\n | variables.b\n | .........^");
    cel_env_free(env);
}

TEST("cel/mutations make objects and patches")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct cel_env *env = cel_env_new();
    struct str problem;
    struct value *json;
    struct cel_program *program = cel_compile(env, STR("Object{}"), arena, &problem);

    CHECK(program == NULL);
    cel_env_allow_mutation(env);
    program = cel_compile(env, STR("Object{spec: Object.spec{replicas: 3}}"), arena, &problem);
    CHECK(program != NULL);
    CHECK_STR(cel_type_text(arena, cel_program_type(program)), "Object");
    CHECK(cel_val_to_json(arena, cel_eval(program, arena, NULL, 0, 1000).value, &json));
    CHECK_STR(value_json(arena, json), "{\"spec\":{\"replicas\":3}}");
    cel_program_free(program);
    program = cel_compile(env, STR("[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('b/c'), value: 1}]"), arena, &problem);
    CHECK(program != NULL);
    CHECK_STR(cel_type_text(arena, cel_program_type(program)), "list(JSONPatch)");
    cel_program_free(program);
    CHECK(cel_compile(env, STR("Object{bogus: 1"), arena, &problem) == NULL);
    CHECK_STR(problem, "ERROR: <input>:1:16: Syntax error: mismatched input '<EOF>' expecting {'}', ','}\n | Object{bogus: 1\n | ...............^");
    cel_env_free(env);
}
