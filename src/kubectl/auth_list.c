#include "kubectl/auth.h"

#include "kubectl/output.h"
#include "kubectl/request.h"
#include "kubectl/tab_writer.h"

#include <stdlib.h>

/* One line: a resource (or a path, which is kept as it came) and what may be done with it. */
struct rule {
    struct str resource, group, name, url, verbs;
    struct str order;
};

struct rules {
    struct rule *items;
    size_t len;
};

static void add_verb(struct arena *arena, struct rule *rule, struct str verb)
{
    rule->verbs = arena_printf(arena, "%.*s%s%.*s", STR_ARG(rule->verbs), rule->verbs.n > 0 ? " " : "", STR_ARG(verb));
}

/* The verbs of one resource in one line, whatever rules they come from. */
static void add_resource(struct arena *arena, struct rules *rules, const struct rule *what, struct str verb)
{
    LIST_EACH(rule, rules)
    {
        if (rule->url.n == 0 && str_eq(rule->resource, what->resource) && str_eq(rule->group, what->group) &&
            str_eq(rule->name, what->name)) {
            add_verb(arena, rule, verb);
            return;
        }
    }
    struct rule *rule = LIST_ADD(arena, rules);

    *rule = *what;
    add_verb(arena, rule, verb);
}

static void add_resource_rule(struct arena *arena, struct rules *rules, const struct value *from)
{
    const struct value *names = value_find(from, STR("resourceNames"));

    VALUE_EACH_ITEM(group, value_find(from, STR("apiGroups")))
    {
        VALUE_EACH_ITEM(resource, value_find(from, STR("resources")))
        {
            VALUE_EACH_ITEM(verb, value_find(from, STR("verbs")))
            {
                struct rule what = {.resource = value_str(*resource), .group = value_str(*group)};

                for (size_t i = 0; i < MAX(value_count(names), 1); i++) {
                    what.name = value_str(value_item(names, i));
                    add_resource(arena, rules, &what, value_str(*verb));
                }
            }
        }
    }
}

static void add_url_rule(struct arena *arena, struct rules *rules, const struct value *from)
{
    VALUE_EACH_ITEM(url, value_find(from, STR("nonResourceURLs")))
    {
        VALUE_EACH_ITEM(verb, value_find(from, STR("verbs")))
        {
            struct rule *rule = LIST_ADD(arena, rules);

            rule->url = value_str(*url);
            add_verb(arena, rule, value_str(*verb));
        }
    }
}

static int by_order(const void *left, const void *right)
{
    return str_cmp(((const struct rule *)left)->order, ((const struct rule *)right)->order);
}

static void print(struct kubectl *k, struct rules *rules, bool no_headers)
{
    struct buf lines = {0}, out = {0};

    LIST_EACH(rule, rules)
    {
        rule->order = arena_printf(k->arena, "[%.*s],[%.*s],[%.*s],[%.*s],[%.*s]", STR_ARG(rule->verbs), STR_ARG(rule->group),
                                   STR_ARG(rule->resource), STR_ARG(rule->name), STR_ARG(rule->url));
    }
    if (rules->len > 0) {
        qsort(rules->items, rules->len, sizeof(*rules->items), by_order);
    }
    if (!no_headers) {
        buf_add_str(&lines, STR("Resources\tNon-Resource URLs\tResource Names\tVerbs\n"));
    }
    LIST_EACH(rule, rules)
    {
        buf_printf(&lines, "%.*s%s%.*s\t[%.*s]\t[%.*s]\t[%.*s]\n", STR_ARG(rule->resource), rule->group.n > 0 ? "." : "",
                   STR_ARG(rule->group), STR_ARG(rule->url), STR_ARG(rule->name), STR_ARG(rule->verbs));
    }
    tab_write(&out, buf_str(&lines), 6, 3);
    output_text(k, buf_str(&out));
    buf_done(&lines);
    buf_done(&out);
}

struct status *auth_list(struct kubectl *k, bool no_headers)
{
    struct value *review = value_object(k->arena), *spec = value_object(k->arena), *answer;
    struct rules rules = {0};

    TRY(kubectl_configure(k));
    value_set(k->arena, spec, STR("namespace"), value_string(k->arena, kubectl_namespace(k)));
    value_set(k->arena, review, STR("apiVersion"), value_string(k->arena, STR("authorization.k8s.io/v1")));
    value_set(k->arena, review, STR("kind"), value_string(k->arena, STR("SelfSubjectRulesReview")));
    value_set(k->arena, review, STR("spec"), spec);
    TRY(api_call(k,
                 &(struct api_request){.method = "POST",
                                       .path = STR("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"),
                                       .body = review},
                 &answer));
    const struct value *incomplete = value_find_path(answer, "status.incomplete");

    if (value_is(incomplete, VALUE_BOOL) && incomplete->boolean) {
        fprintf(k->err, "warning: the list may be incomplete: %.*s\n", STR_ARG(value_str_at(answer, "status.evaluationError")));
    }
    VALUE_EACH_ITEM(rule, value_find_path(answer, "status.resourceRules"))
    {
        add_resource_rule(k->arena, &rules, *rule);
    }
    VALUE_EACH_ITEM(rule, value_find_path(answer, "status.nonResourceRules"))
    {
        add_url_rule(k->arena, &rules, *rule);
    }
    print(k, &rules, no_headers);
    return NULL;
}
