/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order and time of visits.
 *
 * A machine's state (clock rate, host, other users) lasts for seconds, so samples that follow one
 * another tell little about the next launch. Therefore each row is visited several times
 * (--visits): in each turn all rows are visited, in a different order, and turns are spread over at
 * least three seconds. Rows that aren't precise after the planned visits get more while there is
 * time. When a run's budget ends, rows have fewer visits, at least one.
 *
 * Long runs are divided into groups of rows whose visits take about three seconds, so that rows are
 * written at least that often.
 */
#include "common/run/internal.h"

#include "common/clock/stops.h"
#include "common/mpi/harness.h"
#include "common/memory/allocate.h"
#include "common/result/warnings.h"
#include "common/stats/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Max visits of an imprecise row, as a multiple of the planned visits. Without --max-time
   additional visits begin at most MORE_VISITS_S after the group, so that its rows appear soon. */
#define MORE_VISITS 2
#define MORE_VISITS_S 4.0

/* After a visit each rank watches for interruptions, for this share of the visit's time. */
#define WATCH_SHARE 0.02
#define WATCH_MIN_S 100e-6
#define WATCH_MAX_S 10e-3

/* Seconds between two progress reports, on a terminal and elsewhere. */
#define TERMINAL_S 0.5
#define ELSEWHERE_S 20.0

struct swept_row {
    void *memory;      /* the program's */
    int placement;     /* of its buffers; IN_WINDOW */
    bool is_copy;      /* of the row before, with another placement */
    int visits;        /* so far */
    bool is_precise;   /* after the last one; rank 0 */
    double measured_s; /* in these visits */
    double last_s;     /* in the last one */
    struct bc_waits waits;
    struct bc_stops stops;
    int64_t late; /* rounds with a late start that were used; rank 0 */
};

/* Rank 0's order to all ranks before each visit. */
struct visit_order {
    int64_t row; /* or NO_ROW */
    int64_t pause_ns;
    int64_t renews; /* BC_RENEW comes first */
};

enum { NO_ROW = -1, IN_WINDOW = -1 };

struct bc_sweep {
    struct bc_run *run;
    struct swept_row *rows;
    size_t count, capacity;
    size_t *order;      /* order of rows in a turn; has room for all rows */
    double shares_left; /* of the planned visits of rows that aren't written; rank 0 */
    bool stopped;       /* by a signal, or since output is lost; the same on every rank */

    /* The current group: rows `first` to `end` - 1, in its first turn those visited so far. Ranks
       other than 0 know `first` and `end` only. */
    size_t first, end;
    double start_s;
    int turn;     /* from 0; in each turn all rows of the group are visited once */
    size_t next;  /* place in the order */
    bool visited; /* a row was visited in this turn */
    bool begins;  /* the next visit begins a turn other than the first */
    double reported_s;

    struct bc_visit visit;
    enum { UNBEGUN, VISITING, WRITING, ENDED } phase;
    size_t row; /* row that is visited or written */
    double visit_start_s;
    bool is_first_result; /* no result of the row has been written */
};

static struct swept_row *add_row(struct bc_run *run)
{
    static const char no_memory[] = "no memory for %zu rows";
    if (run->own->sweep == NULL) {
        run->own->sweep = bc_allocate(1, sizeof *run->own->sweep, "no memory for rows");
        run->own->sweep->run = run;
    }
    struct bc_sweep *const sweep = run->own->sweep;
    if (sweep->count == sweep->capacity) {
        const size_t room = sweep->capacity > 0 ? 2 * sweep->capacity : 64;
        sweep->rows = bc_reallocate(sweep->rows, room, sizeof *sweep->rows, no_memory, room);
        sweep->order = bc_reallocate(sweep->order, room, sizeof *sweep->order, no_memory, room);
        sweep->capacity = room;
    }
    void *const memory = bc_allocate(1, run->program->row_bytes, "no memory for a row");
    sweep->rows[sweep->count] = (struct swept_row){.memory = memory};
    sweep->shares_left += 1.0;
    return &sweep->rows[sweep->count++];
}

void *bc_add_row(struct bc_run *run)
{
    void *const memory = add_row(run)->memory;
    for (int i = 1; i < run->own->placement_count; i++) {
        struct swept_row *const copy = add_row(run);
        copy->placement = i;
        copy->is_copy = true;
    }
    return memory;
}

void *bc_add_window_row(struct bc_run *run)
{
    struct swept_row *const row = add_row(run);
    row->placement = IN_WINDOW;
    return row->memory;
}

/* Copies the rows, which the program has filled, for further placements. */
static void fill_copies(const struct bc_sweep *sweep)
{
    for (size_t i = 1; i < sweep->count; i++)
        if (sweep->rows[i].is_copy)
            memcpy(sweep->rows[i].memory, sweep->rows[i - 1].memory,
                   sweep->run->program->row_bytes);
}

