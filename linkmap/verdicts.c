#include "linkmap/verdicts.h"

#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/run/signals.h"
#include "common/stats/random.h"
#include "common/stats/stats.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Suspected links that a point names, and that are taken of all. */
enum { OF_POINT_MAX = 16, LINKS_MAX = 512 };

/* Links by which a suspected point is timed again; the share of them that must be slow. */
enum { PARTNERS = 5 };
#define PARTNERS_SHARE 0.8

/* Links that nobody suspects, of each two groups, to which others are compared. */
enum { CONTROLS = 5 };

/* Times of a link alone. */
enum { ALONE_VISITS = 6 };

const char *linkmap_fault_name(enum linkmap_fault fault)
{
    static const char *const names[] = {NULL, "even", "slow", "slow out", "slow in"};
    return names[fault];
}

static bool is_point(const struct linkmap_suspect *suspect) { return suspect->from == suspect->to; }

/* ---- suspects -------------------------------------------------------------------------------- */

/* The standard deviations that chance reaches with probability alpha anywhere among `among` values.
   The deviation itself is estimated from the map's points: simulated, Student's quantile with one
   degree a point makes the chance no more than alpha. */
static double deviations(const struct linkmap_map *map, double alpha, double among)
{
    const double degrees = fmax(LINKMAP_POINTS_FOR_SIGMA, map->points);
    return bc_student_quantile(1.0 - fmin(0.25, alpha / among), degrees);
}

/* The median of what a point's links take by their groups alone. */
static double expected_of_point(const struct linkmap_map *map, int point)
{
    double *const values = bc_allocate((size_t)map->points, sizeof *values, "no memory");
    size_t count = 0;
    for (int i = 0; i < map->points; i++)
        if (i != point)
            values[count++] = linkmap_expected(map, point, i);
    const double ns = bc_median(values, count);
    free(values);
    return ns;
}

/* The same on all points. */
static void suspect_points(struct linkmap_verdicts *verdicts, const struct linkmap_map *map,
                           const struct linkmap_limits *limits)
{
    const int ways = verdicts->one_way ? LINKMAP_WAYS : 1;
    const double beyond = deviations(map, limits->alpha / 2.0, (double)ways * map->points);
    for (int point = 0; point < map->points; point++)
        for (int way = 0; way < ways; way++) {
            /* The residuals of a point's links vary the median of them, too. */
            const double sigma_ns =
                hypot(map->effect_sigma_ns[way], 1.2533 * map->sigma_ns / sqrt(map->points - 1.0));
            const double more_ns = map->effect_ns[way][point];
            if (more_ns > beyond * sigma_ns &&
                more_ns > limits->threshold * expected_of_point(map, point))
                verdicts->suspects[verdicts->count++] = (struct linkmap_suspect){
                    .from = point, .to = point, .way = way, .more_ns = more_ns, .alone_pct = NAN};
        }
}

static int by_more(const void *a, const void *b)
{
    const double left = ((const struct linkmap_suspect *)a)->more_ns;
    const double right = ((const struct linkmap_suspect *)b)->more_ns;
    return (left < right) - (left > right);
}

/* How many standard deviations a link must take longer to be suspected. */
static double deviations_of_link(const struct linkmap_map *map, bool one_way, double alpha)
{
    const double among = (one_way ? 1.0 : 0.5) * map->points * (map->points - 1.0);
    return deviations(map, alpha / 2.0, among);
}

static double resolution_of(const struct linkmap_map *map, bool one_way,
                            const struct linkmap_limits *limits)
{
    double longest_ns = 0.0; /* messages that meet between groups vary most */
    for (int from = 0; from < map->groups; from++)
        for (int to = 0; to < map->groups; to++)
            longest_ns = fmax(longest_ns, map->expected_ns[from][to]);
    return fmax(limits->threshold,
                deviations_of_link(map, one_way, limits->alpha) * map->sigma_ns / longest_ns);
}

/* The links out of this point that are suspected, the slowest first: at most OF_POINT_MAX. Where
   round trips are timed each link is its first point's. Returns how many were left out. */
