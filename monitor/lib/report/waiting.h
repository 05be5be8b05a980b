/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for late ranks, in the rows of a report.
 */
#pragma once

#include "common/job/job.h"
#include "monitor/lib/report/rows.h"

/* Sets this rank's waiting in its rows of collectives that synchronise. With a job (NULL on all
   ranks or on none) also in rooted ones, for which it compares the ranks' clocks. Collective
   over `comm`, a duplicate of MPI_COMM_WORLD. */
void rows_find_late(struct rows *rows, const struct snapshot *snapshot, const struct bc_job *job,
                    MPI_Comm comm);
