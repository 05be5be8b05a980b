/* The metadata of a result about program, library and job. Local, except bc_variables_compare; NULL
   as output: nothing. */
#pragma once

#include "common/job/job.h"
#include "common/result/output.h"

/* Writes benchmark, version, commit, date, command line and compiler. */
void bc_metadata_write_program(struct bc_output *output, const char *benchmark, int argc,
                               char *const *argv);

/* Returns the name of a level of MPI_Init_thread. */
const char *bc_thread_level_name(int level);

/* Names beginnings of variables, such as "A= B=", that a result is to confirm. */
#define BC_VARIABLES "COMMCOST_VARIABLES"

/* Warns of ranks whose confirmed variables differ from rank 0's. Collective over MPI_COMM_WORLD. */
void bc_variables_compare(const struct bc_job *job, struct bc_output *output);

/* Writes MPI library and its variables, ranks, nodes, hosts, binding, processor, kernel and job id,
   and warns of shared processors, cores and quotas. Calls MPI. */
void bc_metadata_write(struct bc_output *output, const struct bc_job *job, int thread_level);