static int own_suspects(const struct linkmap_map *map, const struct linkmap_links *links,
                        const struct linkmap_points *points, const struct linkmap_limits *limits,
                        struct linkmap_suspect *own)
{
    const double beyond = deviations_of_link(map, links->one_way, limits->alpha);
    struct linkmap_suspect *const all =
        bc_allocate((size_t)map->points, sizeof *all, "no memory for suspects");
    int count = 0;
    for (int to = links->one_way ? 0 : points->own + 1; to < map->points; to++) {
        const double explained_ns = linkmap_explained(map, points->own, to);
        const double more_ns = linkmap_time(links, points, LINKMAP_OUT, to) - explained_ns;
        if (to != points->own && more_ns > limits->threshold * explained_ns &&
            more_ns > beyond * map->sigma_ns)
            all[count++] = (struct linkmap_suspect){
                .from = points->own, .to = to, .more_ns = more_ns, .alone_pct = NAN};
    }
    qsort(all, (size_t)count, sizeof *all, by_more);
    const int kept = count < OF_POINT_MAX ? count : OF_POINT_MAX;
    for (int i = 0; i < OF_POINT_MAX; i++)
        own[i] = i < kept ? all[i] : (struct linkmap_suspect){.from = -1};
    free(all);
    return count - kept;
}

/* Brings the suspected links of all points together after the suspected points, the slowest first.
   What rank 0 finds counts, so that all have the same. */
static void gather_suspects(struct linkmap_verdicts *verdicts, const struct linkmap_suspect *own,
                            int left_out, const struct linkmap_points *points)
{
    const int bytes = OF_POINT_MAX * (int)sizeof *own;
    const size_t all_count = points->own == 0 ? (size_t)points->count * OF_POINT_MAX : 0;
    struct linkmap_suspect *const all =
        bc_allocate(all_count, sizeof *all, "no memory for suspects");
    BC_MPI(MPI_Gather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0, points->comm));
    int found = 0;
    for (size_t i = 0; i < all_count; i++)
        if (all[i].from >= 0)
            all[found++] = all[i];
    qsort(all, (size_t)found, sizeof *all, by_more);
    for (int i = 0; i < found && i < LINKS_MAX; i++)
        verdicts->suspects[verdicts->count++] = all[i];
    free(all);
    left_out += found > LINKS_MAX ? found - LINKS_MAX : 0;
    BC_MPI(MPI_Allreduce(&left_out, &verdicts->left_out, 1, MPI_INT, MPI_SUM, points->comm));
    BC_MPI(MPI_Bcast(&verdicts->count, 1, MPI_INT, 0, points->comm));
    BC_MPI(MPI_Bcast(verdicts->suspects, verdicts->count * (int)sizeof *verdicts->suspects,
                     MPI_BYTE, 0, points->comm));
}

/* Whether a link or one of its points is suspected; `but` is a point that may be (-1: none). */
static bool is_suspected(const struct linkmap_verdicts *verdicts, int from, int to, int but)
{
    for (int i = 0; i < verdicts->count; i++) {
        const struct linkmap_suspect *const s = &verdicts->suspects[i];
        const bool hits =
            is_point(s) ? s->from != but && (s->from == from || s->from == to)
                        : (s->from == from && s->to == to) || (s->from == to && s->to == from);
        if (hits)
            return true;
    }
    return false;
}

/* ---- which links are timed again ------------------------------------------------------------- */

enum { NO_SUSPECT = -1 };

/* A link that is timed alone, for a suspect or to compare others to. */
struct retimed_link {
    int from, to;
    int suspect; /* or NO_SUSPECT */
};

struct plan {
    struct retimed_link *links;
    int count;
    double seconds; /* that it takes, by the map */
};

static double seconds_of(const struct linkmap_map *map, const struct linkmap_links *links, int from,
                         int to, double more_ns)
{
    const double ns = linkmap_explained(map, from, to) + fmax(0.0, more_ns);
    return 2e-9 * ns * (links->repetitions + 1) * ALONE_VISITS;
}

/* Adds links from one group to another that nobody suspects, from a place on that the state says.
 */
