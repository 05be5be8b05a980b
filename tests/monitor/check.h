/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of the monitor's tests in C. A failure is printed and counted.
 */
#ifndef COMMCOST_TESTS_MONITOR_CHECK_H
#define COMMCOST_TESTS_MONITOR_CHECK_H

#include <stdio.h>

static int check_failures;

#define CHECK(condition)                                                                           \
    do                                                                                             \
        if (!(condition)) {                                                                        \
            check_failures++;                                                                      \
            printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, #condition);                            \
        }                                                                                          \
    while (0)

#endif
