/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/measure/sequence.h"

#include "common/clock/clock.h"
#include "common/mpi/harness.h"
#include "common/memory/allocate.h"

#include <math.h>
#include <string.h>

/* The warm-up ends when no quantity's median has fallen by more than WARMUP_FALL from one batch of
   WARMUP_BATCH rounds to the next; at the latest after WARMUP_BATCHES_MAX batches or
   WARMUP_TIME_SHARE of the time. */
#define WARMUP_BATCH 5
#define WARMUP_FALL 0.02
#define WARMUP_BATCHES_MAX 20
#define WARMUP_TIME_SHARE 0.1

/* In later visits the warm-up uses the new buffers once: 1 to WARMUP_BATCH rounds, the last of
   which begins within LATER_WARMUP_SHARE of the time. */
#define LATER_WARMUP_SHARE 0.01

/* Values reduced for a quantity if ranks start together; otherwise LAST_END alone, with a start of
   0. */
enum { LAST_END, FIRST_START, LAST_START, REDUCED };

#define REDUCED_MAX ((size_t)BC_BATCH_MAX * BC_QUANTITIES_MAX * REDUCED)

/* The current batch: its values; on rank 0 the reduced values, and for each round if a rank was
   late. */
static struct bc_located local[REDUCED_MAX], slowest[REDUCED_MAX];
static bool missed[BC_BATCH_MAX];

/* Order that rank 0 sends to all ranks before each batch. */
struct batch_order {
    int32_t rounds;    /* 0: the sequence has ended */
    int32_t end;       /* enum bc_end */
    int32_t is_sample; /* 0: the rounds belong to the warm-up */
};

/* ---- rank 0 decides -------------------------------------------------------------------------- */

/* True if the warm-up is over: after the requested rounds, the few rounds of a later visit, or a
   batch no faster than the one before. */
static bool has_warmed_up(struct bc_sequence *sequence, int rounds)
{
    const struct bc_plan *const plan = &sequence->plan;
    const int quantities = sequence->quantities->count;
    const double now_s = bc_elapsed_s();
    if (plan->warmup_rounds >= 0)
        return sequence->rounds_done >= plan->warmup_rounds || now_s >= plan->deadline_s;
    if (plan->was_warm)
        return sequence->rounds_done >= WARMUP_BATCH ||
               now_s - sequence->start_s >
                   LATER_WARMUP_SHARE * (plan->deadline_s - sequence->start_s);
    bool falling = sequence->warmup_batches++ == 0;
    for (int q = 0; q < quantities; q++) {
        double batch[BC_BATCH_MAX];
        for (int i = 0; i < rounds; i++)
            batch[i] = slowest[i * quantities + q].value;
        const double median = bc_median(batch, (size_t)rounds);
        const double before = sequence->warmup_medians[q];
        /* A value may be below 0 after the clock's cost is subtracted. */
        if (median < before - WARMUP_FALL * fabs(before))
            falling = true;
        sequence->warmup_medians[q] = median;
    }
    return !falling || sequence->warmup_batches >= WARMUP_BATCHES_MAX ||
           now_s - sequence->start_s > WARMUP_TIME_SHARE * (plan->deadline_s - sequence->start_s);
}

static int64_t dropped_rounds(const struct bc_samples *samples)
{
    return samples->dropped != NULL ? (int64_t)samples->dropped->count : 0;
}

static void keep_samples(struct bc_sequence *sequence, int rounds)
{
    struct bc_samples *const samples = sequence->samples;
    const bool in_window = sequence->window != NULL;
    const int quantities = sequence->quantities->count;
    for (int i = 0; i < rounds; i++) {
        const struct bc_located *const round = &slowest[(ptrdiff_t)i * quantities];
        const bool is_missed = in_window && missed[i];
        const bool drops = is_missed && dropped_rounds(samples) < sequence->plan.retakes;
        double values[BC_QUANTITIES_MAX];
        for (int q = 0; q < quantities; q++)
            values[q] = round[q].value;
        if (drops && samples->dropped == NULL)
            samples->dropped = bc_allocate(1, sizeof *samples, "no memory for samples");
        bc_samples_append(drops ? samples->dropped : samples, values, quantities,
                          round[sequence->quantities->slowest_of].rank);
        if (!in_window)
            continue;
        struct bc_window_counts *const counts = bc_start_window_counts(sequence->window);
        counts->rounds++;
        counts->missed += is_missed;
        counts->used += is_missed && !drops;
    }
}

