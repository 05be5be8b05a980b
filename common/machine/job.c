#include "common/machine/job.h"

#include "common/machine/control_groups.h"
#include "common/machine/cores.h"
#include "common/machine/hosts.h"
#include "common/machine/memory.h"
#include "common/mpi/mpi_check.h"
#include "common/machine/quota.h"
#include "common/result/text.h"

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

/* ---- nodes and hosts ------------------------------------------------------------------------- */

static void number_nodes(struct bc_job *job, MPI_Comm *leaders)
{
    BC_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, job->rank, MPI_INFO_NULL,
                               &job->node_comm));
    int node_rank, node_size;
    BC_MPI(MPI_Comm_rank(job->node_comm, &node_rank));
    BC_MPI(MPI_Comm_size(job->node_comm, &node_size));
    BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, node_rank == 0 ? 0 : MPI_UNDEFINED, job->rank, leaders));
    int numbers[2] = {0, 0}; /* this node's number, how many there are */
    if (node_rank == 0) {
        BC_MPI(MPI_Comm_rank(*leaders, &numbers[0]));
        BC_MPI(MPI_Comm_size(*leaders, &numbers[1]));
    }
    BC_MPI(MPI_Bcast(numbers, 2, MPI_INT, 0, job->node_comm));
    job->node = numbers[0];
    job->nodes = numbers[1];
    BC_MPI(MPI_Allreduce(&node_size, &job->least_per_node, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    BC_MPI(MPI_Allreduce(&node_size, &job->most_per_node, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
}

/* The names of the nodes and their ranks, on rank 0. */
static void gather_hosts(struct bc_job *job, MPI_Comm leaders)
{
    int node_size;
    BC_MPI(MPI_Comm_size(job->node_comm, &node_size));
    const bool leader = leaders != MPI_COMM_NULL;
    int *const ranks = leader ? allocate((size_t)node_size, sizeof *ranks) : NULL;
    BC_MPI(MPI_Gather(&job->rank, 1, MPI_INT, ranks, 1, MPI_INT, 0, job->node_comm));
    if (leader) {
        char name[MPI_MAX_PROCESSOR_NAME] = "";
        int length;
        struct bc_hosts hosts = {0};
        BC_MPI(MPI_Get_processor_name(name, &length));
        bc_hosts_add(&hosts, name, ranks, (size_t)node_size);
        bc_hosts_gather(&hosts, leaders);
        if (job->rank == 0)
            job->hosts = bc_hosts_format(&hosts);
        bc_hosts_free(&hosts);
    }
    free(ranks);
}

/* ---- processors ------------------------------------------------------------------------------ */

/* Looks for ranks that have fewer processors, or cores, than they are: of Hall's condition,
   the cases that launchers produce, which are all ranks and those that have none but a
   rank's. Sets has_to[i] for each rank of the first such group, and what they have in
   all; false if there is none. */
static bool find_sharing(const cpu_set_t *sets, int count, bool *has_to, cpu_set_t *between_them)
{
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int i = 0; i < count; i++)
        CPU_OR(&all, &all, &sets[i]);
    for (int i = 0; i <= count; i++) {
        int within = 0;
        *between_them = i < count ? sets[i] : all;
        for (int j = 0; j < count; j++) {
            cpu_set_t common;
            CPU_AND(&common, between_them, &sets[j]);
            has_to[j] = CPU_EQUAL(&common, &sets[j]);
            within += has_to[j];
        }
        if (within > CPU_COUNT(between_them))
            return true;
    }
    return false;
}

static void append_ranks(struct bc_text *text, const int *ranks, size_t count)
{
    const size_t length = bc_format_ranks(ranks, count, NULL, 0);
    char *const ranges = allocate(length + 1, 1);
    bc_format_ranks(ranks, count, ranges, length + 1);
    bc_text_append(text, "%s", ranges);
    free(ranges);
}

static void append_processors(struct bc_text *text, const cpu_set_t *mask)
{
    int processors[CPU_SETSIZE];
    size_t count = 0;
    for (size_t processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET(processor, mask))
            processors[count++] = (int)processor;
    append_ranks(text, processors, count);
}

/* "each rank: 0-1", or each rank's processors; `world` holds their ranks. */
static char *describe_binding(const cpu_set_t *masks, const int *world, int count)
{
    struct bc_text text = {0};
    bool same = true;
    for (int i = 1; i < count; i++)
        same = same && CPU_EQUAL(&masks[i], &masks[0]);
    if (same) {
        bc_text_append(&text, count > 1 ? "each rank: " : "rank 0: ");
        append_processors(&text, &masks[0]);
        return text.start;
    }
    for (int i = 0; i < count; i++) {
        bc_text_append(&text, "%s%d: ", i > 0 ? "; " : "", world[i]);
        append_processors(&text, &masks[i]);
    }
    return text.start;
}

/* Brings the text of the lowest rank that has one to rank 0; frees all others. NULL if no
   rank has one. `count` becomes the number of ranks that have one. By collectives alone: the
   monitor's program may have receives under way. Collective. */
static char *bring_first_text(const struct bc_job *job, char *text, int *count)
{
    const int has = text != NULL;
    const int own = has ? job->rank : INT32_MAX;
    int first, length;
    BC_MPI(MPI_Allreduce(&has, count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    BC_MPI(MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (first == INT32_MAX)
        return NULL;
    length = has ? (int)strlen(text) + 1 : 0;
    BC_MPI(MPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD));
    if (job->rank != first) {
        free(text);
        text = allocate((size_t)length, 1);
    }
    BC_MPI(MPI_Bcast(text, length, MPI_CHAR, first, MPI_COMM_WORLD));
    if (job->rank == 0)
        return text;
    free(text);
    return NULL;
}

/* Brings the text of the first node that has one to rank 0, and says there of how many nodes
   it is true. `text` is significant on the nodes' leaders. Collective. */
static char *text_of_nodes(const struct bc_job *job, char *text)
{
    int nodes;
    struct bc_text whole = {0};
    char *const first = bring_first_text(job, text, &nodes);
    if (first == NULL || nodes == 1)
        return first;
    bc_text_append(&whole, "%s (so or alike on %d nodes)", first, nodes);
    free(first);
    return whole.start;
}

static void find_quotas(struct bc_job *job, const struct bc_system *system)
{
    int node_rank, node_size;
    BC_MPI(MPI_Comm_rank(job->node_comm, &node_rank));
    BC_MPI(MPI_Comm_size(job->node_comm, &node_size));
    struct bc_quotas own;
    bc_quotas_read(&own, system->groups_of_process, system->groups_mount);
    struct bc_quotas *const all = node_rank == 0 ? allocate((size_t)node_size, sizeof *all) : NULL;
    BC_MPI(MPI_Gather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, 0, job->node_comm));
    int processors = INT32_MAX;
    struct bc_text text = {0};
    if (node_rank == 0) {
        const struct bc_quota_finding finding = bc_quotas_judge(all, node_size);
        if (finding.processors < INT32_MAX)
            processors = finding.processors < 1.0 ? 1 : (int)finding.processors;
        if (finding.ranks > 0)
            bc_text_append(
                &text,
                "the control group's quota of %.4g processor%s (%s) is "
                "for %d rank%s",
                finding.exceeded.processors, finding.exceeded.processors == 1.0 ? "" : "s",
                bc_quota_file(&finding.exceeded), finding.ranks, finding.ranks == 1 ? "" : "s");
    }
    free(all);
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &processors, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    job->least_allowed_processors =
        processors < job->least_processors ? processors : job->least_processors;
    int exceeded = text.start != NULL;
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &exceeded, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    job->oversubscribed = job->shares_processors || exceeded != 0;
    job->exceeded_quota = text_of_nodes(job, text.start);
}

/* What the ranks of a node have in common; on its leader, which has these of all. */
struct placement {
    int count;        /* of ranks */
    const int *world; /* their ranks in MPI_COMM_WORLD */
    const cpu_set_t *masks;
    const int *last; /* the processor that each ran on just now; -1: not known */
};

/* Two ranks of a node that aren't bound apart and just ran on one core. */
static bool find_neighbours(const struct placement *placement, const struct bc_cores *cores, int *a,
                            int *b)
{
    int rank_on[CPU_SETSIZE]; /* of a core; -1: none so far */
    for (int core = 0; core < CPU_SETSIZE; core++)
        rank_on[core] = -1;
    for (int i = 0; i < placement->count; i++) {
        const int processor = placement->last[i];
        const int core = processor >= 0 && processor < CPU_SETSIZE ? cores->of[processor] : -1;
        if (core < 0)
            continue;
        if (rank_on[core] >= 0 && placement->last[rank_on[core]] != processor) {
            *a = rank_on[core];
            *b = i;
            return true;
        }
        rank_on[core] = i;
    }
    return false;
}

/* Which ranks share cores, in words; NULL where none do, or where they share processors,
   which says more. */
static char *describe_sharing_of_cores(const struct placement *placement,
                                       const struct bc_cores *cores)
{
    const size_t count = (size_t)placement->count;
    struct bc_text text = {0};
    bool *const has_to = allocate(count, sizeof *has_to);
    cpu_set_t *const sets = allocate(count, sizeof *sets);
    int *const ranks = allocate(count, sizeof *ranks);
    cpu_set_t between_them;
    int a, b;
    for (size_t i = 0; i < count; i++)
        bc_cores_of(cores, &placement->masks[i], &sets[i]);
    if (cores->count > 0 &&
        !find_sharing(placement->masks, placement->count, has_to, &between_them)) {
        if (find_sharing(sets, placement->count, has_to, &between_them)) {
            size_t sharing = 0;
            for (size_t i = 0; i < count; i++)
                if (has_to[i])
                    ranks[sharing++] = placement->world[i];
            const int number = CPU_COUNT(&between_them);
            bc_text_append(&text, "ranks ");
            append_ranks(&text, ranks, sharing);
            bc_text_append(&text, " have to share %d core%s", number, number == 1 ? "" : "s");
        } else if (find_neighbours(placement, cores, &a, &b)) {
            bc_text_append(&text,
                           "ranks %d and %d, which are not bound to different cores, ran "
                           "on processors %d and %d of one core when the job began",
                           placement->world[a], placement->world[b], placement->last[a],
                           placement->last[b]);
        }
    }
    free(has_to);
    free(sets);
    free(ranks);
    return text.start;
}

static void find_processors(struct bc_job *job, const struct bc_system *system)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    const int known = sched_getaffinity(0, sizeof mask, &mask) == 0;
    const int processor = system->last_processor >= 0 ? system->last_processor : sched_getcpu();
    int node_rank, node_size;
    BC_MPI(MPI_Comm_rank(job->node_comm, &node_rank));
    BC_MPI(MPI_Comm_size(job->node_comm, &node_size));
    const bool leader = node_rank == 0;
    cpu_set_t *const masks = leader ? allocate((size_t)node_size, sizeof mask) : NULL;
    int *const world = leader ? allocate((size_t)node_size, sizeof *world) : NULL;
    int *const last = leader ? allocate((size_t)node_size, sizeof *last) : NULL;
    BC_MPI(
        MPI_Gather(&mask, sizeof mask, MPI_BYTE, masks, sizeof mask, MPI_BYTE, 0, job->node_comm));
    BC_MPI(MPI_Gather(&job->rank, 1, MPI_INT, world, 1, MPI_INT, 0, job->node_comm));
    BC_MPI(MPI_Gather(&processor, 1, MPI_INT, last, 1, MPI_INT, 0, job->node_comm));
    int processors = INT32_MAX, shared = 0;
    char *shared_cores = NULL;
    if (leader && known) {
        const struct placement placement = {node_size, world, masks, last};
        struct bc_cores cores;
        cpu_set_t all;
        bool *const has_to = allocate((size_t)node_size, sizeof *has_to);
        shared = find_sharing(masks, node_size, has_to, &all);
        free(has_to);
        CPU_ZERO(&all);
        for (int i = 0; i < node_size; i++)
            CPU_OR(&all, &all, &masks[i]);
        processors = CPU_COUNT(&all);
        bc_cores_read(&cores, system->cores);
        shared_cores = describe_sharing_of_cores(&placement, &cores);
        if (job->rank == 0) {
            job->binding = describe_binding(masks, world, node_size);
            job->cores = cores.count;
        }
    }
    free(masks);
    free(world);
    free(last);
    BC_MPI(MPI_Allreduce(&processors, &job->least_processors, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    int any;
    BC_MPI(MPI_Allreduce(&shared, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    job->shares_processors = any != 0;
    job->shared_cores = text_of_nodes(job, shared_cores);
}

void bc_job_describe(struct bc_job *job)
{
    const struct bc_system here = {
        .cores = BC_CORES_FOLDER,
        .last_processor = -1,
        .groups_of_process = BC_GROUPS_OF_PROCESS,
        .groups_mount = BC_GROUPS_MOUNT,
    };
    bc_job_describe_by(job, &here);
}

void bc_job_describe_by(struct bc_job *job, const struct bc_system *system)
{
    MPI_Comm leaders;
    *job = (struct bc_job){0};
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &job->rank));
    BC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &job->ranks));
    number_nodes(job, &leaders);
    gather_hosts(job, leaders);
    find_processors(job, system);
    find_quotas(job, system);
    if (leaders != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_free(&leaders));
}

void bc_job_free(struct bc_job *job)
{
    if (job->node_comm != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_free(&job->node_comm));
    free(job->hosts);
    free(job->binding);
    free(job->shared_cores);
    free(job->exceeded_quota);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A rank's share of what its node has, the least over ranks; INT64_MAX where no
   node says. Collective. */
static int64_t least_share(const struct bc_job *job, int64_t bytes)
{
    if (bytes != INT64_MAX)
        bytes /= job->most_per_node;
    int64_t least;
    BC_MPI(MPI_Allreduce(&bytes, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD));
    return least;
}

int64_t bc_job_memory_per_rank(const struct bc_job *job)
{
    return least_share(job, bc_memory_available());
}

int64_t bc_job_shared_memory_per_rank(const struct bc_job *job)
{
    struct statvfs folder;
    int64_t bytes = INT64_MAX;
    if (statvfs("/dev/shm", &folder) == 0)
        bytes = (int64_t)folder.f_bavail * (int64_t)folder.f_frsize;
    return least_share(job, bytes);
}
