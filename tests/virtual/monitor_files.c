/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers of a communicator called "team" to which rank 0 comes last, TIMES times each: from
 * writing twice the bytes of the others; from work; and from writing twice the bytes, and work that
 * took longer. Knows nothing of the monitor.
 *
 * usage: monitor_files TIMES BYTES WORK_US
 */
#include "common/work/work.h"

#include <mpi.h>
#include <stdlib.h>

#define UNITS_PER_US 800 /* VIRTUAL_WORK_NS is 1.25 */

static void work(double us) { bc_work((uint64_t)(us * UNITS_PER_US)); }

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int times = (int)strtol(argv[1], NULL, 10), bytes = (int)strtol(argv[2], NULL, 10);
    const double work_us = strtod(argv[3], NULL);
    MPI_Comm team;
    MPI_File file;
    MPI_Status status;
    int rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &team);
    MPI_Comm_set_name(team, "team");
    MPI_Comm_rank(team, &rank);
    const int own_bytes = rank == 0 ? 2 * bytes : bytes;
    char *const data = calloc((size_t)own_bytes, 1);
    MPI_File_open(team, "nowhere", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_Barrier(team);
    for (int i = 0; i < times; i++) {
        MPI_File_write_at(file, 0, data, own_bytes, MPI_CHAR, &status);
        MPI_Barrier(team);
        work(rank == 0 ? work_us : 0.0);
        MPI_Barrier(team);
        MPI_File_write_at(file, 0, data, own_bytes, MPI_CHAR, &status);
        work(work_us);
        MPI_Barrier(team);
    }
    MPI_File_close(&file);
    free(data);
    MPI_Comm_free(&team);
    MPI_Finalize();
    return 0;
}
