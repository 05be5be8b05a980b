/*
 * The life of a benchmark, with one that is made up: which command lines the frame takes, which
 * rows it measures, how long they may take, and how the program ends. Rows are visited once here;
 * test_visits.c is about visits. For any number of ranks.
 */
#include "command_line.h"
#include "ranks.h"
#include "streams.h"

#include "common/clock/clock.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the benchmark --------------------------------------------------------------------------- */

struct state {
    int64_t rows;      /* the number of rows */
    int64_t wrong;     /* the row whose data is wrong, counted from 1; 0: none */
    int64_t signalled; /* the row during which SIGTERM comes */
    struct bc_run *run;
};

struct result {
    int64_t number;
    const char *note;
    enum bc_status status;
};

static const struct state defaults = {.rows = 3};

#define AT(member) offsetof(struct state, member)
static const struct bc_option options[] = {
    {"rows", BC_SIZE, AT(rows), .argument = "N", .max = 1e6, .help = ""},
    {"wrong", BC_SIZE, AT(wrong), .argument = "N", .max = 9, .help = ""},
    {"signalled", BC_SIZE, AT(signalled), .argument = "N", .max = 9, .help = ""},
};

static const struct bc_column columns[] = {
    BC_COLUMN("number", BC_KEY, 0, result, number),
    BC_COLUMN("note", BC_INFO, 0, result, note),
    BC_COLUMN("status", BC_INFO, 0, result, status),
};

/* What the frame called. */
static struct {
    int opened, closed;
    int64_t measured;    /* rows, or visits */
    double seconds[400]; /* that the first rows may take */
} seen;

/* The run has taken 10 s of its budget when it comes to the rows. */
static void open_fake(void *state, struct bc_run *run)
{
    struct state *const s = state;
    s->run = run;
    run->start_s = bc_elapsed_s() - 10.0;
    seen.opened++;
}

static void list_rows(void *state, struct bc_rows *rows)
{
    for (int64_t number = 1; number <= ((struct state *)state)->rows; number++)
        bc_rows_add(rows, &number);
}

/* What a row remembers. */
struct row {
    const char *note;
    enum bc_status status;
};

/* Leaves the note of odd rows as it is. */
static void visit(void *state, const void *key, double seconds, void *memory)
{
    const struct state *const s = state;
    const int64_t number = *(const int64_t *)key;
    struct row *const row = memory;
    if (seen.measured < (int64_t)COUNT(seen.seconds))
        seen.seconds[seen.measured] = seconds;
    seen.measured++;
    if (number == s->signalled)
        raise(SIGTERM);
    if (number % 2 == 0)
        row->note = "even";
    if (number == s->wrong)
        row->status = BC_FAIL;
}

static bool is_precise(const void *state, const void *key, const void *row) { return true; }

/* Leaves the note of rows as it is that have none. */
static void conclude(void *state, const void *key, void *memory, void *filled)
{
    const struct row *const row = memory;
    struct result *const result = filled;
    result->number = *(const int64_t *)key;
    if (row->note != NULL)
        result->note = row->note;
    if (row->status != BC_OK)
        result->status = row->status;
}

static void close_fake(void *state) { seen.closed++; }

static const struct bc_benchmark fake = {
    .name = "fake",
    .summary = "Measures nothing.",
    .options = {options, COUNT(options), &defaults, sizeof defaults},
    .table = {columns, COUNT(columns)},
    .budget_s = 50.0,
    .usage_option = 'u',
    .bytes = {sizeof(struct state), sizeof(int64_t), sizeof(struct result), sizeof(struct row)},
    .open = open_fake,
    .rows = list_rows,
    .visit = visit,
    .is_precise = is_precise,
    .conclude = conclude,
    .close = close_fake,
};

/* ---- running it ------------------------------------------------------------------------------ */

/* All runs of the test are in one MPI, which they neither begin nor end. */
static bool running;

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return PMPI_Query_thread(provided);
}

int MPI_Finalize(void) { return running ? MPI_SUCCESS : PMPI_Finalize(); }

/* What the last run wrote on this rank. */
static char output[16384], errors[4096];

