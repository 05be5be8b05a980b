/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/halo_swap/methods.h"

#include "common/job/node_order.h"
#include "common/memory/allocate.h"
#include "common/memory/placement.h"
#include "common/mpi/mpi_check.h"

#include <stdlib.h>

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

/* Returns the method for this memory. */
static const struct halo_method *method_in(const struct halo_space *space,
                                           const struct halo_method *method)
{
    if (method != &halo_method_packed || !bc_memory_needs_copy(space->memory))
        return method;
    return space->staged ? &halo_method_staged : &halo_method_packed_on_device;
}

void halo_exchange_create(struct halo_exchange *exchange, const struct halo_method *method,
                          const struct halo_box *box, const struct halo_grid *grid, MPI_Comm comm,
                          MPI_Comm node_comm, const struct halo_space *space)
{
    static const struct halo_space in_host_memory;
    if (space == NULL)
        space = &in_host_memory;
    *exchange = (struct halo_exchange){.method = method_in(space, method),
                                       .space = *space,
                                       .box = *box,
                                       .grid = *grid,
                                       .comm = comm,
                                       .node_comm = node_comm};
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        exchange->array[d] = halo_array_extent(box, d);
    for (int face = 0; face < HALO_FACES; face++) {
        exchange->sent[face] = halo_sent(box, face);
        exchange->received[face] = halo_received(box, face);
    }
    exchange->method->create(exchange);
    if (space->checks)
        halo_check_create(exchange);
}

void halo_exchange_destroy(struct halo_exchange *exchange)
{
    if (exchange->space.checks)
        halo_check_destroy(exchange);
    exchange->method->destroy(exchange);
}

void halo_swap_in_parts(const struct halo_exchange *exchange)
{
    exchange->method->start(exchange);
    exchange->method->finish(exchange);
}

static double *allocate_on_device(const struct halo_space *space, int64_t count)
{
    const size_t bytes = (size_t)bc_window_bytes(count);
    double *const values = bc_device_allocate(space->device, space->memory, bytes);
    if (values == NULL)
        bc_abort("no memory for %lld values: use a smaller --local", (long long)count);
    void *const zeros = bc_allocate(1, bytes, "no memory for %zu bytes", bytes);
    bc_device_copy(space->device, values, zeros, bytes);
    bc_device_wait(space->device);
    free(zeros);
    return values;
}

double *halo_allocate_values(const struct halo_exchange *exchange, int64_t count)
{
    const size_t bytes = (size_t)count * sizeof(double);
    return exchange->space.memory == BC_MEMORY_HOST
               ? bc_allocate_buffer(bytes, "no memory for %zu bytes", bytes)
               : allocate_on_device(&exchange->space, count);
}

void halo_free_values(const struct halo_exchange *exchange, double *values)
{
    if (exchange->space.memory == BC_MEMORY_HOST)
        bc_free_buffer(values);
    else if (values != NULL)
        bc_device_free(exchange->space.device, exchange->space.memory, values);
}

struct halo_neighbourhood halo_neighbourhood_of(const struct halo_grid *grid, MPI_Comm comm,
                                                MPI_Comm node_comm)
{
    struct halo_neighbourhood n = {.faces = HALO_FACES};
    for (int face = 0; face < HALO_FACES; face++) {
        const int rank = grid->neighbours[face];
        const bool near = bc_translate_rank(comm, rank, node_comm) != MPI_UNDEFINED;
        n.on_node += near && rank != grid->rank;
        n.off_node += !near;
    }
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &n, 3, MPI_INT64_T, MPI_SUM, comm));
    return n;
}
