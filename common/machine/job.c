#include "common/machine/job.h"

#include "common/machine/control_groups.h"
#include "common/machine/cores.h"
#include "common/machine/hosts.h"
#include "common/machine/memory.h"
#include "common/machine/quota.h"
#include "common/machine/shared_memory.h"
#include "common/mpi/mpi_check.h"
#include "common/result/text.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY "no memory to describe the job"

/* ---- ranks and nodes ------------------------------------------------------------------------- */

/* This rank's node. */
struct node {
    MPI_Comm comm;
    MPI_Comm leaders; /* the lowest rank of each node; MPI_COMM_NULL on other ranks */
    int rank, size;   /* in comm; rank 0 is the leader */
};

static int min_over_ranks(int value)
{
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    return value;
}

static int max_over_ranks(int value)
{
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    return value;
}

/* Gathers `bytes` bytes from each rank of the node on its leader; the caller frees them. NULL on
   other ranks. Collective over the node. */
static void *gather_on_leader(const struct node *node, const void *own, size_t bytes)
{
    void *const all = node->rank == 0 ? bc_allocate((size_t)node->size, bytes, NO_MEMORY) : NULL;
    BC_MPI(MPI_Gather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0, node->comm));
    return all;
}

static void number_nodes(struct bc_job *job, struct node *node)
{
    BC_MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, job->rank, MPI_INFO_NULL,
                               &node->comm));
    BC_MPI(MPI_Comm_rank(node->comm, &node->rank));
    BC_MPI(MPI_Comm_size(node->comm, &node->size));
    BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, node->rank == 0 ? 0 : MPI_UNDEFINED, job->rank,
                          &node->leaders));
    int numbers[2] = {0, 0}; /* of this node; of all nodes */
    if (node->rank == 0) {
        BC_MPI(MPI_Comm_rank(node->leaders, &numbers[0]));
        BC_MPI(MPI_Comm_size(node->leaders, &numbers[1]));
    }
    BC_MPI(MPI_Bcast(numbers, 2, MPI_INT, 0, node->comm));
    job->node_comm = node->comm;
    job->node = numbers[0];
    job->nodes = numbers[1];
    job->min_per_node = min_over_ranks(node->size);
    job->max_per_node = max_over_ranks(node->size);
}

