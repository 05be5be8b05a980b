/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans: the division of a row's samples among its visits, and the end of a visit. All functions
   are local. */
#pragma once

#include "common/measure/samples.h"

/* The min samples of a row whose time is up: the fewest whose median has an interval at 95 %. */
#define BC_LEAST_SAMPLES 6

/* A value that has to be precise before adaptive sampling ends. */
struct bc_precise_value {
    int quantity;
    int subtrahend;       /* quantity that is subtracted from it, round by round; -1: none */
    double resolution_ns; /* an interval with a half-width below this is narrow enough */
    double negligible_ns; /* a value up to this need not be precise */
};

#define BC_PRECISE_VALUES_MAX 4

struct bc_plan {
    int64_t min_rounds;   /* of this visit, before `precise` is checked */
    int64_t max_rounds;   /* if equal to min_rounds, the number is fixed */
    double deadline_s;    /* on bc_elapsed_s(); checked between batches, after at least one round */
    int64_t grace_rounds; /* taken even after the deadline, if they end by deadline_s + grace_s */
    double grace_s;
    int64_t warmup_rounds; /* discarded rounds; -1: until the median settles */
    bool was_warm;   /* an earlier visit had a warm-up, so -1 means 1 to 5 rounds, fewer if they are
                        long for the visit */
    int64_t retakes; /* missed rounds that may be dropped; if the deadline passes with fewer than
                        grace_rounds good rounds, the dropped rounds are used after all */
    bool adds; /* continues the last visit: all numbers include its rounds, so there may be none
                  left to take */
    const struct bc_precise_value *precise; /* rounds end when all are as narrow as --precision in
                                               this visit; NULL: none. Must outlive the rounds */
    int precise_count;                      /* at most BC_PRECISE_VALUES_MAX */
};

/* Returns the part of `total` samples that belongs to the current visit. The parts of all visits
   add up to `total`. */
int64_t bc_part_of_visit(int64_t total, const struct bc_run *run);

/* Returns the settings' plan for a visit, or a part of it, of `seconds` from now. `taken` has the
   row's samples so far; it is NULL if this visit is the first. Rank 0. */
struct bc_plan bc_plan_of(const struct bc_run *run, const struct bc_samples *taken, double seconds);

/* Lets `plan` end when all values are precise, unless its number of rounds is fixed. */
void bc_plan_until_precise(struct bc_plan *plan, const struct bc_precise_value *values, int count);

/* Returns true if a row has the number of samples, or the precision over all visits, that the
   settings ask for. `in_time` matters if rows are visited once: the visit was precise in time. Rank
   0. */
bool bc_samples_are_precise(const struct bc_run *run, const struct bc_samples *samples,
                            bool in_time, const struct bc_precise_value *values, int count);
