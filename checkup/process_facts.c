/* SPDX-License-Identifier: BSD-3-Clause */
#include "checkup/facts.h"

#include "common/job/cores.h"
#include "common/job/hosts.h"
#include "common/job/launcher.h"
#include "common/job/limits.h"
#include "common/memory/allocate.h"
#include "common/mpi/mpi_check.h"

#include "build_info.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

extern char **environ;

void checkup_add_fact(struct bc_text *facts, const char *name, const char *unit, const char *source,
                      const char *format, ...)
{
    va_list arguments;
    struct bc_text value = {0};
    va_start(arguments, format);
    bc_text_append_list(&value, format, arguments);
    va_end(arguments);
    bc_make_plain_text(value.start, ' ');
    bc_text_append(facts, "%s\t%s\t%s\t%s\n", name, value.start, unit, source);
    free(value.start);
}

/* ---- launcher -------------------------------------------------------------------------------- */

/* Appends the variables in which launchers pass a rank or a size. All values are numbers. */
static void add_launcher_facts(struct bc_text *facts)
{
    static const char *const variables[] = {"PMI_RANK",
                                            "PMI_SIZE",
                                            "PMIX_RANK",
                                            "OMPI_COMM_WORLD_RANK",
                                            "OMPI_COMM_WORLD_SIZE",
                                            "SLURM_PROCID",
                                            "SLURM_NTASKS",
                                            "PALS_RANKID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]) != NULL)
            checkup_add_fact(facts, variables[i], "", "environment", "%s", getenv(variables[i]));
    char path[64], name[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)getppid());
    const ssize_t length = readlink(path, name, sizeof name - 1);
    if (length > 0)
        checkup_add_fact(facts, "parent", "", "/proc/PARENT/exe", "%.*s", (int)length, name);
}

/* ---- processors and memory ------------------------------------------------------------------- */

/* Appends processors as ranges, "0-3,8". */
static void add_processors(struct bc_text *facts, const char *name, const char *source,
                           const struct bc_processors *set)
{
    int *const members = bc_allocate(BC_PROCESSORS_MAX, sizeof *members, "no memory for facts");
    size_t count = 0;
    for (int i = 0; i < BC_PROCESSORS_MAX; i++)
        if (bc_processors_have(set, i))
            members[count++] = i;
    const size_t length = bc_format_ranks(members, count, NULL, 0);
    char *const text = bc_allocate(length + 1, 1, "no memory for facts");
    bc_format_ranks(members, count, text, length + 1);
    checkup_add_fact(facts, name, "", source, "%s", text);
    free(text);
    free(members);
}

/* Appends the NUMA nodes of this processor and of a new page that this process touched. Appends
   nothing if the process moved in between. */
static void add_numa_nodes(struct bc_text *facts)
{
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    unsigned processor = 0, before = 0, after = 0;
    int status = -1;
    void *pages[] = {mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};
    if (pages[0] == MAP_FAILED)
        return;
    const bool known = syscall(SYS_getcpu, &processor, &before, NULL) == 0;
    *(volatile char *)pages[0] = 1;
    if (known && syscall(SYS_getcpu, &processor, &after, NULL) == 0 && after == before) {
        checkup_add_fact(facts, "processor", "", "getcpu", "%u", processor);
        checkup_add_fact(facts, "processor_numa_node", "", "getcpu", "%u", after);
        if (syscall(SYS_move_pages, 0, 1UL, pages, NULL, &status, 0) == 0 && status >= 0)
            checkup_add_fact(facts, "memory_numa_node", "", "move_pages", "%d", status);
    }
    munmap(pages[0], bytes);
}

static void add_processor_facts(struct bc_text *facts)
{
    struct bc_processors allowed;
    struct bc_cores *const cores = bc_allocate(1, sizeof *cores, "no memory for facts");
    bc_cores_read(cores);
    checkup_add_fact(facts, "online_processors", "", "sysconf", "%ld",
                     sysconf(_SC_NPROCESSORS_ONLN));
    if (cores->count > 0)
        checkup_add_fact(facts, "online_cores", "", "/sys/devices/system/cpu", "%d", cores->count);
    if (bc_processors_read(&allowed)) {
        const struct bc_processors allowed_cores = bc_cores_of(cores, &allowed);
        add_processors(facts, "allowed_processors", "sched_getaffinity", &allowed);
        add_processors(facts, "allowed_cores", "/sys/devices/system/cpu", &allowed_cores);
    }
    free(cores);
    add_numa_nodes(facts);
    struct bc_quotas quotas;
    bc_quotas_read(&quotas);
    for (int64_t i = 0; i < quotas.count; i++) {
        const struct bc_quota *const quota = &quotas.of[i];
        checkup_add_fact(facts, "cpu_quota", "processors", bc_quota_file(quota), "%.4g",
                         quota->processors);
        checkup_add_fact(facts, "cpu_quota_group", "", "stat", "%llu:%llu %.4g",
                         (unsigned long long)quota->device, (unsigned long long)quota->group,
                         quota->processors);
        if (quota->throttled >= 0)
            checkup_add_fact(facts, "throttled_periods", "", "cpu.stat", "%lld",
                             (long long)quota->throttled);
    }
}

