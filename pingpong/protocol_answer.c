/* SPDX-License-Identifier: BSD-3-Clause */
#include "pingpong/protocols.h"

#include "common/stats/sampling.h"

#include <math.h>

/* The least changes that are written: of the time, of the larger slope, and in the time of either
   piece if it had the other one's slope. Changes must be clear at this confidence. */
#define JUMP_MIN 0.02
#define SLOPE_MIN 0.1
#define DEVIATION_MIN 0.02
#define CONFIDENCE 0.999

/* True if the mean of visits is at least `least`, of either sign, and surely not 0. */
static bool is_clear(const double *values, int count, double least)
{
    const struct bc_interval interval = bc_mean_interval(values, (size_t)count, CONFIDENCE);
    return fabs(bc_mean(values, (size_t)count)) >= least &&
           (interval.lo > 0.0 || interval.hi < 0.0);
}

static double *medians_of(const struct protocols_row *row, int visit)
{
    return row->medians + (size_t)visit * PIECES_POINTS_MAX;
}

/* Returns a visit's level: the median over points of its time over the mean time. */
static double level_of(const struct protocols_row *row, int visit, const double *means)
{
    double shares[PIECES_POINTS_MAX];
    for (int i = 0; i < row->points.count; i++)
        shares[i] = medians_of(row, visit)[i] / means[i];
    return bc_median(shares, (size_t)row->points.count);
}

/* Sets the points' times to the means over visits. Their errors don't include the levels of visits,
   which all points share. */
static void average(const struct protocols_row *row, struct pieces_points *points)
{
    double values[PROTOCOLS_VISITS_MAX], levels[PROTOCOLS_VISITS_MAX];
    const size_t visits = (size_t)row->visits;
    *points = row->points;
    for (int i = 0; i < points->count; i++) {
        for (int v = 0; v < row->visits; v++)
            values[v] = medians_of(row, v)[i];
        points->times[i] = bc_mean(values, visits);
    }
    for (int v = 0; v < row->visits; v++)
        levels[v] = level_of(row, v, points->times);
    for (int i = 0; i < points->count && visits > 1; i++) {
        for (int v = 0; v < row->visits; v++)
            values[v] = medians_of(row, v)[i] / levels[v];
        points->errors[i] = bc_sd(values, visits) / sqrt(row->visits);
    }
}

static void fit_pieces(const struct protocols_row *row, struct protocols_answer *answer)
{
    for (int p = 0; p < answer->pieces.count; p++)
        for (int v = 0; v < row->visits; v++) {
            const struct pieces_line line =
                pieces_fit(row->points.sizes, medians_of(row, v), answer->pieces.starts[p],
                           answer->pieces.starts[p + 1]);
            answer->of[p].latency[v] = line.latency;
            answer->of[p].slope[v] = line.slope;
        }
}

/* Returns the share of a piece's time by which the time within it would change with a slope that
   differs by this much. */
static double deviation(const struct protocols_answer *answer, int p, double slope)
{
    const struct pieces_points *const points = &answer->points;
    const int last = answer->pieces.starts[p + 1] - 1;
    const double bytes = points->sizes[last] - points->sizes[answer->pieces.starts[p]];
    return fabs(slope) * bytes / points->times[last];
}

/* Compares piece p with the one before, at size `at`. */
static void find_change(struct protocols_answer *answer, int visits, int p, double at)
{
    const struct protocols_piece *const before = &answer->of[p - 1];
    struct protocols_piece *const after = &answer->of[p];
    const size_t count = (size_t)visits;
    for (int v = 0; v < visits; v++) {
        const double before_ns = before->latency[v] + before->slope[v] * at;
        after->jump[v] = after->latency[v] + after->slope[v] * at - before_ns;
        after->jump_share[v] = after->jump[v] / before_ns;
        after->slope_change[v] = after->slope[v] - before->slope[v];
        after->crossing[v] = at - after->jump[v] / after->slope_change[v];
    }
    const double jump = fabs(bc_mean(after->jump_share, count));
    const double slope = bc_mean(after->slope_change, count);
    const double larger =
        fmax(fabs(bc_mean(before->slope, count)), fabs(bc_mean(after->slope, count)));
    const double bend =
        fmin(fabs(slope) / larger / SLOPE_MIN,
             fmin(deviation(answer, p - 1, slope), deviation(answer, p, slope)) / DEVIATION_MIN);
    after->is_clear = is_clear(after->jump_share, visits, JUMP_MIN) ||
                      (bend >= 1.0 && is_clear(after->slope_change, visits, 0.0));
    after->strength = fmax(jump / JUMP_MIN, bend);
}

/* Sets the beginning of a piece. If the time jumps it is between two measured sizes. If only the
   slope changes, points near it fit both lines, which cross there. */
static void locate(const struct bc_run *run, struct protocols_answer *answer, int visits, int p)
{
    const double *const sizes = answer->points.sizes;
    struct protocols_piece *const piece = &answer->of[p];
    const double lo = sizes[piece->first - 1], hi = sizes[piece->last];
    const struct bc_summary crossing = bc_run_over_visits(run, piece->crossing, (size_t)visits);
    if (hi - lo > protocols_tolerance(lo) && crossing.value >= lo && crossing.value <= hi) {
        piece->from = crossing.value;
        piece->from_lo = crossing.interval.lo;
        piece->from_hi = crossing.interval.hi;
        piece->is_located = bc_half_width(&crossing) <= protocols_tolerance(crossing.value);
    } else {
        piece->from = sizes[answer->pieces.starts[p]];
        piece->from_lo = lo + PROTOCOLS_UNIT;
        piece->from_hi = hi;
        piece->is_located = hi - lo <= protocols_tolerance(lo);
    }
    find_change(answer, visits, p, piece->from);
}

/* Joins pieces between which nothing clearly changes, the least change first. */
static void join_pieces(const struct protocols_row *row, struct protocols_answer *answer)
{
    for (int least = -1; least != 0;) {
        least = 0;
        fit_pieces(row, answer);
        for (int p = 1; p < answer->pieces.count; p++) {
            const struct protocols_piece *const piece = &answer->of[p];
            find_change(answer, row->visits, p, answer->points.sizes[answer->pieces.starts[p]]);
            if (!piece->is_clear && (least == 0 || piece->strength < answer->of[least].strength))
                least = p;
        }
        if (least > 0) {
            answer->is_unclear = answer->is_unclear || answer->of[least].strength >= 1.0;
            pieces_join(&answer->pieces, least);
        }
    }
}

bool protocols_judge(const struct bc_run *run, const struct protocols_row *row,
                     struct protocols_answer *answer)
{
    const int visits = row->visits;
    bool are_located;
    average(row, &answer->points);
    answer->pieces = row->pieces;
    answer->is_unclear = false;
    join_pieces(row, answer);
    are_located = !answer->is_unclear;
    for (int p = 1; p < answer->pieces.count; p++)
        pieces_move(&answer->points, &answer->pieces, p, &answer->of[p].first, &answer->of[p].last);
    fit_pieces(row, answer);
    for (int p = 1; p < answer->pieces.count; p++) {
        find_change(answer, visits, p, answer->points.sizes[answer->pieces.starts[p]]);
        locate(run, answer, visits, p);
        are_located = are_located && answer->of[p].is_located;
    }
    return are_located;
}
