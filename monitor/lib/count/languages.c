/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/languages.h"

#include <stddef.h>

unsigned languages_seen;
_Thread_local const void *observed_function;
