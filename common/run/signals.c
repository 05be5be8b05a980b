/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/run/internal.h"

#include <signal.h>

static const struct {
    int number;
    const char *name;
} signals[] = {{SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"}, {SIGUSR1, "SIGUSR1"}};

static volatile sig_atomic_t noted; /* the last signal, or 0 */

static void note(int number) { noted = number; }

void bc_signals_watch(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i].number, &action, NULL);
}

int bc_signals_noted(void) { return (int)noted; }

const char *bc_signal_name(int number)
{
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (signals[i].number == number)
            return signals[i].name;
    return "a signal";
}
