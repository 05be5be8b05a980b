#include "overlap/engine/progress.h"

#include <math.h>
#include <stdio.h>

/* A library that hides this share of an operation under work without calls makes progress by
   itself, or some; one that hides this many points more with calls makes it in calls. */
#define BY_ITSELF_PCT 50.0
#define SOME_PCT 20.0
#define IN_CALLS_POINTS 20.0

static void take_without_calls(struct overlap_progress *progress, double hidden_pct)
{
    progress->has_alone = true;
    progress->hidden_pct = hidden_pct;
}

static void take_with_calls(struct overlap_progress *progress, double hidden_pct, int64_t calls)
{
    if (progress->has_calls && hidden_pct <= progress->hidden_with_calls_pct)
        return;
    progress->has_calls = true;
    progress->hidden_with_calls_pct = hidden_pct;
    progress->calls = calls;
}

void overlap_progress_add(struct overlap_progress *progress, const struct overlap_progress_row *row)
{
    if (row->size_bytes < OVERLAP_LARGE_BYTES || row->size_bytes < progress->size_bytes ||
        !(row->reference_ns > 0.0) || isnan(row->exposed_ns))
        return;
    if (row->size_bytes > progress->size_bytes)
        *progress = (struct overlap_progress){
            .size_bytes = row->size_bytes,
            .variant = row->variant,
            .partner_is_in_mpi = row->partner_is_in_mpi,
            .takes_test_calls = row->takes_test_calls,
        };
    if (row->variant != progress->variant)
        return;
    const double hidden_pct = 100.0 * (1.0 - row->exposed_ns / row->reference_ns);
    if (row->test_calls == 0)
        take_without_calls(progress, hidden_pct);
    else
        take_with_calls(progress, hidden_pct, row->test_calls);
    progress->searched = progress->searched || row->searched;
    if (row->searched && row->test_calls > 0 && !isnan(row->exposed_without_calls_ns))
        take_without_calls(progress,
                           100.0 * (1.0 - row->exposed_without_calls_ns / row->reference_ns));
}

/* Who makes progress before the wait. */
static const char *judgement(const struct overlap_progress *progress)
{
    const bool in_calls = progress->has_calls &&
                          progress->hidden_with_calls_pct >= progress->hidden_pct + IN_CALLS_POINTS;
    if (progress->hidden_pct >= BY_ITSELF_PCT)
        return progress->partner_is_in_mpi ? "progress without this rank: by the partner, which is "
                                             "in MPI, or by the library"
                                           : "the MPI library makes progress by itself";
    if (progress->hidden_pct >= SOME_PCT)
        return in_calls ? "some progress by itself, more in calls" : "some progress by itself";
    return in_calls ? "progress in calls only" : "little or no progress before the wait";
}

void overlap_progress_note(const struct overlap_progress *progress, struct bc_output *output)
{
    char with_calls[128] = "";
    if (!progress->has_alone)
        return;
    const bool is_open = progress->hidden_pct < BY_ITSELF_PCT;
    if (is_open && progress->has_calls)
        (void)snprintf(with_calls, sizeof with_calls, ", %.0f %% with %lld %s of MPI_Test",
                       fmax(0.0, progress->hidden_with_calls_pct), (long long)progress->calls,
                       progress->calls == 1 ? "call" : "calls");
    else if (is_open && progress->searched)
        (void)snprintf(with_calls, sizeof with_calls, ", and no calls of MPI_Test hide more");
    else if (is_open && progress->takes_test_calls)
        (void)snprintf(with_calls, sizeof with_calls,
                       "; --test-calls=0,4,16 shows whether calls of MPI_Test help");
    bc_output_remark(
        output, "note", "%s: of an operation of %.0f bytes %.0f %% are hidden under work%s",
        judgement(progress), progress->size_bytes, fmax(0.0, progress->hidden_pct), with_calls);
}
