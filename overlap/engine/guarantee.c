#include "overlap/engine/visit.h"

#include "common/mpi/harness.h"

#include <math.h>

/* Work that made the operation longer is lowered by as much, but by this share of it at least. */
#define LOWER_SHARE_MIN 0.05

/* A knee that lies above the work by this factor is believed. */
#define RAISE_FACTOR 1.1

/* Before the first visit's rounds at most PROBES_MAX amounts are probed, with PROBE_ROUNDS rounds
   each, in this share of the visit's time. Fewer than ROUNDS_MIN rounds have no interval. */
enum { PROBES_MAX = 8, PROBE_ROUNDS = 16, ROUNDS_MIN = 6 };
#define PROBES_SHARE 0.3

/* Whether these rounds say that the work surely makes the operation longer. */
static bool is_too_much(const struct overlap_row *row, const struct overlap_fit *fit)
{
    return row->fitting_ns > 0.0 && fit->beyond_ns > 0.0 && !isnan(fit->total.interval.lo);
}

static void lower(struct overlap_row *row, const struct overlap_fit *fit)
{
    const double longer_ns = fit->total.value - fit->reference.value;
    row->fitting_ns =
        fmax(0.0, row->fitting_ns - fmax(longer_ns, LOWER_SHARE_MIN * row->fitting_ns));
    row->was_lowered = true;
}

/* Gives all ranks the work. Collective. */
static void give_work(struct overlap_visit *visit)
{
    visit->round.answer_part_units = overlap_part_units(visit, visit->row->fitting_ns);
    bc_harness_bcast(&visit->round.answer_part_units, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
}

/* The rounds of a probe; 0: there are too few, or no time. */
static int64_t probe_rounds(const struct overlap_visit *visit, double deadline_s)
{
    const int64_t fixed = visit->run->settings.samples;
    const int64_t rounds = fixed > 0 && fixed < PROBE_ROUNDS ? fixed : PROBE_ROUNDS;
    const bool has_time =
        bc_elapsed_s() + ROUNDS_MIN * visit->row->reference_ns * 1e-9 < deadline_s;
    return rounds >= ROUNDS_MIN && has_time && visit->row->fitting_ns > 0.0 ? rounds : 0;
}

/* Lowers the work until it doesn't surely make the operation longer, as far as a few rounds can
   tell. Collective. */
static void probe(struct overlap_visit *visit)
{
    struct overlap_row *const row = visit->row;
    const double deadline_s =
        bc_elapsed_s() + PROBES_SHARE * fmax(0.0, overlap_seconds_left(visit));
    int too_much = 1;
    row->fitting_ns = fmax(0.0, row->knee_ns);
    for (int i = 0; too_much && i < PROBES_MAX; i++) {
        struct bc_samples samples = {.count = 0};
        int64_t rounds = probe_rounds(visit, deadline_s);
        bc_harness_bcast(&rounds, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        if (rounds == 0)
            return;
        const struct bc_plan plan = {
            .min_rounds = rounds,
            .max_rounds = rounds,
            .deadline_s = deadline_s,
            .retakes = visit->run->job.oversubscribed ? 0 : rounds,
        };
        give_work(visit);
        overlap_run_rounds(visit->run, &visit->round, OVERLAP_QUANTITIES, overlap_take_round, &plan,
                           &samples);
        if (visit->root) {
            const struct overlap_fit fit = overlap_fit_of(visit->overlap, row, &samples);
            too_much = is_too_much(row, &fit);
            if (too_much)
                lower(row, &fit);
        }
        bc_samples_free(&samples);
        bc_harness_bcast(&too_much, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

/* What all visits so far say of the work, on rank 0. It is raised only as long as later visits can
   show that it fits. */
static void reconsider(struct overlap_visit *visit)
{
    struct overlap_row *const row = visit->row;
    const struct bc_run *const run = visit->run;
    const struct overlap_fit fit = overlap_fit_of(visit->overlap, row, &row->rounds);
    if (is_too_much(row, &fit))
        lower(row, &fit);
    else if (!row->was_lowered && run->visit + 1 < run->visits &&
             row->knee_ns > RAISE_FACTOR * row->fitting_ns)
        row->fitting_ns = row->knee_ns;
}

void overlap_choose_fitting(struct overlap_visit *visit)
{
    struct overlap_row *const row = visit->row;
    const double before_ns = row->fitting_ns;
    if (visit->run->visit == 0 || !visit->robust)
        probe(visit);
    else if (visit->root && visit->run->settings.samples == 0)
        reconsider(visit);
    if (visit->root && visit->robust && row->fitting_ns != before_ns)
        bc_samples_clear(&row->rounds);
    give_work(visit);
}
