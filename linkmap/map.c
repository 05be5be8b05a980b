#include "linkmap/map.h"

#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The min size of a group, as a part of the points. */
#define GROUP_SHARE 0.25

/* The share of links, from each group to each, that must be nearer to what is expected of these
   than to what is expected of others. */
#define CONSISTENT_SHARE 0.9

/* The share of a deviation that a polish takes from residuals, times the points: of normal noise,
   simulated, 0.69 is left with 8 points, 0.85 with 16, 0.96 with 64. */
#define POLISHED_AWAY 2.5

/* Turns of the median polish; each makes the parts more independent of each other. */
enum { TURNS = 3 };

/* What one point knows: the times of its own links, by the other point; NAN for itself. */
struct own_links {
    const struct linkmap_points *points;
    double *times_ns[LINKMAP_WAYS];
    double *scratch;
};

static double *allocate(int count)
{
    return bc_allocate((size_t)count, sizeof(double), "no memory for a map of %d points", count);
}

/* Copies the values that are numbers, sorted. Returns how many there are. */
static size_t sort_numbers(const double *values, int count, double *sorted)
{
    size_t used = 0;
    for (int i = 0; i < count; i++)
        if (!isnan(values[i]))
            sorted[used++] = values[i];
    bc_sort(sorted, used);
    return used;
}

/* The median of the values that are numbers; NAN if none is. */
static double median_of(const double *values, int count, double *scratch)
{
    return bc_quantile(scratch, sort_numbers(values, count, scratch), 0.5);
}

/* Brings one number of each point to all. */
static void allgather_value(const struct linkmap_points *points, double own, double *all)
{
    BC_MPI(MPI_Allgather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, points->comm));
}

/* ---- groups ---------------------------------------------------------------------------------- */

struct split {
    double quality;  /* the share of the variance that it explains; 0: none */
    double limit_ns; /* links that take less are short */
};

/* The best way to tell this point's links apart by one limit, among those that leave both groups
   large enough, with the point itself in either (two that are slow with each other are but a slow
   link), and differ by enough: least squares within the two (Fisher, "On Grouping for Maximum
   Homogeneity", JASA 53 (1958)). */
static struct split split_of(const struct own_links *own, int min_size, double threshold)
{
    double *const sorted = own->scratch;
    const int count = (int)sort_numbers(own->times_ns[LINKMAP_OUT], own->points->count, sorted);
    struct split best = {0.0, INFINITY};
    double sum = 0.0, squares = 0.0, low_sum = 0.0;
    for (int i = 0; i < count; i++) {
        sum += sorted[i];
        squares += sorted[i] * sorted[i];
    }
    const double total = squares - sum * sum / count;
    for (int low = 1; low < count; low++) {
        low_sum += sorted[low - 1];
        const int high = count - low;
        const bool large_enough = (low + 1 >= min_size && high >= min_size) ||
                                  (low >= min_size && high + 1 >= min_size && high > 1);
        if (!large_enough || sorted[low - 1] == sorted[low])
            continue;
        const double low_mean = low_sum / low, high_mean = (sum - low_sum) / high;
        const double between =
            low * low_mean * low_mean + high * high_mean * high_mean - sum * sum / count;
        if (high_mean > (1.0 + threshold) * low_mean && between / total > best.quality)
            best = (struct split){between / total, (sorted[low - 1] + sorted[low]) / 2.0};
    }
    return best;
}

/* Groups as the point sees them whose links tell them apart best: 1 is that of its long links. It
   is in neither, and is returned; -1 if there are no groups. */
static int propose_groups(const struct own_links *own, int min_size, double threshold, int *group)
{
    const struct linkmap_points *const points = own->points;
    const struct split split = split_of(own, min_size, threshold);
    struct bc_located mine = {split.quality, points->own}, best;
    BC_MPI(MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, points->comm));
    if (best.value <= 0.0)
        return -1;
    if (best.rank == points->own)
        for (int i = 0; i < points->count; i++)
            group[i] = own->times_ns[LINKMAP_OUT][i] >= split.limit_ns;
    BC_MPI(MPI_Bcast(group, points->count, MPI_INT, best.rank, points->comm));
    return best.rank;
}

/* Calls the first point's group 0. */
static void begin_with_zero(int *group, int points)
{
    const int first = group[0];
    for (int i = 0; i < points; i++)
        group[i] ^= first;
}

