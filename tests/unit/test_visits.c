/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order and time of visits, which a made-up benchmark notes in virtual time.
 */
#include "command_line.h"
#include "ranks.h"
#include "streams.h"

#include "common/clock/clock.h"
#include "common/clock/source.h"
#include "common/run/internal.h"
#include "common/measure/plan.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the benchmark --------------------------------------------------------------------------- */

enum { VISITS_MAX = 1000, ROWS_MAX = 100, NEVER = 1000 };

/* Its behaviour in a run. */
static struct script {
    int rows;
    int precise_after; /* visits; NEVER */
    int unprecise_row; /* the number of one that never is; 0: none */
    double sleeps_s;   /* in visit number sleeps_from of a row, counted from 0, and later ones */
    int sleeps_from;
    int budget_ends;     /* the visit, counted from 1, in which the budget ends; 0: none */
    int signalled;       /* the visit in which SIGTERM comes to the last rank; 0: none */
    bool follows;        /* each row has one further result */
    int shares;          /* of a row; 0: one */
    bool takes_its_time; /* a visit lasts as long as it may */
} script;

/* Its notes. */
static struct noted {
    int row;         /* counted from 1 */
    int visit;       /* run->visit */
    int renewed;     /* times that rows were renewed before */
    int64_t written; /* rows before */
    double seconds;  /* that it may take; on rank 0 */
    double at_s;     /* since the beginning */
    struct bc_plan plan;
} visits[VISITS_MAX];
static int visit_count, renew_count;
static double start_s;
static struct bc_run run;

struct row {
    int64_t number; /* counted from 1 */
    int visits;
    struct bc_samples samples; /* their number alone: the max of each plan */
};

struct result {
    int64_t number;
    int visits, presence;
    double lost_pct;
};

static const struct bc_column columns[] = {
    BC_COLUMN("number", BC_KEY, 0, result, number),
    BC_COLUMN("visits", BC_INFO, 0, result, visits),
    BC_COLUMN("presence", BC_INFO, 0, result, presence),
    BC_COLUMN("lost_pct", BC_INFO, 3, result, lost_pct),
};

static void measure(struct bc_visit *visit)
{
    struct row *const row = visit->row;
    const struct noted noted = {
        .row = (int)row->number,
        .visit = run.visit,
        .renewed = renew_count,
        .written = run.rows,
        .seconds = visit->seconds,
        .at_s = bc_elapsed_s() - start_s,
        .plan = bc_plan_of(&run, &row->samples, visit->seconds),
    };
    assert_int_equal(row->visits, run.visit);
    visits[visit_count++ % VISITS_MAX] = noted;
    row->visits++;
    row->samples.count += (size_t)noted.plan.max_rounds;
    visit->is_precise = row->number != script.unprecise_row && row->visits >= script.precise_after;
    if (run.visit >= script.sleeps_from)
        bc_sleep_ns((int64_t)(1e9 * script.sleeps_s));
    if (script.takes_its_time && rank == 0)
        bc_sleep_ns((int64_t)(1e9 * visit->seconds));
    if (visit_count == script.budget_ends)
        run.start_s -= 1e6;
    if (visit_count == script.signalled && rank == ranks - 1)
        raise(SIGTERM);
}

static void write_row(const struct row *row)
{
    struct result result = {row->number, row->visits, run.visited.visits, run.visited.lost_pct};
    bc_write_row(&run, &result);
    if (!script.follows)
        return;
    result = (struct result){.number = 1000 + row->number};
    bc_write_row(&run, &result);
}

static const struct bc_program fake = {
    .name = "fake",
    .summary = "Measures nothing.",
    .row_bytes = sizeof(struct row),
    .budget_s = INFINITY,
    .renews = true,
};

/* ---- running it ------------------------------------------------------------------------------ */

static char output[16384];        /* what was written, on rank 0 */
static double first_row_s, end_s; /* since start_s, when the first row was written, and all were */

