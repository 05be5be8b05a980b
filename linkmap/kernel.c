#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"
#include "linkmap/links.h"

static inline void send(const struct linkmap_points *points, int bytes, int partner)
{
    BC_MPI(MPI_Send(points->sent, bytes, MPI_BYTE, partner, LINKMAP_TAG_MESSAGE, points->comm));
}

static inline void receive(const struct linkmap_points *points, int bytes, int partner)
{
    BC_MPI(MPI_Recv(points->received, bytes, MPI_BYTE, partner, LINKMAP_TAG_MESSAGE, points->comm,
                    MPI_STATUS_IGNORE));
}

static inline int answer_bytes(const struct linkmap_links *links)
{
    return links->one_way ? 0 : links->bytes;
}

void linkmap_ask(const struct linkmap_links *links, const struct linkmap_points *points,
                 int partner, double *times_ns)
{
    send(points, links->bytes, partner);
    receive(points, answer_bytes(links), partner);
    for (int i = 0; i < links->repetitions; i++) {
        const int64_t start_ns = bc_now_ns();
        send(points, links->bytes, partner);
        receive(points, answer_bytes(links), partner);
        times_ns[i] = (double)(bc_now_ns() - start_ns);
    }
}

void linkmap_answer(const struct linkmap_links *links, const struct linkmap_points *points,
                    int partner)
{
    for (int i = 0; i <= links->repetitions; i++) {
        receive(points, links->bytes, partner);
        send(points, answer_bytes(links), partner);
    }
}
