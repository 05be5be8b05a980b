/*
 * The monitor's own communicators: what an error of another thread does while one is made, and what
 * is left of it. On 1 and 3 ranks.
 */
#include "ranks.h"

#include "monitor/own_comm.h"

#include <pthread.h>

/* ---- a stand-in for MPI's function ----------------------------------------------------------- */

static bool has_room, has_error; /* in another thread meanwhile */

static void *call_handler(void *comm)
{
    MPI_Comm_call_errhandler(*(MPI_Comm *)comm, MPI_ERR_WIN);
    return NULL;
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    pthread_t thread;
    if (has_error && pthread_create(&thread, NULL, call_handler, &comm) == 0)
        (void)pthread_join(thread, NULL);
    if (has_room)
        return MPI_Comm_split(comm, color, key, made);
    MPI_Comm_call_errhandler(comm, MPI_ERR_WIN); /* as MPI does */
    return MPI_ERR_WIN;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    handled++;
    assert_true(*comm == MPI_COMM_WORLD);
    assert_int_equal(*code, MPI_ERR_WIN);
}

static bool has_handler(MPI_Errhandler expected)
{
    MPI_Errhandler found;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    const bool is_it = found == expected;
    MPI_Errhandler_free(&found);
    return is_it;
}

/* Errors of making it aren't the program's, those of its other threads are. */
TEST(errors_are_for_whom_they_concern)
{
    static const struct {
        bool has_room, has_error;
    } cases[] = {{true, false}, {false, false}, {true, true}};
    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handle, &own);
    for (size_t i = 0; i < COUNT(cases); i++) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
        handled = 0;
        has_room = cases[i].has_room;
        has_error = cases[i].has_error;
        MPI_Comm made = own_comm_make(MPI_COMM_WORLD);
        const bool is_kept = has_handler(own);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        assert_int_equal(handled, has_error);
        assert_true(is_kept);
        assert_int_equal(made != MPI_COMM_NULL, has_room);
        if (!has_room)
            continue;
        int member = 0;
        MPI_Comm_rank(made, &member);
        assert_int_equal(member, rank);
        assert_true(MPI_Comm_call_errhandler(made, MPI_ERR_WIN) == MPI_SUCCESS); /* returns */
        MPI_Comm_free(&made);
    }
    MPI_Errhandler_free(&own);
}

const struct test_program test_program = {.mpi = true};
