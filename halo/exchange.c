#include "halo/exchange.h"

#include "common/mpi/coarray.h"
#include "common/mpi/mpi_check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    const size_t bytes = (size_t)bc_window_bytes(count);
    double *const values = aligned_alloc((size_t)sysconf(_SC_PAGESIZE), bytes);
    if (values == NULL)
        bc_abort("no memory for %lld values", (long long)count);
    memset(values, 0, bytes);
    return values;
}

void *halo_allocate(size_t bytes)
{
    void *const memory = calloc(1, bytes);
    if (memory == NULL)
        bc_abort("no memory for %zu bytes", bytes);
    return memory;
}