/* Visits rows once, unless the words say otherwise. Returns the exit status. Collective. */
static int run_with(const struct bc_benchmark *benchmark, const char *const *words)
{
    const char *all[WORDS_MAX] = {"--visits=1"};
    char *argv[WORDS_MAX], output_path[TEMPORARY_PATH_MAX], errors_path[TEMPORARY_PATH_MAX];
    for (size_t i = 0; words[i] != NULL; i++)
        all[i + 1] = words[i];
    const int argc = make_arguments(argv, all);
    memset(&seen, 0, sizeof seen);
    make_temporary(output_path);
    make_temporary(errors_path);
    const int saved_output = divert(stdout, output_path);
    const int saved_errors = divert(stderr, errors_path);
    running = true;
    const int status = bc_benchmark_main(benchmark, argc, argv);
    running = false;
    restore(stdout, saved_output);
    restore(stderr, saved_errors);
    read_text(output_path, output, sizeof output);
    read_text(errors_path, errors, sizeof errors);
    unlink(output_path);
    unlink(errors_path);
    return status;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* More rows than the list has room for at first. Each begins without the values of the row before
   it, and rank 0 writes it. */
TEST(rows_are_measured_in_order)
{
    const int status = run_with(&fake, WORDS("--rows=100", "--no-metadata"));
    char expected[4096];
    size_t used = (size_t)snprintf(expected, sizeof expected, "number\tnote\tstatus\n");
    for (int i = 1; i <= 100; i++)
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%d\t%s\tok\n", i,
                                 i % 2 == 0 ? "even" : "NA");
    assert_int_equal(status, BC_EXIT_DONE);
    assert_int_equal(seen.opened, 1);
    assert_int_equal(seen.measured, 100);
    assert_int_equal(seen.closed, 1);
    assert_string_equal(output, rank == 0 ? expected : "");
}

TEST(no_rows)
{
    struct bc_benchmark bare = fake;
    bare.rows = NULL;
    bare.close = NULL;
    const int empty = run_with(&fake, WORDS("--rows=0"));
    const bool empty_ends = ends_with(output, "\n# end: 0 rows, exit 0\n");
    const int none = run_with(&bare, WORDS(NULL));
    const bool none_ends = ends_with(output, "\n# end: 0 rows, exit 0\n");
    assert_int_equal(empty, BC_EXIT_DONE);
    assert_int_equal(none, BC_EXIT_DONE);
    assert_int_equal(seen.measured, 0);
    assert_int_equal(empty_ends, rank == 0);
    assert_int_equal(none_ends, rank == 0);
}

/* The rows after it are measured, too. */
TEST(wrong_data_fails_the_run)
{
    const int status = run_with(&fake, WORDS("--wrong=2"));
    assert_int_equal(status, BC_EXIT_FAILED);
    assert_int_equal(seen.measured, 3);
    assert_int_equal(strstr(output, "\n2\teven\tFAIL\n") != NULL, rank == 0);
    assert_int_equal(ends_with(output, "# end: 3 rows, exit 1\n"), rank == 0);
}

static struct bc_table choose_numbers(const void *state) { return (struct bc_table){columns, 1}; }

TEST(columns_may_depend_on_options)
{
    struct bc_benchmark narrow = fake;
    narrow.choose_table = choose_numbers;
    const int status = run_with(&narrow, WORDS("--wrong=1", "--no-metadata"));
    /* A table without a status has no row that failed. */
    assert_int_equal(status, BC_EXIT_DONE);
    assert_string_equal(output, rank == 0 ? "number\n1\n2\n3\n" : "");
}

/* ---- their time ------------------------------------------------------------------------------ */

/* The seconds that the first of the rows may take; on rank 0. */
static double first_seconds(const struct bc_benchmark *benchmark, const char *const *words)
{
    run_with(benchmark, words);
    return seen.seconds[0];
}

TEST(budget_is_shared)
{
    struct bc_benchmark late = fake;
    late.budget_s = 5.0;
    run_with(&late, WORDS("--rows=400"));
    const double late_s[] = {seen.seconds[0], seen.seconds[399]};
    run_with(&fake, WORDS("--rows=400"));
    if (rank != 0)
        return;
    assert_near(seen.seconds[0], 0.1, 0.01);
    assert_near(seen.seconds[400 - 80], 0.5, 0.05);
    assert_near(seen.seconds[400 - 2], 1.0, 0.0);
    assert_near(late_s[0], 0.0, 0.0);
    assert_near(late_s[1], 0.0, 0.0);
}

/* Output that is lost ends a run after its row. */
TEST(no_budget)
{
    struct bc_benchmark endless = fake;
    endless.budget_s = INFINITY;
    const double one_s = first_seconds(&endless, WORDS("--rows=1"));
    const int status =
        run_with(&endless, WORDS("--rows=1000000", "--no-header", "--output=/dev/full"));
    assert_int_equal(status, BC_EXIT_FAILED);
    assert_int_equal(seen.measured, 1);
    assert_int_equal(seen.closed, 1);
    if (rank != 0)
        return;
    assert_near(one_s, 1.0, 0.0);
    assert_near(seen.seconds[0], 1.0, 0.0);
    assert_non_null(strstr(errors, "fake: output was lost: cannot write /dev/full: "));
}

