#include "linkmap/times.h"

#include "common/mpi/mpi_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double *linkmap_medians(const struct linkmap_row *row, int points, int visit, int way)
{
    return row->medians_ns + ((size_t)visit * LINKMAP_WAYS + (size_t)way) * (size_t)points;
}

/* Room for what visits say of each way. */
static void allocate_values(const struct linkmap_row *row, double *values[LINKMAP_WAYS])
{
    for (int way = 0; way < LINKMAP_WAYS; way++)
        values[way] =
            bc_allocate((size_t)row->links.visits, sizeof *values[way], "no memory for a row");
}

static void free_values(double *values[LINKMAP_WAYS])
{
    for (int way = 0; way < LINKMAP_WAYS; way++)
        free(values[way]);
}

/* What each visit says of a point: the median of its links. Rank 0. */
static void list_of_point(const struct linkmap_row *row, int points, int way, int point,
                          double *values)
{
    for (int i = 0; i < row->links.visits; i++)
        values[i] = linkmap_medians(row, points, i, way)[point];
}

/* What each visit says of all points: the median of their medians. Rank 0. */
static void list_of_all(const struct linkmap_row *row, int points, int way, double *values)
{
    double *const of_visit = bc_allocate((size_t)points, sizeof *of_visit, "no memory for a row");
    for (int i = 0; i < row->links.visits; i++) {
        memcpy(of_visit, linkmap_medians(row, points, i, way), (size_t)points * sizeof *of_visit);
        values[i] = bc_median(of_visit, (size_t)points);
    }
    free(of_visit);
}

static struct bc_summary summary_of(const struct linkmap *state, double *values, int visits)
{
    return linkmap_over_visits(values, (size_t)visits, state->points.estimator,
                               state->run->settings.confidence_pct / 100.0);
}

/* What a time is as a bandwidth, its interval too. */
static struct bc_summary bandwidth_of(struct bc_summary ns, int bytes)
{
    const double mb = 1e9 * bytes / 1048576.0;
    struct bc_summary made = ns;
    made.value = mb / ns.value;
    /* A time that may be as short as none bounds no bandwidth. */
    made.interval =
        (struct bc_interval){mb / ns.interval.hi, ns.interval.lo > 0.0 ? mb / ns.interval.lo : NAN};
    return made;
}

/* Writes what visits said to the file of --dump-samples. Rank 0. */
static void dump(const struct bc_run *run, const char *name, const double *values, int visits)
{
    struct bc_samples samples = {0};
    if (run->settings.dump_samples == NULL)
        return;
    for (int i = 0; i < visits; i++) {
        bc_samples_begin_visit(&samples);
        bc_samples_append(&samples, &values[i], 1, 0);
    }
    bc_run_dump(run, name, &samples, 0);
    bc_samples_free(&samples);
}

/* Sets the times of a result from what visits said of each way, which may be reordered. */
static void set_times(const struct linkmap *state, const struct linkmap_row *row,
                      struct linkmap_result *result, double *const values[LINKMAP_WAYS])
{
    static const char *const names[LINKMAP_WAYS] = {"out", "in"};
    const struct bc_summary none = {.value = NAN, .interval = {NAN, NAN}};
    const int ways = row->links.one_way ? LINKMAP_WAYS : 1;
    result->time = result->ways[LINKMAP_OUT] = result->ways[LINKMAP_IN] = none;
    for (int way = 0; way < ways; way++) {
        dump(state->run, row->links.one_way ? names[way] : "time", values[way], row->links.visits);
        const struct bc_summary ns = summary_of(state, values[way], row->links.visits);
        if (row->links.one_way)
            result->ways[way] = bandwidth_of(ns, row->links.bytes);
        else
            result->time = ns;
    }
}

void linkmap_set_point_times(const struct linkmap *state, const struct linkmap_row *row, int point,
                             struct linkmap_result *result)
{
    double *values[LINKMAP_WAYS];
    allocate_values(row, values);
    for (int way = 0; way < LINKMAP_WAYS; way++)
        list_of_point(row, state->points.count, way, point, values[way]);
    set_times(state, row, result, values);
    free_values(values);
}

void linkmap_set_all_times(const struct linkmap *state, const struct linkmap_row *row,
                           struct linkmap_result *result)
{
    double *values[LINKMAP_WAYS];
    allocate_values(row, values);
    for (int way = 0; way < LINKMAP_WAYS; way++)
        list_of_all(row, state->points.count, way, values[way]);
    set_times(state, row, result, values);
    free_values(values);
}

void linkmap_set_link_times(const struct linkmap *state, const struct linkmap_row *row,
                            struct linkmap_result *result)
{
    struct linkmap_links links = row->links;
    double *values[LINKMAP_WAYS];
    links.times_ns = row->fetched_ns;
    allocate_values(row, values);
    for (int way = 0; way < LINKMAP_WAYS; way++)
        linkmap_times(&links, &state->points, (enum linkmap_way)way, row->to, values[way]);
    set_times(state, row, result, values);
    free_values(values);
}

int linkmap_slowest_point(const struct linkmap *state, const struct linkmap_row *row)
{
    int slowest = 0;
    double max_ns = 0.0, *values[LINKMAP_WAYS];
    allocate_values(row, values);
    for (int i = 0; i < state->points.count; i++)
        for (int way = 0; way < LINKMAP_WAYS; way++) {
            list_of_point(row, state->points.count, way, i, values[way]);
            const double ns = bc_median(values[way], (size_t)row->links.visits);
            slowest = ns > max_ns ? i : slowest;
            max_ns = fmax(max_ns, ns);
        }
    free_values(values);
    return slowest;
}

bool linkmap_all_is_precise(const struct linkmap *state, const struct linkmap_row *row)
{
    const double precision = state->run->settings.precision_pct / 100.0;
    bool precise = true;
    double *values[LINKMAP_WAYS];
    allocate_values(row, values);
    for (int way = 0; way < LINKMAP_WAYS; way++) {
        list_of_all(row, state->points.count, way, values[way]);
        const struct bc_summary ns = summary_of(state, values[way], row->links.visits);
        precise = precise && bc_is_precise(&ns, precision);
    }
    free_values(values);
    return precise;
}
