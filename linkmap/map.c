/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Model of the times of all links of one message size: the usual time of a link, effects of single
 * points (ranks: links.h), and two groups of points if links between groups and within them differ
 * in time.
 *
 * The time from point i to point j is expected to be the usual one from i's group to j's, plus the
 * effect of i as a sender and that of j as a receiver. Each term is a median over many links, as in
 * Tukey's median polish (Exploratory Data Analysis, 1977, ch. 10), which a few slow links don't
 * change.
 */
#include "common/mpi/harness.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "linkmap/verdicts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Min share of the points in a group. */
#define GROUP_SHARE 0.25

/* Min share of consistent links between each two groups (is_consistent). */
#define CONSISTENT_SHARE 0.9

/* The median polish shrinks residuals, by POLISHED_AWAY / points. Simulated with normal noise, 0.69
   of a deviation is left with 8 points, 0.85 with 16, 0.96 with 64. */
#define POLISHED_AWAY 2.5

/* Iterations of the median polish; each makes the effects more independent of each other. */
enum { TURNS = 3 };

static double *allocate(int count)
{
    return bc_allocate((size_t)count, sizeof(double), "no memory for a map of %d points", count);
}

/* Copies the values that aren't NAN, sorted. Returns their number. */
static size_t sort_numbers(const double *values, int count, double *sorted)
{
    size_t used = 0;
    for (int i = 0; i < count; i++)
        if (!isnan(values[i]))
            sorted[used++] = values[i];
    bc_sort(sorted, used);
    return used;
}

double linkmap_median(const double *values, int count)
{
    double *const sorted = allocate(count);
    const double median = bc_quantile(sorted, sort_numbers(values, count, sorted), 0.5);
    free(sorted);
    return median;
}

/* Gathers one number per point on all points. */
static void allgather_value(const struct linkmap_map *map, double own, double *all)
{
    BC_MPI(MPI_Allgather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, map->comm));
}

/* ---- groups ---------------------------------------------------------------------------------- */

struct split {
    double quality;  /* share of the variance explained; 0 if there is no split */
    double limit_ns; /* links below it are short, others are long */
};

/* Returns the split of this point's links into short and long ones with the least squares within
   both (Fisher, "On Grouping for Maximum Homogeneity", JASA 53 (1958)). Both groups must be large
   enough, wherever the point itself belongs, and their means must differ by more than the
   threshold. A single long link makes no group: it is a slow link. */
static struct split split_of(const struct linkmap_map *map, int min_size, double threshold)
{
    double *const sorted = allocate(map->count);
    const int count = (int)sort_numbers(map->times_ns[LINKMAP_OUT], map->count, sorted);
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
    free(sorted);
    return best;
}

/* Groups points by the best split that any point has: group 0 are the other ends of that point's
   short links, group 1 those of its long links. Returns that point, whose own group isn't known, or
   -1 if no point has a split. */
static int propose_groups(struct linkmap_map *map, int min_size, double threshold)
{
    const struct split split = split_of(map, min_size, threshold);
    struct bc_located mine = {split.quality, map->own}, best;
    BC_MPI(MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, map->comm));
    if (best.value <= 0.0)
        return -1;
    if (best.rank == map->own)
        for (int i = 0; i < map->count; i++)
            map->group[i] = map->times_ns[LINKMAP_OUT][i] >= split.limit_ns;
    BC_MPI(MPI_Bcast(map->group, map->count, MPI_INT, best.rank, map->comm));
    return best.rank;
}

/* Sets the times expected from group to group: the median over points of their links' medians. */
static void expect_of_groups(struct linkmap_map *map)
{
    double *const of_group = allocate(map->count), *const all = allocate(map->count);
    for (int to = 0; to < map->groups; to++) {
        for (int i = 0; i < map->count; i++)
            of_group[i] = map->group[i] == to ? map->times_ns[LINKMAP_OUT][i] : NAN;
        allgather_value(map, linkmap_median(of_group, map->count), all);
        for (int from = 0; from < map->groups; from++) {
            for (int i = 0; i < map->count; i++)
                of_group[i] = map->group[i] == from ? all[i] : NAN;
            map->expected_ns[from][to] = linkmap_median(of_group, map->count);
        }
    }
    free(of_group);
    free(all);
}

/* True if a time is nearer to the expected time of its own groups than to any that differs from
   that by more than the threshold. Where its own groups' expected time is the longer one, it is
   enough that the time exceeds the other one by more than the threshold: messages that share a
   bottleneck take longer the more of them there are. */
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

/* True if the links between each two groups are consistent. Collective over the points. */
static bool are_consistent(const struct linkmap_map *map, double threshold)
{
    enum { CELLS = LINKMAP_GROUPS_MAX * LINKMAP_GROUPS_MAX };
    long counts[CELLS][2] = {{0}}; /* links from group to group; those that are consistent */
    bool consistent = true;
    for (int i = 0; i < map->count; i++) {
        const double time_ns = map->times_ns[LINKMAP_OUT][i];
        if (isnan(time_ns))
            continue;
        long *const cell = counts[map->group[map->own] * LINKMAP_GROUPS_MAX + map->group[i]];
        cell[0]++;
        cell[1] += is_consistent(map, time_ns, linkmap_expected(map, map->own, i), threshold);
    }
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, counts[0], 2 * CELLS, MPI_LONG, MPI_SUM, map->comm));
    for (int i = 0; i < CELLS; i++)
        consistent = consistent && (double)counts[i][1] >= CONSISTENT_SHARE * (double)counts[i][0];
    return consistent;
}

/* True if the groups explain the links. The slower group must not be a mere minority of points that
   are slow with all others: then links within it take no less than links to the others. With a
   bottleneck between two groups, links within either take less. Two points that are slow with each
   other are a slow link, not a group. Collective over the points. */
