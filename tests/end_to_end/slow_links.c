/*
 * Links of known times between made-up nodes: preloaded, each MPI_Send of a rank first sleeps for
 * LINK_US, and a message of EXTRA_BYTES or more for EXTRA_US longer if SLOW_LINKS has that link:
 * "0>2,2>0"; with EXTRA_MESSAGES only the first so many messages of the rank. A rank's node has the
 * name "host" and the character of NODES at its place ("0123": each rank has a node of its own);
 * with ALONE set no two ranks share memory. What MPI_Sendrecv brings is wrong at its end over the
 * links that CORRUPT has, written as SLOW_LINKS; "all": over all. The signal SIGNAL (a number)
 * comes to rank 1 with its message number SIGNAL_AT, counted from 1.
 */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double number_of(const char *variable)
{
    const char *const text = getenv(variable);
    return text != NULL ? strtod(text, NULL) : 0.0;
}

static int world_rank(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* The rank in MPI_COMM_WORLD of a rank of a communicator. */
static int world_rank_of(MPI_Comm comm, int rank)
{
    MPI_Group group, world;
    int translated;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, 1, &rank, world, &translated);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return translated;
}

static void sleep_us(double us)
{
    const struct timespec left = {.tv_sec = (time_t)(us / 1e6),
                                  .tv_nsec = (long)(us * 1e3) % 1000000000L};
    (void)nanosleep(&left, NULL);
}

static int has_link(const char *variable, int from, int to)
{
    const char *const links = getenv(variable);
    char link[32];
    (void)snprintf(link, sizeof link, "%d>%d", from, to);
    return links != NULL && (strcmp(links, "all") == 0 || strstr(links, link) != NULL);
}

static int node(void)
{
    const char *const nodes = getenv("NODES");
    return nodes != NULL ? nodes[world_rank()] : '0';
}

static void signal_in_time(void)
{
    static int messages;
    if (world_rank() == 1 && ++messages == (int)number_of("SIGNAL_AT"))
        (void)raise((int)number_of("SIGNAL"));
}

static int is_early(void)
{
    static int messages;
    return getenv("EXTRA_MESSAGES") == NULL || ++messages <= (int)number_of("EXTRA_MESSAGES");
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    const int to = world_rank_of(comm, dest);
    signal_in_time();
    const int is_slow = (double)count >= number_of("EXTRA_BYTES") && is_early() &&
                        has_link("SLOW_LINKS", world_rank(), to);
    sleep_us(number_of("LINK_US") + (is_slow ? number_of("EXTRA_US") : 0.0));
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                 void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                 MPI_Comm comm, MPI_Status *status)
{
    const int code = PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                                   recvtype, source, recvtag, comm, status);
    if (recvtype == MPI_BYTE && recvcount > 0 &&
        has_link("CORRUPT", world_rank_of(comm, source), world_rank()))
        ((unsigned char *)recvbuf)[recvcount - 1] ^= 1;
    return code;
}

int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    if (getenv("NODES") == NULL || comm != MPI_COMM_WORLD || split_type != MPI_COMM_TYPE_SHARED)
        return PMPI_Comm_split_type(comm, split_type, key, info, newcomm);
    return PMPI_Comm_split(comm, getenv("ALONE") != NULL ? world_rank() : node(), key, newcomm);
}

int MPI_Get_processor_name(char *name, int *resultlen)
{
    if (getenv("NODES") == NULL)
        return PMPI_Get_processor_name(name, resultlen);
    *resultlen = snprintf(name, MPI_MAX_PROCESSOR_NAME, "host%c", node());
    return MPI_SUCCESS;
}
