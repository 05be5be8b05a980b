/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the examples have in common: arguments, work that takes a known time, and the time of the
 * main loop.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct example {
    int rank, ranks;
    bool mended;
};

/* Neighbours on the ring of all ranks: two, but with two ranks only one. */
struct ring {
    int sides;
    int neighbour[2];
};

static inline int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Computes until this time has passed. */
static inline void work(double us)
{
    const int64_t end_ns = now_ns() + (int64_t)(us * 1e3);
    while (now_ns() < end_ns)
        ;
}

/* MPI_Init, then reads `count` numbers of 0 or more and the word `mended`, if it comes last. Prints
   the usage and ends the job with status 2 if the arguments are others. */
static inline struct example example_init(int argc, char **argv, const char *usage, int count,
                                          double *numbers)
{
    struct example example = {.mended = false};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &example.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &example.ranks);
    example.mended = argc == count + 2 && strcmp(argv[count + 1], "mended") == 0;
    bool right = example.ranks >= 2 && argc == count + 1 + example.mended;
    for (int i = 0; right && i < count; i++) {
        char *end;
        numbers[i] = strtod(argv[i + 1], &end);
        right = *end == '\0' && end != argv[i + 1] && numbers[i] >= 0;
    }
    if (!right) {
        if (example.rank == 0)
            (void)fprintf(stderr, "usage, on 2 ranks or more: %s\n", usage);
        MPI_Finalize();
        exit(2);
    }
    return example;
}

static inline struct ring ring_of(const struct example *example)
{
    return (struct ring){.sides = example->ranks == 2 ? 1 : 2,
                         .neighbour = {(example->rank + 1) % example->ranks,
                                       (example->rank + example->ranks - 1) % example->ranks}};
}

/* Posts a swap of an edge with each neighbour; received has room for an edge of each. Returns the
   number of requests, at most 4. */
static inline int post_swap(const struct ring *ring, MPI_Comm comm, const char *own, char *received,
                            int bytes, MPI_Request *requests)
{
    for (int side = 0; side < ring->sides; side++)
        MPI_Irecv(received + (size_t)side * (size_t)bytes, bytes, MPI_CHAR, ring->neighbour[side],
                  0, comm, &requests[side]);
    for (int side = 0; side < ring->sides; side++)
        MPI_Isend(own, bytes, MPI_CHAR, ring->neighbour[side], 0, comm,
                  &requests[ring->sides + side]);
    return 2 * ring->sides;
}

/* Zeros; aborts the job if there is no memory. */
static inline void *zeros(size_t bytes)
{
    void *const memory = calloc(bytes > 0 ? bytes : 1, 1);
    if (memory == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

/* The main loop lies between these two: from a barrier to a barrier. The second one prints how long
   it took the slowest rank. */
static inline int64_t loop_begin(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return now_ns();
}

static inline void loop_end(const struct example *example, int64_t begin_ns)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double own_s = (double)(now_ns() - begin_ns) * 1e-9;
    double slowest_s = 0.0;
    MPI_Reduce(&own_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (example->rank == 0)
        (void)printf("seconds %.6f\n", slowest_s);
}

#endif