/* `default_max_s` is --max-time where that isn't given; 0: its default. */
static void run_with(const struct bc_program *program, double default_max_s,
                     const char *const *words)
{
    struct bc_error error;
    char path[TEMPORARY_PATH_MAX];
    assert_true(accept_words(&run, program, ranks, words, &error));
    make_temporary(path);
    run.settings.output = path;
    run.settings.max_time_s = default_max_s > 0.0 ? default_max_s : run.settings.max_time_s;
    if (default_max_s > 0.0)
        run.own->span_s = fmin(BC_SPAN_S, default_max_s);
    run.visits = (int)run.settings.visits;
    run.job.rank = rank;
    run.job.shares_processors = true; /* no warnings of what else runs here */
    static const struct bc_table table = {.columns = columns, .count = COUNT(columns)};
    run.own->table = &table;
    run.row_shares = script.shares > 0 ? script.shares : 1;
    visit_count = renew_count = 0;
    assert_true(rank != 0 || bc_files_open(&run, &error));
    bc_contention_begin(&run.own->contention);
    run.start_s = start_s = bc_elapsed_s();
    for (int64_t number = 1; number <= script.rows; number++)
        ((struct row *)bc_add_row(&run))->number = number;
    for (struct bc_visit *visit; (visit = bc_next_visit(&run)) != NULL;) {
        renew_count += visit->step == BC_RENEW;
        if (visit->step == BC_MEASURE)
            measure(visit);
        if (visit->step == BC_WRITE && run.rows == 0)
            first_row_s = bc_elapsed_s() - start_s;
        if (visit->step == BC_WRITE)
            write_row(visit->row);
    }
    end_s = bc_elapsed_s() - start_s;
    bc_visits_free(&run);
    if (rank == 0)
        bc_files_close(&run, BC_EXIT_DONE);
    read_text(path, output, sizeof output);
    unlink(path);
    bc_run_release(&run);
}

/* The visits of a row. */
static int visits_of(int row)
{
    int count = 0;
    for (int i = 0; i < visit_count; i++)
        count += visits[i].row == row;
    return count;
}

/* Fails unless all ranks had the same visits, and rank 0, and no other rank, wrote rows 1 to
   `rows`, each with its number of visits. */
static void check_rows(int rows)
{
    int64_t hash = visit_count;
    int written = 0;
    for (int i = 0; i < visit_count; i++)
        hash = (hash * 31 + visits[i].row * 7 + visits[i].visit * 3 + visits[i].renewed) % 1000003;
    assert_true(same_everywhere(hash));
    for (char *line = strtok(output, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char expected[64];
        if (*line < '0' || *line > '9')
            continue;
        written++;
        snprintf(expected, sizeof expected, "%d\t%d\t%d\t0.000", written, visits_of(written),
                 visits_of(written));
        assert_string_equal(line, expected);
    }
    assert_int_equal(written, rank == 0 ? rows : 0);
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* More rows than the list has room for at first. */
TEST(rows_are_visited_in_turn)
{
    enum { ROWS = 80 };
    script.rows = ROWS;
    run_with(&fake, 0.0, WORDS("--max-time=0.02"));
    assert_int_equal(visit_count, BC_VISITS * ROWS);
    assert_int_equal(renew_count, BC_VISITS - 1);
    for (int turn = 0; turn < BC_VISITS; turn++) {
        const struct noted *const of_turn = visits + (ptrdiff_t)turn * ROWS;
        int seen[ROWS + 1] = {0}, in_list = 0, as_before = 0;
        for (int i = 0; i < ROWS; i++) {
            assert_int_equal(of_turn[i].visit, turn);
            assert_int_equal(of_turn[i].renewed, turn);
            assert_int_equal(of_turn[i].written, 0);
            seen[of_turn[i].row]++;
            in_list += of_turn[i].row == i + 1;
            as_before += turn > 0 && of_turn[i].row == of_turn[i - ROWS].row;
        }
        for (int row = 1; row <= ROWS; row++)
            assert_int_equal(seen[row], 1);
        assert_true(turn == 0 ? in_list == ROWS : in_list < ROWS / 2);
        assert_true(as_before < ROWS / 2);
    }
    check_rows(ROWS);
}

TEST(one_visit_is_written_at_once)
{
    script.rows = 5;
    run_with(&fake, 0.0, WORDS("--visits=1"));
    assert_int_equal(renew_count, 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(visits[i].row, i + 1);
        assert_int_equal(visits[i].written, i);
    }
    check_rows(5);
}

/* They stand behind their row, before the next one, and count as rows. */
TEST(further_results_follow_their_row)
{
    script.rows = 3;
    script.follows = true;
    run_with(&fake, 0.0, WORDS("--max-time=0.02"));
    assert_int_equal(run.rows, 2 * 3);
    const char *const rows = "\n1001\t0\t0\t0.000\n2\t6\t6\t0.000\n1002\t0\t0\t0.000\n3\t6\t6\t";
    assert_int_equal(strstr(output, rows) != NULL, rank == 0);
}

/* The visits of three rows would take a minute, which is when rows must be written; the row's time
   is up before. */
TEST(long_runs_are_written_in_groups)
{
    script.rows = 9;
    script.sleeps_s = 0.022;
    run_with(&fake, 0.0, WORDS("--visits=1000", "--max-time=0.04"));
    assert_int_equal(visits[1].written, 0);
    int64_t before_last = 0;
    for (int i = 0; i < visit_count; i++) {
        assert_true(visits[i].row > visits[i].written);
        if (visits[i].row == 9 && visits[i].visit == 0)
            before_last = visits[i].written;
    }
    assert_in_range(before_last, 6, 8);
    check_rows(9);
}

/* ---- samples --------------------------------------------------------------------------------- */

static bool count_samples(void *state, struct bc_run *counted, struct bc_error *error)
{
    counted->counted = true;
    return true;
}

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
        struct bc_program benchmark = fake;
        struct bc_error error;
        benchmark.fit = cases[i].counted ? count_samples : NULL;
        assert_true(accept_words(&run, &benchmark, 1, cases[i].words, &error));
        assert_int_equal(run.settings.visits, cases[i].visits);
        bc_run_release(&run);
    }
}

