/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of common/device/device.h on the model of a GPU (device.c), whose costs are in the
 * environment: what they take, and what they move. Run by device_test.py; prints each number that
 * isn't as expected. With the argument `text`: the kernels' PTX.
 */
#include "common/device/device.h"
#include "common/device/kernels.h"
#include "tests/virtual/parameters.h"
#include "tests/virtual/world.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000 };

static int wrong;

static void expect(const char *what, double found, double right)
{
    if (fabs(found - right) <= 1.0 + 1e-6 * fabs(right)) /* times are whole ns */
        return;
    wrong++;
    (void)printf("%s: %.9g, not %.9g\n", what, found, right);
}

static bool are_same(const double *a, const double *b)
{
    bool same = true;
    for (int i = 0; i < COUNT; i++)
        same = same && a[i] == b[i];
    return same;
}

/* Copies through each kind of memory bring the data. */
static void try_memory(struct bc_device *device, const double *data)
{
    double back[COUNT];
    for (int memory = BC_MEMORY_PINNED; memory <= BC_MEMORY_MANAGED; memory++) {
        double *const there = bc_device_allocate(device, (enum bc_memory)memory, sizeof back);
        const int64_t start_ns = world_now_ns;
        bc_device_copy(device, there, data, sizeof back);
        expect("copy", (double)(world_now_ns - start_ns),
               parameters.copy_ns + parameters.copy_byte_ns * (double)sizeof back);
        bc_device_copy(device, back, there, sizeof back);
        expect("copied", are_same(back, data), 1);
        bc_device_free(device, (enum bc_memory)memory, there);
    }
    expect("too large", bc_device_allocate(device, BC_MEMORY_DEVICE, (size_t)1 << 50) == NULL, 1);
}

/* Kernels run one after the other, beside the host. */
static void try_launches(struct bc_device *device)
{
    const size_t bytes = COUNT * sizeof(double);
    const double kernel_ns = parameters.kernel_ns + (double)bytes * parameters.kernel_byte_ns;
    const double wait_ns = parameters.device_sync_ns; /* for copies, and for kernels */
    double *const a = bc_device_allocate(device, BC_MEMORY_DEVICE, bytes);
    const int64_t start_ns = world_now_ns;
    bc_device_move(device, a, a, COUNT);
    expect("a launch", (double)(world_now_ns - start_ns), wait_ns + parameters.launch_ns);
    bc_device_move(device, a, a, COUNT);
    bc_device_wait(device);
    expect("two kernels", (double)(world_now_ns - start_ns),
           wait_ns + parameters.launch_ns + 2 * kernel_ns + wait_ns);
    bc_device_free(device, BC_MEMORY_DEVICE, a);
}

/* Copies and kernels of timed regions: in order, by one call each. */
static void try_queue(struct bc_device *device, const double *data)
{
    const size_t bytes = COUNT * sizeof *data;
    const double kernel_ns = parameters.kernel_ns + (double)bytes * parameters.kernel_byte_ns;
    const double copy_ns = parameters.copy_ns + (double)bytes * parameters.copy_byte_ns;
    int64_t places[COUNT];
    double *const pinned = bc_device_allocate(device, BC_MEMORY_PINNED, bytes);
    double *const a = bc_device_allocate(device, BC_MEMORY_DEVICE, bytes);
    double *const b = bc_device_allocate(device, BC_MEMORY_DEVICE, bytes);
    int64_t *const list = bc_device_allocate(device, BC_MEMORY_DEVICE, bytes);
    for (int64_t i = 0; i < COUNT; i++)
        places[i] = COUNT - 1 - i;
    bc_device_copy(device, list, places, bytes);
    bc_device_copy(device, a, data, bytes);
    bc_device_wait(device);
    const int64_t start_ns = world_now_ns;
    bc_device_gather(device, b, a, list, COUNT);
    bc_device_copy_later(device, pinned, b, bytes);
    expect("a queue", (double)(world_now_ns - start_ns), 2 * parameters.launch_ns);
    bc_device_synchronize(device);
    expect("gather and copy", (double)(world_now_ns - start_ns),
           parameters.launch_ns + kernel_ns + copy_ns + parameters.device_sync_ns);
    expect("gathered", pinned[0] == data[COUNT - 1] && pinned[COUNT - 1] == data[0], 1);
    bc_device_scatter(device, a, b, list, COUNT);
    bc_device_copy_later(device, pinned, a, bytes);
    bc_device_synchronize(device);
    expect("scattered", are_same(pinned, data), 1);
    bc_device_free(device, BC_MEMORY_PINNED, pinned);
    bc_device_free(device, BC_MEMORY_DEVICE, a);
    bc_device_free(device, BC_MEMORY_DEVICE, b);
    bc_device_free(device, BC_MEMORY_DEVICE, list);
}

