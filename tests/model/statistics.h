/*
 * What the model measures of itself: a series of samples for each kind of operation and duration.
 * Everything a post or a wait calls here is safe from several threads and takes no lock once the series exists.
 */
#ifndef MODEL_STATISTICS_H
#define MODEL_STATISTICS_H

#include "model.h"

#include <stdatomic.h>

enum {
    SERIES_MAX = 64,       /* distinct pairs of kind and duration */
    SERIES_SAMPLES = 16384 /* the most recent ones are kept */
};

#define SERIES_BYTES_VARY INT64_C(-1)

struct series {
    enum operation_kind kind;
    int64_t duration_ns;
    _Atomic int64_t bytes; /* of one operation; SERIES_BYTES_VARY when they have the duration but not the size in common */
    atomic_uint_fast64_t posted;
    atomic_uint_fast64_t completed;
    atomic_uint_fast64_t late;
    int64_t post_ns[SERIES_SAMPLES];  /* last less first clock reading in the post */
    int64_t extra_ns[SERIES_SAMPLES]; /* last clock reading in the wait less the completion */
};

/* Touches all memory, so that no sample pays for a page. */
void series_start(void);

/* The series of this kind and duration, made if new. Aborts the job when there are too many. */
struct series *series_find(enum operation_kind kind, int64_t duration_ns, int64_t bytes);

/* The place for the next sample: taken before the last clock reading, filled after it. */
static inline int64_t *series_next_post(struct series *series)
{
    return &series->post_ns[atomic_fetch_add_explicit(&series->posted, 1, memory_order_relaxed) % SERIES_SAMPLES];
}

static inline int64_t *series_next_extra(struct series *series)
{
    return &series->extra_ns[atomic_fetch_add_explicit(&series->completed, 1, memory_order_relaxed) % SERIES_SAMPLES];
}

/* For the report, when nothing is in flight any more. */
int series_count(void);
const struct series *series_at(int index);

/* The series of this kind and duration, NULL if there is none. */
const struct series *series_lookup(enum operation_kind kind, int64_t duration_ns);

/* The median of the samples kept of count taken; count must not be 0. Allocates. */
double series_median(const int64_t samples[], uint64_t count);

#endif
