/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/job/job.h"

#include "common/job/limits.h"
#include "common/job/cores.h"
#include "common/job/hosts.h"
#include "common/job/launcher.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/result/text.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY "no memory to describe the job"

/* ---- ranks and nodes ------------------------------------------------------------------------- */

/* Collective. */
static int over_ranks(int value, MPI_Op operation)
{
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, operation, MPI_COMM_WORLD));
    return value;
}

/* Collects the hosts' names and ranks on rank 0. `ranks` are those of the node. Collective over the
   nodes' leaders. */
static void find_hosts(struct bc_job *job, const int *ranks, MPI_Comm leaders)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length;
    struct bc_hosts hosts = {0};
    BC_MPI(MPI_Get_processor_name(name, &length));
    bc_hosts_add(&hosts, name, ranks, (size_t)job->node_ranks);
    bc_hosts_gather(&hosts, leaders);
    char *const names = bc_gather(name, sizeof name, leaders);
    if (job->rank == 0) {
        job->hosts = bc_hosts_format(&hosts);
        job->host_names = bc_different_names(names, sizeof name, job->nodes);
    }
    bc_hosts_free(&hosts);
    free(names);
}

/* Collective. */
static void find_nodes(struct bc_job *job)
{
    MPI_Comm leaders;
    BC_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, job->rank, MPI_INFO_NULL,
                               &job->node_comm));
    BC_MPI(MPI_Comm_rank(job->node_comm, &job->node_rank));
    BC_MPI(MPI_Comm_size(job->node_comm, &job->node_ranks));
    BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, job->node_rank == 0 ? 0 : MPI_UNDEFINED, job->rank,
                          &leaders));
    int numbers[2] = {0, 0}; /* this node's number; number of nodes */
    if (leaders != MPI_COMM_NULL) {
        BC_MPI(MPI_Comm_rank(leaders, &numbers[0]));
        BC_MPI(MPI_Comm_size(leaders, &numbers[1]));
    }
    BC_MPI(MPI_Bcast(numbers, 2, MPI_INT, 0, job->node_comm));
    job->node = numbers[0];
    job->nodes = numbers[1];
    job->min_per_node = over_ranks(job->node_ranks, MPI_MIN);
    job->max_per_node = over_ranks(job->node_ranks, MPI_MAX);
    int *const ranks = bc_gather(&job->rank, sizeof job->rank, job->node_comm);
    if (leaders != MPI_COMM_NULL) {
        find_hosts(job, ranks, leaders);
        BC_MPI(MPI_Comm_free(&leaders));
    }
    free(ranks);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void append_numbers(struct bc_text *text, const int *numbers, size_t count)
{
    const size_t length = bc_format_ranks(numbers, count, NULL, 0);
    bc_text_append(text, "%*s", (int)length, ""); /* makes room for them */
    bc_format_ranks(numbers, count, text->start + text->length - length, length + 1);
}

static void append_processors(struct bc_text *text, const struct bc_processors *processors)
{
    int numbers[BC_PROCESSORS_MAX];
    size_t count = 0;
    for (int processor = 0; processor < BC_PROCESSORS_MAX; processor++)
        if (bc_processors_have(processors, processor))
            numbers[count++] = processor;
    append_numbers(text, numbers, count);
}

/* Returns on rank 0 the text of the lowest rank that has one, with the number of nodes that have
   one; frees all others. Returns NULL on other ranks, and if no rank has a text. Uses collectives
   only, since a program under the monitor may have receives pending. Collective. */
static char *text_of_nodes(const struct bc_job *job, char *text)
{
    struct bc_text whole = {0};
    const int first = over_ranks(text != NULL ? job->rank : INT32_MAX, MPI_MIN);
    const int nodes = over_ranks(text != NULL, MPI_SUM);
    if (first == INT32_MAX)
        return NULL;
    int length = text != NULL ? (int)strlen(text) + 1 : 0;
    BC_MPI(MPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD));
    if (job->rank != first) {
        free(text);
        text = bc_allocate((size_t)length, 1, NO_MEMORY);
    }
    BC_MPI(MPI_Bcast(text, length, MPI_CHAR, first, MPI_COMM_WORLD));
    if (job->rank == 0)
        bc_text_append(&whole, "%s", text);
    if (job->rank == 0 && nodes > 1)
        bc_text_append(&whole, " (similar on %d nodes)", nodes);
    free(text);
    return whole.start;
}

