#include "common/stats/sampling.h"

#include "common/clock/clock.h"
#include "common/machine/memory.h"
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MAX 256 /* rounds in one reduction */

#define NO_MEMORY "no memory for %zu samples"

/* The warm-up ends when no quantity's median has fallen by more than WARMUP_FALL from one batch of
   WARMUP_BATCH rounds to the next, after WARMUP_BATCHES_MAX batches, or when it has used
   WARMUP_TIME_SHARE of the time. */
#define WARMUP_BATCH 5
#define WARMUP_FALL 0.02
#define WARMUP_BATCHES_MAX 20
#define WARMUP_TIME_SHARE 0.1

/* The values that are reduced for a quantity whose ranks start together; for others it is the value
   alone. */
enum { LAST_END, FIRST_START, LAST_START, REDUCED };

/* Rounds that were kept. */
struct store {
    struct bc_samples samples;
    int *slowest_rank; /* in each round */
    size_t capacity;
};

struct bc_sampler {
    MPI_Comm comm;
    int rank, size;
    struct bc_located *local;   /* BATCH_MAX rounds of all quantities */
    struct bc_located *slowest; /* the same, reduced; rank 0 */
    bool missed[BATCH_MAX];     /* whether a rank was late in each round of the batch; rank 0 */
    struct store kept;          /* rank 0 */
    struct store dropped;       /* missed rounds; rank 0 */
};

/* What rank 0 tells the others before each batch. */
struct order {
    int32_t rounds; /* 0: the run is over */
    int32_t end;    /* enum bc_end */
    int32_t counts; /* 0: the rounds belong to the warm-up */
};

/* What rank 0 knows of the current run. */
struct controller {
    const struct bc_plan *plan;
    struct bc_sampler *sampler;
    int quantities;
    double start_s;
    double round_s;      /* mean time of a round, with its barriers */
    int64_t rounds_done; /* warm-up and samples */
    bool warming;
    int warmup_batches;
    double warmup_medians[BC_QUANTITIES_MAX];
    size_t next_look;
    bool settled;
    struct bc_starts *starts; /* or NULL */
};

struct bc_sampler *bc_sampler_create(MPI_Comm comm)
{
    const size_t pairs = (size_t)BATCH_MAX * BC_QUANTITIES_MAX * REDUCED;
    struct bc_sampler *const sampler = bc_allocate(1, sizeof *sampler, NO_MEMORY, pairs);
    sampler->comm = comm;
    BC_MPI(MPI_Comm_rank(comm, &sampler->rank));
    BC_MPI(MPI_Comm_size(comm, &sampler->size));
    sampler->local = bc_allocate(pairs, sizeof *sampler->local, NO_MEMORY, pairs);
    if (sampler->rank == 0)
        sampler->slowest = bc_allocate(pairs, sizeof *sampler->slowest, NO_MEMORY, pairs);
    return sampler;
}

static void free_store(struct store *store)
{
    for (int q = 0; q < BC_QUANTITIES_MAX; q++)
        free(store->samples.values[q]);
    free(store->slowest_rank);
}

void bc_sampler_destroy(struct bc_sampler *sampler)
{
    if (sampler == NULL)
        return;
    free_store(&sampler->kept);
    free_store(&sampler->dropped);
    free(sampler->slowest);
    free(sampler->local);
    free(sampler);
}

/* ---- rank 0 decides -------------------------------------------------------------------------- */

static void *grow(void *memory, size_t count, size_t size)
{
    void *const grown = realloc(memory, count * size);
    if (grown == NULL)
        bc_abort(NO_MEMORY, count);
    return grown;
}

static void make_space(struct store *store, size_t count)
{
    if (count <= store->capacity)
        return;
    size_t capacity = store->capacity > 0 ? store->capacity : 1024;
    while (capacity < count)
        capacity *= 2;
    for (int q = 0; q < BC_QUANTITIES_MAX; q++)
        store->samples.values[q] =
            grow(store->samples.values[q], capacity, sizeof *store->samples.values[q]);
    store->slowest_rank = grow(store->slowest_rank, capacity, sizeof *store->slowest_rank);
    store->capacity = capacity;
}

