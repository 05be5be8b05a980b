/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What launchers tell by environment variables.
 */
#include "helpers.h"

#include "common/job/launcher.h"

#include <stdlib.h>

/* None of the variables that a launcher of the tests may have set. */
static int forget_launcher(void **state)
{
    const char *const *const variables = WORDS(
        "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID",
        "PALS_RANKID", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_JOB_ID", "PBS_JOBID",
        "SLURM_STEP_NUM_TASKS", "LSB_JOBID", "JOB_ID", "FLUX_JOB_ID", "COBALT_JOBID");
    for (size_t i = 0; variables[i] != NULL; i++)
        unsetenv(variables[i]);
    return 0;
}

static void set(const char *variable, const char *value)
{
    assert_int_equal(setenv(variable, value, 1), 0);
}

TEST(a_process_alone_is_the_first)
{
    assert_true(bc_launcher_is_first());
    assert_int_equal(bc_launcher_processes(), 0);
    assert_null(bc_launcher_job_id());
}

/* mpirun in a step of srun: mpirun's rank counts. */
TEST(the_inner_launcher_counts)
{
    set("SLURM_PROCID", "3");
    assert_false(bc_launcher_is_first());
    set("PMI_RANK", "0");
    assert_true(bc_launcher_is_first());
    set("PMI_RANK", "1");
    set("SLURM_PROCID", "0");
    assert_false(bc_launcher_is_first());
}

/* A shell in a job step inherits the step's variables; a process that is started there alone is a
   job of one. */
TEST(the_smallest_job_counts)
{
    set("SLURM_STEP_NUM_TASKS", "8");
    assert_int_equal(bc_launcher_processes(), 8);
    assert_false(bc_launcher_is_mpirun());
    set("PMI_SIZE", "8");
    set("OMPI_COMM_WORLD_SIZE", "1");
    assert_int_equal(bc_launcher_processes(), 1);
    assert_true(bc_launcher_is_mpirun());
}

TEST(batch_systems_number_jobs)
{
    set("PBS_JOBID", "17.server");
    assert_string_equal(bc_launcher_job_id(), "17.server");
}

const struct test_program test_program = {.before_each = forget_launcher};
