#include "halo/swap/methods.h"

#include "common/coarray/coarray.h"
#include "common/mpi/mpi_check.h"

const struct halo_method *const halo_methods[HALO_METHODS] = {
    &halo_method_put_all,    &halo_method_put_images, &halo_method_get_all,
    &halo_method_get_images, &halo_method_types,      &halo_method_packed,
    &halo_method_persistent, &halo_method_neighbor,   &halo_method_shared,
};

const struct halo_method *const halo_methods_in_parts[HALO_METHODS_IN_PARTS] = {
    &halo_method_types,
    &halo_method_packed,
    &halo_method_persistent,
    &halo_method_neighbor,
};

void halo_exchange_create(struct halo_exchange *exchange, const struct halo_method *method,
                          const struct halo_box *box, const struct halo_grid *grid, MPI_Comm comm,
                          MPI_Comm node_comm)
{
    *exchange = (struct halo_exchange){
        .method = method, .box = *box, .grid = *grid, .comm = comm, .node_comm = node_comm};
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        exchange->array[d] = halo_array_extent(box, d);
    for (int face = 0; face < HALO_FACES; face++) {
        exchange->sent[face] = halo_sent(box, face);
        exchange->received[face] = halo_received(box, face);
    }
    method->create(exchange);
}

void halo_swap_in_parts(const struct halo_exchange *exchange)
{
    exchange->method->start(exchange);
    exchange->method->finish(exchange);
}

double *halo_allocate_values(int64_t count)
{
    return bc_allocate_pages((size_t)bc_window_bytes(count), "no memory for %lld values",
                             (long long)count);
}
