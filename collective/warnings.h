/* SPDX-License-Identifier: BSD-3-Clause */
/* Table of the notes and warnings of collective: see common/result/warnings.h. */
#pragma once

#include "common/result/warnings.h"

/* An operation, and the reason. */
#define COLLECTIVE_NOTE_LEFT_OUT "note", "no %s: %s"

/* An operation, its size, and the limit. */
#define COLLECTIVE_NOTE_TOO_LARGE "note", "no %s of %lld bytes: too large for %s"

#define COLLECTIVE_WARNING_WRONG_DATA                                                              \
    "warning", "%s: wrong data in %lld operations, counted over ranks"
