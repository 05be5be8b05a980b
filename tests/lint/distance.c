/* SPDX-License-Identifier: BSD-3-Clause */
/* Records the call stacks of some MPI functions: to be preloaded. At MPI_Finalize rank 0 prints
   each stack once to the file of DISTANCE_REPORT: the function's name, then the return addresses
   from its caller outwards. */
#include <execinfo.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 48, STACKS_MAX = 4096 };

static struct stack {
    const char *function;
    int count;
    void *frames[FRAMES_MAX];
} stacks[STACKS_MAX];
static int stacks_count;

static void record(const char *function)
{
    struct stack stack = {.function = function};
    void *frames[FRAMES_MAX];
    const int skipped = 2; /* this function and the wrapper */
    stack.count = backtrace(frames, FRAMES_MAX) - skipped;
    memcpy(stack.frames, frames + skipped, (size_t)stack.count * sizeof *frames);
    for (int i = 0; i < stacks_count; i++)
        if (memcmp(&stacks[i], &stack, sizeof stack) == 0)
            return;
    if (stacks_count < STACKS_MAX)
        stacks[stacks_count++] = stack;
}

#define RECORDED(name, parameters, arguments)                                                      \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        record("MPI_" #name);                                                                      \
        return PMPI_##name arguments;                                                              \
    }

RECORDED(Allreduce, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
         (s, r, n, t, o, c))
RECORDED(Barrier, (MPI_Comm c), (c))
RECORDED(Iallreduce,
         (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request *q),
         (s, r, n, t, o, c, q))
RECORDED(Isend, (const void *b, int n, MPI_Datatype t, int p, int g, MPI_Comm c, MPI_Request *q),
         (b, n, t, p, g, c, q))
RECORDED(Send, (const void *b, int n, MPI_Datatype t, int p, int g, MPI_Comm c), (b, n, t, p, g, c))
RECORDED(Startall, (int n, MPI_Request *q), (n, q))

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *const report = rank == 0 ? fopen(getenv("DISTANCE_REPORT"), "w") : NULL;
    for (int i = 0; report != NULL && i < stacks_count; i++) {
        fprintf(report, "%s", stacks[i].function);
        for (int f = 0; f < stacks[i].count; f++)
            fprintf(report, " %p", stacks[i].frames[f]);
        fprintf(report, "\n");
    }
    if (report != NULL)
        fclose(report);
    return PMPI_Finalize();
}
