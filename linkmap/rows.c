/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/mpi/harness.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/result/text.h"
#include "linkmap/linkmap.h"
#include "linkmap/warnings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Timing suspects of all sizes again takes at most this share of the time before it, or AGAIN_MIN_S
   if that is longer. */
#define AGAIN_SHARE 0.5
#define AGAIN_MIN_S 20.0

/* Above this resolution a note shows how much longer a link must take to be suspected. */
#define COARSE 1.0

static bool is_point(const struct linkmap *linkmap) { return linkmap->points.own >= 0; }

/* ---- a result -------------------------------------------------------------------------------- */

/* Writes the values of visits to the file of --dump-samples, if any. Rank 0. */
static void dump(const struct bc_run *run, const char *name, const double *values, int visits)
{
    struct bc_samples samples = {0};
    for (int i = 0; run->settings.dump_samples != NULL && i < visits; i++) {
        bc_samples_begin_visit(&samples);
        bc_samples_append(&samples, &values[i], 1, 0);
    }
    bc_samples_dump(run, name, &samples, 0);
    bc_samples_free(&samples);
}

/* Converts a time of messages to a bandwidth. */
static struct bc_summary bandwidth_of(struct bc_summary ns, int bytes)
{
    const double mb = 1e9 * bytes / 1048576.0;
    /* An interval of times down to 0 has no max bandwidth. */
    return (struct bc_summary){
        .value = mb / ns.value,
        .interval = {mb / ns.interval.hi, ns.interval.lo > 0.0 ? mb / ns.interval.lo : NAN}};
}

/* Returns the expected rate of the way that reaches the smaller share of it. */
static struct bc_expected_result expect(const struct linkmap_times *times, int point,
                                        const struct bc_summary ways[LINKMAP_WAYS], int bytes)
{
    struct bc_expected_result least = {NAN, NAN};
    for (int way = 0; LINKMAP_EXPECTED + way < times->ways; way++) {
        const double expected_ns = linkmap_times_median(times, LINKMAP_EXPECTED + way, point);
        const struct bc_expected_result of_way =
            bc_expected_result(expected_ns, ways[way].value, (size_t)bytes);
        if (!(of_way.share_pct >= least.share_pct))
            least = of_way;
    }
    return least;
}

/* Summarizes the times of `point` over visits, and dumps them. Rank 0. `rank` is the slowest. */
static struct linkmap_result make_result(const struct linkmap *linkmap,
                                         const struct linkmap_row *row, const char *scope,
                                         const struct linkmap_times *times, int point, int rank,
                                         bool has_wrong_data)
{
    static const char *const names[LINKMAP_WAYS] = {"out", "in"};
    const struct bc_run *const run = linkmap->run;
    const bool one_way = row->links.one_way;
    struct bc_summary ways[LINKMAP_WAYS]; /* times */
    struct linkmap_result result = {.scope = scope,
                                    .memory = linkmap->parameters.memory.words,
                                    .bytes = row->links.bytes,
                                    .time = bc_no_summary,
                                    .ways = {bc_no_summary, bc_no_summary},
                                    .alone_pct = NAN,
                                    .group = BC_NO_INT,
                                    .outcome = run->visited};
    result.outcome.samples = (int64_t)times->visits * row->links.repetitions;
    result.outcome.status = has_wrong_data ? BC_FAIL : row->status;
    result.outcome.slowest_rank = rank;
    for (int way = 0; way < (one_way ? LINKMAP_WAYS : 1); way++) {
        double *const values = linkmap_times_list(times, way, point);
        dump(run, one_way ? names[way] : "time", values, times->visits);
        const struct bc_summary ns = bc_run_over_visits(run, values, (size_t)times->visits);
        ways[way] = ns;
        if (one_way)
            result.ways[way] = bandwidth_of(ns, row->links.bytes);
        else
            result.time = ns;
        free(values);
    }
    result.expected = expect(times, point, ways, row->links.bytes);
    return result;
}

