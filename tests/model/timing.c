#include "statistics.h"
#include "tests/disturbance/disturbance.h"

#include <math.h>

/* Defined where that library is preloaded, too. */
#pragma weak disturbance_factor
#pragma weak disturbance_modelled_until

static double clock_cost_ns;

/* When this process's last operation of each class started. */
static _Atomic int64_t last_start_ns[OPERATION_CLASSES];

/* Numbers the operations of this process; see MODEL_SEED. */
static atomic_uint_fast64_t operations_posted;

void timing_start(void)
{
    enum { BATCHES = 50, READINGS = 1000 };

    /* The mean over a batch resolves better than the clock does; the quickest batch wasn't
     * interrupted. */
    clock_cost_ns = INFINITY;
    for (int batch = 0; batch < BATCHES; batch++) {
        const int64_t begin_ns = clock_now_ns();
        int64_t end_ns = begin_ns;
        for (int reading = 0; reading < READINGS; reading++)
            end_ns = clock_now_ns();
        clock_cost_ns = fmin(clock_cost_ns, (double)(end_ns - begin_ns) / READINGS);
    }
    series_start();
}

double timing_clock_cost_ns(void) { return clock_cost_ns; }

/*
 * The end of the loop is a branch that the processor guesses wrong, and until it has recovered,
 * some 10 ns later, it runs nothing of what follows. So the clock is read once more: what comes
 * after the last reading is then the same few instructions whether there was anything to wait for
 * or not.
 */
int64_t timing_spin_until(int64_t end_ns)
{
    int64_t now_ns = clock_now_ns();
    if (now_ns >= end_ns)
        return now_ns;
    if (disturbance_modelled_until != NULL)
        disturbance_modelled_until(end_ns);
    do
        now_ns = clock_now_ns();
    while (now_ns < end_ns);
    return clock_now_ns();
}

/*
 * Whether the next operation is late: the same decision on every rank without a word between them.
 * The hash is SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
 * OOPSLA 2014).
 */
