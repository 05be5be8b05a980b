/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Languages in which the program calls MPI. A library's Fortran layer may call the C function,
 * whose wrapper then lets the call pass: the outermost wrapper observes it. All functions are
 * local.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum language { LANGUAGE_C, LANGUAGE_FORTRAN, LANGUAGE_FORTRAN_2008, LANGUAGES };

/* Languages seen, bit 1 << language. Atomic. */
extern unsigned languages_seen;

static inline void language_seen(enum language language)
{
    const unsigned seen = __atomic_load_n(&languages_seen, __ATOMIC_RELAXED);
    if (__builtin_expect((seen & (1u << language)) == 0, 0))
        __atomic_fetch_or(&languages_seen, 1u << language, __ATOMIC_RELAXED);
}

/* The function that a Fortran wrapper of this thread observes, by its place in `next`, or NULL. */
extern _Thread_local const void *observed_function
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* True if a Fortran wrapper observes this call. */
static inline bool is_observed_above(const void *function) { return observed_function == function; }

/* For a C wrapper: true if the Fortran layer makes this call, and a Fortran wrapper observes it.
   Later calls within it are of functions of the program that MPI calls. */
static inline bool is_of_fortran_layer(const void *function)
{
    if (!is_observed_above(function)) {
        language_seen(LANGUAGE_C);
        return false;
    }
    observed_function = NULL;
    return true;
}