/* ---- limits and isolation -------------------------------------------------------------------- */

static void add_limit(struct bc_text *facts, const char *name, const struct rlimit *limit,
                      const char *unit)
{
    if (limit->rlim_cur == RLIM_INFINITY)
        checkup_add_fact(facts, name, unit, "getrlimit", "unlimited");
    else
        checkup_add_fact(facts, name, unit, "getrlimit", "%llu",
                         (unsigned long long)limit->rlim_cur);
}

/* Appends namespaces by inode number: processes with equal numbers share one. */
static void add_isolation_facts(struct bc_text *facts)
{
    static const char *const namespaces[] = {"pid", "ipc", "user", "net", "mnt"};
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++) {
        char path[64], name[64], target[64];
        snprintf(path, sizeof path, "/proc/self/ns/%s", namespaces[i]);
        snprintf(name, sizeof name, "%s_namespace", namespaces[i]);
        const ssize_t length = readlink(path, target, sizeof target);
        if (length > 0)
            checkup_add_fact(facts, name, "", path, "%.*s", (int)length, target);
    }
    int64_t number;
    if (bc_system_numbers(&number, 1, "Seccomp:", "/proc/self/status"))
        checkup_add_fact(facts, "seccomp_mode", "", "/proc/self/status", "%lld", (long long)number);
    if (bc_system_numbers(&number, 1, "", "/proc/sys/kernel/yama/ptrace_scope"))
        checkup_add_fact(facts, "ptrace_scope", "", "/proc/sys/kernel/yama/ptrace_scope", "%lld",
                         (long long)number);
    char nonce = 1, copy = 0;
    const struct iovec from = {&nonce, 1}, to = {&copy, 1};
    checkup_add_fact(facts, "own_memory", "", "process_vm_readv", "%s",
                     process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1 ? "ok" : strerror(errno));
    struct statvfs shm;
    struct stat folder;
    if (statvfs("/dev/shm", &shm) == 0) {
        checkup_add_fact(facts, "shm_bytes", "B", "statvfs", "%llu",
                         (unsigned long long)shm.f_blocks * shm.f_frsize);
        checkup_add_fact(facts, "shm_free_bytes", "B", "statvfs", "%llu",
                         (unsigned long long)shm.f_bavail * shm.f_frsize);
    }
    if (stat("/dev/shm", &folder) == 0)
        checkup_add_fact(facts, "shm_filesystem", "", "stat", "%llx",
                         (unsigned long long)folder.st_dev);
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
        add_limit(facts, "memlock_bytes", &limit, "B");
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        add_limit(facts, "open_files", &limit, "");
}

/* ---- the MPI library ------------------------------------------------------------------------- */

/* Appends the file that MPI_Init is loaded from. */
static void add_library_file(struct bc_text *facts)
{
    Dl_info info;
    void *const function = dlsym(RTLD_DEFAULT, "MPI_Init");
    char path[PATH_MAX];
    if (function != NULL && dladdr(function, &info) != 0 && realpath(info.dli_fname, path) != NULL)
        checkup_add_fact(facts, "mpi_library_file", "", "dladdr", "%s", path);
}

static void add_library_facts(struct bc_text *facts)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    BC_MPI(MPI_Get_library_version(text, &length));
    checkup_add_fact(facts, "mpi_library", "", "MPI_Get_library_version", "%s", text);
    /* Results cut long texts. */
    for (const char *option = strstr(text, "--enable-"); option != NULL;
         option = strstr(option + 1, "--enable-"))
        if (strncmp(option, "--enable-g", 10) == 0 || strncmp(option, "--enable-debug", 14) == 0)
            checkup_add_fact(facts, "configured_with", "", "MPI_Get_library_version", "%.*s",
                             (int)strcspn(option, " '\n"), option);
    checkup_add_fact(facts, "mpi_built_with", "", "build", "%s", COMMCOST_MPI_LIBRARY);
    checkup_add_fact(facts, "mpirun_built_with", "", "build", "%s", COMMCOST_MPIRUN);
    add_library_file(facts);
    for (char **variable = environ; *variable != NULL; variable++)
        if (bc_is_mpi_variable(*variable))
            checkup_add_fact(facts, "mpi_variable", "", "environment", "%s", *variable);
}

void checkup_add_gpu_claims(struct bc_text *facts)
{
    static const char *const claims[][2] = {{"mpi_cuda", "MPIX_Query_cuda_support"},
                                            {"mpi_rocm", "MPIX_Query_rocm_support"}, /* Open MPI */
                                            {"mpi_rocm", "MPIX_Query_hip_support"}}; /* MPICH */
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        int (*query)(void);
        *(void **)&query = dlsym(RTLD_DEFAULT, claims[i][1]);
        if (query != NULL)
            checkup_add_fact(facts, claims[i][0], "", claims[i][1], "%s", query() ? "yes" : "no");
    }
}

void checkup_add_process_facts(struct bc_text *facts)
{
    char host[HOST_NAME_MAX + 1] = "";
    if (gethostname(host, sizeof host) == 0)
        checkup_add_fact(facts, "host", "", "gethostname", "%s", host);
    add_launcher_facts(facts);
    add_processor_facts(facts);
    add_isolation_facts(facts);
    add_library_facts(facts);
}