static bool count_samples(void *state, struct bc_run *run, struct bc_error *error)
{
    run->counted = true;
    return true;
}

static int two_shares(const void *state) { return 2; }

/* A time for a row, or a number of samples, is asked for in any budget. */
TEST(given_beats_budget)
{
    struct bc_benchmark counted = fake, double_rows = fake;
    counted.fit = count_samples;
    double_rows.shares = two_shares;
    const struct {
        const struct bc_benchmark *benchmark;
        const char *words[2];
        double seconds;
    } cases[] = {{&fake, {"--max-time=3"}, 3.0},
                 {&fake, {"--samples=5"}, INFINITY},
                 {&fake, {"--samples=5", "--max-time=1"}, 1.0},
                 {&counted, {NULL}, INFINITY},
                 {&counted, {"--max-time=1"}, 1.0},
                 {&double_rows, {"--max-time=3"}, 6.0}};
    double found_s[COUNT(cases)];
    for (size_t i = 0; i < COUNT(cases); i++)
        found_s[i] = first_seconds(cases[i].benchmark,
                                   WORDS("--rows=400", cases[i].words[0], cases[i].words[1]));
    for (size_t i = 0; i < COUNT(cases) && rank == 0; i++)
        assert_near(found_s[i], cases[i].seconds, 0.0);
}

/* The time of a row is that of all its visits. */
TEST(visits_share_the_time)
{
    struct bc_benchmark uneven = fake;
    uneven.first_share = 0.4;
    const double one_s = first_seconds(&fake, WORDS("--max-time=0.03", "--visits=4"));
    const int64_t visited = seen.measured;
    const double first_s = first_seconds(&uneven, WORDS("--max-time=0.03", "--visits=4"));
    assert_int_equal(visited, 4 * 3);
    if (rank != 0)
        return;
    assert_near(one_s, 0.03 / 4.0, 0.0);
    assert_near(first_s, 0.012, 1e-15);
}

/* ---- command lines --------------------------------------------------------------------------- */

/* Counts that a specification asks for, or its mean, are taken at once; --samples are divided. */
TEST(visits_of_a_row)
{
    static const struct {
        const char *words[3];
        int visits;
        bool counted;
    } cases[] = {
        {{NULL}, BC_VISITS, false},
        {{"--samples=100"}, BC_VISITS, false},
        {{"--samples=30"}, BC_VISITS, false},
        {{"--samples=29"}, 5, false},
        {{"--samples=4"}, 1, false},
        {{"--samples=14", "--visits=9"}, 9, false},
        {{"--samples=4", "--visits=9"}, 4, false},
        {{"--visits=9"}, 9, false},
        {{"--estimator=mean"}, 1, false},
        {{"--estimator=mean", "--visits=9"}, 9, false},
        {{NULL}, 1, true},
        {{"--visits=9"}, 9, true},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct bc_benchmark benchmark = fake;
        struct bc_run run;
        struct bc_error error;
        benchmark.fit = cases[i].counted ? count_samples : NULL;
        assert_true(accept_words(&run, &benchmark, 1, cases[i].words, &error));
        assert_int_equal(run.settings.visits, cases[i].visits);
        bc_run_release(&run);
    }
}

static bool fit_two_rows(void *state, struct bc_run *run, struct bc_error *error)
{
    struct state *const s = state;
    if (!bc_option_given(&run->options, "rows"))
        s->rows = 2;
    return s->rows <= 5 || bc_error_set(error, "--rows: too many: use at most 5");
}

static bool refuse_seven(void *state, struct bc_error *error)
{
    return ((struct state *)state)->rows != 7 || bc_error_set(error, "--rows: use no 7");
}

/* All ranks get the values that rank 0 has fitted to the job. */
TEST(values_are_fitted_to_the_job)
{
    struct bc_benchmark small = fake;
    small.fit = fit_two_rows;
    const int status = run_with(&small, WORDS(NULL));
    const int64_t lowered = seen.measured;
    const bool said = strstr(output, "\n# rows: 2\n") != NULL;
    run_with(&small, WORDS("--rows=5"));
    assert_int_equal(status, BC_EXIT_DONE);
    assert_int_equal(lowered, 2);
    assert_int_equal(said, rank == 0);
    assert_int_equal(seen.measured, 5);
}

