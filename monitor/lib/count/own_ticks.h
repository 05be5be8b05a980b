/* The ticks that the monitor itself takes. */
#pragma once

/* Measures the ticks that measuring adds to a time, which are subtracted, and those that it adds to
   the time inside MPI: sets inside_own. Call it before anything is monitored. Local. */
void own_ticks_measure(void);
