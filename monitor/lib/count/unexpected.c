/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/unexpected.h"

#include "monitor/lib/count/depths.h"
#include "monitor/lib/count/handles.h"
#include "monitor/lib/count/ticks.h"

#include <pthread.h>
#include <stdlib.h>

enum { PAUSE = 100 }; /* from one reading to the next, in times of the first */

static pthread_once_t is_sought = PTHREAD_ONCE_INIT;
static int variable = -1;
static MPI_T_pvar_session session;
static uint64_t next_ticks; /* atomic: time of the next reading */

static void find_variable(void)
{
    int level = MPI_THREAD_SINGLE, provided, index;
    PMPI_Query_thread(&level);
    /* Never finalised, as in services.c. */
    if (MPI_T_init_thread(level, &provided) == MPI_SUCCESS &&
        MPI_T_pvar_get_index("pml_ob1_unexpected_msgq_length", MPI_T_PVAR_CLASS_SIZE, &index) ==
            MPI_SUCCESS &&
        MPI_T_pvar_session_create(&session) == MPI_SUCCESS)
        variable = index;
}

void unexpected_start(void)
{
    (void)pthread_once(&is_sought, find_variable);
    monitor_lock();
    if (variable >= 0)
        depth_set(DEPTH_UNEXPECTED, 0);
    monitor_unlock();
}

/* Returns the sum over all processes of the communicator; -1 if it can't be read. */
static int64_t read_sum(MPI_Comm comm)
{
    MPI_T_pvar_handle handle;
    int count = 0;
    if (MPI_T_pvar_handle_alloc(session, variable, &comm, &handle, &count) != MPI_SUCCESS)
        return -1;
    unsigned *const values = calloc((size_t)count, sizeof *values);
    int64_t sum = -1;
    if (values != NULL && MPI_T_pvar_read(session, handle, values) == MPI_SUCCESS) {
        sum = 0;
        for (int i = 0; i < count; i++)
            sum += values[i];
    }
    free(values);
    (void)MPI_T_pvar_handle_free(session, &handle);
    return sum;
}

void unexpected_count(MPI_Comm comm)
{
    const uint64_t now_ticks = ticks_now();
    uint64_t expected = __atomic_load_n(&next_ticks, __ATOMIC_RELAXED);
    if (variable < 0 || now_ticks < expected || comm == MPI_COMM_NULL ||
        !__atomic_compare_exchange_n(&next_ticks, &expected, UINT64_MAX, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return;
    const int64_t sum = read_sum(comm);
    monitor_lock();
    if (sum >= 0)
        depth_set(DEPTH_UNEXPECTED, sum);
    monitor_unlock();
    const uint64_t end_ticks = ticks_now();
    __atomic_store_n(&next_ticks, end_ticks + PAUSE * (end_ticks - now_ticks), __ATOMIC_RELAXED);
}