/* ---- time, on rank 0 ------------------------------------------------------------------------- */

static double share_of(const struct bc_sweep *sweep, int visit)
{
    const int visits = sweep->run->visits;
    const double first = sweep->run->program->first_share;
    if (first <= 0.0 || visits == 1)
        return 1.0 / visits;
    return visit == 0 ? first : (1.0 - first) / (visits - 1);
}

/* Returns the shares of a row's remaining planned visits. */
static double shares_left(const struct bc_sweep *sweep, const struct swept_row *row)
{
    double shares = 0.0;
    for (int visit = row->visits; visit < sweep->run->visits; visit++)
        shares += share_of(sweep, visit);
    return shares;
}

/* Returns the time for all visits of a row; INFINITY: no limit. */
static double row_seconds(const struct bc_run *run)
{
    const bool in_full = run->settings.samples > 0 || run->counted;
    if (in_full && !run->own->limits_time)
        return INFINITY;
    return run->row_shares * run->settings.max_time_s;
}

/* Returns the rest of the budget of a run with default times. */
static double budget_left(const struct bc_run *run)
{
    if (run->own->limits_time || isinf(row_seconds(run)))
        return INFINITY;
    return run->budget_s - (bc_elapsed_s() - run->start_s);
}

/* Returns the time for the next visit of a row. */
static double visit_seconds(const struct bc_sweep *sweep, const struct swept_row *row)
{
    const struct bc_run *const run = sweep->run;
    const double row_s = row_seconds(run), share = share_of(sweep, row->visits);
    double left_s = budget_left(run), mine_s = row_s * share;
    if (isinf(row_s))
        return INFINITY;
    if (row->visits < run->visits) {
        left_s *= share / fmax(share, sweep->shares_left);
        mine_s = (row_s - row->measured_s) * share / shares_left(sweep, row);
    } else {
        left_s -= row_s * sweep->shares_left;
    }
    return fmax(0.0, fmin(left_s, fmin(mine_s, row_s - row->measured_s)));
}

/* ---- choice of the next visit, on rank 0 ----------------------------------------------------- */

static bool wants_visit(const struct bc_sweep *sweep, size_t number)
{
    const struct bc_run *const run = sweep->run;
    const struct swept_row *const row = &sweep->rows[number];
    if (row->visits == 0)
        return true;
    if (budget_left(run) <= 0.0 || row->measured_s >= row_seconds(run))
        return false;
    if (row->visits < run->visits)
        return true;
    const bool is_late = !run->own->limits_time && bc_elapsed_s() - sweep->start_s > MORE_VISITS_S;
    return !is_late && run->visits > 1 && run->settings.samples == 0 && !run->own->fixes_visits &&
           row->visits < MORE_VISITS * run->visits &&
           visit_seconds(sweep, row) >= row->last_s / 2.0 && !row->is_precise;
}

static void begin_turn(struct bc_sweep *sweep)
{
    const size_t count = sweep->end - sweep->first;
    uint64_t state = (uint64_t)++sweep->turn;
    sweep->next = 0;
    sweep->visited = false;
    for (size_t i = 0; i < count; i++) {
        const size_t place = (size_t)(bc_random_next(&state) % (i + 1));
        sweep->order[i] = sweep->order[place];
        sweep->order[place] = sweep->first + i;
    }
}

/* Returns true if the group, which is in its first turn, is large enough and has all placements of
   its last row. */
static bool group_is_full(const struct bc_sweep *sweep)
{
    const double visits = sweep->run->visits;
    return sweep->end == sweep->count ||
           (sweep->end > sweep->first && !sweep->rows[sweep->end].is_copy &&
            (visits == 1 || (bc_elapsed_s() - sweep->start_s) * visits > BC_SPAN_S));
}

/* Returns the row to visit next, or NO_ROW if the group is done. */
static int64_t next_row(struct bc_sweep *sweep)
{
    if (sweep->turn == 0 && !group_is_full(sweep))
        return (int64_t)sweep->end++;
    if (sweep->turn == 0)
        begin_turn(sweep);
    for (;;) {
        while (sweep->next < sweep->end - sweep->first) {
            const size_t row = sweep->order[sweep->next++];
            if (wants_visit(sweep, row)) {
                sweep->begins = !sweep->visited;
                sweep->visited = true;
                return (int64_t)row;
            }
        }
        if (!sweep->visited)
            return NO_ROW;
        begin_turn(sweep);
    }
}

