#include "common/run/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t noted_signal;

static void note_signal(int signal_number)
{
    noted_signal = signal_number;
}

void bc_interrupt_watch(void)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGUSR1};
    struct sigaction action = {.sa_flags = SA_RESTART};
    action.sa_handler = note_signal;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

int bc_interrupt_signal(void)
{
    return (int)noted_signal;
}

const char *bc_interrupt_name(int signal_number)
{
    switch (signal_number) {
    case SIGTERM:
        return "SIGTERM";
    case SIGINT:
        return "SIGINT";
    case SIGUSR1:
        return "SIGUSR1";
    default:
        return "a signal";
    }
}
