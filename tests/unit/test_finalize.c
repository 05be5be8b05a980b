/* MPI_Finalize that doesn't end: the process does, with the status that it was about to
   return. common/finalize.c is compiled for this test, with a shorter time. */
#include "helpers.h"

#include "common/finalize.h"

#include <mpi.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool hangs;

/* Stands in for the library's. */
int MPI_Finalize(void)
{
    while (hangs)
        pause();
    return MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm comm)
{
    (void)comm;
    return MPI_SUCCESS;
}

/* Ends a process of its own with that status; returns the one it had, and what it
   said. */
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
    while (length + 1 < size &&
           (more = read(ends[0], said + length, size - 1 - length)) > 0)
        length += (size_t)more;
    said[length] = '\0';
    close(ends[0]);
    int state;
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_true(WIFEXITED(state));
    return WEXITSTATUS(state);
}

static void one_that_hangs_is_left(void **state)
{
    char said[256];
    (void)state;
    hangs = true;
    assert_int_equal(end(0, said, sizeof said), 0);
    assert_non_null(strstr(said, "MPI_Finalize does not end"));
    assert_int_equal(end(1, said, sizeof said), 1);
}

static void one_that_ends_is_not(void **state)
{
    char said[256];
    (void)state;
    hangs = false;
    assert_int_equal(end(0, said, sizeof said), 100);
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_hangs_is_left),
        cmocka_unit_test(one_that_ends_is_not),
    };
    return cmocka_run_group_tests_name("finalize", tests, NULL, NULL);
}
