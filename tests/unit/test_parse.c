/*
 * Values as users write them, and as they should not.
 */
#include "helpers.h"

#include "common/run/parse.h"

#include <stdlib.h>
#include <string.h>

/* What no number may be: for every function that parses one. */
static const char *const never_numbers[] = {
    "",      " ",   "\t",    "\n",   " 1",    "1 ",       "1\n",          "\n1",
    "\v1",   "+",   "-",     "--1",  "+-1",   "1-",       "1+1",          "0x10",
    "0X1F",  "x",   "abc",   "inf",  "INF",   "nan",      "infinity",     "-inf",
    "NaN",   "1;2", "1_000", "\xff", "1\xff", "\xc3\xbc", "\xe2\x88\x9e", "\xd9\xa1",
    "1\x7f", "%",   "%1",    "K",    "1KK",   "1KB",      "1 K",          "1T",
    "--",    "e5",  ".",     "1e",   "1e+",   "-.",       "0x",           "1d5",
};

/* A value before parsing, which a parser that fails must leave alone. */
#define UNTOUCHED 7777

static const char *shown(const char *text) { return text != NULL ? text : "(NULL)"; }

/* A parser of whole numbers, and one of real numbers. */
struct whole_parser {
    const char *name;
    bool (*parse)(const char *text, int64_t *value);
};
struct real_parser {
    const char *name;
    bool (*parse)(const char *text, double *value);
};

static const struct whole_parser integer = {"integer", bc_parse_integer};
static const struct whole_parser size = {"size", bc_parse_size};
static const struct real_parser real = {"real", bc_parse_real};
static const struct real_parser percent = {"percentage", bc_parse_percent};

static void reject_whole(const struct whole_parser *parser, const char *text)
{
    int64_t value = UNTOUCHED;
    if (parser->parse(text, &value))
        fail_msg("%s '%.40s' was taken as %lld", parser->name, shown(text), (long long)value);
    assert_int_equal(value, UNTOUCHED);
}

static void reject_real(const struct real_parser *parser, const char *text)
{
    double value = UNTOUCHED;
    if (parser->parse(text, &value))
        fail_msg("%s '%.40s' was taken as %g", parser->name, shown(text), value);
    assert_near(value, UNTOUCHED, 0.0);
}

/* A text, and the number that a parser takes it for. */
struct whole {
    const char *text;
    int64_t value;
};
struct real {
    const char *text;
    double value;
};

/* Checks the texts that a parser takes, then texts, ended by NULL, that it refuses. */
static void check_whole(const struct whole_parser *parser, const struct whole *good, size_t count,
                        const char *const *bad)
{
    for (size_t i = 0; i < count; i++) {
        int64_t value = UNTOUCHED;
        if (!parser->parse(good[i].text, &value))
            fail_msg("%s '%s' was refused", parser->name, good[i].text);
        assert_true(value == good[i].value);
    }
    for (; *bad != NULL; bad++)
        reject_whole(parser, *bad);
}

static void check_real(const struct real_parser *parser, const struct real *good, size_t count,
                       const char *const *bad)
{
    for (size_t i = 0; i < count; i++) {
        double value = UNTOUCHED;
        if (!parser->parse(good[i].text, &value))
            fail_msg("%s '%s' was refused", parser->name, good[i].text);
        assert_near(value, good[i].value, 0.0);
    }
    for (; *bad != NULL; bad++)
        reject_real(parser, *bad);
}

/* A list that fails keeps its earlier values. */
static void reject_list(const char *text)
{
    struct bc_size_list list = {0};
    assert_true(bc_parse_size_list("3,4", &list));
    int64_t *const before = list.values;
    if (bc_parse_size_list(text, &list))
        fail_msg("list '%.40s' was taken as %zu values", shown(text), list.count);
    assert_ptr_equal(list.values, before);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.values[0], 3);
    assert_int_equal(list.values[1], 4);
    bc_size_list_free(&list);
}

static void reject_everywhere(const char *text)
{
    reject_whole(&integer, text);
    reject_whole(&size, text);
    reject_real(&real, text);
    reject_real(&percent, text);
    reject_list(text);
}

/* `count` times `unit`, then `end`; freed by the caller. */
static char *repeated(const char *unit, size_t count, const char *end)
{
    const size_t length = strlen(unit);
    char *const text = malloc(length * count + strlen(end) + 1);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * length, unit, length);
    strcpy(text + count * length, end);
    return text;
}

