/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options: tables of every kind, from the command line, the environment and another rank.
 */
#include "helpers.h"

#include "common/run/option_table.h"
#include "common/run/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- two tables with a row of every kind ----------------------------------------------------- */

struct values {
    bool flag, on;
    int64_t integer, size, free_integer;
    double real, percent;
    struct bc_size_list list;
    int choice;
    const char *text, *file;
};

#define AT(member) offsetof(struct values, member)

static const struct bc_option rows[] = {
    {"flag", BC_FLAG, AT(flag), .short_name = 'f', .variables = "T_FLAG", .help = "help-of-flag"},
    {"on", BC_FLAG, AT(on), .help = "help-of-on"},
    {"integer", BC_INTEGER, AT(integer), .short_name = 'i', .argument = "N", .min = -10, .max = 10,
     .variables = "T_INTEGER", .help = "help-of-integer"},
    {"size", BC_SIZE, AT(size), .short_name = 's', .alias = "message-size", .argument = "BYTES",
     .min = 1, .max = 1048576, .range_hint = "1 to 1M", .variables = "T_SIZE",
     .help = "help-of-size"},
    {"free-integer", BC_INTEGER, AT(free_integer), .argument = "N", .min = -1e19, .max = 1e19,
     .help = "help-of-free-integer"},
    {"real", BC_REAL, AT(real), .short_name = 'r', .argument = "SECONDS", .min = 0.5, .max = 100,
     .variables = "T_REAL", .help = "help-of-real"},
    {"percent", BC_PERCENT, AT(percent), .argument = "PERCENT", .min = 0, .max = 100,
     .variables = "T_PERCENT", .help = "help-of-percent"},
    {"list", BC_SIZE_LIST, AT(list), .short_name = 'm', .argument = "SIZES", .min = 0,
     .max = 8388608, .variables = "T_LIST", .help = "help-of-list"},
    {"choice", BC_CHOICE, AT(choice), .short_name = 'c', .choices = "red|green|greenish",
     .variables = "T_CHOICE", .help = "help-of-choice"},
    {"text", BC_TEXT, AT(text), .alias = "words", .argument = "TEXT",
     .variables = "T_TEXT T_TEXT_OLD  T_TEXT_OLDEST", .help = "help-of-text"},
    {"text-file", BC_TEXT, AT(file), .short_name = 'o', .argument = "FILE",
     .help = "help-of-text-file"},
};

/* The values of a second table, which lies elsewhere. */
struct more_values {
    struct bc_names kinds;
    int64_t peers;
    double delay;
    int64_t samples;
};

#undef AT
#define AT(member) offsetof(struct more_values, member)

enum { KINDS = 4, AUTO = -1 };

static const char *kind_name(int index)
{
    static const char *const names[KINDS] = {"put", "many put", "sub_put", "isend/irecv"};
    return names[index];
}

static const struct bc_option more_rows[] = {
    {"kinds", BC_NAMES, AT(kinds), .short_name = 'k', .argument = "NAMES", .name_at = kind_name,
     .name_count = KINDS, .variables = "T_KINDS", .help = "help-of-kinds"},
    {"peers", BC_SIZE, AT(peers), .short_name = 'p', .argument = "N", .min = 1, .max = 100,
     .word = "auto", .word_value = AUTO, .variables = "T_PEERS", .help = "help-of-peers"},
    {"delay", BC_REAL, AT(delay), .argument = "US", .min = 0, .max = 1e6, .word = "none",
     .word_value = AUTO, .help = "help-of-delay"},
    {"samples", BC_SIZE, AT(samples), .argument = "N", .min = 1, .max = 1e9, .zero = "adaptive",
     .help = "help-of-samples"},
};

enum { ROWS = COUNT(rows) + COUNT(more_rows) };

struct fixture {
    struct values values;
    struct more_values more;
    struct bc_options options;
    struct bc_error error;
};

static void set_up_fixture(struct fixture *f)
{
    *f = (struct fixture){
        .values = {.on = true,
                   .integer = -3,
                   .size = 4096,
                   .real = 1.5,
                   .percent = 2.0,
                   .choice = 1,
                   .text = "hello"},
        .more = {.kinds = {.text = "put,isend/irecv"}, .peers = AUTO, .delay = 0.25},
    };
    assert_true(bc_parse_size_list("1,2", &f->values.list));
    bc_options_add(&f->options, (struct bc_option_rows){rows, COUNT(rows)}, &f->values);
    bc_options_add(&f->options, (struct bc_option_rows){more_rows, COUNT(more_rows)}, &f->more);
}

