/*
 * The output contract (DESIGN.md, section 4), to the letter: files are compared
 * as a whole.
 */
#include "helpers.h"

#include "common/result/output.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct bc_column columns[] = {
    {"name", BC_KEY, 0},
    {"size_bytes", BC_KEY, 0},
    {"time_us", BC_LESS, 3},
    {"status", BC_INFO, 0},
};
static const struct bc_table table = {columns, 4};
static const struct bc_style tsv = {BC_FORMAT_TSV, BC_WITH_METADATA, "bench"};
static const struct bc_style tsv_with_header = {BC_FORMAT_TSV, BC_WITH_HEADER, "bench"};
static const struct bc_style tsv_rows = {BC_FORMAT_TSV, BC_ROWS_ONLY, "bench"};
#define COLUMNS "# columns: name=key size_bytes=key time_us=less status=info\n"

enum { TEXT_MAX = 8192 };

struct fixture {
    char path[64];
    char text[TEXT_MAX];
};

static int set_up(void **state)
{
    static struct fixture fixture;
    strcpy(fixture.path, "/tmp/commcost_test_output.XXXXXX");
    const int file = mkstemp(fixture.path);
    if (file < 0)
        return -1;
    close(file);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    const struct fixture *const f = *state;
    return unlink(f->path);
}

/* What is in the file now. */
static const char *contents(struct fixture *f)
{
    FILE *const stream = fopen(f->path, "r");
    assert_non_null(stream);
    const size_t length = fread(f->text, 1, sizeof f->text - 1, stream);
    fclose(stream);
    f->text[length] = '\0';
    return f->text;
}

static struct bc_output *open_tsv(const struct fixture *f)
{
    struct bc_output *const output = bc_output_open(f->path, &tsv, &table);
    assert_non_null(output);
    return output;
}

static void fill(struct bc_row *row)
{
    bc_row_clear(row, &table);
    bc_row_text(row, "name", "iallreduce");
    bc_row_integer(row, "size_bytes", 1048576);
    bc_row_real(row, "time_us", 12.34567);
    bc_row_text(row, "status", "ok");
}

static void result_is_as_the_contract_says(void **state)
{
    struct fixture *const f = *state;
    struct bc_output *const output = open_tsv(f);
    struct bc_row row;
    bc_output_meta(output, "benchmark", "%s %d", "overlap", 7);
    bc_output_meta(output, "command line", "two\nlines\r\nhere");
    bc_output_header(output);
    fill(&row);
    bc_output_row(output, &row);
    bc_output_remark(output, "note", "half\nway %d%%", 50);
    bc_row_clear(&row, &table);
    bc_output_row(output, &row);
    bc_output_remark(output, "warning", "%s", "at the end");
    assert_true(bc_output_good(output));
    assert_true(bc_output_close(output));
    assert_string_equal(contents(f), "# benchmark: overlap 7\n"
                                     "# command line: two lines  here\n" COLUMNS
                                     "name\tsize_bytes\ttime_us\tstatus\n"
                                     "iallreduce\t1048576\t12.346\tok\n"
                                     "# note: half way 50%\n"
                                     "NA\tNA\tNA\tNA\n"
                                     "# warning: at the end\n");
}

/* Puts another file behind stdout or stderr; returns what was there. */
static int divert(FILE *stream, const char *path)
{
    fflush(stream);
    const int saved = dup(fileno(stream));
    const int file = open(path, O_WRONLY | O_TRUNC);
    assert_true(saved >= 0 && file >= 0);
    dup2(file, fileno(stream));
    close(file);
    return saved;
}

static void restore(FILE *stream, int saved)
{
    fflush(stream);
    clearerr(stream);
    dup2(saved, fileno(stream));
    close(saved);
}

