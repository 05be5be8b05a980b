/* SPDX-License-Identifier: BSD-3-Clause */
/* Ticks of the monitor itself. */
#pragma once

/* Measures the monitor's own work, with this value of the flag `site`, and sets inside_own. Call it
   before anything is monitored. Local. */
void own_ticks_measure(int site);
