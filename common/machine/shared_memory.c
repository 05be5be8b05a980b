#include "common/machine/shared_memory.h"

#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FOLDER "/dev/shm"

/* With less than this an access may end in SIGBUS: a page may be larger than what is left. */
#define FULL_BYTES ((int64_t)64 << 10)
/* With less than this a library may not start: UCX takes 4.3 MiB a rank. */
#define NEARLY_FULL_BYTES ((int64_t)16 << 20)

int64_t bc_shared_memory_available(void)
{
    struct statvfs folder;
    if (statvfs(FOLDER, &folder) != 0)
        return INT64_MAX;
    return (int64_t)folder.f_bavail * (int64_t)folder.f_frsize;
}

/* Says on stderr that /dev/shm is full, if fewer than min_bytes are free. A signal handler calls
   this. */
static bool explain(int64_t min_bytes)
{
    static const char text[] =
        "commcost: " FOLDER ", where MPI puts what the processes of a node share, "
        "has little room left: clear it, or give the container more "
        "(docker run --shm-size)\n";
    if (bc_shared_memory_available() >= min_bytes)
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
        (void)explain(NEARLY_FULL_BYTES);
}
