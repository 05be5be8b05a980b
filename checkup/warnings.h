/* SPDX-License-Identifier: BSD-3-Clause */
/* Table of the check-up's notes, in the form of common/result/warnings.h. */
#pragma once

#define CHECKUP_NOTE_ONE_NODE "note", "one node: messages between nodes are not measured"
