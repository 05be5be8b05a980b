#include "buffers.h"

#include "common/mpi/counts.h"

#include <stddef.h>

int rank_in(MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

int size_of(MPI_Comm comm)
{
    int size;
    PMPI_Comm_size(comm, &size);
    return size;
}

int64_t bytes_of(int count, MPI_Datatype type)
{
    MPI_Count size_bytes; /* a type may have more bytes than an int counts */
    BC_PMPI_TYPE_SIZE(type, &size_bytes);
    return count * (int64_t)size_bytes;
}

int64_t bytes_of_v(int n, const int counts[], MPI_Datatype type)
{
    int64_t elements = 0;
    for (int i = 0; i < n; i++)
        elements += counts[i];
    return elements * bytes_of(1, type);
}

int64_t bytes_of_w(int n, const int counts[], const MPI_Datatype types[])
{
    int64_t bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += bytes_of(counts[i], types[i]);
    return bytes;
}

unsigned char *byte_in(void *buffer, int count, MPI_Datatype type)
{
    if (bytes_of(count, type) == 0)
        return NULL;
    /* A derived type may have holes, but its true lower bound is where data is. */
    MPI_Aint true_lb_bytes;
    MPI_Aint true_extent_bytes;
    PMPI_Type_get_true_extent(type, &true_lb_bytes, &true_extent_bytes);
    return (unsigned char *)buffer + true_lb_bytes;
}

static unsigned char *byte_in_block(const struct blocks *blocks, int i)
{
    const int count = blocks->counts != NULL ? blocks->counts[i] : blocks->count;
    const MPI_Datatype type = blocks->types != NULL ? blocks->types[i] : blocks->type;

    MPI_Aint displ_bytes;
    if (blocks->aint_displs != NULL) {
        displ_bytes = blocks->aint_displs[i];
    } else if (blocks->byte_displs != NULL) {
        displ_bytes = blocks->byte_displs[i];
    } else {
        MPI_Aint lb_bytes;
        MPI_Aint extent_bytes;
        PMPI_Type_get_extent(type, &lb_bytes, &extent_bytes);
        displ_bytes =
            extent_bytes * (blocks->displs != NULL ? blocks->displs[i] : (MPI_Aint)i * count);
    }
    return byte_in((unsigned char *)blocks->buffer + displ_bytes, count, type);
}

unsigned char *byte_from_ranks(MPI_Comm comm, bool in_place, struct blocks blocks)
{
    const int rank = rank_in(comm);
    const int size = size_of(comm);
    for (int source = 0; source < size; source++) {
        unsigned char *byte = source != rank ? byte_in_block(&blocks, source) : NULL;
        if (byte != NULL)
            return byte;
    }
    return in_place ? NULL : byte_in_block(&blocks, rank);
}

/* In a Cartesian topology all dimensions' neighbours count, also the missing ones at an open end.
 */
struct degrees {
    int in;
    int out;
    bool cartesian;
};

static struct degrees degrees_in(MPI_Comm comm)
{
    struct degrees degrees = {0, 0, false};
    int topology;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) {
        int dimensions;
        PMPI_Cartdim_get(comm, &dimensions);
        degrees = (struct degrees){2 * dimensions, 2 * dimensions, true};
    } else if (topology == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, rank_in(comm), &degrees.in);
        degrees.out = degrees.in;
    } else if (topology == MPI_DIST_GRAPH) {
        int weighted;
        PMPI_Dist_graph_neighbors_count(comm, &degrees.in, &degrees.out, &weighted);
    }
    return degrees;
}

int outdegree_in(MPI_Comm comm) { return degrees_in(comm).out; }

/* Neighbours come by dimension, the one below before the one above. */
static bool cartesian_neighbor_exists(MPI_Comm comm, int i)
{
    int below;
    int above;
    PMPI_Cart_shift(comm, i / 2, 1, &below, &above);
    return (i % 2 == 0 ? below : above) != MPI_PROC_NULL;
}

unsigned char *byte_from_neighbors(MPI_Comm comm, struct blocks blocks)
{
    const struct degrees degrees = degrees_in(comm);
    for (int i = 0; i < degrees.in; i++) {
        if (degrees.cartesian && !cartesian_neighbor_exists(comm, i))
            continue;
        unsigned char *byte = byte_in_block(&blocks, i);
        if (byte != NULL)
            return byte;
    }
    return NULL;
}
