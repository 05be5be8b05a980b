#include "monitor/late.h"

#include "common/mpi/mpi_check.h"
#include "common/stats/stats.h"

#include <math.h>

/* ---- keeping calls --------------------------------------------------------------------------- */

/* A number of 64 bits from one (S. Vigna's splitmix64). */
static uint64_t hash_of(int64_t number)
{
    uint64_t x = (uint64_t)number + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static bool is_chosen(int64_t number, int halvings)
{
    return halvings == 0 || hash_of(number) >> (64 - halvings) == 0;
}

static void halve(struct late_series *series, bool has_entries)
{
    int kept = 0;
    series->halvings++;
    for (int i = 0; i < series->kept; i++)
        if (is_chosen(series->call[i].number, series->halvings)) {
            series->call[kept] = series->call[i];
            if (has_entries)
                series->entry[kept] = series->entry[i];
            kept++;
        }
    series->kept = kept;
}

static struct late_series *series_of(struct late *late, int communicator, int kind)
{
    for (int i = 0; i < late->count; i++)
        if (late->series[i].communicator == communicator && late->series[i].kind == kind)
            return &late->series[i];
    if (late->count == LATE_SERIES_MAX)
        return NULL;
    struct late_series *const series = &late->series[late->count++];
    series->communicator = communicator;
    series->kind = kind;
    return series;
}

/* `entry` is NULL where calls have none. */
static inline bool add(struct late *late, int communicator, int kind, uint64_t ticks,
                       const struct late_entry *entry)
{
    struct late_series *const series = series_of(late, communicator, kind);
    if (series == NULL)
        return false;
    const int64_t number = series->calls++;
    struct late_role *const role = &series->role[entry != NULL && entry->is_root];
    role->calls++;
    role->ticks += ticks;
    if (!is_chosen(number, series->halvings))
        return true;
    while (series->kept == LATE_KEPT_MAX)
        halve(series, entry != NULL);
    if (!is_chosen(number, series->halvings))
        return true;
    if (entry != NULL)
        series->entry[series->kept] = *entry;
    series->call[series->kept++] = (struct late_call){number, ticks};
    return true;
}

bool late_add(struct late *late, int communicator, int kind, uint64_t ticks)
{
    return add(late, communicator, kind, ticks, NULL);
}

bool late_add_rooted(struct late *late, int communicator, int kind, uint64_t ticks,
                     struct late_entry entry)
{
    return add(late, communicator, kind, ticks, &entry);
}

/* ---- comparing ranks ------------------------------------------------------------------------- */

int64_t late_next_key(int64_t key, MPI_Comm comm)
{
    int64_t next;
    BC_MPI(PMPI_Allreduce(&key, &next, 1, MPI_INT64_T, MPI_MIN, comm));
    return next;
}

bool late_kept_alike(const struct late_series *series, MPI_Comm comm, int *ranks, int *kept)
{
    const int has_series = series != NULL;
    BC_MPI(PMPI_Allreduce(&has_series, ranks, 1, MPI_INT, MPI_SUM, comm));
    /* The min of each, and of its negative. */
    int64_t own[4] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}, min[4];
    if (series != NULL) {
        own[0] = series->calls;
        own[1] = -series->calls;
        own[2] = series->kept;
        own[3] = -series->kept;
    }
    BC_MPI(PMPI_Allreduce(own, min, 4, MPI_INT64_T, MPI_MIN, comm));
    *kept = (int)min[2];
    return min[0] == -min[1] && min[2] == -min[3] && *kept > 0;
}

/* Sums over the calls that were kept of one role. */
struct sums {
    int calls;
    double waited, ticks;                           /* sums */
    double waited_squares, ticks_squares, products; /* of distances from the means */
};

static struct sums sums_of(const struct late_series *series, const double waited[], bool as_root)
{
    struct sums sums = {0};
    for (int i = 0; i < series->kept; i++)
        if (series->entry[i].is_root == as_root) {
            sums.calls++;
            sums.waited += waited[i];
            sums.ticks += (double)series->call[i].ticks;
        }
    for (int i = 0; i < series->kept; i++)
        if (series->entry[i].is_root == as_root) {
            const double more = waited[i] - sums.waited / sums.calls;
            const double longer = (double)series->call[i].ticks - sums.ticks / sums.calls;
            sums.waited_squares += more * more;
            sums.ticks_squares += longer * longer;
            sums.products += more * longer;
        }
    return sums;
}

struct late_mean late_mean(const struct late_series *series, const double waited[], bool as_root,
                           double tick)
{
    const struct sums sums = sums_of(series, waited, as_root);
    const struct late_role *const role = &series->role[as_root];
    const double mean_of_kept = sums.waited / series->kept;
    if (series->kept == series->calls)
        return (struct late_mean){.mean = mean_of_kept};
    /* Too few were kept to tell how they differ: all of the time may have been waiting, or none. */
    if (sums.calls < 3 && role->calls > sums.calls)
        return (struct late_mean){
            .mean = mean_of_kept,
            .error = tick * (double)role->ticks / (double)series->calls,
        };
    if (sums.calls < 3)
        return (struct late_mean){.mean = mean_of_kept};
    /* How much more a rank waits in a call that takes one tick longer. */
    const double slope = sums.ticks_squares > 0.0 ? sums.products / sums.ticks_squares : 0.0;
    const double longer = (double)role->ticks / (double)role->calls - sums.ticks / sums.calls;
    const double unexplained = fmax(0.0, sums.waited_squares - slope * sums.products);
    const double left_out = 1.0 - (double)sums.calls / (double)role->calls;
    const double share = (double)role->calls / (double)series->calls;
    const double mean = share * (sums.waited / sums.calls + slope * longer);
    return (struct late_mean){
        .mean = mean,
        .error = share * sqrt(unexplained / (sums.calls - 2) / sums.calls * left_out),
        .shift = mean - mean_of_kept,
    };
}

struct timed {
    double ticks;
    int rank;
};

static struct timed own[LATE_KEPT_MAX], last[LATE_KEPT_MAX];
static double shortest[LATE_KEPT_MAX], longer[LATE_KEPT_MAX];

#define OWN_COST 0.05 /* quantile */

static void summarize(const struct late_series *series, int rank, struct late_waiting *waiting)
{
    const int kept = series->kept;
    for (int i = 0; i < kept; i++) {
        shortest[i] = last[i].ticks;
        longer[i] = own[i].ticks - last[i].ticks;
        waiting->last += last[i].rank == rank;
    }
    const struct late_mean mean = late_mean(series, longer, false, 1.0);
    waiting->mean_ticks = fmax(0.0, mean.mean);
    waiting->error_ticks = mean.error;
    bc_sort(shortest, (size_t)kept);
    waiting->skew_ticks = bc_quantile(shortest, (size_t)kept, OWN_COST);
}

bool late_compare(const struct late_series *series, MPI_Comm comm, struct late_waiting *waiting)
{
    int rank, kept;
    BC_MPI(PMPI_Comm_rank(comm, &rank));
    *waiting = (struct late_waiting){.calls = series != NULL ? series->calls : 0};
    if (!late_kept_alike(series, comm, &waiting->ranks, &kept))
        return false;
    for (int i = 0; i < kept; i++)
        own[i] = (struct timed){series != NULL ? (double)series->call[i].ticks : INFINITY, rank};
    BC_MPI(PMPI_Allreduce(own, last, kept, MPI_DOUBLE_INT, MPI_MINLOC, comm));
    if (series != NULL)
        summarize(series, rank, waiting);
    return true;
}
