/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slow nodes, links and directions of a job: the time of a message between every two nodes.
 *
 * Timed region: a round trip between two points, or from 4 KiB on each way separately, between two
 * readings of the clock (kernel.c). A point is a rank: any rank, or the lowest one of each node.
 *
 * When: a row is a size. Sizes are measured alternately, in visits. In a visit all pairs of points
 * exchange messages in the rounds of a tournament (links.h), so that each point has one partner at
 * a time. After the visits, links that look slow are timed alone (verdicts.c).
 *
 * Expected rate: from 4 KiB on, memcpy between the two ranks after the visit's messages, or the
 * rate of the nodes' network ports (common/expected/expected.h).
 *
 * How often: six visits per size, up to twelve if the row isn't precise and time is left.
 *
 * Written: for each size, one line for the whole job, and one line with a verdict for each node,
 * link and direction (verdicts.c, rows.c, columns.c).
 */
#include "common/job/node_order.h"
#include "common/job/hosts.h"
#include "common/memory/allocate.h"
#include "common/memory/placement.h"
#include "common/mpi/mpi_check.h"
#include "common/result/writer.h"
#include "linkmap/linkmap.h"
#include "linkmap/warnings.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* From this size on, each way of a link is timed separately. */
enum { ONE_WAY_BYTES = 4096 };

/* Messages over a link in a visit: round trips, or one way. */
enum { ROUND_TRIPS = 10, ONE_WAYS = 4 };

/* Remedy if buffers don't fit into a GPU's memory. */
#define MEMORY_ADVICE "smaller --sizes"

/* Rounds of a tournament per --max-time. */
enum { ROUNDS_A_SHARE = 8 };

/* ---- usage ----------------------------------------------------------------------------------- */

static bool is_per_rank(const struct linkmap_parameters *p, const struct bc_job *job)
{
    return p->per == LINKMAP_PER_RANK || (p->per == LINKMAP_PER_AUTO && job->nodes < 2);
}

static int points_of(const struct linkmap_parameters *p, const struct bc_job *job)
{
    return is_per_rank(p, job) ? job->ranks : job->nodes;
}

static bool complete(void *state, struct bc_error *error)
{
    struct bc_memory_options *const memory = &((struct linkmap *)state)->parameters.memory;
    return !bc_memory_is_asked(memory) || bc_memory_complete(memory, error);
}

static bool fit(void *state, struct bc_run *run, struct bc_error *error)
{
    const struct linkmap_parameters *const p = &((struct linkmap *)state)->parameters;
    const int points = points_of(p, &run->job);
    const double needed = 2.0 * (double)bc_size_list_max(&p->sizes);
    const double usable = bc_run_usable_bytes(run, BC_MEMORY_SHARE, false);
    if (run->job.ranks < 2)
        return bc_error_set(error, "a link " BC_NEEDS_2_RANKS);
    if (points < 2)
        return bc_error_set(error, "--per: node needs several nodes, and there is one: use rank");
    if (p->exclude != NULL && p->exclude[0] == '\0')
        return bc_error_set(error, "--exclude: '' is no file: use a path");
    if (p->exclude != NULL && points < LINKMAP_POINTS_MIN)
        return bc_error_set(error,
                            "--exclude: verdicts need at least %d nodes, got %d: use more, or "
                            "--per=rank with that many processes",
                            LINKMAP_POINTS_MIN, points);
    if (needed > usable)
        return bc_error_set(error,
                            "--sizes: messages of %lld bytes need %.1f MiB a rank, and there are "
                            "%.1f: use smaller ones",
                            (long long)bc_size_list_max(&p->sizes), needed / 1048576,
                            usable / 1048576);
    return true;
}

/* Checks that the list of slow hosts can be written; true on all ranks except rank 0. */
static bool can_exclude(const struct linkmap_parameters *p, const struct bc_run *run,
                        struct bc_error *error)
{
    const char *const others[] = {run->settings.output, run->settings.dump_samples};
    if (run->job.rank != 0 || p->exclude == NULL)
        return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] != NULL && strcmp(others[i], p->exclude) == 0)
            return bc_error_set(error,
                                "--exclude: %.200s is the file of another option: use another "
                                "file",
                                p->exclude);
    const bool is_new = access(p->exclude, F_OK) != 0;
    FILE *const file = fopen(p->exclude, "a"); /* keeps an old list, in case the run is refused */
    if (file == NULL)
        return bc_error_set(error,
                            "--exclude: cannot write '%.200s': %s: use a file that can be written",
                            p->exclude, strerror(errno));
    fclose(file);
    if (is_new)
        unlink(p->exclude);
    return true;
}

