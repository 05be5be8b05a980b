#include "linkmap/kernel.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"

static inline void send(const struct linkmap_message *m, int bytes)
{
    BC_MPI(MPI_Send(m->sent, bytes, MPI_BYTE, m->partner, m->tag, m->comm));
}

static inline void receive(const struct linkmap_message *m, int bytes)
{
    BC_MPI(MPI_Recv(m->received, bytes, MPI_BYTE, m->partner, m->tag, m->comm, MPI_STATUS_IGNORE));
}

void linkmap_ask(const struct linkmap_message *message, double *times_ns)
{
    send(message, message->bytes);
    receive(message, message->answer_bytes);
    for (int i = 0; i < message->repetitions; i++) {
        const int64_t start_ns = bc_now_ns();
        send(message, message->bytes);
        receive(message, message->answer_bytes);
        times_ns[i] = (double)(bc_now_ns() - start_ns);
    }
}

void linkmap_answer(const struct linkmap_message *message)
{
    for (int i = 0; i <= message->repetitions; i++) {
        receive(message, message->bytes);
        send(message, message->answer_bytes);
    }
}
