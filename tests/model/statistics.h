/*
 * What the model measures of itself: a series of samples for each kind of collective and duration,
 * and for each other kind of operation, barriers and allreduces among them, and number of bytes.
 * Everything a post or a wait calls here is safe from several threads and takes no lock once the
 * series exists.
 */
#ifndef MODEL_STATISTICS_H
#define MODEL_STATISTICS_H

#include "model.h"

#include <stdatomic.h>

enum {
    SERIES_MAX = 128,     /* see series_find */
    SERIES_SAMPLES = 8192 /* the most recent ones are kept */
};

#define SERIES_BYTES_VARY INT64_C(-1)

struct series {
    enum operation_kind kind;
    int64_t duration_ns;
    int64_t autonomous_ns; /* f D */
    int64_t stage_ns;      /* of a stage of that */
    _Atomic int64_t bytes; /* of one operation; SERIES_BYTES_VARY when they have the duration but
                              not the size in common */
    atomic_uint_fast64_t posted;
    atomic_uint_fast64_t waits; /* that completed any of these operations */
    atomic_uint_fast64_t late;
    int64_t post_ns[SERIES_SAMPLES];  /* last less first clock reading in the post */
    int64_t extra_ns[SERIES_SAMPLES]; /* last clock reading in the wait less the completion */
    atomic_uint_fast64_t tests;       /* that completed none */
    int64_t test_ns[SERIES_SAMPLES];  /* last less first clock reading in the test */
    atomic_uint_fast64_t reals;       /* real ones called by operations without a post */
    int64_t real_ns[SERIES_SAMPLES];  /* what they took */
};

/* Touches all memory, so that no sample pays for a page. */
void series_start(void);

/* The series for an operation of this kind and size, made if new. Aborts the job when there are too
 * many. */
struct series *series_find(enum operation_kind kind, int64_t bytes);

/* The place for the next sample: taken before the last clock reading, filled after it. */
static inline int64_t *series_next_post(struct series *series)
{
    return &series->post_ns[atomic_fetch_add_explicit(&series->posted, 1, memory_order_relaxed) %
                            SERIES_SAMPLES];
}

static inline int64_t *series_next_extra(struct series *series)
{
    return &series->extra_ns[atomic_fetch_add_explicit(&series->waits, 1, memory_order_relaxed) %
                             SERIES_SAMPLES];
}

static inline int64_t *series_next_test(struct series *series)
{
    return &series->test_ns[atomic_fetch_add_explicit(&series->tests, 1, memory_order_relaxed) %
                            SERIES_SAMPLES];
}

/* Adds what a real one took. */
static inline void series_add_real(struct series *series, int64_t real_ns)
{
    series->real_ns[atomic_fetch_add_explicit(&series->reals, 1, memory_order_relaxed) %
                    SERIES_SAMPLES] = real_ns;
}

/* For the report, when nothing is in flight any more. */
int series_count(void);
const struct series *series_at(int index);

/* What tells series apart, on all ranks alike: of collectives the duration (ranks may differ in the
   bytes, and so may operations of v and w variants), of others the bytes (in barriers and
   allreduces ranks can't differ). */
int64_t series_key(const struct series *series);

/* The series of this kind and key, NULL if there is none. */
const struct series *series_lookup(enum operation_kind kind, int64_t key);

/* The mean of the middle half of the samples kept of count taken: as deaf to interruptions as the
   median, but it resolves more than the steps of the clock, which may be 10 ns. count must not be
   0. Allocates. */
double series_middle(const int64_t samples[], uint64_t count);

#endif