/* Removes the list of an earlier run, so that nobody uses it if this run ends early. Rank 0. */
static void remove_old_list(const char *path)
{
    struct stat there;
    if (lstat(path, &there) == 0 && S_ISREG(there.st_mode))
        (void)unlink(path); /* a file that can't be removed is overwritten */
}

/* ---- the hosts of points --------------------------------------------------------------------- */

/* Names of a point's host. */
struct names {
    char slurm[LINKMAP_HOST_LENGTH], processor[LINKMAP_HOST_LENGTH];
    int rank; /* of the point, in MPI_COMM_WORLD */
};

static void name_hosts(struct linkmap_host *hosts, const struct names *all, int count,
                       bool with_ranks)
{
    const int by_slurm = bc_different_names(all->slurm, sizeof *all, count);
    const int by_processor = bc_different_names(all->processor, sizeof *all, count);
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

/* Returns the hosts of all points on rank 0, which frees them; NULL elsewhere. Uses Slurm's names
   unless MPI has more different ones: within a Slurm job, mpirun may hand the first node's
   variables to the ranks of all nodes. Labels have ranks if `with_ranks` or if several points have
   the same name. `rank` is the point's in MPI_COMM_WORLD. Collective over points->comm. */
static struct linkmap_host *gather_hosts(const struct linkmap_points *points, int rank,
                                         bool with_ranks)
{
    char processor[MPI_MAX_PROCESSOR_NAME + 1] = "";
    const char *const slurm = getenv("SLURMD_NODENAME");
    struct linkmap_host *hosts = NULL;
    struct names own = {.rank = rank};
    int length;
    BC_MPI(MPI_Get_processor_name(processor, &length));
    snprintf(own.processor, sizeof own.processor, "%.*s", LINKMAP_HOST_LENGTH - 1, processor);
    snprintf(own.slurm, sizeof own.slurm, "%.*s", LINKMAP_HOST_LENGTH - 1,
             slurm != NULL ? slurm : "");
    struct names *const all = bc_gather(&own, sizeof own, points->comm);
    if (points->own == 0) {
        hosts = bc_allocate((size_t)points->count, sizeof *hosts, "no memory for names");
        name_hosts(hosts, all, points->count, with_ranks);
    }
    free(all);
    return hosts;
}

/* ---- shared by all sizes --------------------------------------------------------------------- */

static void note_points(const struct linkmap *linkmap)
{
    const struct linkmap_points *const points = &linkmap->points;
    struct bc_output *const output = linkmap->run->output;
    const int rounds = linkmap_rounds(points->count);
    bc_output_meta(output, LINKMAP_NOTE_POINTS, (long long)points->count * (points->count - 1) / 2,
                   points->count == 2 ? "" : "s", points->count,
                   linkmap->per_rank ? "ranks" : "nodes (the lowest rank of each)", rounds,
                   rounds == 1 ? "" : "s", points->count / 2);
    if (points->count < LINKMAP_POINTS_MIN)
        bc_output_remark(output, LINKMAP_NOTE_NO_VERDICTS, LINKMAP_POINTS_MIN,
                         linkmap->per_rank ? "ranks" : "nodes");
}

/* Returns the places of all points, which the caller frees. Collective over the points. */
static struct linkmap_place *gather_places(const struct linkmap_points *points,
                                           const struct bc_run *run)
{
    const struct linkmap_place own = {run->job.node, run->job.node_rank, points->expected.link_mbs};
    struct linkmap_place *const all =
        bc_allocate((size_t)points->count, sizeof own, "no memory for places");
    BC_MPI(MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, points->comm));
    return all;
}

