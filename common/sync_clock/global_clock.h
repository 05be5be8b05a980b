/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A clock that all ranks of all nodes share. It is rank 0's; each rank computes it from its own,
 * which bc_clock_read (clock.h) reads, by a model (clock_model.h: offset and drift).
 *
 * The models are found along a tree: the leaders of the nodes (their lowest ranks) form a binomial
 * tree from rank 0, and the ranks of each node form one from their leader. In step 1, 2, 4 ... of a
 * tree rank r + step is compared with rank r, for all r < step. So finding them takes O(log P)
 * steps, in each of which pairs of ranks measure at the same time, and the models along the way to
 * rank 0 are chained. All pairs measure once and, unless all ranks read one clock, again after a
 * common wait, which gives the drift. Each later update makes the measured time longer.
 *
 * Source: the hierarchy, the drift and the chaining are those of Hunold and Carpen-Amarie,
 * "Hierarchical Clock Synchronization in MPI", CLUSTER 2018. There, as in their ReproMPI, the two
 * directions of a round trip are measured by different calls, which shows as a bias; here both
 * ranks make the same calls and begin alternately.
 *
 * Ranks of a node mostly read one clock, and then use their leader's model. Each measurement checks
 * that: no message may have arrived before it was sent, in either direction.
 *
 * In oversubscribed jobs the pairs of a node measure in groups, with two processors per pair, and
 * all other pairs sleep. In any job a disturbed pair measures again. Messages are sent with PMPI_
 * functions, so interposers don't see them.
 */
#pragma once

#include "common/sync_clock/clock_model.h"
#include "common/job/job.h"

struct bc_global_clock;

/* Quality of the clock; the worst of all ranks. */
struct bc_global_clock_report {
    double error_ns; /* estimated error of a rank just after the measurement */
    double growth;   /* of that error, per nanosecond */
    double bound_ns; /* maximum error just after the measurement, even if messages take no time one
                        way: half the round trips along the way to rank 0; 0 for ranks that are
                        assumed to read one clock */
    double took_s;   /* duration of the last measurement */
    int shared;      /* number of ranks that read the clock of the rank they were compared with */
};

/* Options of a clock, the same on all ranks. */
enum {
    BC_EVERY_RANK = 1, /* ranks of a node that may read one clock are measured, too */
    BC_WHOLE_PAST = 2  /* for times since the first measurement, not for times to come: the models
                          fit all measurements, even if the clocks' rates have changed */
};

/* Measures the clocks against each other for about `seconds` (0.1 to 2), mostly waiting. On crowded
   nodes each pair takes some 10 ms more, at most 0.1 s. With 0 seconds it doesn't wait: for a clock
   whose drift an update will find. The clock must be selected before and never change. Collective
   over MPI_COMM_WORLD, which `job` describes, with the same arguments on all ranks. */
struct bc_global_clock *bc_global_clock_create(const struct bc_job *job, double seconds,
                                               unsigned options);

/* Measures again, in some milliseconds per step of the tree, and fits the models to all
   measurements so far, as long as the clocks' rates have stayed the same. Collective. */
void bc_global_clock_update(struct bc_global_clock *clock);

/* Frees the clock's two communicators until bc_global_clock_connect makes new ones, before the next
   update. Collective. */
void bc_global_clock_disconnect(struct bc_global_clock *clock);
void bc_global_clock_connect(struct bc_global_clock *clock, const struct bc_job *job);

/* Returns the model whose reference is the global clock and whose other clock is this rank's; valid
   until the next update. Local. */
const struct bc_clock_model *bc_global_clock_model(const struct bc_global_clock *clock);

/* Returns the model's maximum error, with the cost of a reading, of a clock with BC_WHOLE_PAST;
   valid until the next update. Local. */
const struct bc_clock_bound *bc_global_clock_bound(const struct bc_global_clock *clock);

/* Returns the estimated error of the model when this rank's clock shows now_ns. Local. */
double bc_global_clock_error_ns(const struct bc_global_clock *clock, int64_t now_ns);

/* Returns the report, the same on every rank. Collective. */
struct bc_global_clock_report bc_global_clock_report(const struct bc_global_clock *clock);

/* Collective. */
void bc_global_clock_destroy(struct bc_global_clock *clock);
