/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timed loops of monitor_overhead. kernel.c includes this file three times, so there is no
 * guard. It defines LOOP(name, the calls that differ, a repetition) and CALL(Name), MPI_Name or
 * PMPI_Name.
 */

#define SENT bench->sent, MONITOR_MESSAGE_BYTES, MPI_CHAR, 0, 0, MPI_COMM_SELF
#define RECEIVED_AT(place)                                                                         \
    bench->received[place], MONITOR_MESSAGE_BYTES, MPI_CHAR, 0, 0, MPI_COMM_SELF
#define RECEIVED RECEIVED_AT(0)

LOOP(isend_wait, "MPI_Isend MPI_Wait", PMPI_Irecv(RECEIVED, &requests[0]);
     CALL(Isend)(SENT, &requests[1]); CALL(Wait)(&requests[1], MPI_STATUS_IGNORE);
     PMPI_Wait(&requests[0], MPI_STATUS_IGNORE);)

LOOP(irecv_wait, "MPI_Irecv MPI_Wait", CALL(Irecv)(RECEIVED, &requests[0]); PMPI_Send(SENT);
     CALL(Wait)(&requests[0], MPI_STATUS_IGNORE);)

LOOP(send, "MPI_Send", PMPI_Irecv(RECEIVED, &requests[0]); CALL(Send)(SENT);
     PMPI_Wait(&requests[0], MPI_STATUS_IGNORE);)

LOOP(recv, "MPI_Recv", PMPI_Isend(SENT, &requests[0]); CALL(Recv)(RECEIVED, MPI_STATUS_IGNORE);
     PMPI_Wait(&requests[0], MPI_STATUS_IGNORE);)

/* MONITOR_MANY messages each way. */
LOOP(waitall, "8 MPI_Irecv 8 MPI_Isend MPI_Waitall",
     for (int k = 0; k < MONITOR_MANY; k++) CALL(Irecv)(RECEIVED_AT(k), &requests[k]);
     for (int k = 0; k < MONITOR_MANY; k++) CALL(Isend)(SENT, &requests[MONITOR_MANY + k]);
     CALL(Waitall)(2 * MONITOR_MANY, requests, bench->no_statuses);)

/* The last of many requests is the only one that completes. */
LOOP(waitany, "MPI_Waitany of 10000 requests",
     PMPI_Irecv(RECEIVED, &bench->of_waitany[MONITOR_WAITANY - 1]);
     PMPI_Send(SENT); CALL(Waitany)(MONITOR_WAITANY, bench->of_waitany, &flag, MPI_STATUS_IGNORE);)

LOOP(start_wait, "MPI_Start MPI_Wait", PMPI_Irecv(RECEIVED, &requests[0]);
     CALL(Start)(&bench->persistent); CALL(Wait)(&bench->persistent, MPI_STATUS_IGNORE);
     PMPI_Wait(&requests[0], MPI_STATUS_IGNORE);)

/* Tests a receive that never completes. */
LOOP(test, "MPI_Test", CALL(Test)(&bench->never, &flag, MPI_STATUS_IGNORE);)

LOOP(put, "MPI_Put",
     CALL(Put)(bench->sent, MONITOR_MESSAGE_BYTES, MPI_CHAR, 0, 0, MONITOR_MESSAGE_BYTES, MPI_CHAR,
               bench->window);)

LOOP(put_flush, "MPI_Put MPI_Win_flush",
     CALL(Put)(bench->sent, MONITOR_MESSAGE_BYTES, MPI_CHAR, 0, 0, MONITOR_MESSAGE_BYTES, MPI_CHAR,
               bench->window);
     CALL(Win_flush)(0, bench->window);)

LOOP(barrier, "MPI_Barrier", CALL(Barrier)(MPI_COMM_SELF);)

LOOP(allreduce, "MPI_Allreduce",
     CALL(Allreduce)(&bench->value, &bench->sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);)

LOOP(iallreduce_wait, "MPI_Iallreduce MPI_Wait",
     CALL(Iallreduce)(&bench->value, &bench->sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF,
                      &requests[0]);
     CALL(Wait)(&requests[0], MPI_STATUS_IGNORE);)

#undef CALL
#undef LOOP
#undef SENT
#undef RECEIVED
#undef RECEIVED_AT
