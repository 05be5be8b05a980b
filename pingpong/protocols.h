/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protocol switches (--protocols): the sizes at which an MPI library transfers data in a different
 * way, such as rendezvous instead of eager. Between switches, the time is a straight line of size.
 *
 * Method: the first visit times sizes from min_ndata to max_ndata, two per doubling, and divides
 * them into straight pieces (pieces.h). Between two pieces it adds the middle size, until the two
 * sizes next to each switch differ by 1 % or by one double. Then every visit times all sizes
 * alternately. Only these times decide: a switch is written if its jump or its change of slope is
 * clear over visits. If only the slope changes, the switch is where the two lines cross.
 *
 * Sources: Hoefler, Lichei and Rehm, "Low-Overhead LogGP Parameter Assessment for Modern
 * Interconnection Networks", IPDPS 2007 (Netgauge: protocol changes by least squares); Reussner,
 * Sanders, Prechelt and Müller, "SKaMPI: A Detailed, Accurate MPI Benchmark", EuroPVM/MPI 1998
 * (adds sizes where neighbours disagree with a straight line).
 */
#pragma once

#include "pingpong/pieces.h"
#include "pingpong/pingpong.h"

/* Limits of max_ndata: its least ratio to min_ndata, and the largest count. */
enum { PROTOCOLS_RANGE_MIN = 4, PROTOCOLS_NDATA_MAX = 1 << 30 };

/* Max rounds of a step; visits after the first PROTOCOLS_VISITS_MAX aren't used. */
enum { PROTOCOLS_ROUNDS_MAX = 60, PROTOCOLS_VISITS_MAX = 100 };

#define PROTOCOLS_UNIT ((double)sizeof(double)) /* bytes; the distance of neighbouring sizes */

/* Returns the distance to which a switch at this size should be known: 1 % or one double. */
static inline double protocols_tolerance(double size)
{
    return 0.01 * size > PROTOCOLS_UNIT ? 0.01 * size : PROTOCOLS_UNIT;
}

enum { PROTOCOLS_OPERATIONS = 4 };
const char *protocols_operation_name(int operation);

/* Two ranks that transfer data. */
struct protocols_pair {
    const char *place; /* "node" or "net" */
    MPI_Comm comm;     /* rank 0 of MPI_COMM_WORLD is its rank 0; MPI_COMM_NULL on other ranks */
};

/* The last step of the search. */
enum protocols_phase {
    PROTOCOLS_NEW,
    PROTOCOLS_WARM, /* single transfers, which set the length of batches */
    PROTOCOLS_GRID,
    PROTOCOLS_REFINE,
    PROTOCOLS_JUDGE,
    PROTOCOLS_READY /* for the next visit */
};

/* An operation of a pair. Except for the first two members, significant on rank 0 only. */
struct protocols_row {
    int operation;
    const struct protocols_pair *pair;

    enum protocols_phase phase;
    int refinements;
    struct pieces_points points;
    struct pieces pieces; /* of the search */
    int visits;
    double *medians; /* by visit and point: PIECES_POINTS_MAX of each visit */
    int64_t samples;
};

/* ---- the search (protocol_search.c): local, on rank 0 ---------------------------------------- */

/* Rank 0's order to its partner: rounds of these sizes. */
struct protocols_step {
    int64_t count, rounds; /* count 0: the visit ends */
    int64_t sizes[PIECES_POINTS_MAX], repetitions[PIECES_POINTS_MAX];
};

/* Times of a step's sizes and rounds, in ns one way. */
struct protocols_times {
    double ns[PIECES_POINTS_MAX][PROTOCOLS_ROUNDS_MAX];
    double medians[PIECES_POINTS_MAX], errors[PIECES_POINTS_MAX]; /* set by protocols_take */
};

/* Sets the next step of a visit of `visit_s` seconds, which ends at deadline_s. */
void protocols_plan(const struct bc_run *run, const struct pingpong_limits *limits,
                    struct protocols_row *row, double deadline_s, double visit_s,
                    struct protocols_step *step);

/* Takes the times of the last step into the row. */
void protocols_take(struct protocols_row *row, const struct protocols_step *step,
                    struct protocols_times *times);

/* ---- the answer (protocol_answer.c): local, on rank 0 ---------------------------------------- */

/* A piece's line in each visit and, except for the first piece, its difference from the line before
   it, in ns and ns per byte. */
struct protocols_piece {
    double latency[PROTOCOLS_VISITS_MAX], slope[PROTOCOLS_VISITS_MAX];
    double jump[PROTOCOLS_VISITS_MAX];       /* at the piece's beginning */
    double jump_share[PROTOCOLS_VISITS_MAX]; /* of the time before the jump */
    double slope_change[PROTOCOLS_VISITS_MAX];
    double crossing[PROTOCOLS_VISITS_MAX]; /* of the two lines, in bytes */
    bool is_clear;                         /* jump or slope_change is large enough, and no chance */
    double strength; /* the larger of the two over the least that is written */
    int first, last; /* range of points that may be the piece's first one */
    double from;     /* the piece's beginning, in bytes */
    double from_lo, from_hi;
    bool is_located; /* to protocols_tolerance */
};

struct protocols_answer {
    struct pieces_points points; /* times and errors over all visits */
    struct pieces pieces;
    struct protocols_piece of[PIECES_MAX];
    bool is_unclear; /* there may be further switches: a large change may be chance */
};

/* Sets the answer from all visits so far. Returns true if all switches are clear and located. */
bool protocols_judge(const struct bc_run *run, const struct protocols_row *row,
                     struct protocols_answer *answer);

/* ---- the mode (protocols.c) ------------------------------------------------------------------ */

/* Opens the result, measures all operations, and writes their rows. Collective over
   MPI_COMM_WORLD. */
void protocols_run(const struct pingpong_parameters *parameters, struct bc_run *run);
