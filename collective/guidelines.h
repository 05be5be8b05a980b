/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance guidelines: a collective should take no longer than its alternatives, which are other
 * calls that do its work, two calls with half of its data, and one call with twice its data.
 *
 * Sources: Träff, Gropp and Thakur, "Self-Consistent MPI Performance Guidelines", IEEE TPDS 21
 * (2010); Hunold and Carpen-Amarie, "Autotuning MPI Collectives using Performance Guidelines",
 * HPC Asia 2018 (alternatives that are timed as such).
 */
#pragma once

#include "common/operations/operation.h"

enum collective_alternative_kind {
    COLLECTIVE_OTHER_CALLS,
    COLLECTIVE_HALVES, /* two calls with half of the data each */
    COLLECTIVE_DOUBLE  /* one call with twice the data */
};

struct collective_guideline {
    const char *alternative; /* "scatter+allgather" */
    enum collective_alternative_kind alternative_kind;

    /* Of COLLECTIVE_OTHER_CALLS. The v variants of the calls are used if the parts of a block
       can't be equal. */
    const struct op_kind *of; /* the collective */
    op_call_fn *call;         /* does the work of `of`, on its buffers; not in place */
    enum op_extent scratch;   /* extra buffer of each rank: OP_NO_BUFFER, OP_BLOCK, ... */
    bool divides;             /* a block is divided into a part for each rank */
};

/* Returns guideline number i of an operation of this size, or NULL after the last one. Local. */
const struct collective_guideline *collective_guideline_at(const struct op_kind *kind,
                                                           const struct op_shape *shape, int i);

/* An alternative at one size. Must not move. */
struct collective_alternative {
    const struct collective_guideline *guideline;
    struct op_kind kind;         /* of the parts */
    struct op_instance parts[2]; /* are called one after the other */
    int count;
};

/* Creates the alternative to an operation of this kind. Collective, as the functions below. */
void collective_alternative_create(struct collective_alternative *alternative,
                                   const struct collective_guideline *guideline,
                                   const struct op_kind *kind, const struct bc_job *job,
                                   const struct op_choice *choice);
void collective_alternative_destroy(struct collective_alternative *alternative);
