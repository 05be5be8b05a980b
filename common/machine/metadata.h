/*
 * The metadata of a result: program, MPI library, job, processor, system. All functions are local
 * and do nothing where the output is NULL.
 */
#pragma once

#include "common/machine/job.h"
#include "common/result/output.h"

/* The version of the output format, raised when readers must change. From 2 on the last line of a
   complete result says so (bc_output_end). */
#define BC_OUTPUT_SCHEMA 2

/* Writes benchmark, version, commit, date, command line and compiler. */
void bc_metadata_write_program(struct bc_output *output, const char *benchmark, int argc,
                               char *const *argv);

/* Writes MPI library and its variables, ranks, nodes, hosts, binding, processor, kernel and job id,
   and warns of shared processors, cores and quotas. Calls MPI. */
void bc_metadata_write(struct bc_output *output, const struct bc_job *job, int thread_level);
