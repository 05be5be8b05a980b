/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Correct calls that some algorithms of MPI libraries get wrong: operators that don't commute,
 * derived types with gaps, types that differ between ranks, MPI_IN_PLACE with arguments that MPI
 * ignores, any root, no elements, fewer elements than ranks, numbers of ranks that are no powers of
 * two. Each result, gaps included, is compared with one that this program computes without MPI.
 *
 *   mpirun -np 9 every_call [OPERATION]
 *
 * Communicators of 2 ranks up to all ranks are tried. Exit status 0: all results are right. 1:
 * there is a line for each wrong result, at most 20 a rank.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PRIME = 9973, UNTOUCHED = -77, MOST_WORDS = 4 };

/* Element: its words (ints), and their places in its extent. */
struct element {
    const char *name;
    int words;
    ptrdiff_t extent;
    int places[MOST_WORDS];
    bool is_product; /* of 2 x 2 matrices, which doesn't commute; else a sum */
    MPI_Datatype type;
    MPI_Op op;
};

enum { SUM, PRODUCT, SPARSE_SUM, SPARSE_PRODUCT, ELEMENTS };
static struct element elements[ELEMENTS] = {
    {.name = "int, MPI_SUM", .words = 1, .extent = 1},
    {.name = "matrix, product",
     .words = 4,
     .extent = 4,
     .places = {0, 1, 2, 3},
     .is_product = true},
    {.name = "type with gaps, sum", .words = 4, .extent = 6, .places = {0, 1, 3, 4}},
    {.name = "type with gaps, product",
     .words = 4,
     .extent = 6,
     .places = {0, 1, 3, 4},
     .is_product = true},
};

/* MPICH 4.0 gets two calls wrong without any rule, which are left out: a reduce in place at another
   root than rank 0 from 2 KiB on (docs/clusters.md), and a reduce_scatter with a non-commutative
   operator of a type with gaps, whose true extent it uses for the extent
   (reduce_scatter_intra_noncommutative.c there). */
static bool is_mpich_4_0;
enum { MPICH_REDUCES_BYTES = 2048 };

/* The communicator under test. */
static MPI_Comm comm;
static int rank, size;
static int wrong;

/* Computes high = low o high. */
static void combine(const struct element *element, const int *low, int *high)
{
    const int *const at = element->places;
    int made[MOST_WORDS];
    for (int word = 0; word < element->words; word++)
        made[word] = element->is_product ? (low[at[word & 2]] * high[at[word & 1]] +
                                            low[at[(word & 2) + 1]] * high[at[(word & 1) + 2]]) %
                                               PRIME
                                         : low[at[word]] + high[at[word]];
    for (int word = 0; word < element->words; word++)
        high[at[word]] = made[word];
}

static void combine_all(const struct element *element, const int *low, int *high, int count)
{
    for (int i = 0; i < count; i++)
        combine(element, low + i * element->extent, high + i * element->extent);
}

static void product(void *low, void *high, int *count, MPI_Datatype *type)
{
    (void)type;
    combine_all(&elements[PRODUCT], low, high, *count);
}

static void sparse_sum(void *low, void *high, int *count, MPI_Datatype *type)
{
    (void)type;
    combine_all(&elements[SPARSE_SUM], low, high, *count);
}

static void sparse_product(void *low, void *high, int *count, MPI_Datatype *type)
{
    (void)type;
    combine_all(&elements[SPARSE_PRODUCT], low, high, *count);
}

static void make_elements(void)
{
    MPI_User_function *const functions[] = {NULL, product, sparse_sum, sparse_product};
    elements[SUM].type = MPI_INT;
    elements[SUM].op = MPI_SUM;
    for (int i = PRODUCT; i < ELEMENTS; i++) {
        struct element *const element = &elements[i];
        MPI_Datatype words;
        MPI_Type_create_indexed_block(element->words, 1, element->places, MPI_INT, &words);
        MPI_Type_create_resized(words, 0, (MPI_Aint)((size_t)element->extent * sizeof(int)),
                                &element->type);
        MPI_Type_commit(&element->type);
        MPI_Type_free(&words);
        MPI_Op_create(functions[i], !element->is_product, &element->op);
    }
}

