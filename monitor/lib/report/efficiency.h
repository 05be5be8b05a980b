/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parallel efficiency of a snapshot, and its factors, by the multiplicative model of the POP Centre
 * of Excellence ("POP Standard Metrics for Parallel Performance Analysis", pop-coe.eu):
 *
 *     parallel efficiency      = load balance x communication efficiency         = mean(c) / T
 *     load balance             = mean(c) / max(c)
 *     communication efficiency = serialisation efficiency x transfer efficiency  = max(c) / T
 *     serialisation efficiency = max(c) / T0
 *     transfer efficiency      = T0 / T
 *
 * T is the longest snapshot of a rank, c a rank's useful computation: the length of its snapshot
 * less its time inside MPI. T0 is the time that the program would take if messages took none: the
 * longest c + w of a rank, where w is its waiting for late ranks. If T0 isn't known, its two
 * factors are NA: on some rank more than 1 % of T is in calls whose waiting isn't known.
 *
 * Threads: c is the mean over the threads that called MPI of their time outside, w and the time in
 * calls likewise.
 */
#pragma once

#include "monitor/lib/report/rows.h"

/* Sets the times of this rank. Call it once its waiting is known. Local. */
void efficiency_set_times(struct rows *rows, const struct snapshot *snapshot);

/* Adds the times of other ranks. Local. */
void efficiency_add_times(struct times_outside *sum, const struct times_outside *more);

/* Sets the efficiencies in the total row of all `ranks` ranks, from the sums of their times. Local.
 */
void efficiency_set(struct rows *rows, int ranks);
