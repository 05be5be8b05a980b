#include "common/measure/sampling.h"

#include "common/clock/clock.h"
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"

#include <math.h>
#include <string.h>

#define BATCH_MAX 256 /* rounds in one reduction */

/* The warm-up ends when no quantity's median has fallen by more than WARMUP_FALL from one batch of
   WARMUP_BATCH rounds to the next, after WARMUP_BATCHES_MAX batches, or WARMUP_TIME_SHARE of the
   time. */
#define WARMUP_BATCH 5
#define WARMUP_FALL 0.02
#define WARMUP_BATCHES_MAX 20
#define WARMUP_TIME_SHARE 0.1

/* In later visits what was made anew has to be used, which the first round does: up to
   WARMUP_BATCH rounds, of which the last begins within LATER_WARMUP_SHARE of the time. */
#define LATER_WARMUP_SHARE 0.01

/* The values that are reduced for a quantity whose ranks start together; for others it is the first
   alone, with a start of 0. */
enum { LAST_END, FIRST_START, LAST_START, REDUCED };

#define REDUCED_MAX ((size_t)BATCH_MAX * BC_QUANTITIES_MAX * REDUCED)

/* The batch in hand: its values; the same reduced, and whether a rank was late in each round, on
   rank 0. */
static struct bc_located local[REDUCED_MAX], slowest[REDUCED_MAX];
static bool missed[BATCH_MAX];

/* What rank 0 tells the others before each batch. */
struct order {
    int32_t rounds; /* 0: the run is over */
    int32_t end;    /* enum bc_end */
    int32_t counts; /* 0: the rounds belong to the warm-up */
};

/* The current run; what it has reached is known on rank 0. */
struct run {
    const struct bc_source *source;
    const struct bc_plan *plan;
    struct bc_samples *samples; /* the row's; the run's are those of its last visit */
    double start_s;
    double round_s;      /* mean time of a round, with its barriers */
    int64_t rounds_done; /* warm-up and samples */
    bool warming;
    int warmup_batches;
    double warmup_medians[BC_QUANTITIES_MAX];
    double own[BC_QUANTITIES_MAX][BATCH_MAX]; /* this rank's last values, if ranks start apart */
    size_t own_count;                         /* of all values that this rank had */
    size_t next_look;
    bool settled;
};

/* ---- rank 0 decides -------------------------------------------------------------------------- */

/* Whether the warm-up is over: as many rounds as asked for, the few of a later visit, or a last
   batch that was no longer faster than the one before. */
static bool has_warmed_up(struct run *run, int rounds)
{
    const struct bc_plan *const plan = run->plan;
    const int quantities = run->source->quantities;
    const double now_s = bc_elapsed_s();
    if (plan->warmup_rounds >= 0)
        return run->rounds_done >= plan->warmup_rounds || now_s >= plan->deadline_s;
    if (plan->was_warm)
        return run->rounds_done >= WARMUP_BATCH ||
               now_s - run->start_s > LATER_WARMUP_SHARE * (plan->deadline_s - run->start_s);
    bool falling = run->warmup_batches++ == 0;
    for (int q = 0; q < quantities; q++) {
        double batch[BATCH_MAX];
        for (int i = 0; i < rounds; i++)
            batch[i] = slowest[i * quantities + q].value;
        const double median = bc_median(batch, (size_t)rounds);
        const double before = run->warmup_medians[q];
        /* Without the clock's cost a value may be below 0. */
        if (median < before - WARMUP_FALL * fabs(before))
            falling = true;
        run->warmup_medians[q] = median;
    }
    return !falling || run->warmup_batches >= WARMUP_BATCHES_MAX ||
           now_s - run->start_s > WARMUP_TIME_SHARE * (plan->deadline_s - run->start_s);
}

static int64_t dropped_rounds(const struct bc_samples *samples)
{
    return samples->dropped != NULL ? (int64_t)samples->dropped->count : 0;
}

static void keep_samples(struct run *run, int rounds)
{
    struct bc_samples *const samples = run->samples;
    struct bc_starts *const starts = run->source->starts;
    const int quantities = run->source->quantities;
    for (int i = 0; i < rounds; i++) {
        const struct bc_located *const round = &slowest[(ptrdiff_t)i * quantities];
        const bool is_missed = starts != NULL && missed[i];
        const bool drops = is_missed && dropped_rounds(samples) < run->plan->retakes;
        double values[BC_QUANTITIES_MAX];
        for (int q = 0; q < quantities; q++)
            values[q] = round[q].value;
        if (drops && samples->dropped == NULL)
            samples->dropped = bc_allocate(1, sizeof *samples, "no memory for samples");
        bc_samples_append(drops ? samples->dropped : samples, values, quantities,
                          round[run->source->slowest_of].rank);
        if (starts == NULL)
            continue;
        starts->rounds++;
        starts->missed += is_missed;
        starts->used += is_missed && !drops;
    }
}

