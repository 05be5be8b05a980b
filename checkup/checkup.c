/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts that decide how MPI runs here, and a few measurements that show their cost.
 *
 * Method: facts are read before MPI_Init (facts.h) and not judged: run_scripts/checkup.sh does
 * that. `checkup --facts` prints the facts of one process without MPI, so that it also explains a
 * job that can't start.
 *
 * Timed region: on each rank that takes part, a batch of repetitions between two readings of the
 * clock (kernel.c): round trips of 8 B and 1 MiB between the first two ranks of a node and between
 * the first ranks of two nodes; copies of 1 MiB on the first two ranks of a node; MPI_Allreduce of
 * 8 B by all ranks. Each batch is preceded by a barrier and, if it has several repetitions, by one
 * untimed repetition.
 *
 * When: facts once; then a row is a measurement, and rows are measured alternately, in visits.
 *
 * How often: six visits per row, within 3 s in all. A visit ends when its median is known to 2 %
 * (--precision), or when its time is up.
 *
 * Written: one line per fact and its ranks, then one line per measurement (columns.c): latency, or
 * bandwidth of large messages, with an interval over visits.
 */
#include "checkup/checkup.h"
#include "checkup/facts.h"
#include "checkup/warnings.h"
#include "common/job/hosts.h"
#include "common/job/metadata.h"
#include "common/memory/allocate.h"
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/run/program.h"
#include "common/measure/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_BYTES = 8, LARGE_BYTES = 1 << 20, HOST_LENGTH = 256 };

/* The ranks that take part in a measurement. */
enum ranks { ALL, TWO_OF_A_NODE, TWO_NODES };

/* A measurement, named by its fact. */
struct kind {
    const char *fact, *unit, *source;
    enum ranks ranks;
    int bytes;
    int64_t (*time)(const struct checkup_kernel *kernel, int64_t repetitions);
    double ways; /* successive messages in a repetition */
};

static const struct kind kinds[] = {
    {"copy_bandwidth", "MB/s", "memcpy, 1 MiB", TWO_OF_A_NODE, LARGE_BYTES, checkup_time_copies, 1},
    {"node_latency", "us", "MPI_Send, 8 B", TWO_OF_A_NODE, SMALL_BYTES, checkup_time_messages, 2},
    {"node_bandwidth", "MB/s", "MPI_Send, 1 MiB", TWO_OF_A_NODE, LARGE_BYTES, checkup_time_messages,
     2},
    {"network_latency", "us", "MPI_Send, 8 B", TWO_NODES, SMALL_BYTES, checkup_time_messages, 2},
    {"network_bandwidth", "MB/s", "MPI_Send, 1 MiB", TWO_NODES, LARGE_BYTES, checkup_time_messages,
     2},
    {"allreduce_time", "us", "MPI_Allreduce, 8 B", ALL, SMALL_BYTES, checkup_time_allreduces, 1},
};

struct row {
    const struct kind *kind; /* NULL for the row of all facts */
    struct bc_store store;
};

struct checkup {
    struct bc_run *run;
    MPI_Comm of_node, of_nodes; /* two ranks of one node; first ranks of two nodes */
    char *facts;                /* of all ranks, concatenated; rank 0 */
    int *facts_at;              /* start of each rank's facts in `facts` */
    char *send, *receive;       /* LARGE_BYTES each */
};

/* ---- facts ----------------------------------------------------------------------------------- */

/* Reads the fact `host`, the first one of each rank, also after it was split. */
static void read_host(const struct checkup *checkup, int rank, char host[HOST_LENGTH])
{
    const char *const value = checkup->facts + checkup->facts_at[rank] + strlen("host\t");
    snprintf(host, HOST_LENGTH, "%.*s", (int)strcspn(value, "\t"), value);
}

