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

static bool saw_start;

static int initialised(int error)
{
    saw_start = true;
    if (error == MPI_SUCCESS && mpi_is_there())
        environment_start();
    return error;
}

/* Whether this is the first process of its job, as launchers number them: for what is to be said
   once while MPI isn't there to tell. */
static bool is_first_process(void)
{
    static const char *const ranks[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const char *const rank = getenv(ranks[i]);
        if (rank != NULL && strcmp(rank, "0") != 0)
            return false;
    }
    return true;
}

/* Fortran layers that call the library behind MPI's C functions can't be seen from here. Whoever
   asked for a monitor then is told why there is none. */
__attribute__((destructor)) static void say_if_nothing_was_seen(void)
{
    const char *const asked = getenv("MPIRT_MONITOR");
    int used = 0;
    if (saw_start || asked == NULL || asked[0] == '\0' || PMPI_Initialized(&used) != MPI_SUCCESS ||
        !used || !is_first_process())
        return;
    (void)fputs("mpirtmon: nothing was monitored: the program did not call MPI through its C "
                "functions (Fortran's "
                "mpi_f08 with MPICH and all Fortran with Open MPI can't be monitored)\n",
                stderr);
}

/* The handles of MPICH and its kin are numbers, Open MPI's pointers: a library built for the one
   can't even pass a call on to the other. */
static void refuse_other_library(void)
{
#if defined(OPEN_MPI)
    static const char built_for[] = "Open MPI";
    static const char *const others[] = {"MPICH", "MVAPICH", "Intel(R) MPI"};
#elif defined(MPICH_VERSION)
    static const char built_for[] = "MPICH";
    static const char *const others[] = {"Open MPI"};
#else
    static const char built_for[] = "another one";
    static const char *const others[] = {"Open MPI"};
#endif
    enum { LONGEST = 65536 }; /* each library has a MPI_MAX_LIBRARY_VERSION_STRING of its own */
    static char version[LONGEST];
    int length;
    PMPI_Get_library_version(version, &length);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(version, others[i]) != NULL) {
            if (is_first_process())
                (void)fprintf(
                    stderr,
                    "mpirtmon: this library was built for %s, the program uses another MPI: %.60s: "
                    "use the one that was built for that\n",
                    built_for, version);
            exit(2);
        }
}

INTERPOSED int MPI_Init(int *argc, char ***argv)
{
    refuse_other_library();
    return initialised(next.Init(argc, argv));
}

INTERPOSED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    refuse_other_library();
    return initialised(next.Init_thread(argc, argv, required, provided));
}

INTERPOSED int MPI_Finalize(void)
{
    environment_end();
    monitors_abandon();
    return next.Finalize();
}