/* Allocates untouched elements, and one more that must stay untouched. */
static int *make_room(const struct element *element, int count)
{
    const ptrdiff_t ints = (count + 1) * element->extent;
    int *const room = malloc((size_t)ints * sizeof *room);
    if (room == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (ptrdiff_t i = 0; i < ints; i++)
        room[i] = UNTOUCHED;
    return room;
}

/* Writes the contribution of a rank. */
static void fill(const struct element *element, int *room, int count, int of_rank)
{
    for (int i = 0; i < count; i++)
        for (int word = 0; word < element->words; word++)
            room[i * element->extent + element->places[word]] =
                (of_rank * 31 + i * 7 + word * 3 + 3) % PRIME;
}

static int *contribution(const struct element *element, int count, int of_rank)
{
    int *const room = make_room(element, count);
    fill(element, room, count, of_rank);
    return room;
}

/* Returns the reduction of all contributions. */
static int *reduced(const struct element *element, int count)
{
    int *const all = contribution(element, count, size - 1);
    for (int of_rank = size - 2; of_rank >= 0; of_rank--) {
        int *const one = contribution(element, count, of_rank);
        combine_all(element, one, all, count);
        free(one);
    }
    return all;
}

/* Compares `count` elements and the one behind them. */
static void judge(const char *operation, const struct element *element, const char *how, int count,
                  int root, const int *found, const int *expected)
{
    const bool is_wrong =
        memcmp(found, expected, (size_t)((count + 1) * element->extent) * sizeof *found) != 0;
    wrong += is_wrong;
    if (is_wrong && wrong <= 20)
        printf("WRONG: %s of %d ranks, %d elements (%s)%s, root %d, on rank %d\n", operation, size,
               count, element->name, how, root, rank);
}

/* Makes a receive buffer: the contribution if the call is in place, else untouched. */
static int *receive_room(const struct element *element, int count, bool in_place)
{
    return in_place ? contribution(element, count, rank) : make_room(element, count);
}

static const char *place_name(bool in_place) { return in_place ? ", in place" : ""; }

static void allreduce(int count)
{
    for (const struct element *element = elements; element < elements + ELEMENTS; element++) {
        int *const expected = reduced(element, count), *const own =
                                                           contribution(element, count, rank);
        for (int in_place = 0; in_place < 2; in_place++) {
            int *const found = receive_room(element, count, in_place);
            MPI_Allreduce(in_place ? MPI_IN_PLACE : own, found, count, element->type, element->op,
                          comm);
            judge("allreduce", element, place_name(in_place), count, 0, found, expected);
            free(found);
        }
        free(expected);
        free(own);
    }
}

static void reduce(int count)
{
    for (const struct element *element = elements; element < elements + ELEMENTS; element++) {
        int *const expected = reduced(element, count), *const own =
                                                           contribution(element, count, rank);
        for (int root = 0; root<size; root += root> 0 && root < size - 1 ? size - 1 - root : 1)
            for (int in_place = 0; in_place < 2; in_place++) {
                if (is_mpich_4_0 && in_place && root > 0 &&
                    (size_t)(count * element->words) * sizeof(int) >= MPICH_REDUCES_BYTES)
                    continue;
                int *const found = receive_room(element, count, in_place);
                MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : own,
                           rank == root ? found : NULL, count, element->type, element->op, root,
                           comm);
                if (rank == root)
                    judge("reduce", element, place_name(in_place), count, root, found, expected);
                free(found);
            }
        free(expected);
        free(own);
    }
}

/* Tries equal blocks, and blocks of which some are empty. */
static void reduce_scatter(int count)
{
    for (const struct element *element = elements;
         element < elements + (is_mpich_4_0 ? SPARSE_PRODUCT : ELEMENTS); element++)
        for (int is_regular = 0; is_regular < 2; is_regular++) {
            int *const counts = malloc((size_t)size * sizeof *counts);
            int total = 0, before = 0;
            for (int i = 0; i < size; total += counts[i++])
                counts[i] = is_regular ? count : i % 3 == 1 ? 0 : count + i % 2;
            for (int i = 0; i < rank; i++)
                before += counts[i];
            int *const all = reduced(element, total), *const expected = make_room(element, total);
            memcpy(expected, all + before * element->extent,
                   (size_t)(counts[rank] * element->extent) * sizeof *expected);
            for (int in_place = 0; in_place < 2; in_place++) {
                int *const own = contribution(element, total, rank), *const found =
                                                                         make_room(element, total);
                if (in_place)
                    MPI_Reduce_scatter(MPI_IN_PLACE, own, counts, element->type, element->op, comm);
                else
                    MPI_Reduce_scatter(own, found, counts, element->type, element->op, comm);
                /* If the call is in place, the buffer is undefined behind the rank's block. */
                if (in_place)
                    memcpy(found, own, (size_t)(counts[rank] * element->extent) * sizeof *own);
                judge("reduce_scatter", element,
                      in_place     ? ", in place"
                      : is_regular ? ""
                                   : ", irregular",
                      total, 0, found, expected);
                if (is_regular) {
                    int *const block =
                        in_place ? contribution(element, total, rank) : make_room(element, total);
                    fill(element, own, total, rank);
                    MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : own, block, count,
                                             element->type, element->op, comm);
                    if (in_place)
                        for (ptrdiff_t i = count * element->extent;
                             i < (total + 1) * element->extent; i++)
                            block[i] = UNTOUCHED;
                    judge("reduce_scatter_block", element, place_name(in_place), total, 0, block,
                          expected);
                    free(block);
                }
                free(own);
                free(found);
            }
            free(all);
            free(expected);
            free(counts);
        }
}

/* Returns the type of an element; on odd ranks, if it has no gaps, that of its words, whose number
 * goes to *count. */
