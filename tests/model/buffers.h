/*
 * What collectives.def says about an operation's buffers: how many bytes this rank contributes, and
 * where it receives one. Local functions; intracommunicators only.
 */
#ifndef MODEL_BUFFERS_H
#define MODEL_BUFFERS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* A receive buffer of one block a peer. Block i's count is counts[i] or count, its type types[i] or
   type, and it starts at displs[i] or i * count extents, or at byte_displs[i] or aint_displs[i]
   bytes. Unused members are 0. */
struct blocks {
    void *buffer;
    const int *counts;
    int count;
    const int *displs;
    const int *byte_displs;
    const MPI_Aint *aint_displs;
    const MPI_Datatype *types;
    MPI_Datatype type;
};

static inline struct blocks equal_blocks(void *buffer, int count, MPI_Datatype type)
{
    return (struct blocks){.buffer = buffer, .count = count, .type = type};
}

static inline struct blocks v_blocks(void *buffer, const int counts[], const int displs[],
                                     MPI_Datatype type)
{
    return (struct blocks){.buffer = buffer, .counts = counts, .displs = displs, .type = type};
}

static inline struct blocks w_blocks(void *buffer, const int counts[], const int byte_displs[],
                                     const MPI_Datatype types[])
{
    return (struct blocks){
        .buffer = buffer, .counts = counts, .byte_displs = byte_displs, .types = types};
}

static inline struct blocks neighbor_w_blocks(void *buffer, const int counts[],
                                              const MPI_Aint aint_displs[],
                                              const MPI_Datatype types[])
{
    return (struct blocks){
        .buffer = buffer, .counts = counts, .aint_displs = aint_displs, .types = types};
}

int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);

/* Number of neighbours that this rank sends to in a neighborhood collective. */
int outdegree_in(MPI_Comm comm);

/* Bytes of count elements; of counts[0] to counts[n - 1] elements. */
int64_t bytes_of(int count, MPI_Datatype type);
int64_t bytes_of_v(int n, const int counts[], MPI_Datatype type);
int64_t bytes_of_w(int n, const int counts[], const MPI_Datatype types[]);

/* The first byte of data in count elements at buffer; NULL if there is none. */
unsigned char *byte_in(void *buffer, int count, MPI_Datatype type);

/* Some byte that comes from a rank of comm: from another one if there is any that sends some. With
   in_place this rank's own block isn't received. NULL if nothing is received. */
unsigned char *byte_from_ranks(MPI_Comm comm, bool in_place, struct blocks blocks);

/* Some byte that comes from a neighbour, one that exists; NULL if nothing is received. */
unsigned char *byte_from_neighbors(MPI_Comm comm, struct blocks blocks);

#endif
