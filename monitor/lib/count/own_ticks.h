/* Ticks of the monitor itself. */
#pragma once

/* Measures the monitor's own work and sets inside_own. Call it before anything is monitored.
   Local. */
void own_ticks_measure(void);
