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

/* The number of the row with this name. */
static size_t row_of(const struct bc_options *options, const char *long_name)
{
    for (size_t row = 0; row < options->count; row++)
        if (strcmp(options->entries[row].option->long_name, long_name) == 0)
            return row;
    fail_msg("no option --%s", long_name);
    return 0;
}

static enum bc_option_source source_of(const struct bc_options *options, const char *long_name)
{
    return options->entries[row_of(options, long_name)].source;
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

/* ---- where a value comes from ---------------------------------------------------------------- */

/* Whether options are what they must be: "NAME VALUE|NAME VALUE"; where they come from, unless that
   is negative. */
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
            assert_int_equal(source_of(&f->options, name), source);
            assert_int_equal(bc_option_given(&f->options, name), source != BC_FROM_DEFAULT);
        }
        expected += length + 1 + value_length;
        expected += *expected == '|';
    }
}

/* What values are as a text gives these values again; the 0 that has a name can't be given. */
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

/* Command lines in environments, and what options are then. */
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
        {{NULL}, {"T_TEXT_OLDEST", "oldest"}, "text oldest", NULL, -1},
        {{NULL}, {"T_TEXT", "", "T_TEXT_OLD", "old"}, "text ", NULL, -1},
        /* Words in place of numbers; their values are beyond the limits. */
        {{"--peers=100", "--delay=0"}, {NULL}, "peers 100|delay 0", NULL, -1},
        {{"--peers=auto"}, {"T_PEERS", "6"}, "peers auto", NULL, -1},
        {{NULL}, {"T_PEERS", "auto"}, "peers auto", NULL, -1},
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

TEST(sources_are_told)
{
    struct fixture *const f = *state;
    environment = WORDS("T_TEXT_OLD", "old", "T_TEXT_OLDEST", "oldest", "T_SIZE", "1k");
    assert_true(parse(f, WORDS("--size=2k")));
    assert_int_equal(f->options.count, ROWS);
    assert_ptr_equal(f->options.entries[COUNT(rows)].option, &more_rows[0]);
    assert_int_equal(source_of(&f->options, "size"), BC_FROM_ARGUMENT);
    assert_int_equal(source_of(&f->options, "real"), BC_FROM_DEFAULT);
    const struct bc_option_entry *const entry = bc_options_find(&f->options, "text");
    assert_int_equal(entry->source, BC_FROM_ENVIRONMENT);
    assert_string_equal(entry->variable, "T_TEXT_OLD");
    assert_null(f->values.file); /* which has no default */
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
        {{"-i", "99"}, {"-i:", "99", "-10 to 10"}},
        {{"-fi99"}, {"-i:", "99", "-10 to 10"}},
        {{"--size=0"}, {"--size", "0", "1 to 1M"}},
        {{"--message-size=x"}, {"size", "x", "1 to 1M"}},
        {{"--free-integer=1.5"}, {"--free-integer", "1.5", "whole number"}},
        {{"--real=0.4"}, {"--real", "0.4", "0.5 to 100"}},
        {{"--list=1,16M"}, {"--list", "1,16M", "8388608"}},
        {{"--choice=blue"}, {"--choice", "blue", "red|green|greenish"}},
        {{"--choice=gree"}, {"--choice", "gree", "red|green|greenish"}},
        {{"--kinds=put,get"}, {"--kinds", "'get'", "put,isend/irecv"}},
        {{"--kinds="}, {"--kinds", "''", "put,isend/irecv"}},
        {{"--peers=0"}, {"--peers", "'0'", "out of range", "use auto or 1 to 100"}},
        {{"-p", "Auto"}, {"-p", "'Auto'", "use auto or 1 to 100"}},
        {{"--delay=auto"}, {"--delay", "'auto'", "not a number", "use none or 0 to 1000000"}},
        {{"--size"}, {"--size", "value", "--help"}},
        {{"-s"}, {"-s", "value", "--help"}},
        {{"--nonsense"}, {"--nonsense", "no such option: see --help"}},
        {{"-fz"}, {"z", "--help"}},
        {{"--f=1"}, {"--f: several options begin so, such as --f", " and --f", "--help"}},
        {{"stray"}, {"stray", "--help"}},
        {{"--flag", "no"}, {"no", "--help"}}, /* a flag's value can't be a word of its own */
        /* The first thing that is wrong, in the order of the words. */
        {{"stray", "--size=0"}, {"stray", "--help"}},
        {{"--", "--flag"}, {"--flag", "--help"}},
        {{"-"}, {"'-'", "--help"}},
        {{""}, {"--help"}},
        {{"T_INTEGER", "11"}, {"T_INTEGER", "11", "-10 to 10"}},
        {{"T_INTEGER", ""}, {"T_INTEGER"}},
        {{"T_KINDS", "get"}, {"'get'", "put,isend/irecv"}},
        {{"T_PEERS", "none"}, {"T_PEERS", "'none'", "use auto or 1 to 100"}},
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
    /* The error does not go by the name of an option that came before. */
    environment = NULL;
    renew(f);
    assert_false(parse(f, WORDS("-f", "-s", "8", "--real=0")));
    assert_null(strstr(f->error.text, "-s"));
}