bool linkmap_is_precise(const struct linkmap *linkmap, const struct linkmap_row *row)
{
    const double precision = linkmap->run->settings.precision_pct / 100.0;
    const struct linkmap_times *const times = &row->medians;
    bool precise = true;
    for (int way = 0; way < LINKMAP_WAYS; way++) {
        double *const values = linkmap_times_list(times, way, linkmap->points.count);
        const struct bc_summary ns =
            bc_run_over_visits(linkmap->run, values, (size_t)times->visits);
        precise = precise && bc_is_precise(&ns, precision);
        free(values);
    }
    return precise;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* Returns the time for this size's suspects: an equal share of the time left for all sizes.
   Collective over the points. */
static double seconds_again(struct linkmap *linkmap)
{
    const double now_s = bc_elapsed_s();
    const size_t left = linkmap->parameters.sizes.count - (size_t)linkmap->judged;
    if (linkmap->judged++ == 0)
        linkmap->again_end_s =
            now_s + fmax(AGAIN_MIN_S, AGAIN_SHARE * (now_s - linkmap->run->start_s));
    double seconds = fmax(0.0, linkmap->again_end_s - now_s) / (double)left;
    BC_MPI(MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, linkmap->points.comm));
    return seconds;
}

static void judge(struct linkmap *linkmap, struct linkmap_row *row)
{
    const struct linkmap_parameters *const p = &linkmap->parameters;
    const struct linkmap_limits limits = {
        .alpha = p->alpha_pct / 100.0 / (double)p->sizes.count,
        .threshold = p->threshold_pct / 100.0,
        .seconds = seconds_again(linkmap),
    };
    linkmap_judge(&row->verdicts, &row->links, &limits);
}

/* Returns the number of suspects without a verdict. */
static int count_unknown(const struct linkmap_verdicts *verdicts)
{
    int unknown = verdicts->left_out;
    for (int i = 0; i < verdicts->count; i++)
        unknown += !verdicts->suspects[i].timed;
    return unknown;
}

static const char *whole_verdict(const struct linkmap_row *row)
{
    const bool two_groups = row->verdicts.map.groups > 1;
    for (int i = 0; i < row->verdicts.count; i++)
        if (row->verdicts.suspects[i].slow)
            return two_groups ? "two groups, out of line" : "out of line";
    if (two_groups)
        return "two groups";
    return count_unknown(&row->verdicts) > 0 ? NULL : "even";
}

static void note_verdicts(const struct linkmap *linkmap, const struct linkmap_row *row)
{
    struct bc_output *const output = linkmap->run->output;
    const struct linkmap_map *const map = &row->verdicts.map;
    const int bytes = row->links.bytes, visits = row->links.times.visits;
    const int unknown = count_unknown(&row->verdicts);
    if (map->groups > 1) {
        bc_output_remark(output, LINKMAP_NOTE_WITHIN_GROUPS, bytes, map->expected_ns[0][0] * 1e-3,
                         map->expected_ns[1][1] * 1e-3);
        bc_output_remark(output, LINKMAP_NOTE_BETWEEN_GROUPS, bytes, map->expected_ns[0][1] * 1e-3,
                         map->expected_ns[1][0] * 1e-3);
    }
    if (row->verdicts.resolution > COARSE)
        bc_output_remark(output, LINKMAP_NOTE_COARSE, bytes, 100.0 * row->verdicts.resolution);
    if (visits < LINKMAP_VISITS_MIN)
        bc_output_remark(output, LINKMAP_WARNING_FEW_VISITS, bytes, visits, visits == 1 ? "" : "s");
    if (unknown > 0)
        bc_output_remark(output, LINKMAP_WARNING_UNKNOWN, bytes, unknown);
}

static void warn_of_low(const struct linkmap *linkmap, const struct linkmap_row *row)
{
    const double min_pct = linkmap->parameters.min_share_pct;
    if (row->low.are_most)
        bc_output_remark(linkmap->run->output, LINKMAP_WARNING_MOST_LOW, row->links.bytes, min_pct);
    else if (row->low.all > 0)
        bc_output_remark(linkmap->run->output, LINKMAP_WARNING_LOW, row->links.bytes,
                         (long long)row->low.all, row->low.all == 1 ? "" : "s", min_pct);
}

/* ---- wrong data ------------------------------------------------------------------------------ */

/* Gathers the links with wrong data on rank 0. Collective over the points. */
static void gather_wrong(const struct linkmap *linkmap, struct linkmap_row *row)
{
    const struct linkmap_points *const points = &linkmap->points;
    struct linkmap_wrong own = {0};
    for (int i = points->count - 1; row->links.wrong != NULL && i >= 0; i--)
        if (row->links.wrong[i] > 0) {
            own.links++;
            own.partner = i > points->own ? i : own.partner;
        }
    row->wrong = bc_gather(&own, sizeof own, points->comm);
}

/* Warns of wrong data and names the first links with it, one per point. Returns false if there are
   none. Rank 0. */