static void plan_controls(struct plan *plan, const struct linkmap_verdicts *verdicts,
                          const struct linkmap_map *map, const struct linkmap_links *links,
                          int from_group, int to_group, uint64_t *state)
{
    const uint64_t points = (uint64_t)map->points;
    const uint64_t first = bc_random_next(state) % (points * points);
    int added = 0;
    for (uint64_t i = 0; i < points * points && added < CONTROLS; i++) {
        /* Steps of a prime keep them apart, and meet every pair where the prime divides no number
           of pairs; where it does, enough of them. */
        const uint64_t pair = (first + i * 7919) % (points * points);
        const int from = (int)(pair / points), to = (int)(pair % points);
        if (from == to || map->group[from] != from_group || map->group[to] != to_group ||
            is_suspected(verdicts, from, to, -1))
            continue;
        plan->seconds += seconds_of(map, links, from, to, 0.0);
        plan->links[plan->count++] = (struct retimed_link){from, to, NO_SUSPECT};
        added++;
    }
}

/* Adds the links of a suspect: its own, or those of a point with partners that nobody suspects. */
static void plan_suspect(struct plan *plan, const struct linkmap_verdicts *verdicts, int suspect,
                         const struct linkmap_map *map, const struct linkmap_links *links,
                         uint64_t *state)
{
    const struct linkmap_suspect *const s = &verdicts->suspects[suspect];
    const int first = (int)(bc_random_next(state) % (uint64_t)map->points);
    int added = 0;
    if (!is_point(s)) {
        plan->seconds += seconds_of(map, links, s->from, s->to, s->more_ns);
        plan->links[plan->count++] = (struct retimed_link){s->from, s->to, suspect};
        return;
    }
    for (int i = 0; i < map->points && added < PARTNERS; i++) {
        const int other = (first + i) % map->points;
        const int from = s->way == LINKMAP_OUT ? s->from : other;
        const int to = s->way == LINKMAP_OUT ? other : s->from;
        if (other == s->from || is_suspected(verdicts, from, to, s->from))
            continue;
        plan->seconds += seconds_of(map, links, from, to, 0.0);
        plan->links[plan->count++] = (struct retimed_link){from, to, suspect};
        added++;
    }
}

/* The same on all points. Suspects whose links would take longer than there is time for are left,
   but for the first one while there is any. */
static struct plan make_plan(const struct linkmap_verdicts *verdicts, const struct linkmap_map *map,
                             const struct linkmap_links *links, double seconds)
{
    const size_t max = (size_t)verdicts->count * PARTNERS +
                       (size_t)LINKMAP_GROUPS_MAX * LINKMAP_GROUPS_MAX * CONTROLS;
    struct plan plan = {
        .links = bc_allocate(max, sizeof *plan.links, "no memory to time %zu links", max)};
    uint64_t state = (uint64_t)map->points;
    if (verdicts->count == 0)
        return plan;
    for (int from = 0; from < map->groups; from++)
        for (int to = 0; to < map->groups; to++)
            plan_controls(&plan, verdicts, map, links, from, to, &state);
    for (int i = 0; i < verdicts->count && (plan.seconds < seconds || (i == 0 && seconds > 0.0));
         i++)
        plan_suspect(&plan, verdicts, i, map, links, &state);
    return plan;
}

/* ---- one link alone -------------------------------------------------------------------------- */

/* The median and the min of each link's times alone, on all points alike; NAN where a signal ended
   it. */
