/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A halo of several fields on a ring of ranks: in each step all compute, swap the edges of their
 * fields with their neighbours, and agree on a number, so that no work is left to hide the
 * messages.
 *
 * Fault: a message for each field. Mended, one for all of them.
 *
 * usage: halo STEPS FIELDS FIELD_BYTES WORK_US [mended]
 */
#include "example.h"

struct halo {
    MPI_Comm comm;
    struct ring ring;
    char *own, *received[2]; /* the fields' edges, one after the other; received by side */
    MPI_Request *requests;
    MPI_Status *statuses;
};

/* Swaps `count` messages of `bytes` with each neighbour. */
static void swap(struct halo *halo, int count, int bytes)
{
    MPI_Request *next = halo->requests;
    for (int side = 0; side < halo->ring.sides; side++)
        for (int i = 0; i < count; i++)
            MPI_Irecv(halo->received[side] + (size_t)i * (size_t)bytes, bytes, MPI_CHAR,
                      halo->ring.neighbour[side], i, halo->comm, next++);
    for (int side = 0; side < halo->ring.sides; side++)
        for (int i = 0; i < count; i++)
            MPI_Isend(halo->own + (size_t)i * (size_t)bytes, bytes, MPI_CHAR,
                      halo->ring.neighbour[side], i, halo->comm, next++);
    MPI_Waitall(2 * halo->ring.sides * count, halo->requests, halo->statuses);
}

int main(int argc, char **argv)
{
    double numbers[4] = {0};
    const struct example example =
        example_init(argc, argv, "halo STEPS FIELDS FIELD_BYTES WORK_US [mended]", 4, numbers);
    const int steps = (int)numbers[0], fields = (int)numbers[1], field_bytes = (int)numbers[2];
    const double work_us = numbers[3];
    const size_t bytes = (size_t)fields * (size_t)field_bytes;
    struct halo halo = {.ring = ring_of(&example),
                        .own = zeros(bytes),
                        .received = {zeros(bytes), zeros(bytes)},
                        .requests = zeros(4 * (size_t)fields * sizeof *halo.requests),
                        .statuses = zeros(4 * (size_t)fields * sizeof *halo.statuses)};
    double change = 1.0;
    MPI_Comm_dup(MPI_COMM_WORLD, &halo.comm);
    MPI_Comm_set_name(halo.comm, "fields");

    const int64_t begin_ns = loop_begin();
    for (int step = 0; step < steps; step++) {
        work(work_us);
        if (example.mended)
            swap(&halo, 1, fields * field_bytes);
        else
            swap(&halo, fields, field_bytes);
        MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, halo.comm);
    }
    loop_end(&example, begin_ns);

    MPI_Comm_free(&halo.comm);
    for (int side = 0; side < 2; side++)
        free(halo.received[side]);
    free(halo.own);
    free(halo.requests);
    free(halo.statuses);
    MPI_Finalize();
    return 0;
}
