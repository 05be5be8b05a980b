/*
 * Signals that ask a run to end: SIGTERM, SIGINT, SIGUSR1 (schedulers warn
 * with it). They are noted, and the run ends after the row in hand.
 */
#ifndef COMMCOST_COMMON_RUN_INTERRUPT_H
#define COMMCOST_COMMON_RUN_INTERRUPT_H

/* From now on the signals are noted instead of ending the process. Local. */
void bc_interrupt_watch(void);

/* The signal that came last, or 0. Local. */
int bc_interrupt_signal(void);

/* "SIGTERM" and so on. */
const char *bc_interrupt_name(int signal_number);

#endif