static void open_linkmap(struct linkmap *linkmap, struct bc_run *run)
{
    struct linkmap_points *const points = &linkmap->points;
    const size_t bytes = (size_t)bc_size_list_max(&linkmap->parameters.sizes);
    const struct bc_memory_options *const memory = &linkmap->parameters.memory;
    struct bc_node_order by_node;
    linkmap->run = run;
    linkmap->per_rank = is_per_rank(&linkmap->parameters, &run->job);
    *points = (struct linkmap_points){.own = -1,
                                      .clock_ns = run->own_clock.read_ns,
                                      .takes_mean = run->settings.estimator == BC_MEAN,
                                      .checks = run->settings.check};
    bc_node_order_create(&by_node, &run->job);
    const bool takes_part = linkmap->per_rank || run->job.node_rank == 0;
    if (bytes >= BC_EXPECTED_BYTES_MIN)
        bc_expected_open(&points->expected, run, linkmap->parameters.link_gbits,
                         linkmap->per_rank && bc_memory_is_host(memory->of) ? bytes : 0);
    if (linkmap->device != NULL)
        bc_memory_describe(run, linkmap->device);
    BC_MPI(
        MPI_Comm_split(by_node.comm, takes_part ? 0 : MPI_UNDEFINED, by_node.place, &points->comm));
    bc_node_order_destroy(&by_node);
    if (points->comm == MPI_COMM_NULL)
        return;
    BC_MPI(MPI_Comm_size(points->comm, &points->count));
    BC_MPI(MPI_Comm_rank(points->comm, &points->own));
    /* Links are compared, so no point's buffers may be better placed. */
    bc_place_buffers(&(struct bc_placement){.multiple = (size_t)sysconf(_SC_PAGESIZE)});
    bc_buffer_create(&points->sent, linkmap->device, memory->of[0], bytes, run->settings.check,
                     MEMORY_ADVICE);
    bc_buffer_create(&points->received, linkmap->device, memory->of[1], bytes, run->settings.check,
                     MEMORY_ADVICE);
    if (points->expected.is_known)
        points->places = gather_places(points, run);
    linkmap->hosts = gather_hosts(points, run->job.rank, linkmap->per_rank);
    note_points(linkmap);
    if (points->own == 0 && linkmap->parameters.exclude != NULL)
        remove_old_list(linkmap->parameters.exclude);
}

/* Adds a row for each different size. Visits share --samples. */
static void list_rows(const struct linkmap *linkmap)
{
    const struct bc_size_list *const sizes = &linkmap->parameters.sizes;
    const int64_t samples = linkmap->run->settings.samples, visits = linkmap->run->visits;
    for (size_t i = 0; i < sizes->count; i++)
        if (bc_size_list_is_first(sizes, i)) {
            struct linkmap_row *const row = bc_add_row(linkmap->run);
            row->links.points = &linkmap->points;
            row->links.bytes = (int)sizes->values[i];
            row->links.one_way = row->links.bytes >= ONE_WAY_BYTES;
            row->links.repetitions = samples > 0          ? (int)((samples + visits - 1) / visits)
                                     : row->links.one_way ? ONE_WAYS
                                                          : ROUND_TRIPS;
            row->links.times.points = linkmap->points.count;
            row->medians.points = linkmap->points.count + 1;
            row->links.times.ways = row->medians.ways =
                row->links.one_way && linkmap->points.places != NULL ? LINKMAP_WAYS_EXPECTED
                                                                     : LINKMAP_WAYS;
        }
}

/* ---- the list of slow hosts ------------------------------------------------------------------ */

/* Writes the hosts of slow points, each once, in Slurm's format: one line with commas. Rank 0. */
static void write_excluded(struct linkmap *linkmap)
{
    struct bc_run *const run = linkmap->run;
    const char *last = NULL;
    if (run->signal != 0) {
        bc_output_remark(run->output, LINKMAP_WARNING_NO_FILE);
        return;
    }
    FILE *const file = fopen(linkmap->parameters.exclude, "w");
    /* The ranks of a host are adjacent. */
    for (int i = 0; file != NULL && i < linkmap->points.count; i++) {
        const struct linkmap_host *const host = &linkmap->hosts[i];
        if (!host->is_slow || (last != NULL && strcmp(host->name, last) == 0))
            continue;
        fprintf(file, "%s%s", last != NULL ? "," : "", host->name);
        last = host->name;
    }
    if (last != NULL)
        fputc('\n', file);
    int problem = file != NULL ? bc_stream_problem(file) : errno;
    if (file != NULL && fclose(file) != 0 && problem == 0)
        problem = errno;
    if (problem != 0) {
        bc_output_remark(run->output, LINKMAP_WARNING_UNWRITABLE, linkmap->parameters.exclude,
                         strerror(problem));
        run->failed = true;
    }
}

