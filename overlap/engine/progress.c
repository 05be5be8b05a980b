#include "overlap/engine/progress.h"

#include <math.h>

/* A library that hides this share of an operation under work without calls makes progress by
   itself, or some; one that hides this many points more with calls makes it in calls. */
#define BY_ITSELF_PCT 50.0
#define SOME_PCT 20.0
#define IN_CALLS_POINTS 20.0

void overlap_progress_add(struct overlap_progress *progress, double size_bytes, int64_t test_calls,
                          double reference_ns, double exposed_ns)
{
    if (size_bytes < OVERLAP_LARGE_BYTES || size_bytes < progress->size_bytes ||
        !(reference_ns > 0.0) || isnan(exposed_ns))
        return;
    if (size_bytes > progress->size_bytes)
        *progress = (struct overlap_progress){.size_bytes = size_bytes};
    const double hidden_pct = 100.0 * (1.0 - exposed_ns / reference_ns);
    if (test_calls == 0) {
        progress->has_alone = true;
        progress->hidden_pct = hidden_pct;
    } else if (!progress->has_calls || hidden_pct > progress->hidden_with_calls_pct) {
        progress->has_calls = true;
        progress->hidden_with_calls_pct = hidden_pct;
        progress->calls = test_calls;
    }
}

static void note_with_calls(const struct overlap_progress *progress, struct bc_output *output)
{
    const bool in_calls = progress->hidden_with_calls_pct >= progress->hidden_pct + IN_CALLS_POINTS;
    bc_output_remark(output, "note",
                     in_calls ? "progress in calls only: of an operation of %.0f bytes %.0f %% "
                                "are hidden under work, %.0f %% with %lld calls of MPI_Test"
                              : "no progress before the wait: of an operation of %.0f bytes %.0f "
                                "%% are hidden under work, %.0f %% with %lld calls of MPI_Test",
                     progress->size_bytes, fmax(0.0, progress->hidden_pct),
                     fmax(0.0, progress->hidden_with_calls_pct), (long long)progress->calls);
}

void overlap_progress_note(const struct overlap_progress *progress, struct bc_output *output)
{
    if (!progress->has_alone)
        return;
    if (progress->hidden_pct >= BY_ITSELF_PCT)
        bc_output_remark(output, "note",
                         "the MPI library makes progress by itself: of an operation of %.0f bytes "
                         "%.0f %% are hidden under work",
                         progress->size_bytes, progress->hidden_pct);
    else if (progress->has_calls)
        note_with_calls(progress, output);
    else
        bc_output_remark(output, "note",
                         "the MPI library makes %s progress by itself: of an operation of "
                         "%.0f bytes %.0f %% are hidden under work; --test-calls=0,4,16 shows "
                         "whether calls of MPI_Test help",
                         progress->hidden_pct >= SOME_PCT ? "some" : "little", progress->size_bytes,
                         fmax(0.0, progress->hidden_pct));
}
