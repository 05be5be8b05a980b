#include "overlap/engine/visit.h"

#include "common/mpi/harness.h"

#include <math.h>

/* At this confidence are the two times that a trial compares. */
#define TRIAL_CONFIDENCE 0.95

/* The rate of work is corrected from at least this number of rounds, and by at most this share at a
   time: one late round must not change the rate. Parts shorter than this say more of the clock that
   is read around each of them than of the rate. */
#define CORRECTION_ROUNDS 5
#define CORRECTION_MAX 0.1
#define CORRECTION_PART_NS 1000.0

double overlap_percent(double part, double whole)
{
    if (!(whole > 0.0))
        return part > 0.0 ? 100.0 : 0.0;
    return fmin(100.0, fmax(0.0, 100.0 * part / whole));
}

/* ---- rounds ---------------------------------------------------------------------------------- */

void overlap_run_rounds(const struct bc_run *run, struct overlap_round *round, int quantities,
                        void (*take)(void *context, double *values), const struct bc_plan *plan,
                        struct bc_samples *samples)
{
    const struct bc_source source = {
        .quantities = quantities,
        .take = take,
        .context = round,
        .slowest_of = OVERLAP_REFERENCE,
        .starts = bc_start_window_starts(run->window),
        .clock_ns = run->own_clock.read_ns,
    };
    bc_sampler_run(run->sampler, &source, plan, samples);
}

/* ---- what rounds say, robustly --------------------------------------------------------------- */

void overlap_estimate(const struct overlap_visit *visit, size_t first, size_t end,
                      struct overlap_estimate *estimates)
{
    struct overlap_estimate own[OVERLAP_ESTIMATED];
    struct bc_located located[OVERLAP_ESTIMATED], slowest[OVERLAP_ESTIMATED];
    double half_width_ns[OVERLAP_ESTIMATED], slowest_half_width_ns[OVERLAP_ESTIMATED];
    const int rank = visit->run->job.rank;
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        own[i] = (struct overlap_estimate){-INFINITY, NAN};
    if (visit->round.operation->works)
        overlap_estimate_own(&visit->own, first, end, TRIAL_CONFIDENCE, own);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        located[i] = (struct bc_located){own[i].ns, rank};
    bc_harness_allreduce(located, slowest, OVERLAP_ESTIMATED, MPI_DOUBLE_INT, MPI_MAXLOC,
                         MPI_COMM_WORLD);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        half_width_ns[i] = slowest[i].rank == rank ? own[i].half_width_ns : 0.0;
    bc_harness_allreduce(half_width_ns, slowest_half_width_ns, OVERLAP_ESTIMATED, MPI_DOUBLE,
                         MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < OVERLAP_ESTIMATED; i++)
        estimates[i] = (struct overlap_estimate){slowest[i].value, slowest_half_width_ns[i]};
}

void overlap_estimate_gain(const struct overlap_visit *visit, size_t first, size_t end,
                           double estimates_ns[OVERLAP_GAIN_ESTIMATED])
{
    double own_ns[OVERLAP_GAIN_ESTIMATED] = {-INFINITY, -INFINITY, -INFINITY};
    if (visit->round.operation->works)
        overlap_gain_own(&visit->own_plenty, first, end, own_ns);
    bc_harness_allreduce(own_ns, estimates_ns, OVERLAP_GAIN_ESTIMATED, MPI_DOUBLE, MPI_MAX,
                         MPI_COMM_WORLD);
}

void overlap_correct_rate(struct overlap_visit *visit, double work_ns)
{
    struct bc_work_rate *const rate = &visit->overlap->rate;
    const double part_ns = bc_work_ns(rate, visit->round.part_units);
    if (visit->own.count < CORRECTION_ROUNDS || part_ns < CORRECTION_PART_NS)
        return;
    const double correction = work_ns / (part_ns * (double)visit->round.parts);
    rate->ns_per_unit *= fmax(1.0 - CORRECTION_MAX, fmin(1.0 + CORRECTION_MAX, correction));
}

