/*
 * Which node, link or direction of a job is slow: the time of a message between every two nodes,
 * all pairs in a tournament, what explains these times, and what is out of line.
 *
 * Method: map.h says how times are explained, verdicts.h what is out of line.
 */
#include "common/clock/clock.h"
#include "common/machine/node_order.h"
#include "common/mpi/harness.h"
#include "common/mpi/mpi_check.h"
#include "common/result/text.h"
#include "common/run/benchmark.h"
#include "linkmap/parameters.h"
#include "linkmap/tournament.h"
#include "linkmap/verdicts.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages over a link in a visit. */
enum { ROUND_TRIPS = 10, ONE_WAYS = 4 };

/* After so many rounds of the first visit what is known of each point is written. */
enum { BLOCK_ROUNDS = 64 };

/* Between two notes on how far a tournament is. */
#define NOTE_S 5.0

/* Points in a line of a note. */
enum { POINTS_A_LINE = 16 };

/* Rounds of a tournament that a row's --max-time is for. */
enum { ROUNDS_A_SHARE = 8 };

enum { NAME_LENGTH = BC_CELL_LENGTH };

/* What rank 0 knows of a point. */
struct place {
    char name[NAME_LENGTH]; /* the host's, or with --per=rank HOST:RANK */
    char host[NAME_LENGTH];
    int rank; /* of MPI_COMM_WORLD */
    bool is_slow;
};

struct linkmap_state {
    struct linkmap_parameters parameters;
    struct bc_run *run;
    bool per_rank;
    struct linkmap_points points;
    struct place *places; /* NULL on all ranks but rank 0 */
    bool judged;          /* all sizes had their verdicts */
    double noted_s;       /* when it was said last how far the tournament is */
};

/* Of a row: a message size. */
struct key {
    int bytes;
};

/* What is known of a size. */
struct row {
    struct linkmap_links links;
    double *medians_ns; /* of each point's links, by visit, way and point; rank 0 */
    bool is_judged;
    struct linkmap_map map;
    struct linkmap_verdicts verdicts;
    int64_t further; /* rows after the first one */
    int64_t next;    /* the next of them */
    int from, to;    /* the pair of the last one */
};

/* ---- columns --------------------------------------------------------------------------------- */

struct result {
    const char *scope; /* whole, node (or rank), pair */
    char a[NAME_LENGTH], b[NAME_LENGTH];
    int64_t bytes;
    struct bc_summary time;               /* half a round trip, ns */
    struct bc_summary ways[LINKMAP_WAYS]; /* bandwidths, MB/s */
    double alone_pct;
    const char *verdict;
    int group;
    struct bc_outcome outcome;
};

#define BANDWIDTH_COLUMNS(name, way)                                                               \
    BC_COLUMN(name "_mbs", BC_MORE, 3, result, ways[way].value),                                   \
        BC_COLUMN(name "_lo_mbs", BC_INFO, 3, result, ways[way].interval.lo),                      \
        BC_COLUMN(name "_hi_mbs", BC_INFO, 3, result, ways[way].interval.hi)

static const struct bc_column columns[] = {
    BC_COLUMN("scope", BC_KEY, 0, result, scope),
    {"a", BC_KEY, 0, BC_CELL_CHARS, offsetof(struct result, a)},
    {"b", BC_KEY, 0, BC_CELL_CHARS, offsetof(struct result, b)},
    BC_COLUMN("nbytes", BC_KEY, 0, result, bytes),
    BC_COLUMN_AS(BC_CELL_TIME, "time_us", BC_LESS, 3, result, time.value),
    BC_COLUMN_AS(BC_CELL_TIME, "time_lo_us", BC_INFO, 3, result, time.interval.lo),
    BC_COLUMN_AS(BC_CELL_TIME, "time_hi_us", BC_INFO, 3, result, time.interval.hi),
    BANDWIDTH_COLUMNS("out", LINKMAP_OUT),
    BANDWIDTH_COLUMNS("in", LINKMAP_IN),
    BC_COLUMN("alone_pct", BC_INFO, 1, result, alone_pct),
    BC_COLUMN("verdict", BC_INFO, 0, result, verdict),
    BC_COLUMN("group", BC_INFO, 0, result, group),
    BC_OUTCOME_COLUMNS(result, outcome),
};