/* Uses the missed rounds if there are too few others. */
static void use_dropped(struct run *run)
{
    struct bc_samples *const dropped = run->samples->dropped;
    const int64_t grace_rounds = run->plan->grace_rounds;
    const int64_t needed = grace_rounds > 0 || run->plan->adds ? grace_rounds : 1;
    if (dropped_rounds(run->samples) == 0 || (int64_t)bc_samples_in_visit(run->samples) >= needed)
        return;
    for (size_t i = 0; i < dropped->count; i++) {
        double values[BC_QUANTITIES_MAX];
        for (int q = 0; q < run->source->quantities; q++)
            values[q] = dropped->values[q][i];
        bc_samples_append(run->samples, values, run->source->quantities, dropped->slowest_rank[i]);
    }
    run->source->starts->used += (int64_t)dropped->count;
    bc_samples_clear(dropped);
}

static void take_in_batch(struct run *run, int rounds)
{
    const struct bc_plan *const plan = run->plan;
    run->rounds_done += rounds;
    run->round_s = (bc_elapsed_s() - run->start_s) / (double)run->rounds_done;
    if (run->warming) {
        run->warming = !has_warmed_up(run, rounds);
        return;
    }
    keep_samples(run, rounds);
    const size_t count = bc_samples_in_visit(run->samples);
    if (plan->settled != NULL && count >= run->next_look) {
        const struct bc_samples visit = bc_samples_of_visit(run->samples, run->samples->visits - 1);
        run->next_look = bc_next_look(count, (size_t)plan->min_rounds);
        run->settled = count >= (size_t)plan->min_rounds && plan->settled(&visit, plan->context);
    }
}

static bool time_is_up(const struct run *run)
{
    const struct bc_plan *const plan = run->plan;
    const int64_t count = (int64_t)bc_samples_in_visit(run->samples) + dropped_rounds(run->samples);
    const double now_s = bc_elapsed_s();
    if (count < 1 || now_s < plan->deadline_s)
        return false;
    return count >= plan->grace_rounds || now_s + run->round_s > plan->deadline_s + plan->grace_s;
}

/* `wanted` rounds, limited to what a batch holds and the time allows, but at least one. */
static int32_t limit_batch(const struct run *run, int64_t wanted)
{
    if (run->rounds_done == 0)
        return 1; /* the first round shows how long a round takes */
    const double left_s = run->plan->deadline_s - bc_elapsed_s();
    if (wanted > BATCH_MAX)
        wanted = BATCH_MAX;
    if ((double)wanted * run->round_s > left_s)
        wanted = left_s > 0.0 ? (int64_t)(left_s / run->round_s) : 0;
    return wanted < 1 ? 1 : (int32_t)wanted;
}

static struct order next_order(const struct run *run)
{
    const struct bc_plan *const plan = run->plan;
    const int64_t count = (int64_t)bc_samples_in_visit(run->samples);
    int64_t wanted = plan->max_rounds - count;
    if (run->warming) {
        wanted = plan->warmup_rounds >= 0 ? plan->warmup_rounds - run->rounds_done
                 : plan->was_warm         ? 1
                                          : WARMUP_BATCH;
        return (struct order){.rounds = limit_batch(run, wanted)};
    }
    if (run->settled || (wanted <= 0 && plan->min_rounds >= plan->max_rounds))
        return (struct order){.end = BC_END_SETTLED};
    if (wanted <= 0)
        return (struct order){.end = BC_END_MAX};
    if (time_is_up(run))
        return (struct order){.end = BC_END_TIME};
    if (plan->settled != NULL && (int64_t)run->next_look - count < wanted)
        wanted = (int64_t)run->next_look - count;
    return (struct order){.rounds = limit_batch(run, wanted), .counts = 1};
}

/* ---- every rank follows ---------------------------------------------------------------------- */

/* Turns the reduced values into samples, in place, and notes the missed rounds. Rank 0. */
static void join_starts_and_ends(const struct bc_source *source, int rounds)
{
    const struct bc_located *reduced = slowest;
    struct bc_located *sample = slowest;
    for (int i = 0; i < rounds; i++) {
        missed[i] = false;
        for (int q = 0; q < source->quantities; q++, reduced += REDUCED) {
            if (reduced[LAST_START].value > source->starts->late_ns)
                missed[i] = true;
            *sample++ = (struct bc_located){reduced[LAST_END].value + reduced[FIRST_START].value,
                                            reduced[LAST_END].rank};
        }
    }
}

