/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls within calls from Fortran. The MPI library's Fortran layer may call MPI's C function or
 * another entry of its own: the outermost wrapper observes the call, and theirs let it pass. A
 * function of the program that MPI calls (of an attribute, a reduction, a generalized request) may
 * call the same MPI function: that is a call of its own.
 *
 * All functions are local.
 */
#pragma once

#include "monitor/lib/count/languages.h"

#include <stddef.h>

/* The function that a Fortran wrapper of this thread observes, by its place in `next`, or NULL. */
extern _Thread_local const void *observed_function
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* True if a call of a function that returns to this address doesn't come from the program, but from
   the Fortran layer or a tool. */
bool is_call_of_layer(const void *function, const void *return_address);

/* True if a Fortran wrapper observes this call. */
static inline bool is_observed_above(const void *function, const void *return_address)
{
    return observed_function == function && is_call_of_layer(function, return_address);
}

/* For a C wrapper: true if the Fortran layer makes this call, and a Fortran wrapper observes it.
   Later calls within it are of functions of the program that MPI calls. */
__attribute__((always_inline)) static inline bool is_of_fortran_layer(const void *function,
                                                                      const void *return_address)
{
    if (!is_observed_above(function, return_address)) {
        language_seen(LANGUAGE_C);
        return false;
    }
    observed_function = NULL;
    return true;
}
