/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bare loops of the driver's calls and of MPI_Send, which tests/programs/device/run.sh holds the
 * programs' times against. Of common/ it uses nothing but the table of the driver's functions.
 *
 * usage: device_bare               why no GPU can be used, and exit status 77; nothing if one can
 *        device_bare WHAT SIZE...  for each size a line of rank 0: SIZE and the time in us, the
 *                                  median of batches. WHAT: copy (between pinned and the device's
 *                                  memory, mean of both ways), kernel (SIZE steps of work, one
 *                                  kernel behind the other), or message (the device's memory of
 *                                  rank 0, host memory of rank 1)
 */
#include "common/device/driver.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SKIPPED = 77, BATCHES = 11, ROUNDS = 50 };

static struct bc_driver driver;
static void *memory, *host, *stream, *compute; /* memory: of the device */
static size_t bytes;
static int rank;

static void require(int error, const char *what)
{
    if (error == 0)
        return;
    fprintf(stderr, "device_bare: %s: %s\n", what, bc_driver_error(&driver, error));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* These do twice what is asked for. */
static void copy(void)
{
    if (rank != 0)
        return;
    require(bc_driver_copy(&driver, host, memory, bytes), "copy to the host");
    require(bc_driver_copy(&driver, memory, host, bytes), "copy to the device");
}

static void kernel(void)
{
    uint64_t steps = bytes;
    void *arguments[] = {&memory, &steps};
    for (int i = 0; i < 2 && rank == 0; i++)
        require(driver.launch(compute, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL), "launch");
}

static void message(void)
{
    void *const buffer = rank == 0 ? memory : host;
    if (rank == 0)
        MPI_Send(buffer, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    if (rank < 2)
        MPI_Recv(buffer, (int)bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(buffer, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* The first batch warms up. */
static double measure(void (*twice)(void))
{
    double batch_us[BATCHES + 1];
    for (int batch = 0; batch <= BATCHES; batch++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin_us = now_us();
        for (int i = 0; i < ROUNDS; i++)
            twice();
        if (twice == kernel && rank == 0)
            require(driver.synchronize(stream), "synchronize");
        batch_us[batch] = (now_us() - begin_us) / (2 * ROUNDS);
    }
    qsort(batch_us + 1, BATCHES, sizeof *batch_us, compare);
    return batch_us[1 + BATCHES / 2];
}

static void open_device(size_t room)
{
    void *module;
    require(bc_driver_use(&driver, 0), "device 0");
    require(driver.create_stream(&stream, 1), "stream");
    require(bc_driver_load_kernels(&driver, &module), "kernels");
    require(driver.find(&compute, module, "commcost_compute"), "kernel");
    require(driver.allocate(&memory, room), "memory of the device");
    require(driver.allocate_pinned(&host, room, 0), "pinned memory");
}

int main(int argc, char **argv)
{
    char reason[256] = "";
    if (!bc_driver_open(&driver, reason, sizeof reason)) {
        printf("%s\n", reason);
        return SKIPPED;
    }
    if (argc < 3)
        return 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    open_device(strtoul(argv[argc - 1], NULL, 10)); /* the last size is the largest */
    for (int i = 2; i < argc; i++) {
        bytes = strtoul(argv[i], NULL, 10);
        const double time_us = measure(argv[1][0] == 'c'   ? copy
                                       : argv[1][0] == 'k' ? kernel
                                                           : message);
        if (rank == 0)
            printf("%zu %.3f\n", bytes, time_us);
    }
    MPI_Finalize();
    return 0;
}