/* Collects the facts on rank 0. Collective. */
static void gather_facts(struct checkup *checkup, const struct bc_text *own)
{
    const int ranks = checkup->run->job.ranks, length = (int)own->length + 1;
    int *const lengths = bc_allocate((size_t)ranks, sizeof(int), "no memory for facts");
    BC_MPI(MPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, 0, MPI_COMM_WORLD));
    checkup->facts_at = bc_allocate((size_t)ranks + 1, sizeof(int), "no memory for facts");
    for (int i = 0; i < ranks; i++)
        checkup->facts_at[i + 1] = checkup->facts_at[i] + lengths[i];
    checkup->facts = bc_allocate((size_t)checkup->facts_at[ranks], 1,
                                 "no memory for the facts of %d ranks", ranks);
    BC_MPI(MPI_Gatherv(own->start, length, MPI_CHAR, checkup->facts, lengths, checkup->facts_at,
                       MPI_CHAR, 0, MPI_COMM_WORLD));
    free(lengths);
}

/* Splits `*rest` at the first `end`: overwrites it, returns what precedes it, and advances `*rest`
   past it. Returns NULL if there is no `end`. */
static char *take_part(char **rest, char end)
{
    char *const part = *rest, *const at = strchr(part, end);
    if (at == NULL)
        return NULL;
    *at = '\0';
    *rest = at + 1;
    return part;
}

/* A line of facts, and the ranks that have it. */
struct fact_line {
    char *text;
    int rank; /* first */
    const int *ranks;
    size_t count;
};

static int by_place(const void *a, const void *b)
{
    const struct fact_line *const x = a, *const y = b;
    return (x->text > y->text) - (x->text < y->text);
}

static int by_text(const void *a, const void *b)
{
    const struct fact_line *const x = a, *const y = b;
    const int order = strcmp(x->text, y->text);
    return order != 0 ? order : by_place(a, b);
}

/* Splits all facts into lines, in the order of ranks. Returns their number. */
static size_t split_lines(const struct checkup *checkup, struct fact_line *lines)
{
    size_t count = 0;
    for (int rank = 0; rank < checkup->run->job.ranks; rank++) {
        char *rest = checkup->facts + checkup->facts_at[rank];
        for (char *text; (text = take_part(&rest, '\n')) != NULL;)
            lines[count++] = (struct fact_line){.text = text, .rank = rank};
    }
    return count;
}

/* Merges equal lines. `ranks` gets the ranks of each. Returns the number of different lines. */
static size_t merge_lines(struct fact_line *lines, size_t count, int *ranks)
{
    size_t merged = 0;
    qsort(lines, count, sizeof *lines, by_text);
    for (size_t i = 0, end; i < count; i = end) {
        struct fact_line line = lines[i];
        line.ranks = ranks;
        for (end = i; end < count && strcmp(lines[end].text, line.text) == 0; end++)
            if (line.count == 0 || line.ranks[line.count - 1] != lines[end].rank) {
                *ranks++ = lines[end].rank;
                line.count++;
            }
        lines[merged++] = line;
    }
    qsort(lines, merged, sizeof *lines, by_place);
    return merged;
}

static void write_fact(const struct checkup *checkup, const struct fact_line *line)
{
    const size_t length = bc_format_ranks(line->ranks, line->count, NULL, 0);
    char *const ranks = bc_allocate(length + 1, 1, "no memory for facts"), *rest = line->text;
    bc_format_ranks(line->ranks, line->count, ranks, length + 1);
    char host[HOST_LENGTH];
    read_host(checkup, line->rank, host);
    struct checkup_result result = {.ranks = ranks, .host = host, .interval = {NAN, NAN}};
    result.fact = take_part(&rest, '\t');
    result.value = take_part(&rest, '\t');
    result.unit = take_part(&rest, '\t');
    result.source = rest;
    if (result.unit != NULL && *result.unit == '\0')
        result.unit = NULL;
    bc_write_row(checkup->run, &result);
    free(ranks);
}

