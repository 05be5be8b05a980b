#include "life.h"

#include "api.h"
#include "calls.h"
#include "communicators.h"
#include "environment.h"
#include "next.h"

#include <pthread.h>

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

static int initialised(int error)
{
    if (error == MPI_SUCCESS && mpi_is_there())
        environment_start();
    return error;
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