/* ---- how many -------------------------------------------------------------------------------- */

static const struct bc_program *with_budget(double budget_s)
{
    static struct bc_program limited;
    limited = fake;
    limited.budget_s = budget_s;
    return &limited;
}

TEST(rows_are_visited_until_precise)
{
    enum { PLANNED = BC_VISITS };
    static const struct {
        struct script script;
        const char *words[3];
        double default_max_s, budget_s;
        int expected; /* visits */
    } cases[] = {
        {{3, .precise_after = PLANNED + 2}, {"--max-time=0.02"}, 0, INFINITY, 3 * (PLANNED + 2)},
        /* A row that is precise early is visited as often as planned. */
        {{3, .precise_after = 2}, {"--max-time=0.02"}, 0, INFINITY, 3 * PLANNED},
        {{3, .precise_after = NEVER}, {"--max-time=0.02"}, 0, INFINITY, 3 * 2 * PLANNED},
        {{4, .unprecise_row = 3}, {"--max-time=0.02"}, 0, INFINITY, 5 * PLANNED},
        /* No more where their number, or that of the samples, was asked for. */
        {{3, .precise_after = NEVER}, {"--max-time=0.02", "--visits=4"}, 0, INFINITY, 3 * 4},
        {{3, .precise_after = NEVER},
         {"--max-time=0.02", "--samples=60"},
         0,
         INFINITY,
         3 * PLANNED},
        {{3, .precise_after = NEVER}, {"--max-time=0.02", "--visits=1"}, 0, INFINITY, 3},
        /* No visit is added for less than half of the time that the last one took: here a sixth of
           60 ms, which leaves enough of the row's time. */
        {{1, .precise_after = NEVER, .sleeps_s = 0.025, .sleeps_from = PLANNED - 1},
         {"--max-time=0.06"},
         0,
         INFINITY,
         PLANNED},
        /* Visits end with the row's time, planned ones and added ones. */
        {{2, .precise_after = NEVER, .sleeps_s = 0.021}, {"--max-time=0.06"}, 0, INFINITY, 2 * 3},
        {{2, .precise_after = NEVER, .sleeps_s = 0.006}, {"--max-time=0.06"}, 0, INFINITY, 2 * 10},
        /* A time that was asked for has no budget. */
        {{10, .precise_after = NEVER}, {"--max-time=0.02"}, 0, 0.0, 10 * 2 * PLANNED},
        /* The budget ends in a visit, or before the first: there are no more, but each row has one.
         */
        {{10, .precise_after = NEVER, .budget_ends = 25}, {NULL}, 0.02, 1e5, 25},
        {{10, .precise_after = NEVER, .budget_ends = 4}, {NULL}, 0.02, 1e5, 10},
        {{10, .precise_after = NEVER}, {NULL}, 0, 0.0, 10},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        script = cases[i].script;
        run_with(with_budget(cases[i].budget_s), cases[i].default_max_s, cases[i].words);
        if (visit_count != cases[i].expected)
            print_error("case %zu: %d visits, not %d\n", i, visit_count, cases[i].expected);
        assert_int_equal(visit_count, cases[i].expected);
        if (script.unprecise_row > 0) {
            assert_int_equal(visits_of(script.unprecise_row), 2 * PLANNED);
            /* Before each turn, also where one row alone is visited. */
            assert_int_equal(renew_count, 2 * PLANNED - 1);
        }
        /* Of those that come after the end of the budget. */
        for (int v = script.budget_ends; v < visit_count && cases[i].words[0] == NULL; v++)
            assert_true(rank != 0 || visits[v].seconds == 0.0);
        check_rows(script.rows);
    }
}

