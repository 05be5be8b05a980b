/*
 * Which row is measured when: a benchmark that is made up notes its visits. For any number of
 * ranks.
 */
#include "command_line.h"
#include "ranks.h"
#include "streams.h"

#include "common/clock/clock.h"
#include "common/run/files.h"
#include "common/run/signals.h"
#include "common/run/visits.h"

#include <stdlib.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* ---- the benchmark --------------------------------------------------------------------------- */

enum { VISITS_MAX = 1000, ROWS_MAX = 100, NEVER = 1000 };

/* What it does in a run. */
static struct script {
    int rows;
    int precise_after; /* visits; NEVER */
    int unprecise_row; /* the number of one that never is; 0: none */
    double sleeps_s;   /* in visit number sleeps_from of a row, counted from 0, and later ones */
    int sleeps_from;
    int budget_ends; /* the visit, counted from 1, in which the budget ends; 0: none */
    int signalled;   /* the visit in which SIGTERM comes to the last rank; 0: none */
    int further_row; /* the number of one with further results; 0: none */
    int further;     /* how many */
} script;

/* What it noted. */
struct noted {
    int row;         /* counted from 1 */
    int visit;       /* run->visit */
    int before;      /* visits that the row remembers */
    int renewed;     /* calls of `renew` before */
    int64_t written; /* rows before */
    double seconds;  /* that it may take; on rank 0 */
    double at_s;     /* since the beginning */
    struct bc_plan plan;
};
static struct noted visits[VISITS_MAX];
static int visit_count, renew_count;
static int ended_count;     /* rows of which there is nothing more to say */
static int64_t follow_hash; /* of calls of `follow` in their order, with the rows before each */
static double start_s;
static struct bc_run run;

struct state {
    int64_t unused;
};