static MPI_Datatype type_of(const struct element *element, int *count)
{
    if (element->words < element->extent || rank % 2 == 0)
        return element->type;
    *count *= element->words;
    return MPI_INT;
}

static void bcast(int count)
{
    for (const struct element *element = elements; element <= elements + SPARSE_SUM; element++)
        for (int root = 0; root < size; root++) {
            int *const expected = contribution(element, count, root),
                       *const found = rank == root ? contribution(element, count, root)
                                                   : make_room(element, count);
            int elements_here = count;
            const MPI_Datatype type = type_of(element, &elements_here);
            MPI_Bcast(found, elements_here, type, root, comm);
            judge("bcast", element, "", count, root, found, expected);
            free(expected);
            free(found);
        }
}

/* MPI ignores the send arguments of a call in place, so they may be anything. */
static void allgather(int count)
{
    for (const struct element *element = elements; element <= elements + SPARSE_SUM; element++) {
        int *const expected = make_room(element, size * count);
        for (int i = 0; i < size; i++)
            fill(element, expected + i * (count * element->extent), count, i);
        for (int in_place = 0; in_place < 2; in_place++) {
            int *const own = contribution(element, count, rank), *const found = make_room(
                                                                     element, size * count);
            int received = count;
            const MPI_Datatype type = type_of(element, &received);
            if (in_place) {
                fill(element, found + rank * (count * element->extent), count, rank);
                MPI_Allgather(MPI_IN_PLACE, rank % 2 * count, MPI_CHAR, found, received, type,
                              comm);
            } else {
                MPI_Allgather(own, count, element->type, found, received, type, comm);
            }
            judge("allgather", element, place_name(in_place), size * count, 0, found, expected);
            free(own);
            free(found);
        }
        free(expected);
    }
}

static void alltoall(int count)
{
    for (const struct element *element = elements; element <= elements + SPARSE_SUM; element++) {
        int *const expected = make_room(element, size * count), *const own = make_room(
                                                                    element, size * count);
        for (int i = 0; i < size; i++) {
            fill(element, expected + i * (count * element->extent), count, i * size + rank);
            fill(element, own + i * (count * element->extent), count, rank * size + i);
        }
        for (int in_place = 0; in_place < 2; in_place++) {
            int *const found = make_room(element, size * count);
            int received = count;
            const MPI_Datatype type = type_of(element, &received);
            if (in_place) {
                memcpy(found, own,
                       (size_t)size * (size_t)(count * element->extent) * sizeof *found);
                MPI_Alltoall(MPI_IN_PLACE, rank % 2 * count, MPI_CHAR, found, received, type, comm);
            } else {
                MPI_Alltoall(own, count, element->type, found, received, type, comm);
            }
            judge("alltoall", element, place_name(in_place), size * count, 0, found, expected);
            free(found);
        }
        free(expected);
        free(own);
    }
}

/* Fails if a rank leaves before the last one has entered. All ranks are on one host, so they share
 * the clock. */
static void barrier(int count)
{
    for (int late = 0; late < size && count == 1; late++) {
        if (rank == late)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        double entered = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec, last = entered;
        MPI_Barrier(comm);
        clock_gettime(CLOCK_MONOTONIC, &now);
        const double left = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
        /* Messages, since another collective may be wrong as well. */
        for (int i = 0; i < size; i++) {
            double other = entered;
            MPI_Sendrecv(&entered, 1, MPI_DOUBLE, (rank + i) % size, 0, &other, 1, MPI_DOUBLE,
                         (rank - i + size) % size, 0, comm, MPI_STATUS_IGNORE);
            last = other > last ? other : last;
        }
        if (left < last) {
            wrong++;
            printf("WRONG: barrier of %d ranks: rank %d left before rank %d entered\n", size, rank,
                   late);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*test)(int count);
    } operations[] = {{"allgather", allgather},
                      {"allreduce", allreduce},
                      {"alltoall", alltoall},
                      {"barrier", barrier},
                      {"bcast", bcast},
                      {"reduce", reduce},
                      {"reduce_scatter", reduce_scatter}};
    static const int counts[] = {0, 1, 2, 3, 8, 50, 2049};
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int world_rank, world_size, all_wrong, length;
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(library, &length);
    is_mpich_4_0 = strncmp(library, "MPICH Version:", 14) == 0 &&
                   strncmp(library + 14 + strspn(library + 14, " \t"), "4.0", 3) == 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    make_elements();
    for (int ranks = 2; ranks <= world_size; ranks++) {
        MPI_Comm_split(MPI_COMM_WORLD, world_rank < ranks ? 0 : MPI_UNDEFINED, 0, &comm);
        if (comm == MPI_COMM_NULL)
            continue;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
            for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
                if (argc < 2 || strcmp(argv[1], operations[i].name) == 0)
                    operations[i].test(counts[k]);
        MPI_Comm_free(&comm);
    }
    fflush(stdout);
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (world_rank == 0 && all_wrong == 0)
        puts("all right");
    MPI_Finalize();
    return wrong > 0;
}