/* Whether the last batch was no longer faster than the one before. */
static bool has_warmed_up(struct controller *controller, int rounds)
{
    const struct bc_plan *const plan = controller->plan;
    const double now_s = bc_elapsed_s();
    if (plan->warmup_rounds >= 0)
        return controller->rounds_done >= plan->warmup_rounds || now_s >= plan->deadline_s;
    bool falling = controller->warmup_batches == 0;
    for (int q = 0; q < controller->quantities; q++) {
        double batch[BATCH_MAX];
        for (int i = 0; i < rounds; i++)
            batch[i] = controller->sampler->slowest[i * controller->quantities + q].value;
        const double median = bc_median(batch, (size_t)rounds);
        const double before = controller->warmup_medians[q];
        /* Without the clock's cost a value may be below 0. */
        if (median < before - WARMUP_FALL * fabs(before))
            falling = true;
        controller->warmup_medians[q] = median;
    }
    controller->warmup_batches++;
    return !falling || controller->warmup_batches >= WARMUP_BATCHES_MAX ||
           now_s - controller->start_s >
               WARMUP_TIME_SHARE * (plan->deadline_s - controller->start_s);
}

/* Appends a round to a store. */
static void keep_round(struct store *store, int quantities, const struct bc_located *round,
                       int slowest_of)
{
    const size_t place = store->samples.count;
    make_space(store, place + 1);
    for (int q = 0; q < quantities; q++)
        store->samples.values[q][place] = round[q].value;
    store->slowest_rank[place] = round[slowest_of].rank;
    store->samples.count++;
}

static void keep_samples(struct controller *controller, int rounds, int slowest_of)
{
    struct bc_sampler *const sampler = controller->sampler;
    const struct bc_located *round = sampler->slowest;
    for (int i = 0; i < rounds; i++, round += controller->quantities) {
        const bool missed = sampler->missed[i];
        const bool drops =
            missed && (int64_t)sampler->dropped.samples.count < controller->plan->retakes;
        keep_round(drops ? &sampler->dropped : &sampler->kept, controller->quantities, round,
                   slowest_of);
        if (controller->starts == NULL)
            continue;
        controller->starts->rounds++;
        controller->starts->missed += missed;
        controller->starts->used += missed && !drops;
    }
}

/* Uses the missed rounds if there are too few others. */
static void use_dropped(struct controller *controller, int slowest_of)
{
    struct bc_sampler *const sampler = controller->sampler;
    const struct bc_samples *const dropped = &sampler->dropped.samples;
    const int64_t count = (int64_t)sampler->kept.samples.count;
    const int64_t grace_rounds = controller->plan->grace_rounds;
    const int64_t needed = grace_rounds > 0 || controller->plan->adds ? grace_rounds : 1;
    if (dropped->count == 0 || count >= needed)
        return;
    for (size_t i = 0; i < dropped->count; i++) {
        struct bc_located round[BC_QUANTITIES_MAX];
        for (int q = 0; q < controller->quantities; q++)
            round[q] = (struct bc_located){dropped->values[q][i], sampler->dropped.slowest_rank[i]};
        keep_round(&sampler->kept, controller->quantities, round, slowest_of);
    }
    controller->starts->used += (int64_t)dropped->count;
    sampler->dropped.samples.count = 0;
}

static void take_in_batch(struct controller *controller, int rounds, int slowest_of)
{
    controller->rounds_done += rounds;
    controller->round_s = (bc_elapsed_s() - controller->start_s) / (double)controller->rounds_done;
    if (controller->warming) {
        controller->warming = !has_warmed_up(controller, rounds);
        return;
    }
    keep_samples(controller, rounds, slowest_of);
    const struct bc_plan *const plan = controller->plan;
    const struct bc_samples *const samples = &controller->sampler->kept.samples;
    if (plan->settled != NULL && samples->count >= controller->next_look) {
        controller->next_look = bc_next_look(samples->count, (size_t)plan->min_rounds);
        controller->settled =
            samples->count >= (size_t)plan->min_rounds && plan->settled(samples, plan->context);
    }
}

