#include "test.h"

#include "base/base64.h"

TEST("base/base64/encodes and decodes")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    static const struct {
        const char *plain, *standard, *url;
    } rows[] = {
        {"", "", ""},          {"f", "Zg==", "Zg"},         {"fo", "Zm8=", "Zm8"},
        {"foo", "Zm9v", "Zm9v"}, {"foob", "Zm9vYg==", "Zm9vYg"}, {"\xfb\xff\xfe", "+//+", "-__-"},
    };
    struct str decoded;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CHECK_STR(base64_encode(arena, str_of(rows[i].plain)), rows[i].standard);
        CHECK_STR(base64_url_encode(arena, str_of(rows[i].plain)), rows[i].url);
        CHECK(base64_decode(arena, str_of(rows[i].standard), &decoded));
        CHECK_STR(decoded, rows[i].plain);
        CHECK(base64_url_decode(arena, str_of(rows[i].url), &decoded));
        CHECK_STR(decoded, rows[i].plain);
    }
    CHECK(base64_decode(arena, STR("Zm9v\r\nYg=\n="), &decoded));
    CHECK_STR(decoded, "foob");
}

TEST("base/base64/refuses what is not base64")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    static const char *const bad[] = {"Z", "Zg", "Zg=", "Zg===", "=", "====", "Zg==Zg==", "Zm9v=", "Zm 9", "Zm9-", "Z==="};
    struct str decoded;

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        if (base64_decode(arena, str_of(bad[i]), &decoded)) {
            test_fail(__FILE__, __LINE__, "took %s", bad[i]);
        }
    }
    CHECK(!base64_url_decode(arena, STR("Zg=="), &decoded));
    CHECK(!base64_url_decode(arena, STR("Z"), &decoded));
    CHECK(!base64_url_decode(arena, STR("+/"), &decoded));
}

TEST("base/base64/hexadecimal")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct str decoded;

    CHECK_STR(hex_encode(arena, STR("\x01\xab")), "01ab");
    CHECK(hex_decode(arena, STR("01aB"), &decoded));
    CHECK_STR(decoded, "\x01\xab");
    CHECK(!hex_decode(arena, STR("1"), &decoded));
    CHECK(!hex_decode(arena, STR("0g"), &decoded));
}
