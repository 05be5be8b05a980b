/*
 * Did something get slower? Compares the results of two sides, each of several launches, row by
 * row: by how much each quantity changed, with an interval and a verdict. Exit status 1 if
 * something got slower or failed: a gate for an upgrade or a commit.
 *
 * Launches of one program differ by more than a launch's own interval says, so they, not samples,
 * are what is compared: by the rank-sum test over launches. There are many rows, so the chance of a
 * false alarm is held for the call as a whole.
 *
 *   results.h  reading files and folders: what each launch found for each row;
 *              head.h, lines.h and storage.h are its parts
 *   compare.h  changes and verdicts
 */
#include "run_scripts/bench_compare/compare.h"
#include "run_scripts/bench_compare/results.h"
#include "run_scripts/bench_compare/storage.h"

#include "common/result/metadata.h"
#include "common/run/options.h"
#include "common/run/settings.h"
#include "common/result/output.h"

#include "build_info.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "bench_compare"
#define COLUMNS_MAX 48

enum exit_status { EXIT_NOTHING_SLOWER = 0, EXIT_SLOWER = 1, EXIT_USAGE = 2 };

/* ---- options --------------------------------------------------------------------------------- */

static struct settings {
    struct bc_settings common; /* only the options of any program that writes a result */
    const char *sides[SIDES];  /* for --help: taken out before the rest is parsed */
    double alpha_pct, threshold_pct, confidence_pct;
} settings = {.alpha_pct = 1.0, .threshold_pct = 5.0, .confidence_pct = 95.0};

#define AT(member) offsetof(struct settings, member)

static const struct bc_option option_rows[] = {
    {"base", BC_TEXT, AT(sides[BASE]), .argument = "PATH...",
     .help = "files and folders of the side to compare with: all words up to the next option"},
    {"new", BC_TEXT, AT(sides[NEW]), .argument = "PATH...",
     .help = "files and folders of the side that may have got slower"},
    {"alpha", BC_PERCENT, AT(alpha_pct), .argument = "PERCENT", .min = 1e-6, .max = 50,
     .help =
         "chance that anything at all is called slower or faster in a call where nothing changed"},
    {"threshold", BC_PERCENT, AT(threshold_pct), .argument = "PERCENT", .min = 0, .max = 1e6,
     .help = "a smaller change does not matter"},
    {"confidence", BC_PERCENT, AT(confidence_pct), .argument = "PERCENT", .min = 50, .max = 99.99,
     .help = "confidence of the intervals, each by itself"},
};

static struct bc_options options;

static const char *const usage =
    "Usage: bench_compare [OPTION]... BASE NEW\n"
    "       bench_compare [OPTION]... --base PATH... --new PATH...\n"
    "\n"
    "Tells row by row what changed between two sets of launches of the same\n"
    "benchmarks: slower, faster, same, or can't tell. A path is a result, or a\n"
    "folder of results: PROGRAM.tsv with all launches in it, told apart by a\n"
    "column `run`, or runs/N/PROGRAM.tsv, one launch each.\n"
    "Exit status: 0 nothing got slower; 1 something did, or failed; 2 wrong\n"
    "usage, or results that can't be compared.\n"
    "\n"
    "Options:\n";

static const char *const side_names[SIDES] = {"base", "new"};

/* The command line, taken to pieces. */
struct words {
    const char **sides[SIDES];
    size_t counts[SIDES];
    char **rest; /* for bc_options_parse */
    int rest_count;
};

/* Whether the word is a long option whose value is the next word; it may be abbreviated. */
static bool takes_next(const char *word)
{
    if (strncmp(word, "--", 2) != 0 || strchr(word, '=') != NULL)
        return false;
    for (size_t i = 0; i < options.count; i++) {
        const struct bc_option *const option = options.entries[i].option;
        if (strstr(option->long_name, word + 2) == option->long_name)
            return option->kind != BC_FLAG;
    }
    return false;
}

/* The value of `--NAME=VALUE`, the empty text of `--NAME`; NULL for other words. The name may be
   abbreviated to `least` letters. */
static const char *side_value(const char *word, const char *name, size_t least)
{
    if (strncmp(word, "--", 2) != 0)
        return NULL;
    const size_t length = strcspn(word + 2, "=");
    if (length < least || length > strlen(name) || strncmp(word + 2, name, length) != 0)
        return NULL;
    const char *const end = word + 2 + length;
    return *end == '=' ? end + 1 : end;
}

/* Divides the words into the two sides' paths and the rest. Without --base and
   --new there must be two paths. */