static bool time_is_up(const struct controller *controller)
{
    const struct bc_plan *const plan = controller->plan;
    const struct bc_sampler *const sampler = controller->sampler;
    const int64_t count = (int64_t)(sampler->kept.samples.count + sampler->dropped.samples.count);
    const double now_s = bc_elapsed_s();
    if (count < 1 || now_s < plan->deadline_s)
        return false;
    return count >= plan->grace_rounds ||
           now_s + controller->round_s > plan->deadline_s + plan->grace_s;
}

/* `wanted` rounds, limited to what a batch holds and the time allows, but at least one. */
static int32_t limit_batch(const struct controller *controller, int64_t wanted)
{
    if (controller->rounds_done == 0)
        return 1; /* the first round shows how long a round takes */
    const double left_s = controller->plan->deadline_s - bc_elapsed_s();
    if (wanted > BATCH_MAX)
        wanted = BATCH_MAX;
    if ((double)wanted * controller->round_s > left_s)
        wanted = (int64_t)(left_s / controller->round_s);
    return wanted < 1 ? 1 : (int32_t)wanted;
}

static struct order next_order(const struct controller *controller)
{
    const struct bc_plan *const plan = controller->plan;
    const int64_t count = (int64_t)controller->sampler->kept.samples.count;
    if (controller->warming) {
        const int64_t wanted =
            plan->warmup_rounds < 0 ? WARMUP_BATCH : plan->warmup_rounds - controller->rounds_done;
        return (struct order){.rounds = limit_batch(controller, wanted)};
    }
    if (controller->settled)
        return (struct order){.end = BC_END_SETTLED};
    if (count >= plan->max_rounds)
        return (struct order){.end = plan->min_rounds >= plan->max_rounds ? BC_END_SETTLED
                                                                          : BC_END_MAX};
    if (time_is_up(controller))
        return (struct order){.end = BC_END_TIME};
    int64_t wanted = plan->max_rounds - count;
    if (plan->settled != NULL && (int64_t)controller->next_look - count < wanted)
        wanted = (int64_t)controller->next_look - count;
    return (struct order){.rounds = limit_batch(controller, wanted), .counts = 1};
}

/* ---- every rank follows ---------------------------------------------------------------------- */

/* This rank's end and start, divided by the repetitions as the value is, and the start as it is. A
   rank that takes no part in the round has none of them. */
static void set_reduced(struct bc_located *reduced, double value, double start_ns,
                        double repetitions, int rank)
{
    const bool has_part = value > -INFINITY;
    const double ends[REDUCED] = {
        [LAST_END] = start_ns / repetitions + value,
        [FIRST_START] = -start_ns / repetitions,
        [LAST_START] = start_ns,
    };
    for (int i = 0; i < REDUCED; i++)
        reduced[i] = (struct bc_located){has_part ? ends[i] : -INFINITY, rank};
}

/* Turns the reduced values into samples, in place, and notes the missed rounds. Rank 0. */
static void join_starts_and_ends(struct bc_sampler *sampler, const struct bc_source *source,
                                 int rounds)
{
    const struct bc_located *reduced = sampler->slowest;
    struct bc_located *sample = sampler->slowest;
    for (int i = 0; i < rounds; i++) {
        sampler->missed[i] = false;
        for (int q = 0; q < source->quantities; q++, reduced += REDUCED) {
            if (reduced[LAST_START].value > source->starts->late_ns)
                sampler->missed[i] = true;
            *sample++ = (struct bc_located){reduced[LAST_END].value + reduced[FIRST_START].value,
                                            reduced[LAST_END].rank};
        }
    }
}

static void take_batch_together(struct bc_sampler *sampler, const struct bc_source *source,
                                int rounds)
{
    const double repetitions = source->repetitions > 0 ? (double)source->repetitions : 1.0;
    struct bc_located *reduced = sampler->local;
    for (int i = 0; i < rounds; i++) {
        double values[BC_QUANTITIES_MAX];
        source->take(source->context, values);
        /* The time from the first start to the last end is the time of the rank that ends last,
           plus how much earlier the first rank started. A start is a single reading, so the
           difference of two starts contains no cost of the clock; the time of the rank that ends
           last does. So each rank subtracts its own clock's cost from its end, before the last end
           is found. */
        for (int q = 0; q < source->quantities; q++, reduced += REDUCED)
            set_reduced(reduced, values[q] - source->clock_ns, source->starts->start_ns[q],
                        repetitions, sampler->rank);
    }
    bc_harness_reduce(sampler->local, sampler->slowest, rounds * source->quantities * REDUCED,
                      MPI_DOUBLE_INT, MPI_MAXLOC, 0, sampler->comm);
    if (sampler->rank == 0)
        join_starts_and_ends(sampler, source, rounds);
}

