#include "linkmap/map.h"

#include "common/mpi/mpi_check.h"
#include "common/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least of a group, as a part of the points. */
#define GROUP_SHARE 0.25

/* The share of links that must be nearer to what is expected of their groups than to the other. */
#define CONSISTENT_SHARE 0.9

/* Turns of the median polish; each makes the parts more independent of each other. */
enum { TURNS = 3 };

/* What one point knows: the times of its own links, by the other point; NAN for itself. */
struct row {
    const struct linkmap_points *points;
    double *times_ns[LINKMAP_WAYS];
    double *scratch;
};

static double *allocate(int count)
{
    return bc_allocate((size_t)count, sizeof(double), "no memory for a map of %d points", count);
}

/* The median of the values that are numbers; NAN if none is. */
static double median_of(const double *values, int count, double *scratch)
{
    size_t used = 0;
    for (int i = 0; i < count; i++)
        if (!isnan(values[i]))
            scratch[used++] = values[i];
    return bc_median(scratch, used);
}

/* 1.4826 times the median distance from the median. */
static double sigma_of(const double *values, int count, double *scratch)
{
    const double middle = median_of(values, count, scratch);
    size_t used = 0;
    for (int i = 0; i < count; i++)
        if (!isnan(values[i]))
            scratch[used++] = fabs(values[i] - middle);
    return 1.4826 * bc_median(scratch, used);
}

/* Brings one number of each point to all. */
static void share(const struct linkmap_points *points, double own, double *all)
{
    BC_MPI(MPI_Allgather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, points->comm));
}

/* ---- groups ---------------------------------------------------------------------------------- */

struct split {
    double quality;  /* the share of the variance that it explains; 0: none */
    double limit_ns; /* links that take less are within this point's group */
};

/* The best way to tell this point's links apart by one limit, among those that leave both groups
   large enough and differ by enough: least squares within the two (Fisher, "On Grouping for Maximum
   Homogeneity", JASA 53 (1958)). */
static struct split split_of(const struct row *row, int least, double threshold)
{
    const double *const out_ns = row->times_ns[LINKMAP_OUT];
    double *const sorted = row->scratch;
    struct split best = {0.0, INFINITY};
    int count = 0;
    for (int i = 0; i < row->points->count; i++)
        if (!isnan(out_ns[i]))
            sorted[count++] = out_ns[i];
    bc_sort(sorted, (size_t)count);
    double sum = 0.0, squares = 0.0, low_sum = 0.0;
    for (int i = 0; i < count; i++) {
        sum += sorted[i];
        squares += sorted[i] * sorted[i];
    }
    const double total = squares - sum * sum / count;
    for (int low = 1; low < count; low++) {
        low_sum += sorted[low - 1];
        /* The point itself is in its own group. */
        if (low + 1 < least || count - low < least)
            continue;
        const double low_mean = low_sum / low, high_mean = (sum - low_sum) / (count - low);
        const double between =
            low * low_mean * low_mean + (count - low) * high_mean * high_mean - sum * sum / count;
        if (high_mean < (1.0 + threshold) * low_mean || total <= 0.0 ||
            between / total <= best.quality)
            continue;
        best = (struct split){between / total, (sorted[low - 1] + sorted[low]) / 2.0};
    }
    return best;
}

/* Groups as the point sees them whose links tell them apart best. False if there are none. */
static bool propose_groups(const struct row *row, int least, double threshold, int *group)
{
    const struct linkmap_points *const points = row->points;
    const struct split split = split_of(row, least, threshold);
    struct {
        double quality;
        int point;
    } own = {split.quality, points->own}, best;
    BC_MPI(MPI_Allreduce(&own, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, points->comm));
    if (best.quality <= 0.0)
        return false;
    if (best.point == points->own)
        for (int i = 0; i < points->count; i++)
            group[i] = i != points->own && row->times_ns[LINKMAP_OUT][i] >= split.limit_ns;
    BC_MPI(MPI_Bcast(group, points->count, MPI_INT, best.point, points->comm));
    const int first = group[0];
    for (int i = 0; i < points->count; i++)
        group[i] ^= first;
    return true;
}

/* What is expected from group to group: the median over points of the median of their links. */
static void expect_of_groups(struct linkmap_map *map, const struct row *row)
{
    const struct linkmap_points *const points = row->points;
    double *const of_group = allocate(points->count), *const all = allocate(points->count);
    for (int to = 0; to < map->groups; to++) {
        for (int i = 0; i < points->count; i++)
            of_group[i] = map->group[i] == to ? row->times_ns[LINKMAP_OUT][i] : NAN;
        share(points, median_of(of_group, points->count, row->scratch), all);
        for (int from = 0; from < map->groups; from++) {
            for (int i = 0; i < points->count; i++)
                of_group[i] = map->group[i] == from ? all[i] : NAN;
            map->expected_ns[from][to] = median_of(of_group, points->count, row->scratch);
        }
    }
    free(of_group);
    free(all);
}

