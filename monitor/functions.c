/*
 * The wrappers that are made from the rows of functions.def.
 */
#include "monitor/calls.h"
#include "monitor/communicators.h"
#include "monitor/next.h"
#include "monitor/windows.h"

enum { SENDS_ONLY = false, RECEIVES = true };

/* Whether a rooted collective sends from this process. */
static bool is_root(const struct communicator *on, int root)
{
    return on->is_inter ? root == MPI_ROOT : root == on->rank;
}

/* Whether this process sends to the root, possibly to itself. In an intercommunicator only the
   other group does. */
static bool contributes(const struct communicator *on, int root)
{
    return !on->is_inter || (root != MPI_ROOT && root != MPI_PROC_NULL);
}

static bool is_absent(uint64_t absent, int neighbour)
{
    return neighbour < 64 && (absent >> neighbour & 1) != 0;
}

static int present_neighbours(const struct communicator *on)
{
    return on->neighbours - __builtin_popcountll(on->absent);
}

/* Sums over the blocks for several peers, without the `absent` ones. Count is int or MPI_Count. */
#define DEFINE_SUMS(Count, bytes_of_blocks, bytes_of_types)                                        \
    static int64_t bytes_of_blocks(int blocks, uint64_t absent, const Count counts[],              \
                                   MPI_Datatype datatype)                                          \
    {                                                                                              \
        int64_t elements = 0;                                                                      \
        for (int i = 0; i < blocks; i++)                                                           \
            if (!is_absent(absent, i))                                                             \
                elements += counts[i];                                                             \
        return elements == 0 ? 0 : elements * bytes_of(1, datatype);                               \
    }                                                                                              \
    static int64_t bytes_of_types(int blocks, uint64_t absent, const Count counts[],               \
                                  const MPI_Datatype datatypes[])                                  \
    {                                                                                              \
        int64_t bytes = 0;                                                                         \
        for (int i = 0; i < blocks; i++)                                                           \
            if (!is_absent(absent, i))                                                             \
                bytes += bytes_of(counts[i], datatypes[i]);                                        \
        return bytes;                                                                              \
    }

DEFINE_SUMS(int, bytes_of_blocks, bytes_of_types)

#define LARGE_COUNTS 0
#define COUNT int
#define DISPLACEMENT int
#define FUNCTION(Name) MPI_##Name
#define NEXT(Name) next.Name
#define BYTES_OF_BLOCKS bytes_of_blocks
#define BYTES_OF_TYPES bytes_of_types
#include "monitor/wrap.h"

#if MPI_VERSION >= 4

DEFINE_SUMS(MPI_Count, bytes_of_large_blocks, bytes_of_large_types)

#define LARGE_COUNTS 1
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define FUNCTION(Name) MPI_##Name##_c
#define NEXT(Name) next.Name##_c
#define BYTES_OF_BLOCKS bytes_of_large_blocks
#define BYTES_OF_TYPES bytes_of_large_types
#include "monitor/wrap.h"

#endif