static bool divide(struct words *words, int argc, char **argv, struct bc_error *error)
{
    static const size_t least_letters[SIDES] = {1, 2}; /* --n: or --no-header */
    enum side side = BASE;
    bool named = false, plain = false, only_paths = false;
    words->rest[words->rest_count++] = argv[0];
    for (int i = 1; i < argc; i++) {
        char *const word = argv[i];
        const bool option = !only_paths && word[0] == '-' && word[1] != '\0';
        if (option && strcmp(word, "--") == 0) {
            only_paths = true;
            continue;
        }
        bool switches = false;
        for (int s = BASE; option && s < SIDES; s++) {
            const char *const value = side_value(word, side_names[s], least_letters[s]);
            if (value == NULL)
                continue;
            switches = named = true;
            side = (enum side)s;
            if (*value != '\0')
                words->sides[s][words->counts[s]++] = value;
        }
        if (switches)
            continue;
        if (option) {
            words->rest[words->rest_count++] = word;
            if (takes_next(word) && i + 1 < argc)
                words->rest[words->rest_count++] = argv[++i];
            continue;
        }
        if (!named) {
            plain = true;
            side = words->counts[BASE] == 0 ? BASE : NEW;
        }
        words->sides[side][words->counts[side]++] = word;
    }
    const size_t base = words->counts[BASE], new = words->counts[NEW];
    if (named && plain)
        return bc_error_set(error,
                            "'%.200s' belongs to no side: name all paths after --base and --new",
                            words->sides[BASE][0]);
    if (base == 0 || new == 0)
        return bc_error_set(error, "the %s side has no results: use %s BASE NEW",
                            base == 0 ? "base" : "new", PROGRAM);
    if (!named && new > 1)
        return bc_error_set(error,
                            "%zu paths, not two: use %s BASE NEW, or --base PATH... --new PATH...",
                            base + new, PROGRAM);
    return true;
}

/* ---- the result ------------------------------------------------------------------------------ */

struct row {
    const char *benchmark;
    const char *keys[COLUMNS_MAX]; /* by column; NULL where the benchmark has no such key */
    const char *quantity;
    char base[BC_CELL_LENGTH], new[BC_CELL_LENGTH];
    double change_pct;
    struct bc_interval interval;
    char p_value[BC_CELL_LENGTH];
    const char *verdict, *better, *change_in;
    char p_uncorrected[BC_CELL_LENGTH];
    int64_t launches[SIDES];
};

static const struct bc_column first_column = BC_COLUMN("benchmark", BC_KEY, 0, row, benchmark);

static const struct bc_column last_columns[] = {
    BC_COLUMN("quantity", BC_KEY, 0, row, quantity),
    BC_COLUMN("base", BC_INFO, 0, row, base),
    BC_COLUMN("new", BC_INFO, 0, row, new),
    BC_COLUMN("change_pct", BC_INFO, 2, row, change_pct),
    BC_COLUMN("change_lo_pct", BC_INFO, 2, row, interval.lo),
    BC_COLUMN("change_hi_pct", BC_INFO, 2, row, interval.hi),
    BC_COLUMN("p_value", BC_INFO, 0, row, p_value),
    BC_COLUMN("verdict", BC_INFO, 0, row, verdict),
    BC_COLUMN("better", BC_INFO, 0, row, better),
    BC_COLUMN("change_in", BC_INFO, 0, row, change_in),
    BC_COLUMN("p_uncorrected", BC_INFO, 0, row, p_uncorrected),
    BC_COLUMN("base_launches", BC_INFO, 0, row, launches[BASE]),
    BC_COLUMN("new_launches", BC_INFO, 0, row, launches[NEW]),
};

enum { LAST_COLUMNS = sizeof last_columns / sizeof *last_columns };

static bool has_column(const struct bc_column *columns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(columns[i].name, name) == 0)
            return true;
    return false;
}

/* The columns: the benchmark, the keys of all benchmarks, then the comparison. */
static bool make_columns(struct bc_column *columns, struct bc_table *table,
                         const struct comparison *comparison, const struct results *results,
                         struct bc_error *error)
{
    size_t count = 0;
    columns[count++] = first_column;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct schema *const schema =
            &results->schemas[comparison->changes[i].series->schema];
        for (size_t k = 0; k < schema->key_count; k++) {
            const char *const key = schema->keys[k];
            if (has_column(columns + 1, count - 1, key))
                continue;
            if (strcmp(key, first_column.name) == 0 || has_column(last_columns, LAST_COLUMNS, key))
                return bc_error_set(
                    error, "%.100s: the key '%.100s' is called like a column of the comparison",
                    schema->benchmark, key);
            if (count + LAST_COLUMNS == COLUMNS_MAX)
                return bc_error_set(error,
                                    "the benchmarks have more than %d keys in all: compare fewer "
                                    "benchmarks at a time",
                                    COLUMNS_MAX - LAST_COLUMNS - 1);
            const size_t at = offsetof(struct row, keys) + count * sizeof(const char *);
            columns[count++] = (struct bc_column){key, BC_KEY, 0, BC_CELL_TEXT, at};
        }
    }
    for (size_t i = 0; i < LAST_COLUMNS; i++)
        columns[count++] = last_columns[i];
    *table = (struct bc_table){columns, count};
    return true;
}

