/* SPDX-License-Identifier: BSD-3-Clause */
/* Metadata of a result: program, library and job. Functions are local, except bc_variables_compare,
   and write nothing if `output` is NULL. */
#pragma once

#include "common/job/job.h"
#include "common/result/output.h"

/* Writes benchmark, version, commit, date, command line and compiler. */
void bc_metadata_write_program(struct bc_output *output, const char *benchmark, int argc,
                               char *const *argv);

/* Returns the name of a level of MPI_Init_thread. */
const char *bc_thread_level_name(int level);

/* Environment variable: prefixes of variables ("A= B=") that a result must confirm. */
#define BC_VARIABLES "COMMCOST_VARIABLES"

/* Warns of ranks whose confirmed variables differ from rank 0's. Collective over MPI_COMM_WORLD. */
void bc_variables_compare(const struct bc_job *job, struct bc_output *output);

/* Writes MPI library and its variables, ranks, nodes, hosts, binding, processor, kernel and job id,
   and warns of shared processors, cores and quotas. Calls MPI. */
void bc_metadata_write(struct bc_output *output, const struct bc_job *job, int thread_level);
