#include "common/job.h"

#include "common/mpi_check.h"

#include <stdint.h>
#include <stdio.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

static void *allocate(size_t count, size_t size)
{
    void *const memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL)
        bc_abort("no memory to describe the job");
    return memory;
}

/* ---- texts --------------------------------------------------------------- */

/* A text that grows. */
struct text {
    char *start;
    size_t length, capacity;
};

static void append(struct text *text, const char *addition)
{
    const size_t length = strlen(addition);
    if (text->length + length + 1 > text->capacity) {
        text->capacity = 2 * (text->length + length + 1);
        text->start = realloc(text->start, text->capacity);
        if (text->start == NULL)
            bc_abort("no memory to describe the job");
    }
    memcpy(text->start + text->length, addition, length + 1);
    text->length += length;
}

size_t bc_format_ranks(const int *ranks, size_t count, char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < count;) {
        /* As many as follow each other in steps of one size; two alone are
           shorter as they are, unless they are neighbours. */
        const int step = i + 1 < count ? ranks[i + 1] - ranks[i] : 1;
        size_t end = i + 1;
        while (end < count && ranks[end] - ranks[end - 1] == step)
            end++;
        if (end - i == 2 && step > 1)
            end = i + 1;
        char range[64];
        int length = snprintf(range, sizeof range, "%s%d", i > 0 ? "," : "",
                              ranks[i]);
        if (end - i > 1)
            length += snprintf(range + length, sizeof range - (size_t)length,
                               "-%d", ranks[end - 1]);
        if (end - i > 1 && step > 1)
            snprintf(range + length, sizeof range - (size_t)length, "/%d",
                     step);
        if (used < size)
            snprintf(text + used, size - used, "%s", range);
        used += strlen(range);
        i = end;
    }
    return used;
}

static void append_ranks(struct text *text, const int *ranks, size_t count)
{
    const size_t length = bc_format_ranks(ranks, count, NULL, 0);
    char *const ranges = allocate(length + 1, 1);
    bc_format_ranks(ranks, count, ranges, length + 1);
    append(text, ranges);
    free(ranges);
}

/* ---- nodes and hosts ----------------------------------------------------- */

static void number_nodes(struct bc_job *job, MPI_Comm *leaders)
{
    BC_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, job->rank,
                               MPI_INFO_NULL, &job->node_comm));
    int node_rank, node_size;
    BC_MPI(MPI_Comm_rank(job->node_comm, &node_rank));
    BC_MPI(MPI_Comm_size(job->node_comm, &node_size));
    BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, node_rank == 0 ? 0 : MPI_UNDEFINED,
                          job->rank, leaders));
    int numbers[2] = {0, 0}; /* this node's number, how many there are */
    if (node_rank == 0) {
        BC_MPI(MPI_Comm_rank(*leaders, &numbers[0]));
        BC_MPI(MPI_Comm_size(*leaders, &numbers[1]));
    }
    BC_MPI(MPI_Bcast(numbers, 2, MPI_INT, 0, job->node_comm));
    job->node = numbers[0];
    job->nodes = numbers[1];
    BC_MPI(MPI_Allreduce(&node_size, &job->least_per_node, 1, MPI_INT, MPI_MIN,
                         MPI_COMM_WORLD));
    BC_MPI(MPI_Allreduce(&node_size, &job->most_per_node, 1, MPI_INT, MPI_MAX,
                         MPI_COMM_WORLD));
}

/* "host0: 0-3; host1: 4-7": one name a node, one word a rank. */
static char *describe_hosts(const struct bc_job *job, const char *names,
                            const int *node_of)
{
    struct text text = {0};
    int *const ranks = allocate((size_t)job->ranks, sizeof *ranks);
    for (int node = 0; node < job->nodes; node++) {
        size_t count = 0;
        for (int rank = 0; rank < job->ranks; rank++)
            if (node_of[rank] == node)
                ranks[count++] = rank;
        append(&text, node > 0 ? "; " : "");
        append(&text, names + (size_t)node * MPI_MAX_PROCESSOR_NAME);
        append(&text, ": ");
        append_ranks(&text, ranks, count);
    }
    free(ranks);
    return text.start;
}

static void gather_hosts(struct bc_job *job, MPI_Comm leaders)
{
    const bool root = job->rank == 0;
    int *const node_of =
        root ? allocate((size_t)job->ranks, sizeof *node_of) : NULL;
    BC_MPI(MPI_Gather(&job->node, 1, MPI_INT, node_of, 1, MPI_INT, 0,
                      MPI_COMM_WORLD));
    if (leaders != MPI_COMM_NULL) {
        char name[MPI_MAX_PROCESSOR_NAME] = "";
        int length;
        BC_MPI(MPI_Get_processor_name(name, &length));
        char *const names =
            root ? allocate((size_t)job->nodes, sizeof name) : NULL;
        BC_MPI(MPI_Gather(name, sizeof name, MPI_CHAR, names, sizeof name,
                          MPI_CHAR, 0, leaders));
        if (root)
            job->hosts = describe_hosts(job, names, node_of);
        free(names);
    }
    free(node_of);
}

/* ---- processors ---------------------------------------------------------- */