/* A value with six digits that count. */
static void write_value(char *cell, double value)
{
    const double size = fabs(value);
    if (!isfinite(value))
        strcpy(cell, "NA");
    else if (size >= 1e15 || (size < 1e-6 && size > 0.0))
        snprintf(cell, BC_CELL_LENGTH, "%.5e", value);
    else
        snprintf(cell, BC_CELL_LENGTH, "%.*f",
                 size > 0.0 ? (int)fmax(0.0, 5.0 - floor(log10(size))) : 0, value);
}

static void write_p(char *cell, double p)
{
    strcpy(cell, "NA");
    if (!isnan(p))
        snprintf(cell, BC_CELL_LENGTH, "%.3g", p);
}

static void write_row(struct bc_output *output, const struct bc_table *table,
                      const struct change *change, const struct schema *schema)
{
    const struct series *const series = change->series;
    struct row row = {
        .benchmark = schema->benchmark,
        .quantity = series->quantity,
        .change_pct = change->change_pct,
        .interval = change->interval,
        .verdict = verdict_names[change->verdict],
        .better = bc_role_names[series->more ? BC_MORE : BC_LESS],
        .change_in = change->points ? "points" : "percent",
        .launches = {(int64_t)series->sides[BASE].count, (int64_t)series->sides[NEW].count},
    };
    for (size_t column = 1; column < table->count - LAST_COLUMNS; column++)
        for (size_t i = 0; i < schema->key_count; i++)
            if (strcmp(schema->keys[i], table->columns[column].name) == 0)
                row.keys[column] = series->keys[i];
    write_value(row.base, change->base);
    write_value(row.new, change->new);
    write_p(row.p_value, change->corrected_p);
    write_p(row.p_uncorrected, change->p);
    bc_output_row(output, &row);
}

static void write_parameters(struct bc_output *output, const struct words *words)
{
    for (int side = BASE; side < SIDES; side++)
        for (size_t i = 0; i < words->counts[side]; i++)
            bc_output_meta(output, side_names[side], "%s", words->sides[side][i]);
    static const char *const shown[] = {"alpha", "threshold", "confidence", "format"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        char *const value = bc_option_text(bc_options_find(&options, shown[i]));
        bc_output_meta(output, shown[i], "%s", value);
        free(value);
    }
}

static void write_notes(struct bc_output *output, const struct comparison *comparison)
{
    const size_t hopeless = comparison->hopeless;
    if (hopeless == 0)
        return;
    char hint[96] = "more launches a side than this program takes";
    if (comparison->enough_launches > 0)
        snprintf(hint, sizeof hint, "at least %zu launches a side", comparison->enough_launches);
    bc_output_remark(output, "note",
                     "%zu of %zu rows have too few launches (such as %zu and %zu) for any change "
                     "in one of them to be told from chance: use %s, or fewer rows",
                     hopeless, comparison->tested, comparison->hopeless_launches[BASE],
                     comparison->hopeless_launches[NEW], hint);
    if (settings.common.no_header) /* the note is on stderr */
        return;
    /* Who only looks at the exit status must know, too. */
    (void)fprintf(
        stderr,
        "%s: %zu of %zu rows have too few launches for any change to be told from chance: "
        "use %s, or fewer rows\n",
        PROGRAM, hopeless, comparison->tested, hint);
}

