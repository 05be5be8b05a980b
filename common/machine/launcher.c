#include "common/machine/launcher.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The value of the first variable that is set; NULL if none is. The list ends with NULL. */
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
                                            "SLURM_STEP_NUM_TASKS", NULL};
    const char *const size = first_set(variables);
    return size != NULL ? strtol(size, NULL, 10) : 0;
}

const char *bc_launcher_job_id(void)
{
    static const char *const variables[] = {
        "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "COBALT_JOBID", "FLUX_JOB_ID", NULL,
    };
    return first_set(variables);
}
