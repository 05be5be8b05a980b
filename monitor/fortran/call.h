/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of MPI from Fortran.
 *
 * The arguments of a Fortran procedure are addresses: of the C function's arguments in their order,
 * of ierror, and then the lengths of strings. An entry of the Fortran layer keeps them in an array.
 * Its wrapper observes the call as that of the C function does, and calls the next definition of
 * the entry's own name with the same arguments, except a status or an ierror that the program
 * ignores. The MPI library may then call the C function (MPICH) or not (Open MPI).
 *
 * All functions are local.
 */
#pragma once

#include "monitor/lib/count/kinds.h"
#include "monitor/lib/wrap/observed.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Entries of a function. A plain one has the names of all compilers, mpi_send_, mpi_send__ and
   MPI_SEND, which a Fortran layer gives to one procedure. Those of mpi_f08 have buffers as
   addresses or as descriptors (C's ISO_Fortran_binding.h), and counts of type MPI_Count in "large"
   ones. In cptr ones, an address is a TYPE(C_PTR). */
enum fortran_form {
    FORM_PLAIN,
    FORM_CPTR,
    FORM_F08,
    FORM_F08TS,
    FORM_F08_LARGE,
    FORM_F08TS_LARGE,
    FORMS
};

typedef void fortran_procedure(void);

struct fortran_function {
    const char *name;               /* "Send"; "Send_c" with large counts */
    const void *key;                /* see is_observed_above */
    fortran_procedure *next[FORMS]; /* next definitions, found when they are first needed. Atomic */
};

struct fortran_call {
    struct fortran_function *function;
    enum fortran_form form;
    void **arguments;
    const void *return_address;
    const void *observed_above; /* during the next definition's call: see observed.h */
    MPI_Fint error;             /* if the program passes no ierror */
};

/* Finds the next definition of an entry, by the first of its names that another library defines.
   Ends the program if there is none. */
fortran_procedure *fortran_find_next(struct fortran_function *function, enum fortran_form form);

/* Returns the next definition of an entry, or NULL if it hasn't been found yet. */
static inline fortran_procedure *fortran_known_next(const struct fortran_function *function,
                                                    enum fortran_form form)
{
    return __atomic_load_n(&function->next[form], __ATOMIC_RELAXED);
}

static inline fortran_procedure *fortran_next(struct fortran_function *function,
                                              enum fortran_form form)
{
    fortran_procedure *const known = fortran_known_next(function, form);
    return __builtin_expect(known != NULL, 1) ? known : fortran_find_next(function, form);
}

static inline bool fortran_is_2008(const struct fortran_call *fortran)
{
    return fortran->form >= FORM_F08;
}

/* True if the call passes: another wrapper observes it, or its arguments can't be read. */
static inline bool fortran_passes(const struct fortran_call *fortran, const void *function)
{
    return has_large_integers || is_observed_above(function, fortran->return_address);
}

/* Begin and end the observed call of the next definition. */
static inline void fortran_observe(struct fortran_call *fortran)
{
    language_seen(fortran_is_2008(fortran) ? LANGUAGE_FORTRAN_2008 : LANGUAGE_FORTRAN);
    fortran->observed_above = observed_function;
    observed_function = fortran->function->key;
}

static inline void fortran_observed(const struct fortran_call *fortran)
{
    observed_function = fortran->observed_above;
}

/* The same with an ierror, whose position is that of the argument. The second returns the error. */
static inline void fortran_begin_next(struct fortran_call *fortran, int ierror)
{
    if (fortran->arguments[ierror] == NULL)
        fortran->arguments[ierror] = &fortran->error;
    fortran_observe(fortran);
}

static inline int fortran_end_next(const struct fortran_call *fortran, int ierror)
{
    fortran_observed(fortran);
    return (int)*(const MPI_Fint *)fortran->arguments[ierror];
}

/* Returns a buffer's address, or MPI_IN_PLACE. */
const void *fortran_buffer(const struct fortran_call *fortran, const void *argument);

/* True if the program ignores this status, or these statuses. */
bool fortran_ignores_status(const void *argument);
bool fortran_ignores_statuses(const void *argument);

enum { FORTRAN_STATUS_SIZE = sizeof(MPI_Status) / sizeof(int) };

/* Converts status number i of an array to C's. Returns `status`. */
const MPI_Status *fortran_status(const struct fortran_call *fortran, const void *statuses, int i,
                                 MPI_Status *status);

/* ---- entries --------------------------------------------------------------------------------- */

/* Slots of an entry whose C function has n arguments: these, ierror and the lengths of up to two
   strings. To pass on what the caller hasn't passed does no harm. */
#define SLOTS_0 void *s0, void *s1, void *s2
#define SLOTS_1 SLOTS_0, void *s3
#define SLOTS_2 SLOTS_1, void *s4
#define SLOTS_3 SLOTS_2, void *s5
#define SLOTS_4 SLOTS_3, void *s6
#define SLOTS_5 SLOTS_4, void *s7
#define SLOTS_6 SLOTS_5, void *s8
#define SLOTS_7 SLOTS_6, void *s9
#define SLOTS_8 SLOTS_7, void *s10
#define SLOTS_9 SLOTS_8, void *s11
#define SLOTS_10 SLOTS_9, void *s12
#define SLOTS_11 SLOTS_10, void *s13
#define SLOTS_12 SLOTS_11, void *s14
#define SLOTS_13 SLOTS_12, void *s15

#define SLOT_NAMES_0 s0, s1, s2
#define SLOT_NAMES_1 SLOT_NAMES_0, s3
#define SLOT_NAMES_2 SLOT_NAMES_1, s4
#define SLOT_NAMES_3 SLOT_NAMES_2, s5
#define SLOT_NAMES_4 SLOT_NAMES_3, s6
#define SLOT_NAMES_5 SLOT_NAMES_4, s7
#define SLOT_NAMES_6 SLOT_NAMES_5, s8
#define SLOT_NAMES_7 SLOT_NAMES_6, s9
#define SLOT_NAMES_8 SLOT_NAMES_7, s10
#define SLOT_NAMES_9 SLOT_NAMES_8, s11
#define SLOT_NAMES_10 SLOT_NAMES_9, s12
#define SLOT_NAMES_11 SLOT_NAMES_10, s13
#define SLOT_NAMES_12 SLOT_NAMES_11, s14
#define SLOT_NAMES_13 SLOT_NAMES_12, s15

#define SLOT_VALUES_0(a) a[0], a[1], a[2]
#define SLOT_VALUES_1(a) SLOT_VALUES_0(a), a[3]
#define SLOT_VALUES_2(a) SLOT_VALUES_1(a), a[4]
#define SLOT_VALUES_3(a) SLOT_VALUES_2(a), a[5]
#define SLOT_VALUES_4(a) SLOT_VALUES_3(a), a[6]
#define SLOT_VALUES_5(a) SLOT_VALUES_4(a), a[7]
#define SLOT_VALUES_6(a) SLOT_VALUES_5(a), a[8]
#define SLOT_VALUES_7(a) SLOT_VALUES_6(a), a[9]
#define SLOT_VALUES_8(a) SLOT_VALUES_7(a), a[10]
#define SLOT_VALUES_9(a) SLOT_VALUES_8(a), a[11]
#define SLOT_VALUES_10(a) SLOT_VALUES_9(a), a[12]
#define SLOT_VALUES_11(a) SLOT_VALUES_10(a), a[13]
#define SLOT_VALUES_12(a) SLOT_VALUES_11(a), a[14]
#define SLOT_VALUES_13(a) SLOT_VALUES_12(a), a[15]

#define JOINED(a, b) JOINED_(a, b)
#define JOINED_(a, b) a##b

/* Calls the next definition; the C function has n arguments. */
#define FORTRAN_PASS(n)                                                                            \
    ((void (*)(JOINED(SLOTS_, n)))fortran_next(fortran->function, fortran->form))(                 \
        JOINED(SLOT_VALUES_, n)(fortran->arguments))

/* The same, observed. Returns the error. */
#define FORTRAN_NEXT(n)                                                                            \
    (fortran_begin_next(fortran, n), FORTRAN_PASS(n), fortran_end_next(fortran, n))

/* Defines an entry: its symbol is that of the Fortran layer. If nothing is monitored, it passes the
   call on at once, unless `remembers` is true or the next definition hasn't been found yet. */
#define FORTRAN_ENTRY(Name, Form, n, remembers, symbol)                                            \
    void Name##_##Form(SLOTS_##n) __asm__(symbol) __attribute__((visibility("default")));          \
    void Name##_##Form(SLOTS_##n)                                                                  \
    {                                                                                              \
        fortran_procedure *const known = fortran_known_next(&function_##Name, Form);               \
        if (!(remembers) && !is_anything_monitored() && __builtin_expect(known != NULL, 1)) {      \
            ((void (*)(SLOTS_##n))known)(SLOT_NAMES_##n);                                          \
            return;                                                                                \
        }                                                                                          \
        void *arguments[] = {SLOT_NAMES_##n};                                                      \
        fortran_##Name(&(struct fortran_call){.function = &function_##Name,                        \
                                              .form = Form,                                        \
                                              .arguments = arguments,                              \
                                              .return_address = __builtin_return_address(0)});     \
    }

#define FORTRAN_FUNCTION(Name)                                                                     \
    static struct fortran_function function_##Name = {.name = #Name, .key = &next.Name};           \
    static int fortran_##Name(struct fortran_call *fortran);

/* Defines an entry with the names of all compilers. */
#define FORTRAN_PLAIN_ENTRY(Name, Form, n, remembers, lower, lower_2, upper)                       \
    FORTRAN_ENTRY(Name, Form, n, remembers, lower)                                                 \
    FORTRAN_ALIAS(Name##_##Form##_2, n, lower_2, lower)                                            \
    FORTRAN_ALIAS(Name##_##Form##_UPPER, n, upper, lower)

#define FORTRAN_ALIAS(entry, n, symbol, lower)                                                     \
    void entry(SLOTS_##n) __asm__(symbol) __attribute__((alias(lower), visibility("default")));

/* Defines the entries of a function, and begins the definition of their wrapper. */
#define FORTRAN_WRAPPER(Name, n, remembers)                                                        \
    FORTRAN_FUNCTION(Name)                                                                         \
    FORTRAN_PLAIN_ENTRY(Name, FORM_PLAIN, n, remembers, "mpi_" LOWER_##Name "_",                   \
                        "mpi_" LOWER_##Name "__", "MPI_" UPPER_##Name)                             \
    FORTRAN_ENTRY(Name, FORM_F08, n, remembers, "mpi_" LOWER_##Name "_f08_")                       \
    FORTRAN_ENTRY(Name, FORM_F08TS, n, remembers, "mpi_" LOWER_##Name "_f08ts_")                   \
    __attribute__((noinline)) static int fortran_##Name(struct fortran_call *fortran)

#define FORTRAN_CPTR_ENTRIES(Name, n, remembers)                                                   \
    FORTRAN_PLAIN_ENTRY(Name, FORM_CPTR, n, remembers, "mpi_" LOWER_##Name "_cptr_",               \
                        "mpi_" LOWER_##Name "_cptr__", "MPI_" UPPER_##Name "_CPTR")

/* The same for a function with large counts. */
#define FORTRAN_LARGE_WRAPPER(Name, n, remembers)                                                  \
    FORTRAN_FUNCTION(Name)                                                                         \
    FORTRAN_ENTRY(Name, FORM_F08_LARGE, n, remembers, "mpi_" LOWER_##Name "_f08_large_")           \
    FORTRAN_ENTRY(Name, FORM_F08TS_LARGE, n, remembers, "mpi_" LOWER_##Name "_f08ts_large_")       \
    __attribute__((noinline)) static int fortran_##Name(struct fortran_call *fortran)
