#include "common/machine/shared_memory.h"

#include <signal.h>
#include <stdint.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FOLDER "/dev/shm"

/* With less an access may end in SIGBUS: a page may be larger than what is left. */
#define FULL_BYTES ((uint64_t)64 << 10)
/* With less a library may not start: UCX takes 4.3 MiB a rank. */
#define LITTLE_BYTES ((uint64_t)16 << 20)

/* Says that there is no room, if there is less than so much. Called by a signal
   handler: statvfs is a bare system call in Linux's libraries. */
static bool explain(uint64_t least_bytes)
{
    static const char text[] =
        "commcost: " FOLDER ", where MPI puts what the processes of a node share, "
        "has little room left: clear it, or give the container more "
        "(docker run --shm-size)\n";
    struct statvfs folder;
    if (statvfs(FOLDER, &folder) != 0 || (uint64_t)folder.f_bavail * folder.f_frsize >= least_bytes)
        return false;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    return true;
}

static void on_bus_error(int signal_number)
{
    if (explain(FULL_BYTES))
        _exit(1);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void bc_shared_memory_watch(bool speaks)
{
    struct sigaction action = {.sa_handler = on_bus_error};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
    if (speaks)
        (void)explain(LITTLE_BYTES);
}
