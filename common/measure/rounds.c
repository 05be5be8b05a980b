/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/measure/rounds.h"

#include "common/clock/clock.h"
#include "common/measure/sequence.h"
#include "common/mpi/harness.h"

#include <math.h>

/* A batch takes about this long, or longer if the clock is slow. */
#define BATCH_NS 20000.0
#define BATCH_CLOCKS 100.0
#define BATCH_REPETITIONS_MAX 10000.0

/* The share of single repetitions in the time of batches and single repetitions. */
#define SINGLES_SHARE 0.1

/* Ten of these lie beyond the 99th percentile. */
#define SINGLES_WANTED 1000

enum stage {
    SEARCH,        /* rounds that find the batch length */
    SHARED_SEARCH, /* the search in an oversubscribed job, as a sequence */
    BATCHES,       /* the row's samples */
    SINGLES,       /* single repetitions between two batches of rounds */
    LAST_SINGLES,  /* single repetitions after the last batch */
};

/* Only one at a time: programs run one sequence of rounds after the other. */
static struct bc_rounds {
    const struct bc_run *run;
    const struct bc_quantities *quantities;
    struct bc_store *store; /* NULL for rounds by a plan */
    enum stage stage;
    double seconds; /* time left for sampling; rank 0 */
    double start_s; /* start of the visit, then of the batches */
    bool has_singles;
    double spent_s, singles_start_s; /* spent on single repetitions so far; the last ones' start */

    /* The search for the batch length: after `tries` rounds of `tried` repetitions. */
    int64_t tried;
    int tries;
    double quickest_ns; /* of a repetition */

    struct bc_sequence batches, singles;
    struct bc_sequence *current;
    int next, count; /* the round to come, and the number of rounds, in the current batch */
    struct bc_round round;
} only;

/* The current batch: this rank's time of each quantity in each round, and its start. */
static double batch_ns[BC_BATCH_MAX][BC_QUANTITIES_MAX];
static double batch_starts_ns[BC_BATCH_MAX][BC_QUANTITIES_MAX];

/* ---- batches of rounds ----------------------------------------------------------------------- */

static void open_batch(struct bc_rounds *r, int rounds, const struct bc_round *like)
{
    r->round = *like;
    r->next = 0;
    r->count = rounds;
    for (int i = 0; i < rounds; i++)
        for (int q = 0; q < r->quantities->count; q++) {
            batch_ns[i][q] = -INFINITY;
            batch_starts_ns[i][q] = 0.0;
        }
}

static void begin_sequence(struct bc_rounds *r, struct bc_sequence *sequence,
                           const struct bc_plan *plan, struct bc_samples *samples,
                           int64_t repetitions, int64_t lead_in)
{
    *sequence = (struct bc_sequence){
        .run = r->run,
        .quantities = r->quantities,
        .plan = *plan,
        .samples = samples,
        .window = r->run->window,
        .repetitions = repetitions,
        .lead_in = lead_in,
    };
    r->current = sequence;
    bc_sequence_begin(sequence);
}

/* ---- single repetitions ---------------------------------------------------------------------- */

static int64_t step_of(const struct bc_quantities *quantities)
{
    return quantities->step > 0 ? quantities->step : 1;
}

/* Begins single repetitions: up to `count`, limited by the visit's samples, until they have taken
   `seconds`; at least one if `needs_one`. Arguments are significant on rank 0. */
static void begin_singles(struct bc_rounds *r, enum stage stage, int64_t count, double seconds,
                          bool needs_one)
{
    r->stage = stage;
    r->singles_start_s = bc_elapsed_s();
    struct bc_plan plan = bc_plan_of(r->run, NULL, seconds - r->spent_s);
    plan.max_rounds = count < plan.max_rounds ? count : plan.max_rounds;
    plan.min_rounds = plan.max_rounds;
    plan.grace_rounds = needs_one ? 1 : 0;
    plan.warmup_rounds = 0;
    plan.adds = true;
    begin_sequence(r, &r->singles, &plan, &r->store->singles, step_of(r->quantities),
                   r->quantities->lead_in == BC_LEAD_IN_NEVER ? 0 : 1);
}

