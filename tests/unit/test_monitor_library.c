/*
 * The performance variables of the MPI library that this is built with can be read, whatever they
 * are. Run on 2 ranks.
 */
#include "ranks.h"

#include "monitor/services.h"

#include <string.h>

TEST(variables_can_be_read)
{
    static struct services before, now;
    services_read(&before);
    char text[1000] = "";
    if (rank == 0)
        MPI_Send(text, sizeof text, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(text, sizeof text, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    services_read(&now);
    services_since(&now, &before);
    assert_int_equal(now.count, before.count);
    assert_true(now.count >= SERVICES_OF_SYSTEM);
    /* The library has variables, or a warning says why not. */
    assert_true(now.count > SERVICES_OF_SYSTEM || now.warning != NULL);
    for (int i = 0; i < now.count; i++) {
        assert_true(strlen(now.service[i].name) > 0);
        assert_false(now.service[i].value < 0.0);
    }
}

const struct test_program test_program = {.mpi = true};
