/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values as users write them, and as they should not.
 */
#include "helpers.h"

#include "common/run/parse.h"

#include <stdlib.h>
#include <string.h>

/* A value before parsing, which a parser that fails must leave alone. */
#define UNTOUCHED 7777

enum parser { INTEGER, SIZE, REAL, PERCENT, PARSERS };

/* Parses with one of the parsers, of which some have whole numbers. */
static bool parse(enum parser parser, const char *text, int64_t *whole, double *real)
{
    *whole = UNTOUCHED;
    *real = UNTOUCHED;
    switch (parser) {
    case INTEGER:
        return bc_parse_integer(text, whole);
    case SIZE:
        return bc_parse_size(text, whole);
    case REAL:
        return bc_parse_real(text, real);
    default:
        return bc_parse_percent(text, real);
    }
}

static void reject(enum parser parser, const char *text)
{
    int64_t whole;
    double real;
    if (parse(parser, text, &whole, &real))
        fail_msg("parser %d: '%.40s' was taken", (int)parser, text != NULL ? text : "(NULL)");
    assert_int_equal(whole, UNTOUCHED);
    assert_near(real, UNTOUCHED, 0.0);
}

/* A list that fails keeps its earlier values. */
static void reject_list(const char *text)
{
    struct bc_size_list list = {0};
    assert_true(bc_parse_size_list("3,4", &list));
    int64_t *const before = list.values;
    if (bc_parse_size_list(text, &list))
        fail_msg("list '%.40s' was taken as %zu values", text, list.count);
    assert_ptr_equal(list.values, before);
    assert_int_equal(list.count, 2);
    assert_int_equal(list.values[1], 4);
    bc_size_list_free(&list);
}

static void reject_everywhere(const char *text)
{
    for (enum parser parser = INTEGER; parser < PARSERS; parser++)
        reject(parser, text);
    reject_list(text);
}

TEST(bad_numbers_are_refused)
{
    static const char *const never_numbers[] = {
        "",      " ",        "\n",   "1 ",  "\n1",  "\v1",      "+",   "-",   "--1",
        "+-1",   "1-",       "0x10", "abc", "inf",  "infinity", "nan", "1;2", "1_00",
        "1\xff", "\xd9\xa1", "%1",   "K",   "1KK",  "1KB",      "1 K", "1T",  "e5",
        ".",     "1e+",      "1d5",  "-.",  "-inf", "1\x7f",    NULL,
    };
    for (size_t i = 0; i < COUNT(never_numbers); i++)
        reject_everywhere(never_numbers[i]);
}

TEST(numbers)
{
    static const struct {
        enum parser parser;
        const char *text;
        int64_t whole;
        double real;
    } good[] = {
        {INTEGER, "-0", 0, UNTOUCHED},
        {INTEGER, "+7", 7, UNTOUCHED},
        {INTEGER, "-007", -7, UNTOUCHED},
        {INTEGER, "9223372036854775807", INT64_MAX, UNTOUCHED},
        {INTEGER, "-9223372036854775808", INT64_MIN, UNTOUCHED},
        {SIZE, "0", 0, UNTOUCHED},
        {SIZE, "1K", 1024, UNTOUCHED},
        {SIZE, "3m", 3 * 1048576, UNTOUCHED},
        {SIZE, "8G", INT64_C(8) << 30, UNTOUCHED},
        {SIZE, "9223372036854775807", INT64_MAX, UNTOUCHED},
        /* The most of each suffix: INT64_MAX over 2^10, 2^20, 2^30. */
        {SIZE, "9007199254740991k", INT64_C(9007199254740991) << 10, UNTOUCHED},
        {SIZE, "8796093022207M", INT64_C(8796093022207) << 20, UNTOUCHED},
        {SIZE, "8589934591g", INT64_C(8589934591) << 30, UNTOUCHED},
        {REAL, "-0.5", UNTOUCHED, -0.5},
        {REAL, "+2", UNTOUCHED, 2.0},
        {REAL, ".5", UNTOUCHED, 0.5},
        {REAL, "5.", UNTOUCHED, 5.0},
        {REAL, "1E-3", UNTOUCHED, 1e-3},
        {REAL, "1.5e+2", UNTOUCHED, 150.0},
        {REAL, "1e308", UNTOUCHED, 1e308},
        {PERCENT, "2", UNTOUCHED, 2.0},
        {PERCENT, "-0.5%", UNTOUCHED, -0.5},
        {PERCENT, "1e2%", UNTOUCHED, 100.0},
    };
    static const char *const bad[PARSERS][16] = {
        {"9223372036854775808", "-9223372036854775809", "1.0", "1e3", "1K", "1%", "1,5"},
        /* 2^64 + 1 must not be 1. */
        {"9223372036854775808", "9007199254740992K", "8796093022208M", "8589934592G",
         "18446744073709551617", "+1", "-1", "1.5K", "1e3", "1,2", "1:2", "8B", "8Ki"},
        {"1e309", "-1e309", "1.5.2", "1e2.5", "1%", "1K", "1,5", "0x1p3"},
        {"2%%", "2 %", "2%3", "1e309%"},
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        int64_t whole;
        double real;
        if (!parse(good[i].parser, good[i].text, &whole, &real))
            fail_msg("'%s' was refused", good[i].text);
        assert_true(whole == good[i].whole);
        assert_near(real, good[i].real, 0.0);
    }
    for (enum parser parser = INTEGER; parser < PARSERS; parser++)
        for (const char *const *text = bad[parser]; *text != NULL; text++)
            reject(parser, *text);
}

TEST(booleans)
{
    static const char *const off[] = {"", "0", "no", "No", "NO", "false", "False", "FALSE"};
    static const char *const on[] = {"1", "yes", "true", "off", "00", "n", " ", "no ", "\xff"};
    for (size_t i = 0; i < COUNT(off); i++)
        assert_false(bc_parse_boolean(off[i]));
    for (size_t i = 0; i < COUNT(on); i++)
        assert_true(bc_parse_boolean(on[i]));
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
    check_list("5,5,3", (int64_t[]){5, 5, 3}, 3);
    check_list("3:13", (int64_t[]){3, 6, 12}, 3);
    check_list("7:7", (int64_t[]){7}, 1);
    check_list("0,2:16,1", (int64_t[]){0, 2, 4, 8, 16, 1}, 6);
    check_list("1K:4k", (int64_t[]){1024, 2048, 4096}, 3);
    /* Doubling must stop before it overflows. */
    check_list("4611686018427387904:9223372036854775807", (int64_t[]){INT64_C(1) << 62}, 1);
    const char *const *const bad =
        WORDS("1,", ",1", "1,,2", "1, 2", "1 ,2", "0:4", "4:2", "1:", ":4", ":", "1:2:3", "1::2",
              "-1:4", "1:-4", "1:x", "x:4", "1:4,", "1:0", "1K:1", "1:4 ",
              "9223372036854775807,9223372036854775808");
    for (size_t i = 0; bad[i] != NULL; i++)
        reject_list(bad[i]);
}

TEST(lists_have_a_limit)
{
    struct bc_size_list list = {0};
    char text[2 * 4097 + 1] = "";
    for (size_t i = 0; i < 4097; i++)
        memcpy(text + 2 * i, "1,", 2);
    text[2 * 4097 - 1] = '\0';
    reject_list(text);
    text[2 * 4096 - 1] = '\0';
    assert_true(bc_parse_size_list(text, &list));
    assert_int_equal(list.count, 4096);
    bc_size_list_free(&list);
}
