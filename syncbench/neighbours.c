#include "syncbench/neighbours.h"

#include "common/mpi/grid.h"

#include <stddef.h>

/* The minimum number of ranks in a 3D grid. */
#define GRID_RANKS_MIN 8

bool syncbench_can_arrange(enum syncbench_set set, int ranks, int n)
{
    switch (set) {
    case SYNCBENCH_PAIR:
        return ranks % 2 == 0;
    case SYNCBENCH_RANDOM:
    case SYNCBENCH_RING:
        return n >= 2 && n % 2 == 0 && n <= ranks - 2;
    case SYNCBENCH_GRID:
        return ranks >= GRID_RANKS_MIN;
    default:
        return true;
    }
}

const char *syncbench_needs(enum syncbench_set set)
{
    switch (set) {
    case SYNCBENCH_PAIR:
        return "an even number of processes";
    case SYNCBENCH_RANDOM:
    case SYNCBENCH_RING:
        return "at least 4 processes";
    case SYNCBENCH_GRID:
        return "at least 8 processes";
    default:
        return "nothing";
    }
}

int syncbench_max_neighbours(int n)
{
    return n > BC_GRID_SIDES ? n : BC_GRID_SIDES;
}

/* The next number of a generator that depends on the state alone: SplitMix64 (Steele, Lea and
   Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A number below `bound`, all equally likely: draws again where the remainder would prefer some
   numbers. */
static uint64_t random_below(uint64_t *state, uint64_t bound)
{
    const uint64_t excess = UINT64_MAX % bound + 1;
    uint64_t number;
    do
        number = next_random(state);
    while (excess != bound && number > UINT64_MAX - excess);
    return number % bound;
}

/* Durstenfeld's form of the Fisher-Yates shuffle (Knuth, The Art of Computer
   Programming, vol. 2, 3rd ed., 3.4.2, algorithm P). */
void syncbench_permute(uint64_t seed, int ranks, int *order)
{
    for (int i = 0; i < ranks; i++)
        order[i] = i;
    for (int i = ranks - 1; i > 0; i--) {
        const int j = (int)random_below(&seed, (uint64_t)i + 1);
        const int rank = order[i];
        order[i] = order[j];
        order[j] = rank;
    }
}

/* Inserts a rank into an ascending list, unless the rank is there or is `self`; returns the new
   length. */
static int insert(int *list, int count, int rank, int self)
{
    int place = count;
    while (place > 0 && list[place - 1] > rank)
        place--;
    if (rank == self || (place > 0 && list[place - 1] == rank))
        return count;
    for (int i = count; i > place; i--)
        list[i] = list[i - 1];
    list[place] = rank;
    return count + 1;
}

static int place_in(const int *order, int rank)
{
    int place = 0;
    while (order[place] != rank)
        place++;
    return place;
}

static int ring_neighbours(int rank, int ranks, int n, const int *order, int *neighbours)
{
    const int here = order != NULL ? place_in(order, rank) : rank;
    int count = 0;
    for (int distance = 1; distance <= n / 2; distance++) {
        const int up = (here + distance) % ranks;
        const int down = (here - distance + ranks) % ranks;
        count = insert(neighbours, count, order != NULL ? order[up] : up, rank);
        count = insert(neighbours, count, order != NULL ? order[down] : down, rank);
    }
    return count;
}

static int grid_neighbours(int rank, const int *dims, int *neighbours)
{
    int sides[BC_GRID_SIDES];
    int count = 0;
    bc_grid_neighbours(dims, rank, sides);
    for (int i = 0; i < BC_GRID_SIDES; i++)
        count = insert(neighbours, count, sides[i], rank);
    return count;
}

int syncbench_neighbours(enum syncbench_set set, int rank, int ranks, int n, const int *dims,
                         const int *order, int *neighbours)
{
    switch (set) {
    case SYNCBENCH_PAIR:
        neighbours[0] = (rank + ranks / 2) % ranks;
        return 1;
    case SYNCBENCH_RANDOM:
        return ring_neighbours(rank, ranks, n, order, neighbours);
    case SYNCBENCH_RING:
        return ring_neighbours(rank, ranks, n, NULL, neighbours);
    case SYNCBENCH_GRID:
        return grid_neighbours(rank, dims, neighbours);
    default:
        return 0;
    }
}
