/* SPDX-License-Identifier: BSD-3-Clause */
#include "pingpong/pieces.h"

#include <math.h>
#include <string.h>

/* The least error of a point, as a share of its time: curves are never quite straight. */
#define MIN_ERROR 0.005

/* The least reduction of the sum of squared deviations by one more piece. A low value, so that a
   jump of 5 % is found among noise. Times of later visits remove the pieces of chance. */
#define PENALTY 20.0

enum { POINTS_MIN = 3 };

/* The 99.9 % quantile of chi-square with one degree of freedom. */
#define AS_WELL 10.8

/* Sums over points, each with a weight, of which a line and its deviations can be computed. */
struct sums {
    double w, x, y, xx, xy, yy;
};

static void add(struct sums *sums, double size, double time, double error)
{
    const double w = 1.0 / (error * error);
    sums->w += w;
    sums->x += w * size;
    sums->y += w * time;
    sums->xx += w * size * size;
    sums->xy += w * size * time;
    sums->yy += w * time * time;
}

static struct pieces_line line_of(const struct sums *s)
{
    const double determinant = s->w * s->xx - s->x * s->x;
    const double slope = determinant > 0.0 ? (s->w * s->xy - s->x * s->y) / determinant : 0.0;
    return (struct pieces_line){(s->y - slope * s->x) / s->w, slope};
}

static double deviations(const struct sums *s)
{
    const struct pieces_line line = line_of(s);
    return fmax(0.0, s->yy - line.latency * s->y - line.slope * s->xy);
}

struct pieces_line pieces_fit(const double *sizes, const double *times, int first, int end)
{
    struct sums sums = {0};
    for (int i = first; i < end; i++)
        add(&sums, sizes[i], times[i], times[i]);
    return line_of(&sums);
}

static void add_point(struct sums *sums, const struct pieces_points *points, int i)
{
    const double time = points->times[i];
    add(sums, points->sizes[i], time, fmax(points->errors[i], MIN_ERROR * time));
}

/* Returns the squared deviations of points first to end - 1 from their line. */
static double deviations_of(const struct pieces_points *points, int first, int end)
{
    struct sums sums = {0};
    for (int i = first; i < end; i++)
        add_point(&sums, points, i);
    return deviations(&sums);
}

void pieces_move(const struct pieces_points *points, struct pieces *pieces, int p, int *first,
                 int *last)
{
    const int start = pieces->starts[p - 1], end = pieces->starts[p + 1];
    double sums[PIECES_POINTS_MAX] = {0}, least = INFINITY;
    for (int i = start + POINTS_MIN; i <= end - POINTS_MIN; i++) {
        sums[i] = deviations_of(points, start, i) + deviations_of(points, i, end);
        if (sums[i] < least) {
            least = sums[i];
            pieces->starts[p] = i;
        }
    }
    *first = *last = pieces->starts[p];
    for (int i = start + POINTS_MIN; i <= end - POINTS_MIN; i++)
        if (sums[i] < least + AS_WELL) {
            *first = i < *first ? i : *first;
            *last = i > *last ? i : *last;
        }
}

void pieces_divide(const struct pieces_points *points, struct pieces *pieces)
{
    /* Of the points before `end` in p + 1 pieces: the least sum, and the last piece's first point.
     */
    double least[PIECES_MAX][PIECES_POINTS_MAX + 1];
    int starts[PIECES_MAX][PIECES_POINTS_MAX + 1];
    const int count = points->count;
    int best = 0;
    for (int p = 0; p < PIECES_MAX; p++)
        for (int end = 0; end <= count; end++)
            least[p][end] = INFINITY;
    for (int start = 0; start < count; start++) {
        struct sums sums = {0};
        for (int end = start + 1; end <= count; end++) {
            add_point(&sums, points, end - 1);
            if (end - start < POINTS_MIN)
                continue;
            const double sum = deviations(&sums) + PENALTY;
            for (int p = start == 0 ? 0 : 1; p < (start == 0 ? 1 : PIECES_MAX); p++) {
                const double before = p == 0 ? 0.0 : least[p - 1][start];
                if (before + sum < least[p][end]) {
                    least[p][end] = before + sum;
                    starts[p][end] = start;
                }
            }
        }
    }
    for (int p = 1; p < PIECES_MAX; p++)
        if (least[p][count] < least[best][count])
            best = p;
    pieces->count = best + 1;
    pieces->starts[best + 1] = count;
    for (int p = best; p >= 0; p--)
        pieces->starts[p] = p == 0 ? 0 : starts[p][pieces->starts[p + 1]];
}

void pieces_join(struct pieces *pieces, int p)
{
    memmove(&pieces->starts[p], &pieces->starts[p + 1],
            (size_t)(pieces->count - p) * sizeof *pieces->starts);
    pieces->count--;
}
