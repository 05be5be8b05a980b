/* SPDX-License-Identifier: BSD-3-Clause */
#include "pingpong/protocols.h"

#include "common/clock/clock.h"
#include "common/job/node_order.h"
#include "common/measure/plan.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"
#include "common/stats/random.h"
#include "common/stats/sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The mode. */
struct protocols {
    const struct pingpong_parameters *parameters;
    struct bc_run *run;
    struct protocols_pair pairs[2];
    int pair_count;
    struct protocols_times *times;   /* of a step; NULL except on rank 0, as the next one */
    struct protocols_answer *answer; /* of a row */
};

/* Remedy if buffers don't fit into memory. */
#define ADVICE "a smaller --max-ndata"

/* The precision of times in rows of status ok. The places of buffers change times by several
   percent. */
#define PRECISION 0.1

/* Shares of --max-time that a row takes. */
enum { ROW_SHARES = 4 };

/* ---- transfers: the timed region ------------------------------------------------------------- */

/* This rank's end of a transfer there and back. */
struct end {
    bool leads; /* transfers first */
    MPI_Comm comm;
    struct bc_buffer sent, received; /* messages */
    struct bc_coarray coarray;       /* puts */
    struct bc_images partner;
};

enum { TAG = 2 };

/* Arguments of MPI_Send, and of MPI_Recv before its status. */
#define TO_PARTNER(end, count) (end)->sent.start, count, MPI_DOUBLE, (end)->leads, TAG, (end)->comm
#define FROM_PARTNER(end, count)                                                                   \
    (end)->received.start, count, MPI_DOUBLE, (end)->leads, TAG, (end)->comm

static void receive(const struct end *end, int count)
{
    BC_MPI(MPI_Recv(FROM_PARTNER(end, count), MPI_STATUS_IGNORE));
}

static void play_send(struct end *end, int count)
{
    if (!end->leads)
        receive(end, count);
    BC_MPI(MPI_Send(TO_PARTNER(end, count)));
    if (end->leads)
        receive(end, count);
}

static void play_ssend(struct end *end, int count)
{
    if (!end->leads)
        receive(end, count);
    BC_MPI(MPI_Ssend(TO_PARTNER(end, count)));
    if (end->leads)
        receive(end, count);
}

static void play_isend(struct end *end, int count)
{
    MPI_Request received, sent;
    BC_MPI(MPI_Irecv(FROM_PARTNER(end, count), &received));
    if (!end->leads)
        BC_MPI(MPI_Wait(&received, MPI_STATUS_IGNORE));
    BC_MPI(MPI_Isend(TO_PARTNER(end, count), &sent));
    BC_MPI(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    if (end->leads)
        BC_MPI(MPI_Wait(&received, MPI_STATUS_IGNORE));
}

static void play_put(struct end *end, int count)
{
    if (!end->leads)
        bc_sync_images(&end->coarray, &end->partner);
    bc_coarray_put(&end->coarray, end->leads, 0, end->coarray.values, count, MPI_DOUBLE);
    bc_sync_images(&end->coarray, &end->partner);
    if (end->leads)
        bc_sync_images(&end->coarray, &end->partner);
}

static const struct {
    const char *name;
    void (*play)(struct end *end, int count);
} operations[PROTOCOLS_OPERATIONS] = {
    {"send", play_send}, {"ssend", play_ssend}, {"isend", play_isend}, {"put", play_put}};

const char *protocols_operation_name(int operation) { return operations[operation].name; }

/* Times transfers there and back, after an untimed one. */
static double time_batch(struct end *end, int operation, int64_t size, int64_t repetitions)
{
    const int count = (int)(size / (int64_t)sizeof(double));
    operations[operation].play(end, count);
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++)
        operations[operation].play(end, count);
    return (double)(bc_now_ns() - start_ns);
}

