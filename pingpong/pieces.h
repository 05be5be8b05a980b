/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of a curve: straight lines between the sizes at which a library changes its way. All
 * functions are local.
 *
 * Source: the least-squares fit in pieces of Hoefler, Lichei and Rehm, "Low-Overhead LogGP
 * Parameter Assessment for Modern Interconnection Networks", IPDPS 2007 (Netgauge), here over all
 * divisions into pieces at once (Bellman and Roth, "Curve Fitting by Segmented Straight Lines",
 * JASA 64 (1969)).
 */
#pragma once

enum { PIECES_POINTS_MAX = 128, PIECES_MAX = 8 };

/* Measured points, in ascending order of size. */
struct pieces_points {
    int count;
    double sizes[PIECES_POINTS_MAX];  /* bytes */
    double times[PIECES_POINTS_MAX];  /* ns */
    double errors[PIECES_POINTS_MAX]; /* standard errors of the times, ns */
};

/* Time of a size: latency + size * slope. */
struct pieces_line {
    double latency; /* ns */
    double slope;   /* ns per byte */
};

static inline double pieces_time(const struct pieces_line *line, double size)
{
    return line->latency + line->slope * size;
}

/* A division of points: piece p has the points starts[p] to starts[p + 1] - 1. */
struct pieces {
    int count;
    int starts[PIECES_MAX + 1];
};

/* Divides points into the pieces with the least sum of squared deviations, in units of the errors,
   plus a penalty for each piece. A piece has at least 3 points. */
void pieces_divide(const struct pieces_points *points, struct pieces *pieces);

/* Moves the beginning of piece p (1 or more) to where the sum of squared deviations is least. Sets
   `first` and `last` to the points at which it may as well be, at 99.9 %. */
void pieces_move(const struct pieces_points *points, struct pieces *pieces, int p, int *first,
                 int *last);

/* Returns the line with the least squared relative deviations from points first to end - 1 of
   `times`, at least 2. */
struct pieces_line pieces_fit(const double *sizes, const double *times, int first, int end);

/* Joins piece p (1 or more) with the one before. */
void pieces_join(struct pieces *pieces, int p);