static bool warn_of_wrong(const struct linkmap *linkmap, const struct linkmap_row *row)
{
    enum { SHOWN = 8 };
    struct bc_text named = {0};
    int64_t ends = 0;
    int shown = 0;
    for (int i = 0; row->wrong != NULL && i < linkmap->points.count; i++) {
        const struct linkmap_wrong *const wrong = &row->wrong[i];
        ends += wrong->links;
        if (wrong->partner > i && shown < SHOWN)
            bc_text_append(&named, "%s%s and %s", shown++ > 0 ? ", " : "", linkmap->hosts[i].label,
                           linkmap->hosts[wrong->partner].label);
    }
    if (ends > 0)
        bc_output_remark(linkmap->run->output, LINKMAP_WARNING_WRONG_DATA, row->links.bytes,
                         (long long)(ends / 2), ends == 2 ? "" : "s", named.start,
                         ends / 2 > shown ? ", and others" : "");
    free(named.start);
    return ends > 0;
}

/* ---- the row of the whole -------------------------------------------------------------------- */

/* Returns the point with the longest median, either way. */
static int slowest_point(const struct linkmap_times *medians, int points)
{
    double max_ns = 0.0;
    int slowest = 0;
    for (int i = 0; i < points; i++)
        for (int way = 0; way < LINKMAP_WAYS; way++) {
            const double ns = linkmap_times_median(medians, way, i);
            slowest = ns > max_ns ? i : slowest;
            max_ns = fmax(max_ns, ns);
        }
    return slowest;
}

/* Returns the result of the whole job, and sets the status of all rows. Rank 0. */
static struct linkmap_result whole_result(const struct linkmap *linkmap, struct linkmap_row *row)
{
    const struct bc_run *const run = linkmap->run;
    const int points = linkmap->points.count;
    const int slowest = slowest_point(&row->medians, points);
    /* If one visit was asked for, no interval can be precise. */
    const bool ok =
        run->settings.samples > 0 || run->visits == 1 || linkmap_is_precise(linkmap, row);
    row->status = ok ? BC_OK : BC_BUDGET;
    const bool wrong = warn_of_wrong(linkmap, row);
    struct linkmap_result result = make_result(linkmap, row, "whole", &row->medians, points,
                                               linkmap->hosts[slowest].rank, wrong);
    warn_of_low(linkmap, row);
    if (row->is_judged) {
        result.verdict = whole_verdict(row);
        note_verdicts(linkmap, row);
    }
    return result;
}

/* ---- rows of points and pairs ---------------------------------------------------------------- */

/* Rank 0. */
static void write_point(struct linkmap *linkmap, const struct linkmap_row *row, int point)
{
    struct linkmap_host *const host = &linkmap->hosts[point];
    struct linkmap_result result =
        make_result(linkmap, row, linkmap->per_rank ? "rank" : "node", &row->medians, point,
                    host->rank, row->wrong != NULL && row->wrong[point].links > 0);
    result.a = host->label;
    if (row->is_judged) {
        const enum linkmap_fault fault =
            linkmap_fault_of(&row->verdicts, point, point, &result.alone_pct);
        result.verdict = linkmap_fault_names[fault];
        result.group = row->verdicts.map.groups > 1 ? row->verdicts.map.group[point] : BC_NO_INT;
        host->is_slow = host->is_slow || fault > LINKMAP_EVEN;
    }
    bc_write_row(linkmap->run, &result);
}

/* Advances to the next pair that is slow, or low. Returns false if there is none. */
static bool next_listed(struct linkmap_row *row)
{
    struct linkmap_pair slow = row->pair, low = row->pair;
    const bool has_slow = linkmap_next_slow(&row->verdicts, &slow.from, &slow.to);
    const bool has_low = linkmap_next_low(&row->low, &low);
    const bool is_low = has_low && (!has_slow || low.from < slow.from ||
                                    (low.from == slow.from && low.to < slow.to));
    row->pair = is_low ? low : slow;
    return has_slow || has_low;
}

/* Advances to the next pair that gets a row. Returns false if there is none. */
static bool next_pair(const struct linkmap *linkmap, struct linkmap_row *row)
{
    if (linkmap->parameters.pairs != LINKMAP_PAIRS_ALL)
        return next_listed(row);
    if (++row->pair.to >= linkmap->points.count) {
        row->pair.from++;
        row->pair.to = row->pair.from + 1;
    }
    return row->pair.to < linkmap->points.count;
}

/* Returns the links of `row->pair.from` on rank 0, which requests them, so that not all points send
   at once. Collective over the points. */
