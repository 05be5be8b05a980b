/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes and warnings of noise, in the form of common/result/warnings.h. */
#pragma once

#define NOISE_WARNING_CLOCK_STANDS                                                                 \
    "warning", "interruptions are not seen: the clock doesn't advance during work"

/* --min-stop, and the min length in use. */
#define NOISE_WARNING_MIN_STOP                                                                     \
    "warning",                                                                                     \
        "the clock is too coarse for --min-stop=%.2f us: only interruptions from %.2f us on count"

#define NOISE_NOTE_NO_PREDICTION "note", "no predicted_pct: ranks share processors"

#define NOISE_NOTE_HOSTS "note", "source %s %s is on %s"

#define NOISE_WARNING_USUAL_STEPS                                                                  \
    "warning", "%s, grain_us %lld: slowdown_pct is too low: even typical steps are interrupted"

#define NOISE_WARNING_MANY_STEPS                                                                   \
    "warning", "%s, grain_us %lld: slowdown_pct is too low: %.0f %% of steps are interrupted"

#define NOISE_NOTE_NO_SLOWDOWN                                                                     \
    "note", "%s, grain_us %lld: no slowdown_pct: few or short steps: raise --max-time or --grain"

#define NOISE_WARNING_LIST_FULL                                                                    \
    "warning", "a rank was interrupted %d times: later interruptions aren't counted"
