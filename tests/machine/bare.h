/*
 * Programs that measure rows of a benchmark and, in turn, a bare loop of the same calls: is what
 * the benchmark reports what the calls take, and does its interval hold that?
 *
 * They are benchmark programs themselves. A visit of a row takes samples as the benchmark
 * does, in half of the time, then samples of the bare loop; both are summarised in the same way.
 * A row of the result has both times and their ratio. Environment variable BARE_ROW=N: measures
 * row N only, counted from 1.
 *
 * Bare loops are written from the specifications' text, with MPI_Wtime, or the benchmark's clock
 * where both ranks' readings are compared; what they time calls nothing of this project, but for
 * work between operations.
 */
#ifndef BARE_H
#define BARE_H

#include "common/measure/rounds.h"
#include "common/run/program.h"

/* What a row remembers of its bare loop from visit to visit. All zeros before the first one. */
struct bare_row {
    struct bc_store samples;
    bool has_less; /* the time of a second loop comes off */
};

/* Both times are of an operation, in ns; on rank 0. */
struct bare_result {
    const char *name;
    struct bc_summary ours, bare;
    double ratio; /* ours over the bare one */
    struct bc_outcome outcome;
};

extern const struct bc_table bare_table;

/* The members of struct bc_program that are the same for all of these programs. */
#define BARE_PROGRAM                                                                               \
    .row_bytes = sizeof(struct row), .budget_s = 20.0, .fit = bare_fit, .placement = BC_ON_PAGES

/* Needs two ranks. */
bool bare_fit(void *state, struct bc_run *run, struct bc_error *error);

/* Lists the rows, which begin with their number, an int from 0 to count - 1; or the one that
   BARE_ROW chooses. */
void bare_list(struct bc_run *run, int count);

/* The share of a visit that the benchmark's own samples may take. */
#define BARE_OURS 0.5

/* The benchmark's own rounds: batches of repetitions. */
extern const struct bc_quantities bare_ours;

/* Calls both parts of a visit, in the other order at every other visit, so that drift takes as much
   from either. The first visit begins with the benchmark, or, where environment variable BARE_FIRST
   is 1, with the bare loop: what begins a launch is disturbed most. */
void bare_in_turn(const struct bc_run *run, void (*ours)(void *), void (*bare)(void *),
                  void *context);

/* The repetitions of a bare loop: environment variable BARE_REPETITIONS, else as many as the
   benchmark's, since long loops are interrupted more often, or 100 before these are known. */
int64_t bare_repetitions(int64_t ours);

/* A bare loop: begins with a barrier of its own; returns the time of an operation on this rank in
   ns. Collective over MPI_COMM_WORLD. */
typedef double bare_fn(void *context);

/* The bare part of a visit: samples of the bare loop, of the slowest rank, within 1 - BARE_OURS of
   `seconds` (significant on rank 0). The loop times `repetitions` operations together; what a
   reading of the benchmark's clock costs comes off, MPI_Wtime's being about that. With `less`,
   which is of the same kind, its time comes off instead. Collective over MPI_COMM_WORLD. */
void bare_visit(const struct bc_run *run, bare_fn *loop, bare_fn *less, void *context,
                int64_t repetitions, double seconds, struct bare_row *row);

/* The same for a loop that begins with an untimed operation, bare_leads_in operations in all: ranks
   start apart (enum bc_lead_in). */
void bare_visit_apart(const struct bc_run *run, bare_fn *loop, void *context, int64_t repetitions,
                      double seconds, struct bare_row *row);

/* The untimed operations before the timed ones: 1 before several. */
int64_t bare_leads_in(int64_t repetitions);

/* Writes the row from `ours` and `outcome`, which are the benchmark's (rank 0), and frees what it
   holds. Collective. */
void bare_write_row(struct bc_run *run, const char *name, const struct bc_summary *ours,
                    const struct bc_outcome *outcome, struct bare_row *row);

#endif
