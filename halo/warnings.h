/* SPDX-License-Identifier: BSD-3-Clause */
/* Table of the notes of halo: see common/result/warnings.h. */
#pragma once

#include "common/result/warnings.h"

/* A method, and the reason. */
#define HALO_NOTE_LEFT_OUT "note", "no %s: %s"

#define HALO_NOTE_ON_NODE "note", "%s: all faces stay on their node"

#define HALO_NOTE_ACROSS_NODES "note", "%s: %lld of %lld faces cross nodes, as packed messages"