/* ---- usage ----------------------------------------------------------------------------------- */

static int points_of(const struct linkmap_parameters *p, const struct bc_job *job)
{
    const bool per_rank =
        p->per == LINKMAP_PER_RANK || (p->per == LINKMAP_PER_AUTO && job->nodes < 2);
    return per_rank ? job->ranks : job->nodes;
}

/* Whether the file can be written; it isn't changed. */
static bool can_write(const char *path)
{
    FILE *const file = fopen(path, "a");
    return file != NULL && fclose(file) == 0;
}

static bool fit(void *state, struct bc_run *run, struct bc_error *error)
{
    const struct linkmap_parameters *const p = &((struct linkmap_state *)state)->parameters;
    const double needed = 2.0 * (double)bc_size_list_max(&p->sizes);
    const double usable = bc_run_usable_bytes(run, BC_MEMORY_SHARE, false);
    if (run->job.ranks < 2)
        return bc_error_set(error, "a link needs at least 2 processes, got 1: use mpirun -np 2 or "
                                   "more" BC_LAUNCHER_HINT);
    if (points_of(p, &run->job) < 2)
        return bc_error_set(error, "--per: node needs several nodes, and there is one: use rank");
    if (needed > usable)
        return bc_error_set(error,
                            "--sizes: messages of %lld bytes need %.1f MiB a rank, and %.1f fit "
                            "into memory: use smaller ones",
                            (long long)bc_size_list_max(&p->sizes), needed / 1048576,
                            usable / 1048576);
    if (p->exclude != NULL && !can_write(p->exclude))
        return bc_error_set(error, "--exclude: %.200s: cannot be written: %s: use another file",
                            p->exclude, strerror(errno));
    return true;
}

static int shares(const void *state)
{
    const struct linkmap_state *const linkmap = state;
    const int rounds = linkmap_rounds(points_of(&linkmap->parameters, &linkmap->run->job));
    return 1 + rounds / ROUNDS_A_SHARE;
}

/* ---- what all sizes share -------------------------------------------------------------------- */

static bool is_point(const struct linkmap_state *linkmap) { return linkmap->points.own >= 0; }

/* Brings what rank 0 is to know of the points there. Collective over the points. */
static void gather_places(struct linkmap_state *linkmap)
{
    const struct linkmap_points *const points = &linkmap->points;
    char processor[MPI_MAX_PROCESSOR_NAME + 1] = "";
    struct place own = {.rank = linkmap->run->job.rank};
    int length;
    BC_MPI(MPI_Get_processor_name(processor, &length));
    snprintf(own.host, sizeof own.host, "%.50s", processor);
    if (linkmap->per_rank)
        snprintf(own.name, sizeof own.name, "%.50s:%d", processor, own.rank);
    else
        snprintf(own.name, sizeof own.name, "%.50s", processor);
    if (points->own == 0)
        linkmap->places = bc_allocate((size_t)points->count, sizeof *linkmap->places,
                                      "no memory for %d names", points->count);
    BC_MPI(MPI_Gather(&own, (int)sizeof own, MPI_BYTE, linkmap->places, (int)sizeof own, MPI_BYTE,
                      0, points->comm));
}

static void note_points(const struct linkmap_state *linkmap)
{
    const struct linkmap_points *const points = &linkmap->points;
    struct bc_output *const output = linkmap->run->output;
    const int rounds = linkmap_rounds(points->count);
    bc_output_remark(output, "note", "%d links between %d %s: %d rounds of %d links at a time",
                     points->count * (points->count - 1) / 2, points->count,
                     linkmap->per_rank ? "ranks" : "nodes, by the lowest rank of each", rounds,
                     points->count / 2);
    if (points->count < LINKMAP_POINTS_MIN)
        bc_output_remark(output, "note",
                         "no verdicts: what is out of line shows only among %d or more",
                         LINKMAP_POINTS_MIN);
}