static void create_end(const struct protocols *protocols, const struct protocols_pair *pair,
                       struct end *end)
{
    const int64_t ndata = protocols->parameters->limits.max_ndata;
    const size_t bytes = (size_t)ndata * sizeof(double);
    int rank;
    BC_MPI(MPI_Comm_rank(pair->comm, &rank));
    const int partner = 1 - rank;
    end->leads = rank == 0;
    end->comm = pair->comm;
    bc_buffer_create(&end->sent, NULL, BC_MEMORY_HOST, bytes, false, ADVICE);
    bc_buffer_create(&end->received, NULL, BC_MEMORY_HOST, bytes, false, ADVICE);
    bc_coarray_create(&end->coarray, pair->comm, ndata);
    bc_images_create(&end->partner, end->coarray.comm, &partner, 1);
}

static void destroy_end(struct end *end)
{
    bc_images_destroy(&end->partner);
    bc_coarray_destroy(&end->coarray);
    bc_buffer_destroy(&end->received);
    bc_buffer_destroy(&end->sent);
}

/* Plans the next step, and sends it to the partner. Returns false if the visit has ended.
   Collective over the pair. */
static bool next_step(const struct protocols *protocols, struct protocols_row *row,
                      double deadline_s, double visit_s, struct protocols_step *step)
{
    if (protocols->run->job.rank == 0)
        protocols_plan(protocols->run, &protocols->parameters->limits, row, deadline_s, visit_s,
                       step);
    BC_MPI(MPI_Bcast(step, (int)(sizeof *step / sizeof(int64_t)), MPI_INT64_T, 0, row->pair->comm));
    return step->count > 0;
}

/* Fills `order` with a round's sizes in an order of its own, the same on both ranks. */
static void shuffle(int *order, int count, int64_t round)
{
    uint64_t state = (uint64_t)round;
    for (int i = 0; i < count; i++) {
        const int place = (int)(bc_random_next(&state) % (uint64_t)(i + 1));
        order[i] = order[place];
        order[place] = i;
    }
}

/* ---- a visit --------------------------------------------------------------------------------- */