/* The environment: name, value, ..., NULL. */
static const char *const *environment;

static const char *look_up(const char *name)
{
    for (const char *const *entry = environment; entry != NULL && *entry != NULL; entry += 2)
        if (strcmp(entry[0], name) == 0)
            return entry[1];
    return NULL;
}

static bool parse(struct fixture *f, const char *const *words)
{
    char *argv[WORDS_MAX];
    const int argc = make_arguments(argv, words);
    return bc_options_parse(&f->options, argc, argv, look_up, &f->error);
}

static const char *const nothing[] = {NULL};

static int set_up(void **state)
{
    struct fixture *const f = malloc(sizeof *f);
    if (f == NULL)
        return -1;
    environment = NULL;
    set_up_fixture(f);
    *state = f;
    return 0;
}

static void renew(struct fixture *f)
{
    bc_options_free(&f->options);
    set_up_fixture(f);
}

static int tear_down(void **state)
{
    struct fixture *const f = *state;
    bc_options_free(&f->options);
    free(f);
    return 0;
}

/* Which names are chosen, as a 0 or 1 for each. */
static void assert_chosen(const struct bc_names *names, const char *expected)
{
    char found[BC_NAMES_MAX + 1] = "";
    for (int i = 0; i < KINDS; i++)
        found[i] = names->chosen[i] ? '1' : '0';
    assert_string_equal(found, expected);
}

static void assert_text(const struct fixture *f, const char *long_name, const char *expected)
{
    char *const text = bc_option_text(bc_options_find(&f->options, long_name), true);
    assert_non_null(text);
    if (strcmp(text, expected) != 0)
        fail_msg("--%s is %s, not %s", long_name, text, expected);
    free(text);
}

/* ---- sources of values ---------------------------------------------------------------- */

/* Checks options, "NAME VALUE|NAME VALUE", and their source, unless that is negative. */
static void check_values(const struct fixture *f, const char *expected, int source)
{
    while (*expected != '\0') {
        char name[32], value[64];
        const size_t length = strcspn(expected, " ");
        const size_t value_length = strcspn(expected + length + 1, "|");
        snprintf(name, sizeof name, "%.*s", (int)length, expected);
        snprintf(value, sizeof value, "%.*s", (int)value_length, expected + length + 1);
        assert_text(f, name, value);
        if (source >= 0) {
            assert_int_equal(bc_options_find(&f->options, name)->source, source);
            assert_int_equal(bc_option_given(&f->options, name), source != BC_FROM_DEFAULT);
        }
        expected += length + 1 + value_length;
        expected += *expected == '|';
    }
}

/* Checks that the texts of values give these values again; users can't give the 0 with a name. */
static void check_read_back(const struct fixture *f)
{
    struct fixture other;
    set_up_fixture(&other);
    for (size_t row = 0; row < ROWS; row++) {
        char word[128], *const text = bc_option_text(&f->options.entries[row], true);
        const char *const name = f->options.entries[row].option->long_name;
        snprintf(word, sizeof word, "--%s=%s", name, text);
        if (strcmp(text, "adaptive") != 0)
            assert_true(parse(&other, WORDS(word)));
        assert_text(&other, name, text);
        free(text);
    }
    bc_options_free(&other.options);
}

