#include "monitor/ready.h"

#include "monitor/communicators.h"
#include "monitor/completions.h"
#include "monitor/requests.h"
#include "monitor/snapshot.h"

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
    requests_start();
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
