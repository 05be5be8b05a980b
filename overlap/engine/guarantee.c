#include "overlap/engine/visit.h"

#include "common/mpi/harness.h"

#include <math.h>

/* Work that made the operation longer is lowered by as much, but by this share of it at least. */
#define LOWER_SHARE 0.05

/* A knee that visits find so many times further up than the first one did is believed. */
#define RAISE_TIMES 1.1

/* Amounts are probed before the first visit's rounds, this many times, with as many rounds, and in
   this share of the visit's time at most. */
enum { PROBES_MAX = 8, PROBE_ROUNDS = 16 };
#define PROBES_SHARE 0.3

static void lower(struct overlap_row *row, const struct overlap_fit *fit)
{
    const double longer_ns = fit->total.value - fit->reference.value;
    row->fitting_ns = fmax(0.0, row->fitting_ns - fmax(longer_ns, LOWER_SHARE * row->fitting_ns));
    row->was_lowered = true;
}

/* Gives all ranks the work. Collective. */
static void choose_work(struct overlap_visit *visit)
{
    visit->round.answer_part_units = overlap_part_units(visit, visit->row->fitting_ns);
    bc_harness_bcast(&visit->round.answer_part_units, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
}

/* Lowers the work until it surely fits, as far as a few rounds can tell. Collective. */
static void probe(struct overlap_visit *visit)
{
    struct overlap_row *const row = visit->row;
    const double deadline_s =
        bc_elapsed_s() + PROBES_SHARE * fmax(0.0, overlap_seconds_left(visit));
    row->fitting_ns = fmax(0.0, row->knee_ns);
    for (int i = 0; i < PROBES_MAX; i++) {
        struct bc_samples rounds = {.count = 0};
        const struct bc_plan plan = {
            .min_rounds = PROBE_ROUNDS,
            .max_rounds = PROBE_ROUNDS,
            .deadline_s = deadline_s,
            .retakes = visit->run->job.oversubscribed ? 0 : PROBE_ROUNDS,
        };
        int goes_on = 0;
        choose_work(visit);
        overlap_run_rounds(visit->run, &visit->round, OVERLAP_QUANTITIES, overlap_take_round, &plan,
                           &rounds);
        if (visit->root) {
            const struct overlap_fit fit = overlap_fit_of(visit->overlap, row, &rounds);
            goes_on = fit.beyond_ns > 0.0 && !isnan(fit.total.interval.lo) &&
                      row->fitting_ns > 0.0 && bc_elapsed_s() < deadline_s;
            if (goes_on)
                lower(row, &fit);
        }
        bc_samples_free(&rounds);
        bc_harness_bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!goes_on)
            return;
    }
}

/* What all visits so far say of the work, on rank 0. */
static void reconsider(struct overlap_visit *visit)
{
    struct overlap_row *const row = visit->row;
    const struct overlap_fit fit = overlap_fit_of(visit->overlap, row, &row->rounds);
    if (fit.beyond_ns > 0.0 && row->fitting_ns > 0.0)
        lower(row, &fit);
    else if (!row->was_lowered && row->knee_ns > RAISE_TIMES * row->fitting_ns)
        row->fitting_ns = row->knee_ns;
    else
        return;
    bc_samples_clear(&row->rounds);
}

void overlap_choose_fitting(struct overlap_visit *visit)
{
    if (visit->run->visit == 0 || !visit->robust)
        probe(visit);
    else if (visit->root && visit->run->settings.samples == 0)
        reconsider(visit);
    choose_work(visit);
}
