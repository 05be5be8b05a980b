/*
 * The monitor's own communicators: what becomes of errors on them, and that no handler of the
 * program's is touched. On 1 and 3 ranks.
 */
#include "ranks.h"

#include "monitor/lib/count/own_comm.h"

/* ---- stand-ins for MPI's functions ----------------------------------------------------------- */

static bool has_room;

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    if (has_room)
        return MPI_Comm_split(comm, color, key, made);
    MPI_Comm_call_errhandler(comm, MPI_ERR_WIN); /* as MPI does */
    return MPI_ERR_WIN;
}

static int handlers_set; /* of communicators of the program's */

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    handlers_set += comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
    return MPI_Comm_set_errhandler(comm, handler);
}

/* ---- the program ----------------------------------------------------------------------------- */

static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    handled++;
    assert_true(*comm == MPI_COMM_WORLD);
    assert_int_equal(*code, MPI_ERR_WIN);
}

/* An error of making one is the program's, as if it had made it. */
TEST(handlers_stay_the_programs)
{
    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handle, &own);
    for (int room = 0; room <= 1; room++) {
        has_room = room;
        handled = handlers_set = 0;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
        MPI_Comm made = own_comm_make(MPI_COMM_WORLD);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        assert_int_equal(handled, !room);
        assert_int_equal(handlers_set, 0);
        assert_int_equal(made != MPI_COMM_NULL, room);
        if (!room)
            continue;
        int member = 0;
        MPI_Comm_rank(made, &member);
        assert_int_equal(member, rank);
        assert_true(MPI_Comm_call_errhandler(made, MPI_ERR_WIN) == MPI_SUCCESS); /* returns */
        /* So does an error of making one from it. */
        has_room = false;
        assert_true(own_comm_make(made) == MPI_COMM_NULL);
        MPI_Comm_free(&made);
    }
    MPI_Errhandler_free(&own);
}

const struct test_program test_program = {.mpi = true};
