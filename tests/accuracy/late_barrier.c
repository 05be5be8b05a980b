/*
 * A library to be preloaded under which ranks of odd numbers leave MPI_Barrier and MPI_Allreduce
 * LATE_US after the others, and which has an operation of known time: MPI_Ibarrier and its MPI_Wait
 * end on all ranks OPERATION_US after the last of them has started. So from the first start to the
 * last end it takes just that if all start at once, and LATE_US more on the ranks that came out of
 * a barrier first.
 *
 * The ranks see each other's starts in the file LATE_SHARED, of zeros at first. The clock is
 * CLOCK_MONOTONIC_RAW, which is what it is whatever clock_shift.c makes of CLOCK_MONOTONIC.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { RANKS_MAX = 64 };

static _Atomic int64_t *starts_ns; /* of each rank's last operation */
static int rank, ranks;
static bool in_operation;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void spin_until(int64_t end_ns)
{
    while (now_ns() < end_ns) {
    }
}

static int64_t variable_ns(const char *name)
{
    const char *const value = getenv(name);
    return value != NULL ? (int64_t)(strtod(value, NULL) * 1e3) : 0;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    const int code = PMPI_Init_thread(argc, argv, required, provided);
    const char *const path = getenv("LATE_SHARED");
    const int file = path != NULL ? open(path, O_RDWR) : -1;
    const size_t bytes = RANKS_MAX * sizeof *starts_ns;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    starts_ns = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || starts_ns == MAP_FAILED || ranks > RANKS_MAX) {
        fputs("late_barrier: LATE_SHARED can't be mapped\n", stderr);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    close(file);
    return code;
}

static void come_late(void)
{
    if (rank % 2 == 1)
        spin_until(now_ns() + variable_ns("LATE_US"));
}

int MPI_Barrier(MPI_Comm comm)
{
    const int code = PMPI_Barrier(comm);
    come_late();
    return code;
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    const int code = PMPI_Allreduce(send, receive, count, type, op, comm);
    come_late();
    return code;
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    atomic_store(&starts_ns[rank], now_ns());
    in_operation = true;
    return PMPI_Ibarrier(comm, request);
}

/* The real one ends when all have started. */
int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    const int code = PMPI_Wait(request, status);
    if (!in_operation)
        return code;
    int64_t last_ns = 0;
    for (int i = 0; i < ranks; i++) {
        const int64_t start_ns = atomic_load(&starts_ns[i]);
        last_ns = start_ns > last_ns ? start_ns : last_ns;
    }
    spin_until(last_ns + variable_ns("OPERATION_US"));
    in_operation = false;
    return code;
}
