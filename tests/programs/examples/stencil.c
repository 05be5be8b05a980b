/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stencil on a ring of ranks: in each step all swap their edges with their neighbours and compute
 * the inner points, which need nothing of the neighbours, and then the edge, which does.
 *
 * Fault: it waits for the edges before it computes the inner points. Mended, it computes these
 * between the post and the wait, so that they hide the messages, and nothing can be gained.
 *
 * usage: stencil STEPS BYTES INNER_US EDGE_US AGREE_EVERY [mended]
 *        AGREE_EVERY: steps from one agreement on a number to the next; 0: none
 */
#include "example.h"

int main(int argc, char **argv)
{
    double numbers[5] = {0};
    const struct example example = example_init(
        argc, argv, "stencil STEPS BYTES INNER_US EDGE_US AGREE_EVERY [mended]", 5, numbers);
    const int steps = (int)numbers[0], bytes = (int)numbers[1], agree_every = (int)numbers[4];
    const double inner_us = numbers[2], edge_us = numbers[3];
    const struct ring ring = ring_of(&example);
    char *const own = zeros((size_t)bytes);
    char *const received = zeros((size_t)ring.sides * (size_t)bytes);
    double change = 1.0;
    MPI_Comm plate;
    MPI_Comm_dup(MPI_COMM_WORLD, &plate);
    MPI_Comm_set_name(plate, "plate");

    const int64_t begin_ns = loop_begin();
    for (int step = 1; step <= steps; step++) {
        MPI_Request requests[4];
        MPI_Status statuses[4];
        const int swaps = post_swap(&ring, plate, own, received, bytes, requests);
        if (example.mended)
            work(inner_us);
        MPI_Waitall(swaps, requests, statuses);
        if (!example.mended)
            work(inner_us);
        work(edge_us);
        if (agree_every > 0 && step % agree_every == 0)
            MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, plate);
    }
    loop_end(&example, begin_ns);

    MPI_Comm_free(&plate);
    free(own);
    free(received);
    MPI_Finalize();
    return 0;
}