static void open_linkmap(void *state, struct bc_run *run)
{
    struct linkmap_state *const linkmap = state;
    struct linkmap_points *const points = &linkmap->points;
    const size_t bytes = (size_t)bc_size_list_max(&linkmap->parameters.sizes);
    struct bc_node_order by_node;
    linkmap->run = run;
    linkmap->per_rank = points_of(&linkmap->parameters, &run->job) == run->job.ranks &&
                        (linkmap->parameters.per == LINKMAP_PER_RANK || run->job.nodes < 2);
    linkmap->judged = true;
    linkmap->noted_s = bc_elapsed_s();
    *points = (struct linkmap_points){.own = -1,
                                      .clock_ns = run->own_clock.read_ns,
                                      .estimator = (enum bc_estimator)run->settings.estimator,
                                      .checks = run->settings.check};
    bc_node_order_create(&by_node, &run->job);
    const bool takes_part = linkmap->per_rank || run->job.node_rank == 0;
    BC_MPI(
        MPI_Comm_split(by_node.comm, takes_part ? 0 : MPI_UNDEFINED, by_node.place, &points->comm));
    bc_node_order_destroy(&by_node);
    if (points->comm == MPI_COMM_NULL)
        return;
    BC_MPI(MPI_Comm_size(points->comm, &points->count));
    BC_MPI(MPI_Comm_rank(points->comm, &points->own));
    points->sent = bc_allocate_pages(bytes, "no memory for messages");
    points->received = bc_allocate_pages(bytes, "no memory for messages");
    gather_places(linkmap);
    note_points(linkmap);
}

static void list_rows(void *state, struct bc_rows *rows)
{
    const struct linkmap_parameters *const p = &((const struct linkmap_state *)state)->parameters;
    for (size_t i = 0; i < p->sizes.count; i++) {
        const struct key key = {(int)p->sizes.values[i]};
        bc_rows_add(rows, &key);
    }
}

/* Writes the hosts of slow points, each once. False if the file can't be written. Rank 0. */
static bool write_excluded(const struct linkmap_state *linkmap)
{
    FILE *const file = fopen(linkmap->parameters.exclude, "w");
    if (file == NULL)
        return false;
    const char *last = "";
    for (int i = 0; i < linkmap->points.count; i++)
        if (linkmap->places[i].is_slow && strcmp(linkmap->places[i].host, last) != 0) {
            last = linkmap->places[i].host;
            fprintf(file, "%s\n", last);
        }
    const bool good = bc_stream_problem(file) == 0;
    return fclose(file) == 0 && good;
}

static void conclude_excluded(struct linkmap_state *linkmap)
{
    struct bc_run *const run = linkmap->run;
    if (!linkmap->judged || linkmap->points.count < LINKMAP_POINTS_MIN) {
        bc_output_remark(run->output, "warning",
                         "--exclude: nothing was written, for want of "
                         "verdicts");
    } else if (!write_excluded(linkmap)) {
        bc_output_remark(run->output, "warning", "--exclude: %.200s: cannot be written: %s",
                         linkmap->parameters.exclude, strerror(errno));
        run->failed = true;
    }
}

static void close_linkmap(void *state)
{
    struct linkmap_state *const linkmap = state;
    if (linkmap->points.own == 0 && linkmap->parameters.exclude != NULL)
        conclude_excluded(linkmap);
    free(linkmap->points.sent);
    free(linkmap->points.received);
    free(linkmap->places);
    if (is_point(linkmap))
        BC_MPI(MPI_Comm_free(&linkmap->points.comm));
}

/* ---- a visit --------------------------------------------------------------------------------- */

/* What `between` gets. */
struct block {
    struct linkmap_state *linkmap;
    struct row *row;
};

/* The medians of a visit, on rank 0. */
static double *medians_of(const struct row *row, int points, int visit, int way)
{
    return row->medians_ns + ((size_t)visit * LINKMAP_WAYS + (size_t)way) * (size_t)points;
}

/* Brings the median of each point's links in the last visit to rank 0. Collective over the points.
 */