/* ---- batches of repetitions ------------------------------------------------------------------ */

static int64_t lead_in_of(const struct bc_quantities *quantities, int64_t repetitions)
{
    if (quantities->lead_in == BC_LEAD_IN_BATCHES)
        return repetitions > step_of(quantities);
    return quantities->lead_in == BC_LEAD_IN_ALWAYS;
}

static void begin_batches(struct bc_rounds *r)
{
    static const struct bc_precise_value first = {.quantity = 0, .subtrahend = -1};
    const struct bc_quantities *const quantities = r->quantities;
    struct bc_store *const store = r->store;
    r->stage = BATCHES;
    r->has_singles = !quantities->no_tail && store->repetitions > step_of(quantities);
    if (r->has_singles) {
        r->start_s = bc_elapsed_s();
        bc_samples_begin_visit(&store->singles);
    }
    struct bc_plan plan = bc_plan_of(r->run, &store->samples, r->seconds);
    if (quantities->precise_count > 0)
        bc_plan_until_precise(&plan, quantities->precise, quantities->precise_count);
    else
        bc_plan_until_precise(&plan, &first, 1);
    begin_sequence(r, &r->batches, &plan, &store->samples, store->repetitions,
                   lead_in_of(quantities, store->repetitions));
}

/* ---- the length of a batch ------------------------------------------------------------------- */

static double batch_takes_ns(const struct bc_rounds *r)
{
    return fmax(r->quantities->batch_ns > 0.0 ? r->quantities->batch_ns : BATCH_NS,
                BATCH_CLOCKS * r->run->max_clock.read_ns);
}

/* Returns the number of repetitions, of `ns` each, that makes a batch long enough for the clock. */
static int64_t repetitions_of(const struct bc_rounds *r, double ns)
{
    const double repetitions = ceil(batch_takes_ns(r) / fmax(ns, 1.0));
    return (int64_t)fmin(repetitions, BATCH_REPETITIONS_MAX);
}

/* Processes the slowest rank's time of a batch: of two batches the shorter time, as either may have
   been disturbed. Batches get longer step by step, since a repetition on its own takes a different
   time. Returns true with store->repetitions set when the length is found. */
static bool find_length(struct bc_rounds *r, double ns)
{
    r->quickest_ns = fmin(r->tries == 0 ? INFINITY : r->quickest_ns, ns / (double)r->tried);
    if (++r->tries < 2)
        return false;
    r->tries = 0;
    const int64_t enough = repetitions_of(r, r->quickest_ns);
    if (enough <= 2 * r->tried) {
        r->store->repetitions = enough;
        return true;
    }
    r->tried = enough < 8 * r->tried ? enough : 8 * r->tried;
    return false;
}

/* Does the same for BC_DOUBLED_BATCHES: two batches in succession must be long enough. */
static bool find_doubled_length(struct bc_rounds *r, double ns)
{
    r->tries = ns >= batch_takes_ns(r) ? r->tries + 1 : 0;
    if (r->tries == 0)
        r->tried *= 2;
    if (r->tries < 2 && r->tried < r->quantities->max)
        return false;
    r->store->repetitions = r->tried < r->quantities->max ? r->tried : r->quantities->max;
    return true;
}

static void open_search_round(struct bc_rounds *r)
{
    const bool doubles = r->quantities->batching == BC_DOUBLED_BATCHES;
    open_batch(r, 1,
               &(struct bc_round){
                   .repetitions = r->tried,
                   .lead_in = r->quantities->lead_in == BC_LEAD_IN_ALWAYS,
                   .window = doubles ? r->run->window : NULL,
                   .wanted = 1,
               });
}

