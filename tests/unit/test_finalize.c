/*
 * MPI_Finalize that doesn't end: the process ends all the same, with the status that it was about
 * to return. With many ranks MPI_Finalize may take longer. common/run/finalize.c is compiled for
 * this test with a shorter time.
 */
#include "helpers.h"

#include "common/run/finalize.h"

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool hangs;
static unsigned takes_s; /* while it doesn't hang */
static int ranks;        /* that the job has */

/* This function and the two that follow stand in for those of the MPI library. */
int MPI_Finalize(void)
{
    while (hangs)
        pause();
    for (unsigned left_s = takes_s; left_s > 0;)
        left_s = sleep(left_s);
    return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    *size = ranks;
    return MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm comm) { return MPI_SUCCESS; }

/* Calls bc_finalize(status) in a process of its own. Returns the exit status of that process, 100
   if bc_finalize returned, and what the process wrote to stderr. */
static int end(int status, char *said, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        bc_finalize(status);
        _exit(100);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t more;
    while (length + 1 < size && (more = read(ends[0], said + length, size - 1 - length)) > 0)
        length += (size_t)more;
    said[length] = '\0';
    close(ends[0]);
    int state;
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_true(WIFEXITED(state));
    return WEXITSTATUS(state);
}

TEST(one_that_hangs_is_left)
{
    char said[256];
    hangs = true;
    ranks = 2;
    assert_int_equal(end(0, said, sizeof said), 0);
    assert_non_null(strstr(said, "MPI_Finalize does not end"));
    assert_int_equal(end(1, said, sizeof said), 1);
}

TEST(one_that_ends_is_not)
{
    char said[256];
    hangs = false;
    ranks = 2;
    takes_s = 0;
    assert_int_equal(end(0, said, sizeof said), 100);
    assert_string_equal(said, "");
}

/* A time that is too long for few ranks is not too long for many. */
TEST(many_ranks_have_more_time)
{
    char said[256];
    hangs = false;
    takes_s = 2 * BC_FINALIZE_S;
    ranks = 2;
    assert_int_equal(end(0, said, sizeof said), 0);
    assert_non_null(strstr(said, "MPI_Finalize does not end"));
    ranks = 4 * BC_FINALIZE_RANKS;
    assert_int_equal(end(0, said, sizeof said), 100);
    assert_string_equal(said, "");
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