/* Returns the wait before the next visit, which spreads turns over the span. */
static double pause_seconds(const struct bc_sweep *sweep)
{
    const struct bc_run *const run = sweep->run;
    if (!sweep->begins)
        return 0.0;
    const double due_s = sweep->start_s + run->own->span_s * sweep->turn / (run->visits - 1);
    return fmax(0.0, fmin(due_s - bc_elapsed_s(), budget_left(run) / 2.0));
}

/* ---- progress, on rank 0 --------------------------------------------------------------------- */

/* Reports the group's progress on stderr; `done` removes it from a terminal. Elsewhere (also under
   mpirun) it would stay between the rows on stdout, so it ends with the first row. */
static void report_progress(struct bc_sweep *sweep, bool done)
{
    const bool terminal = isatty(STDERR_FILENO) != 0;
    const double now_s = bc_elapsed_s();
    const char *const name = sweep->run->program->name;
    if (done && terminal && sweep->reported_s > sweep->start_s)
        fprintf(stderr, "\r%*s\r", 70, "");
    const bool between_rows = !terminal && sweep->first > 0 && sweep->run->settings.output == NULL;
    if (done || between_rows || now_s - sweep->reported_s < (terminal ? TERMINAL_S : ELSEWHERE_S))
        return;
    double made = 0.0, planned = 0.0;
    for (size_t i = sweep->first; i < sweep->count; i++) {
        const int visits = sweep->rows[i].visits;
        made += visits < sweep->run->visits ? visits : sweep->run->visits;
        planned += sweep->run->visits;
    }
    const double left_s = (now_s - sweep->start_s) * (planned - made) / fmax(made, 1.0);
    fprintf(stderr, "%s%s: %.0f %% measured, about %.0f s left%s", terminal ? "\r" : "", name,
            100.0 * made / planned, fmin(left_s, fmax(0.0, budget_left(sweep->run))),
            terminal ? "    " : "\n");
    fflush(stderr);
    sweep->reported_s = now_s;
}

/* ---- visits ---------------------------------------------------------------------------------- */

