/* The wrappers that are made from the rows of functions.def. */
#include "monitor/calls.h"
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

/* One of the counts of several blocks: `size` is that of an int or of an MPI_Count. */
static int64_t count_at(const void *counts, size_t size, int block)
{
    return size == sizeof(int) ? ((const int *)counts)[block] : ((const MPI_Count *)counts)[block];
}

/* Sums over the blocks for several peers, without the `absent` ones. */
static int64_t bytes_of_blocks(int blocks, uint64_t absent, const void *counts, size_t size,
                               MPI_Datatype datatype)
{
    int64_t elements = 0;
    for (int i = 0; i < blocks; i++)
        if (!is_absent(absent, i))
            elements += count_at(counts, size, i);
    return elements == 0 ? 0 : elements * bytes_of(1, datatype);
}

/* The same with a datatype each. */
static int64_t bytes_of_types(int blocks, uint64_t absent, const void *counts, size_t size,
                              const MPI_Datatype datatypes[])
{
    int64_t bytes = 0;
    for (int i = 0; i < blocks; i++)
        if (!is_absent(absent, i))
            bytes += bytes_of(count_at(counts, size, i), datatypes[i]);
    return bytes;
}

/* The mean of several blocks that have this size together, rounded down. */
static int64_t mean_of(int64_t bytes, int blocks) { return blocks > 0 ? bytes / blocks : 0; }

/* Whether each other process of the communicator has data for this one: the sizes of what it
   receives, with one datatype or one each. */
static bool needs_all(const struct communicator *on, const void *counts, size_t size,
                      const MPI_Datatype datatypes[], bool of_each)
{
    for (int i = 0; i < on->peers; i++)
        if (i != on->rank &&
            (count_at(counts, size, i) == 0 || (of_each && bytes_of(1, datatypes[i]) == 0)))
            return false;
    return of_each || bytes_of(1, datatypes[0]) > 0;
}

typedef int RANGE[3]; /* of ranks: the first, the last and the step */

#define LARGE_COUNTS 0
#define COUNT int
#define DISPLACEMENT int
#define ADDRESS MPI_Aint
#define FUNCTION(Name) MPI_##Name
#define NEXT(Name) next.Name
#include "monitor/wrap.h"

#if MPI_VERSION >= 4
#define LARGE_COUNTS 1
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define ADDRESS MPI_Count
#define FUNCTION(Name) MPI_##Name##_c
#define NEXT(Name) next.Name##_c
#include "monitor/wrap.h"
#endif