/* ---- processors and cores -------------------------------------------------------------------- */

/* Placement of a rank of the node. */
struct rank_placement {
    struct bc_processors set; /* processors it may run on; in describe_shared_cores their cores */
    int last_processor;       /* processor it ran on just now; -1: not known */
    int rank;                 /* in MPI_COMM_WORLD */
    bool has_to_share;        /* set by have_to_share */
};

static struct bc_processors union_of(const struct rank_placement *places, int count)
{
    struct bc_processors all = {0};
    for (int i = 0; i < count; i++)
        bc_processors_join(&all, &places[i].set);
    return all;
}

/* Finds a group with more ranks than processors, or cores, on which its ranks may run. Of the
   groups of Hall's condition it checks those that launchers produce: for each rank, all ranks whose
   set lies within that rank's set; and all ranks. Marks the ranks of the first such group; returns
   the size of its set, or 0 if there is none. */
static int find_crowded_ranks(struct rank_placement *places, int count)
{
    const struct bc_processors all = union_of(places, count);
    for (int i = 0; i <= count; i++) {
        const struct bc_processors *const shared = i < count ? &places[i].set : &all;
        const int size = bc_processors_count(shared);
        int within = 0;
        for (int j = 0; j < count; j++) {
            places[j].has_to_share = bc_processors_cover(shared, &places[j].set);
            within += places[j].has_to_share;
        }
        if (within > size)
            return size;
    }
    return 0;
}

/* Returns "each rank: 0-1" if all ranks may run on the same processors, else a list of ranks. */
static char *describe_binding(const struct rank_placement *places, int count)
{
    struct bc_text text = {0};
    int alike = 1;
    while (alike < count && memcmp(&places[alike].set, &places[0].set, sizeof places->set) == 0)
        alike++;
    const bool is_one = count > 1 && alike == count;
    for (int i = 0; i < (is_one ? 1 : count); i++) {
        if (is_one)
            bc_text_append(&text, "each rank: ");
        else
            bc_text_append(&text, "%s%s%d: ", i > 0 ? "; " : "", count == 1 ? "rank " : "",
                           places[i].rank);
        append_processors(&text, &places[i].set);
    }
    return text.start;
}

static int core_of(const struct bc_cores *cores, int processor)
{
    return processor >= 0 && processor < BC_PROCESSORS_MAX ? cores->of[processor] : -1;
}

/* Finds two ranks, *a and *b, that ran just now on different processors of one core. */
static bool find_neighbours(const struct rank_placement *places, int count,
                            const struct bc_cores *cores, int *a, int *b)
{
    for (*b = 0; *b < count; ++*b)
        for (*a = *b - 1; *a >= 0; --*a) {
            const int last = places[*a].last_processor, own = places[*b].last_processor;
            if (last != own && core_of(cores, own) >= 0 &&
                core_of(cores, own) == core_of(cores, last))
                return true;
        }
    return false;
}

/* Returns a text of the ranks that share cores, or NULL if none do. Replaces the processors in
   `places` by cores. */
