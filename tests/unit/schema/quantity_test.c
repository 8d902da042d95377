#include "schema/quantity.h"

#include "tests/test.h"

/* What stock makes of spellings, odd ones too. */
TEST("schema/quantity/texts are kept or made canonical as stock does")
{
    static const char *const rows[][2] = {
        {"1e21", "1e21"},      {"1000000000000000000000", "1"}, {"1.44", "1440m"},
        {"0.5", "500m"},       {"1.000001", "1.000001"},        {"0.1n", "1n"},
        {"1E", "1E"},          {"1Ei", "1Ei"},                  {"1024Mi", "1Gi"},
        {"1.5Gi", "1536Mi"},   {"+1", "+1"},                    {".5", "500m"},
        {"5.", "5."},          {"12e6", "12e6"},                {"0", "0"},
        {"0.0", "0"},          {"1k", "1k"},                    {"1u", "1u"},
        {"129e6", "129e6"},    {"129M", "129M"},                {"0.0000000001", "1n"},
        {"1000m", "1"},        {"9223372036854775808", "9223372036854775808"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        OWNED(arena_freep) struct arena *arena = arena_new();
        struct quantity quantity;

        CHECK_OK(quantity_parse(arena, str_of(rows[i][0]), &quantity));
        CHECK_STR(quantity.text, rows[i][1]);
    }
}

TEST("schema/quantity/what is none is refused in stock's words")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct quantity quantity;

    CHECK_ERROR(quantity_parse(arena, STR("1_000"), &quantity), "quantities must match the regular expression");
    CHECK_ERROR(quantity_parse(arena, STR(""), &quantity), "quantities must match the regular expression");
    CHECK_ERROR(quantity_parse(arena, STR("1Ki1"), &quantity), "unable to parse quantity's suffix");
}

TEST("schema/quantity/numbers, sums and order")
{
    OWNED(arena_freep) struct arena *arena = arena_new();
    struct quantity half = {STR("500m")}, gibi = {STR("1Gi")}, huge = {STR("1e1000")};

    CHECK_INT(quantity_value(half), 1);
    CHECK_INT(quantity_milli(half), 500);
    CHECK_INT(quantity_value(gibi), 1 << 30);
    CHECK_INT(quantity_value(huge), INT64_MAX);
    CHECK(quantity_cmp(half, gibi) < 0 && quantity_cmp(huge, gibi) > 0 && quantity_cmp(half, half) == 0);
    CHECK_STR(quantity_add(arena, half, half).text, "1");
    CHECK_STR(quantity_sub(arena, gibi, (struct quantity){STR("512Mi")}).text, "512Mi");
    CHECK_STR(quantity_of_milli(arena, 1500, QUANTITY_DECIMAL_SI).text, "1500m");
    CHECK_STR(quantity_of(arena, 1 << 20, QUANTITY_BINARY_SI).text, "1Mi");
    CHECK(quantity_is_zero((struct quantity){STR("")}));
}