static void gather_medians(struct block *block)
{
    const struct linkmap_points *const points = &block->linkmap->points;
    struct row *const row = block->row;
    const int visit = row->links.visits - 1;
    if (points->own == 0) {
        const size_t bytes = (size_t)row->links.visits * LINKMAP_WAYS * (size_t)points->count *
                             sizeof *row->medians_ns;
        row->medians_ns = realloc(row->medians_ns, bytes);
        if (row->medians_ns == NULL)
            bc_abort("no memory for the times of %d points", points->count);
    }
    for (int way = 0; way < LINKMAP_WAYS; way++) {
        const double own_ns =
            linkmap_visit_median(&row->links, points, visit, (enum linkmap_way)way);
        BC_MPI(MPI_Gather(&own_ns, 1, MPI_DOUBLE,
                          points->own == 0 ? medians_of(row, points->count, visit, way) : NULL, 1,
                          MPI_DOUBLE, 0, points->comm));
    }
}

/* Writes what is known of each point from time to time, so that a job that dies has said how far it
   came. */
static void note_medians(const struct block *block, int rounds)
{
    const struct linkmap_points *const points = &block->linkmap->points;
    const struct row *const row = block->row;
    if (points->own != 0 || bc_elapsed_s() < block->linkmap->noted_s + NOTE_S)
        return;
    block->linkmap->noted_s = bc_elapsed_s();
    const double *const out_ns = medians_of(row, points->count, row->links.visits - 1, LINKMAP_OUT);
    for (int first = 0; first < points->count; first += POINTS_A_LINE) {
        struct bc_text line = {0};
        for (int i = first; i < points->count && i < first + POINTS_A_LINE; i++)
            bc_text_append(&line, "%s%s %.3f", i > first ? ", " : "",
                           block->linkmap->places[i].name, out_ns[i] * 1e-3);
        bc_output_remark(block->linkmap->run->output, "note",
                         "%d bytes, visit %d, %d of %d rounds, us a link: %s", row->links.bytes,
                         row->links.visits, rounds, linkmap_rounds(points->count), line.start);
        free(line.start);
    }
}

static void between_blocks(void *context, int rounds)
{
    gather_medians(context);
    note_medians(context, rounds);
}

static int repetitions_of(const struct bc_run *run, bool one_way)
{
    if (run->settings.samples == 0)
        return one_way ? ONE_WAYS : ROUND_TRIPS;
    return (int)((run->settings.samples + run->visits - 1) / run->visits);
}

