#include "lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define LONG_BYTES ((size_t)100 * 1024)

/* ---- random numbers -------------------------------------------------------------------------- */

static uint64_t random_bits(struct random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t random_below(struct random *random, uint64_t count) { return random_bits(random) % count; }

static bool chance(struct random *random, uint64_t one_in)
{
    return random_below(random, one_in) == 0;
}

static const char *pick(struct random *random, const char *const *texts, size_t count)
{
    return texts[random_below(random, count)];
}

/* ---- texts ----------------------------------------------------------------------------------- */

static char *checked(char *text)
{
    if (text == NULL)
        abort();
    return text;
}

static char *copy(const char *text) { return checked(strdup(text)); }

static char *join(const char *first, const char *second, const char *third)
{
    const size_t size = strlen(first) + strlen(second) + strlen(third) + 1;
    char *const text = checked(malloc(size));
    (void)snprintf(text, size, "%s%s%s", first, second, third);
    return text;
}

static char *repeated(const char *piece, size_t bytes)
{
    const size_t length = strlen(piece);
    char *const text = checked(malloc(bytes + 1));
    for (size_t i = 0; i < bytes; i++)
        text[i] = piece[i % length];
    text[bytes] = '\0';
    return text;
}

static char *random_bytes(struct random *random, size_t length)
{
    char *const text = checked(malloc(length + 1));
    for (size_t i = 0; i < length; i++)
        text[i] = (char)(1 + random_below(random, 255));
    text[length] = '\0';
    return text;
}

static char *integer_text(int64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRId64, value);
    return copy(text);
}

static char *real_text(double value)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%.17g", value);
    return copy(text);
}

/* A text that some options take and others refuse. */
static char *any_text(struct random *random)
{
    static const char *const texts[] = {
        "",
        " ",
        "\t",
        "\n",
        "0",
        "-0",
        "+0",
        "1",
        "-1",
        "8,1K,1M",
        "1:4M",
        "0,2:4M",
        "1:9E",
        "0,2:4M,,",
        "4M:1",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "18446744073709551616",
        "1e308",
        "1e-400",
        "4.9e-324",
        "inf",
        "nan",
        "0x10",
        "1,5",
        "1.000,5",
        "\xd9\xa3",
        "yes",
        "no",
        "false",
        "all",
        "auto",
        "llc",
        "--",
        "-",
        "--help",
        "-h",
        "=",
        "a=b",
        "\xff\xfe\xfd",
        "\xc3\x28",
        "\xe2\x80\xa8",
        "\x1b[31m",
        "$(reboot)",
        "`id`",
        "%s%n%s",
        "%99999999s",
        "'",
        "\"",
        "a b",
        "#",
        "|",
        "16M",
        "2x1x1",
        "0x0x0",
        "4294967296x4294967296x1",
        "9223372036854775807x2x0",
        "100x20x30",
        "1,2,3",
        "put,get",
        "sync all",
        "MPI_Send",
        "de_DE.UTF-8",
        "99999x99999x99999",
        "2147483648x1x1",
        "x",
        "xx",
        "1x",
        ",",
        ",,",
        "all,",
        "4611686018427387904x4611686018427387904x4",
    };
    switch (random_below(random, 16)) {
    case 0:
        return random_bytes(random, random_below(random, 40));
    case 1:
        return random_bytes(random, random_below(random, 2000));
    case 2:
        return chance(random, 8) ? repeated(pick(random,
                                                 (const char *const[]){"9", "1,", "a", "\xff",
                                                                       "1:4M,", "put,", "\xc3\xa4"},
                                                 7),
                                            LONG_BYTES)
                                 : integer_text((int64_t)random_bits(random));
    default:
        return copy(pick(random, texts, COUNT(texts)));
    }
}

/* A word of the option's help, or its default. */
static char *likely_text(const struct bc_options *options, size_t row, bool tame,
                         struct random *random)
{
    const char *const standard = *(const char *const *)options->entries[row].value;
    if (standard == NULL || chance(random, 3))
        return any_text(random);
    if (chance(random, 3))
        return copy(standard);
    const char *const help = options->entries[row].option->help;
    const char *word = help + random_below(random, strlen(help));
    word += strcspn(word, " ");
    word += strspn(word, " ,;:()");
    char *const text = copy(word);
    text[strcspn(text, tame ? ",;/" : ",;")] = '\0';
    return text;
}

