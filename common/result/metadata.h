/*
 * What a result says about where it comes from: program, MPI library, job,
 * processor, system. All functions are local and do something on the rank with
 * the output only.
 */
#ifndef COMMCOST_COMMON_RESULT_METADATA_H
#define COMMCOST_COMMON_RESULT_METADATA_H

#include "common/machine/job.h"
#include "common/result/output.h"

/* The version of the output contract: raised when a reader must change. From 2 on the
   last line of a complete result says so (bc_output_end). */
#define BC_OUTPUT_SCHEMA 2

/* Benchmark, version, commit, date, command line, compiler. */
void bc_metadata_write_program(struct bc_output *output, const char *benchmark, int argc,
                               char *const *argv);

/* MPI library and its variables, ranks, nodes, hosts, binding, processor,
   kernel, job id; and the warning about oversubscription. Calls MPI. */
void bc_metadata_write(struct bc_output *output, const struct bc_job *job, int thread_level);

#endif