/* What is expected from group to group: the median over points of the median of their links. */
static void expect_of_groups(struct linkmap_map *map, const struct own_links *own)
{
    const struct linkmap_points *const points = own->points;
    double *const of_group = allocate(points->count), *const all = allocate(points->count);
    for (int to = 0; to < map->groups; to++) {
        for (int i = 0; i < points->count; i++)
            of_group[i] = map->group[i] == to ? own->times_ns[LINKMAP_OUT][i] : NAN;
        allgather_value(points, median_of(of_group, points->count, own->scratch), all);
        for (int from = 0; from < map->groups; from++) {
            for (int i = 0; i < points->count; i++)
                of_group[i] = map->group[i] == from ? all[i] : NAN;
            map->expected_ns[from][to] = median_of(of_group, points->count, own->scratch);
        }
    }
    free(of_group);
    free(all);
}

/* Whether a time is no nearer to what is expected of other groups than to what is expected of its
   own, as far as these differ by more than the threshold. What is expected to take longer may take
   as little as that more than others: messages that meet between two groups take longer the more
   there are. */
static bool is_consistent(const struct linkmap_map *map, double time_ns, double expected_ns,
                          double threshold)
{
    for (int from = 0; from < map->groups; from++)
        for (int to = 0; to < map->groups; to++) {
            const double other_ns = map->expected_ns[from][to];
            const double middle_ns = (other_ns + expected_ns) / 2.0;
            const bool is_longer = expected_ns > (1.0 + threshold) * other_ns;
            const bool is_shorter = other_ns > (1.0 + threshold) * expected_ns;
            if ((is_longer && time_ns < fmin(middle_ns, (1.0 + threshold) * other_ns)) ||
                (is_shorter && time_ns > middle_ns))
                return false;
        }
    return true;
}

/* Whether nearly all links are as their groups say. Collective over the points. */
static bool are_consistent(const struct linkmap_map *map, const struct own_links *own,
                           double threshold)
{
    enum { CELLS = LINKMAP_GROUPS_MAX * LINKMAP_GROUPS_MAX };
    const struct linkmap_points *const points = own->points;
    long counts[CELLS][2] = {{0}}; /* links from group to group; those that are consistent */
    bool consistent = true;
    for (int i = 0; i < points->count; i++) {
        const double time_ns = own->times_ns[LINKMAP_OUT][i];
        if (isnan(time_ns))
            continue;
        long *const cell = counts[map->group[points->own] * LINKMAP_GROUPS_MAX + map->group[i]];
        cell[0]++;
        cell[1] += is_consistent(map, time_ns, linkmap_expected(map, points->own, i), threshold);
    }
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, counts[0], 2 * CELLS, MPI_LONG, MPI_SUM, points->comm));
    for (int i = 0; i < CELLS; i++)
        consistent = consistent && (double)counts[i][1] >= CONSISTENT_SHARE * (double)counts[i][0];
    return consistent;
}

/* Whether the groups are but a minority of points that are slow with all: then links among these
   take no less than links to the others, as the greater delay counts, or both do. Where something
   lies between two groups, links within either take less. Two points that are slow with each other
   are a slow link, and no group either. */
static bool is_slow_minority(const struct linkmap_map *map, double resolution_ns)
{
    const double within[2] = {map->expected_ns[0][0], map->expected_ns[1][1]};
    const double across = (map->expected_ns[0][1] + map->expected_ns[1][0]) / 2.0;
    const int slower = within[1] > within[0];
    int size = 0;
    for (int i = 0; i < map->points; i++)
        size += map->group[i] == slower;
    return within[slower] >= across - resolution_ns && (2 * size < map->points || size == 2);
}

/* Whether the groups explain the links. Collective over the points. */
static bool are_groups(const struct linkmap_map *map, const struct own_links *own, int min_size,
                       double threshold)
{
    double min_ns = INFINITY, max_ns = 0.0;
    int size = 0;
    for (int i = 0; i < map->points; i++)
        size += map->group[i];
    for (int from = 0; from < map->groups; from++)
        for (int to = 0; to < map->groups; to++) {
            min_ns = fmin(min_ns, map->expected_ns[from][to]);
            max_ns = fmax(max_ns, map->expected_ns[from][to]);
        }
    const double resolution_ns = threshold * min_ns;
    const bool consistent = are_consistent(map, own, threshold);
    return consistent && size >= min_size && map->points - size >= min_size &&
           max_ns > min_ns + resolution_ns && !is_slow_minority(map, resolution_ns);
}

