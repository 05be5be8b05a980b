/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job: one process of the real MPI library, which runs launches one after the other, each with
 * ranks of its own.
 *
 * MPI_Init initializes the real library and forks the ranks of each launch, in which it returns.
 * In the first process it never does: when all launches have ended, that exits with the highest
 * exit status of a rank. Where there are several launches, a line "# launch N" stands before the
 * output of each.
 */
#include "tests/virtual/clock.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/virtual_mpi.h"
#include "tests/virtual/world.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REFUSED = 2 }; /* exit status of a program that measures nothing */

static bool finalized;

/* Neither the libraries' own ends nor a debugger's look at what a forked process has left. */
static void leave_at_exit(int status, void *ignored)
{
    (void)ignored;
    (void)fflush(NULL);
    if (!finalized)
        world_abort("ends without MPI_Finalize");
    if (status != REFUSED)
        handles_must_be_freed();
    _exit(status);
}

static int status_of_wait(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Waits for all ranks. When one ends before MPI_Finalize, for which others would wait for ever,
   ends them. Returns the first exit status that isn't 0. */
static int wait_for(pid_t ranks[], int count)
{
    int worst = 0, status;
    for (int left = count; left > 0; left--) {
        const pid_t ended = waitpid(-1, &status, 0);
        for (int rank = 0; rank < count; rank++) {
            if (ranks[rank] != ended)
                continue;
            ranks[rank] = 0;
            for (int other = 0; !world_has_ended(rank) && other < count; other++)
                if (ranks[other] > 0)
                    (void)kill(ranks[other], SIGKILL);
        }
        worst = worst == 0 ? status_of_wait(status) : worst;
    }
    return worst;
}

/* Since one rank runs at a time, they need one processor, on which turns pass quickest. */
static void stay_on(int processor)
{
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET((size_t)processor, &here);
    (void)sched_setaffinity(0, sizeof here, &here);
}

/* True in a rank of the launch. */
static bool run_launch(int launch, int *status)
{
    const int count = (int)parameters.ranks, processor = sched_getcpu();
    pid_t *const ranks = calloc((size_t)count, sizeof *ranks);
    world_create(count, launch);
    if (parameters.launches > 1.0)
        (void)printf("# launch %d\n", launch);
    (void)fflush(NULL);
    for (int rank = 0; rank < count; rank++) {
        ranks[rank] = fork();
        if (ranks[rank] < 0)
            world_abort("can't fork rank %d", rank);
        if (ranks[rank] == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            stay_on(processor);
            (void)on_exit(leave_at_exit, NULL);
            world_enter(rank);
            return true;
        }
    }
    const int own = wait_for(ranks, count);
    *status = own > *status ? own : *status;
    world_destroy();
    free(ranks);
    return false;
}

static void divide(void)
{
    int status = 0;
    parameters_read();
    clock_configure();
    for (int launch = 0; launch < (int)parameters.launches; launch++)
        if (run_launch((int)parameters.first_launch + launch, &status)) {
            comm_begin();
            clock_begin();
            return;
        }
    (void)fflush(NULL);
    _exit(status);
}

/* A rank has one clock, so that it can't have threads that call MPI at the same time. */
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
#ifdef OPEN_MPI
    /* Of the windows that Open MPI can make, those that a process can make without a daemon. */
    (void)setenv("OMPI_MCA_osc", "pt2pt", 0);
#endif
    const int error = REAL(Init_thread)(argc, argv, required, provided);
    if (*provided > MPI_THREAD_SERIALIZED)
        *provided = MPI_THREAD_SERIALIZED;
    if (error == MPI_SUCCESS)
        divide();
    return error;
}
MPI_NAME(Init_thread)

int PMPI_Init(int *argc, char ***argv)
{
    int provided;
    return PMPI_Init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}
MPI_NAME(Init)

int PMPI_Finalize(void)
{
    truth_write();
    const struct own_comm all = comm_find(MPI_COMM_WORLD);
    meeting_end(meeting(&all, "", 1), &all);
    finalized = true;
    world_leave();
    return MPI_SUCCESS;
}
MPI_NAME(Finalize)

int PMPI_Finalized(int *flag)
{
    *flag = finalized;
    return MPI_SUCCESS;
}
MPI_NAME(Finalized)

int PMPI_Abort(MPI_Comm comm, int code)
{
    (void)comm;
    (void)fflush(NULL);
    _exit(code);
}
MPI_NAME(Abort)

double PMPI_Wtime(void) { return (double)clock_read_ns() * 1e-9; }
MPI_NAME(Wtime)