static void time_alone(const struct plan *plan, const struct linkmap_links *links,
                       const struct linkmap_points *points, double *medians_ns, double *min_ns)
{
    double *const times_ns = bc_allocate((size_t)plan->count * ALONE_VISITS, sizeof *times_ns,
                                         "no memory to time %d links", plan->count);
    int ended = 0;
    for (int visit = 0; visit < ALONE_VISITS && !ended; visit++) {
        for (int i = 0; i < plan->count; i++) {
            const struct retimed_link *const link = &plan->links[i];
            double both_ns[LINKMAP_WAYS];
            bc_harness_barrier(points->comm);
            if (points->own == link->from)
                linkmap_time_link(links, points, link->to, true, both_ns);
            else if (points->own == link->to)
                linkmap_time_link(links, points, link->from, false, both_ns);
            if (points->own == link->from)
                times_ns[i * ALONE_VISITS + visit] = both_ns[LINKMAP_OUT];
        }
        ended = bc_signals_noted() != 0;
        bc_harness_allreduce(MPI_IN_PLACE, &ended, 1, MPI_INT, MPI_MAX, points->comm);
    }
    for (int i = 0; i < plan->count; i++) {
        const bool is_own = points->own == plan->links[i].from;
        double *const of_link = times_ns + (size_t)i * ALONE_VISITS;
        medians_ns[i] = is_own ? bc_median(of_link, ALONE_VISITS) : -INFINITY;
        min_ns[i] = is_own ? of_link[0] : -INFINITY; /* sorted now */
    }
    free(times_ns);
    bc_harness_allreduce(MPI_IN_PLACE, medians_ns, plan->count, MPI_DOUBLE, MPI_MAX, points->comm);
    bc_harness_allreduce(MPI_IN_PLACE, min_ns, plan->count, MPI_DOUBLE, MPI_MAX, points->comm);
    for (int i = 0; ended && i < plan->count; i++)
        medians_ns[i] = min_ns[i] = NAN;
}

/* The median of the controls between the same groups; NAN if there is none. */
static double typical_alone(const struct plan *plan, const struct linkmap_map *map,
                            const struct retimed_link *link, const double *medians_ns)
{
    double values[CONTROLS];
    size_t count = 0;
    for (int i = 0; i < plan->count && count < CONTROLS; i++) {
        const struct retimed_link *const other = &plan->links[i];
        if (other->suspect == NO_SUSPECT && map->group[other->from] == map->group[link->from] &&
            map->group[other->to] == map->group[link->to])
            values[count++] = medians_ns[i];
    }
    return bc_median(values, count);
}

