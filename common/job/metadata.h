/* The metadata of a result about program, library and job. Local; NULL as output: nothing. */
#pragma once

#include "common/job/job.h"
#include "common/result/output.h"

/* Writes benchmark, version, commit, date, command line and compiler. */
void bc_metadata_write_program(struct bc_output *output, const char *benchmark, int argc,
                               char *const *argv);

/* Writes MPI library and its variables, ranks, nodes, hosts, binding, processor, kernel and job id,
   and warns of shared processors, cores and quotas. Calls MPI. */
void bc_metadata_write(struct bc_output *output, const struct bc_job *job, int thread_level);
