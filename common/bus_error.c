#include "common/bus_error.h"

#include <signal.h>
#include <stddef.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FOLDER "/dev/shm"

/* A page may be larger than what is left. */
#define FULL_BYTES 65536

/* Only what a signal handler may do; statvfs is a bare system call in Linux's
   libraries. */
static void explain(int signal_number)
{
    static const char text[] =
        "commcost: " FOLDER ", which MPI shares memory in, is full: make room "
        "there, or give the container more (docker run --shm-size)\n";
    struct statvfs folder;
    if (statvfs(FOLDER, &folder) == 0 &&
        folder.f_bavail * folder.f_frsize < FULL_BYTES) {
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(1);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void bc_bus_error_watch(void)
{
    struct sigaction action = {.sa_handler = explain};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