/* Without metadata: what the result is then, and on stderr one line a remark. */
static void check_without_metadata(struct fixture *f, const struct bc_style *style,
                                   const char *expected)
{
    struct fixture said;
    void *place = &said;
    strcpy(said.path, "/tmp/commcost_test_stderr.XXXXXX");
    close(mkstemp(said.path));
    struct bc_output *const output = bc_output_open(f->path, style, &table);
    struct bc_row row;
    const int saved = divert(stderr, said.path);
    bc_output_meta(output, "benchmark", "overlap");
    bc_output_remark(output, "note", "half\nway %d%%", 50);
    bc_output_header(output);
    fill(&row);
    bc_output_row(output, &row);
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

static void without_metadata_remarks_go_to_stderr(void **state)
{
    struct fixture *const f = *state;
    static const struct bc_style aligned = {BC_FORMAT_TABLE, BC_WITH_HEADER, "bench"};
    check_without_metadata(f, &tsv_rows, "iallreduce\t1048576\t12.346\tok\n");
    check_without_metadata(f, &tsv_with_header,
                           "name\tsize_bytes\ttime_us\tstatus\n"
                           "iallreduce\t1048576\t12.346\tok\n");
    check_without_metadata(f, &aligned,
                           "                 name  size_bytes    time_us     status\n"
                           "           iallreduce     1048576     12.346         ok\n");
}

/* The result isn't lost where nobody hears of its remarks. */
static void lost_remarks_lose_no_result(void **state)
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
static void each_line_is_on_disk_at_once(void **state)
{
    struct fixture *const f = *state;
    struct bc_output *const output = open_tsv(f);
    struct bc_row row;
    bc_output_meta(output, "key", "value");
    bc_output_header(output);
    assert_string_equal(contents(f),
                        "# key: value\n" COLUMNS "name\tsize_bytes\ttime_us\tstatus\n");
    fill(&row);
    for (int i = 1; i <= 3; i++) {
        const size_t before = strlen(contents(f));
        bc_output_row(output, &row);
        assert_string_equal(contents(f) + before, "iallreduce\t1048576\t12.346\tok\n");
    }
    const size_t before = strlen(contents(f));
    bc_output_remark(output, "note", "now");
    assert_string_equal(contents(f) + before, "# note: now\n");
    assert_true(bc_output_close(output));
}

static void an_earlier_result_is_replaced(void **state)
{
    struct fixture *const f = *state;
    for (int i = 0; i < 2; i++) {
        struct bc_output *const output = open_tsv(f);
        bc_output_meta(output, "run", "%d", i);
        assert_true(bc_output_close(output));
    }
    assert_string_equal(contents(f), "# run: 1\n");
}

static void long_values_are_whole(void **state)
{
    struct fixture *const f = *state;
    struct bc_output *const output = open_tsv(f);
    static char value[5001];
    memset(value, 'x', sizeof value - 1);
    bc_output_meta(output, "long", "%s", value);
    assert_true(bc_output_close(output));
    assert_int_equal(strlen(contents(f)), 5000 + strlen("# long: \n"));
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void check_real(double value, const char *expected)
{
    struct bc_row row;
    bc_row_clear(&row, &table);
    bc_row_real(&row, "time_us", value);
    assert_string_equal(row.cells[2], expected);
}

static void real_cells(void **state)
{
    (void)state;
    check_real(0.0, "0.000");
    check_real(-0.0, "0.000");
    check_real(-0.0004, "0.000");
    check_real(-0.0006, "-0.001");
    check_real(-10.0, "-10.000");
    check_real(0.0005001, "0.001");
    check_real(123456789012.5, "123456789012.500");
    check_real(1e14, "100000000000000.000");
    check_real(1e300, "1.000e+300");
    check_real(-1e300, "-1.000e+300");
    check_real(NAN, "NA");
    check_real(INFINITY, "NA");
    check_real(-INFINITY, "NA");
}

static void decimals_are_the_columns(void **state)
{
    (void)state;
    static const struct bc_column own[] = {{"a", BC_INFO, 0}, {"b", BC_INFO, 6}};
    static const struct bc_table own_table = {own, 2};
    struct bc_row row;
    bc_row_clear(&row, &own_table);
    bc_row_real(&row, "a", 2.6);
    bc_row_real(&row, "b", 2.6);
    assert_string_equal(row.cells[0], "3");
    assert_string_equal(row.cells[1], "2.600000");
}

static void integer_cells(void **state)
{
    (void)state;
    struct bc_row row;
    bc_row_clear(&row, &table);
    bc_row_integer(&row, "size_bytes", INT64_MIN);
    assert_string_equal(row.cells[1], "-9223372036854775808");
    bc_row_integer(&row, "size_bytes", INT64_MAX);
    assert_string_equal(row.cells[1], "9223372036854775807");
}

static void text_cells_cannot_break_the_table(void **state)
{
    struct fixture *const f = *state;
    struct bc_output *const output = open_tsv(f);
    struct bc_row row;
    char everything[256], longest[300];
    for (int i = 1; i < 256; i++)
        everything[i - 1] = (char)i;
    everything[255] = '\0';
    memset(longest, 'y', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    bc_row_clear(&row, &table);
    bc_row_text(&row, "name", "a\tb#c\nd\re");
    assert_string_equal(row.cells[0], "a_b_c_d_e");
    /* Other languages' letters stay. */
    bc_row_text(&row, "name", "M\xc3\xbcnchen");
    assert_string_equal(row.cells[0], "M\xc3\xbcnchen");
    for (int start = 0; start < 255; start += 50) {
        bc_row_text(&row, "name", everything + start);
        bc_row_text(&row, "status", longest);
        assert_int_equal(strlen(row.cells[3]), BC_CELL_LENGTH - 1);
        bc_output_row(output, &row);
    }
    assert_true(bc_output_close(output));
    /* Six lines of four cells each. */
    int lines = 0, tabs = 0;
    for (const char *c = contents(f); *c != '\0'; c++) {
        lines += *c == '\n';
        tabs += *c == '\t';
        assert_true(*c != '#' && *c != '\r');
    }
    assert_int_equal(lines, 6);
    assert_int_equal(tabs, 18);
}

static void row_is_cleared(void **state)
{
    (void)state;
    struct bc_row row;
    fill(&row);
    bc_row_clear(&row, &table);
    for (size_t i = 0; i < table.count; i++)
        assert_string_equal(row.cells[i], "NA");
}

static void widest_table_fits(void **state)
{
    struct fixture *const f = *state;
    static struct bc_column many[BC_COLUMNS_MAX];
    static char names[BC_COLUMNS_MAX][16];
    for (int i = 0; i < BC_COLUMNS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "c%d", i);
        many[i] = (struct bc_column){names[i], BC_INFO, 0};
    }
    const struct bc_table wide = {many, BC_COLUMNS_MAX};
    struct bc_output *const output = bc_output_open(f->path, &tsv_rows, &wide);
    static struct bc_row row;
    bc_row_clear(&row, &wide);
    for (int i = 0; i < BC_COLUMNS_MAX; i++)
        bc_row_integer(&row, names[i], i);
    bc_output_row(output, &row);
    assert_true(bc_output_close(output));
    const char *cell = contents(f);
    for (int i = 0; i < BC_COLUMNS_MAX; i++) {
        char *end;
        assert_int_equal(strtol(cell, &end, 10), i);
        assert_true(*end == (i + 1 < BC_COLUMNS_MAX ? '\t' : '\n'));
        cell = end + 1;
    }
}

/* ---- the table format ------------------------------------------------------------------------ */

/* Where each word of a line ends. */
static size_t word_ends(const char *line, size_t *ends)
{
    size_t count = 0;
    for (size_t i = 0; line[i] != '\0' && line[i] != '\n'; i++) {
        const char after = line[i + 1];
        if (line[i] != ' ' && (after == ' ' || after == '\n'))
            ends[count++] = i;
    }
    return count;
}

static void table_format_is_aligned(void **state)
{
    struct fixture *const f = *state;
    static const struct bc_style aligned = {BC_FORMAT_TABLE, BC_WITH_METADATA, "bench"};
    struct bc_output *const output = bc_output_open(f->path, &aligned, &table);
    struct bc_row row;
    bc_output_header(output);
    bc_row_clear(&row, &table);
    bc_row_text(&row, "name", "ibcast");
    bc_row_integer(&row, "size_bytes", 8);
    bc_row_real(&row, "time_us", 1.5);
    bc_row_text(&row, "status", "ok");
    bc_output_row(output, &row);
    bc_row_integer(&row, "size_bytes", 1048576);
    bc_row_real(&row, "time_us", 12345.678);
    bc_output_row(output, &row);
    bc_row_clear(&row, &table);
    bc_output_row(output, &row);
    assert_true(bc_output_close(output));
    assert_null(strchr(contents(f), '\t'));
    size_t header[64], cells[64];
    const char *line = strchr(f->text, '\n') + 1; /* after # columns */
    assert_int_equal(word_ends(line, header), 4);
    for (int i = 0; i < 3; i++) {
        line = strchr(line, '\n') + 1;
        assert_int_equal(word_ends(line, cells), 4);
        for (int column = 0; column < 4; column++)
            assert_int_equal(cells[column], header[column]);
    }
}

static void table_keeps_cells_apart(void **state)
{
    struct fixture *const f = *state;
    static const struct bc_style aligned = {BC_FORMAT_TABLE, BC_ROWS_ONLY, "bench"};
    struct bc_output *const output = bc_output_open(f->path, &aligned, &table);
    struct bc_row row;
    fill(&row);
    bc_row_text(&row, "name", "a_name_much_longer_than_its_column");
    bc_output_row(output, &row);
    assert_true(bc_output_close(output));
    size_t ends[64];
    assert_int_equal(word_ends(contents(f), ends), 4);
}

/* ---- locale ---------------------------------------------------------------------------------- */

/* A locale with a decimal comma; made by the build where localedef can. */
static bool choose_decimal_comma(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8",
                                        "fr_FR.utf8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) != NULL)
            return true;
    return false;
}

static void decimal_points_in_any_locale(void **state)
{
    struct fixture *const f = *state;
    if (!choose_decimal_comma())
        skip();
    /* Something that MPI loads may have called setlocale. */
    struct bc_output *const output = open_tsv(f);
    struct bc_row row;
    fill(&row);
    bc_output_meta(output, "clock_cost_ns", "%.1f", 20.5);
    bc_output_row(output, &row);
    const bool good = bc_output_close(output);
    setlocale(LC_ALL, "C");
    assert_true(good);
    assert_string_equal(contents(f), "# clock_cost_ns: 20.5\n"
                                     "iallreduce\t1048576\t12.346\tok\n");
}

/* A stream that somebody else has open: the result begins where it is, and both
   the stream and the locale stay as they are. */
static void attached_output_changes_nothing_else(void **state)
{
    struct fixture *const f = *state;
    const bool comma = choose_decimal_comma();
    FILE *const stream = fopen(f->path, "w");
    assert_non_null(stream);
    fputs("before\n", stream);
    struct bc_output *const output = bc_output_attach(stream, &tsv, &table);
    struct bc_row row;
    fill(&row);
    bc_output_row(output, &row);
    const bool good = bc_output_close(output);
    fprintf(stream, "%.1f\n", 0.5);
    const bool open = fclose(stream) == 0;
    setlocale(LC_ALL, "C");
    assert_true(good);
    assert_true(open);
    assert_string_equal(contents(f), comma ? "before\niallreduce\t1048576\t12,346\tok\n0,5\n"
                                           : "before\niallreduce\t1048576\t12.346\tok\n0.5\n");
}

/* The environment alone must not change a program that never asks for it. */
static void decimal_points_in_any_environment(void **state)
{
    struct fixture *const f = *state;
    assert_int_equal(setenv("LC_ALL", "de_DE.UTF-8", 1), 0);
    struct bc_output *const output = open_tsv(f);
    struct bc_row row;
    fill(&row);
    bc_output_row(output, &row);
    assert_true(bc_output_close(output));
    unsetenv("LC_ALL");
    assert_string_equal(contents(f), "iallreduce\t1048576\t12.346\tok\n");
}

/* ---- stdout, errors, nothing ----------------------------------------------------------------- */

static void null_path_is_stdout(void **state)
{
    struct fixture *const f = *state;
    const int saved = divert(stdout, f->path);
    struct bc_output *const output = bc_output_open(NULL, &tsv, &table);
    bc_output_header(output);
    const bool good = bc_output_close(output);
    /* stdout is still open for others. */
    printf("after\n");
    restore(stdout, saved);
    assert_true(good);
    assert_string_equal(contents(f), COLUMNS "name\tsize_bytes\ttime_us\tstatus\nafter\n");
}

/* The last line of a complete result. */
static void end_is_marked(void **state)
{
    struct fixture *const f = *state;
    struct bc_row row;
    fill(&row);
    struct bc_output *output = open_tsv(f);
    bc_output_row(output, &row);
    bc_output_remark(output, "note", "no row");
    bc_output_row(output, &row);
    bc_output_end(output, 1);
    assert_true(bc_output_close(output));
    const char *const end = strstr(contents(f), "# end: 2 rows, exit 1\n");
    assert_non_null(end);
    assert_string_equal(strchr(end, '\n'), "\n");

    output = open_tsv(f);
    bc_output_row(output, &row);
    bc_output_end(output, 0);
    assert_true(bc_output_close(output));
    assert_non_null(strstr(contents(f), "\n# end: 1 row, exit 0\n"));

    /* What was lost is not complete, even if there is space again. */
    FILE *const stream = fopen(f->path, "w");
    const int file = dup(fileno(stream)), full = open("/dev/full", O_WRONLY);
    output = bc_output_attach(stream, &tsv, &table);
    assert_true(dup2(full, fileno(stream)) >= 0);
    bc_output_row(output, &row);
    assert_true(dup2(file, fileno(stream)) >= 0);
    bc_output_end(output, 0);
    errno = 0;
    assert_false(bc_output_close(output));
    assert_int_equal(errno, ENOSPC);
    fclose(stream);
    close(file);
    close(full);
    assert_null(strstr(contents(f), "# end"));
    bc_output_end(NULL, 0);
}

/* A file that was removed takes all that is written. */
static void removed_file_is_noticed(void **state)
{
    struct fixture *const f = *state;
    struct bc_row row;
    fill(&row);
    struct bc_output *const output = open_tsv(f);
    bc_output_row(output, &row);
    assert_true(bc_output_good(output));
    assert_int_equal(unlink(f->path), 0);
    bc_output_row(output, &row);
    assert_false(bc_output_good(output));
    bc_output_end(output, 0);
    errno = 0;
    assert_false(bc_output_close(output));
    assert_int_equal(errno, ENOENT);
    /* For the tear-down. */
    fclose(fopen(f->path, "w"));
}

static void lost_output_is_noticed(void **state)
{
    (void)state;
    struct bc_row row;
    fill(&row);
    struct bc_output *output = bc_output_open("/dev/full", &tsv, &table);
    assert_non_null(output);
    assert_true(bc_output_good(output));
    bc_output_row(output, &row);
    assert_false(bc_output_good(output));
    /* It stays so, whatever comes later. */
    bc_output_remark(output, "note", "more");
    assert_false(bc_output_good(output));
    assert_false(bc_output_close(output));

    /* The header row and remarks count as well. */
    output = bc_output_open("/dev/full", &tsv, &table);
    bc_output_header(output);
    assert_false(bc_output_good(output));
    assert_false(bc_output_close(output));
    output = bc_output_open("/dev/full", &tsv, &table);
    bc_output_remark(output, "note", "lost");
    assert_false(bc_output_good(output));
    assert_false(bc_output_close(output));

    /* What is only in the buffer is lost on closing. */
    output = bc_output_open("/dev/full", &tsv, &table);
    bc_output_meta(output, "key", "value");
    assert_false(bc_output_close(output));

    /* A buffer that overflowed is lost although the last flush had nothing to
       write. */
    output = bc_output_open("/dev/full", &tsv, &table);
    for (int i = 0; i < 10000; i++)
        bc_output_meta(output, "key", "value %d", i);
    assert_false(bc_output_close(output));
}

static void lost_stdout_is_noticed(void **state)
{
    (void)state;
    struct bc_row row;
    fill(&row);
    const int saved = divert(stdout, "/dev/full");
    struct bc_output *const output = bc_output_open(NULL, &tsv, &table);
    bc_output_row(output, &row);
    const bool good = bc_output_good(output);
    const bool closed_good = bc_output_close(output);
    restore(stdout, saved);
    assert_false(good);
    assert_false(closed_good);
}

static void lost_output_of_another_is_noticed(void **state)
{
    (void)state;
    FILE *const full = fopen("/dev/full", "w");
    assert_non_null(full);
    struct bc_output *const output = bc_output_attach(full, &tsv, &table);
    bc_output_header(output);
    const bool good = bc_output_good(output);
    const bool closed_good = bc_output_close(output);
    fclose(full);
    assert_false(good);
    assert_false(closed_good);
}

/* What did not fit into the buffer was lost, although the file takes everything
   again by the time of the first flush. */
static void output_lost_between_flushes_is_noticed(void **state)
{
    struct fixture *const f = *state;
    struct bc_row row;
    fill(&row);
    const int saved = divert(stdout, "/dev/full");
    struct bc_output *const output = bc_output_open(NULL, &tsv, &table);
    for (int i = 0; i < 10000; i++)
        bc_output_meta(output, "key", "value %d", i);
    const int file = open(f->path, O_WRONLY);
    dup2(file, STDOUT_FILENO);
    close(file);
    bc_output_row(output, &row);
    const bool good = bc_output_good(output);
    const bool closed_good = bc_output_close(output);
    restore(stdout, saved);
    assert_false(good);
    assert_false(closed_good);
}

static void paths_that_cannot_be_written(void **state)
{
    (void)state;
    errno = 0;
    assert_null(bc_output_open("/nonexistent/folder/file", &tsv, &table));
    assert_int_equal(errno, ENOENT);
    errno = 0;
    assert_null(bc_output_open("/tmp", &tsv, &table));
    assert_int_equal(errno, EISDIR);
    errno = 0;
    assert_null(bc_output_open("", &tsv, &table));
    assert_int_equal(errno, ENOENT);
}

static void no_output_does_nothing(void **state)
{
    struct fixture *const f = *state;
    struct bc_row row;
    fill(&row);
    const int saved = divert(stdout, f->path);
    bc_output_meta(NULL, "key", "%d", 1);
    bc_output_header(NULL);
    bc_output_row(NULL, &row);
    bc_output_remark(NULL, "note", "%d", 1);
    const bool good = bc_output_good(NULL);
    const bool closed_good = bc_output_close(NULL);
    restore(stdout, saved);
    assert_true(good);
    assert_true(closed_good);
    assert_string_equal(contents(f), "");
}

#define OUTPUT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OUTPUT_TEST(result_is_as_the_contract_says),
        OUTPUT_TEST(without_metadata_remarks_go_to_stderr),
        OUTPUT_TEST(lost_remarks_lose_no_result),
        OUTPUT_TEST(each_line_is_on_disk_at_once),
        OUTPUT_TEST(an_earlier_result_is_replaced),
        OUTPUT_TEST(long_values_are_whole),
        OUTPUT_TEST(real_cells),
        OUTPUT_TEST(decimals_are_the_columns),
        OUTPUT_TEST(integer_cells),
        OUTPUT_TEST(text_cells_cannot_break_the_table),
        OUTPUT_TEST(row_is_cleared),
        OUTPUT_TEST(widest_table_fits),
        OUTPUT_TEST(table_format_is_aligned),
        OUTPUT_TEST(table_keeps_cells_apart),
        OUTPUT_TEST(decimal_points_in_any_locale),
        OUTPUT_TEST(attached_output_changes_nothing_else),
        OUTPUT_TEST(decimal_points_in_any_environment),
        OUTPUT_TEST(null_path_is_stdout),
        OUTPUT_TEST(end_is_marked),
        OUTPUT_TEST(removed_file_is_noticed),
        OUTPUT_TEST(lost_output_is_noticed),
        OUTPUT_TEST(lost_stdout_is_noticed),
        OUTPUT_TEST(lost_output_of_another_is_noticed),
        OUTPUT_TEST(output_lost_between_flushes_is_noticed),
        OUTPUT_TEST(paths_that_cannot_be_written),
        OUTPUT_TEST(no_output_does_nothing),
    };
    return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