static void take_batch(struct bc_sampler *sampler, const struct bc_source *source, int rounds)
{
    if (source->starts != NULL) {
        take_batch_together(sampler, source, rounds);
        return;
    }
    double values[BATCH_MAX * BC_QUANTITIES_MAX];
    const int pairs = rounds * source->quantities;
    double *next = values;
    for (int i = 0; i < rounds; i++, next += source->quantities)
        source->take(source->context, next);
    for (int i = 0; i < pairs; i++)
        sampler->local[i] = (struct bc_located){values[i] - source->clock_ns, sampler->rank};
    bc_harness_reduce(sampler->local, sampler->slowest, pairs, MPI_DOUBLE_INT, MPI_MAXLOC, 0,
                      sampler->comm);
}

enum bc_end bc_sampler_run(struct bc_sampler *sampler, const struct bc_source *source,
                           const struct bc_plan *plan)
{
    struct controller controller = {
        .plan = plan,
        .sampler = sampler,
        .quantities = source->quantities,
        .start_s = bc_elapsed_s(),
        .warming = plan->warmup_rounds != 0,
        .next_look = (size_t)plan->min_rounds,
        .starts = source->starts,
    };
    if (!plan->adds) {
        sampler->kept.samples.count = 0;
        sampler->dropped.samples.count = 0;
    }
    memset(sampler->missed, 0, sizeof sampler->missed);
    struct order order;
    for (;;) {
        order = (struct order){0};
        if (sampler->rank == 0)
            order = next_order(&controller);
        bc_harness_bcast(&order, 3, MPI_INT32_T, 0, sampler->comm);
        if (order.rounds == 0)
            break;
        take_batch(sampler, source, order.rounds);
        if (sampler->rank == 0)
            take_in_batch(&controller, order.rounds, source->slowest_of);
        if (order.counts && source->between != NULL)
            source->between(source->between_context);
    }
    if (sampler->rank == 0 && order.end == BC_END_TIME)
        use_dropped(&controller, source->slowest_of);
    return (enum bc_end)order.end;
}

const struct bc_samples *bc_sampler_samples(const struct bc_sampler *sampler)
{
    return &sampler->kept.samples;
}

int bc_sampler_slowest_rank(const struct bc_sampler *sampler)
{
    if (sampler->kept.samples.count == 0)
        return -1;
    const size_t size = (size_t)sampler->size;
    int *const counts = bc_allocate(size, sizeof *counts, NO_MEMORY, size);
    for (size_t i = 0; i < sampler->kept.samples.count; i++)
        counts[sampler->kept.slowest_rank[i]]++;
    int slowest = 0;
    for (int rank = 1; rank < sampler->size; rank++)
        if (counts[rank] > counts[slowest])
            slowest = rank;
    free(counts);
    return slowest;
}

/* ---- summaries ------------------------------------------------------------------------------- */

struct bc_summary bc_samples_summarize_difference(const struct bc_samples *samples, int quantity,
                                                  int subtrahend, enum bc_estimator estimator,
                                                  double confidence)
{
    double *const values = bc_allocate(samples->count, sizeof *values, NO_MEMORY, samples->count);
    for (size_t i = 0; i < samples->count; i++) {
        values[i] = samples->values[quantity][i];
        if (subtrahend >= 0)
            values[i] -= samples->values[subtrahend][i];
    }
    const struct bc_summary summary = bc_summarize(values, samples->count, estimator, confidence);
    free(values);
    return summary;
}

struct bc_summary bc_samples_summarize(const struct bc_samples *samples, int quantity,
                                       enum bc_estimator estimator, double confidence)
{
    return bc_samples_summarize_difference(samples, quantity, -1, estimator, confidence);
}