static void find_groups(struct linkmap_map *map, const struct own_links *own, double threshold)
{
    const int points = own->points->count;
    const int min_size = (int)fmax(2.0, ceil(GROUP_SHARE * points));
    const int proposer = propose_groups(own, min_size, threshold, map->group);
    map->groups = 2;
    /* Where something lies between two groups, a point's short links are those within its own; of
       two kinds of points, those to the quicker kind, whichever it is of. */
    for (int side = 0; side < 2 && proposer >= 0; side++) {
        map->group[proposer] ^= side;
        begin_with_zero(map->group, points);
        expect_of_groups(map, own);
        if (are_groups(map, own, min_size, threshold))
            return;
    }
    map->groups = 1;
    memset(map->group, 0, (size_t)points * sizeof *map->group);
    expect_of_groups(map, own);
}

/* ---- points ---------------------------------------------------------------------------------- */

/* The effect of this point's links, one way: the median of what the other ends and the groups leave
   unexplained. */
static double own_effect(const struct linkmap_map *map, const struct own_links *own,
                         enum linkmap_way way)
{
    const int point = own->points->own;
    double *const residuals_ns = allocate(map->points);
    for (int i = 0; i < map->points; i++) {
        const int from = way == LINKMAP_OUT ? point : i, to = way == LINKMAP_OUT ? i : point;
        residuals_ns[i] =
            own->times_ns[way][i] - linkmap_explained(map, from, to) + map->effect_ns[way][point];
    }
    const double effect_ns = median_of(residuals_ns, map->points, own->scratch);
    free(residuals_ns);
    return effect_ns;
}

static void find_effects(struct linkmap_map *map, const struct own_links *own)
{
    double *const all = allocate(map->points);
    for (int turn = 0; turn < TURNS; turn++)
        for (int way = 0; way < LINKMAP_WAYS; way++) {
            allgather_value(own->points, own_effect(map, own, (enum linkmap_way)way), all);
            memcpy(map->effect_ns[way], all, (size_t)map->points * sizeof *all);
        }
    for (int way = 0; way < LINKMAP_WAYS; way++)
        map->effect_sigma_ns[way] = bc_mad_sigma(
            own->scratch, sort_numbers(map->effect_ns[way], map->points, own->scratch));
    free(all);
}

/* Of the residuals: the median over points of 1.4826 times the median of each one's, which no few
   points raise. */
static void find_sigma(struct linkmap_map *map, const struct own_links *own)
{
    double *const residuals_ns = allocate(map->points), *const all = allocate(map->points);
    for (int i = 0; i < map->points; i++)
        residuals_ns[i] =
            fabs(own->times_ns[LINKMAP_OUT][i] - linkmap_explained(map, own->points->own, i));
    allgather_value(own->points, 1.4826 * median_of(residuals_ns, map->points, own->scratch), all);
    const double polished_away = POLISHED_AWAY / fmax(LINKMAP_POINTS_FOR_SIGMA, map->points);
    map->sigma_ns = median_of(all, map->points, own->scratch) / (1.0 - polished_away);
    free(residuals_ns);
    free(all);
}

/* ---- the map --------------------------------------------------------------------------------- */

double linkmap_expected(const struct linkmap_map *map, int from, int to)
{
    return map->expected_ns[map->group[from]][map->group[to]];
}

double linkmap_explained(const struct linkmap_map *map, int from, int to)
{
    return linkmap_expected(map, from, to) + map->effect_ns[LINKMAP_OUT][from] +
           map->effect_ns[LINKMAP_IN][to];
}

void linkmap_map_make(struct linkmap_map *map, const struct linkmap_links *links,
                      const struct linkmap_points *points, double threshold)
{
    struct own_links own = {.points = points, .scratch = allocate(points->count)};
    *map = (struct linkmap_map){
        .points = points->count,
        .group = bc_allocate((size_t)points->count, sizeof(int), "no memory for a map"),
    };
    for (int way = 0; way < LINKMAP_WAYS; way++) {
        map->effect_ns[way] = allocate(points->count);
        own.times_ns[way] = allocate(points->count);
        for (int i = 0; i < points->count; i++)
            own.times_ns[way][i] = linkmap_time(links, points, (enum linkmap_way)way, i);
    }
    find_groups(map, &own, threshold);
    find_effects(map, &own);
    find_sigma(map, &own);
    for (int way = 0; way < LINKMAP_WAYS; way++)
        free(own.times_ns[way]);
    free(own.scratch);
}

void linkmap_map_free(struct linkmap_map *map)
{
    for (int way = 0; way < LINKMAP_WAYS; way++)
        free(map->effect_ns[way]);
    free(map->group);
    *map = (struct linkmap_map){0};
}
