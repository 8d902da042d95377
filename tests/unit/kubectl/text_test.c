/* What is pure in kubectl: columns, JSONPath, suggestions, KYAML. */
#include "test.h"

#include "kubectl/json_path.h"
#include "kubectl/kyaml.h"
#include "kubectl/suggest.h"
#include "kubectl/tab_writer.h"

static void check_tabs(const char *text, size_t width_min, size_t padding, const char *wanted)
{
    OWNED(buf_done) struct buf out = {0};

    tab_write(&out, str_of(text), width_min, padding);
    CHECK_STR(buf_str(&out), wanted);
}

TEST("kubectl/tab_writer/columns are as wide as their widest cell in consecutive lines")
{
    check_tabs("NAME\tAGE\na\t5s\nlong-name\t1h\n", 6, 3, "NAME        AGE\na           5s\nlong-name   1h\n");
    check_tabs("a\tb\n", 6, 3, "a     b\n");
    check_tabs("Name:\tx\nList:\n  Type\tStatus\n  Ready \tTrue \nEnd:\ty\n", 0, 2,
               "Name:  x\nList:\n  Type    Status\n  Ready   True \nEnd:      y\n");
    check_tabs("a\t\tc\nlonger\tbb\tc\n", 0, 2, "a           c\nlonger  bb  c\n");
    check_tabs("\xc3\xa9\tx\nab\ty", 0, 1, "\xc3\xa9  x\nab y");
    check_tabs("", 0, 2, "");
}

static void check_path(const char *template, const char *wanted)
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf out = {0};
    struct value *value;

    CHECK_OK(value_read_json(arena,
                             STR("{\"items\":[{\"name\":\"a\",\"n\":1,\"labels\":{\"app\":\"web\",\"k8s.io/x\":\"dotted\"}},"
                                 "{\"name\":\"b\",\"n\":2,\"labels\":{\"app\":\"db\"},\"on\":true},{\"name\":\"c\",\"n\":3}],"
                                 "\"kind\":\"List\"}"),
                             &value, NULL));
    CHECK_OK(json_path_print(arena, str_of(template), value, true, &out));
    CHECK_STR(buf_str(&out), wanted);
}

TEST("kubectl/json_path/walks fields, lists, slices, filters and ranges")
{
    check_path("{.kind}", "List");
    check_path("kind={$.kind}!", "kind=List!");
    check_path("{.items[*].name}", "a b c");
    check_path("{.items[1].name}{.items[-1].name}", "bc");
    check_path("{.items[0:2].name}|{.items[1:].name}|{.items[::2].name}", "a b|b c|a c");
    check_path("{range .items[*]}{.name}{\"\\t\"}{.n}{\"\\n\"}{end}", "a\t1\nb\t2\nc\t3\n");
    check_path("{.items[?(@.labels.app==\"web\")].name}", "a");
    check_path("{.items[?(@.n>=2)].name}", "b c");
    check_path("{.items[?(@.on)].name}", "b");
    check_path("{.items[?(@.on==true)].name}", "b");
    check_path("{.items[0].labels}", "{\"app\":\"web\",\"k8s.io/x\":\"dotted\"}");
    check_path("{.items[0].labels.k8s\\.io/x}{.items[0].labels['k8s.io/x']}", "dotteddotted");
    check_path("{.items[0]['name','n']}", "a 1");
    check_path("{..app}", "web db");
    check_path("{.none.deep}", "");
}

static void check_bad_path(const char *template, const char *error)
{
    OWNED(arena_freep) struct arena *arena = arena_new();

    CHECK_ERROR(json_path_check(arena, str_of(template)), error);
}

TEST("kubectl/json_path/refuses what it cannot read")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf out = {0};
    struct value *list = value_array(arena);

    check_bad_path("{.bad", "error parsing jsonpath {.bad, unclosed action");
    check_bad_path("{range .items[*]}{.name}", "unclosed range");
    check_bad_path("{end}", "nothing to end");
    check_bad_path("{.items[}", "invalid array index");
    check_bad_path("{.items[?(@.x}", "unterminated filter");
    value_add(arena, list, value_int(arena, 1));
    CHECK_ERROR(json_path_print(arena, STR("{[3]}"), list, true, &out), "array index out of bounds: index 3, length 1");
    CHECK_ERROR(json_path_print(arena, STR("{.x}"), value_object(arena), false, &out), "x is not found");
}

TEST("kubectl/json_path/columns may leave out braces and the first dot")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str path;

    CHECK_OK(json_path_relaxed(arena, STR("metadata.name"), &path));
    CHECK_STR(path, "{.metadata.name}");
    CHECK_OK(json_path_relaxed(arena, STR(".metadata.name"), &path));
    CHECK_STR(path, "{.metadata.name}");
    CHECK_OK(json_path_relaxed(arena, STR("{.a[0]}"), &path));
    CHECK_STR(path, "{.a[0]}");
    CHECK_ERROR(json_path_relaxed(arena, STR("{.a}{.b}"), &path), "unexpected path string");
}

TEST("kubectl/suggest/names what is near")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    static const char *const names[] = {"logs", "set", "get", NULL};

    CHECK_STR(suggest(arena, names, STR("gett")), "\n\nDid you mean this?\n\tset\n\tget");
    CHECK_STR(suggest(arena, names, STR("lo")), "\n\nDid you mean this?\n\tlogs");
    CHECK_STR(suggest(arena, names, STR("frobnicate")), "");
}

TEST("kubectl/kyaml/flow style with quotes, cuddled lists of structures")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    OWNED(buf_done) struct buf out = {0};
    struct value *value;

    CHECK_OK(value_read_json(arena, STR("{\"b\":[{\"c\":1},{\"d\":\"x\"}],\"a\":[\"y\"],\"no\":{}}"), &value, NULL));
    kyaml_write(&out, value);
    CHECK_STR(buf_str(&out), "---\n{\n  a: [\n    \"y\",\n  ],\n  b: [{\n    c: 1,\n  }, {\n    d: \"x\",\n  }],\n"
                             "  \"no\": {},\n}\n");
}