/* A kernel alone is timed without its start and the wait for it. */
static void try_compute(struct bc_device *device)
{
    enum { LEAD = 2000, STEPS = 300 };
    const double kernel_ns = parameters.kernel_ns + parameters.step_ns * STEPS;
    const double lead_ns = parameters.kernel_ns + parameters.step_ns * LEAD;
    int64_t start_ns = world_now_ns;
    expect("alone", bc_device_compute_alone_ns(device, LEAD, STEPS), kernel_ns);
    expect("with its lead", (double)(world_now_ns - start_ns),
           parameters.launch_ns + lead_ns + kernel_ns + parameters.device_sync_ns);
    start_ns = world_now_ns;
    bc_device_compute(device, STEPS);
    expect("started", (double)(world_now_ns - start_ns), parameters.launch_ns);
    bc_device_synchronize(device);
    expect("ended", (double)(world_now_ns - start_ns),
           parameters.launch_ns + kernel_ns + parameters.device_sync_ns);
}

/* A kernel's data is there after the wait for the kernel, and not before. */
static void try_kernels(struct bc_device *device, const double *data)
{
    const size_t bytes = COUNT * sizeof *data;
    double *const a = bc_device_allocate(device, BC_MEMORY_DEVICE, bytes);
    double *const b = bc_device_allocate(device, BC_MEMORY_DEVICE, bytes);
    double early[COUNT];
    bc_device_copy(device, a, data, bytes);
    bc_device_move(device, b, a, COUNT);
    bc_device_copy(device, early, b, bytes);
    expect("too early", are_same(early, data), 0);
    expect("equal", bc_device_is_equal(device, a, b, COUNT), 1);
    bc_device_copy(device, (char *)b + bytes - sizeof *b, data, sizeof *b);
    expect("the last differs", bc_device_is_equal(device, a, b, COUNT), 0);
    expect("all but the last", bc_device_is_equal(device, a, b, COUNT - 1), 1);
    expect("nothing", bc_device_is_equal(device, a, b, 0), 1);
    bc_device_free(device, BC_MEMORY_DEVICE, a);
    bc_device_free(device, BC_MEMORY_DEVICE, b);
}

int main(int argc, char **argv)
{
    double data[COUNT];
    char reason[BC_DEVICE_REASON_LENGTH];
    int rank;
    for (int i = 0; i < COUNT; i++)
        data[i] = i;
    if (argc > 1 && strcmp(argv[1], "text") == 0)
        return puts(bc_kernels_ptx) < 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct bc_device *const device =
        bc_device_open(argc > 1 ? (int)strtol(argv[1], NULL, 10) : -1, rank, reason);
    if (device == NULL) {
        (void)printf("%s\n", reason);
    } else {
        const struct bc_device_facts *const facts = bc_device_facts(device);
        (void)printf("rank %d: %s %d, %s, %s, %d of %d\n", rank, facts->library, facts->version,
                     facts->name, facts->pci, facts->number, facts->devices);
        try_memory(device, data);
        try_launches(device);
        try_queue(device, data);
        try_compute(device);
        try_kernels(device, data);
    }
    MPI_Finalize();
    if (device != NULL)
        bc_device_close(device);
    return wrong > 0;
}
