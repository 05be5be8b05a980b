/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers of the Fortran functions that start and end MPI. */
#include "fortran_names.h"
#include "monitor/fortran/call.h"
#include "monitor/lib/wrap/life.h"
#include "monitor/lib/wrap/next.h"
#include "monitor/lib/wrap/observers.h"

FORTRAN_WRAPPER(Init, 0, true)
{
    if (is_observed_above(&next.Init, fortran->return_address))
        return FORTRAN_PASS(0), MPI_SUCCESS;
    const uint64_t entry_ticks = init_begin();
    return init_end(OPERATION_Init, FORTRAN_NEXT(0), entry_ticks, fortran->return_address);
}

FORTRAN_WRAPPER(Init_thread, 2, true)
{
    if (is_observed_above(&next.Init_thread, fortran->return_address))
        return FORTRAN_PASS(2), MPI_SUCCESS;
    const uint64_t entry_ticks = init_begin();
    return init_end(OPERATION_Init_thread, FORTRAN_NEXT(2), entry_ticks, fortran->return_address);
}

FORTRAN_WRAPPER(Finalize, 0, true)
{
    if (is_observed_above(&next.Finalize, fortran->return_address))
        return FORTRAN_PASS(0), MPI_SUCCESS;
    finalize_begin(fortran->return_address);
    return finalize_end(FORTRAN_NEXT(0));
}

/* Has no ierror. */
FORTRAN_WRAPPER(Pcontrol, 1, true)
{
    struct mpi_call call;
    if (is_observed_above(&next.Pcontrol, fortran->return_address))
        return FORTRAN_PASS(1), MPI_SUCCESS;
    const int level = (int)*(const MPI_Fint *)fortran->arguments[0];
    pcontrol_begin(level);
    site_enter(fortran->return_address);
    const bool entered = other_enter(&call);
    fortran_observe(fortran);
    FORTRAN_PASS(1);
    fortran_observed(fortran);
    (void)other_left(&call, entered, MPI_SUCCESS);
    pcontrol_end(level);
    return MPI_SUCCESS;
}

#if MPI_VERSION >= 4
FORTRAN_WRAPPER(Session_init, 3, true)
{
    struct mpi_call call;
    if (is_observed_above(&next.Session_init, fortran->return_address))
        return FORTRAN_PASS(3), MPI_SUCCESS;
    session_begin();
    site_enter(fortran->return_address);
    const bool entered = other_enter(&call);
    return other_left(&call, entered, FORTRAN_NEXT(3));
}
#endif
