#include "checkup/checkup.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"

#include <string.h>

int64_t checkup_time_messages(const struct checkup_kernel *k, int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        if (k->is_first)
            BC_MPI(MPI_Send(k->send, k->bytes, MPI_BYTE, k->partner, 0, k->comm));
        BC_MPI(MPI_Recv(k->receive, k->bytes, MPI_BYTE, k->partner, 0, k->comm, MPI_STATUS_IGNORE));
        if (!k->is_first)
            BC_MPI(MPI_Send(k->send, k->bytes, MPI_BYTE, k->partner, 0, k->comm));
    }
    return bc_now_ns() - start_ns;
}

int64_t checkup_time_copies(const struct checkup_kernel *k, int64_t repetitions)
{
    const int64_t start_ns = bc_now_ns();
    for (int64_t i = 0; i < repetitions; i++) {
        memcpy(k->receive, k->send, (size_t)k->bytes);
        __asm__ volatile("" : : "r"(k->receive) : "memory"); /* the copy is needed */
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
