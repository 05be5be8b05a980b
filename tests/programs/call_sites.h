/* SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>

/* Prints the function and the line of a call, and makes the call. */
#define AT(call)                                                                                   \
    do {                                                                                           \
        printf("%s %s:%d\n", #call, __FILE__, __LINE__);                                           \
        (void)(call);                                                                              \
    } while (0)

void exchange(int rank);
