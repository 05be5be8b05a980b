/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output contract (DESIGN.md, section 4), to the letter: files are compared as a whole.
 */
#include "helpers.h"
#include "streams.h"

#include "common/result/writer.h"
#include "common/stats/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct result {
    const char *name;
    int64_t size_bytes;
    double time_us;
    const char *status;
};

static const struct bc_column columns[] = {
    BC_COLUMN("name", BC_KEY, 0, result, name),
    BC_COLUMN("size_bytes", BC_KEY, 0, result, size_bytes),
    BC_COLUMN("time_us", BC_LESS, 3, result, time_us),
    BC_COLUMN("status", BC_INFO, 0, result, status),
};
static const struct bc_table table = {.columns = columns, .count = COUNT(columns)};
static const struct bc_style tsv = {
    .format = BC_FORMAT_TSV, .content = BC_WITH_METADATA, .program = "bench"};
static const struct bc_style tsv_with_header = {
    .format = BC_FORMAT_TSV, .content = BC_WITH_HEADER, .program = "bench"};
static const struct bc_style tsv_rows = {
    .format = BC_FORMAT_TSV, .content = BC_ROWS_ONLY, .program = "bench"};
#define COLUMNS "# columns: name=key size_bytes=key time_us=less status=info\n"
#define HEADER "name\tsize_bytes\ttime_us\tstatus\n"

static const struct result some = {"iallreduce", 1048576, 12.34567, BC_OK};
#define SOME "iallreduce\t1048576\t12.346\tok\n"

struct fixture {
    char path[TEMPORARY_PATH_MAX];
    char text[8192];
};

static int set_up(void **state)
{
    static struct fixture fixture;
    make_temporary(fixture.path);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    const struct fixture *const f = *state;
    return unlink(f->path);
}

/* Returns the file's contents. */
static const char *contents(struct fixture *f)
{
    return read_text(f->path, f->text, sizeof f->text);
}

static struct bc_output *open_tsv(const struct fixture *f)
{
    struct bc_output *const output = bc_output_open(f->path, &tsv, &table);
    assert_non_null(output);
    return output;
}

TEST(result_is_as_the_contract_says)
{
    struct fixture *const f = *state;
    struct bc_output *const output = open_tsv(f);
    static const struct result missing = {NULL, BC_NO_INTEGER, NAN, BC_BUDGET};
    bc_output_meta(output, "benchmark", "%s %d", "overlap", 7);
    bc_output_meta(output, "command line", "two\nlines\r\nhere");
    bc_output_header(output);
    bc_output_row(output, &some);
    bc_output_remark(output, "note", "half\nway %d%%", 50);
    bc_output_row(output, &missing);
    bc_output_remark(output, "warning", "%s", "at the end");
    assert_true(bc_output_good(output));
    assert_true(bc_output_close(output));
    assert_string_equal(contents(f), "# benchmark: overlap 7\n"
                                     "# command line: two lines  here\n" COLUMNS HEADER SOME
                                     "# note: half way 50%\n"
                                     "NA\tNA\tNA\tbudget\n"
                                     "# warning: at the end\n");
}

/* Without metadata: what the result is then, and on stderr one line a remark. */
static void check_without_metadata(struct fixture *f, const struct bc_style *style,
                                   const char *expected)
{
    struct fixture said;
    void *place = &said;
    make_temporary(said.path);
    struct bc_output *const output = bc_output_open(f->path, style, &table);
    const int saved = divert(stderr, said.path);
    bc_output_meta(output, "benchmark", "overlap");
    bc_output_remark(output, "note", "half\nway %d%%", 50);
    bc_output_header(output);
    bc_output_row(output, &some);
    bc_output_remark(output, "warning", "%s", "at the end");
    bc_output_end(output, 0);
    const bool good = bc_output_close(output);
    restore(stderr, saved);
    contents(&said);
    tear_down(&place);
    assert_true(good);
    assert_string_equal(contents(f), expected);
    assert_string_equal(said.text, "bench: note: half way 50%\n"
                                   "bench: warning: at the end\n");
}

TEST(without_metadata_remarks_go_to_stderr)
{
    struct fixture *const f = *state;
    static const struct bc_style aligned = {
        .format = BC_FORMAT_TABLE, .content = BC_WITH_HEADER, .program = "bench"};
    check_without_metadata(f, &tsv_rows, SOME);
    check_without_metadata(f, &tsv_with_header, HEADER SOME);
    check_without_metadata(f, &aligned,
                           "name  size_bytes   time_us  status\n"
                           "iallreduce  1048576  12.346  ok\n");
}