/* Writes a row for each fact, with all ranks that have it. Collective. */
static void write_facts(const struct checkup *checkup)
{
    if (checkup->run->job.rank != 0) {
        bc_write_row(checkup->run, &(struct checkup_result){0});
        return;
    }
    size_t count = 0;
    for (int i = 0; i < checkup->facts_at[checkup->run->job.ranks]; i++)
        count += checkup->facts[i] == '\n';
    struct fact_line *const lines = bc_allocate(count, sizeof *lines, "no memory for facts");
    int *const ranks = bc_allocate(count, sizeof *ranks, "no memory for facts");
    count = merge_lines(lines, split_lines(checkup, lines), ranks);
    for (size_t i = 0; i < count; i++)
        write_fact(checkup, &lines[i]);
    free(ranks);
    free(lines);
}

/* ---- measurements ---------------------------------------------------------------------------- */

static struct checkup_kernel kernel_of(const struct checkup *checkup, const struct kind *kind)
{
    struct checkup_kernel kernel = {.comm = kind->ranks == TWO_OF_A_NODE ? checkup->of_node
                                            : kind->ranks == TWO_NODES   ? checkup->of_nodes
                                                                         : MPI_COMM_WORLD,
                                    .bytes = kind->bytes,
                                    .send = checkup->send,
                                    .receive = checkup->receive};
    int rank = 0;
    if (kernel.comm != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_rank(kernel.comm, &rank));
    kernel.is_first = rank == 0;
    kernel.partner = 1 - rank;
    return kernel;
}

/* Batches take at least 20 µs. `max` ends the search if a copy takes no time on a model's clock. */
static const struct bc_quantities quantities = {.count = 1,
                                                .clock_readings = 1.0,
                                                .batching = BC_DOUBLED_BATCHES,
                                                .step = 1,
                                                .max = 256,
                                                .batch_ns = 20e3,
                                                .no_tail = true};

static void measure(const struct checkup *checkup, struct bc_visit *visit)
{
    struct row *const row = visit->row;
    if (row->kind == NULL) {
        visit->is_precise = true;
        return;
    }
    const struct checkup_kernel kernel = kernel_of(checkup, row->kind);
    struct bc_rounds *const rounds =
        bc_rounds_of(checkup->run, &quantities, visit->seconds, &row->store);
    for (struct bc_round *round; (round = bc_next_round(rounds)) != NULL;) {
        bc_round_release(round, kernel.comm);
        if (kernel.comm == MPI_COMM_NULL)
            continue;
        row->kind->time(&kernel, round->lead_in);
        bc_round_value(round, 0, (double)row->kind->time(&kernel, round->repetitions));
    }
    visit->is_precise = bc_store_is_precise(checkup->run, &quantities, &row->store);
}

static bool is_time(const struct kind *kind) { return strcmp(kind->unit, "us") == 0; }

/* Converts the time of one way to the unit of the row. An interval's end may be below 0: a time is
   then 0, a bandwidth unknown. */
static double in_unit(const struct kind *kind, double ns)
{
    if (ns <= 0.0)
        return is_time(kind) ? 0.0 : NAN;
    return is_time(kind) ? ns / 1e3 : kind->bytes / 1048576.0 / (ns / 1e9);
}

static void write_measurement(const struct checkup *checkup, struct row *row)
{
    const struct kind *const kind = row->kind;
    struct bc_summary summary = bc_store_summary(checkup->run, &row->store, -1);
    char value[32], host[HOST_LENGTH];
    read_host(checkup, 0, host);
    snprintf(value, sizeof value, "%.4g", in_unit(kind, summary.value / kind->ways));
    const double of_least = in_unit(kind, summary.interval.lo / kind->ways),
                 of_most = in_unit(kind, summary.interval.hi / kind->ways);
    const struct checkup_result result = {
        .ranks = "0",
        .host = host,
        .fact = kind->fact,
        .value = value,
        .interval = {is_time(kind) ? of_least : of_most, is_time(kind) ? of_most : of_least},
        .unit = kind->unit,
        .source = kind->source};
    bc_write_row(checkup->run, &result);
    bc_store_free(&row->store);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Returns a communicator of the chosen ranks, MPI_COMM_NULL on others. Collective. */
static MPI_Comm choose_ranks(bool chosen)
{
    MPI_Comm comm;
    BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, chosen ? 0 : MPI_UNDEFINED, 0, &comm));
    return comm;
}

