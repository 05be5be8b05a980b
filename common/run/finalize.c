#include "common/run/finalize.h"

#include "common/mpi/mpi_check.h"

#include <mpi.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t exit_status;

/* Only what a signal handler may do. */
static void leave_without(int signal_number)
{
    static const char text[] = "commcost: MPI_Finalize does not end: leaving without it\n";
    (void)signal_number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit((int)exit_status);
}

unsigned bc_finalize_seconds(int ranks)
{
    if (ranks <= BC_FINALIZE_RANKS)
        return BC_FINALIZE_S;
    const int64_t scaled = (int64_t)BC_FINALIZE_S * ranks;
    return (unsigned)((scaled + BC_FINALIZE_RANKS - 1) / BC_FINALIZE_RANKS);
}

void bc_finalize(int status)
{
    int ranks;
    struct sigaction action = {.sa_handler = leave_without};
    sigemptyset(&action.sa_mask);
    exit_status = status;
    (void)fflush(stdout); /* the handler can't */
    sigaction(SIGALRM, &action, NULL);
    BC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    alarm(bc_finalize_seconds(ranks));
    /* MPICH 4.0.2 over TCP hangs more often when one rank still has something to
       send and the other no longer makes progress. */
    BC_MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI_Finalize();
    alarm(0);
}
