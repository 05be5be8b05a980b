/* SPDX-License-Identifier: BSD-3-Clause */
/* Table of the notes of syncbench: see common/result/warnings.h. */
#pragma once

#include "common/result/warnings.h"

/* The kind, its requirement, and the job's ranks. */
#define SYNCBENCH_NOTE_LEFT_OUT "note", "no %s: it needs %s, got %d"

#define SYNCBENCH_NOTE_DELAY "note", "delay: %llu steps"
#define SYNCBENCH_NOTE_SEED "note", "random neighbours: seed %lld"

#define SYNCBENCH_NOTE_NO_WAIT                                                                     \
    "note", "%s: ranks don't wait for each other in this MPI library, as MPI allows"