void overlap_take_rounds(struct overlap_visit *visit, int quantities,
                         void (*take)(void *context, double *values), int64_t rounds,
                         double deadline_s)
{
    const struct bc_plan plan = {
        .min_rounds = rounds,
        .max_rounds = rounds,
        .deadline_s = deadline_s,
        .retakes = visit->run->job.oversubscribed ? 0 : rounds,
    };
    struct bc_samples unused = {.count = 0};
    overlap_run_rounds(visit->run, &visit->round, quantities, take, &plan, &unused);
    bc_samples_free(&unused);
}

uint64_t overlap_part_units(const struct overlap_visit *visit, double work_ns)
{
    return bc_work_units(&visit->overlap->rate, work_ns / (double)visit->round.parts);
}

void overlap_choose_plenty(struct overlap_visit *visit)
{
    uint64_t part_units =
        overlap_part_units(visit, visit->overlap->parameters.plenty * visit->row->reference_ns);
    bc_harness_bcast(&part_units, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    visit->round.plenty_part_units = part_units;
}

/* ---- the visit ------------------------------------------------------------------------------- */

/* Of the first visit's time, where the number of calls of MPI_Test is looked for: a share for that.
 */
#define TEST_CALLS_SHARE 0.6

static int64_t parts_of(const struct overlap_visit *visit)
{
    const int64_t own = visit->round.operation->parts;
    return own > 0 ? own : visit->row->test_calls + 1;
}

/* What the first visit finds, and later ones use. Under the mean each visit is a first one.
   Collective. */
static void find_work(struct overlap_visit *visit, int64_t test_calls, double seconds)
{
    double left_s = seconds;
    overlap_measure_reference(visit, seconds * OVERLAP_REFERENCE_SHARE);
    visit->row->reference_ns = visit->reference_ns;
    if (test_calls == OVERLAP_AUTO && visit->run->visit == 0) {
        overlap_find_test_calls(visit, seconds * TEST_CALLS_SHARE);
        left_s = fmax(0.0, overlap_seconds_left(visit));
    } else if (test_calls != OVERLAP_AUTO) {
        visit->row->test_calls = test_calls;
    }
    visit->round.parts = parts_of(visit);
    overlap_find_knee(visit, left_s);
}

void overlap_visit_operation(struct overlap_state *overlap, struct overlap_operation *operation,
                             int64_t test_calls, double seconds, struct overlap_row *row)
{
    struct bc_run *const run = overlap->run;
    struct overlap_visit visit = {
        .overlap = overlap,
        .run = run,
        .row = row,
        .root = run->job.rank == 0,
        .robust = run->settings.estimator == BC_MEDIAN,
        .end_s = bc_elapsed_s() + seconds,
        .round = {.operation = operation,
                  .window = run->window,
                  .check = run->settings.check,
                  .clock_ns = run->own_clock.read_ns,
                  .blocking = operation->blocking != NULL && !overlap->parameters.no_blocking,
                  .own = &visit.own,
                  .own_plenty = &visit.own_plenty},
    };
    row->has_blocking = visit.round.blocking;
    visit.round.parts = parts_of(&visit);
    if (run->visit == 0 || !visit.robust)
        find_work(&visit, test_calls, seconds);
    row->parts = visit.round.parts;
    overlap_measure_answer(&visit);
    row->wrong += visit.round.wrong;
    bc_samples_free(&visit.own);
    bc_samples_free(&visit.own_plenty);
}

double overlap_quick_reference_ns(struct overlap_state *overlap,
                                  struct overlap_operation *operation, double seconds)
{
    enum { ROUNDS = 5 };
    const struct bc_run *const run = overlap->run;
    struct overlap_round round = {.operation = operation, .window = run->window, .parts = 1};
    const struct bc_plan plan = {
        .min_rounds = ROUNDS,
        .max_rounds = ROUNDS,
        .deadline_s = bc_elapsed_s() + seconds,
        .grace_rounds = 1,
        .warmup_rounds = 1,
        .retakes = ROUNDS,
    };
    struct bc_samples samples = {.count = 0};
    overlap_run_rounds(run, &round, 1, overlap_take_reference, &plan, &samples);
    double reference_ns = 0.0;
    if (run->job.rank == 0)
        reference_ns = fmax(0.0, bc_run_summarize(run, &samples, OVERLAP_REFERENCE, -1).value);
    bc_samples_free(&samples);
    bc_harness_bcast(&reference_ns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return reference_ns;
}