/* --samples is divided among visits, and none is lost. */
TEST(asked_samples_are_divided)
{
    script.rows = 1;
    for (int samples = 30; samples <= 100; samples += 7) {
        char word[32];
        int64_t taken = 0;
        snprintf(word, sizeof word, "--samples=%d", samples);
        run_with(&fake, 0.0, WORDS(word));
        assert_int_equal(visit_count, BC_VISITS);
        for (int i = 0; i < visit_count; i++) {
            const struct bc_plan *const plan = &visits[i].plan;
            taken += plan->max_rounds;
            assert_in_range(plan->max_rounds, samples / BC_VISITS, samples / BC_VISITS + 1);
            assert_int_equal(plan->min_rounds, plan->max_rounds);
            assert_true(rank != 0 || isinf(visits[i].seconds));
        }
        assert_int_equal(taken, samples);
    }
}

/* Later visits may take the rest of the max samples; added visits get what is left. */
TEST(limits_of_samples_are_divided)
{
    script.rows = 1;
    script.precise_after = NEVER;
    run_with(&fake, 0.0, WORDS("--max-time=0.02", "--min-samples=32", "--max-samples=1000"));
    int64_t taken = 0;
    assert_int_equal(visit_count, 2 * BC_VISITS);
    for (int i = 0; i < visit_count; i++) {
        taken += visits[i].plan.max_rounds;
        assert_in_range(visits[i].plan.max_rounds, i < BC_VISITS ? 166 : 0,
                        i < BC_VISITS ? 167 : 0);
        assert_int_equal(visits[i].plan.min_rounds, i < BC_VISITS ? 6 : 0);
    }
    assert_int_equal(taken, 1000);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* The time for the first visit: a row's by --max-time or its samples, whatever the budget is; or
   its share of the budget. */
TEST(time_for_the_first_visit)
{
    struct bc_program counted = *with_budget(40.0), uneven = counted, late = counted,
                      endless = counted;
    counted.fit = count_samples;
    uneven.first_share = 0.4;
    late.budget_s = -5.0;
    endless.budget_s = INFINITY;
    const struct {
        const struct bc_program *benchmark;
        int rows;
        const char *words[3];
        int shares;
        double seconds;
    } cases[] = {{&endless, 1, {"--visits=1"}, 1, 1.0},
                 {&fake, 400, {"--visits=1", "--max-time=3"}, 1, 3.0},
                 {&fake, 400, {"--visits=1", "--samples=5"}, 1, INFINITY},
                 {&fake, 400, {"--samples=5", "--max-time=1"}, 1, 1.0},
                 {&counted, 400, {NULL}, 1, INFINITY},
                 {&counted, 400, {"--visits=1", "--max-time=1"}, 1, 1.0},
                 {&counted, 4, {"--visits=1", "--max-time=3"}, 2, 6.0},
                 {&fake, 3, {"--max-time=0.03", "--visits=4"}, 1, 0.03 / 4.0},
                 {&uneven, 3, {"--max-time=0.03", "--visits=4"}, 1, 0.012},
                 {with_budget(40.0), 400, {"--visits=1"}, 1, 0.1},
                 {with_budget(40.0), 2, {"--visits=1"}, 1, 1.0},
                 {&late, 400, {"--visits=1"}, 1, 0.0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        script.rows = cases[i].rows;
        script.shares = cases[i].shares;
        run_with(cases[i].benchmark, 0.0, cases[i].words);
        if (rank == 0)
            assert_near(visits[0].seconds, cases[i].seconds, 1e-5);
    }
}

/* Visits that take no time leave it to those that follow; of those that do what they took comes off
   the row's 60 ms. None may take more than is left. */
TEST(visits_share_the_time_of_a_row)
{
    struct bc_program uneven = fake;
    uneven.first_share = 0.5;
    for (int is_uneven = 0; is_uneven <= 1; is_uneven++) {
        script.rows = 1;
        run_with(is_uneven ? &uneven : &fake, 0.0, WORDS("--max-time=0.06"));
        if (rank != 0)
            continue;
        assert_near(visits[0].seconds, is_uneven ? 0.03 : 0.01, 1e-12);
        assert_near(visits[1].seconds, 0.012, 0.0005);
        assert_near(visits[BC_VISITS - 1].seconds, 0.06, 0.005);
    }
    script.precise_after = NEVER;
    script.sleeps_s = 0.005;
    run_with(&fake, 0.0, WORDS("--max-time=0.06"));
    for (int i = 0; i < visit_count && rank == 0; i++)
        assert_in_range((uintmax_t)(1e6 * visits[i].seconds), 0, 60000 - 5000 * i);
}

/* The rest of the budget is shared by later visits: the last one may take all of it. */
TEST(visits_share_the_budget)
{
    struct bc_program uneven = *with_budget(0.6);
    uneven.first_share = 0.5;
    script.rows = 10;
    run_with(&uneven, 0.0, WORDS(NULL));
    if (rank != 0)
        return;
    assert_near(visits[0].seconds, 0.03, 0.001);
    assert_near(visits[visit_count - 1].seconds, 0.6 - visits[visit_count - 1].at_s, 0.002);
}

/* A run with defaults writes its first rows within 5 s, and ends within 15 s, however many rows it
   has, and whether visits take their time or end before; the planned visits of a row span three
   seconds nevertheless. */
TEST(default_runs_are_short)
{
    static const int rows[] = {1, 4, 12, 80};
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        script = (struct script){
            .rows = rows[i / 2], .precise_after = NEVER, .takes_its_time = i % 2 == 0};
        run_with(with_budget(BC_BUDGET_S), 0.0, WORDS(NULL));
        assert_true(first_row_s < 5.0);
        assert_true(end_s < 15.0);
        assert_true(visits_of(1) >= BC_VISITS && visits_of(script.rows) >= BC_VISITS);
        double planned_s = 0.0; /* when the last planned visit of row 1 began */
        for (int v = 0; v < visit_count; v++)
            if (visits[v].row == 1 && visits[v].visit == BC_VISITS - 1)
                planned_s = visits[v].at_s;
        assert_true(rank != 0 || planned_s > 0.8 * BC_SPAN_S);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The run ends after the visit in hand, and writes what it has: in a later turn all rows, in the
   first one those that were visited. The signal stays noted in this process. */
TEST(signals_end_the_run)
{
    bc_signals_watch();
    script.rows = 10;
    script.signalled = 27;
    run_with(&fake, 0.0, WORDS("--max-time=0.02"));
    assert_int_equal(run.signal, SIGTERM);
    assert_int_equal(strstr(output, "\n# warning: interrupted by SIGTERM\n") != NULL, rank == 0);
    assert_int_equal(visit_count, 27);
    check_rows(10);
    run_with(&fake, 0.0, WORDS("--max-time=0.02"));
    assert_int_equal(visit_count, 1);
    check_rows(1);
}

static int begin_script(void **state)
{
    memset(&script, 0, sizeof script);
    return 0;
}

const struct test_program test_program = {.mpi = true, .before_each = begin_script};
