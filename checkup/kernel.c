/* SPDX-License-Identifier: BSD-3-Clause */
#include "checkup/checkup.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"

#include <string.h>

enum { TAG = 0 };

static inline void send_message(const struct checkup_kernel *k)
{
    BC_MPI(MPI_Send(k->send, k->bytes, MPI_BYTE, k->partner, TAG, k->comm));
}

static inline void receive_message(const struct checkup_kernel *k)
{
    BC_MPI(MPI_Recv(k->receive, k->bytes, MPI_BYTE, k->partner, TAG, k->comm, MPI_STATUS_IGNORE));
}

/* Times messages on the first rank (checkup_time_messages). */
static int64_t time_sends_first(const struct checkup_kernel *k, int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        send_message(k);
        receive_message(k);
    }
    return bc_now_ns() - start_ns;
}

static int64_t time_receives_first(const struct checkup_kernel *k, int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        receive_message(k);
        send_message(k);
    }
    return bc_now_ns() - start_ns;
}

int64_t checkup_time_messages(const struct checkup_kernel *k, int64_t repetitions)
{
    return k->is_first ? time_sends_first(k, repetitions) : time_receives_first(k, repetitions);
}

int64_t checkup_time_copies(const struct checkup_kernel *k, int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        memcpy(k->receive, k->send, (size_t)k->bytes);
        __asm__ volatile("" : : "r"(k->receive) : "memory"); /* keeps the copy */
    }
    return bc_now_ns() - start_ns;
}

int64_t checkup_time_allreduces(const struct checkup_kernel *k, int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++)
        BC_MPI(MPI_Allreduce(k->send, k->receive, k->bytes, MPI_BYTE, MPI_BOR, k->comm));
    return bc_now_ns() - start_ns;
}