/* Names the suspect if its links are slow alone, too. */
static void decide(struct linkmap_suspect *suspect, int number, const struct linkmap_map *map,
                   const struct plan *plan, const double *medians_ns, const double *min_ns,
                   double threshold)
{
    double more_pct[PARTNERS];
    int count = 0, slow = 0;
    for (int i = 0; i < plan->count; i++) {
        const struct retimed_link *const link = &plan->links[i];
        if (link->suspect != number)
            continue;
        /* What its points' links take longer is no fault of a link's. */
        const double effects_ns = is_point(suspect)
                                      ? 0.0
                                      : fmax(0.0, map->effect_ns[LINKMAP_OUT][link->from]) +
                                            fmax(0.0, map->effect_ns[LINKMAP_IN][link->to]);
        const double expected_ns = typical_alone(plan, map, link, medians_ns) + effects_ns;
        if (!isfinite(expected_ns) || !isfinite(medians_ns[i]))
            continue;
        more_pct[count++] = 100.0 * (medians_ns[i] / expected_ns - 1.0);
        slow += medians_ns[i] > (1.0 + threshold) * expected_ns &&
                min_ns[i] > (1.0 + threshold / 2.0) * expected_ns;
    }
    suspect->timed = count > 0;
    suspect->named = count > 0 && slow >= PARTNERS_SHARE * count;
    suspect->alone_pct = bc_median(more_pct, (size_t)count);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

void linkmap_judge(struct linkmap_verdicts *verdicts, const struct linkmap_map *map,
                   const struct linkmap_links *links, const struct linkmap_points *points,
                   const struct linkmap_limits *limits)
{
    struct linkmap_suspect own[OF_POINT_MAX];
    *verdicts = (struct linkmap_verdicts){
        .suspects = bc_allocate((size_t)LINKMAP_WAYS * (size_t)map->points + LINKS_MAX,
                                sizeof *verdicts->suspects, "no memory for suspects"),
        .one_way = links->one_way};
    verdicts->resolution = resolution_of(map, links->one_way, limits);
    suspect_points(verdicts, map, limits);
    const int left_out = own_suspects(map, links, points, limits, own);
    gather_suspects(verdicts, own, left_out, points);
    const struct plan plan = make_plan(verdicts, map, links, limits->seconds);
    double *const medians_ns =
        bc_allocate((size_t)plan.count, sizeof *medians_ns, "no memory for times");
    double *const min_ns = bc_allocate((size_t)plan.count, sizeof *min_ns, "no memory for times");
    time_alone(&plan, links, points, medians_ns, min_ns);
    for (int i = 0; i < verdicts->count; i++)
        decide(&verdicts->suspects[i], i, map, &plan, medians_ns, min_ns, limits->threshold);
    BC_MPI(MPI_Bcast(verdicts->suspects, verdicts->count * (int)sizeof *verdicts->suspects,
                     MPI_BYTE, 0, points->comm));
    free(min_ns);
    free(medians_ns);
    free(plan.links);
}

/* What is known of two ways. */
struct ways {
    bool slow[LINKMAP_WAYS], unknown[LINKMAP_WAYS];
    double alone_pct; /* NAN: not suspected */
};

static void add_way(struct ways *ways, enum linkmap_way way, const struct linkmap_suspect *suspect)
{
    ways->slow[way] = ways->slow[way] || suspect->named;
    ways->unknown[way] = ways->unknown[way] || !suspect->timed;
    ways->alone_pct = fmax(ways->alone_pct, suspect->alone_pct);
}

/* Of a round trip it isn't known which way is slow. Where one way is, the other one, suspected and
   not timed again, is taken to be so, too. */
static enum linkmap_fault fault_of(const struct linkmap_verdicts *verdicts, const struct ways *ways)
{
    const bool named = ways->slow[LINKMAP_OUT] || ways->slow[LINKMAP_IN];
    const bool out = ways->slow[LINKMAP_OUT] || ways->unknown[LINKMAP_OUT];
    const bool in = ways->slow[LINKMAP_IN] || ways->unknown[LINKMAP_IN];
    if (!named)
        return out || in ? LINKMAP_UNKNOWN : LINKMAP_EVEN;
    if ((out && in) || !verdicts->one_way)
        return LINKMAP_SLOW;
    return out ? LINKMAP_SLOW_OUT : LINKMAP_SLOW_IN;
}

enum linkmap_fault linkmap_fault_of_point(const struct linkmap_verdicts *verdicts, int point,
                                          double *alone_pct)
{
    struct ways ways = {.alone_pct = NAN};
    for (int i = 0; i < verdicts->count; i++)
        if (is_point(&verdicts->suspects[i]) && verdicts->suspects[i].from == point)
            add_way(&ways, (enum linkmap_way)verdicts->suspects[i].way, &verdicts->suspects[i]);
    *alone_pct = ways.alone_pct;
    return fault_of(verdicts, &ways);
}

enum linkmap_fault linkmap_fault_of_link(const struct linkmap_verdicts *verdicts, int from, int to,
                                         double *alone_pct)
{
    /* A link that isn't among the suspects may be one of those that were left out. */
    struct ways ways = {.alone_pct = NAN};
    bool found = false;
    for (int i = 0; i < verdicts->count; i++) {
        const struct linkmap_suspect *const s = &verdicts->suspects[i];
        const bool is_out = s->from == from && s->to == to, is_in = s->from == to && s->to == from;
        if (is_point(s) || (!is_out && !is_in))
            continue;
        add_way(&ways, is_out ? LINKMAP_OUT : LINKMAP_IN, s);
        found = true;
    }
    *alone_pct = ways.alone_pct;
    return found || verdicts->left_out == 0 ? fault_of(verdicts, &ways) : LINKMAP_UNKNOWN;
}

static bool is_before(int from, int to, int other_from, int other_to)
{
    return from < other_from || (from == other_from && to < other_to);
}

bool linkmap_next_named(const struct linkmap_verdicts *verdicts, int *from, int *to)
{
    int next_from = INT_MAX, next_to = INT_MAX;
    for (int i = 0; i < verdicts->count; i++) {
        const struct linkmap_suspect *const s = &verdicts->suspects[i];
        const int low = s->from < s->to ? s->from : s->to;
        const int high = s->from + s->to - low;
        if (!is_point(s) && s->named && is_before(*from, *to, low, high) &&
            is_before(low, high, next_from, next_to)) {
            next_from = low;
            next_to = high;
        }
    }
    if (next_from == INT_MAX)
        return false;
    *from = next_from;
    *to = next_to;
    return true;
}

void linkmap_verdicts_free(struct linkmap_verdicts *verdicts)
{
    free(verdicts->suspects);
    *verdicts = (struct linkmap_verdicts){0};
}