/* Stops the sweep after a signal to any rank, or lost output. Collective. */
static void look_for_end(struct bc_sweep *sweep)
{
    struct bc_run *const run = sweep->run;
    int flags[2] = {bc_signals_noted(), run->job.rank == 0 && (!bc_output_good(run->output) ||
                                                               run->own->dump_problem != 0)};
    bc_harness_allreduce(MPI_IN_PLACE, flags, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    run->signal = flags[0];
    sweep->stopped = sweep->stopped || flags[0] != 0 || flags[1] != 0;
}

/* Chooses the row to visit next, and waits until that is due. False at the end of the group or of
   the sweep. Collective. */
static bool choose_row(struct bc_sweep *sweep)
{
    struct visit_order order = {NO_ROW, 0, 0};
    if (sweep->stopped)
        return false;
    if (sweep->run->job.rank == 0) {
        report_progress(sweep, false);
        order.row = next_row(sweep);
        order.pause_ns = (int64_t)(1e9 * pause_seconds(sweep));
        order.renews = sweep->begins;
    }
    bc_harness_bcast(&order, 3, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (order.row == NO_ROW)
        return false;
    if (order.pause_ns > 0) {
        bc_sleep_ns(order.pause_ns); /* A signal ends it. */
        look_for_end(sweep);
    }
    sweep->row = (size_t)order.row;
    sweep->begins = order.renews;
    if (sweep->end <= sweep->row && !sweep->stopped)
        sweep->end = sweep->row + 1;
    return !sweep->stopped;
}

static struct bc_visit *begin_step(struct bc_sweep *sweep, enum bc_step step)
{
    sweep->visit = (struct bc_visit){.step = step};
    if (step != BC_RENEW)
        sweep->visit.row = sweep->rows[sweep->row].memory;
    return &sweep->visit;
}

static struct bc_visit *begin_visit(struct bc_sweep *sweep)
{
    struct bc_run *const run = sweep->run;
    const struct swept_row *const row = &sweep->rows[sweep->row];
    struct bc_visit *const visit = begin_step(sweep, BC_MEASURE);
    if (run->window != NULL)
        bc_start_window_counts(run->window)->used = 0;
    run->visit = row->visits;
    bc_place_buffers(
        &run->own->placements[row->placement == IN_WINDOW ? 0 : row->placement].placement);
    visit->seconds = run->job.rank == 0 ? visit_seconds(sweep, row) : 0.0;
    bc_contention_look(&run->own->contention, NULL);
    sweep->visit_start_s = bc_elapsed_s();
    return visit;
}

/* Collective. */
static void end_visit(struct bc_sweep *sweep)
{
    struct bc_run *const run = sweep->run;
    struct swept_row *const row = &sweep->rows[sweep->row];
    row->last_s = bc_elapsed_s() - sweep->visit_start_s;
    bc_contention_look(&run->own->contention, &row->waits);
    if (row->visits < run->visits)
        sweep->shares_left -= share_of(sweep, row->visits);
    row->visits++;
    row->is_precise = sweep->visit.is_precise;
    row->measured_s += row->last_s;
    if (run->window != NULL)
        row->late += bc_start_window_counts(run->window)->used;
    bc_stops_watch(&row->stops, fmin(WATCH_MAX_S, fmax(WATCH_MIN_S, WATCH_SHARE * row->last_s)));
    look_for_end(sweep);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Warns of disturbances of the row's visits. Collective. */
static void remark_visits(struct bc_run *run, const struct swept_row *row)
{
    bc_contention_row(&row->waits, &run->job, run->output, run->rows);
    if (run->job.rank == 0 && row->late > 0)
        bc_output_disturbed(run->output, 0.0, BC_WARNING_LATE_ROUNDS, (long long)run->rows,
                            (long long)row->late);
}

void bc_write_row(struct bc_run *run, const void *result)
{
    struct bc_sweep *const sweep = run->own->sweep;
    run->rows++;
    if (sweep->is_first_result)
        remark_visits(run, &sweep->rows[sweep->row]);
    sweep->is_first_result = false;
    if (run->job.rank != 0)
        return;
    bc_output_row(run->output, result);
    bc_dump_check(run);
    run->failed = run->failed || bc_table_failed(run->own->table, result);
}

/* Collective. */
static struct bc_visit *begin_write(struct bc_sweep *sweep)
{
    const struct swept_row *const row = &sweep->rows[sweep->row];
    const int64_t own[2] = {row->stops.lost_ns, row->stops.watched_ns};
    int64_t all[2] = {0, 0}; /* sums over all ranks, on rank 0 */
    bc_harness_reduce(own, all, 2, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    sweep->run->visited = (struct bc_outcome){
        .align =
            row->placement != IN_WINDOW ? sweep->run->own->placements[row->placement].name : NULL,
        .visits = row->visits,
        .lost_pct = all[1] > 0 ? 100.0 * (double)all[0] / (double)all[1] : NAN,
    };
    sweep->shares_left -= shares_left(sweep, row);
    sweep->is_first_result = true;
    return begin_step(sweep, BC_WRITE);
}

static void end_write(struct bc_sweep *sweep)
{
    struct swept_row *const row = &sweep->rows[sweep->row++];
    free(row->memory);
    row->memory = NULL;
}

static void begin_group(struct bc_sweep *sweep)
{
    sweep->first = sweep->end;
    sweep->start_s = bc_elapsed_s();
    if (sweep->first == 0)
        sweep->reported_s = sweep->start_s;
    sweep->turn = 0;
    sweep->begins = false;
    sweep->phase = VISITING;
}

/* Returns the next step of the current group, or NULL if the group is done. Collective. */
static struct bc_visit *next_of_group(struct bc_sweep *sweep)
{
    if (sweep->phase == VISITING) {
        if (choose_row(sweep))
            return sweep->begins && sweep->run->program->renews ? begin_step(sweep, BC_RENEW)
                                                                : begin_visit(sweep);
        if (sweep->run->job.rank == 0)
            report_progress(sweep, true);
        sweep->row = sweep->first;
        sweep->phase = WRITING;
    }
    if (sweep->row < sweep->end)
        return begin_write(sweep);
    look_for_end(sweep);
    return NULL;
}

struct bc_visit *bc_next_visit(struct bc_run *run)
{
    struct bc_sweep *const sweep = run->own->sweep;
    struct bc_visit *next = NULL;
    if (sweep == NULL || sweep->phase == ENDED)
        return NULL;
    if (sweep->phase == UNBEGUN) {
        fill_copies(sweep);
        begin_group(sweep);
    } else if (sweep->visit.step == BC_RENEW)
        return begin_visit(sweep);
    else if (sweep->visit.step == BC_MEASURE)
        end_visit(sweep);
    else
        end_write(sweep);
    while ((next = next_of_group(sweep)) == NULL && !sweep->stopped && sweep->end < sweep->count)
        begin_group(sweep);
    if (next != NULL)
        return next;
    sweep->phase = ENDED;
    if (run->signal != 0)
        bc_output_remark(run->output, BC_WARNING_INTERRUPTED, bc_signal_name(run->signal));
    return NULL;
}

void bc_visits_free(struct bc_run *run)
{
    struct bc_sweep *const sweep = run->own->sweep;
    if (sweep == NULL)
        return;
    for (size_t i = 0; i < sweep->count; i++)
        free(sweep->rows[i].memory);
    free(sweep->order);
    free(sweep->rows);
    free(sweep);
    run->own->sweep = NULL;
}