/* A wrong value leaves the value that was there. */
TEST(wrong_values_change_nothing)
{
    struct fixture *const f = *state;
    assert_false(parse(f, WORDS("--size=2M")));
    assert_int_equal(f->values.size, 4096);
    assert_false(parse(f, WORDS("--list=1,16M")));
    assert_int_equal(f->values.list.count, 2);
    assert_false(parse(f, WORDS("--choice=blue")));
    assert_int_equal(f->values.choice, 1);
    assert_false(parse(f, WORDS("--peers=0")));
    assert_int_equal(f->more.peers, AUTO);
}

/* What would do is not pushed out by a long value. */
TEST(hostile_values_make_one_line)
{
    struct fixture *const f = *state;
    enum { LONG = 100000 };
    static char value[LONG + 64];
    static const struct {
        const char *prefix, *expected[4];
    } cases[] = {
        {"--size=", {"--size", "1 to 1M"}},
        {"--choice=", {"--choice", "red|green|greenish"}},
        {"--kinds=", {"--kinds", "use all", "put,isend/irecv"}},
        {"--peers=", {"--peers", "auto or 1 to 100"}},
        {"-i", {"-i"}},
        {"--", {"--"}},
        {"", {""}},
    };
    static const char fillings[] = {'x', '\n', '%', '\x1b', '\xff', '9'};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t j = 0; j < COUNT(fillings); j++) {
            const size_t prefix = strlen(cases[i].prefix);
            memcpy(value, cases[i].prefix, prefix);
            memset(value + prefix, fillings[j], LONG);
            value[prefix + LONG] = '\0';
            renew(f);
            assert_false(parse(f, WORDS(value)));
            check_error(&f->error, cases[i].expected);
        }
    renew(f);
    assert_false(parse(f, WORDS("--size=a\nb\r\nc")));
    check_error(&f->error, WORDS("--size", "a", "b", "c", "1 to 1M"));
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

/* ---- again and again ------------------------------------------------------------------------- */

/* getopt keeps state; none of it may leak from one command line to the next,
   not even from the middle of a cluster of short options. */
