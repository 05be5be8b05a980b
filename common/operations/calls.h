/* SPDX-License-Identifier: BSD-3-Clause */
/* For the files of operations: functions that make MPI calls in the timed region, and tables of
   collectives. */
#pragma once

#include "common/mpi/mpi_check.h"
#include "op_persistent.h" /* made by CMake: which functions make persistent collectives */
#include "common/operations/operation.h"

/* Defines the table of a collective: its name without quotes; the non-blocking function and its
   blocking counterpart; the arguments of both in parentheses, without the request; further members
   of struct op_kind. */
#define OP_COLLECTIVE(its_name, nonblocking, counterpart, arguments, ...)                          \
    OP_CALL(start, #nonblocking #arguments, nonblocking(OP_UNPACK arguments, operation->requests)) \
    OP_CALL(block, #counterpart #arguments, counterpart arguments)                                 \
    OP_IF_PERSISTENT_##counterpart(                                                                \
        OP_CALL(persist, #counterpart "_init" #arguments,                                          \
                OP_INIT_##counterpart(OP_UNPACK arguments, MPI_INFO_NULL, operation->requests)))   \
        const struct op_kind op_##its_name = {                                                     \
            .name = #its_name,                                                                     \
            .functions = {.start = start,                                                          \
                          OP_IF_PERSISTENT_##counterpart(.persist = persist, ).blocking = block},  \
            .persistent_function = #counterpart "_init",                                           \
            __VA_ARGS__}

/* Defines the table for layouts that need the MPI_Count variants, with the same arguments for the
   functions with _c at the end. */
#define OP_COLLECTIVE_C(its_name, nonblocking, counterpart, arguments, ...)                        \
    OP_IF_LARGE(OP_CALL_AS(MPI_Count, start_large, #nonblocking "_c" #arguments,                   \
                           nonblocking##_c(OP_UNPACK arguments, operation->requests))              \
                    OP_CALL_AS(MPI_Count, block_large, #counterpart "_c" #arguments,               \
                               counterpart##_c arguments)                                          \
                        OP_CALL_AS(MPI_Count, persist_large, #counterpart "_init_c" #arguments,    \
                                   counterpart##_init_c(OP_UNPACK arguments, MPI_INFO_NULL,        \
                                                        operation->requests)))                     \
    OP_COLLECTIVE(its_name, nonblocking, counterpart, arguments,                                   \
                  OP_IF_LARGE(.large = {.start = start_large,                                      \
                                        .persist = persist_large,                                  \
                                        .blocking = block_large}, ) __VA_ARGS__)

/* Defines a function that makes a call, with `text` for error messages. The call may use
   `operation`, `counts` (operation->counts), and `count`, of the type that the call takes. */
#define OP_CALL(name, text, call) OP_CALL_AS(int, name, text, call)
#define OP_CALL_AS(count_type, name, text, call)                                                   \
    static void name(struct op_instance *operation)                                                \
    {                                                                                              \
        const struct op_counts *const counts = &operation->counts;                                 \
        const count_type count = (count_type)counts->count;                                        \
        (void)count;                                                                               \
        BC_MPI_AS(call, text);                                                                     \
    }

#define OP_UNPACK(...) __VA_ARGS__

/* MPI-4 has an MPI_Count variant of each function. */
#if MPI_VERSION >= 4
#define OP_IF_LARGE(...) __VA_ARGS__
#else
#define OP_IF_LARGE(...)
#endif
