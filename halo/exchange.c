#include "halo/exchange.h"

#include "common/machine/memory.h"
#include "common/mpi/coarray.h"

void halo_exchange_init(struct halo_exchange *exchange, const struct halo_box *box,
                        const struct halo_grid *grid, MPI_Comm comm, MPI_Comm node_comm)
{
    *exchange = (struct halo_exchange){
        .box = *box,
        .grid = *grid,
        .comm = comm,
        .node_comm = node_comm,
    };
    for (int face = 0; face < HALO_FACES; face++) {
        exchange->sent[face] = halo_sent(box, face);
        exchange->received[face] = halo_received(box, face);
    }
}

double *halo_allocate_values(int64_t count)
{
    return bc_allocate_pages((size_t)bc_window_bytes(count), "no memory for %lld values",
                             (long long)count);
}

void *halo_allocate(size_t bytes)
{
    return bc_allocate(1, bytes, "no memory for %zu bytes", bytes);
}
