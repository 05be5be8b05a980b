/* SPDX-License-Identifier: BSD-3-Clause */
/* Languages in which the program calls MPI. All functions are local. */
#pragma once

#include <stdbool.h>

enum language { LANGUAGE_C, LANGUAGE_FORTRAN, LANGUAGE_FORTRAN_2008, LANGUAGES };

/* Languages seen, bit 1 << language. Atomic. */
extern unsigned languages_seen;

static inline void language_seen(enum language language)
{
    const unsigned seen = __atomic_load_n(&languages_seen, __ATOMIC_RELAXED);
    if (__builtin_expect((seen & (1u << language)) == 0, 0))
        __atomic_fetch_or(&languages_seen, 1u << language, __ATOMIC_RELAXED);
}

/* True if Fortran's default INTEGER has 8 bytes in the MPI library: then the arguments of Fortran
   calls can't be read, and the Fortran wrappers let them pass. */
extern bool has_large_integers;

/* Sets it, once MPI is initialised. */
void integers_start(void);