static char *describe_shared_cores(struct rank_placement *places, int count,
                                   const struct bc_cores *cores)
{
    struct bc_text text = {0};
    int a, b;
    for (int i = 0; i < count; i++)
        places[i].set = bc_cores_of(cores, &places[i].set);
    const int shared = find_crowded_ranks(places, count);
    if (shared > 0) {
        int *const ranks = bc_allocate((size_t)count, sizeof *ranks, NO_MEMORY);
        size_t sharing = 0;
        for (int i = 0; i < count; i++)
            if (places[i].has_to_share)
                ranks[sharing++] = places[i].rank;
        bc_text_append(&text, "ranks ");
        append_numbers(&text, ranks, sharing);
        bc_text_append(&text, " have to share %d core%s", shared, shared == 1 ? "" : "s");
        free(ranks);
    } else if (find_neighbours(places, count, cores, &a, &b)) {
        bc_text_append(&text, "ranks %d and %d began on one core (processors %d, %d)",
                       places[a].rank, places[b].rank, places[a].last_processor,
                       places[b].last_processor);
    }
    return text.start;
}

/* Collective. */
static void find_processors(struct bc_job *job)
{
    struct rank_placement own;
    memset(&own, 0, sizeof own);
    const bool known = bc_processors_read(&own.set);
    own.last_processor = sched_getcpu();
    own.rank = job->rank;
    struct rank_placement *const places = bc_gather(&own, sizeof own, job->node_comm);
    int processors = INT32_MAX;
    bool shared = false;
    char *shared_cores = NULL;
    if (job->node_rank == 0 && known) {
        struct bc_cores cores;
        const struct bc_processors all = union_of(places, job->node_ranks);
        processors = bc_processors_count(&all);
        shared = find_crowded_ranks(places, job->node_ranks) > 0;
        bc_cores_read(&cores);
        if (job->rank == 0) {
            job->binding = describe_binding(places, job->node_ranks);
            job->cores = cores.count;
        }
        /* Not in addition to the warning of shared processors. */
        if (!shared && cores.count > 0)
            shared_cores = describe_shared_cores(places, job->node_ranks, &cores);
    }
    free(places);
    job->min_processors = over_ranks(processors, MPI_MIN);
    job->shares_processors = over_ranks(shared, MPI_MAX) != 0;
    job->shared_cores = text_of_nodes(job, shared_cores);
}

/* ---- quotas ---------------------------------------------------------------------------------- */

/* Collective. */
static void find_quotas(struct bc_job *job)
{
    struct bc_quotas own;
    bc_quotas_read(&own);
    struct bc_quotas *const all = bc_gather(&own, sizeof own, job->node_comm);
    int processors = job->min_processors;
    struct bc_text text = {0};
    if (job->node_rank == 0) {
        const struct bc_quota_finding finding = bc_quotas_judge(all, job->node_ranks);
        if (finding.processors < processors)
            processors = finding.processors < 1.0 ? 1 : (int)finding.processors;
        if (finding.ranks > 0)
            bc_text_append(
                &text, "the control group's quota of %.4g processor%s (%s) is for %d rank%s",
                finding.exceeded.processors, finding.exceeded.processors == 1.0 ? "" : "s",
                bc_quota_file(&finding.exceeded), finding.ranks, finding.ranks == 1 ? "" : "s");
    }
    free(all);
    job->min_allowed_processors = over_ranks(processors, MPI_MIN);
    job->oversubscribed = job->shares_processors || over_ranks(text.start != NULL, MPI_MAX) != 0;
    job->exceeded_quota = text_of_nodes(job, text.start);
}

/* ---- the job --------------------------------------------------------------------------------- */

void bc_job_describe(struct bc_job *job)
{
    *job = (struct bc_job){.launched = bc_launcher_processes()};
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &job->rank));
    BC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &job->ranks));
    if (job->rank == 0)
        job->id = bc_launcher_job_id();
    find_nodes(job);
    find_processors(job);
    find_quotas(job);
}

/* Collective. */
static int64_t share_per_rank(const struct bc_job *job, int64_t node_bytes)
{
    int64_t bytes = node_bytes != INT64_MAX ? node_bytes / job->max_per_node : INT64_MAX;
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD));
    return bytes;
}

void bc_job_find_memory(struct bc_job *job)
{
    job->memory_per_rank = share_per_rank(job, bc_memory_available());
    job->shared_memory_per_rank = share_per_rank(job, bc_shared_memory_available());
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