/* Writes all. Exit status 0, or another one with the error set. */
static int write_comparison(const struct comparison *comparison, const struct results *results,
                            const struct words *words, int argc, char **argv,
                            struct bc_error *error)
{
    struct bc_column columns[COLUMNS_MAX];
    struct bc_table table;
    if (!make_columns(columns, &table, comparison, results, error))
        return EXIT_USAGE;
    struct bc_output *const output = bc_settings_open(&settings.common, PROGRAM, &table, error);
    if (output == NULL)
        return EXIT_USAGE;
    bc_metadata_write_program(output, PROGRAM, argc, argv);
    write_parameters(output, words);
    bc_output_header(output);
    for (size_t i = 0; i < comparison->count; i++) {
        const struct change *const change = &comparison->changes[i];
        write_row(output, &table, change, &results->schemas[change->series->schema]);
    }
    for (size_t i = 0; i < results->warning_count; i++)
        bc_output_remark(output, "warning", "%s", results->warnings[i]);
    write_notes(output, comparison);
    const size_t *const n = comparison->verdicts;
    bc_output_remark(
        output, "summary",
        "%zu slower, %zu faster, %zu same, %zu can't tell, %zu failed, %zu missing, %zu "
        "added; %zu and %zu launches",
        n[SLOWER], n[FASTER], n[SAME], n[CANT_TELL], n[FAILED], n[MISSING], n[ADDED],
        results->launches[BASE], results->launches[NEW]);
    const int status = n[SLOWER] > 0 || n[FAILED] > 0 ? EXIT_SLOWER : EXIT_NOTHING_SLOWER;
    bc_output_end(output, status);
    if (bc_output_close(output))
        return status;
    bc_error_set(error, "output was lost: no space, or the file went away");
    return EXIT_SLOWER;
}

/* ---- main ------------------------------------------------------------------------------------ */

/* Reads what the words name. False with the error set, also where nothing can be compared. */
static bool read_all(struct results *results, const struct words *words, struct bc_error *error)
{
    for (int side = BASE; side < SIDES; side++)
        for (size_t i = 0; i < words->counts[side]; i++)
            if (!results_add(results, (enum side)side, words->sides[side][i], error))
                return false;
    if (!results_finish(results, error))
        return false;
    for (int side = BASE; side < SIDES; side++)
        if (results->launches[side] == 0 && results->incomplete[side] > 0)
            return bc_error_set(error,
                                "the %s side has no complete launch: its programs were killed or "
                                "interrupted, or had no space: measure it again",
                                side_names[side]);
    for (size_t i = 0; i < results->series_count; i++)
        if (results->series[i].sides[BASE].launches > 0 &&
            results->series[i].sides[NEW].launches > 0)
            return true;
    return bc_error_set(error, "the sides have no row in common: compare launches of the same "
                               "benchmarks with the same options");
}

/* Compares what the words name and writes it; returns the exit status. */
static int run(const struct words *words, int argc, char **argv, struct bc_error *error)
{
    const struct limits limits = {.alpha = settings.alpha_pct / 100.0,
                                  .threshold_pct = settings.threshold_pct,
                                  .confidence = settings.confidence_pct / 100.0};
    struct results *const results = results_create();
    int status = EXIT_USAGE;
    if (read_all(results, words, error)) {
        struct comparison comparison;
        compare(&comparison, results, &limits);
        status = write_comparison(&comparison, results, words, argc, argv, error);
        free(comparison.changes);
    }
    results_free(results);
    return status;
}

static void end_without_memory(void)
{
    fputs(PROGRAM ": out of memory: compare fewer files at a time\n", stderr);
    exit(EXIT_USAGE);
}

int main(int argc, char **argv)
{
    out_of_memory = end_without_memory;
    const size_t room = (size_t)argc + 1;
    struct words words = {.sides = {allocate(room, sizeof(char *)), allocate(room, sizeof(char *))},
                          .rest = allocate(room, sizeof(char *))};
    struct bc_error error = {""};
    int status = EXIT_USAGE;
    struct bc_option_table tables[] = {
        {option_rows, sizeof option_rows / sizeof *option_rows, &settings},
        bc_settings_table(&settings.common, false),
    };
    tables[1].count = BC_RESULT_OPTIONS;
    char *defaults = NULL;
    if (bc_options_create(&options, tables, 2))
        defaults = bc_options_encode(&options);
    bool good = defaults != NULL || bc_error_set(&error, "out of memory");
    struct bc_error sides_error = {""};
    /* Asked for help, nobody needs to name results. */
    const bool divided = good && divide(&words, argc, argv, &sides_error);
    good = good && bc_options_parse(&options, words.rest_count, words.rest, NULL, &error);
    if (good && (settings.common.help || settings.common.version)) {
        if (settings.common.help) {
            (void)bc_options_decode(&options, defaults);
            fputs(usage, stdout);
            bc_options_help(stdout, &options);
        } else {
            printf("%s (commcost) %s\n", PROGRAM, COMMCOST_VERSION);
        }
        status = fflush(stdout) == 0 ? EXIT_NOTHING_SLOWER : EXIT_SLOWER;
    } else if (good && !divided) {
        error = sides_error;
    } else if (good) {
        status = run(&words, argc, argv, &error);
    }
    if (error.text[0] != '\0')
        fprintf(stderr, "%s: %s\n", PROGRAM, error.text);
    bc_options_free(&options);
    free(words.sides[BASE]);
    free(words.sides[NEW]);
    free(words.rest);
    free(defaults);
    return status;
}