/* For people: a head of its own, roles that matter, keys of the run that no column shows, remarks
   behind the rows, in lines of at most 100 characters. The header waits for the first row. */
TEST(short_metadata)
{
    struct fixture *const f = *state;
    static const struct bc_column short_columns[] = {
        BC_COLUMN("name", BC_RUN_KEY, 0, result, name),
        BC_COLUMN("operation", BC_RUN_KEY, 0, result, name),
        BC_COLUMN("pair", BC_RUN_KEY, 0, result, size_bytes),
        BC_COLUMN("main", BC_RUN_KEY, 0, result, size_bytes),
        BC_COLUMN("size_bytes", BC_RUN_KEY, 0, result, size_bytes),
        BC_COLUMN("time_us", BC_LESS, 3, result, time_us),
        BC_COLUMN_ABOUT("how the row ended", "status", BC_INFO, 0, result, status),
        BC_COLUMN_ABOUT("not shown", "hidden", BC_INFO, 0, result, status),
    };
    static const struct bc_table short_table = {
        .columns = short_columns, .count = COUNT(short_columns), .main = "time_us,main"};
    static const struct bc_style style = {.content = BC_WITH_SHORT_METADATA,
                                          .program = "bench",
                                          .columns = "time_us,name,status",
                                          .varying = "pair,"};
    static const char word[] = "0123456789";
    struct bc_output *const output = bc_output_open(f->path, &style, &short_table);
    bc_output_meta(output, "compiler", "any");
    bc_output_short_meta(output, 1, "program", "bench 1");
    bc_output_short_meta(output, 1, "layout", "%0200d", 0);
    bc_output_header(output);
    assert_null(strstr(contents(f), "time_us"));
    bc_output_row(output, &some);
    for (int i = 0; i < 2; i++)
        bc_output_disturbed(output, 12.4 * (i + 1), "row 2");
    bc_output_row(output, &some);
    /* 8 and 8 times 11 are 96 characters; a word more makes 107. */
    bc_output_remark(output, "note", "%s %s %s %s %s %s %s %s %s", word, word, word, word, word,
                     word, word, word, word);
    bc_output_remark(output, "note", "%0120d end", 0);
    bc_output_remark(output, "verbose", "  blanks   stay");
    bc_output_end(output, 0);
    assert_true(bc_output_close(output));
    char expected[1024];
    snprintf(expected, sizeof expected,
             "# program: bench 1\n# layout: %087d...\n# all_rows: operation=iallreduce; "
             "size_bytes=1048576\n"
             "# columns: keys: name; less is better: time_us\n"
             "time_us\tname\tstatus\n12.346\tiallreduce\tok\n12.346\tiallreduce\tok\n"
             "# verbose:   blanks   stay\n"
             "# status: how the row ended\n"
             "# note: %s %s %s %s %s %s %s %s\n#   %s\n"
             "# note: %0120d\n#   end\n"
             "# warning: 1 of 2 rows disturbed, up to 25 %% of the time: rerun on a quiet machine\n"
             "# end: 2 rows, exit 0\n",
             0, word, word, word, word, word, word, word, word, word, 0);
    assert_string_equal(contents(f), expected);
}

TEST(short_metadata_without_rows)
{
    struct fixture *const f = *state;
    static const struct bc_style style = {
        .content = BC_WITH_SHORT_METADATA, .program = "bench", .columns = "status"};
    struct bc_output *const output = bc_output_open(f->path, &style, &table);
    bc_output_header(output);
    bc_output_disturbed(output, 0.0, "row 1");
    bc_output_end(output, 1);
    assert_true(bc_output_close(output));
    assert_string_equal(contents(f), "# columns: not compared\nstatus\n"
                                     "# warning: 1 of 0 rows disturbed: rerun on a quiet machine\n"
                                     "# end: 0 rows, exit 1\n");
}

TEST(names_that_are_no_columns)
{
    size_t length;
    assert_null(bc_table_lacks(&table, "status,name,status", &length));
    static const char *const lacking[] = {"", "name,", "name,nam", "names", "name,,status"};
    static const char *const first[] = {"", "", "nam", "names", ""};
    for (size_t i = 0; i < COUNT(lacking); i++) {
        const char *const found = bc_table_lacks(&table, lacking[i], &length);
        assert_non_null(found);
        assert_int_equal(length, strlen(first[i]));
        assert_memory_equal(found, first[i], length);
    }
}