/* Returns the first node with at least two ranks, or -1 if there is none. Collective. */
static int first_full_node(const struct bc_job *job)
{
    int node = job->node_ranks >= 2 ? job->node : job->nodes;
    BC_MPI(MPI_Allreduce(MPI_IN_PLACE, &node, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    return node < job->nodes ? node : -1;
}

static void list_rows(const struct checkup *checkup, bool has_pair, bool has_nodes)
{
    if (!has_nodes)
        bc_output_remark(checkup->run->output, CHECKUP_NOTE_ONE_NODE);
    (void)bc_add_row(checkup->run); /* facts */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((kinds[i].ranks != TWO_OF_A_NODE || has_pair) &&
            (kinds[i].ranks != TWO_NODES || has_nodes))
            *(struct row *)bc_add_row(checkup->run) = (struct row){.kind = &kinds[i]};
}

static void open_checkup(struct checkup *checkup, struct bc_run *run, struct bc_text *facts)
{
    const struct bc_job *const job = &run->job;
    const int full = first_full_node(job);
    checkup->run = run;
    checkup_add_fact(facts, "node", "", "MPI_Comm_split_type", "%d", job->node);
    int level;
    BC_MPI(MPI_Query_thread(&level));
    checkup_add_fact(facts, "thread_level", "", "MPI_Query_thread", "%s",
                     bc_thread_level_name(level));
    checkup_add_gpu_claims(facts);
    checkup_add_neighbour_facts(facts, job);
    if (job->node_rank == 0)
        checkup_add_node_facts(facts);
    gather_facts(checkup, facts);
    checkup->of_node = choose_ranks(job->node == full && job->node_rank < 2);
    checkup->of_nodes = choose_ranks(job->nodes > 1 && job->node < 2 && job->node_rank == 0);
    checkup->send = bc_allocate_pages(LARGE_BYTES, "no memory for messages");
    checkup->receive = bc_allocate_pages(LARGE_BYTES, "no memory for messages");
    list_rows(checkup, full >= 0, job->nodes > 1);
}

static void close_checkup(struct checkup *checkup)
{
    if (checkup->of_node != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_free(&checkup->of_node));
    if (checkup->of_nodes != MPI_COMM_NULL)
        BC_MPI(MPI_Comm_free(&checkup->of_nodes));
    free(checkup->receive);
    free(checkup->send);
    free(checkup->facts_at);
    free(checkup->facts);
}

const struct bc_program checkup_program = {
    .name = "checkup",
    .summary = "Prints facts that affect MPI on this machine, and measures messages.\n"
               "With --facts alone it prints one process's facts without MPI.",
    .placement = BC_ON_PAGES,
    .state_bytes = sizeof(struct checkup),
    .row_bytes = sizeof(struct row),
    .budget_s = 3.0,
};

/* Prints the facts of this process and its node (`checkup --facts`). */
static int print_facts(void)
{
    struct bc_text facts = {0};
    checkup_add_process_facts(&facts);
    checkup_add_node_facts(&facts);
    const bool printed = fputs(facts.start, stdout) >= 0 && fflush(stdout) == 0;
    free(facts.start);
    return printed ? BC_EXIT_DONE : BC_EXIT_FAILED;
}

int main(int argc, char **argv)
{
    struct checkup checkup;
    struct bc_text facts = {0};
    if (argc == 2 && strcmp(argv[1], "--facts") == 0)
        return print_facts();
    checkup_add_process_facts(&facts); /* before MPI_Init changes the process */
    struct bc_run *const run = bc_start(&checkup_program, &checkup, argc, argv);
    bc_open_result(run, &checkup_table, "");
    open_checkup(&checkup, run, &facts);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&checkup, visit);
        else if (((struct row *)visit->row)->kind == NULL)
            write_facts(&checkup);
        else
            write_measurement(&checkup, visit->row);
    close_checkup(&checkup);
    free(facts.start);
    return bc_finish(run);
}