/* Uses the missed rounds if there are too few good ones. */
static void use_dropped(struct bc_sequence *sequence)
{
    struct bc_samples *const dropped = sequence->samples->dropped;
    const int64_t grace_rounds = sequence->plan.grace_rounds;
    const int64_t needed = grace_rounds > 0 || sequence->plan.adds ? grace_rounds : 1;
    if (dropped_rounds(sequence->samples) == 0 ||
        (int64_t)bc_samples_in_visit(sequence->samples) >= needed)
        return;
    for (size_t i = 0; i < dropped->count; i++) {
        double values[BC_QUANTITIES_MAX];
        for (int q = 0; q < sequence->quantities->count; q++)
            values[q] = dropped->values[q][i];
        bc_samples_append(sequence->samples, values, sequence->quantities->count,
                          dropped->slowest_rank[i]);
    }
    bc_start_window_counts(sequence->window)->used += (int64_t)dropped->count;
    bc_samples_clear(dropped);
}

static void keep_batch(struct bc_sequence *sequence, int rounds)
{
    const struct bc_plan *const plan = &sequence->plan;
    sequence->rounds_done += rounds;
    sequence->round_s = (bc_elapsed_s() - sequence->start_s) / (double)sequence->rounds_done;
    if (sequence->warming) {
        sequence->warming = !has_warmed_up(sequence, rounds);
        return;
    }
    keep_samples(sequence, rounds);
    const size_t count = bc_samples_in_visit(sequence->samples);
    if (plan->precise != NULL && count >= sequence->next_look) {
        const struct bc_samples visit =
            bc_samples_of_visit(sequence->samples, sequence->samples->visits - 1);
        sequence->next_look = bc_next_look(count, (size_t)plan->min_rounds);
        sequence->settled = count >= (size_t)plan->min_rounds &&
                            bc_values_are_precise(sequence->run, &visit, plan->precise,
                                                  plan->precise_count, sequence->stopping);
    }
}

static bool time_is_up(const struct bc_sequence *sequence)
{
    const struct bc_plan *const plan = &sequence->plan;
    const int64_t count =
        (int64_t)bc_samples_in_visit(sequence->samples) + dropped_rounds(sequence->samples);
    const double now_s = bc_elapsed_s();
    if (count < 1 || now_s < plan->deadline_s)
        return false;
    return count >= plan->grace_rounds ||
           now_s + sequence->round_s > plan->deadline_s + plan->grace_s;
}

/* Returns `wanted`, limited by the size of a batch and the time left, but at least 1. */
static int32_t limit_batch(const struct bc_sequence *sequence, int64_t wanted)
{
    if (sequence->rounds_done == 0)
        return 1; /* the first round shows how long a round takes */
    const double left_s = sequence->plan.deadline_s - bc_elapsed_s();
    if (wanted > BC_BATCH_MAX)
        wanted = BC_BATCH_MAX;
    if ((double)wanted * sequence->round_s > left_s)
        wanted = left_s > 0.0 ? (int64_t)(left_s / sequence->round_s) : 0;
    return wanted < 1 ? 1 : (int32_t)wanted;
}

static struct batch_order next_order(const struct bc_sequence *sequence)
{
    const struct bc_plan *const plan = &sequence->plan;
    const int64_t count = (int64_t)bc_samples_in_visit(sequence->samples);
    int64_t wanted = plan->max_rounds - count;
    if (sequence->warming) {
        wanted = plan->warmup_rounds >= 0 ? plan->warmup_rounds - sequence->rounds_done
                 : plan->was_warm         ? 1
                                          : WARMUP_BATCH;
        return (struct batch_order){.rounds = limit_batch(sequence, wanted)};
    }
    if (sequence->settled || (wanted <= 0 && plan->min_rounds >= plan->max_rounds))
        return (struct batch_order){.end = BC_END_SETTLED};
    if (wanted <= 0)
        return (struct batch_order){.end = BC_END_MAX};
    if (time_is_up(sequence))
        return (struct batch_order){.end = BC_END_TIME};
    if (plan->precise != NULL && (int64_t)sequence->next_look - count < wanted)
        wanted = (int64_t)sequence->next_look - count;
    return (struct batch_order){.rounds = limit_batch(sequence, wanted), .is_sample = 1};
}

/* ---- every rank follows ---------------------------------------------------------------------- */

void bc_sequence_begin(struct bc_sequence *sequence)
{
    sequence->start_s = bc_elapsed_s();
    sequence->warming = sequence->plan.warmup_rounds != 0;
    sequence->next_look = (size_t)sequence->plan.min_rounds;
    for (int i = 0; i < BC_PRECISE_VALUES_MAX; i++)
        sequence->stopping[i].precision = sequence->run->settings.precision_pct / 100.0;
    if (sequence->run->job.rank != 0 || sequence->plan.adds)
        return;
    bc_samples_begin_visit(sequence->samples);
    if (sequence->samples->dropped != NULL)
        bc_samples_clear(sequence->samples->dropped);
}

