/*
 * Who sends to whom, for the test of what ranks are paired: preloaded, each rank says at
 * the end on stderr to which ranks of MPI_COMM_WORLD it sent messages, put or got data, or
 * exposed a window ("targets of rank 2: 3 5"). NODES makes up the nodes of the job, a
 * character for each rank ("0101": ranks 0 and 2 share one). With SLOW_RANK set that rank
 * takes 5 ms more for each MPI_Isend.
 */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SLOW_US = 5000 };

static uint64_t targets; /* a bit each; tests have no more than 64 ranks */

/* Frees the group. */
static void add(MPI_Group group, int rank)
{
    MPI_Group world;
    int target;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, 1, &rank, world, &target);
    targets |= UINT64_C(1) << target;
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
}

static void add_of_comm(MPI_Comm comm, int rank)
{
    MPI_Group group;
    PMPI_Comm_group(comm, &group);
    add(group, rank);
}

static void add_of_window(MPI_Win window, int rank)
{
    MPI_Group group;
    PMPI_Win_get_group(window, &group);
    add(group, rank);
}

static int world_rank(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    const char *const nodes = getenv("NODES");
    if (nodes == NULL || comm != MPI_COMM_WORLD || split_type != MPI_COMM_TYPE_SHARED)
        return PMPI_Comm_split_type(comm, split_type, key, info, newcomm);
    return PMPI_Comm_split(comm, nodes[world_rank()], key, newcomm);
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    add_of_comm(comm, dest);
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    const char *const slow = getenv("SLOW_RANK");
    add_of_comm(comm, dest);
    if (slow != NULL && strtol(slow, NULL, 10) == world_rank())
        usleep(SLOW_US);
    return PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
}

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_type, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_type, MPI_Win win)
{
    add_of_window(win, target_rank);
    return PMPI_Put(origin_addr, origin_count, origin_type, target_rank, target_disp, target_count,
                    target_type, win);
}

int MPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_type, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_type, MPI_Win win)
{
    add_of_window(win, target_rank);
    return PMPI_Get(origin_addr, origin_count, origin_type, target_rank, target_disp, target_count,
                    target_type, win);
}

int MPI_Win_post(MPI_Group group, int assertions, MPI_Win win)
{
    int size;
    PMPI_Group_size(group, &size);
    for (int rank = 0; rank < size; rank++) {
        MPI_Group one;
        PMPI_Group_incl(group, 1, &rank, &one);
        add(one, 0);
    }
    return PMPI_Win_post(group, assertions, win);
}

int MPI_Finalize(void)
{
    char text[512];
    int length = snprintf(text, sizeof text, "targets of rank %d:", world_rank());
    for (int rank = 0; rank < 64; rank++)
        if (targets >> rank & 1)
            length += snprintf(text + length, sizeof text - (size_t)length, " %d", rank);
    fprintf(stderr, "%s\n", text);
    return PMPI_Finalize();
}