static void close_linkmap(struct linkmap *linkmap)
{
    if (linkmap->points.own == 0 && linkmap->parameters.exclude != NULL)
        write_excluded(linkmap);
    bc_expected_close(&linkmap->points.expected);
    free(linkmap->hosts);
    free(linkmap->points.places);
    if (linkmap->points.comm == MPI_COMM_NULL)
        return;
    bc_buffer_destroy(&linkmap->points.sent);
    bc_buffer_destroy(&linkmap->points.received);
    BC_MPI(MPI_Comm_free(&linkmap->points.comm));
}

/* ---- a visit --------------------------------------------------------------------------------- */

/* Returns the median, or NAN if more values are NAN than `unknown`. */
static double median_of_known(const double *values, int count, int unknown)
{
    for (int i = 0; i < count; i++)
        unknown -= isnan(values[i]);
    return unknown < 0 ? NAN : linkmap_median(values, count);
}

/* Gathers on rank 0 the median of each point's links in this visit, NAN if one of them isn't known.
   Collective over the points. */
static void gather_medians(const struct linkmap_points *points, struct linkmap_row *row)
{
    const struct linkmap_times *const times = &row->links.times;
    const int visit = times->visits - 1;
    for (int way = 0; way < times->ways; way++) {
        double *const medians =
            points->own == 0 ? linkmap_times_of(&row->medians, visit, way) : NULL;
        const double own_ns =
            median_of_known(linkmap_times_of(times, visit, way), points->count, 1); /* itself */
        BC_MPI(MPI_Gather(&own_ns, 1, MPI_DOUBLE, medians, 1, MPI_DOUBLE, 0, points->comm));
        if (points->own == 0)
            medians[points->count] = median_of_known(medians, points->count, 0);
    }
}

/* Ignores visit->seconds: half a tournament has no result. */
static void measure(struct linkmap *linkmap, struct bc_visit *visit)
{
    struct linkmap_row *const row = visit->row;
    const struct linkmap_points *const points = &linkmap->points;
    if (points->own < 0)
        return;
    linkmap_begin_visit(&row->links);
    if (points->own == 0)
        linkmap_times_add_visit(&row->medians);
    linkmap_time_rounds(&row->links);
    gather_medians(points, row);
    visit->is_precise = points->own == 0 && linkmap_is_precise(linkmap, row);
}

const struct bc_program linkmap_program = {
    .name = "linkmap",
    .summary =
        "Measures the links between all nodes, and names the nodes and links that are slow.\n"
        "Needs at least 2 processes, and 4 nodes or processes for verdicts.",
    .placement = BC_ON_PAGES,
    .options = {linkmap_options, LINKMAP_OPTIONS},
    .defaults = &linkmap_default_parameters,
    .defaults_bytes = sizeof linkmap_default_parameters,
    .state_bytes = sizeof(struct linkmap),
    .row_bytes = sizeof(struct linkmap_row),
    .budget_s = BC_BUDGET_S,
    .complete = complete,
    .fit = fit,
};

/* Reserves device memory. --check doubles it, for data to fill from and to compare with. */
static void open_memory(struct linkmap *linkmap, struct bc_run *run)
{
    const struct linkmap_parameters *const p = &linkmap->parameters;
    const double bytes = (run->settings.check ? 4.0 : 2.0) * (double)bc_size_list_max(&p->sizes);
    if (bc_memory_is_asked(&p->memory))
        linkmap->device = bc_memory_open(run, &p->memory, bytes, MEMORY_ADVICE);
}

static const struct bc_table *table_of(const struct linkmap *linkmap)
{
    return linkmap->device != NULL ? bc_table_with_key(&linkmap_table, linkmap_memory_column)
                                   : &linkmap_table;
}

int main(int argc, char **argv)
{
    struct linkmap linkmap;
    struct bc_error error = {""};
    struct bc_run *const run = bc_start(&linkmap_program, &linkmap, argc, argv);
    bc_require(run, can_exclude(&linkmap.parameters, run, &error), &error);
    open_memory(&linkmap, run);
    bc_open_result(run, table_of(&linkmap), "");
    open_linkmap(&linkmap, run);
    run->row_shares =
        1 + linkmap_rounds(points_of(&linkmap.parameters, &run->job)) / ROUNDS_A_SHARE;
    list_rows(&linkmap);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&linkmap, visit);
        else
            linkmap_write_rows(&linkmap, visit->row);
    close_linkmap(&linkmap);
    return bc_finish(run);
}
