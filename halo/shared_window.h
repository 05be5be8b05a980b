/*
 * Halo swaps through memory that the ranks of a node share: each rank copies its
 * halo out of its neighbours' arrays. Faces of other nodes go as packed messages.
 */
#ifndef COMMCOST_HALO_SHARED_WINDOW_H
#define COMMCOST_HALO_SHARED_WINDOW_H

#include "halo/exchange.h"

#include <mpi.h>
#include <stdint.h>

/* Faces, of all ranks, by where the neighbour is. */
struct halo_neighbourhood {
    int64_t faces;
    int64_t on_node;  /* another rank of the same node */
    int64_t off_node; /* on another node */
};

/* Collective over `comm`; the same on every rank. */
struct halo_neighbourhood halo_neighbourhood_of(const struct halo_grid *grid, MPI_Comm comm,
                                                MPI_Comm node_comm);

/* See struct halo_method. */
void halo_shared_create(struct halo_exchange *exchange);
void halo_shared_swap(const struct halo_exchange *exchange);
void halo_shared_destroy(struct halo_exchange *exchange);

#endif