/* Collective. */
static void find_hosts(struct bc_job *job, const struct node *node)
{
    int *const ranks = gather_on_leader(node, &job->rank, sizeof job->rank);
    if (node->rank == 0) {
        char name[MPI_MAX_PROCESSOR_NAME] = "";
        int length;
        struct bc_hosts hosts = {0};
        BC_MPI(MPI_Get_processor_name(name, &length));
        bc_hosts_add(&hosts, name, ranks, (size_t)node->size);
        bc_hosts_gather(&hosts, node->leaders);
        if (job->rank == 0)
            job->hosts = bc_hosts_format(&hosts);
        bc_hosts_free(&hosts);
    }
    free(ranks);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void append_ranks(struct bc_text *text, const int *ranks, size_t count)
{
    const size_t length = bc_format_ranks(ranks, count, NULL, 0);
    char *const ranges = bc_allocate(length + 1, 1, NO_MEMORY);
    bc_format_ranks(ranks, count, ranges, length + 1);
    bc_text_append(text, "%s", ranges);
    free(ranges);
}

static void append_processors(struct bc_text *text, const cpu_set_t *processors)
{
    int numbers[CPU_SETSIZE];
    size_t count = 0;
    for (size_t processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET(processor, processors))
            numbers[count++] = (int)processor;
    append_ranks(text, numbers, count);
}

/* Brings the text of the lowest rank that has one to rank 0 and frees all others. NULL on other
   ranks, and if no rank has a text. `count` becomes the number of ranks that have one. Uses
   collectives only, since a program under the monitor may have receives pending. Collective. */
static char *bring_first_text(const struct bc_job *job, char *text, int *count)
{
    const int has = text != NULL;
    const int first = min_over_ranks(has ? job->rank : INT32_MAX);
    BC_MPI(MPI_Allreduce(&has, count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (first == INT32_MAX)
        return NULL;
    int length = has ? (int)strlen(text) + 1 : 0;
    BC_MPI(MPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD));
    if (job->rank != first) {
        free(text);
        text = bc_allocate((size_t)length, 1, NO_MEMORY);
    }
    BC_MPI(MPI_Bcast(text, length, MPI_CHAR, first, MPI_COMM_WORLD));
    if (job->rank == 0)
        return text;
    free(text);
    return NULL;
}

/* Brings the text of the first node that has one to rank 0, which adds the number of nodes that
   have one. `text` is significant on leaders. Collective. */
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

/* ---- processors and cores -------------------------------------------------------------------- */

/* Where a rank of the node runs. */
struct place {
    cpu_set_t processors; /* on which it may run */
    cpu_set_t cores;      /* of these processors; on the leader */
    int last_processor;   /* on which it ran just now; -1: not known */
    int rank;             /* in MPI_COMM_WORLD */
    bool has_to_share;    /* set by have_to_share */
};

static const cpu_set_t *set_of(const struct place *place, bool by_core)
{
    return by_core ? &place->cores : &place->processors;
}

static cpu_set_t union_of(const struct place *places, int count, bool by_core)
{
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int i = 0; i < count; i++)
        CPU_OR(&all, &all, set_of(&places[i], by_core));
    return all;
}

/* Looks for a group of ranks that is larger than the set of processors, or of cores, on which its
   ranks may run. Of Hall's condition it checks the groups that launchers produce: all ranks, and
   for each rank those that may run nowhere but where that rank may. Marks the ranks of the first
   such group, whose set becomes `shared`; false if there is none. */
static bool have_to_share(struct place *places, int count, bool by_core, cpu_set_t *shared)
{
    for (int i = 0; i <= count; i++) {
        int within = 0;
        *shared = i < count ? *set_of(&places[i], by_core) : union_of(places, count, by_core);
        for (int j = 0; j < count; j++) {
            cpu_set_t common;
            CPU_AND(&common, shared, set_of(&places[j], by_core));
            places[j].has_to_share = CPU_EQUAL(&common, set_of(&places[j], by_core));
            within += places[j].has_to_share;
        }
        if (within > CPU_COUNT(shared))
            return true;
    }
    return false;
}

/* "each rank: 0-1" where all ranks may run on the same processors, else those of each rank. */
static char *describe_binding(const struct place *places, int count)
{
    struct bc_text text = {0};
    bool same = true;
    for (int i = 1; i < count; i++)
        same = same && CPU_EQUAL(&places[i].processors, &places[0].processors);
    if (same) {
        bc_text_append(&text, count > 1 ? "each rank: " : "rank 0: ");
        append_processors(&text, &places[0].processors);
        return text.start;
    }
    for (int i = 0; i < count; i++) {
        bc_text_append(&text, "%s%d: ", i > 0 ? "; " : "", places[i].rank);
        append_processors(&text, &places[i].processors);
    }
    return text.start;
}

/* Finds two ranks that ran just now on different processors of one core. */
static bool find_neighbours(const struct place *places, int count, const struct bc_cores *cores,
                            const struct place **a, const struct place **b)
{
    const struct place *last_on[CPU_SETSIZE] = {NULL}; /* by core */
    for (int i = 0; i < count; i++) {
        const int processor = places[i].last_processor;
        const int core = processor >= 0 && processor < CPU_SETSIZE ? cores->of[processor] : -1;
        if (core < 0)
            continue;
        *a = last_on[core];
        *b = &places[i];
        if (*a != NULL && (*a)->last_processor != processor)
            return true;
        last_on[core] = *b;
    }
    return false;
}

/* Says which ranks share cores; NULL where none do. */
static char *describe_shared_cores(struct place *places, int count, const struct bc_cores *cores)
{
    struct bc_text text = {0};
    const struct place *a, *b;
    cpu_set_t shared;
    for (int i = 0; i < count; i++)
        bc_cores_of(cores, &places[i].processors, &places[i].cores);
    if (have_to_share(places, count, true, &shared)) {
        int *const ranks = bc_allocate((size_t)count, sizeof *ranks, NO_MEMORY);
        size_t sharing = 0;
        for (int i = 0; i < count; i++)
            if (places[i].has_to_share)
                ranks[sharing++] = places[i].rank;
        const int number = CPU_COUNT(&shared);
        bc_text_append(&text, "ranks ");
        append_ranks(&text, ranks, sharing);
        bc_text_append(&text, " have to share %d core%s", number, number == 1 ? "" : "s");
        free(ranks);
    } else if (find_neighbours(places, count, cores, &a, &b)) {
        bc_text_append(&text,
                       "ranks %d and %d, which are not bound to different cores, ran "
                       "on processors %d and %d of one core when the job began",
                       a->rank, b->rank, a->last_processor, b->last_processor);
    }
    return text.start;
}

/* Collective. */
static void find_processors(struct bc_job *job, const struct node *node,
                            const struct bc_system *system)
{
    struct place own;
    memset(&own, 0, sizeof own);
    const bool known = sched_getaffinity(0, sizeof own.processors, &own.processors) == 0;
    own.last_processor = system->last_processor >= 0 ? system->last_processor : sched_getcpu();
    own.rank = job->rank;
    struct place *const places = gather_on_leader(node, &own, sizeof own);
    int processors = INT32_MAX;
    bool shared = false;
    char *shared_cores = NULL;
    if (node->rank == 0 && known) {
        struct bc_cores cores;
        cpu_set_t set = union_of(places, node->size, false);
        processors = CPU_COUNT(&set);
        shared = have_to_share(places, node->size, false, &set);
        bc_cores_read(&cores, system->cores);
        /* Where ranks share processors that says more than the cores. */
        if (!shared && cores.count > 0)
            shared_cores = describe_shared_cores(places, node->size, &cores);
        if (job->rank == 0) {
            job->binding = describe_binding(places, node->size);
            job->cores = cores.count;
        }
    }
    free(places);
    job->min_processors = min_over_ranks(processors);
    job->shares_processors = max_over_ranks(shared) != 0;
    job->shared_cores = text_of_nodes(job, shared_cores);
}

/* ---- quotas ---------------------------------------------------------------------------------- */

/* Collective. */
static void find_quotas(struct bc_job *job, const struct node *node, const struct bc_system *system)
{
    struct bc_quotas own;
    bc_quotas_read(&own, system->groups_of_process, system->groups_mount);
    struct bc_quotas *const all = gather_on_leader(node, &own, sizeof own);
    int processors = job->min_processors;
    struct bc_text text = {0};
    if (node->rank == 0) {
        const struct bc_quota_finding finding = bc_quotas_judge(all, node->size);
        if (finding.processors < processors)
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
    job->min_allowed_processors = min_over_ranks(processors);
    job->oversubscribed = job->shares_processors || max_over_ranks(text.start != NULL) != 0;
    job->exceeded_quota = text_of_nodes(job, text.start);
}

/* ---- the job --------------------------------------------------------------------------------- */

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
    struct node node;
    *job = (struct bc_job){0};
    BC_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &job->rank));
    BC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &job->ranks));
    number_nodes(job, &node);
    find_hosts(job, &node);
    find_processors(job, &node, system);
    find_quotas(job, &node, system);
    if (node.leaders != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_free(&node.leaders));
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

/* A rank's share of the bytes of its node, the minimum over ranks; INT64_MAX where no node says.
   Collective. */
static int64_t min_share(const struct bc_job *job, int64_t bytes)
{
    if (bytes != INT64_MAX)
        bytes /= job->max_per_node;
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD));
    return bytes;
}

int64_t bc_job_memory_per_rank(const struct bc_job *job)
{
    return min_share(job, bc_memory_available());
}

int64_t bc_job_shared_memory_per_rank(const struct bc_job *job)
{
    return min_share(job, bc_shared_memory_available());
}