TEST(bad_numbers_are_refused)
{
    for (size_t i = 0; i < COUNT(never_numbers); i++)
        reject_everywhere(never_numbers[i]);
    reject_everywhere(NULL);
}

TEST(long_texts_are_refused)
{
    char *const digits = repeated("9", 100000, "");
    char *const spaces = repeated(" ", 100000, "1");
    char *const letters = repeated("x", 1000000, "");
    char *const commas = repeated(",", 100000, "");
    char *const *const texts[] = {&digits, &spaces, &letters, &commas};
    for (size_t i = 0; i < COUNT(texts); i++) {
        reject_everywhere(*texts[i]); /* 10^100000 is not finite */
        free(*texts[i]);
    }
    /* Long, but a number: leading zeros. */
    char *const zeros = repeated("0", 100000, "12");
    const struct whole twelve = {zeros, 12};
    check_whole(&integer, &twelve, 1, WORDS(NULL));
    check_whole(&size, &twelve, 1, WORDS(NULL));
    check_real(&real, &(struct real){zeros, 12.0}, 1, WORDS(NULL));
    free(zeros);
}

TEST(integers)
{
    static const struct whole good[] = {
        {"0", 0},
        {"-0", 0},
        {"+7", 7},
        {"-7", -7},
        {"007", 7},
        {"123456", 123456},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    check_whole(
        &integer, good, COUNT(good),
        WORDS("9223372036854775808", "-9223372036854775809", "1.0", "1e3", "1K", "1%", "1,5"));
}

TEST(reals)
{
    static const struct real good[] = {
        {"0", 0.0},    {"-0.5", -0.5}, {"+2", 2.0},       {".5", 0.5},      {"5.", 5.0},
        {"1e3", 1000}, {"1E-3", 1e-3}, {"1.5e+2", 150.0}, {"1e308", 1e308}, {"0.1", 0.1},
    };
    check_real(&real, good, COUNT(good),
               WORDS("1e309", "-1e309", "1.5.2", "1e2.5", "1%", "1K", "1,5", "0x1p3"));
}

TEST(percentages)
{
    static const struct real good[] = {
        {"2", 2.0}, {"2%", 2.0}, {"0.5%", 0.5}, {"-1%", -1.0}, {"1e2%", 100.0},
    };
    check_real(&percent, good, COUNT(good), WORDS("2%%", "2 %", "2%3", "1e309%"));
}

TEST(sizes)
{
    static const struct whole good[] = {
        {"0", 0},
        {"8", 8},
        {"1K", 1024},
        {"1k", 1024},
        {"3M", 3 * 1048576},
        {"3m", 3 * 1048576},
        {"8G", INT64_C(8) << 30},
        {"2g", INT64_C(2) << 30},
        {"0G", 0},
        {"9223372036854775807", INT64_MAX},
        /* The most of each suffix: INT64_MAX over 2^10, 2^20, 2^30. */
        {"9007199254740991K", INT64_C(9007199254740991) << 10},
        {"8796093022207M", INT64_C(8796093022207) << 20},
        {"8589934591G", INT64_C(8589934591) << 30},
    };
    /* 2^64 + 1 must not be 1 */
    check_whole(&size, good, COUNT(good),
                WORDS("9223372036854775808", "9007199254740992K", "8796093022208M", "8589934592G",
                      "18446744073709551617", "+1", "-1", "1.5K", "1e3", "1,2", "1:2", "8B",
                      "8Ki"));
}

TEST(booleans)
{
    static const char *const off[] = {"", "0", "no", "No", "NO", "false", "False", "FALSE"};
    static const char *const on[] = {"1", "yes", "true", "on",  "off",  "00",
                                     "n", "f",   " ",    "no ", "\xff", "0.0"};
    for (size_t i = 0; i < COUNT(off); i++) {
        bool value = true;
        assert_true(bc_parse_boolean(off[i], &value));
        assert_false(value);
    }
    for (size_t i = 0; i < COUNT(on); i++) {
        bool value = false;
        assert_true(bc_parse_boolean(on[i], &value));
        assert_true(value);
    }
    bool value = true;
    assert_false(bc_parse_boolean(NULL, &value));
    assert_true(value);
}

static void check_list(const char *text, const int64_t *values, size_t count)
{
    struct bc_size_list list = {0};
    if (!bc_parse_size_list(text, &list))
        fail_msg("list '%s' was refused", text);
    assert_int_equal(list.count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(list.values[i] == values[i]);
    bc_size_list_free(&list);
    assert_null(list.values);
    assert_int_equal(list.count, 0);
}

TEST(lists)
{
    check_list("8,1K,1M", (int64_t[]){8, 1024, 1048576}, 3);
    check_list("0", (int64_t[]){0}, 1);
    check_list("5,5,3", (int64_t[]){5, 5, 3}, 3);
    check_list("1:8", (int64_t[]){1, 2, 4, 8}, 4);
    check_list("3:13", (int64_t[]){3, 6, 12}, 3);
    check_list("7:7", (int64_t[]){7}, 1);
    check_list("0,2:16,1", (int64_t[]){0, 2, 4, 8, 16, 1}, 6);
    check_list("1K:4k", (int64_t[]){1024, 2048, 4096}, 3);
    const char *const *const bad =
        WORDS(",", "1,", ",1", "1,,2", "1, 2", "1 ,2", "0:4", "4:2", "1:", ":4", ":", "1:2:3",
              "1::2", "-1:4", "1:-4", "1:x", "x:4", "1:4,", "1:0", "1K:1", "1:4 ",
              "9223372036854775807,9223372036854775808");
    for (size_t i = 0; bad[i] != NULL; i++)
        reject_list(bad[i]);
}

TEST(ranges_up_to_the_largest)
{
    struct bc_size_list list = {0};
    assert_true(bc_parse_size_list("1:8G", &list));
    assert_int_equal(list.count, 34);
    for (size_t i = 0; i < list.count; i++)
        assert_true(list.values[i] == INT64_C(1) << i);
    /* Doubling must stop before it overflows; the earlier values are freed. */
    assert_true(bc_parse_size_list("1:9223372036854775807", &list));
    assert_int_equal(list.count, 63);
    assert_true(list.values[62] == INT64_C(1) << 62);
    assert_true(bc_parse_size_list("9223372036854775807:9223372036854775807", &list));
    assert_int_equal(list.count, 1);
    bc_size_list_free(&list);
}

TEST(lists_have_a_limit)
{
    struct bc_size_list list = {0};
    char *const most = repeated("1,", 4095, "2");
    char *const too_many = repeated("1,", 4096, "2");
    char *const far_too_many = repeated("1:8G,", 100000, "1");
    assert_true(bc_parse_size_list(most, &list));
    assert_int_equal(list.count, 4096);
    assert_int_equal(list.values[4095], 2);
    bc_size_list_free(&list);
    reject_list(too_many);
    reject_list(far_too_many);
    free(most);
    free(too_many);
    free(far_too_many);
}

/* Whatever the bytes, a parser takes all or nothing, and a size that it takes
   is one that a careful reader would read the same way. */
TEST(random_bytes_are_harmless)
{
    static const char alphabet[] = "0123456789KkMmGg,:.-+eE% \n\xff\xc3x";
    struct random random = random_from(4);
    for (int trial = 0; trial < 200000; trial++) {
        char text[16];
        const size_t length = random_below(&random, sizeof text);
        for (size_t i = 0; i < length; i++)
            text[i] = trial % 2 == 0 ? alphabet[random_below(&random, sizeof alphabet)]
                                     : (char)random_below(&random, 256);
        text[length] = '\0';
        int64_t number = UNTOUCHED;
        struct bc_size_list list = {0};
        if (!bc_parse_integer(text, &number))
            assert_int_equal(number, UNTOUCHED);
        number = UNTOUCHED;
        if (bc_parse_size(text, &number))
            assert_true(number >= 0);
        else
            assert_int_equal(number, UNTOUCHED);
        for (int kind = 0; kind < 2; kind++) {
            const struct real_parser *const parser = kind == 0 ? &real : &percent;
            double value = UNTOUCHED;
            if (parser->parse(text, &value))
                assert_true(isfinite(value));
            else
                assert_near(value, UNTOUCHED, 0.0);
        }
        if (bc_parse_size_list(text, &list))
            assert_in_range(list.count, 1, 4096);
        else
            assert_null(list.values);
        bc_size_list_free(&list);
    }
}