/* Rank 0 says what is wrong; all ranks end with the same status, and nothing is measured. */
TEST(wrong_usage_ends_all_ranks)
{
    struct bc_benchmark picky = fake;
    picky.fit = fit_two_rows;
    picky.complete = refuse_seven;
    static const struct {
        const char *word, *said;
    } cases[] = {
        {"--rows=6", "fake: --rows: too many: use at most 5\n"},
        {"--rows=7", "fake: --rows: use no 7\n"},
        {"--nonsense", "fake: --nonsense: no such option"},
        {"--min-samples=20000", "fake: --min-samples: 20000 is more than --max-samples, 10000"},
        {"--output=/nonexistent/file", "fake: --output: cannot write '/nonexistent/file'"},
    };
    int refused = 0, opened = 0, written = 0, said = 0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        refused += run_with(&picky, WORDS(cases[i].word)) == BC_EXIT_USAGE;
        opened += seen.opened;
        written += output[0] != '\0';
        said += strstr(errors, cases[i].said) != NULL;
    }
    assert_int_equal(refused, COUNT(cases));
    assert_int_equal(opened, 0);
    assert_int_equal(written, 0);
    assert_int_equal(said, rank == 0 ? COUNT(cases) : 0);
}

static bool is_help(const char *text)
{
    static const char begin[] = "Usage: mpirun -np RANKS fake [OPTION]...\n\n"
                                "Measures nothing.\n\nOptions:\n";
    return strncmp(text, begin, strlen(begin)) == 0 && strstr(text, "--rows=N\n") != NULL &&
           strstr(text, "default: 3\n") != NULL && strstr(text, "--max-time=SECONDS\n") != NULL;
}

/* Before MPI_Init where the option is written in full, after it where it is abbreviated. The help
   has the defaults, whatever was given. */
TEST(help_and_version)
{
    static const char *const asking[] = {"--help", "-h", "-u", "--hel"};
    int done = 0, opened = 0, helped = 0;
    for (size_t i = 0; i < COUNT(asking); i++) {
        done += run_with(&fake, WORDS("--rows=9", asking[i])) == BC_EXIT_DONE;
        opened += seen.opened;
        helped += is_help(output);
    }
    const int status = run_with(&fake, WORDS("--version"));
    assert_int_equal(done, COUNT(asking));
    assert_int_equal(opened, 0);
    assert_int_equal(helped, rank == 0 ? COUNT(asking) : 0);
    assert_int_equal(status, BC_EXIT_DONE);
    assert_int_equal(strncmp(output, "fake (commcost) ", 16) == 0, rank == 0);
}

static void assert_error(const struct bc_benchmark *benchmark, const char *const *words,
                         const char *expected)
{
    struct bc_run run;
    struct bc_error error;
    assert_false(accept_words(&run, benchmark, 1, words, &error));
    assert_string_equal(error.text, expected);
    bc_run_release(&run);
}

/* --start was --sync once, which is an option of its own in some benchmarks. */
TEST(old_name_of_start)
{
    static const struct bc_option own_sync[] = {
        {"sync", BC_SIZE, AT(rows), .argument = "N", .max = 9},
    };
    struct bc_benchmark together = fake, own = fake;
    together.may_start_together = own.may_start_together = true;
    own.options.rows = own_sync;
    own.options.count = COUNT(own_sync);

    assert_error(&together, WORDS("--sync=window"), "--sync: no such option: use --start=window");
    assert_error(&together, WORDS("--rows=2", "--sync", "window"),
                 "--sync: no such option: use --start=barrier or --start=window");
#define GENERAL ": no such option (or several that start so): see --help"
    assert_error(&together, WORDS("--syncs=1"), "--syncs" GENERAL);
    assert_error(&fake, WORDS("--sync=window"), "--sync" GENERAL);
    assert_error(&fake, WORDS("--start=window"), "--start" GENERAL);

    struct bc_run run;
    struct bc_error error;
    assert_true(accept_words(&run, &together, 1, WORDS("--start=window"), &error));
    assert_int_equal(run.settings.start, BC_START_WINDOW);
    bc_run_release(&run);
    assert_true(accept_words(&run, &own, 1, WORDS("--sync=4", "--start=barrier"), &error));
    assert_int_equal(((struct state *)run.state)->rows, 4);
    assert_int_equal(run.settings.start, BC_START_BARRIER);
    bc_run_release(&run);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The row in hand is written. The last test: the signal stays noted in this process. */
TEST(signals_end_the_run)
{
    const int status = run_with(&fake, WORDS("--rows=5", "--signalled=2"));
    assert_int_equal(status, BC_EXIT_FAILED);
    assert_int_equal(seen.measured, 2);
    assert_int_equal(seen.closed, 1);
    assert_int_equal(strstr(output, "\n2\teven\tok\n# warning: interrupted by SIGTERM\n") != NULL,
                     rank == 0);
    assert_int_equal(ends_with(output, "\n# end: 2 rows, exit 1\n"), rank == 0);
}

const struct test_program test_program = {.mpi = true};
