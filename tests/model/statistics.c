#include "statistics.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct series all_series[SERIES_MAX];
static atomic_int series_in_use;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

/* A benchmark repeats one operation, so this is nearly always the one wanted. NULL at first. */
static _Atomic(struct series *) last_used[OPERATION_KINDS];

void series_start(void) { memset(all_series, 0, sizeof all_series); }

static int64_t key_of(enum operation_kind kind, int64_t duration_ns, int64_t bytes)
{
    const enum operation_class class = operation_traits[kind].class;
    return class == CLASS_COLLECTIVE || class == CLASS_BLOCKING || class == CLASS_SISTER
               ? duration_ns
               : bytes;
}

int64_t series_key(const struct series *series)
{
    return key_of(series->kind, series->duration_ns,
                  atomic_load_explicit(&series->bytes, memory_order_relaxed));
}

static struct series *search(enum operation_kind kind, int64_t key)
{
    const int in_use = atomic_load_explicit(&series_in_use, memory_order_acquire);
    for (int i = 0; i < in_use; i++)
        if (all_series[i].kind == kind && series_key(&all_series[i]) == key)
            return &all_series[i];
    return NULL;
}

static struct series *add(enum operation_kind kind, int64_t duration_ns, int64_t bytes)
{
    (void)pthread_mutex_lock(&adding);
    struct series *series =
        search(kind, key_of(kind, duration_ns, bytes)); /* another thread may have been quicker */
    if (series == NULL) {
        const int in_use = atomic_load(&series_in_use);
        if (in_use == SERIES_MAX)
            model_abort("too many different durations; use fewer sizes or a larger SERIES_MAX");
        series = &all_series[in_use];
        series->kind = kind;
        series->duration_ns = duration_ns;
        series->autonomous_ns = llround(timing_fraction(kind) * (double)duration_ns);
        series->stage_ns = timing_stage_ns(kind, series->autonomous_ns);
        atomic_store(&series->bytes, bytes);
        atomic_store_explicit(&series_in_use, in_use + 1, memory_order_release);
    }
    (void)pthread_mutex_unlock(&adding);
    return series;
}

struct series *series_find(enum operation_kind kind, int64_t bytes)
{
    /* The bytes decide the duration. */
    struct series *series = atomic_load_explicit(&last_used[kind], memory_order_acquire);
    if (series != NULL && atomic_load_explicit(&series->bytes, memory_order_relaxed) == bytes)
        return series;

    const int64_t duration_ns = timing_duration_ns(kind, bytes);
    series = search(kind, key_of(kind, duration_ns, bytes));
    if (series == NULL)
        series = add(kind, duration_ns, bytes);
    atomic_store_explicit(&last_used[kind], series, memory_order_release);
    if (atomic_load_explicit(&series->bytes, memory_order_relaxed) != bytes)
        atomic_store_explicit(&series->bytes, SERIES_BYTES_VARY, memory_order_relaxed);
    return series;
}

int series_count(void) { return atomic_load(&series_in_use); }

const struct series *series_at(int index) { return &all_series[index]; }

const struct series *series_lookup(enum operation_kind kind, int64_t key)
{
    return search(kind, key);
}

static int compare_int64(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

double series_middle(const int64_t samples[], uint64_t count)
{
    const size_t kept = count < SERIES_SAMPLES ? (size_t)count : SERIES_SAMPLES;
    int64_t *sorted = malloc(kept * sizeof *sorted);
    if (sorted == NULL)
        model_abort("out of memory for the report");
    memcpy(sorted, samples, kept * sizeof *sorted);
    qsort(sorted, kept, sizeof *sorted, compare_int64);
    const size_t begin = kept / 4;
    const size_t end = kept - begin;
    double sum_ns = 0;
    for (size_t i = begin; i < end; i++)
        sum_ns += (double)sorted[i];
    free(sorted);
    return sum_ns / (double)(end - begin);
}