/* Sets the rank whose value counts, for each quantity: the one with the largest median of the
   latest rounds, if ranks start apart. MPI_PROC_NULL: the slowest rank of each round, also of the
   first one, which is a batch of its own. Collective; the same on every rank. */
static void choose_ranks(const struct run *run, int rank, int chosen[])
{
    const int quantities = run->source->quantities;
    const size_t count = run->own_count < BATCH_MAX ? run->own_count : BATCH_MAX;
    struct bc_located own[BC_QUANTITIES_MAX], largest[BC_QUANTITIES_MAX];
    for (int q = 0; q < quantities; q++)
        chosen[q] = MPI_PROC_NULL;
    if (!run->source->starts_apart || count == 0)
        return;
    for (int q = 0; q < quantities; q++) {
        double values[BATCH_MAX];
        memcpy(values, run->own[q], count * sizeof *values);
        /* A rank that takes no part has no median. */
        own[q] =
            (struct bc_located){isfinite(values[0]) ? bc_median(values, count) : -INFINITY, rank};
    }
    bc_harness_allreduce(own, largest, quantities, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    for (int q = 0; q < quantities; q++)
        chosen[q] = largest[q].rank;
}

static void take_batch(struct run *run, int rounds, int rank)
{
    const struct bc_source *const source = run->source;
    const struct bc_starts *const starts = source->starts;
    const double repetitions = source->repetitions > 0 ? (double)source->repetitions : 1.0;
    double values[BATCH_MAX][BC_QUANTITIES_MAX];
    double start_ns[BATCH_MAX][BC_QUANTITIES_MAX] = {{0.0}};
    int chosen[BC_QUANTITIES_MAX];
    choose_ranks(run, rank, chosen);
    for (int i = 0; i < rounds; i++) {
        source->take(source->context, values[i]);
        if (starts != NULL)
            memcpy(start_ns[i], starts->start_ns, sizeof start_ns[i]);
    }
    /* The time from the first start to the last end is the time of the rank that ends last, plus
       how much earlier the first rank started. A start is a single reading, so the difference of
       two starts contains no cost of the clock; the time of the rank that ends last does. So each
       rank subtracts its own clock's cost from its end, before the last end is found. Starts are
       divided by the repetitions as the values are. A rank that takes no part has neither start
       nor end. */
    struct bc_located *next = local;
    for (int i = 0; i < rounds; i++)
        for (int q = 0; q < source->quantities; q++) {
            const double own = values[i][q] - source->clock_ns;
            const bool counts = chosen[q] == MPI_PROC_NULL || chosen[q] == rank;
            const double value = counts ? own : -INFINITY;
            const double reduced[REDUCED] = {
                [LAST_END] = start_ns[i][q] / repetitions + value,
                [FIRST_START] = -start_ns[i][q] / repetitions,
                [LAST_START] = start_ns[i][q],
            };
            for (int part = 0; part < (starts != NULL ? REDUCED : 1); part++)
                *next++ = (struct bc_located){value > -INFINITY ? reduced[part] : -INFINITY, rank};
            run->own[q][(run->own_count + (size_t)i) % BATCH_MAX] = own;
        }
    run->own_count += (size_t)rounds;
    bc_harness_reduce(local, slowest, (int)(next - local), MPI_DOUBLE_INT, MPI_MAXLOC, 0,
                      MPI_COMM_WORLD);
    if (starts != NULL && rank == 0)
        join_starts_and_ends(source, rounds);
}

enum bc_end bc_take_rounds(const struct bc_source *source, const struct bc_plan *plan,
                           struct bc_samples *samples)
{
    int rank;
    struct run run = {
        .source = source,
        .plan = plan,
        .samples = samples,
        .start_s = bc_elapsed_s(),
        .warming = plan->warmup_rounds != 0,
        .next_look = (size_t)plan->min_rounds,
    };
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank == 0 && !plan->adds) {
        bc_samples_begin_visit(samples);
        if (samples->dropped != NULL)
            bc_samples_clear(samples->dropped);
    }
    for (;;) {
        struct order order = {0};
        if (rank == 0)
            order = next_order(&run);
        bc_harness_bcast(&order, 3, MPI_INT32_T, 0, MPI_COMM_WORLD);
        if (rank == 0 && order.end == BC_END_TIME)
            use_dropped(&run);
        if (order.rounds == 0)
            return (enum bc_end)order.end;
        take_batch(&run, order.rounds, rank);
        if (rank == 0)
            take_in_batch(&run, order.rounds);
        if (order.counts && source->between != NULL)
            source->between(source->between_context);
    }
}
