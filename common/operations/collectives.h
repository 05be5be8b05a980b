/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's collectives. Each has a file with its table (OP_COLLECTIVE).
 */
#pragma once

#include "common/operations/operation.h"

extern const struct op_kind op_allgather, op_allgatherv, op_allreduce, op_alltoall, op_alltoallv,
    op_alltoallw, op_barrier, op_bcast, op_exscan, op_gather, op_gatherv, op_reduce,
    op_reduce_scatter, op_reduce_scatter_block, op_scan, op_scatter, op_scatterv;

/* Missing if the MPI library lacks them (CMake: COMMCOST_NEIGHBOR_COLLECTIVES). */
extern const struct op_kind op_neighbor_allgather, op_neighbor_alltoall;