static void visit(void *state, const void *row_key, double seconds, void *memory)
{
    (void)seconds; /* A tournament is whole, or it says nothing. */
    struct linkmap_state *const linkmap = state;
    struct row *const row = memory;
    struct block block = {linkmap, row};
    if (!is_point(linkmap))
        return;
    row->links.bytes = ((const struct key *)row_key)->bytes;
    row->links.one_way = row->links.bytes >= LINKMAP_ONE_WAY_BYTES;
    row->links.repetitions = repetitions_of(linkmap->run, row->links.one_way);
    const bool is_first = row->links.visits == 0;
    linkmap_visit(&row->links, &linkmap->points, BLOCK_ROUNDS, is_first ? between_blocks : NULL,
                  &block);
    between_blocks(&block, linkmap_rounds(linkmap->points.count));
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* What a time is as a bandwidth, its interval too. */
static struct bc_summary bandwidth_of(struct bc_summary ns, int bytes)
{
    const double mb = 1e9 * bytes / 1048576.0;
    struct bc_summary made = ns;
    made.value = mb / ns.value;
    made.interval = (struct bc_interval){mb / ns.interval.hi, mb / ns.interval.lo};
    return made;
}

static struct bc_summary no_summary(void)
{
    return (struct bc_summary){
        .value = NAN, .interval = {NAN, NAN}, .sd = NAN, .p99 = NAN, .max = NAN};
}

/* Writes what visits said to the file of --dump-samples. Rank 0. */
static void dump(const struct bc_run *run, const char *name, const double *values, int visits)
{
    struct bc_samples samples = {0};
    for (int i = 0; i < visits; i++) {
        bc_samples_begin_visit(&samples);
        bc_samples_append(&samples, &values[i], 1, 0);
    }
    bc_run_dump(run, name, &samples, 0);
    bc_samples_free(&samples);
}

/* Sets the times of a result, and its status, from what visits said of each way: as many values,
   which may be reordered. */
static void set_times(const struct linkmap_state *linkmap, const struct row *row,
                      struct result *result, double *const values[LINKMAP_WAYS])
{
    static const char *const names[LINKMAP_WAYS] = {"out", "in"};
    const struct bc_run *const run = linkmap->run;
    const int ways = row->links.one_way ? LINKMAP_WAYS : 1;
    bool precise = true;
    result->time = result->ways[LINKMAP_OUT] = result->ways[LINKMAP_IN] = no_summary();
    for (int way = 0; way < ways; way++) {
        dump(run, row->links.one_way ? names[way] : "time", values[way], row->links.visits);
        const struct bc_summary ns =
            linkmap_over_visits(values[way], (size_t)row->links.visits, linkmap->points.estimator,
                                run->settings.confidence_pct / 100.0);
        precise = precise && bc_is_precise(&ns, run->settings.precision_pct / 100.0);
        if (row->links.one_way)
            result->ways[way] = bandwidth_of(ns, row->links.bytes);
        else
            result->time = ns;
    }
    result->outcome.status = precise ? BC_OK : BC_BUDGET;
}

/* What all rows of a size have. */
static void begin_result(const struct linkmap_state *linkmap, const struct row *row,
                         struct result *result, const char *scope, const char *a, const char *b)
{
    const struct bc_run *const run = linkmap->run;
    result->scope = scope;
    snprintf(result->a, sizeof result->a, "%s", a);
    snprintf(result->b, sizeof result->b, "%s", b);
    result->bytes = row->links.bytes;
    result->alone_pct = NAN;
    result->verdict = NULL;
    result->group = BC_NO_INT;
    result->outcome =
        (struct bc_outcome){.visits = run->presence.visits,
                            .lost_pct = run->presence.lost_pct,
                            .samples = (int64_t)row->links.visits * row->links.repetitions,
                            .status = BC_OK,
                            .slowest_rank = BC_NO_INT};
}

/* Room for what visits say of each way. */
static void allocate_values(const struct row *row, double *values[LINKMAP_WAYS])
{
    for (int way = 0; way < LINKMAP_WAYS; way++)
        values[way] =
            bc_allocate((size_t)row->links.visits, sizeof *values[way], "no memory for a row");
}

static void free_values(double *values[LINKMAP_WAYS])
{
    for (int way = 0; way < LINKMAP_WAYS; way++)
        free(values[way]);
}

/* What each visit says of a point, or with -1 of all: the median of its links, or of theirs. Rank
 * 0.
 */
static void list_medians(const struct linkmap_state *linkmap, const struct row *row, int way,
                         int point, double *values)
{
    const size_t points = (size_t)linkmap->points.count;
    double *const of_visit = bc_allocate(points, sizeof *of_visit, "no memory for a row");
    for (int i = 0; i < row->links.visits; i++) {
        memcpy(of_visit, medians_of(row, (int)points, i, way), points * sizeof *of_visit);
        values[i] = point >= 0 ? of_visit[point] : bc_median(of_visit, points);
    }
    free(of_visit);
}

static void set_over_visits(const struct linkmap_state *linkmap, const struct row *row,
                            struct result *result, int point)
{
    double *values[LINKMAP_WAYS];
    allocate_values(row, values);
    for (int way = 0; way < LINKMAP_WAYS; way++)
        list_medians(linkmap, row, way, point, values[way]);
    set_times(linkmap, row, result, values);
    free_values(values);
}

static int slowest_point(const struct linkmap_state *linkmap, const struct row *row)
{
    int slowest = 0;
    double most_ns = 0.0, *values[LINKMAP_WAYS];
    allocate_values(row, values);
    for (int i = 0; i < linkmap->points.count; i++)
        for (int way = 0; way < LINKMAP_WAYS; way++) {
            list_medians(linkmap, row, way, i, values[way]);
            const double ns = bc_median(values[way], (size_t)row->links.visits);
            slowest = ns > most_ns ? i : slowest;
            most_ns = fmax(most_ns, ns);
        }
    free_values(values);
    return slowest;
}

static bool is_precise(const void *state, const void *row_key, const void *memory)
{
    (void)row_key;
    const struct linkmap_state *const linkmap = state;
    const struct row *const row = memory;
    const struct bc_settings *const settings = &linkmap->run->settings;
    double *values[LINKMAP_WAYS];
    allocate_values(row, values);
    list_medians(linkmap, row, LINKMAP_OUT, -1, values[LINKMAP_OUT]);
    const struct bc_summary ns =
        linkmap_over_visits(values[LINKMAP_OUT], (size_t)row->links.visits,
                            linkmap->points.estimator, settings->confidence_pct / 100.0);
    free_values(values);
    return bc_is_precise(&ns, settings->precision_pct / 100.0);
}

/* The pair after `row->from` and `row->to` that has a row. False if there is none. Points only. */
static bool next_pair(const struct linkmap_state *linkmap, struct row *row)
{
    double ignored;
    for (;;) {
        if (++row->to >= linkmap->points.count) {
            row->from++;
            row->to = row->from + 1;
        }
        if (row->to >= linkmap->points.count)
            return false;
        if (linkmap->parameters.pairs == LINKMAP_PAIRS_ALL ||
            linkmap_fault_of_link(&row->verdicts, row->from, row->to, &ignored) != LINKMAP_EVEN)
            return true;
    }
}

/* How many rows there are after the first one, on all ranks. Collective. */
static int64_t count_further(const struct linkmap_state *linkmap, const struct row *row)
{
    int64_t count = 0;
    if (linkmap->points.own == 0) {
        struct row counted = *row;
        count = linkmap->points.count;
        while (next_pair(linkmap, &counted))
            count++;
    }
    bc_harness_bcast(&count, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return count;
}

/* What is said of all points and links together; rank 0. */
static const char *whole_verdict(const struct row *row)
{
    if (row->map.groups > 1)
        return "two groups";
    for (int i = 0; i < row->verdicts.count; i++)
        if (row->verdicts.suspects[i].named)
            return "out of line";
    return "even";
}

static void note_verdicts(const struct linkmap_state *linkmap, const struct row *row)
{
    struct bc_output *const output = linkmap->run->output;
    const struct linkmap_map *const map = &row->map;
    if (map->groups > 1)
        bc_output_remark(output, "note",
                         "%d bytes: two groups of points: links take %.3f and %.3f us within them, "
                         "%.3f and %.3f from one to the other",
                         row->links.bytes, map->expected_ns[0][0] * 1e-3,
                         map->expected_ns[1][1] * 1e-3, map->expected_ns[0][1] * 1e-3,
                         map->expected_ns[1][0] * 1e-3);
    if (row->verdicts.left_out > 0)
        bc_output_remark(output, "warning",
                         "%d bytes: %d more links were suspected, too many to be timed again",
                         row->links.bytes, row->verdicts.left_out);
}

static void judge(struct linkmap_state *linkmap, struct row *row)
{
    const struct linkmap_parameters *const p = &linkmap->parameters;
    const struct linkmap_limits limits = {p->alpha_pct / 100.0, p->threshold_pct / 100.0};
    linkmap_map_make(&row->map, &row->links, &linkmap->points, limits.threshold);
    linkmap_judge(&row->verdicts, &row->map, &row->links, &linkmap->points, &limits);
}

static void conclude(void *state, const void *row_key, void *memory, void *filled)
{
    (void)row_key;
    struct linkmap_state *const linkmap = state;
    struct row *const row = memory;
    struct result *const result = filled;
    const struct bc_run *const run = linkmap->run;
    const bool complete = run->signal == 0;
    linkmap->judged = linkmap->judged && complete;
    row->is_judged = is_point(linkmap) && complete && linkmap->points.count >= LINKMAP_POINTS_MIN;
    int64_t wrong = 0;
    if (row->is_judged)
        judge(linkmap, row);
    if (run->settings.check)
        bc_harness_reduce(&row->links.wrong, &wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    row->from = -1;
    row->to = linkmap->points.count;
    row->further = count_further(linkmap, row);
    if (linkmap->points.own != 0)
        return;
    begin_result(linkmap, row, result, "whole", "NA", "NA");
    set_over_visits(linkmap, row, result, -1);
    result->outcome.slowest_rank = linkmap->places[slowest_point(linkmap, row)].rank;
    if (wrong > 0)
        result->outcome.status = BC_FAIL;
    if (row->is_judged) {
        result->verdict = whole_verdict(row);
        note_verdicts(linkmap, row);
    }
}

static void follow_point(struct linkmap_state *linkmap, const struct row *row, int point,
                         struct result *result)
{
    struct place *const place = &linkmap->places[point];
    begin_result(linkmap, row, result, linkmap->per_rank ? "rank" : "node", place->name, "NA");
    set_over_visits(linkmap, row, result, point);
    result->outcome.slowest_rank = place->rank;
    if (!row->is_judged)
        return;
    const enum linkmap_fault fault =
        linkmap_fault_of_point(&row->verdicts, point, &result->alone_pct);
    result->verdict = linkmap_fault_name(fault);
    result->group = row->map.groups > 1 ? row->map.group[point] : BC_NO_INT;
    place->is_slow = place->is_slow || fault != LINKMAP_EVEN;
}

/* Brings what visits said of the row's pair to rank 0. Collective over the points. */
static void fetch_pair(const struct linkmap_state *linkmap, const struct row *row,
                       double *values[LINKMAP_WAYS])
{
    const struct linkmap_points *const points = &linkmap->points;
    const int visits = row->links.visits;
    enum { TAG = 3 };
    for (int way = 0; way < LINKMAP_WAYS; way++) {
        if (points->own == row->from)
            linkmap_times(&row->links, points, (enum linkmap_way)way, row->to, values[way]);
        if (points->own == row->from && row->from != 0)
            BC_MPI(MPI_Send(values[way], visits, MPI_DOUBLE, 0, TAG, points->comm));
        if (points->own == 0 && row->from != 0)
            BC_MPI(MPI_Recv(values[way], visits, MPI_DOUBLE, row->from, TAG, points->comm,
                            MPI_STATUS_IGNORE));
    }
}

/* Collective over the points; the result is rank 0's. */
static void follow_pair(const struct linkmap_state *linkmap, const struct row *row,
                        struct result *result)
{
    double *values[LINKMAP_WAYS];
    allocate_values(row, values);
    fetch_pair(linkmap, row, values);
    if (linkmap->points.own == 0) {
        begin_result(linkmap, row, result, "pair", linkmap->places[row->from].name,
                     linkmap->places[row->to].name);
        set_times(linkmap, row, result, values);
        result->outcome.slowest_rank = linkmap->places[row->from].rank;
        if (row->is_judged)
            result->verdict = linkmap_fault_name(
                linkmap_fault_of_link(&row->verdicts, row->from, row->to, &result->alone_pct));
    }
    free_values(values);
}

static void free_row(struct row *row)
{
    linkmap_links_free(&row->links);
    linkmap_map_free(&row->map);
    linkmap_verdicts_free(&row->verdicts);
    free(row->medians_ns);
}

static bool follow(void *state, const void *row_key, void *memory, void *filled)
{
    (void)row_key;
    struct linkmap_state *const linkmap = state;
    struct row *const row = memory;
    if (row->next == row->further) {
        free_row(row);
        return false;
    }
    const int64_t number = row->next++;
    if (!is_point(linkmap))
        return true;
    if (number >= linkmap->points.count) {
        next_pair(linkmap, row);
        follow_pair(linkmap, row, filled);
    } else if (linkmap->points.own == 0) {
        follow_point(linkmap, row, (int)number, filled);
    }
    return true;
}

const struct bc_benchmark linkmap_benchmark = {
    .name = "linkmap",
    .summary =
        "Measures the links between all nodes, and names the nodes and links that are slow.\n"
        "Needs at least 2 processes, and 4 nodes or processes for verdicts.",
    .options = {linkmap_options, LINKMAP_OPTIONS, &linkmap_default_parameters,
                sizeof linkmap_default_parameters},
    .table = {columns, sizeof columns / sizeof *columns},
    .budget_s = 50.0,
    .bytes = {sizeof(struct linkmap_state), sizeof(struct key), sizeof(struct result),
              sizeof(struct row)},
    .fit = fit,
    .open = open_linkmap,
    .rows = list_rows,
    .visit = visit,
    .is_precise = is_precise,
    .conclude = conclude,
    .follow = follow,
    .close = close_linkmap,
    .shares = shares,
};