/* Processes the last round of the search. True when the length is found. Collective. */
static bool end_search_round(struct bc_rounds *r)
{
    double ns = batch_ns[0][0];
    bc_harness_allreduce(MPI_IN_PLACE, &ns, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return r->quantities->batching == BC_DOUBLED_BATCHES ? find_doubled_length(r, ns)
                                                         : find_length(r, ns);
}

static void spend_search(struct bc_rounds *r)
{
    r->seconds = fmax(0.0, r->seconds - (bc_elapsed_s() - r->start_s));
}

/* Begins the search in an oversubscribed job: a repetition may take longer than a batch should, and
   the first one may use up the time, so it is a sample. */
static void begin_shared_search(struct bc_rounds *r)
{
    static const struct bc_plan one_round = {
        .min_rounds = 1, .max_rounds = 1, .deadline_s = INFINITY};
    r->stage = SHARED_SEARCH;
    r->tries++;
    r->start_s = bc_elapsed_s();
    bc_samples_clear(&r->store->samples);
    begin_sequence(r, &r->batches, &one_round, &r->store->samples, 1, 0);
}

/* Takes a second round if there is time, since the first may have waited for a processor. Sets
   r->seconds to the rest of the visit's time, 0 if that is too short for a round. False if there is
   no time for another sample. Collective. */
static bool end_shared_search(struct bc_rounds *r)
{
    struct bc_store *const store = r->store;
    int64_t agreed[2] = {0, 0}; /* repetitions, 0 if there is no time; 1 to take another sample */
    if (r->run->job.rank == 0) {
        const double round_s = bc_elapsed_s() - r->start_s;
        r->seconds = r->seconds - round_s < round_s ? 0.0 : r->seconds - round_s;
        agreed[0] = repetitions_of(r, store->samples.values[0][0]);
        agreed[1] = agreed[0] == 1 && r->seconds > 0.0;
        if (agreed[0] == 1 && r->seconds == 0.0)
            agreed[0] = 0;
    }
    bc_harness_bcast(agreed, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (agreed[1] != 0 && r->tries < 2) {
        begin_shared_search(r);
        return true;
    }
    store->repetitions = agreed[0] > 0 ? agreed[0] : 1;
    if (agreed[0] > 0) {
        bc_samples_clear(&store->samples);
        begin_batches(r);
        return true;
    }
    store->in_time = r->run->settings.samples == 1;
    return false;
}

/* ---- the loop -------------------------------------------------------------------------------- */

struct bc_rounds *bc_rounds_of(const struct bc_run *run, const struct bc_quantities *quantities,
                               double seconds, struct bc_store *store)
{
    struct bc_rounds *const r = &only;
    const bool doubles = quantities->batching == BC_DOUBLED_BATCHES;
    *r = (struct bc_rounds){
        .run = run, .quantities = quantities, .store = store, .seconds = seconds};
    if (quantities->batching == BC_NO_BATCHES) {
        store->repetitions = 1;
        begin_batches(r);
        return r;
    }
    r->start_s = bc_elapsed_s();
    r->tried = step_of(quantities);
    if (store->repetitions == 0)
        store->repetitions = quantities->repetitions;
    if (store->repetitions == 0 && doubles && r->tried >= quantities->max)
        store->repetitions = quantities->max;
    if (store->repetitions == 0 && !doubles && run->job.oversubscribed) {
        begin_shared_search(r);
    } else if (store->repetitions == 0) {
        r->stage = SEARCH;
        open_search_round(r);
    } else {
        if (doubles)
            spend_search(r);
        begin_batches(r);
    }
    return r;
}

struct bc_rounds *bc_rounds_by_plan(const struct bc_run *run,
                                    const struct bc_quantities *quantities,
                                    const struct bc_plan *plan, struct bc_samples *samples)
{
    struct bc_rounds *const r = &only;
    *r = (struct bc_rounds){.run = run, .quantities = quantities, .stage = BATCHES};
    begin_sequence(r, &r->batches, plan, samples, 1, 0);
    return r;
}

/* Continues after the end of a sequence. False if it was the last one. Collective. */
static bool begin_next_sequence(struct bc_rounds *r)
{
    switch (r->stage) {
    case SHARED_SEARCH:
        return end_shared_search(r);
    case BATCHES:
        if (r->store == NULL)
            return false;
        r->store->in_time = r->batches.end == BC_END_SETTLED;
        if (r->has_singles)
            begin_singles(r, LAST_SINGLES, SINGLES_WANTED / r->run->visits + 1,
                          SINGLES_SHARE * r->seconds, true);
        return r->has_singles;
    default:
        r->spent_s += bc_elapsed_s() - r->singles_start_s;
        if (r->stage == LAST_SINGLES)
            return false;
        r->stage = BATCHES;
        r->current = &r->batches;
        return true;
    }
}

/* Closes the current batch of rounds. Collective. */
static void close_batch(struct bc_rounds *r)
{
    bc_sequence_take(r->current, r->count, batch_ns, batch_starts_ns);
    if (r->stage == BATCHES && r->has_singles && r->batches.is_sample)
        begin_singles(r, SINGLES, INT64_MAX, SINGLES_SHARE * (bc_elapsed_s() - r->start_s), false);
}

/* Opens the next batch of rounds. False if there is none. Collective. */
static bool next_batch(struct bc_rounds *r)
{
    if (r->stage == SEARCH) {
        if (!end_search_round(r)) {
            open_search_round(r);
            return true;
        }
        spend_search(r);
        begin_batches(r);
    } else if (r->count > 0) {
        close_batch(r);
    }
    int rounds;
    while ((rounds = bc_sequence_order(r->current)) == 0)
        if (!begin_next_sequence(r))
            return false;
    const struct bc_sequence *const sequence = r->current;
    open_batch(r, rounds,
               &(struct bc_round){
                   .repetitions = sequence->repetitions,
                   .lead_in = sequence->lead_in,
                   .window = sequence->window,
                   .wanted = r->quantities->count,
               });
    return true;
}

struct bc_round *bc_next_round(struct bc_rounds *rounds)
{
    if (rounds->next == rounds->count && !next_batch(rounds))
        return NULL;
    rounds->round.ns = batch_ns[rounds->next];
    rounds->round.starts_ns = batch_starts_ns[rounds->next++];
    return &rounds->round;
}

bool bc_rounds_settled(const struct bc_rounds *rounds)
{
    return rounds->batches.end == BC_END_SETTLED;
}

/* ---- a round --------------------------------------------------------------------------------- */

void bc_round_release(const struct bc_round *round, MPI_Comm comm)
{
    if (round->window == NULL && comm != MPI_COMM_NULL)
        bc_harness_release(comm);
}

void bc_round_start(const struct bc_round *round)
{
    if (round->window != NULL)
        bc_start_window_wait(round->window);
}

double bc_round_ns(const struct bc_round *round, int q, struct bc_span span)
{
    const double ns = (double)(span.end_ns - span.start_ns);
    if (round->window == NULL)
        return ns;
    round->starts_ns[q] = bc_start_window_offset_ns(round->window, span.start_ns);
    return bc_start_window_ns(round->window, ns);
}

void bc_round_value(const struct bc_round *round, int q, double ns) { round->ns[q] = ns; }

/* ---- the row --------------------------------------------------------------------------------- */

struct bc_summary bc_store_summary(const struct bc_run *run, const struct bc_store *store,
                                   int subtrahend)
{
    struct bc_summary summary = bc_samples_summary(run, &store->samples, 0, subtrahend);
    if (store->singles.count > 0) {
        const struct bc_summary tail = bc_samples_summary(run, &store->singles, 0, subtrahend);
        summary.p99 = tail.p99;
        summary.max = tail.max;
    }
    return summary;
}

bool bc_store_is_precise(const struct bc_run *run, const struct bc_quantities *quantities,
                         const struct bc_store *store)
{
    static const struct bc_precise_value first = {.quantity = 0, .subtrahend = -1};
    const bool named = quantities->precise_count > 0;
    return bc_samples_are_precise(run, &store->samples, store->in_time,
                                  named ? quantities->precise : &first,
                                  named ? quantities->precise_count : 1);
}

void bc_store_free(struct bc_store *store)
{
    bc_samples_free(&store->samples);
    bc_samples_free(&store->singles);
}