static const struct linkmap_links *fetch_links(const struct linkmap *linkmap,
                                               struct linkmap_row *row)
{
    const struct linkmap_points *const points = &linkmap->points;
    const struct linkmap_links *const own = &row->links;
    struct linkmap_links *const fetched = &row->fetched;
    const int from = row->pair.from, count = own->times.visits * own->times.ways * points->count;
    const int checks = own->wrong != NULL ? points->count : 0;
    if (from == 0 || (points->own != 0 && points->own != from))
        return own;
    if (points->own == from) {
        BC_MPI(MPI_Recv(NULL, 0, MPI_BYTE, 0, LINKMAP_TAG_ROW, points->comm, MPI_STATUS_IGNORE));
        BC_MPI(MPI_Send(own->times.ns, count, MPI_DOUBLE, 0, LINKMAP_TAG_ROW, points->comm));
        BC_MPI(MPI_Send(own->wrong, checks, MPI_INT, 0, LINKMAP_TAG_ROW, points->comm));
        return own;
    }
    if (fetched->times.ns == NULL) {
        fetched->times = own->times;
        fetched->times.ns = bc_allocate((size_t)count, sizeof(double), "no memory for links");
        fetched->wrong = bc_allocate((size_t)checks, sizeof(int), "no memory for links");
    }
    BC_MPI(MPI_Send(NULL, 0, MPI_BYTE, from, LINKMAP_TAG_ROW, points->comm));
    BC_MPI(MPI_Recv(fetched->times.ns, count, MPI_DOUBLE, from, LINKMAP_TAG_ROW, points->comm,
                    MPI_STATUS_IGNORE));
    BC_MPI(MPI_Recv(fetched->wrong, checks, MPI_INT, from, LINKMAP_TAG_ROW, points->comm,
                    MPI_STATUS_IGNORE));
    return fetched;
}

/* Writes the row of the current pair from the links of its first point. Rank 0. */
static void write_pair(const struct linkmap *linkmap, const struct linkmap_row *row,
                       const struct linkmap_links *links)
{
    const struct linkmap_host *const from = &linkmap->hosts[row->pair.from];
    struct linkmap_result result =
        make_result(linkmap, row, "pair", &links->times, row->pair.to, from->rank,
                    row->links.wrong != NULL && links->wrong[row->pair.to] > 0);
    result.a = from->label;
    result.b = linkmap->hosts[row->pair.to].label;
    if (row->is_judged)
        result.verdict = linkmap_fault_names[linkmap_fault_of(&row->verdicts, row->pair.from,
                                                              row->pair.to, &result.alone_pct)];
    bc_write_row(linkmap->run, &result);
}

/* Collective over the points. */
static void write_pairs(const struct linkmap *linkmap, struct linkmap_row *row)
{
    const struct linkmap_links *links = NULL;
    row->pair.from = -1;
    row->pair.to = linkmap->points.count;
    for (int last = -1; next_pair(linkmap, row); last = row->pair.from) {
        if (row->pair.from != last)
            links = fetch_links(linkmap, row);
        if (linkmap->points.own == 0)
            write_pair(linkmap, row, links);
    }
}

/* ---- all rows -------------------------------------------------------------------------------- */

static void free_row(struct linkmap_row *row)
{
    linkmap_links_free(&row->links);
    linkmap_links_free(&row->fetched);
    linkmap_verdicts_free(&row->verdicts);
    free(row->medians.ns);
    free(row->low.pairs);
    free(row->wrong);
}

void linkmap_write_rows(struct linkmap *linkmap, struct linkmap_row *row)
{
    const struct bc_run *const run = linkmap->run;
    const bool reports = linkmap->points.own == 0;
    struct linkmap_result whole;
    row->is_judged =
        is_point(linkmap) && run->signal == 0 && linkmap->points.count >= LINKMAP_POINTS_MIN;
    if (row->is_judged)
        judge(linkmap, row);
    if (is_point(linkmap) && run->settings.check)
        gather_wrong(linkmap, row);
    if (is_point(linkmap))
        linkmap_find_low(&row->low, &row->links, linkmap->parameters.min_share_pct / 100.0);
    if (reports)
        whole = whole_result(linkmap, row);
    bc_write_row(linkmap->run, reports ? &whole : NULL);
    for (int point = 0; reports && point < linkmap->points.count; point++)
        write_point(linkmap, row, point);
    if (is_point(linkmap))
        write_pairs(linkmap, row);
    free_row(row);
}