/* Turns the reduced values into samples, in place, and notes the missed rounds. Rank 0. */
static void join_starts_and_ends(const struct bc_sequence *sequence, int rounds)
{
    const double late_ns = bc_start_window_late_ns(sequence->window);
    const struct bc_located *reduced = slowest;
    struct bc_located *sample = slowest;
    for (int i = 0; i < rounds; i++) {
        missed[i] = false;
        for (int q = 0; q < sequence->quantities->count; q++, reduced += REDUCED) {
            if (reduced[LAST_START].value > late_ns)
                missed[i] = true;
            *sample++ = (struct bc_located){reduced[LAST_END].value + reduced[FIRST_START].value,
                                            reduced[LAST_END].rank};
        }
    }
}

/* Sets the rank whose value is the sample, for each quantity: MPI_PROC_NULL for the slowest rank of
   each round, or, if ranks start apart, the rank with the largest median of the latest rounds.
   Ranks start apart after an untimed repetition: a rank's time then contains its wait for ranks
   that started later. The maximum over ranks would contain such a wait in every round: on average
   15 % of two halo exchanges if one message in 500 takes nine times as long. Each rank's own time
   has the right mean, because it starts where its last repetition ended, and because earlier rounds
   choose the rank independently of the sample. The first round, a batch of its own, uses the
   slowest rank. Collective; the same on every rank. */
static void choose_ranks(struct bc_sequence *sequence)
{
    int *const chosen = sequence->chosen;
    const bool starts_apart = sequence->lead_in > 0 && sequence->window == NULL;
    const int quantities = sequence->quantities->count, rank = sequence->run->job.rank;
    const size_t count = sequence->own_count < BC_BATCH_MAX ? sequence->own_count : BC_BATCH_MAX;
    struct bc_located own[BC_QUANTITIES_MAX] = {{0.0, 0}}, largest[BC_QUANTITIES_MAX];
    for (int q = 0; q < quantities; q++)
        chosen[q] = MPI_PROC_NULL;
    if (!starts_apart || count == 0)
        return;
    for (int q = 0; q < quantities; q++) {
        double values[BC_BATCH_MAX];
        memcpy(values, sequence->own[q], count * sizeof *values);
        /* A rank that takes no part has no median. */
        own[q] =
            (struct bc_located){isfinite(values[0]) ? bc_median(values, count) : -INFINITY, rank};
    }
    bc_harness_allreduce(own, largest, quantities, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    for (int q = 0; q < quantities; q++)
        chosen[q] = largest[q].rank;
}

int bc_sequence_order(struct bc_sequence *sequence)
{
    const bool root = sequence->run->job.rank == 0;
    struct batch_order order = {0};
    if (root)
        order = next_order(sequence);
    bc_harness_bcast(&order, 3, MPI_INT32_T, 0, MPI_COMM_WORLD);
    if (root && order.end == BC_END_TIME)
        use_dropped(sequence);
    sequence->end = (enum bc_end)order.end;
    sequence->is_sample = order.is_sample != 0;
    if (order.rounds > 0)
        choose_ranks(sequence);
    return order.rounds;
}

void bc_sequence_take(struct bc_sequence *sequence, int rounds, double (*ns)[BC_QUANTITIES_MAX],
                      double (*starts_ns)[BC_QUANTITIES_MAX])
{
    const int rank = sequence->run->job.rank;
    const bool in_window = sequence->window != NULL;
    const double repetitions = (double)sequence->repetitions;
    const double clock_ns =
        sequence->quantities->clock_readings * sequence->run->own_clock.read_ns / repetitions;
    /* The time from the first start to the last end is the time of the rank that ends last, plus
       how much earlier the first rank started. A start is a single reading, so the difference of
       two starts contains no cost of the clock; the time of the rank that ends last does. So each
       rank subtracts its own clock's cost from its end, before the last end is found. Starts are
       divided by the repetitions as the values are. A rank that takes no part has neither start
       nor end. */
    struct bc_located *next = local;
    for (int i = 0; i < rounds; i++)
        for (int q = 0; q < sequence->quantities->count; q++) {
            const double own = ns[i][q] / repetitions - clock_ns;
            const int chosen = sequence->chosen[q];
            const double value = chosen == MPI_PROC_NULL || chosen == rank ? own : -INFINITY;
            const double reduced[REDUCED] = {
                [LAST_END] = starts_ns[i][q] / repetitions + value,
                [FIRST_START] = -starts_ns[i][q] / repetitions,
                [LAST_START] = starts_ns[i][q],
            };
            for (int part = 0; part < (in_window ? REDUCED : 1); part++)
                *next++ = (struct bc_located){value > -INFINITY ? reduced[part] : -INFINITY, rank};
            sequence->own[q][(sequence->own_count + (size_t)i) % BC_BATCH_MAX] = own;
        }
    sequence->own_count += (size_t)rounds;
    bc_harness_reduce(local, slowest, (int)(next - local), MPI_DOUBLE_INT, MPI_MAXLOC, 0,
                      MPI_COMM_WORLD);
    if (in_window && rank == 0)
        join_starts_and_ends(sequence, rounds);
    if (rank == 0)
        keep_batch(sequence, rounds);
}
