/*
 * The timed loops of monitor_overhead. kernel.c includes this file twice, so there is no guard. It
 * defines CALL(Name), MPI_Name or PMPI_Name, and LOOP(name), the name of the loop's function.
 */

/* A repetition is one line, to be checked by eye. */
#define TIMED_LOOP(name, ...)                                                                      \
    static int64_t LOOP(name)(struct overhead_bench * bench, int64_t repetitions)                  \
    {                                                                                              \
        MPI_Request requests[2 * OVERHEAD_MANY];                                                   \
        int flag;                                                                                  \
        (void)bench, (void)requests, (void)flag;                                                   \
        const int64_t start_ns = bc_now_ns();                                                      \
        for (int64_t i = 0; i < repetitions; i++) {                                                \
            __VA_ARGS__                                                                            \
        }                                                                                          \
        return bc_now_ns() - start_ns;                                                             \
    }

#define SENT bench->sent, OVERHEAD_MESSAGE_BYTES, MPI_CHAR, 0, 0, MPI_COMM_SELF
#define RECEIVED bench->received, OVERHEAD_MESSAGE_BYTES, MPI_CHAR, 0, 0, MPI_COMM_SELF

TIMED_LOOP(isend_wait, PMPI_Irecv(RECEIVED, &requests[0]); CALL(Isend)(SENT, &requests[1]);
           CALL(Wait)(&requests[1], MPI_STATUS_IGNORE); PMPI_Wait(&requests[0], MPI_STATUS_IGNORE);)

TIMED_LOOP(irecv_wait, CALL(Irecv)(RECEIVED, &requests[0]); PMPI_Send(SENT);
           CALL(Wait)(&requests[0], MPI_STATUS_IGNORE);)

TIMED_LOOP(send, PMPI_Irecv(RECEIVED, &requests[0]); CALL(Send)(SENT);
           PMPI_Wait(&requests[0], MPI_STATUS_IGNORE);)

TIMED_LOOP(recv, PMPI_Isend(SENT, &requests[0]); CALL(Recv)(RECEIVED, MPI_STATUS_IGNORE);
           PMPI_Wait(&requests[0], MPI_STATUS_IGNORE);)

/* OVERHEAD_MANY messages each way. */
TIMED_LOOP(waitall, for (int k = 0; k < OVERHEAD_MANY; k++) CALL(Irecv)(RECEIVED, &requests[k]);
           for (int k = 0; k < OVERHEAD_MANY; k++) CALL(Isend)(SENT, &requests[OVERHEAD_MANY + k]);
           CALL(Waitall)(2 * OVERHEAD_MANY, requests, bench->no_statuses);)

/* The last of many requests is the only one that completes. */
TIMED_LOOP(waitany, PMPI_Irecv(RECEIVED, &bench->of_waitany[OVERHEAD_WAITANY - 1]); PMPI_Send(SENT);
           CALL(Waitany)(OVERHEAD_WAITANY, bench->of_waitany, &flag, MPI_STATUS_IGNORE);)

TIMED_LOOP(start_wait, PMPI_Irecv(RECEIVED, &requests[0]); CALL(Start)(&bench->persistent);
           CALL(Wait)(&bench->persistent, MPI_STATUS_IGNORE);
           PMPI_Wait(&requests[0], MPI_STATUS_IGNORE);)

/* Tests a receive that never completes. */
TIMED_LOOP(test, CALL(Test)(&bench->never, &flag, MPI_STATUS_IGNORE);)

TIMED_LOOP(put, CALL(Put)(bench->sent, OVERHEAD_MESSAGE_BYTES, MPI_CHAR, 0, 0,
                          OVERHEAD_MESSAGE_BYTES, MPI_CHAR, bench->window);)

TIMED_LOOP(put_flush, CALL(Put)(bench->sent, OVERHEAD_MESSAGE_BYTES, MPI_CHAR, 0, 0,
                                OVERHEAD_MESSAGE_BYTES, MPI_CHAR, bench->window);
           CALL(Win_flush)(0, bench->window);)

TIMED_LOOP(barrier, CALL(Barrier)(MPI_COMM_SELF);)

TIMED_LOOP(allreduce,
           CALL(Allreduce)(&bench->value, &bench->sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);)

TIMED_LOOP(iallreduce_wait, CALL(Iallreduce)(&bench->value, &bench->sum, 1, MPI_DOUBLE, MPI_SUM,
                                             MPI_COMM_SELF, &requests[0]);
           CALL(Wait)(&requests[0], MPI_STATUS_IGNORE);)

#undef TIMED_LOOP
#undef SENT
#undef RECEIVED
