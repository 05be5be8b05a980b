/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments of a C function from those of its Fortran procedure. A row of functions.def has the
 * parameters and their names, and the first word of a parameter tells how its argument is found.
 */
#pragma once

#include "monitor/fortran/call.h"

#define FIRST(a, ...) a
#define REST(a, ...) __VA_ARGS__
#define FIRST_OF(...) FIRST(__VA_ARGS__)

#define ARGUMENT_14(a, b, c, d, e, f, g, h, i, j, k, l, m, n, ...) n
#define COUNT_OF(...) ARGUMENT_14(__VA_ARGS__, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

/* Declares the arguments as variables of these names: TAKE_ALL((int a, void *b), (a, b)). */
#define TAKE_ALL(parameters, names)                                                                \
    void *const *argument = fortran->arguments;                                                    \
    JOINED(TAKE_, COUNT_OF names)(parameters, names)

#define TAKE_1(P, A) TAKE_ONE(FIRST P, FIRST A)
#define TAKE_2(P, A) TAKE_ONE(FIRST P, FIRST A) TAKE_1((REST P), (REST A))
#define TAKE_3(P, A) TAKE_ONE(FIRST P, FIRST A) TAKE_2((REST P), (REST A))
#define TAKE_4(P, A) TAKE_ONE(FIRST P, FIRST A) TAKE_3((REST P), (REST A))
#define TAKE_5(P, A) TAKE_ONE(FIRST P, FIRST A) TAKE_4((REST P), (REST A))
#define TAKE_6(P, A) TAKE_ONE(FIRST P, FIRST A) TAKE_5((REST P), (REST A))
#define TAKE_7(P, A) TAKE_ONE(FIRST P, FIRST A) TAKE_6((REST P), (REST A))
#define TAKE_8(P, A) TAKE_ONE(FIRST P, FIRST A) TAKE_7((REST P), (REST A))
#define TAKE_9(P, A) TAKE_ONE(FIRST P, FIRST A) TAKE_8((REST P), (REST A))
#define TAKE_10(P, A) TAKE_ONE(FIRST P, FIRST A) TAKE_9((REST P), (REST A))
#define TAKE_11(P, A) TAKE_ONE(FIRST P, FIRST A) TAKE_10((REST P), (REST A))
#define TAKE_12(P, A) TAKE_ONE(FIRST P, FIRST A) TAKE_11((REST P), (REST A))
#define TAKE_13(P, A) TAKE_ONE(FIRST P, FIRST A) TAKE_12((REST P), (REST A))

#define TAKE_ONE(P, A) TAKE_BY_KIND(P, A)
#define TAKE_BY_KIND(P, A)                                                                         \
    P = JOINED(TAKE_, FIRST_OF(KIND_OF_##P))(A, *argument++);                                      \
    (void)A;

/* Kinds by the first word of a parameter. Pointers to handles stay addresses: see HANDLE_AT. */
#define KIND_OF_int INT,
#define KIND_OF_MPI_Count LARGE_COUNT,
#define KIND_OF_MPI_Comm COMM,
#define KIND_OF_MPI_Datatype DATATYPE,
#define KIND_OF_MPI_Win WIN,
#define KIND_OF_const BUFFER,
#define KIND_OF_void BUFFER,
#define KIND_OF_MPI_Request REQUEST,
#define KIND_OF_MPI_Message PLACE,
#define KIND_OF_MPI_Status PLACE,
#define KIND_OF_MPI_Aint UNUSED,
#define KIND_OF_MPI_Offset UNUSED,
#define KIND_OF_MPI_Info UNUSED,
#define KIND_OF_MPI_Op UNUSED,
#define KIND_OF_MPI_Group UNUSED,
#define KIND_OF_MPI_File UNUSED,
#define KIND_OF_MPI_Errhandler UNUSED,
#define KIND_OF_char UNUSED,

static inline int take_int(const void *address) { return (int)*(const MPI_Fint *)address; }
static inline MPI_Count take_count(const void *address) { return *(const MPI_Count *)address; }
static inline void *take_address(void *address) { return address; }

#define FORTRAN_HANDLE(Kind, address) PMPI_##Kind##_f2c(*(const MPI_Fint *)(address))
static inline MPI_Comm take_comm(const void *address) { return FORTRAN_HANDLE(Comm, address); }
static inline MPI_Win take_win(const void *address) { return FORTRAN_HANDLE(Win, address); }
static inline MPI_Request take_request(const void *address)
{
    return FORTRAN_HANDLE(Request, address);
}
static inline MPI_Datatype take_datatype(const void *address)
{
    return FORTRAN_HANDLE(Type, address);
}

#define TAKE_INT(A, address) _Generic((A), int : take_int, default : take_address)(address)
#define TAKE_LARGE_COUNT(A, address)                                                               \
    _Generic((A), MPI_Count : take_count, default : take_address)(address)
#define TAKE_COMM(A, address) _Generic((A), MPI_Comm : take_comm, default : take_address)(address)
#define TAKE_WIN(A, address) _Generic((A), MPI_Win : take_win, default : take_address)(address)
#define TAKE_REQUEST(A, address)                                                                   \
    _Generic((A), MPI_Request : take_request, default : take_address)(address)
#define TAKE_DATATYPE(A, address)                                                                  \
    _Generic((A), MPI_Datatype : take_datatype, default : take_address)(address)
#define TAKE_PLACE(A, address) take_address(address)
#define TAKE_UNUSED(A, address) ((void)(address), (__typeof__(A))0)

/* A buffer is a void *; an array of counts is no buffer. */
static inline const void *take_array(const struct fortran_call *fortran, const void *address)
{
    (void)fortran;
    return address;
}
#define TAKE_BUFFER(A, address)                                                                    \
    (void *)_Generic((A), void *                                                                   \
                     : fortran_buffer, const void *                                                \
                     : fortran_buffer, default                                                     \
                     : take_array)(fortran, address)