/* What a row remembers. */
struct row {
    int visits;
    int further;               /* results after the first one */
    struct bc_samples samples; /* their number alone: as many as each plan allows */
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

static void list_rows(void *state, struct bc_rows *rows)
{
    for (int64_t number = 1; number <= script.rows; number++)
        bc_rows_add(rows, &number);
}

static void renew(void *state) { renew_count++; }

static void visit(void *state, const void *key, double seconds, void *memory)
{
    struct row *const row = memory;
    const struct noted noted = {
        .row = (int)*(const int64_t *)key,
        .visit = run.visit,
        .before = row->visits,
        .renewed = renew_count,
        .written = run.rows,
        .seconds = seconds,
        .at_s = bc_elapsed_s() - start_s,
        .plan = bc_run_plan(&run, &row->samples, seconds),
    };
    if (visit_count < VISITS_MAX)
        visits[visit_count] = noted;
    visit_count++;
    row->visits++;
    row->samples.count += (size_t)noted.plan.max_rounds;
    if (script.sleeps_s > 0.0 && run.visit >= script.sleeps_from)
        sleep_s(script.sleeps_s);
    if (visit_count == script.budget_ends)
        run.start_s -= 1e6;
    if (visit_count == script.signalled && rank == ranks - 1)
        raise(SIGTERM);
}

static bool is_precise(const void *state, const void *key, const void *memory)
{
    const struct row *const row = memory;
    return *(const int64_t *)key != script.unprecise_row && row->visits >= script.precise_after;
}

static void conclude(void *state, const void *key, void *memory, void *filled)
{
    const struct row *const row = memory;
    *(struct result *)filled = (struct result){*(const int64_t *)key, row->visits,
                                               run.presence.visits, run.presence.lost_pct};
}

/* Further results have the row's number and a hundred for each. */
static bool follow(void *state, const void *key, void *memory, void *filled)
{
    struct row *const row = memory;
    struct result *const result = filled;
    const int64_t number = *(const int64_t *)key;
    const bool is_clear = result->number == 0 && result->visits == 0 && result->lost_pct == 0.0;
    follow_hash = (31 * follow_hash + 7 * number + 3 * run.rows + is_clear) % 1000003;
    if (row->further == (number == script.further_row ? script.further : 0)) {
        ended_count++;
        return false;
    }
    *result = (struct result){number + 100 * ++row->further, row->visits, run.presence.visits,
                              is_clear ? run.presence.lost_pct : NAN};
    return true;
}

static const struct bc_benchmark fake = {
    .name = "fake",
    .summary = "Measures nothing.",
    .table = {columns, COUNT(columns)},
    .budget_s = INFINITY,
    .bytes = {sizeof(struct state), sizeof(int64_t), sizeof(struct result), sizeof(struct row)},
    .rows = list_rows,
    .renew = renew,
    .visit = visit,
    .is_precise = is_precise,
    .conclude = conclude,
};

/* ---- running it ------------------------------------------------------------------------------ */

/* What was written, on rank 0. */
static struct result written[ROWS_MAX];
static int written_count;
static char output[16384];

static void read_rows(void)
{
    written_count = 0;
    for (char *line = strtok(output, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        struct result *const row = &written[written_count];
        char *end = line;
        if (written_count == ROWS_MAX || *line < '0' || *line > '9')
            continue;
        row->number = strtoll(end, &end, 10);
        row->visits = (int)strtol(end, &end, 10);
        row->presence = (int)strtol(end, &end, 10);
        row->lost_pct = strtod(end, &end);
        written_count++;
    }
}

/* `default_max_s` is --max-time where that isn't given; 0: its default. Collective. */
static void run_with(const struct bc_benchmark *benchmark, double default_max_s,
                     const char *const *words)
{
    struct bc_error error;
    char path[TEMPORARY_PATH_MAX];
    assert_true(accept_words(&run, benchmark, ranks, words, &error));
    make_temporary(path);
    run.settings.output = path;
    run.settings.max_time_s = default_max_s > 0.0 ? default_max_s : run.settings.max_time_s;
    run.span_s = fmin(BC_SPAN_S, run.settings.max_time_s);
    run.visits = (int)run.settings.visits;
    run.job.rank = rank;
    run.job.shares_processors = true; /* No warnings of what else runs here. */
    run.table = benchmark->table;
    visit_count = renew_count = ended_count = 0;
    follow_hash = 0;
    const bool opened = rank != 0 || bc_files_open(&run, &error);
    bc_contention_begin(&run.contention, NULL);
    run.start_s = start_s = bc_elapsed_s();
    if (opened)
        bc_visits_run(&run);
    if (rank == 0)
        bc_files_close(&run, BC_EXIT_DONE);
    read_text(path, output, sizeof output);
    unlink(path);
    bc_run_release(&run);
}

/* Whether all ranks had the same visits. Collective. */
static bool same_visits(void)
{
    int64_t hash = visit_count;
    for (int i = 0; i < visit_count && i < VISITS_MAX; i++)
        hash = (hash * 31 + visits[i].row * 7 + visits[i].visit * 3 + visits[i].renewed) % 1000003;
    return same_everywhere(hash);
}

/* The visits of a row. */
static int visits_of(int row)
{
    int count = 0;
    for (int i = 0; i < visit_count; i++)
        count += visits[i].row == row;
    return count;
}

/* Whether rank 0, and no other rank, wrote rows 1 to `rows`, each with its number of visits. */
static bool rows_are_written(int rows)
{
    bool good = true;
    read_rows();
    for (int i = 0; i < written_count; i++) {
        const struct result *const row = &written[i];
        good = good && row->number == i + 1 && row->visits == visits_of(i + 1) &&
               row->presence == row->visits && row->lost_pct >= 0.0 && row->lost_pct <= 100.0;
    }
    return good && written_count == (rank == 0 ? rows : 0);
}

/* ---- turns ----------------------------------------------------------------------------------- */

TEST(rows_are_visited_in_turn)
{
    enum { ROWS = 20 };
    script.rows = ROWS;
    run_with(&fake, 0.0, WORDS("--max-time=0.02"));
    const bool same = same_visits();
    assert_true(same);
    assert_int_equal(visit_count, BC_VISITS * ROWS);
    assert_int_equal(renew_count, BC_VISITS - 1);
    for (int turn = 0; turn < BC_VISITS; turn++) {
        const struct noted *const of_turn = visits + (ptrdiff_t)turn * ROWS;
        int seen[ROWS + 1] = {0}, in_list = 0, as_before = 0;
        for (int i = 0; i < ROWS; i++) {
            assert_int_equal(of_turn[i].visit, turn);
            assert_int_equal(of_turn[i].before, turn);
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
    assert_true(rows_are_written(ROWS));
}

TEST(one_visit_is_written_at_once)
{
    script.rows = 5;
    run_with(&fake, 0.0, WORDS("--visits=1"));
    const bool same = same_visits();
    assert_true(same);
    assert_int_equal(visit_count, 5);
    assert_int_equal(renew_count, 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(visits[i].row, i + 1);
        assert_int_equal(visits[i].written, i);
    }
    assert_true(rows_are_written(5));
}

/* The turns of a short --max-time are spread over it. */
TEST(turns_are_spread)
{
    script.rows = 2;
    run_with(&fake, 0.0, WORDS("--max-time=0.1"));
    assert_int_equal(visit_count, 2 * BC_VISITS);
    for (int turn = 0; turn < BC_VISITS; turn++)
        if (rank == 0)
            assert_true(visits[2 * turn].at_s >= 0.1 * turn / (BC_VISITS - 1));
    assert_true(rows_are_written(2));
}

/* The visits of three rows would take a minute, which is when rows must be written; the row's time
   is up before. */
TEST(long_runs_are_written_in_groups)
{
    script.rows = 9;
    script.sleeps_s = 0.022;
    run_with(&fake, 0.0, WORDS("--visits=1000", "--max-time=0.04"));
    const bool same = same_visits();
    assert_true(same);
    assert_int_equal(visits[0].row, 1);
    assert_int_equal(visits[1].row, 2);
    assert_int_equal(visits[1].written, 0);
    int64_t before_last = 0;
    for (int i = 0; i < visit_count; i++) {
        assert_true(visits[i].row > visits[i].written);
        if (visits[i].row == 9 && visits[i].visit == 0)
            before_last = visits[i].written;
    }
    assert_in_range(before_last, 6, 8);
    assert_true(rows_are_written(9));
}

/* ---- further results ------------------------------------------------------------------------- */

static const struct bc_benchmark *following(void)
{
    static struct bc_benchmark benchmark;
    benchmark = fake;
    benchmark.follow = follow;
    return &benchmark;
}

/* A row's further results stand behind it, before the next row, and count as rows. */
TEST(further_results_follow_their_row)
{
    static const int64_t numbers[] = {1, 2, 102, 202, 302, 3};
    script.rows = 3;
    script.further_row = 2;
    script.further = 3;
    run_with(following(), 0.0, WORDS("--max-time=0.02"));
    const bool same = same_visits(), same_calls = same_everywhere(follow_hash);
    const bool same_rows = same_everywhere(run.rows);
    read_rows();
    assert_true(same && same_calls && same_rows);
    assert_int_equal(run.rows, COUNT(numbers));
    assert_int_equal(ended_count, 3);
    assert_int_equal(visit_count, 3 * BC_VISITS);
    assert_int_equal(written_count, rank == 0 ? COUNT(numbers) : 0);
    for (int i = 0; i < written_count; i++) {
        assert_int_equal(written[i].number, numbers[i]);
        assert_int_equal(written[i].visits, BC_VISITS);
        assert_int_equal(written[i].presence, BC_VISITS);
        assert_in_range(written[i].lost_pct, 0, 100);
    }
}

TEST(a_row_may_have_no_further_result)
{
    script.rows = 5;
    run_with(following(), 0.0, WORDS("--visits=1"));
    assert_int_equal(ended_count, 5);
    assert_true(rows_are_written(5));
}

/* ---- samples --------------------------------------------------------------------------------- */

TEST(asked_samples_are_divided)
{
    static const int seven[] = {2, 2, 3};
    script.rows = 2;
    run_with(&fake, 0.02, WORDS("--samples=7", "--visits=3"));
    assert_int_equal(visit_count, 2 * 3);
    for (int i = 0; i < visit_count; i++) {
        assert_int_equal(visits[i].plan.max_rounds, seven[visits[i].visit]);
        assert_int_equal(visits[i].plan.min_rounds, seven[visits[i].visit]);
        assert_true(rank != 0 || isinf(visits[i].seconds));
    }
    assert_true(rows_are_written(2));
}

TEST(no_asked_sample_is_lost)
{
    int lost = 0, uneven = 0;
    script.rows = 1;
    for (int samples = 30; samples <= 100; samples += 7) {
        char word[32];
        int64_t taken = 0;
        snprintf(word, sizeof word, "--samples=%d", samples);
        run_with(&fake, 0.001, WORDS(word));
        for (int i = 0; i < visit_count; i++) {
            const int64_t rounds = visits[i].plan.max_rounds;
            taken += rounds;
            uneven += rounds < samples / BC_VISITS || rounds > samples / BC_VISITS + 1;
        }
        lost += taken != samples || visit_count != BC_VISITS;
    }
    assert_int_equal(lost, 0);
    assert_int_equal(uneven, 0);
}

/* What a visit leaves of the max samples the later ones may take; added visits get what is left. */
TEST(limits_of_samples_are_divided)
{
    script.rows = 1;
    script.precise_after = NEVER;
    run_with(&fake, 0.0, WORDS("--max-time=0.02", "--min-samples=32", "--max-samples=1000"));
    int64_t taken = 0;
    assert_int_equal(visit_count, 2 * BC_VISITS);
    for (int i = 0; i < BC_VISITS; i++) {
        taken += visits[i].plan.max_rounds;
        assert_int_equal(visits[i].plan.min_rounds, 6);
        assert_in_range(visits[i].plan.max_rounds, 166, 167);
        /* A row whose only visit this remains has an interval. */
        assert_int_equal(visits[i].plan.grace_rounds, i == 0 ? 6 : 1);
    }
    assert_int_equal(taken, 1000);
    for (int i = BC_VISITS; i < visit_count; i++)
        assert_int_equal(visits[i].plan.max_rounds, 0);
    struct bc_run half = {.settings = bc_default_settings, .visits = 6, .visit = 3};
    const struct bc_samples few = {.count = 100};
    assert_int_equal(bc_run_plan(&half, &few, 1.0).max_rounds, 9900 / 3);
    half.visit = 7;
    assert_int_equal(bc_run_plan(&half, &few, 1.0).max_rounds, 9900);
    assert_int_equal(bc_run_plan(&half, NULL, 1.0).max_rounds, 10000);
}

/* ---- how many -------------------------------------------------------------------------------- */

static const struct bc_benchmark *with_budget(double budget_s)
{
    static struct bc_benchmark limited;
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
        {{.rows = 3, .precise_after = PLANNED + 2},
         {"--max-time=0.02"},
         0,
         INFINITY,
         3 * (PLANNED + 2)},
        /* A row that is precise early is visited as often as planned. */
        {{.rows = 3, .precise_after = 2}, {"--max-time=0.02"}, 0, INFINITY, 3 * PLANNED},
        {{.rows = 3, .precise_after = NEVER}, {"--max-time=0.02"}, 0, INFINITY, 3 * 2 * PLANNED},
        /* No more where their number, or that of the samples, was asked for. */
        {{.rows = 3, .precise_after = NEVER},
         {"--max-time=0.02", "--visits=4"},
         0,
         INFINITY,
         3 * 4},
        {{.rows = 3, .precise_after = NEVER},
         {"--max-time=0.02", "--samples=60"},
         0,
         INFINITY,
         3 * PLANNED},
        {{.rows = 3, .precise_after = NEVER}, {"--max-time=0.02", "--visits=1"}, 0, INFINITY, 3},
        /* No visit is added for less than half of the time that the last one took: here a sixth of
           60 ms, which leaves enough of the row's time. */
        {{.rows = 1, .precise_after = NEVER, .sleeps_s = 0.025, .sleeps_from = PLANNED - 1},
         {"--max-time=0.06"},
         0,
         INFINITY,
         PLANNED},
        /* A time that was asked for has no budget. */
        {{.rows = 10, .precise_after = NEVER}, {"--max-time=0.02"}, 0, 0.0, 10 * 2 * PLANNED},
        /* The budget ends in a visit, or before the first: there are no more, but each row has one.
         */
        {{.rows = 10, .precise_after = NEVER, .budget_ends = 25}, {NULL}, 0.02, 1e5, 25},
        {{.rows = 10, .precise_after = NEVER, .budget_ends = 4}, {NULL}, 0.02, 1e5, 10},
        {{.rows = 10, .precise_after = NEVER}, {NULL}, 0, 0.0, 10},
    };
    bool good[COUNT(cases)];
    for (size_t i = 0; i < COUNT(cases); i++) {
        script = cases[i].script;
        run_with(with_budget(cases[i].budget_s), cases[i].default_max_s, cases[i].words);
        good[i] = same_visits() && visit_count == cases[i].expected;
        good[i] = rows_are_written(script.rows) && good[i];
        /* Of those that come after the end of the budget. */
        for (int v = script.budget_ends; v < visit_count && cases[i].words[0] == NULL; v++)
            good[i] = good[i] && (rank != 0 || visits[v].seconds == 0.0);
        if (!good[i])
            print_error("rank %d, case %zu: %d visits, not %d\n", rank, i, visit_count,
                        cases[i].expected);
    }
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_true(good[i]);
}

TEST(rows_that_are_not_precise_get_more)
{
    script.rows = 4;
    script.unprecise_row = 3;
    run_with(&fake, 0.0, WORDS("--max-time=0.02"));
    const bool same = same_visits();
    assert_true(same);
    for (int row = 1; row <= 4; row++)
        assert_int_equal(visits_of(row), row == 3 ? 2 * BC_VISITS : BC_VISITS);
    /* Before each turn, also where one row alone is visited. */
    assert_int_equal(renew_count, 2 * BC_VISITS - 1);
    assert_true(rows_are_written(4));
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Visits to rows that never are precise end within 60 ms a row: planned ones, and added ones. */
TEST(time_of_a_row_ends_visits)
{
    static const struct {
        double sleeps_s;
        int max_visits;
    } cases[] = {{0.021, 3}, {0.006, 10}};
    bool good = true;
    for (size_t i = 0; i < COUNT(cases); i++) {
        script = (struct script){.rows = 2, .precise_after = NEVER, .sleeps_s = cases[i].sleeps_s};
        run_with(&fake, 0.0, WORDS("--max-time=0.06"));
        good = same_visits() && rows_are_written(2) && good;
        for (int row = 1; row <= 2; row++)
            good = good && visits_of(row) >= 1 && visits_of(row) <= cases[i].max_visits;
    }
    assert_true(good);
}

/* Visits that take no time leave it to those that follow; none may take more than is left. */
TEST(visits_share_the_time_of_a_row)
{
    struct bc_benchmark uneven = fake;
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
}

/* The visits of 5 ms come off the row's 60 ms. */
TEST(used_time_is_not_shared)
{
    script.rows = 1;
    script.precise_after = NEVER;
    script.sleeps_s = 0.005;
    run_with(&fake, 0.0, WORDS("--max-time=0.06"));
    for (int i = 0; i < visit_count && rank == 0; i++)
        assert_in_range((uintmax_t)(1e6 * visits[i].seconds), 0, 60000 - 5000 * i);
}

/* Each visit has its part of what is left. */
TEST(budget_is_shared_by_visits)
{
    script.rows = 10;
    run_with(with_budget(0.6), 1.0, WORDS(NULL));
    const double took_s = bc_elapsed_s() - start_s;
    const bool same = same_visits();
    assert_true(same);
    for (int row = 1; row <= 10; row++)
        assert_in_range(visits_of(row), 1, BC_VISITS);
    assert_true(rows_are_written(10));
    if (rank != 0)
        return;
    assert_near(visits[0].seconds, 0.01, 0.002);
    assert_true(took_s < 1.0);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The run ends after the visit in hand, and writes what it has. The signal stays noted in this
   process, so this is the last test but one. */
TEST(signals_end_the_run)
{
    bc_signals_watch();
    script.rows = 10;
    script.signalled = 27;
    run_with(&fake, 0.0, WORDS("--max-time=0.02"));
    const bool same = same_visits();
    assert_true(same);
    assert_int_equal(run.signal, SIGTERM);
    assert_int_equal(strstr(output, "\n# warning: interrupted by SIGTERM\n") != NULL, rank == 0);
    assert_int_equal(visit_count, 27);
    for (int row = 1; row <= 10; row++)
        assert_in_range(visits_of(row), 2, 3);
    assert_true(rows_are_written(10));
}

/* Rows without visits are not written. The signal is still noted when this run begins. */
TEST(signals_end_the_first_turn)
{
    script.rows = 10;
    run_with(&fake, 0.0, WORDS("--max-time=0.02"));
    assert_int_equal(run.signal, SIGTERM);
    assert_int_equal(visit_count, 1);
    assert_true(rows_are_written(1));
}

static int begin_script(void **state)
{
    memset(&script, 0, sizeof script);
    return 0;
}

const struct test_program test_program = {.mpi = true, .before_each = begin_script};
