#include "life.h"

#include "api.h"
#include "calls.h"
#include "communicators.h"
#include "environment.h"
#include "next.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t made_ready = PTHREAD_ONCE_INIT;

__attribute__((constructor)) static void note_time(void)
{
    ticks_start();
}

static void make_ready(void)
{
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    monitor_lock_needed = level == MPI_THREAD_MULTIPLE;
    communicators_start();
    snapshots_set_own_ticks(ticks_cost(), posted_own_ticks());
}

bool mpi_is_there(void)
{
    int initialised = 0, finalised = 0;
    PMPI_Initialized(&initialised);
    PMPI_Finalized(&finalised);
    if (!initialised || finalised)
        return false;
    (void)pthread_once(&made_ready, make_ready);
    return true;
}

static bool saw_start;

static int initialised(int error)
{
    saw_start = true;
    if (error == MPI_SUCCESS && mpi_is_there())
        environment_start();
    return error;
}

/* Fortran layers that call the library behind MPI's C functions can't be seen from here. Whoever asked for a monitor
   then is told why there is none: one process of the job is, as the launcher numbers them, since MPI is gone. */
__attribute__((destructor)) static void say_if_nothing_was_seen(void)
{
    static const char *const ranks[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"};
    int used = 0;
    if (saw_start || getenv("MPIRT_MONITOR") == NULL || PMPI_Initialized(&used) != MPI_SUCCESS || !used)
        return;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const char *const rank = getenv(ranks[i]);
        if (rank != NULL && strcmp(rank, "0") != 0)
            return;
    }
    (void)fputs("mpirtmon: nothing was monitored: the program did not call MPI through its C functions (Fortran's "
                "mpi_f08 with MPICH and all Fortran with Open MPI can't be monitored)\n",
                stderr);
}

INTERPOSED int MPI_Init(int *argc, char ***argv)
{
    return initialised(next.Init(argc, argv));
}

INTERPOSED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return initialised(next.Init_thread(argc, argv, required, provided));
}

INTERPOSED int MPI_Finalize(void)
{
    environment_end();
    monitors_abandon();
    return next.Finalize();
}
