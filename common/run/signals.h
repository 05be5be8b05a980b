/* Signals that ask a run to end: they are noted, and the run ends after the visit in hand. */
#pragma once

/* Begins to note SIGTERM, SIGINT and SIGUSR1, with which schedulers warn. Local. */
void bc_signals_watch(void);

/* The signal that was noted last on this rank; 0: none. Local. */
int bc_signals_noted(void);

/* The name of such a signal. */
const char *bc_signal_name(int number);
