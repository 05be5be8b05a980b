/* Wrappers of the functions that start and end MPI. */
#include "common/machine/job.h"
#include "monitor/abi.h"
#include "monitor/calls.h"
#include "monitor/environment.h"

#include <stdlib.h>
#include <unistd.h>

static bool saw_start;

/* MPI_Init, entered at entry_ticks, returns `error`. */
static int initialised(int error, uint64_t entry_ticks)
{
    const uint64_t exit_ticks = ticks_now();
    saw_start = true;
    if (error == MPI_SUCCESS && mpi_is_there())
        environment_start(entry_ticks, exit_ticks);
    return error;
}

/* A Fortran layer that calls the MPI library behind its C functions can't be seen from here. Tells
   a user who asked for a monitor why there is no report. */
__attribute__((destructor)) static void say_if_nothing_was_seen(void)
{
    const char *const asked = getenv("MPIRT_MONITOR");
    int used = 0;
    if (saw_start || asked == NULL || asked[0] == '\0' || PMPI_Initialized(&used) != MPI_SUCCESS ||
        !used || !bc_launcher_is_first())
        return;
    (void)fputs("mpirtmon: nothing was monitored: the program did not call MPI through its C "
                "functions (Fortran's mpi_f08 with MPICH and all Fortran with Open MPI can't be "
                "monitored)\n",
                stderr);
}

/* Ends the program if its MPI library can't take the calls of this one. */
static void refuse_other_library(void)
{
    enum { NAME_SIZE = 64 };
    char built_for[NAME_SIZE], used[NAME_SIZE];
    const char *library;
    const struct abi built = abi_of_build(), program = abi_of_program(&library);
    if (abi_fits(built, program))
        return;
    if (bc_launcher_is_first())
        (void)fprintf(
            stderr,
            "mpirtmon: this library was built for %s, the program for %s (%.60s): use the "
            "one that was built for that\n",
            abi_name(built, built_for, sizeof built_for), abi_name(program, used, sizeof used),
            library);
    /* Not exit: with two MPI libraries in the process what they do there may crash. */
    (void)fflush(NULL);
    _exit(2);
}

INTERPOSED int MPI_Init(int *argc, char ***argv)
{
    refuse_other_library();
    const uint64_t entry_ticks = ticks_now();
    return initialised(next.Init(argc, argv), entry_ticks);
}

INTERPOSED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    refuse_other_library();
    const uint64_t entry_ticks = ticks_now();
    return initialised(next.Init_thread(argc, argv, required, provided), entry_ticks);
}

/* The time that MPI_Finalize takes until all ranks are there. What it takes after that is in no
   report. */
static void wait_for_all(void)
{
    struct mpi_call call;
    call_enter(&call, OPERATION_OTHER_MPI);
    PMPI_Barrier(MPI_COMM_WORLD);
    call_left(&call, NO_COMMUNICATOR, ticks_now());
}

INTERPOSED int MPI_Finalize(void)
{
    if (environment_runs())
        wait_for_all();
    environment_end();
    monitors_abandon();
    return next.Finalize();
}
