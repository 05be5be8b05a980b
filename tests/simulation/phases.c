/*
 * Linked into the programs of the simulated build, whose calls of these functions the linker sends
 * here (--wrap): says which part of a program messages belong to, and counts what it allocates.
 * smpirun loads the program once for each rank, with variables of its own.
 */
#include "common/clock/shared/global_clock.h"
#include "common/run/benchmark.h"
#include "syncbench/kinds.h"
#include "tests/simulation/messages.h"

#include <mpi.h>

/* Where nothing counts they are missing. */
#pragma weak simulation_enter
#pragma weak simulation_memory
#pragma weak simulation_time

/* ---- messages -------------------------------------------------------------------------------- */

static int rank = -1;
static enum simulation_phase phase;
static int64_t now_bytes, max_bytes; /* of memory that the program has allocated */

/* Enters a phase, unless the one that this is a part of counts. */
static enum simulation_phase enter(enum simulation_phase next)
{
    if (rank < 0)
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const enum simulation_phase before = phase;
    if (before == SIMULATION_OPERATION || next == SIMULATION_JOB || next == SIMULATION_LIBRARY)
        phase = next;
    if (simulation_enter != NULL)
        simulation_enter(rank, phase);
    return before;
}

static void leave(enum simulation_phase before)
{
    phase = before;
    if (simulation_enter != NULL)
        simulation_enter(rank, phase);
}

/* Defines the wrapper of a function without a value. */
#define WRAP(function, of_phase, parameters, arguments)                                            \
    void __real_##function parameters;                                                             \
    void __wrap_##function parameters;                                                             \
    void __wrap_##function parameters                                                              \
    {                                                                                              \
        const enum simulation_phase before = enter(of_phase);                                      \
        __real_##function arguments;                                                               \
        leave(before);                                                                             \
    }

WRAP(bc_harness_barrier, SIMULATION_HARNESS, (MPI_Comm comm), (comm))
WRAP(bc_harness_release, SIMULATION_HARNESS, (MPI_Comm comm), (comm))
WRAP(bc_harness_bcast, SIMULATION_HARNESS,
     (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
     (buffer, count, type, root, comm))
WRAP(bc_harness_reduce, SIMULATION_HARNESS,
     (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
      MPI_Comm comm),
     (send, receive, count, type, op, root, comm))
WRAP(bc_harness_allreduce, SIMULATION_HARNESS,
     (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (send, receive, count, type, op, comm))
WRAP(bc_harness_release_allreduce, SIMULATION_HARNESS,
     (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (send, receive, count, type, op, comm))
WRAP(bc_global_clock_update, SIMULATION_HARNESS, (struct bc_global_clock * clock), (clock))
WRAP(bc_job_describe, SIMULATION_JOB, (struct bc_job * job), (job))

/* The same of a function with a value. */
#define WRAP_VALUE(type, function, of_phase, parameters, arguments)                                \
    type __real_##function parameters;                                                             \
    type __wrap_##function parameters;                                                             \
    type __wrap_##function parameters                                                              \
    {                                                                                              \
        const enum simulation_phase before = enter(of_phase);                                      \
        const type value = __real_##function arguments;                                            \
        leave(before);                                                                             \
        return value;                                                                              \
    }

/* The barrier that releases the ranks in benchmarks that call it themselves. What measures a
   barrier has it here, too. */
WRAP_VALUE(int, MPI_Barrier, SIMULATION_HARNESS, (MPI_Comm comm), (comm))
/* Of syncbench: other programs have none, where this reference stays undefined. */
#pragma weak __real_syncbench_check
WRAP_VALUE(int64_t, syncbench_check, SIMULATION_CHECK,
           (const struct syncbench_kind *kind, struct syncbench_team *team), (kind, team))
/* The library makes communicators in its own way: SMPI by messages of rank 0 to all. */
WRAP_VALUE(int, MPI_Comm_dup, SIMULATION_LIBRARY, (MPI_Comm comm, MPI_Comm *made), (comm, made))
WRAP_VALUE(int, MPI_Comm_split, SIMULATION_LIBRARY,
           (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
WRAP_VALUE(int, MPI_Comm_split_type, SIMULATION_LIBRARY,
           (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
           (comm, type, key, info, made))

/* ---- the life of a program ------------------------------------------------------------------- */

static const struct bc_benchmark *benchmark;
static const struct bc_run *run;

static int64_t in_ns(double seconds) { return (int64_t)(seconds * 1e9); }

static void open_counted(void *state, struct bc_run *begun)
{
    leave(SIMULATION_OPERATION);
    run = begun;
    benchmark->open(state, begun);
}

static void close_counted(void *state)
{
    benchmark->close(state);
    enter(SIMULATION_END);
    if (simulation_memory != NULL)
        simulation_memory(rank, now_bytes, max_bytes);
    if (simulation_time != NULL)
        simulation_time(rank, in_ns(bc_elapsed_s() - run->start_s), in_ns(benchmark->budget_s));
}

/* What comes before open is start-up. MPI is initialized in it, so what counts begins with
   bc_job_describe, which comes first. */
int __real_bc_benchmark_main(const struct bc_benchmark *started, int argc, char **argv);
int __wrap_bc_benchmark_main(const struct bc_benchmark *started, int argc, char **argv);
int __wrap_bc_benchmark_main(const struct bc_benchmark *started, int argc, char **argv)
{
    struct bc_benchmark counted = *started;
    benchmark = started;
    counted.open = open_counted;
    counted.close = close_counted;
    phase = SIMULATION_BEGIN;
    return __real_bc_benchmark_main(&counted, argc, argv);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Of malloc.h, which what smpicc does to malloc leaves no C. */
size_t malloc_usable_size(void *memory);

static void *taken(void *memory)
{
    now_bytes += (int64_t)malloc_usable_size(memory);
    if (now_bytes > max_bytes)
        max_bytes = now_bytes;
    return memory;
}

/* What smpicc makes of malloc and its like. */

void *__real_smpi_shared_malloc_intercept(size_t size, const char *file, int line);
void *__wrap_smpi_shared_malloc_intercept(size_t size, const char *file, int line);
void *__wrap_smpi_shared_malloc_intercept(size_t size, const char *file, int line)
{
    return taken(__real_smpi_shared_malloc_intercept(size, file, line));
}

void *__real_smpi_shared_calloc_intercept(size_t count, size_t size, const char *file, int line);
void *__wrap_smpi_shared_calloc_intercept(size_t count, size_t size, const char *file, int line);
void *__wrap_smpi_shared_calloc_intercept(size_t count, size_t size, const char *file, int line)
{
    return taken(__real_smpi_shared_calloc_intercept(count, size, file, line));
}

void *__real_smpi_shared_realloc_intercept(void *memory, size_t size, const char *file, int line);
void *__wrap_smpi_shared_realloc_intercept(void *memory, size_t size, const char *file, int line);
void *__wrap_smpi_shared_realloc_intercept(void *memory, size_t size, const char *file, int line)
{
    now_bytes -= (int64_t)malloc_usable_size(memory);
    return taken(__real_smpi_shared_realloc_intercept(memory, size, file, line));
}

void __real_smpi_shared_free(void *memory);
void __wrap_smpi_shared_free(void *memory);
void __wrap_smpi_shared_free(void *memory)
{
    now_bytes -= (int64_t)malloc_usable_size(memory);
    __real_smpi_shared_free(memory);
}

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return taken(__real_aligned_alloc(alignment, size));
}
