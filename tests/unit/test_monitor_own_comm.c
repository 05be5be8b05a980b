/* The monitor's own communicators: errors of making one aren't the program's. On 1 and 3 ranks. */
#include "ranks.h"

#include "monitor/own_comm.h"

/* ---- a stand-in for MPI's function ----------------------------------------------------------- */

static bool has_room;

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
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

TEST(errors_are_not_the_programs)
{
    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handle, &own);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
        handled = 0;
        has_room = i == 0;
        MPI_Comm made = own_comm_make(MPI_COMM_WORLD);
        const bool is_kept = has_handler(own);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        assert_int_equal(handled, 0);
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