/* The result isn't lost where nobody hears of its remarks. */
TEST(lost_remarks_lose_no_result)
{
    struct fixture *const f = *state;
    struct bc_output *const output = bc_output_open(f->path, &tsv_rows, &table);
    const int saved = divert(stderr, "/dev/full");
    bc_output_remark(output, "note", "lost");
    restore(stderr, saved);
    assert_true(bc_output_good(output));
    assert_true(bc_output_close(output));
}

/* A killed run keeps what was finished. */
TEST(each_line_is_on_disk_at_once)
{
    struct fixture *const f = *state;
    struct bc_output *const output = open_tsv(f);
    bc_output_meta(output, "key", "value");
    bc_output_header(output);
    assert_string_equal(contents(f), "# key: value\n" COLUMNS HEADER);
    for (int i = 1; i <= 3; i++) {
        const size_t before = strlen(contents(f));
        bc_output_row(output, &some);
        assert_string_equal(contents(f) + before, SOME);
    }
    const size_t before = strlen(contents(f));
    bc_output_remark(output, "note", "now");
    assert_string_equal(contents(f) + before, "# note: now\n");
    assert_true(bc_output_close(output));
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* The row of a result with one column. */
static void check_cell(struct fixture *f, struct bc_column column, const void *result,
                       const char *expected)
{
    const struct bc_table one = {.columns = &column, .count = 1};
    struct bc_output *const output = bc_output_open(f->path, &tsv_rows, &one);
    char line[BC_CELL_LENGTH + 1];
    snprintf(line, sizeof line, "%s\n", expected);
    bc_output_row(output, result);
    assert_true(bc_output_close(output));
    assert_string_equal(contents(f), line);
}

/* A member of every type that a column can have. */
struct cells {
    const char *text;
    char chars[400];
    int number;
    int64_t large;
    double real;
    const char *status;
};

TEST(real_cells)
{
    struct fixture *const f = *state;
    static const struct {
        enum bc_cell cell;
        int decimals;
        double value;
        const char *expected;
    } cases[] = {
        {BC_CELL_REAL, 3, -0.0004, "0.000"},
        {BC_CELL_REAL, 3, -0.0006, "-0.001"},
        {BC_CELL_REAL, 3, 123456789012.5, "123456789012.500"},
        {BC_CELL_REAL, 3, -1e300, "-1.000e+300"},
        {BC_CELL_REAL, 3, NAN, "NA"},
        {BC_CELL_REAL, 3, -INFINITY, "NA"},
        {BC_CELL_REAL, 0, 2.6, "3"},
        /* A time, in microseconds from ns; one that is negative, since the clock's cost came off
           it, is 0. */
        {BC_CELL_TIME, 0, 2600, "3"},
        {BC_CELL_TIME, 3, 1234567.0, "1234.567"},
        {BC_CELL_TIME, 3, -1500.0, "0.000"},
        {BC_CELL_TIME, 3, INFINITY, "NA"},
        {BC_CELL_US, 3, -1500.0, "-1.500"},
        /* Whole numbers are written without decimals. */
        {BC_CELL_AMOUNT, 2, 131072.0, "131072"},
        {BC_CELL_AMOUNT, 2, 2.001, "2.00"},
        {BC_CELL_AMOUNT, 2, NAN, "NA"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct cells result = {.real = cases[i].value};
        const struct bc_column column =
            BC_COLUMN_AS(cases[i].cell, "x", BC_INFO, cases[i].decimals, cells, real);
        check_cell(f, column, &result, cases[i].expected);
    }
}

TEST(integer_cells)
{
    struct fixture *const f = *state;
    static const struct bc_column large = BC_COLUMN("large", BC_INFO, 0, cells, large);
    static const struct bc_column number = BC_COLUMN("number", BC_INFO, 0, cells, number);
    const struct cells none = {.large = BC_NO_INTEGER, .number = BC_NO_INT};
    const struct cells some_numbers = {.large = -INT64_MAX, .number = INT_MAX};
    check_cell(f, large, &none, "NA");
    check_cell(f, number, &none, "NA");
    check_cell(f, large, &some_numbers, "-9223372036854775807");
    check_cell(f, number, &some_numbers, "2147483647");
}

TEST(text_cells_cannot_break_the_table)
{
    struct fixture *const f = *state;
    static const struct bc_column text = BC_COLUMN("text", BC_INFO, 0, cells, text);
    static const struct bc_column chars = BC_COLUMN("chars", BC_INFO, 0, cells, chars);
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"a\tb#c\nd\re\"f", "a_b_c_d_e_f"},
        {"2-3", "\"2-3\""}, /* spreadsheets take these for dates or numbers */
        {"1/2", "\"1/2\""},
        {"0-1,4", "\"0-1,4\""},
        {"10x10x10", "10x10x10"},
        {"7", "7"},
        {"M\xc3\xbcnchen", "M\xc3\xbcnchen"}, /* other languages' letters stay */
        {"\xff", "?"},
        {"", ""},
    };
    struct cells result = {.text = NULL};
    check_cell(f, text, &result, "NA");
    for (size_t i = 0; i < COUNT(cases); i++) {
        result.text = cases[i].text;
        strcpy(result.chars, cases[i].text);
        check_cell(f, text, &result, cases[i].expected);
        check_cell(f, chars, &result, cases[i].expected);
    }
    /* The longest name of a host stays, or two of them would be one key; what is longer is cut. */
    char name[256 + sizeof ":1000000"] = "";
    memset(name, 'h', 256);
    strcat(name, ":1000000");
    strcpy(result.chars, name);
    check_cell(f, chars, &result, name);
    char cut[BC_CELL_LENGTH] = "";
    memset(result.chars, 'y', sizeof result.chars - 1);
    memset(cut, 'y', sizeof cut - 1);
    check_cell(f, chars, &result, cut);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Texts to the left, numbers to the right; an interval's ends behind their value are lo and hi;
   what has 0 in its interval is less than its upper end, rounded up to two digits. Behind a value
   that is longer than its column, blanks are left out until columns are aligned again. */
TEST(tables_are_for_people)
{
    struct fixture *const f = *state;
    struct row {
        const char *kind;
        struct bc_summary time; /* ns */
        double gain;
    };
    static const struct bc_column own[] = {
        BC_COLUMN("kind", BC_KEY, 12, row, kind),
        BC_COLUMN_AS(BC_CELL_US, "time_us", BC_LESS, 3, row, time.value),
        BC_COLUMN_AS(BC_CELL_US, "time_lo_us", BC_INFO, 3, row, time.interval.lo),
        BC_COLUMN_AS(BC_CELL_US, "time_hi_us", BC_INFO, 3, row, time.interval.hi),
        BC_COLUMN("gain_pct", BC_INFO, 1, row, gain),
    };
    static const struct row rows[] = {
        {"message", {.value = 1500, .interval = {1400, 1600}}, 1.0},
        {"noise", {.value = -20, .interval = {-1000, 3352}}, -1.0},
        {"little", {.value = 2, .interval = {0, 4.51}}, NAN},
        {"much", {.value = 2e6, .interval = {-1, 123456789}}, 0.0},
        {"round", {.value = 2e6, .interval = {-1, 1e6}}, 0.0},
        {"negative", {.value = -20, .interval = {-30, -10}}, 0.0},
        {"no interval", {.value = 20, .interval = {NAN, NAN}}, 0.0},
        {"a name of 20 letters", {.value = 1500, .interval = {1400, 1600}}, 1.0},
    };
    static const struct bc_table own_table = {.columns = own, .count = COUNT(own)};
    static const struct bc_style aligned = {
        .format = BC_FORMAT_TABLE, .content = BC_WITH_HEADER, .program = "bench"};
    struct bc_output *const output = bc_output_open(f->path, &aligned, &own_table);
    bc_output_header(output);
    for (size_t i = 0; i < COUNT(rows); i++)
        bc_output_row(output, &rows[i]);
    assert_true(bc_output_close(output));
    assert_string_equal(contents(f), "kind           time_us       lo       hi  gain_pct\n"
                                     "message          1.500    1.400    1.600       1.0\n"
                                     "noise            < 3.4   -1.000    3.352      -1.0\n"
                                     "little        < 0.0046    0.000    0.005        NA\n"
                                     "much          < 130000   -0.001   123457       0.0\n"
                                     "round           < 1000   -0.001   1000.0       0.0\n"
                                     "negative        -0.020   -0.030   -0.010       0.0\n"
                                     "no interval      0.020       NA       NA       0.0\n"
                                     "a name of 20 letters  1.500  1.400  1.600      1.0\n");
}

/* ---- JSON Lines ------------------------------------------------------------------------------ */

/* An object for the metadata, wherever remarks come, one for each remark and row, and the end. */
TEST(json_lines)
{
    struct fixture *const f = *state;
    struct row {
        const char *kind;
        double latency; /* in ns */
        int64_t count;
        const char *status;
    };
    static const struct bc_column own_columns[] = {
        BC_COLUMN("kind", BC_KEY, 0, row, kind),
        BC_COLUMN_AS(BC_CELL_TIME, "latency_us", BC_LESS, 3, row, latency),
        BC_COLUMN("count", BC_INFO, 0, row, count),
        BC_COLUMN("status", BC_INFO, 0, row, status),
    };
    static const struct row rows[] = {{"a\\b\"c", 1500, 7, BC_OK},
                                      {NULL, NAN, BC_NO_INTEGER, BC_FAIL}};
    static const struct bc_table of_rows = {.columns = own_columns, .count = COUNT(own_columns)};
    static const struct bc_style json = {
        .format = BC_FORMAT_JSON, .content = BC_WITH_METADATA, .program = "bench"};
    struct bc_output *const output = bc_output_open(f->path, &json, &of_rows);
    bc_output_meta(output, "version", "%d", 1);
    bc_output_remark(output, "note", "%s", "early");
    bc_output_meta(output, "mpi_variable", "A=\"1\"");
    bc_output_meta(output, "mpi_variable", "B=2");
    bc_output_meta(output, "ranks", "2");
    bc_output_header(output);
    for (size_t i = 0; i < COUNT(rows); i++)
        bc_output_row(output, &rows[i]);
    bc_output_meta(output, "note", "late\n");
    bc_output_end(output, 1);
    assert_true(bc_output_close(output));
    assert_string_equal(
        contents(f),
        "{\"note\": \"early\"}\n"
        "{\"metadata\": {\"version\": \"1\", \"mpi_variable\": [\"A=\\\"1\\\"\", \"B=2\"], "
        "\"ranks\": \"2\", \"columns\": {\"kind\": \"key\", \"latency_us\": \"less\", "
        "\"count\": \"info\", \"status\": \"info\"}}}\n"
        "{\"kind\": \"a\\\\b_c\", \"latency_us\": 1.500, \"count\": 7, \"status\": \"ok\"}\n"
        "{\"kind\": null, \"latency_us\": null, \"count\": null, \"status\": \"FAIL\"}\n"
        "{\"note\": \"late \"}\n"
        "{\"end\": {\"rows\": 2, \"exit\": 1}}\n");
}

/* ---- locale ---------------------------------------------------------------------------------- */

TEST(decimal_points_in_any_locale)
{
    struct fixture *const f = *state;
    /* The environment alone must not change a program that never asks for it; and something that
       MPI loads may have called setlocale. */
    for (int chosen = 0; chosen <= 1; chosen++) {
        if (chosen && !choose_decimal_comma())
            skip();
        assert_int_equal(setenv("LC_ALL", "de_DE.UTF-8", 1), 0);
        struct bc_output *const output = open_tsv(f);
        bc_output_meta(output, "clock_cost_ns", "%.1f", 20.5);
        bc_output_row(output, &some);
        const bool good = bc_output_close(output);
        unsetenv("LC_ALL");
        setlocale(LC_ALL, "C");
        assert_true(good);
        assert_string_equal(contents(f), "# clock_cost_ns: 20.5\n" SOME);
    }
}

/* A stream that somebody else has open: the result begins where it is, and both
   the stream and the locale stay as they are. */
TEST(attached_output_changes_nothing_else)
{
    struct fixture *const f = *state;
    const bool comma = choose_decimal_comma();
    FILE *const stream = fopen(f->path, "w");
    assert_non_null(stream);
    fputs("before\n", stream);
    struct bc_output *const output = bc_output_attach(stream, &tsv, &table);
    bc_output_row(output, &some);
    const bool good = bc_output_close(output);
    fprintf(stream, "%.1f\n", 0.5);
    const bool open = fclose(stream) == 0;
    setlocale(LC_ALL, "C");
    assert_true(good);
    assert_true(open);
    assert_string_equal(contents(f), comma ? "before\niallreduce\t1048576\t12,346\tok\n0,5\n"
                                           : "before\n" SOME "0.5\n");
}

/* ---- stdout, errors, nothing ----------------------------------------------------------------- */

TEST(end_is_marked)
{
    struct fixture *const f = *state;
    struct bc_output *output = open_tsv(f);
    bc_output_row(output, &some);
    bc_output_remark(output, "note", "no row");
    bc_output_end(output, 1);
    assert_true(bc_output_close(output));
    assert_string_equal(contents(f), SOME "# note: no row\n# end: 1 row, exit 1\n");

    /* A result with a lost row is incomplete, even if there is space again. */
    FILE *const stream = fopen(f->path, "w");
    const int file = dup(fileno(stream)), full = open("/dev/full", O_WRONLY);
    output = bc_output_attach(stream, &tsv, &table);
    assert_true(dup2(full, fileno(stream)) >= 0);
    bc_output_row(output, &some);
    assert_true(dup2(file, fileno(stream)) >= 0);
    bc_output_end(output, 0);
    errno = 0;
    assert_false(bc_output_close(output));
    assert_int_equal(errno, ENOSPC);
    fclose(stream);
    close(file);
    close(full);
    assert_null(strstr(contents(f), "# end"));
}

/* errno has the reason of a loss, also if a row crosses the end of a page, of which the C library
   makes its buffers. */
TEST(reason_of_a_loss_is_known)
{
    (void)state;
    char text[4097];
    for (int length = 3800; length <= 4096; length++) {
        memset(text, 'x', (size_t)length);
        text[length] = '\0';
        struct bc_output *const output = bc_output_open("/dev/full", &tsv, &table);
        bc_output_meta(output, "key", "%s", text);
        bc_output_row(output, &some);
        bc_output_end(output, 0);
        errno = 0;
        assert_false(bc_output_close(output));
        assert_int_equal(errno, ENOSPC);
    }
}

/* A file that was removed takes all that is written. */
TEST(removed_file_is_noticed)
{
    struct fixture *const f = *state;
    struct bc_output *const output = open_tsv(f);
    bc_output_row(output, &some);
    assert_true(bc_output_good(output));
    assert_int_equal(unlink(f->path), 0);
    bc_output_row(output, &some);
    assert_false(bc_output_good(output));
    bc_output_end(output, 0);
    errno = 0;
    assert_false(bc_output_close(output));
    assert_int_equal(errno, ENOENT);
    /* For the tear-down. */
    fclose(fopen(f->path, "w"));
}

/* More than a buffer holds, which is flushed on the way. */
static void write_much(struct bc_output *output)
{
    for (int i = 0; i < 10000; i++)
        bc_output_meta(output, "key", "value %d", i);
}

/* Lines beyond stdout's buffer were lost, although the file takes everything again by the time of
   the first flush. */
TEST(output_lost_between_flushes_is_noticed)
{
    struct fixture *const f = *state;
    const int saved = divert(stdout, "/dev/full");
    struct bc_output *const output = bc_output_open(NULL, &tsv, &table);
    write_much(output);
    const int file = open(f->path, O_WRONLY);
    dup2(file, STDOUT_FILENO);
    close(file);
    bc_output_row(output, &some);
    const bool good = bc_output_good(output), closed = bc_output_close(output);
    restore(stdout, saved);
    assert_false(good || closed);
}

/* No output writes nothing, and one without a path to stdout, which stays open for others. */
TEST(null_path_is_stdout)
{
    struct fixture *const f = *state;
    const int saved = divert(stdout, f->path);
    bc_output_meta(NULL, "key", "%d", 1);
    bc_output_header(NULL);
    bc_output_row(NULL, &some);
    bc_output_remark(NULL, "note", "%d", 1);
    bc_output_end(NULL, 0);
    bool good = bc_output_good(NULL) && bc_output_close(NULL);
    struct bc_output *const output = bc_output_open(NULL, &tsv, &table);
    bc_output_header(output);
    good = good && bc_output_close(output);
    printf("after\n");
    restore(stdout, saved);
    assert_true(good);
    assert_string_equal(contents(f), COLUMNS HEADER "after\n");
}

const struct test_program test_program = {.before_each = set_up, .after_each = tear_down};
