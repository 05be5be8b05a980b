#include "statistics.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct series all_series[SERIES_MAX];
static atomic_int series_in_use;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

/* A benchmark repeats one operation, so this is nearly always the one wanted. */
static _Atomic(struct series *) last_used = all_series;

void series_start(void)
{
    memset(all_series, 0, sizeof all_series);
}

static bool series_is(const struct series *series, enum operation_kind kind, int64_t duration_ns)
{
    return series->kind == kind && series->duration_ns == duration_ns;
}

static struct series *search(enum operation_kind kind, int64_t duration_ns)
{
    const int in_use = atomic_load_explicit(&series_in_use, memory_order_acquire);
    for (int i = 0; i < in_use; i++)
        if (series_is(&all_series[i], kind, duration_ns))
            return &all_series[i];
    return NULL;
}

static struct series *add(enum operation_kind kind, int64_t duration_ns, int64_t bytes)
{
    (void)pthread_mutex_lock(&adding);
    struct series *series = search(kind, duration_ns); /* another thread may have been quicker */
    if (series == NULL) {
        const int in_use = atomic_load(&series_in_use);
        if (in_use == SERIES_MAX)
            model_abort("too many different durations; use fewer sizes or a larger SERIES_MAX");
        series = &all_series[in_use];
        series->kind = kind;
        series->duration_ns = duration_ns;
        atomic_store(&series->bytes, bytes);
        atomic_store_explicit(&series_in_use, in_use + 1, memory_order_release);
    }
    (void)pthread_mutex_unlock(&adding);
    return series;
}

struct series *series_find(enum operation_kind kind, int64_t duration_ns, int64_t bytes)
{
    struct series *series = atomic_load_explicit(&last_used, memory_order_acquire);
    if (atomic_load_explicit(&series_in_use, memory_order_acquire) == 0 || !series_is(series, kind, duration_ns)) {
        series = search(kind, duration_ns);
        if (series == NULL)
            series = add(kind, duration_ns, bytes);
        atomic_store_explicit(&last_used, series, memory_order_release);
    }
    if (atomic_load_explicit(&series->bytes, memory_order_relaxed) != bytes)
        atomic_store_explicit(&series->bytes, SERIES_BYTES_VARY, memory_order_relaxed);
    return series;
}

int series_count(void)
{
    return atomic_load(&series_in_use);
}

const struct series *series_at(int index)
{
    return &all_series[index];
}

const struct series *series_lookup(enum operation_kind kind, int64_t duration_ns)
{
    return search(kind, duration_ns);
}

static int compare_int64(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

double series_median(const int64_t samples[], uint64_t count)
{
    const size_t kept = count < SERIES_SAMPLES ? (size_t)count : SERIES_SAMPLES;
    int64_t *sorted = malloc(kept * sizeof *sorted);
    if (sorted == NULL)
        model_abort("out of memory for the report");
    memcpy(sorted, samples, kept * sizeof *sorted);
    qsort(sorted, kept, sizeof *sorted, compare_int64);
    const size_t lower = (kept - 1) / 2; /* the same as upper when kept is odd */
    const size_t upper = kept / 2;
    const double median_ns = ((double)sorted[lower] + (double)sorted[upper]) / 2;
    free(sorted);
    return median_ns;
}
