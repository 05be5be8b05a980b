/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/job/launcher.h"

#include <stdlib.h>
#include <string.h>

/* Returns the value of the first set variable of a list that ends with NULL, or NULL if none is. */
static const char *first_set(const char *const *variables)
{
    while (*variables != NULL && getenv(*variables) == NULL)
        variables++;
    return *variables != NULL ? getenv(*variables) : NULL;
}

bool bc_launcher_is_first(void)
{
    static const char *const variables[] = {
        "PMI_RANK",    "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID",
        "PALS_RANKID", NULL,
    };
    const char *const rank = first_set(variables);
    return rank == NULL || strcmp(rank, "0") == 0;
}

long bc_launcher_processes(void)
{
    static const char *const variables[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE",
                                            "SLURM_STEP_NUM_TASKS"};
    long min = 0;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *const size = getenv(variables[i]);
        const long processes = size != NULL ? strtol(size, NULL, 10) : 0;
        if (processes > 0 && (min == 0 || processes < min))
            min = processes;
    }
    return min;
}

bool bc_launcher_is_mpirun(void)
{
    return getenv("PMI_SIZE") != NULL || getenv("OMPI_COMM_WORLD_SIZE") != NULL;
}

const char *bc_launcher_job_id(void)
{
    static const char *const variables[] = {
        "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "COBALT_JOBID", "FLUX_JOB_ID", NULL,
    };
    return first_set(variables);
}