/* Whether nearly all links are as their groups say, and not as other groups' links. */
static bool are_groups(const struct linkmap_map *map, const struct row *row, double threshold)
{
    const struct linkmap_points *const points = row->points;
    double least_ns = INFINITY, greatest_ns = 0.0;
    for (int from = 0; from < map->groups; from++)
        for (int to = 0; to < map->groups; to++) {
            least_ns = fmin(least_ns, map->expected_ns[from][to]);
            greatest_ns = fmax(greatest_ns, map->expected_ns[from][to]);
        }
    long counts[2] = {0, 0}; /* links; those that are as they should be */
    for (int i = 0; i < points->count; i++) {
        if (isnan(row->times_ns[LINKMAP_OUT][i]))
            continue;
        const double expected_ns = linkmap_expected(map, points->own, i);
        counts[0]++;
        counts[1] +=
            fabs(row->times_ns[LINKMAP_OUT][i] - expected_ns) < (greatest_ns - least_ns) / 2.0;
    }
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_LONG, MPI_SUM, points->comm));
    return greatest_ns > (1.0 + threshold) * least_ns &&
           (double)counts[1] >= CONSISTENT_SHARE * (double)counts[0];
}

static void find_groups(struct linkmap_map *map, const struct row *row, double threshold)
{
    const int points = row->points->count;
    const int least = (int)fmax(2.0, ceil(GROUP_SHARE * points));
    map->groups = 2;
    if (propose_groups(row, least, threshold, map->group)) {
        expect_of_groups(map, row);
        if (are_groups(map, row, threshold))
            return;
    }
    map->groups = 1;
    memset(map->group, 0, (size_t)points * sizeof *map->group);
    expect_of_groups(map, row);
}

/* ---- points ---------------------------------------------------------------------------------- */

/* What the links of this point take longer, one way, than the other end and the groups explain. */
static double own_more(const struct linkmap_map *map, const struct row *row, enum linkmap_way way)
{
    const int own = row->points->own;
    double *const left_ns = allocate(map->points);
    for (int i = 0; i < map->points; i++) {
        const int from = way == LINKMAP_OUT ? own : i, to = way == LINKMAP_OUT ? i : own;
        left_ns[i] =
            row->times_ns[way][i] - linkmap_explained(map, from, to) + map->more_ns[way][own];
    }
    const double more_ns = median_of(left_ns, map->points, row->scratch);
    free(left_ns);
    return more_ns;
}

static void find_slow_points(struct linkmap_map *map, const struct row *row)
{
    double *const all = allocate(map->points);
    for (int turn = 0; turn < TURNS; turn++)
        for (int way = 0; way < LINKMAP_WAYS; way++) {
            share(row->points, own_more(map, row, (enum linkmap_way)way), all);
            memcpy(map->more_ns[way], all, (size_t)map->points * sizeof *all);
        }
    for (int way = 0; way < LINKMAP_WAYS; way++)
        map->more_sigma_ns[way] = sigma_of(map->more_ns[way], map->points, row->scratch);
    free(all);
}

/* Of what is left of links: the median over points of each point's own. */
static void find_sigma(struct linkmap_map *map, const struct row *row)
{
    double *const left_ns = allocate(map->points), *const all = allocate(map->points);
    for (int i = 0; i < map->points; i++)
        left_ns[i] =
            fabs(row->times_ns[LINKMAP_OUT][i] - linkmap_explained(map, row->points->own, i));
    share(row->points, 1.4826 * median_of(left_ns, map->points, row->scratch), all);
    map->sigma_ns = median_of(all, map->points, row->scratch);
    free(left_ns);
    free(all);
}

/* ---- the map --------------------------------------------------------------------------------- */

double linkmap_expected(const struct linkmap_map *map, int from, int to)
{
    return map->expected_ns[map->group[from]][map->group[to]];
}

double linkmap_explained(const struct linkmap_map *map, int from, int to)
{
    return linkmap_expected(map, from, to) + map->more_ns[LINKMAP_OUT][from] +
           map->more_ns[LINKMAP_IN][to];
}

void linkmap_map_make(struct linkmap_map *map, const struct linkmap_links *links,
                      const struct linkmap_points *points, double threshold)
{
    struct row row = {.points = points, .scratch = allocate(points->count)};
    *map = (struct linkmap_map){
        .points = points->count,
        .group = bc_allocate((size_t)points->count, sizeof(int), "no memory for a map"),
    };
    for (int way = 0; way < LINKMAP_WAYS; way++) {
        map->more_ns[way] = allocate(points->count);
        row.times_ns[way] = allocate(points->count);
        for (int i = 0; i < points->count; i++)
            row.times_ns[way][i] = linkmap_time(links, points, (enum linkmap_way)way, i);
    }
    double *const medians = allocate(points->count);
    share(points, median_of(row.times_ns[LINKMAP_OUT], points->count, row.scratch), medians);
    map->typical_ns = median_of(medians, points->count, row.scratch);
    free(medians);
    find_groups(map, &row, threshold);
    find_slow_points(map, &row);
    find_sigma(map, &row);
    for (int way = 0; way < LINKMAP_WAYS; way++)
        free(row.times_ns[way]);
    free(row.scratch);
}

void linkmap_map_free(struct linkmap_map *map)
{
    for (int way = 0; way < LINKMAP_WAYS; way++)
        free(map->more_ns[way]);
    free(map->group);
    *map = (struct linkmap_map){0};
}