TEST(values_have_their_source)
{
    struct fixture *const f = *state;
    static const struct {
        const char *words[20], *variables[24];
        const char *values, *chosen; /* `chosen` of --kinds */
        int source;
    } cases[] = {
        /* Defaults stay. */
        {{NULL},
         {NULL},
         "flag no|on yes|integer -3|size 4096|free-integer 0|real 1.5|percent 2|list 1,2|"
         "choice green|text hello|peers auto|delay 0.25|samples adaptive",
         "1001",
         BC_FROM_DEFAULT},
        /* Every kind, from either source. */
        {{"--flag", "--on=no", "--integer=-7", "--size", "64K", "--real=2.25", "--percent=12.5%",
          "--list=0,2:16", "--choice=greenish", "--text=a b\tc", "--text-file=", "--free-integer",
          "-9223372036854775808", "--kinds=sub-put", "--peers=2", "--delay=none", "--samples=1k"},
         {NULL},
         "flag yes|on no|integer -7|size 65536|real 2.25|percent 12.5|list 0,2,4,8,16|"
         "choice greenish|text a b\tc|text-file |free-integer -9223372036854775808|peers 2|"
         "delay none|samples 1024",
         "0010",
         BC_FROM_ARGUMENT},
        {{NULL},
         {"T_FLAG",    "1",        "T_INTEGER", "5", "T_SIZE",   "1k",  "T_REAL", "3",
          "T_PERCENT", "4",        "T_LIST",    "7", "T_CHOICE", "red", "T_TEXT", "from outside",
          "T_KINDS",   "many put", "T_PEERS",   "7"},
         "flag yes|integer 5|size 1024|real 3|percent 4|list 7|choice red|text from outside|peers "
         "7",
         "0100",
         BC_FROM_ENVIRONMENT},
        /* The command line beats the environment. */
        {{"--flag=no", "-s", "2k", "-m1,2,3", "--text=inside", "-kput", "-p", "auto"},
         {"T_FLAG", "yes", "T_SIZE", "1k", "T_LIST", "7,8", "T_TEXT", "outside", "T_KINDS", "all",
          "T_PEERS", "7"},
         "flag no|size 2048|list 1,2,3|text inside|peers auto",
         "1000",
         BC_FROM_ARGUMENT},
        /* The first variable that is set counts; set, but empty, is set. */
        {{NULL}, {"T_TEXT_OLDEST", "oldest", "T_TEXT_OLD", "old"}, "text old", NULL, -1},
        {{NULL}, {"T_TEXT", "", "T_TEXT_OLD", "old"}, "text ", NULL, -1},
        /* Aliases, short options and abbreviations. */
        {{"--message-size=8", "--words", "x", "-fi4", "-o", "-", "-c", "red", "-r", "1e0"},
         {NULL},
         "size 8|text x|flag yes|integer 4|text-file -|choice red|real 1",
         NULL,
         BC_FROM_ARGUMENT},
        {{"--mess=16", "--cho=red", "--text-f=y", "--int=-1", "--fl=false"},
         {NULL},
         "size 16|choice red|text-file y|integer -1|flag no",
         NULL,
         BC_FROM_ARGUMENT},
        /* A flag that is on already stays on. */
        {{"--on", "--flag", "--flag"}, {NULL}, "on yes|flag yes", NULL, -1},
        /* A whole name counts although another one starts so. */
        {{"--text=z"}, {NULL}, "text z|text-file ", NULL, -1},
        /* The last one counts, of a list as a whole. */
        {{"-s1", "--size=2", "-m1,2", "-m3", "--flag", "--flag=no", "--kinds=all", "--kinds=put",
          "--"},
         {NULL},
         "size 2|list 3|flag no",
         "1000",
         -1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        renew(f);
        environment = cases[i].variables;
        if (!parse(f, cases[i].words))
            fail_msg("case %zu: %s", i, f->error.text);
        check_values(f, cases[i].values, cases[i].source);
        check_read_back(f);
        if (cases[i].chosen != NULL)
            assert_chosen(&f->more.kinds, cases[i].chosen);
    }
}

TEST(lists_of_names)
{
    struct fixture *const f = *state;
    static const struct {
        const char *text, *chosen;
    } cases[] = {
        {"all", "1111"},
        {"put", "1000"},
        {"many put", "0100"},
        {"manyput", "0100"},
        {" Many_PUT-", "0100"},
        {"put,all", "1111"},
        {"subput,isend/irecv", "0011"},
        {"isend/irecv,sub put,put", "1011"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        renew(f);
        assert_true(parse(f, WORDS("--kinds", cases[i].text)));
        assert_chosen(&f->more.kinds, cases[i].chosen);
        assert_text(f, "kinds", cases[i].text);
    }
    struct bc_names names = {.text = "sub-put"};
    assert_true(bc_names_choose("--types", &names, kind_name, KINDS, &f->error));
    assert_chosen(&names, "0010");
}

static const char *number_name(int index)
{
    static const char *const numbers[] = {"zero", "one", "two",   "three", "four",
                                          "five", "six", "seven", "eight"};
    return numbers[index];
}

/* Some names stand there twice. */
static const char *method_name(int index)
{
    static const char *const names[] = {"put", "get", "put", "get", "send"};
    return names[index];
}

/* Of few names the error lists all, each once; of many the first and the last. */
TEST(names_in_errors)
{
    struct fixture *const f = *state;
    static const struct {
        const char *text;
        bc_name_fn *name_at;
        int count;
        const char *error;
    } cases[] = {
        {"sub-put,get", kind_name, KINDS,
         "--n: unknown name 'get': use all, or some of put,many put,sub_put,isend/irecv"},
        {"ten", number_name, 8,
         "--n: unknown name 'ten': use all, or some of zero,one,two,three,four,five,six,seven"},
        {"ten", number_name, 9, "--n: unknown name 'ten': use all, or names such as zero,eight"},
        {"ten", method_name, 5, "--n: unknown name 'ten': use all, or some of put,get,send"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bc_names names = {.text = cases[i].text};
        assert_false(bc_names_choose("--n", &names, cases[i].name_at, cases[i].count, &f->error));
        assert_string_equal(f->error.text, cases[i].error);
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* The error is one line of printable text and has all these words. */
static void check_error(const struct bc_error *error, const char *const *words)
{
    const size_t length = strlen(error->text);
    assert_in_range(length, 1, BC_ERROR_LENGTH - 1);
    for (size_t i = 0; i < length; i++)
        assert_true((unsigned char)error->text[i] >= ' ');
    for (; *words != NULL; words++)
        if (strstr(error->text, *words) == NULL)
            fail_msg("'%s' is not in the error: %s", *words, error->text);
}

TEST(wrong_command_lines)
{
    struct fixture *const f = *state;
    static const struct {
        const char *words[4];    /* the command line, or a variable T_... and its value */
        const char *expected[5]; /* in the error */
    } cases[] = {
        {{"--integer=abc"}, {"--integer", "abc"}},
        {{"--integer=11"}, {"--integer", "11", "-10", "10"}},
        {{"-fi99"}, {"-i:", "99", "-10 to 10"}},
        {{"--size=0"}, {"--size", "0", "1 to 1M"}},
        {{"--free-integer=1.5"}, {"--free-integer", "1.5", "whole number"}},
        {{"--real=0.4"}, {"--real", "0.4", "0.5 to 100"}},
        {{"--list=1,16M"}, {"--list", "1,16M", "8388608"}},
        {{"--choice=blue"}, {"--choice", "blue", "red|green|greenish"}},
        {{"--kinds=put,get"}, {"--kinds", "'get'", "put,isend/irecv"}},
        {{"-p", "Auto"}, {"-p", "'Auto'", "use auto or 1 to 100"}},
        {{"--delay=auto"}, {"--delay", "'auto'", "not a number", "use none or 0 to 1000000"}},
        {{"--size"}, {"--size", "value", "--help"}},
        {{"-s"}, {"-s", "value", "--help"}},
        {{"--nonsense"}, {"--nonsense", "no such option: see --help"}},
        {{"--f=1"}, {"--f: several options begin like this, such as --f", " and --f", "--help"}},
        {{"stray"}, {"stray", "--help"}},
        {{"--flag", "no"}, {"no", "--help"}}, /* a flag's value can't be a word of its own */
        {{"--", "--flag"}, {"--flag", "--help"}},
        {{"T_INTEGER", "11"}, {"T_INTEGER", "11", "-10 to 10"}},
        {{"T_KINDS", "get"}, {"'get'", "put,isend/irecv"}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        renew(f);
        f->error.text[0] = '\0';
        const bool variable = strncmp(cases[i].words[0], "T_", 2) == 0;
        environment = variable ? cases[i].words : NULL;
        if (parse(f, variable ? nothing : cases[i].words))
            fail_msg("'%s' was taken", cases[i].words[0]);
        check_error(&f->error, cases[i].expected);
    }
}

TEST(error_is_cut_to_its_length)
{
    struct bc_error error;
    assert_false(bc_error_set(&error, "%0600d", 1));
    assert_int_equal(strlen(error.text), BC_ERROR_LENGTH - 1);
    assert_false(bc_error_set(&error, "a\nb\tc\x01"));
    assert_int_equal(strlen(error.text), 6);
    assert_null(strpbrk(error.text, "\n\t\x01"));
}

/* A parse that stopped within a word leaves nothing for the next one. */
TEST(each_command_line_begins_afresh)
{
    struct fixture *const f = *state;
    assert_false(parse(f, WORDS("-fzf", "-s1")));
    renew(f);
    assert_true(parse(f, WORDS("-s", "32", "-f")));
    assert_int_equal(f->values.size, 32);
    assert_true(f->values.flag);
}

/* ---- to another rank ------------------------------------------------------------------------- */

TEST(values_and_sources_arrive_on_other_ranks)
{
    struct fixture *const f = *state;
    struct fixture other;
    environment = WORDS("T_SIZE", "1k", "T_TEXT_OLD", "two\nlines");
    assert_true(parse(f, WORDS("--flag", "-m0,2:8M,7", "--real=1.2345678901234567", "--peers=9")));
    set_up_fixture(&other);
    const struct bc_text text = bc_options_encode(&f->options);
    assert_true(bc_options_decode(&other.options, text.start, text.length));
    for (size_t row = 0; row < ROWS; row++) {
        const struct bc_option_entry *const entry = &f->options.entries[row];
        char *const value = bc_option_text(entry, true);
        assert_text(&other, entry->option->long_name, value);
        assert_int_equal(other.options.entries[row].source, entry->source);
        free(value);
    }
    assert_null(other.values.file);
    bc_options_free(&other.options);
}

static bool decodes(const char *text, size_t length)
{
    struct fixture other;
    set_up_fixture(&other);
    char *const own = malloc(length + 1);
    assert_non_null(own);
    memcpy(own, text, length);
    const bool good = bc_options_decode(&other.options, own, length);
    bc_options_free(&other.options);
    return good;
}

TEST(texts_of_other_tables_are_refused)
{
    struct fixture *const f = *state;
    assert_true(parse(f, WORDS("--flag", "--text=some words")));
    struct bc_text text = bc_options_encode(&f->options);
    assert_true(decodes(text.start, text.length));
    for (size_t at = 0; at < text.length; at += strlen(text.start + at) + 1)
        assert_false(decodes(text.start, at));
    bc_text_append(&text, "0%c", '\0');
    assert_false(decodes(text.start, text.length));
    free(text.start);
}

/* ---- values as text -------------------------------------------------------------------------- */

TEST(formatted_values_parse_back)
{
    struct fixture *const f = *state;
    static const double reals[] = {0.1,       1.0 / 3.0, 1e-300, 12345.678901234567,
                                   0.1 + 0.2, 2.0,       1e22,   99.99};
    for (size_t i = 0; i < COUNT(reals); i++) {
        double back = 0.0;
        f->values.real = reals[i];
        char *const text = bc_option_text(bc_options_find(&f->options, "real"), true);
        assert_true(bc_parse_real(text, &back));
        free(text);
        /* To the last bit, or ranks disagree. */
        assert_near(back, reals[i], 0.0);
    }
    /* Numbers that people write are written as they wrote them. */
    f->values.percent = 0.1;
    assert_text(f, "percent", "0.1");
    assert_text(f, "text-file", "");
}

/* ---- help ------------------------------------------------------------------------------------ */

/* A default, a word for a number, a name that stands twice in its list, and the heading above the
   last option, which all programs have. The rest is in tests/lint/docs_test.py. */
TEST(help_lists_options)
{
    static const struct bc_option options_of_names[] = {
        {"methods", BC_NAMES, 0, .argument = "NAMES", .name_at = method_name, .name_count = 5,
         .help = "methods"}};
    struct fixture *const f = *state;
    struct bc_names names = {.text = "all"};
    static char help[16384];
    FILE *const stream = fmemopen(help, sizeof help, "w");
    assert_non_null(stream);
    bc_options_add(&f->options, (struct bc_option_rows){options_of_names, 1}, &names);
    bc_options_help(stream, &f->options, ROWS);
    assert_int_equal(fclose(stream), 0);
    static const char *const expected[] = {
        "\nOptions:\n  -f, --flag\n          help-of-flag\n          environment: T_FLAG\n",
        "--on\n          help-of-on\n          default: yes\n",
        "--size=BYTES, --message-size\n",
        "--text-file=FILE\n          help-of-text-file\n  -k, --kinds=NAMES\n",
        "--peers=auto|N\n          help-of-peers\n          default: auto\n",
        "--samples=N\n          help-of-samples\n          default: adaptive\n\n",
        "\n\nOptions of all benchmarks:\n      --methods=NAMES\n",
        "          methods, with commas: put, get, send, or all\n",
    };
    for (size_t i = 0; i < COUNT(expected); i++)
        if (strstr(help, expected[i]) == NULL)
            fail_msg("'%s' is not in the help: %s", expected[i], help);
}

const struct test_program test_program = {.before_each = set_up, .after_each = tear_down};
