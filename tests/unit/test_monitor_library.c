/*
 * What lies under the MPI library that this is built with: its performance variables can be read,
 * whatever they are; run on 2.
 */
#include "helpers.h"

#include "monitor/services.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int rank;

static void variables_can_be_read(void **state)
{
    (void)state;
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
    /* It has variables, or it says why not. */
    assert_true(now.count > SERVICES_OF_SYSTEM || now.warning != NULL);
    for (int i = 0; i < now.count; i++) {
        assert_true(strlen(now.service[i].name) > 0);
        assert_false(now.service[i].value < 0.0);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* One report is enough; failures show on stderr from every rank. */
    if (rank != 0 && freopen("/dev/null", "w", stdout) == NULL)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(variables_can_be_read)};
    int failures =
        cmocka_run_group_tests_name("monitor's services, of the library", tests, NULL, NULL);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures != 0;
}
