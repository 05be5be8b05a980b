/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"
#include "linkmap/links.h"

static inline void send(const struct linkmap_links *links, int bytes, int partner)
{
    BC_MPI(MPI_Send(links->points->sent.start, bytes, MPI_BYTE, partner, LINKMAP_TAG_MESSAGE,
                    links->points->comm));
}

static inline void receive(const struct linkmap_links *links, int bytes, int partner)
{
    BC_MPI(MPI_Recv(links->points->received.start, bytes, MPI_BYTE, partner, LINKMAP_TAG_MESSAGE,
                    links->points->comm, MPI_STATUS_IGNORE));
}

static inline int answer_bytes(const struct linkmap_links *links)
{
    return links->one_way ? 0 : links->bytes;
}

void linkmap_ask(const struct linkmap_links *links, int partner, double *times_ns)
{
    const int asked = links->bytes, answered = answer_bytes(links);
    send(links, asked, partner);
    receive(links, answered, partner);
    for (int i = 0; i < links->repetitions; i++) {
        const int64_t start_ns = bc_now_ns();
        send(links, asked, partner);
        receive(links, answered, partner);
        times_ns[i] = (double)(bc_now_ns() - start_ns);
    }
}

void linkmap_answer(const struct linkmap_links *links, int partner)
{
    const int asked = links->bytes, answered = answer_bytes(links);
    for (int i = 0; i <= links->repetitions; i++) {
        receive(links, asked, partner);
        send(links, answered, partner);
    }
}
