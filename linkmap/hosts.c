#include "linkmap/hosts.h"

#include "common/mpi/mpi_check.h"

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

/* Names the hosts. Returns whether some have the same name. */
static bool name_hosts(struct linkmap_host *hosts, const struct names *all, int count)
{
    const int by_slurm = count_different(all->slurm, sizeof *all, count);
    const int by_processor = count_different(all->processor, sizeof *all, count);
    bool from_slurm = by_slurm >= by_processor;
    for (int i = 0; i < count; i++)
        from_slurm = from_slurm && all[i].slurm[0] != '\0';
    for (int i = 0; i < count; i++) {
        hosts[i].rank = all[i].rank;
        snprintf(hosts[i].name, sizeof hosts[i].name, "%s",
                 from_slurm ? all[i].slurm : all[i].processor);
    }
    return (from_slurm ? by_slurm : by_processor) < count;
}

struct linkmap_host *linkmap_hosts_gather(const struct linkmap_points *points, int rank,
                                          bool *names_repeat)
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
        *names_repeat = name_hosts(hosts, all, points->count);
    }
    free(all);
    return hosts;
}

void linkmap_host_name(const struct linkmap_host *host, bool with_rank, char name[BC_CELL_LENGTH])
{
    if (with_rank)
        snprintf(name, BC_CELL_LENGTH, "%s:%d", host->name, host->rank);
    else
        snprintf(name, BC_CELL_LENGTH, "%s", host->name);
}
