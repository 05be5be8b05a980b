#include "common/machine/memory.h"

#include "common/machine/control_groups.h"
#include "common/machine/system_file.h"
#include "common/mpi/mpi_check.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

int64_t bc_memory_available(void)
{
    int64_t kib;
    const bool known = bc_system_numbers(&kib, 1, "MemAvailable:", "/proc/meminfo");
    const int64_t of_node = known ? kib * 1024 : INT64_MAX;
    const int64_t of_groups = bc_memory_of_groups(BC_GROUPS_OF_PROCESS, BC_GROUPS_MOUNT);
    return of_groups < of_node ? of_groups : of_node;
}

/* ---- shared memory --------------------------------------------------------------------------- */

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

/* Says that /dev/shm is full, if fewer than min_bytes are free. A signal handler calls this. */
static bool explain(int64_t min_bytes)
{
    static const char text[] =
        "commcost: " FOLDER ", where MPI puts what the processes of a node share, "
        "has little room left: clear it, or give the container more (docker run --shm-size)\n";
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

/* ---- allocation ------------------------------------------------------------------------------ */

/* Ends the job if there is no memory. */
static void require(const void *memory, const char *format, va_list arguments)
{
    char message[256];
    if (memory != NULL)
        return;
    vsnprintf(message, sizeof message, format, arguments);
    bc_abort("%s", message);
}

void *bc_allocate(size_t count, size_t element_bytes, const char *format, ...)
{
    void *const memory = calloc(count > 0 ? count : 1, element_bytes);
    va_list arguments;
    va_start(arguments, format);
    require(memory, format, arguments);
    va_end(arguments);
    return memory;
}

void *bc_allocate_pages(size_t bytes, const char *format, ...)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t pages = bytes / page + (bytes % page > 0 || bytes == 0);
    void *const memory = bytes <= PTRDIFF_MAX ? aligned_alloc(page, pages * page) : NULL;
    if (memory != NULL)
        memset(memory, 0, pages * page);
    va_list arguments;
    va_start(arguments, format);
    require(memory, format, arguments);
    va_end(arguments);
    return memory;
}
