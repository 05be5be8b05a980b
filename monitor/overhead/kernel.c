/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/overhead/kernel.h"

#include "common/clock/clock.h"
#include "common/mpi/mpi_check.h"

enum { WINDOW_BYTES = 65536, TAG_NEVER_SENT = 1 };

/* A repetition is one line of kernel_loops.h, to be checked by eye. */
#define TIMED(name, ...)                                                                           \
    static int64_t name(struct monitor_bench *bench, int64_t repetitions)                          \
    {                                                                                              \
        MPI_Request requests[2 * MONITOR_MANY];                                                    \
        int flag;                                                                                  \
        (void)bench, (void)requests, (void)flag;                                                   \
        const int64_t start_ns = bc_now_ns();                                                      \
        for (int64_t i = 0; i < repetitions; i++) {                                                \
            __VA_ARGS__                                                                            \
        }                                                                                          \
        return bc_now_ns() - start_ns;                                                             \
    }

#define CALL(Name) MPI_##Name
#define LOOP(name, text, ...) TIMED(monitored_##name, __VA_ARGS__)
#include "monitor/overhead/kernel_loops.h"
#define CALL(Name) PMPI_##Name
#define LOOP(name, text, ...) TIMED(direct_##name, __VA_ARGS__)
#include "monitor/overhead/kernel_loops.h"
#define LOOP(name, text, ...) {text, monitored_##name, direct_##name},
const struct monitor_call monitor_calls[] = {
#include "monitor/overhead/kernel_loops.h"
};
const int monitor_calls_count = sizeof monitor_calls / sizeof *monitor_calls;

/* Query function of requests that stay active until they are completed. Unlike receives they are
   in no queue that a message has to pass. */
static int query_nothing(void *unused, MPI_Status *status)
{
    (void)unused;
    MPI_Status_set_cancelled(status, 0);
    return MPI_Status_set_elements(status, MPI_BYTE, 0);
}

static int free_nothing(void *unused)
{
    (void)unused;
    return MPI_SUCCESS;
}

static int cancel_nothing(void *unused, int is_complete)
{
    (void)unused, (void)is_complete;
    return MPI_SUCCESS;
}

void monitor_bench_create(struct monitor_bench *bench)
{
    *bench = (struct monitor_bench){.value = 1.0, .no_statuses = MPI_STATUSES_IGNORE};
    void *memory;
    BC_MPI(
        MPI_Win_allocate(WINDOW_BYTES, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &bench->window));
    BC_MPI(MPI_Win_lock_all(0, bench->window));
    BC_MPI(MPI_Send_init(bench->sent, MONITOR_MESSAGE_BYTES, MPI_CHAR, 0, 0, MPI_COMM_SELF,
                         &bench->persistent));
    BC_MPI(MPI_Irecv(bench->received[0], MONITOR_MESSAGE_BYTES, MPI_CHAR, 0, TAG_NEVER_SENT,
                     MPI_COMM_SELF, &bench->never));
    for (int i = 0; i < MONITOR_WAITANY - 1; i++)
        BC_MPI(MPI_Grequest_start(query_nothing, free_nothing, cancel_nothing, NULL,
                                  &bench->of_waitany[i]));
}

void monitor_bench_destroy(struct monitor_bench *bench)
{
    for (int i = 0; i < MONITOR_WAITANY - 1; i++) {
        BC_MPI(MPI_Grequest_complete(bench->of_waitany[i]));
        BC_MPI(MPI_Wait(&bench->of_waitany[i], MPI_STATUS_IGNORE));
    }
    BC_MPI(MPI_Cancel(&bench->never));
    BC_MPI(MPI_Wait(&bench->never, MPI_STATUS_IGNORE));
    BC_MPI(MPI_Request_free(&bench->persistent));
    BC_MPI(MPI_Win_unlock_all(bench->window));
    BC_MPI(MPI_Win_free(&bench->window));
}

int64_t monitor_loop(struct monitor_bench *bench, monitor_loop_fn *loop, int64_t repetitions)
{
    (void)loop(bench, 1);
    const int64_t took_ns = loop(bench, repetitions);
    BC_MPI(MPI_Win_flush_all(bench->window));
    return took_ns;
}

void monitor_take(struct monitor_bench *bench, const struct monitor_call *call, int64_t repetitions,
                  double ns[2])
{
    int64_t monitored_ns, direct_ns;
    (void)monitor_loop(bench, call->monitored, repetitions);
    monitored_ns = monitor_loop(bench, call->monitored, repetitions);
    direct_ns = monitor_loop(bench, call->direct, repetitions);
    direct_ns += monitor_loop(bench, call->direct, repetitions);
    monitored_ns += monitor_loop(bench, call->monitored, repetitions);
    ns[0] = (double)monitored_ns / 2.0;
    ns[1] = (double)direct_ns / 2.0;
}