TEST(many_command_lines_in_one_process)
{
    struct fixture *const f = *state;
    for (int i = 0; i < 3; i++) {
        renew(f);
        assert_false(parse(f, WORDS("-fzf", "-s1")));
        renew(f);
        assert_true(parse(f, WORDS("-s", "32", "-f")));
        assert_int_equal(f->values.size, 32);
        assert_true(f->values.flag);
        renew(f);
        assert_false(parse(f, WORDS("-fi99f", "rest")));
        renew(f);
        assert_true(parse(f, nothing));
        assert_int_equal(f->values.size, 4096);
    }
    /* No words at all, not even the program's name. */
    char *const none[] = {NULL};
    assert_true(bc_options_parse(&f->options, 0, none, look_up, &f->error));
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

/* What --help prints, into a buffer of this function. */
static const char *print_help(const struct fixture *f)
{
    static char help[16384];
    FILE *const stream = fmemopen(help, sizeof help, "w");
    assert_non_null(stream);
    bc_options_help(stream, &f->options, ROWS - 1);
    assert_int_equal(fclose(stream), 0);
    return help;
}

/* The help and the metadata have all of a long default. */
TEST(long_defaults_are_whole)
{
    struct fixture *const f = *state;
    char words[1001], *text = NULL;
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    f->values.text = words;
    assert_text(f, "text", words);
    assert_non_null(strstr(print_help(f), words));
    struct bc_size_list back = {0};
    assert_true(bc_parse_size_list("12345,1:8G,1:8G,1:8G", &f->values.list));
    text = bc_option_text(bc_options_find(&f->options, "list"), true);
    assert_non_null(strstr(print_help(f), text));
    assert_true(bc_parse_size_list(text, &back));
    assert_int_equal(back.count, f->values.list.count);
    assert_memory_equal(back.values, f->values.list.values, back.count * sizeof *back.values);
    bc_size_list_free(&back);
    free(text);
}

/* ---- to another rank ------------------------------------------------------------------------- */

static void check_same(const struct fixture *left, const struct fixture *right)
{
    for (size_t row = 0; row < ROWS; row++) {
        const struct bc_option_entry *const entry = &left->options.entries[row];
        char *const text = bc_option_text(entry, true);
        assert_text(right, entry->option->long_name, text);
        free(text);
        assert_int_equal(entry->source, right->options.entries[row].source);
    }
    assert_int_equal(left->values.text == NULL, right->values.text == NULL);
    assert_int_equal(left->values.file == NULL, right->values.file == NULL);
    assert_memory_equal(left->more.kinds.chosen, right->more.kinds.chosen,
                        sizeof left->more.kinds.chosen);
}

/* What `f` has arrives in a fresh table, and again in one that has already taken other values. */
static void check_round_trip(const struct fixture *f)
{
    struct fixture other;
    set_up_fixture(&other);
    for (int i = 0; i < 2; i++) {
        const struct bc_text text = bc_options_encode(&f->options);
        assert_true(bc_options_decode(&other.options, text.start, text.length));
        check_same(f, &other);
    }
    bc_options_free(&other.options);
}

TEST(values_arrive_on_other_ranks)
{
    struct fixture *const f = *state;
    check_round_trip(f);
    environment = WORDS("T_SIZE", "1k", "T_TEXT_OLD", "2 1 two\nlines");
    assert_true(
        parse(f, WORDS("--flag", "--on=no", "-i-9", "-m0,2:8M,7", "--real=1.2345678901234567",
                       "--choice=greenish", "--percent=0.1%", "-o", " 3 0 # \t%s\xff ",
                       "--kinds=Many-Put,subput", "--peers=9", "--delay=none", "--samples=3")));
    check_round_trip(f);
    f->more.peers = AUTO;
    f->more.delay = 1.2345678901234567;
    check_round_trip(f);
    f->values.free_integer = INT64_MIN;
    f->values.file = "";
    f->values.text = NULL; /* as no user can set it */
    f->options.entries[row_of(&f->options, "text")].source = BC_FROM_DEFAULT;
    check_round_trip(f);
    f->values.file = NULL;
    f->options.entries[row_of(&f->options, "text-file")].source = BC_FROM_DEFAULT;
    f->values.text = "";
    check_round_trip(f);
    f->values.text = "12 1 ";
    check_round_trip(f);

    static char large[200001];
    memset(large, '7', sizeof large - 1);
    f->values.text = large;
    bc_size_list_free(&f->values.list);
    f->values.list.values = malloc(4096 * sizeof(int64_t));
    assert_non_null(f->values.list.values);
    f->values.list.count = 4096;
    for (size_t i = 0; i < 4096; i++)
        f->values.list.values[i] = INT64_MAX - (int64_t)i;
    check_round_trip(f);

    /* An empty list has to replace one that has values. */
    bc_size_list_free(&f->values.list);
    check_round_trip(f);
}

static bool decodes(const char *text, size_t length)
{
    struct fixture other;
    set_up_fixture(&other);
    char *const own = malloc(length + 1);
    memcpy(own, text, length);
    const bool good = bc_options_decode(&other.options, own, length);
    bc_options_free(&other.options);
    return good;
}

/* Of other tables: cut behind any value, longer, with another value, or none where there must be
 * one. */
TEST(texts_of_other_tables_are_refused)
{
    struct fixture *const f = *state;
    static const char *const changes[][2] = {{"0green", "0greex"}, {"01.5", "0nan"}, {"01.5", "-"}};
    assert_true(parse(f, WORDS("--flag", "--text=some words", "-m1:64")));
    const struct bc_text text = bc_options_encode(&f->options);
    assert_true(decodes(text.start, text.length));
    for (size_t i = 0; i < COUNT(changes); i++) {
        struct bc_text changed = {0};
        for (size_t at = 0; at < text.length; at += strlen(text.start + at) + 1) {
            const bool is_it = strcmp(text.start + at, changes[i][0]) == 0;
            bc_text_append(&changed, "%s%c", is_it ? changes[i][1] : text.start + at, '\0');
        }
        if (decodes(changed.start, changed.length))
            fail_msg("with '%s' it was taken", changes[i][1]);
        free(changed.start);
    }
    for (size_t at = 0; at < text.length; at += strlen(text.start + at) + 1)
        assert_false(decodes(text.start, at));
    struct bc_text longer = {0};
    for (size_t at = 0; at < text.length; at += strlen(text.start + at) + 1)
        bc_text_append(&longer, "%s%c", text.start + at, '\0');
    bc_text_append(&longer, "0%c", '\0');
    assert_false(decodes(longer.start, longer.length));
    free(longer.start);
    free(text.start);
}

/* ---- help ------------------------------------------------------------------------------------ */

/* One option of each kind; that all are there is in tests/programs. */
TEST(help_lists_options)
{
    struct fixture *const f = *state;
    /* What follows the heading of an option, up to the next one, in this order. */
    static const struct {
        const char *heading, *expected[5];
    } cases[] = {
        {"-f, --flag", {"help-of-flag", "T_FLAG"}},
        {"--on", {"help-of-on", "yes"}}, /* a flag that is on unless switched off says so */
        {"-s, --size=BYTES", {"--message-size", "default: 4096", "T_SIZE"}},
        {"-m, --list=SIZES", {"help-of-list", "default: 1,2", "T_LIST"}},
        {"--choice=red|green|greenish", {"default: green", "T_CHOICE"}},
        {"--text", {"--words", "default: hello", "T_TEXT", "T_TEXT_OLDEST"}},
        {"--text-file=FILE", {"help-of-text-file"}},
        {"--kinds=NAMES", {"put, many put, sub_put,", "all", "default: put,isend", "T_KINDS"}},
        {"--peers=auto|N", {"help-of-peers", "default: auto", "T_PEERS"}},
        {"--delay=none|US", {"help-of-delay", "default: 0.25"}},
        {"\nOptions of all benchmarks:\n      --samples=N", {"help-of-samples", "adaptive"}},
    };
    const char *rest = print_help(f);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const start = rest;
        rest = strstr(rest, cases[i].heading);
        if (rest == NULL)
            fail_msg("no %s in the help behind: %s", cases[i].heading, start);
        for (size_t j = 0; j < 5 && cases[i].expected[j] != NULL; j++)
            if ((rest = strstr(rest, cases[i].expected[j])) == NULL)
                fail_msg("the help of %s lacks '%s'", cases[i].heading, cases[i].expected[j]);
        /* No default, no line that says so. */
        if (strcmp(cases[i].heading, "--text-file=FILE") == 0)
            assert_true(strstr(rest, "default") > strstr(rest, "--kinds"));
    }
}

TEST(help_lists_a_name_once)
{
    static const struct bc_option row = {
        "methods",       BC_NAMES,         0, .argument = "NAMES", .name_at = method_name,
        .name_count = 5, .help = "methods"};
    struct bc_names names = {.text = "all"};
    struct bc_options options = {0};
    char *help = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream(&help, &size);
    assert_non_null(stream);
    bc_options_add(&options, (struct bc_option_rows){&row, 1}, &names);
    bc_options_help(stream, &options, 1);
    fclose(stream);
    assert_non_null(strstr(help, "methods, with commas: put, get, send, or all\n"));
    bc_options_free(&options);
    free(help);
}

const struct test_program test_program = {.before_each = set_up, .after_each = tear_down};
