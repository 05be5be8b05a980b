/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Finalize that doesn't end: the process ends all the same, with the status that it was about
 * to return. With many ranks MPI_Finalize may take longer.
 */
#include "helpers.h"

#include "common/run/internal.h"

#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

static bool hangs;
static int ranks;         /* that the job has */
static unsigned alarms_s; /* the time until the alarm; 0: none */

/* Replacements for functions of the MPI library and the system. A hanging MPI_Finalize raises the
   alarm at once, if it is set to bc_finalize_seconds. */
unsigned alarm(unsigned seconds)
{
    alarms_s = seconds;
    return 0;
}

int MPI_Finalize(void)
{
    if (hangs && alarms_s == bc_finalize_seconds(ranks))
        (void)raise(SIGALRM);
    return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    *size = ranks;
    return MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm comm) { return MPI_SUCCESS; }

/* Calls bc_finalize(status) in a process of its own. Returns its exit status (100 if bc_finalize
   returned and left no alarm) and its stderr. */
static int end(int status, char *said, size_t size)
{
    int ends[2], state;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        bc_finalize(status);
        _exit(alarms_s == 0 ? 100 : 101);
    }
    close(ends[1]);
    const ssize_t length = read(ends[0], said, size - 1);
    said[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_true(WIFEXITED(state));
    return WEXITSTATUS(state);
}

TEST(one_that_hangs_is_left)
{
    static const int jobs[] = {2, 4 * BC_FINALIZE_RANKS};
    for (int i = 0; i < 4; i++) {
        char said[256];
        hangs = i < 2;
        ranks = jobs[i % 2];
        assert_int_equal(end(i % 2, said, sizeof said), hangs ? i % 2 : 100);
        assert_true((strstr(said, "MPI_Finalize does not end") != NULL) == hangs);
    }
}

TEST(time_by_ranks)
{
    assert_int_equal(bc_finalize_seconds(1), BC_FINALIZE_S);
    assert_int_equal(bc_finalize_seconds(BC_FINALIZE_RANKS), BC_FINALIZE_S);
    assert_int_equal(bc_finalize_seconds(BC_FINALIZE_RANKS + 1), BC_FINALIZE_S + 1);
    assert_int_equal(bc_finalize_seconds(100 * BC_FINALIZE_RANKS), 100 * BC_FINALIZE_S);
    const int64_t max = (int64_t)BC_FINALIZE_S * INT_MAX / BC_FINALIZE_RANKS;
    assert_in_range(bc_finalize_seconds(INT_MAX), max, max + 1);
}
