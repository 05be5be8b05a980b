#include "common/mpi/mpi_check.h"
#include "linkmap/linkmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names that a point's host has. */
struct names {
    char slurm[LINKMAP_HOST_LENGTH], processor[LINKMAP_HOST_LENGTH];
    int rank; /* the point's, in MPI_COMM_WORLD */
};

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The number of different names, which start every `step` bytes. */
static int count_different(const char *first, size_t step, int count)
{
    const char **const sorted = bc_allocate((size_t)count, sizeof *sorted, "no memory for names");
    int different = 0;
    for (int i = 0; i < count; i++)
        sorted[i] = first + (size_t)i * step;
    qsort(sorted, (size_t)count, sizeof *sorted, compare_texts);
    for (int i = 0; i < count; i++)
        different += i == 0 || strcmp(sorted[i], sorted[i - 1]) != 0;
    free(sorted);
    return different;
}

/* Sets the names and labels of the hosts. */
static void name_hosts(struct linkmap_host *hosts, const struct names *all, int count,
                       bool with_ranks)
{
    const int by_slurm = count_different(all->slurm, sizeof *all, count);
    const int by_processor = count_different(all->processor, sizeof *all, count);
    bool from_slurm = by_slurm >= by_processor;
    for (int i = 0; i < count; i++)
        from_slurm = from_slurm && all[i].slurm[0] != '\0';
    with_ranks = with_ranks || (from_slurm ? by_slurm : by_processor) < count;
    for (int i = 0; i < count; i++) {
        struct linkmap_host *const host = &hosts[i];
        host->rank = all[i].rank;
        memcpy(host->name, from_slurm ? all[i].slurm : all[i].processor, sizeof host->name);
        const int length = snprintf(host->label, sizeof host->label, "%s", host->name);
        if (with_ranks)
            snprintf(host->label + length, sizeof host->label - (size_t)length, ":%d", host->rank);
    }
}

struct linkmap_host *linkmap_hosts_gather(const struct linkmap_points *points, int rank,
                                          bool with_ranks)
{
    char processor[MPI_MAX_PROCESSOR_NAME + 1] = "";
    const char *const slurm = getenv("SLURMD_NODENAME");
    const size_t count = points->own == 0 ? (size_t)points->count : 0;
    struct linkmap_host *hosts = NULL;
    struct names own = {.rank = rank};
    int length;
    BC_MPI(MPI_Get_processor_name(processor, &length));
    snprintf(own.processor, sizeof own.processor, "%.*s", LINKMAP_HOST_LENGTH - 1, processor);
    snprintf(own.slurm, sizeof own.slurm, "%.*s", LINKMAP_HOST_LENGTH - 1,
             slurm != NULL ? slurm : "");
    struct names *const all = bc_allocate(count, sizeof *all, "no memory for %zu names", count);
    BC_MPI(MPI_Gather(&own, (int)sizeof own, MPI_BYTE, all, (int)sizeof own, MPI_BYTE, 0,
                      points->comm));
    if (points->own == 0) {
        hosts = bc_allocate(count, sizeof *hosts, "no memory for %zu names", count);
        name_hosts(hosts, all, points->count, with_ranks);
    }
    free(all);
    return hosts;
}