/* True if some rank's processors are fewer than the ranks that have no others:
   of Hall's condition, the cases that launchers produce. */
static bool must_share(const cpu_set_t *masks, int count)
{
    for (int i = 0; i < count; i++) {
        int within = 0;
        for (int j = 0; j < count; j++) {
            cpu_set_t common;
            CPU_AND(&common, &masks[i], &masks[j]);
            within += CPU_EQUAL(&common, &masks[j]);
        }
        if (within > CPU_COUNT(&masks[i]))
            return true;
    }
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int i = 0; i < count; i++)
        CPU_OR(&all, &all, &masks[i]);
    return CPU_COUNT(&all) < count;
}

static void append_processors(struct text *text, const cpu_set_t *mask)
{
    int processors[CPU_SETSIZE];
    size_t count = 0;
    for (size_t processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET(processor, mask))
            processors[count++] = (int)processor;
    append_ranks(text, processors, count);
}

/* "all ranks: 0-1", or each rank's processors; `world` holds their ranks. */
static char *describe_binding(const cpu_set_t *masks, const int *world,
                              int count)
{
    struct text text = {0};
    bool same = true;
    for (int i = 1; i < count; i++)
        same = same && CPU_EQUAL(&masks[i], &masks[0]);
    if (same) {
        append(&text, count > 1 ? "each rank: " : "rank 0: ");
        append_processors(&text, &masks[0]);
        return text.start;
    }
    for (int i = 0; i < count; i++) {
        char label[32];
        snprintf(label, sizeof label, "%s%d: ", i > 0 ? "; " : "", world[i]);
        append(&text, label);
        append_processors(&text, &masks[i]);
    }
    return text.start;
}

static void find_processors(struct bc_job *job)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    const int known = sched_getaffinity(0, sizeof mask, &mask) == 0;
    int node_rank, node_size;
    BC_MPI(MPI_Comm_rank(job->node_comm, &node_rank));
    BC_MPI(MPI_Comm_size(job->node_comm, &node_size));
    const bool leader = node_rank == 0;
    cpu_set_t *const masks =
        leader ? allocate((size_t)node_size, sizeof mask) : NULL;
    int *const world = leader ? allocate((size_t)node_size, sizeof *world) : NULL;
    BC_MPI(MPI_Gather(&mask, sizeof mask, MPI_BYTE, masks, sizeof mask,
                      MPI_BYTE, 0, job->node_comm));
    BC_MPI(MPI_Gather(&job->rank, 1, MPI_INT, world, 1, MPI_INT, 0,
                      job->node_comm));
    int processors = INT32_MAX, shared = 0;
    if (leader && known) {
        cpu_set_t all;
        CPU_ZERO(&all);
        for (int i = 0; i < node_size; i++)
            CPU_OR(&all, &all, &masks[i]);
        processors = CPU_COUNT(&all);
        shared = must_share(masks, node_size);
        if (job->rank == 0)
            job->binding = describe_binding(masks, world, node_size);
    }
    free(masks);
    free(world);
    BC_MPI(MPI_Allreduce(&processors, &job->least_processors, 1, MPI_INT,
                         MPI_MIN, MPI_COMM_WORLD));
    int any;
    BC_MPI(MPI_Allreduce(&shared, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    job->oversubscribed = any != 0;
}

void bc_job_describe(struct bc_job *job)
{
    MPI_Comm leaders;
    *job = (struct bc_job){0};
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &job->rank));
    BC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &job->ranks));
    number_nodes(job, &leaders);
    gather_hosts(job, leaders);
    find_processors(job);
    if (leaders != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_free(&leaders));
}

void bc_job_free(struct bc_job *job)
{
    if (job->node_comm != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_free(&job->node_comm));
    free(job->hosts);
    free(job->binding);
}

/* ---- memory -------------------------------------------------------------- */

static int64_t available_bytes(void)
{
    int64_t kib = -1;
    char line[128];
    FILE *const meminfo = fopen("/proc/meminfo", "r");
    if (meminfo != NULL) {
        while (kib < 0 && fgets(line, sizeof line, meminfo) != NULL)
            if (strncmp(line, "MemAvailable:", 13) == 0)
                kib = strtoll(line + 13, NULL, 10);
        fclose(meminfo);
    }
    return kib > 0 ? kib * 1024 : INT64_MAX;
}

/* A rank's share of what its node has, the least over ranks; INT64_MAX where no
   node says. Collective. */
static int64_t least_share(const struct bc_job *job, int64_t bytes)
{
    if (bytes != INT64_MAX)
        bytes /= job->most_per_node;
    int64_t least;
    BC_MPI(MPI_Allreduce(&bytes, &least, 1, MPI_INT64_T, MPI_MIN,
                         MPI_COMM_WORLD));
    return least;
}

int64_t bc_job_memory_per_rank(const struct bc_job *job)
{
    return least_share(job, available_bytes());
}

int64_t bc_job_shared_memory_per_rank(const struct bc_job *job)
{
    struct statvfs folder;
    int64_t bytes = INT64_MAX;
    if (statvfs("/dev/shm", &folder) == 0)
        bytes = (int64_t)folder.f_bavail * (int64_t)folder.f_frsize;
    return least_share(job, bytes);
}