static void measure(const struct protocols *protocols, struct bc_visit *visit)
{
    const struct bc_run *const run = protocols->run;
    struct protocols_row *const row = visit->row;
    const double deadline_s = bc_elapsed_s() + visit->seconds;
    struct protocols_times *const times = protocols->times;
    struct protocols_step step;
    struct end end;
    int order[PIECES_POINTS_MAX];
    if (row->pair->comm == MPI_COMM_NULL)
        return;
    create_end(protocols, row->pair, &end);
    while (next_step(protocols, row, deadline_s, visit->seconds, &step)) {
        for (int64_t round = 0; round < step.rounds; round++) {
            shuffle(order, (int)step.count, round);
            for (int i = 0; i < step.count; i++) {
                const int at = order[i];
                const double ns =
                    time_batch(&end, row->operation, step.sizes[at], step.repetitions[at]);
                if (times != NULL)
                    times->ns[at][round] =
                        (ns - run->own_clock.read_ns) / (2.0 * (double)step.repetitions[at]);
            }
        }
        if (times != NULL)
            protocols_take(row, &step, times);
    }
    destroy_end(&end);
    visit->is_precise = protocols->answer != NULL && protocols_judge(run, row, protocols->answer);
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct result {
    const char *operation, *place;
    int64_t piece; /* from 1 */
    int64_t from_bytes, from_lo_bytes, from_hi_bytes, to_bytes;
    struct bc_summary latency, slope; /* ns, ns per byte */
    struct bc_summary jump, jump_pct; /* at from_bytes; not of the first piece */
    struct bc_outcome outcome;
};

static const struct bc_column columns[] = {
    BC_COLUMN("operation", BC_KEY, 9, result, operation),
    BC_COLUMN("place", BC_RUN_KEY, 5, result, place),
    BC_COLUMN("piece", BC_KEY, 5, result, piece),
    BC_COLUMN("from_bytes", BC_MORE, 8, result, from_bytes),
    BC_COLUMN("from_lo_bytes", BC_INFO, 8, result, from_lo_bytes),
    BC_COLUMN("from_hi_bytes", BC_INFO, 8, result, from_hi_bytes),
    BC_COLUMN("to_bytes", BC_INFO, 8, result, to_bytes),
    BC_US_COLUMNS(BC_CELL_US, "latency", BC_LESS, 3, result, latency),
    BC_COLUMN("byte_ns", BC_LESS, 4, result, slope.value),
    BC_COLUMN("byte_lo_ns", BC_INFO, 4, result, slope.interval.lo),
    BC_COLUMN("byte_hi_ns", BC_INFO, 4, result, slope.interval.hi),
    BC_COLUMN_AS(BC_CELL_US, "jump_us", BC_INFO, 3, result, jump.value),
    BC_COLUMN("jump_pct", BC_INFO, 1, result, jump_pct.value),
    BC_COLUMN("jump_lo_pct", BC_INFO, 1, result, jump_pct.interval.lo),
    BC_COLUMN("jump_hi_pct", BC_INFO, 1, result, jump_pct.interval.hi),
    BC_OUTCOME_COLUMNS(result, outcome),
};

/* Of one pair, and of two. */
static const struct bc_table tables[] = {
    {.columns = columns,
     .count = sizeof columns / sizeof *columns,
     .main = "operation,from_bytes,to_bytes,latency_us,latency_lo_us,latency_hi_us,byte_ns,"
             "byte_lo_ns,byte_hi_ns,jump_us,jump_pct,status",
     .spare = "to_bytes,jump_us"},
    {.columns = columns,
     .count = sizeof columns / sizeof *columns,
     .main = "operation,from_bytes,to_bytes,latency_us,latency_lo_us,latency_hi_us,byte_ns,"
             "jump_us,jump_pct,status",
     .spare = "to_bytes,jump_us"},
};

static int64_t whole(double bytes)
{
    return isnan(bytes) ? BC_NO_INTEGER : (int64_t)(PROTOCOLS_UNIT * ceil(bytes / PROTOCOLS_UNIT));
}

/* True if the time at the beginning of a piece is known well enough. */
static bool is_precise(const struct protocols *protocols, const struct protocols_row *row,
                       const struct protocols_piece *piece, double from)
{
    double times[PROTOCOLS_VISITS_MAX];
    for (int v = 0; v < row->visits; v++)
        times[v] = piece->latency[v] + piece->slope[v] * from;
    const struct bc_summary time = bc_run_over_visits(protocols->run, times, (size_t)row->visits);
    return bc_is_precise(&time, PRECISION);
}

static struct result result_of(const struct protocols *protocols, const struct protocols_row *row,
                               int p)
{
    const struct bc_run *const run = protocols->run;
    const struct pieces *const pieces = &protocols->answer->pieces;
    const struct protocols_piece *const piece = &protocols->answer->of[p];
    const double *const sizes = row->points.sizes;
    const double max = sizes[row->points.count - 1];
    const bool is_last = p == pieces->count - 1;
    const size_t visits = (size_t)row->visits;
    struct result result = {
        .operation = operations[row->operation].name,
        .place = row->pair->place,
        .piece = p + 1,
        .from_bytes = (int64_t)sizes[0],
        .from_lo_bytes = (int64_t)sizes[0],
        .from_hi_bytes = (int64_t)sizes[0],
        .to_bytes = is_last ? (int64_t)max : whole(piece[1].from - PROTOCOLS_UNIT),
        .latency = bc_run_over_visits(run, piece->latency, visits),
        .slope = bc_run_over_visits(run, piece->slope, visits),
        .jump = bc_no_summary,
        .jump_pct = bc_no_summary,
        .outcome = run->visited,
    };
    result.outcome.samples = row->samples;
    result.outcome.slowest_rank = BC_NO_INT;
    const bool is_precise_line = is_precise(protocols, row, piece, p == 0 ? sizes[0] : piece->from);
    result.outcome.status = is_precise_line && !protocols->answer->is_unclear ? BC_OK : BC_BUDGET;
    if (p == 0)
        return result;
    result.from_bytes = whole(piece->from);
    result.from_lo_bytes = whole(piece->from_lo);
    result.from_hi_bytes = whole(piece->from_hi);
    result.jump = bc_run_over_visits(run, piece->jump, visits);
    result.jump_pct = bc_run_over_visits(run, piece->jump_share, visits);
    bc_summary_scale(&result.jump_pct, 100.0);
    if (!piece->is_located)
        result.outcome.status = BC_BUDGET;
    return result;
}

/* Writes a line for each piece, and frees the times. */
static void write_pieces(const struct protocols *protocols, struct protocols_row *row)
{
    struct result result = {0};
    int count = 1; /* all ranks write the first piece */
    if (protocols->run->job.rank == 0) {
        protocols_judge(protocols->run, row, protocols->answer);
        count = protocols->answer->pieces.count;
    }
    for (int p = 0; p < count; p++) {
        if (protocols->run->job.rank == 0)
            result = result_of(protocols, row, p);
        bc_write_row(protocols->run, &result);
    }
    free(row->medians);
}

/* Makes the pair of the ranks at place 0 and another place. */
static void add_pair(struct protocols *protocols, const char *name, int place, int other)
{
    const bool plays = place == 0 || place == other;
    struct protocols_pair *const pair = &protocols->pairs[protocols->pair_count++];
    pair->place = name;
    BC_MPI(MPI_Comm_split(MPI_COMM_WORLD, plays ? 0 : MPI_UNDEFINED, place, &pair->comm));
}

/* Makes the pairs, opens the result and lists the rows. */
static void open_protocols(struct protocols *protocols,
                           const struct pingpong_parameters *parameters, struct bc_run *run)
{
    struct bc_node_order by_node;
    int on_node = run->job.node_ranks; /* of rank 0 */
    protocols->parameters = parameters;
    protocols->run = run;
    bc_node_order_create(&by_node, &run->job);
    BC_MPI(MPI_Bcast(&on_node, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (on_node > 1)
        add_pair(protocols, "node", by_node.place, on_node - 1);
    if (run->job.nodes > 1)
        add_pair(protocols, "net", by_node.place, run->job.ranks - 1);
    bc_node_order_destroy(&by_node);
    bc_open_result(run, &tables[protocols->pair_count - 1],
                   protocols->pair_count > 1 ? "place," : "");
    if (run->job.rank == 0) {
        protocols->times = bc_allocate(1, sizeof *protocols->times, "no memory for times");
        protocols->answer = bc_allocate(1, sizeof *protocols->answer, "no memory for times");
    }
    run->row_shares = ROW_SHARES;
    for (int i = 0; i < protocols->pair_count; i++)
        for (int operation = 0; operation < PROTOCOLS_OPERATIONS; operation++)
            if (parameters->operations.chosen[operation]) {
                struct protocols_row *const row = operations[operation].play == play_put
                                                      ? bc_add_window_row(run)
                                                      : bc_add_row(run);
                row->operation = operation;
                row->pair = &protocols->pairs[i];
            }
}

static void close_protocols(struct protocols *protocols)
{
    for (int i = 0; i < protocols->pair_count; i++)
        if (protocols->pairs[i].comm != MPI_COMM_NULL)
            BC_MPI(MPI_Comm_free(&protocols->pairs[i].comm));
    free(protocols->times);
    free(protocols->answer);
}

void protocols_run(const struct pingpong_parameters *parameters, struct bc_run *run)
{
    struct protocols protocols = {0};
    open_protocols(&protocols, parameters, run);
    for (struct bc_visit *visit; (visit = bc_next_visit(run)) != NULL;)
        if (visit->step == BC_MEASURE)
            measure(&protocols, visit);
        else if (visit->step == BC_WRITE)
            write_pieces(&protocols, visit->row);
    close_protocols(&protocols);
}