static bool next_is_late(void)
{
    if (model.late_share == 0)
        return false;
    const uint64_t number = atomic_fetch_add_explicit(&operations_posted, 1, memory_order_relaxed);
    uint64_t hash = (uint64_t)model.seed * UINT64_C(0xd1342543de82ef95) +
                    (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
    hash ^= hash >> 31;
    const double uniform = (double)(hash >> 11) * 0x1p-53; /* in [0, 1) */
    return uniform < model.late_share;
}

static bool is_collective(enum operation_kind kind)
{
    const enum operation_class class = operation_traits[kind].class;
    return class == CLASS_COLLECTIVE || class == CLASS_BLOCKING || class == CLASS_SISTER ||
           class == CLASS_ALLREDUCE || class == CLASS_BARRIER;
}

bool timing_has_post(enum operation_kind kind)
{
    const enum operation_class class = operation_traits[kind].class;
    return class == CLASS_COLLECTIVE || (!is_collective(kind) && class != CLASS_SYNCHRONISATION);
}

/* Whether MODEL_BLOCKING_US is its duration. */
static bool is_sister(enum operation_kind kind)
{
    const enum operation_class class = operation_traits[kind].class;
    if (!model_has_blocking())
        return false;
    return operation_traits[kind].is_blocking_message || class == CLASS_BLOCKING ||
           class == CLASS_SISTER || (class == CLASS_ALLREDUCE && model.coll != 0);
}

double timing_fraction(enum operation_kind kind)
{
    if (operation_traits[kind].is_blocking_message && model_has_blocking())
        return 1;
    if (!isnan(model.fraction))
        return model.fraction;
    return is_collective(kind) ? 0 : 1;
}

int64_t timing_duration_ns(enum operation_kind kind, int64_t bytes)
{
    const double class_ns[OPERATION_CLASSES] = {
        [CLASS_COLLECTIVE] = model.duration_ns,  [CLASS_BLOCKING] = model.duration_ns,
        [CLASS_SISTER] = model.blocking_ns,      [CLASS_ALLREDUCE] = model.barrier_ns,
        [CLASS_BARRIER] = model.barrier_ns,      [CLASS_SEND] = model.latency_ns,
        [CLASS_RECEIVE] = model.latency_ns,      [CLASS_ONE_SIDED] = model.latency_ns,
        [CLASS_SYNCHRONISATION] = model.sync_ns,
    };
    const double no_bytes_ns =
        is_sister(kind) ? model.blocking_ns : class_ns[operation_traits[kind].class];
    const double usual_ns = no_bytes_ns + model.per_byte_ns * (double)bytes;
    return llround((double)bytes == model.slow_bytes ? usual_ns * (1 + model.slow_share)
                                                     : usual_ns);
}

double timing_gap_ns(enum operation_kind kind) { return is_collective(kind) ? 0 : model.gap_ns; }

int64_t timing_stage_ns(enum operation_kind kind, int64_t autonomous_ns)
{
    if (operation_traits[kind].is_blocking_message)
        return autonomous_ns;
    const double stage_ns =
        isnan(model.progress_ns) ? model.progress_share * (double)autonomous_ns : model.progress_ns;
    return stage_ns < (double)autonomous_ns ? (int64_t)ceil(stage_ns) : autonomous_ns;
}

double timing_slowness(int64_t now_ns)
{
    return disturbance_factor != NULL ? disturbance_factor(now_ns) : 1;
}

int64_t timing_slowed_ns(double ns, double slowness)
{
    return slowness == 1 ? (int64_t)ns : llround(ns * slowness);
}

/* When an operation posted at post_ns starts: not before the gap after the one before it has
 * passed. */
static int64_t start_after_gap(enum operation_kind kind, int64_t post_ns, double slowness)
{
    const int64_t gap_ns = timing_slowed_ns(timing_gap_ns(kind), slowness);
    if (gap_ns == 0)
        return post_ns;

    _Atomic int64_t *last_ns = &last_start_ns[operation_traits[kind].class];
    int64_t previous_ns = atomic_load_explicit(last_ns, memory_order_relaxed);
    int64_t start_ns;
    do
        start_ns = previous_ns + gap_ns > post_ns ? previous_ns + gap_ns : post_ns;
    while (!atomic_compare_exchange_weak_explicit(last_ns, &previous_ns, start_ns,
                                                  memory_order_relaxed, memory_order_relaxed));
    return start_ns;
}

void timing_plan(struct timing *timing, enum operation_kind kind, int64_t bytes, int64_t post_ns)
{
    struct series *series = series_find(kind, bytes);
    const double slowness = timing_slowness(post_ns);
    timing->series = series;
    const int64_t autonomous_ns = timing_slowed_ns((double)series->autonomous_ns, slowness);
    timing->stage_ns = timing_slowed_ns((double)series->stage_ns, slowness);
    timing->stage_end_ns = start_after_gap(kind, post_ns, slowness) + timing->stage_ns;
    timing->left_ns = autonomous_ns - timing->stage_ns;
    timing->late_ns = 0;
    timing->host_ns =
        timing_slowed_ns((double)(series->duration_ns - series->autonomous_ns), slowness);
    if (next_is_late()) {
        timing->late_ns = timing_slowed_ns(model.late_ns, slowness);
        if (timing->left_ns == 0)
            timing->stage_end_ns += timing->late_ns;
        atomic_fetch_add_explicit(&series->late, 1, memory_order_relaxed);
    }
}

void timing_plan_nothing(struct timing *timing, enum operation_kind kind, int64_t bytes,
                         int64_t post_ns)
{
    *timing = (struct timing){.series = series_find(kind, bytes), .stage_end_ns = post_ns};
}

void timing_spend(const struct timing *timing, int64_t post_ns)
{
    /* Time after the last reading isn't measured, so nothing is left to do then but one store. */
    int64_t *sample = series_next_post(timing->series);
    const int64_t spent_ns = timing_slowed_ns(model.post_ns, timing_slowness(post_ns));
    const int64_t unslowed_from_ns = post_ns + spent_ns - timing_slowed_ns(model.post_ns, 1);
    *sample = timing_spin_until(post_ns + spent_ns) - unslowed_from_ns;
}

void timing_post(struct timing *timing, enum operation_kind kind, int64_t bytes, int64_t post_ns)
{
    timing_plan(timing, kind, bytes, post_ns);
    timing_spend(timing, post_ns);
}

void timing_progress(struct timing *timing, int64_t since_ns, int64_t now_ns)
{
    while (timing->left_ns > 0 && timing->stage_end_ns <= now_ns) {
        const int64_t start_ns = timing->stage_end_ns > since_ns ? timing->stage_end_ns : since_ns;
        const int64_t duration_ns =
            timing->stage_ns < timing->left_ns ? timing->stage_ns : timing->left_ns;
        timing->left_ns -= duration_ns;
        timing->stage_end_ns =
            start_ns + duration_ns + (timing->left_ns == 0 ? timing->late_ns : 0);
    }
}

bool timing_autonomous_done(const struct timing *timing, int64_t now_ns)
{
    return timing->left_ns == 0 && now_ns >= timing->stage_end_ns;
}

int64_t timing_autonomous_end_ns(const struct timing *timing, int64_t wait_ns)
{
    if (timing->left_ns == 0)
        return timing->stage_end_ns;
    const int64_t start_ns = timing->stage_end_ns > wait_ns ? timing->stage_end_ns : wait_ns;
    return start_ns + timing->left_ns + timing->late_ns;
}

int64_t timing_earliest_end_ns(const struct timing *timing)
{
    return timing_autonomous_end_ns(timing, timing->stage_end_ns);
}

static void add_series(struct call_series *call, struct series *series)
{
    const int known = call->count;
    for (int i = 0; i < known; i++)
        if (call->members[i] == series)
            return;
    if (known < CALL_SERIES_MAX)
        call->members[call->count++] = series;
}

void test_begin(struct test *test, int64_t call_ns)
{
    test->call_ns = call_ns;
    test->decided_ns = call_ns;
    if (model.test_ns > 0)
        test->decided_ns += timing_slowed_ns(model.test_ns, timing_slowness(call_ns));
    test->series.count = 0;
}

void test_add(struct test *test, const struct timing *timing)
{
    add_series(&test->series, timing->series);
}

void test_end(const struct test *test)
{
    if (test->series.count == 0)
        return;
    const int64_t unslowed_from_ns = test->decided_ns - timing_slowed_ns(model.test_ns, 1);

    /* As in the post: the places first, so that only stores are left to do after the last reading.
     */
    int64_t *samples[CALL_SERIES_MAX];
    for (int i = 0; i < test->series.count; i++)
        samples[i] = series_next_test(test->series.members[i]);
    const int64_t test_ns = timing_spin_until(test->decided_ns) - unslowed_from_ns;
    for (int i = 0; i < test->series.count; i++)
        *samples[i] = test_ns;
}

void completion_begin(struct completion *completion, int64_t wait_ns)
{
    completion->call_ns = wait_ns;
    completion->autonomous_end_ns = wait_ns;
    completion->host_ns = 0;
    completion->wait_ns = 0;
    completion->unslowed_wait_ns = 0;
    completion->a_wait_ns = timing_slowed_ns(model.wait_ns, timing_slowness(wait_ns));
    completion->series.count = 0;
}

void completion_add_part(struct completion *completion, const struct timing *timing)
{
    const int64_t end_ns = timing_autonomous_end_ns(timing, completion->call_ns);
    if (end_ns > completion->autonomous_end_ns)
        completion->autonomous_end_ns = end_ns;
    completion->host_ns += timing->host_ns;
    add_series(&completion->series, timing->series);
}

void completion_add(struct completion *completion, const struct timing *timing)
{
    completion_add_part(completion, timing);
    completion->wait_ns += completion->a_wait_ns;
    completion->unslowed_wait_ns += timing_slowed_ns(model.wait_ns, 1);
}

void completion_end(const struct completion *completion)
{
    if (completion->series.count == 0)
        return;
    const int64_t end_ns =
        completion->autonomous_end_ns + completion->host_ns + completion->wait_ns;
    const int64_t unslowed_from_ns = end_ns - completion->unslowed_wait_ns;

    int64_t *samples[CALL_SERIES_MAX]; /* as in test_end */
    for (int i = 0; i < completion->series.count; i++)
        samples[i] = series_next_extra(completion->series.members[i]);
    const int64_t extra_ns = timing_spin_until(end_ns) - unslowed_from_ns;
    for (int i = 0; i < completion->series.count; i++)
        *samples[i] = extra_ns;
}