static bool are_groups(const struct linkmap_map *map, int min_size, double threshold)
{
    const struct bc_interval expected_ns = linkmap_expected_range(map);
    const double resolution_ns = threshold * expected_ns.lo;
    const double within_ns[2] = {map->expected_ns[0][0], map->expected_ns[1][1]};
    const double across_ns = (map->expected_ns[0][1] + map->expected_ns[1][0]) / 2.0;
    const int slower = within_ns[1] > within_ns[0];
    int size[2] = {0, 0};
    for (int i = 0; i < map->count; i++)
        size[map->group[i]]++;
    const bool is_slow_minority = within_ns[slower] >= across_ns - resolution_ns &&
                                  (2 * size[slower] < map->count || size[slower] == 2);
    return are_consistent(map, threshold) && size[0] >= min_size && size[1] >= min_size &&
           expected_ns.hi > expected_ns.lo + resolution_ns && !is_slow_minority;
}

static void find_groups(struct linkmap_map *map, double threshold)
{
    const int min_size = (int)fmax(2.0, ceil(GROUP_SHARE * map->count));
    const int proposer = propose_groups(map, min_size, threshold);
    map->groups = 2;
    /* The proposer may be in either group. With a bottleneck its short links stay within its own
       group; with two kinds of points they lead to the faster kind. */
    for (int side = 0; side < 2 && proposer >= 0; side++) {
        map->group[proposer] ^= side;
        for (int i = map->count - 1; i >= 0; i--) /* the first point's group is 0 */
            map->group[i] ^= map->group[0];
        expect_of_groups(map);
        if (are_groups(map, min_size, threshold))
            return;
    }
    map->groups = 1;
    memset(map->group, 0, (size_t)map->count * sizeof *map->group);
    expect_of_groups(map);
}

/* ---- points ---------------------------------------------------------------------------------- */

/* Returns the effect of this point on its links, one way: the median of the times that groups and
   other ends don't explain. */
static double own_effect(const struct linkmap_map *map, int way)
{
    const int point = map->own;
    double *const residuals_ns = allocate(map->count);
    for (int i = 0; i < map->count; i++) {
        const int from = way == LINKMAP_OUT ? point : i, to = way == LINKMAP_OUT ? i : point;
        residuals_ns[i] =
            map->times_ns[way][i] - linkmap_explained(map, from, to) + map->effect_ns[way][point];
    }
    const double effect_ns = linkmap_median(residuals_ns, map->count);
    free(residuals_ns);
    return effect_ns;
}

static void find_effects(struct linkmap_map *map)
{
    double *const sorted = allocate(map->count);
    for (int turn = 0; turn < TURNS; turn++)
        for (int way = 0; way < LINKMAP_WAYS; way++)
            allgather_value(map, own_effect(map, way), map->effect_ns[way]);
    for (int way = 0; way < LINKMAP_WAYS; way++)
        map->effect_sigma_ns[way] =
            bc_mad_sigma(sorted, sort_numbers(map->effect_ns[way], map->count, sorted));
    free(sorted);
}

/* Sets the deviation of residuals to the median over points of 1.4826 times the median of each
   point's absolute residuals, so that a few slow points don't raise it. */
static void find_sigma(struct linkmap_map *map)
{
    double *const residuals_ns = allocate(map->count), *const all = allocate(map->count);
    for (int i = 0; i < map->count; i++)
        residuals_ns[i] = fabs(map->times_ns[LINKMAP_OUT][i] - linkmap_explained(map, map->own, i));
    allgather_value(map, 1.4826 * linkmap_median(residuals_ns, map->count), all);
    const double polished_away = POLISHED_AWAY / fmax(LINKMAP_POINTS_FOR_SIGMA, map->count);
    map->sigma_ns = linkmap_median(all, map->count) / (1.0 - polished_away);
    free(residuals_ns);
    free(all);
}

/* ---- the map --------------------------------------------------------------------------------- */

struct bc_interval linkmap_expected_range(const struct linkmap_map *map)
{
    struct bc_interval ns = {INFINITY, 0.0};
    for (int from = 0; from < map->groups; from++)
        for (int to = 0; to < map->groups; to++) {
            ns.lo = fmin(ns.lo, map->expected_ns[from][to]);
            ns.hi = fmax(ns.hi, map->expected_ns[from][to]);
        }
    return ns;
}

double linkmap_expected(const struct linkmap_map *map, int from, int to)
{
    return map->expected_ns[map->group[from]][map->group[to]];
}

double linkmap_explained(const struct linkmap_map *map, int from, int to)
{
    return linkmap_expected(map, from, to) + map->effect_ns[LINKMAP_OUT][from] +
           map->effect_ns[LINKMAP_IN][to];
}

void linkmap_map_make(struct linkmap_map *map, const struct linkmap_links *links, double threshold)
{
    *map = (struct linkmap_map){
        .links = links,
        .comm = links->points->comm,
        .count = links->points->count,
        .own = links->points->own,
        .group = bc_allocate((size_t)links->points->count, sizeof(int), "no memory for a map"),
    };
    for (int way = 0; way < LINKMAP_WAYS; way++) {
        map->effect_ns[way] = allocate(map->count);
        map->times_ns[way] = allocate(map->count);
        for (int i = 0; i < map->count; i++)
            map->times_ns[way][i] = linkmap_time(links, way, i);
    }
    find_groups(map, threshold);
    find_effects(map);
    find_sigma(map);
}

void linkmap_map_free(struct linkmap_map *map)
{
    for (int way = 0; way < LINKMAP_WAYS; way++) {
        free(map->effect_ns[way]);
        free(map->times_ns[way]);
    }
    free(map->group);
}