/* One of the names of the option's list. Case, spaces, dashes and underscores don't count. */
static char *good_name(const struct bc_option *option, struct random *random)
{
    char *const text =
        copy(option->name_at((int)random_below(random, (uint64_t)option->name_count)));
    for (char *c = text; *c != '\0'; c++)
        if (chance(random, 4) && strchr(" -_", *c) != NULL)
            *c = " -_"[random_below(random, 3)];
        else if (chance(random, 4))
            *c = (char)toupper((unsigned char)*c);
    return text;
}

static char *good_names(const struct bc_option *option, struct random *random)
{
    char *text = chance(random, 4) ? copy("all") : good_name(option, random);
    for (uint64_t more = random_below(random, 3); more > 0; more--) {
        char *const next = good_name(option, random);
        char *const longer = join(text, ",", next);
        free(text);
        free(next);
        text = longer;
    }
    return text;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* In the option's limits, as often small as large. */
static double good_number(const struct bc_option *option, bool tame, struct random *random)
{
    const double min = option->min, max = option->max;
    const double enough = tame ? fmin(max, fmax(4.0 * fmax(min, 0.0), 64.0)) : max;
    const double share = (double)random_below(random, 1 << 20) / (double)(1 << 20);
    if (chance(random, 8))
        return min;
    if (chance(random, 8))
        return enough;
    return fmin(enough, min + expm1(share * log1p(enough - min)));
}

static int64_t good_integer(const struct bc_option *option, bool tame, struct random *random)
{
    const double number = floor(good_number(option, tame, random));
    return (int64_t)fmax(number, ceil(option->min));
}

static char *good_size(const struct bc_option *option, bool tame, struct random *random)
{
    static const char *const suffixes[] = {"K", "k", "M", "G", "g"};
    static const int shifts[] = {10, 10, 20, 30, 30};
    const int64_t value = good_integer(option, tame, random);
    const size_t i = random_below(random, COUNT(suffixes));
    const int64_t rounded = value >> shifts[i] << shifts[i];
    if (rounded < 1 || (double)rounded < option->min)
        return integer_text(value);
    char *const number = integer_text(value >> shifts[i]);
    char *const text = join(number, suffixes[i], "");
    free(number);
    return text;
}

static char *good_list(const struct bc_option *option, bool tame, struct random *random)
{
    static const char largest[] = "2147483647,";
    if (!tame && option->max >= 2147483647.0 && chance(random, 8))
        return repeated(largest, (sizeof largest - 1) * 3000 - 1);
    char *text = good_size(option, tame, random);
    const uint64_t more = random_below(random, tame ? 4 : chance(random, 8) ? 400 : 40);
    for (uint64_t i = 0; i < more; i++) {
        char *const next = good_size(option, tame, random);
        char *const longer = join(text, ",", next);
        free(text);
        free(next);
        text = longer;
    }
    if (chance(random, 3)) {
        static const char *const ranges[] = {"2:64", "3:1000", "5:5"};
        char *const longer = join(text, ",", pick(random, ranges, COUNT(ranges)));
        free(text);
        text = longer;
    }
    return text;
}

static char *good_choice(const struct bc_option *option, struct random *random)
{
    const char *word = option->choices;
    uint64_t count = 1;
    for (const char *c = word; *c != '\0'; c++)
        count += *c == '|';
    for (uint64_t skip = random_below(random, count); skip > 0; skip--)
        word = strchr(word, '|') + 1;
    char *const text = copy(word);
    text[strcspn(text, "|")] = '\0';
    return text;
}

static char *good_value(const struct bc_options *options, size_t row, bool tame,
                        struct random *random)
{
    const struct bc_option *const option = options->entries[row].option;
    if (option->word != NULL && chance(random, 3))
        return copy(option->word);
    switch (option->kind) {
    case BC_FLAG:
        return copy(
            pick(random, (const char *const[]){"yes", "no", "0", "1", "", "FALSE", "No", "x"}, 8));
    case BC_INTEGER:
        return integer_text(good_integer(option, tame, random));
    case BC_REAL:
    case BC_PERCENT: {
        char *const number = real_text(good_number(option, tame, random));
        if (option->kind == BC_REAL || chance(random, 2))
            return number;
        char *const text = join(number, "%", "");
        free(number);
        return text;
    }
    case BC_SIZE:
        return good_size(option, tame, random);
    case BC_SIZE_LIST:
        return good_list(option, tame, random);
    case BC_CHOICE:
        return good_choice(option, random);
    case BC_NAMES:
        return good_names(option, random);
    case BC_TEXT:
        return likely_text(options, row, tame, random);
    }
    abort();
}

/* ---- bad values ------------------------------------------------------------------------------ */

/* A number that isn't in the option's limits, or NULL if there is none. */
static char *number_out_of_range(const struct bc_option *option, struct random *random)
{
    const bool whole = option->kind != BC_REAL && option->kind != BC_PERCENT;
    if (chance(random, 2) && option->max < 4e18)
        return whole ? integer_text((int64_t)option->max + (option->max < 1e15 ? 1 : 4096))
                     : real_text(option->max * 1.0001 + 1e-6);
    if (option->min > 0.0)
        return whole ? integer_text((int64_t)option->min - 1) : real_text(option->min / 2);
    return whole ? integer_text((int64_t)option->min - 1) : real_text(option->min - 1.0);
}

static char *bad_number(const struct bc_option *option, struct random *random)
{
    static const char *const texts[] = {
        "",
        " ",
        " 5",
        "5 ",
        "0x10",
        "1,5",
        "5T",
        "5KB",
        "1.5K",
        "9223372036854775807K",
        "8589934592G",
        "9E",
        "1e",
        "e5",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "infinity",
        "1_000",
        "1'000",
        "--5",
        "++5",
        "5%%",
        "\xd9\xa3",
        "\xff",
        "1\n",
        "0b1",
        "5;",
        "five",
        "1e999",
        "-1e999",
        "0x1p3",
        "1.2.3",
        "9 9",
        "$((1))",
        "99999999999999999999G",
        "K",
        "%",
        ".",
    };
    char *const number = chance(random, 3) ? number_out_of_range(option, random) : NULL;
    if (number != NULL)
        return number;
    return chance(random, 40) ? repeated("x9", LONG_BYTES)
                              : copy(pick(random, texts, COUNT(texts)));
}

static char *bad_list(const struct bc_option *option, struct random *random)
{
    static const char *const texts[] = {
        "1:9E",
        "0,2:4M,,",
        "4M:1",
        ":",
        ",",
        "1:",
        ":4",
        "0:8",
        "1,2,",
        ",1",
        "1:9223372036854775807",
        "1:9223372036854775808",
        "1;2",
        "1 ,2",
        "1, 2",
        "1:2:3",
        "-1",
        "1-4",
        "8,1K,1T",
        "1:4M\n",
        "[1,2]",
    };
    char *const number = chance(random, 6) ? number_out_of_range(option, random) : NULL;
    if (number != NULL)
        return number;
    if (chance(random, 20))
        return repeated("1,2,", 10000); /* too many, and nothing behind the last comma */
    return copy(pick(random, texts, COUNT(texts)));
}

static char *bad_choice(const struct bc_option *option, struct random *random)
{
    char *const word = good_choice(option, random);
    char *bad = NULL;
    switch (random_below(random, 5)) {
    case 0:
        bad = copy("");
        break;
    case 1:
        bad = join(word, "x", "");
        break;
    case 2:
        bad = join(" ", word, "");
        break;
    case 3:
        bad = join(word, "|", word);
        break;
    default:
        bad = copy(word);
        bad[strlen(bad) - 1] = '\0'; /* no word is the beginning of another one */
        break;
    }
    free(word);
    return bad;
}

static char *bad_names(const struct bc_option *option, struct random *random)
{
    char *const name = good_name(option, random);
    char *bad = NULL;
    switch (random_below(random, 6)) {
    case 0:
        bad = copy("");
        break;
    case 1:
        bad = join(name, "x", "");
        break;
    case 2:
        bad = join(name, ",", "");
        break;
    case 3:
        bad = join(",", name, "");
        break;
    case 4:
        bad = join(name, ";", name);
        break;
    default:
        bad = join("all,", name, ",none such");
        break;
    }
    free(name);
    return bad;
}

/* Whether there is a value that the option refuses. */
static bool has_bad_values(const struct bc_option *option)
{
    return option->kind != BC_FLAG && option->kind != BC_TEXT;
}

static char *bad_value(const struct bc_option *option, struct random *random)
{
    if (option->kind == BC_CHOICE)
        return bad_choice(option, random);
    if (option->kind == BC_NAMES)
        return bad_names(option, random);
    if (option->kind == BC_SIZE_LIST)
        return bad_list(option, random);
    return bad_number(option, random);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Takes the word. False, and it is freed, if the line is full. */
static bool add_word(struct line *line, char *word)
{
    if (line->count == WORDS_MAX) {
        free(word);
        return false;
    }
    line->words[line->count++] = word;
    line->words[line->count] = NULL;
    return true;
}

/* Takes the value. */
static bool add_variable(struct line *line, const char *name, size_t length, char *value)
{
    if (line->variable_count == VARIABLES_MAX) {
        free(value);
        return false;
    }
    char *const copied = copy(name);
    copied[length] = '\0';
    line->variables[line->variable_count].name = copied;
    line->variables[line->variable_count++].value = value;
    return true;
}

/* Whether an option other than `but` has a name that begins with the `length` characters. */
static bool is_ambiguous(const struct bc_options *options, const struct bc_option *but,
                         const char *start, size_t length)
{
    for (size_t i = 0; i < options->count; i++) {
        const struct bc_option *const other = options->entries[i].option;
        if (other != but && (strncmp(other->long_name, start, length) == 0 ||
                             (other->alias != NULL && strncmp(other->alias, start, length) == 0)))
            return true;
    }
    return false;
}

/* A name by which the option is found: its own, its alias, or the beginning of one of these. */
static char *name_of(const struct bc_options *options, const struct bc_option *option,
                     struct random *random)
{
    const char *const name =
        option->alias != NULL && chance(random, 2) ? option->alias : option->long_name;
    char *const text = join("--", name, "");
    if (!chance(random, 4))
        return text;
    const size_t length = 1 + random_below(random, strlen(name));
    if (!is_ambiguous(options, option, name, length))
        text[2 + length] = '\0';
    return text;
}

/* Whether the line sets a variable of the option. */
static bool is_set(const struct line *line, const struct bc_option *option)
{
    for (size_t i = 0; i < line->variable_count; i++)
        if (option->variables != NULL && strstr(option->variables, line->variables[i].name) != NULL)
            return true;
    return false;
}

/* Gives the option the value in one of the ways there are, and frees the value or keeps it. False
   if the line is full. */
static bool give(struct line *line, const struct bc_options *options,
                 const struct bc_option *option, char *value, struct random *random)
{
    const bool flag = option->kind == BC_FLAG;
    if (option->variables != NULL && !is_set(line, option) && chance(random, 3)) {
        const char *name = option->variables;
        const char *const next = strchr(name, ' ');
        if (next != NULL && chance(random, 2))
            name = next + 1;
        return add_variable(line, name, strcspn(name, " "), value);
    }
    if (option->short_name != '\0' && chance(random, 2)) {
        char name[] = {'-', option->short_name, '\0'};
        if (flag || value[0] == '\0' || chance(random, 2)) {
            const bool added = line->count + 2 <= WORDS_MAX && add_word(line, copy(name));
            if (added && !flag)
                return add_word(line, value);
            free(value);
            return added;
        }
        const bool added = add_word(line, join(name, value, ""));
        free(value);
        return added;
    }
    char *const name = name_of(options, option, random);
    bool added = false;
    if (flag && chance(random, 2)) {
        added = add_word(line, copy(name));
        free(value);
    } else if (!flag && chance(random, 3) && line->count + 2 <= WORDS_MAX) {
        added = add_word(line, copy(name)) && add_word(line, value);
    } else {
        added = add_word(line, join(name, "=", value));
        free(value);
    }
    free(name);
    return added;
}

/* Whether the value of an option ends the line before it is judged, or says where
   something goes. */
static bool is_left_alone(const struct bc_option *option, bool tame)
{
    const char *const name = option->long_name;
    return strcmp(name, "help") == 0 || strcmp(name, "version") == 0 ||
           strcmp(name, "usage") == 0 ||
           (tame && (strcmp(name, "output") == 0 || strcmp(name, "dump-samples") == 0));
}

static size_t any_row(const struct bc_options *options, bool tame, struct random *random)
{
    for (;;) {
        const size_t row = random_below(random, options->count);
        if (!is_left_alone(options->entries[row].option, tame))
            return row;
    }
}

static const struct bc_option *any_option(const struct bc_options *options, struct random *random)
{
    return options->entries[any_row(options, false, random)].option;
}

static void give_good_value(struct line *line, const struct bc_options *options, size_t row,
                            bool tame, struct random *random)
{
    char *const value = good_value(options, row, tame, random);
    give(line, options, options->entries[row].option, value, random);
}

static void add_good_ones(struct line *line, const struct bc_options *options, bool tame,
                          struct random *random)
{
    for (uint64_t left = random_below(random, 6); left > 0; left--)
        give_good_value(line, options, any_row(options, tame, random), tame, random);
    /* Short options without values may share a word. */
    char bundle[16] = "-";
    for (size_t i = 0; i < options->count && chance(random, 2); i++) {
        const struct bc_option *const option = options->entries[i].option;
        const size_t length = strlen(bundle);
        if (option->kind == BC_FLAG && option->short_name != '\0' && !is_left_alone(option, tame) &&
            length < 8) {
            bundle[length] = option->short_name;
            bundle[length + 1] = '\0';
        }
    }
    if (bundle[1] != '\0')
        add_word(line, copy(bundle));
}

/* One bad value among good ones. */
static void add_bad_value(struct line *line, const struct bc_options *options,
                          struct random *random)
{
    const struct bc_option *option = any_option(options, random);
    while (!has_bad_values(option) || is_set(line, option))
        option = any_option(options, random);
    if (!give(line, options, option, bad_value(option, random), random))
        return;
    line->expectation = OPTION_IS_BAD;
    (void)snprintf(line->culprit, sizeof line->culprit, "%s", option->long_name);
}

/* A word that no program takes. */
static void add_bad_word(struct line *line, const struct bc_options *options, struct random *random)
{
    static const char *const words[] = {
        "--no-such-option",
        "--no-such-option=1",
        "-Z",
        "stray",
        "",
        "--",
        "--\xff\xfe",
        "--=",
        "-=",
        "--max-",
        "--max",
        "---precision=2",
        "\xe2\x80\xa8",
        "-\xff",
        "file.tsv",
        "--precision\n=2",
        "-",
    };
    char *word = copy(pick(random, words, COUNT(words)));
    if (chance(random, 4)) {
        const struct bc_option *const option = any_option(options, random);
        free(word);
        word = join("--", option->long_name, "x=1");
    }
    const bool ends_options = strcmp(word, "--") == 0;
    if (add_word(line, word) && (!ends_options || add_word(line, copy("stray"))))
        line->expectation = LINE_IS_BAD;
}

static void add_option_without_value(struct line *line, const struct bc_options *options,
                                     struct random *random)
{
    const struct bc_option *option = any_option(options, random);
    while (option->kind == BC_FLAG)
        option = any_option(options, random);
    if (add_word(line, join("--", option->long_name, "")))
        line->expectation = LINE_IS_BAD;
}

static void add_anything(struct line *line, const struct bc_options *options, bool tame,
                         struct random *random)
{
    line->expectation = ANYTHING;
    for (uint64_t left = 1 + random_below(random, 6); left > 0; left--) {
        const size_t row =
            tame ? any_row(options, tame, random) : random_below(random, options->count);
        const struct bc_option *const option = options->entries[row].option;
        const bool number =
            has_bad_values(option) && option->kind != BC_CHOICE && option->kind != BC_NAMES;
        switch (random_below(random, 8)) {
        case 0:
            add_word(line, any_text(random));
            break;
        case 1:
            give_good_value(line, options, row, tame, random);
            break;
        case 2:
            if (has_bad_values(option))
                give(line, options, option, bad_value(option, random), random);
            break;
        default:
            /* Whatever is a number may be a large one. */
            if (!tame || !number)
                give(line, options, option, any_text(random), random);
            break;
        }
    }
}

/* ---- lines and jobs -------------------------------------------------------------------------- */

void line_make(struct line *line, const struct bc_options *options, bool tame,
               struct random *random)
{
    *line = (struct line){.expectation = VALUES_ARE_GOOD};
    add_word(line, copy("program"));
    const uint64_t way = random_below(random, 100);
    if (way >= 75) {
        add_anything(line, options, tame, random);
        return;
    }
    add_good_ones(line, options, tame, random);
    if (way < 30)
        return;
    if (way < 62)
        add_bad_value(line, options, random);
    else if (way < 70)
        add_bad_word(line, options, random);
    else
        add_option_without_value(line, options, random);
}

void line_free(struct line *line)
{
    for (int i = 0; i < line->count; i++)
        free(line->words[i]);
    for (size_t i = 0; i < line->variable_count; i++) {
        free(line->variables[i].name);
        free(line->variables[i].value);
    }
}

struct job job_make(struct random *random)
{
    static const int ranks[] = {1, 2, 3, 4, 6, 7, 8, 16, 27, 64, 1000, 1024, 65536, 1 << 20};
    static const int64_t bytes[] = {
        0,        1, 4096, 1 << 20, 1 << 26, INT64_C(1) << 30, INT64_C(64) << 30, INT64_C(1) << 45,
        INT64_MAX};
    return (struct job){
        .ranks = chance(random, 4) ? 1 + (int)random_below(random, 1 << 20)
                                   : ranks[random_below(random, COUNT(ranks))],
        .thread_level = chance(random, 2) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
        .oversubscribed = chance(random, 2),
        .memory_per_rank = bytes[random_below(random, COUNT(bytes))],
        .shared_memory_per_rank = bytes[random_below(random, COUNT(bytes))],
    };
}
