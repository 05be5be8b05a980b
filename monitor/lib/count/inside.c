/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/inside.h"

_Thread_local struct inside inside;
struct inside_own inside_own;
