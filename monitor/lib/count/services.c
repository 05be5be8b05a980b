/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/count/services.h"

#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static void read_system(struct services *services)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) {
        services->warning = "what the operating system counts can't be collected: getrusage fails";
        return;
    }
    const struct service system[SERVICES_OF_SYSTEM] = {
        {"user_time", true, 0.0, seconds_of(usage.ru_utime)},
        {"system_time", true, 0.0, seconds_of(usage.ru_stime)},
        {"voluntary_switches", false, 0.0, (double)usage.ru_nvcsw},
        {"involuntary_switches", false, 0.0, (double)usage.ru_nivcsw},
        {"minor_page_faults", false, 0.0, (double)usage.ru_minflt},
        {"major_page_faults", false, 0.0, (double)usage.ru_majflt},
    };
    memcpy(services->service, system, sizeof system);
    services->count = SERVICES_OF_SYSTEM;
}

/* State found at the first use and kept. MPI_T is never finalised, since handles must outlive
   every snapshot, and Open MPI 4.1.4 doesn't survive MPI_T_finalize after MPI_Finalize. The lock
   is for snapshots of several threads. */
static struct {
    pthread_mutex_t lock;
    bool known;
    MPI_T_pvar_session session;
    int count;
    struct variable {
        char name[64];
        MPI_Datatype type;
        bool is_time;
        MPI_T_pvar_handle handle;
    } variable[SERVICES_MAX - SERVICES_OF_SYSTEM];
    const char *warning;
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

/*
 * Loaded plug-ins of Open MPI, as the prefixes of their variables: "mtl_psm2_".
 *
 * Open MPI's MPI_T_init_thread loads plug-ins again that MPI_Init has unloaded, and shows their
 * variables. Using one crashes (4.1.4: mtl_psm2 without Omni-Path; docs/clusters.md). So only
 * variables of plug-ins that were loaded before are used. If that is unknown, because there are no
 * plug-ins (a static library) or the program has started the tools interface, the variables of
 * mtl_psm2 or of all plug-ins are left out.
 */
static struct plug_ins {
    int count;
    char prefix[256][48];
} used_plug_ins, loaded_plug_ins;

static bool has_plug_in(const struct plug_ins *plug_ins, const char *variable)
{
    for (int i = 0; i < plug_ins->count; i++)
        if (strncmp(variable, plug_ins->prefix[i], strlen(plug_ins->prefix[i])) == 0)
            return true;
    return false;
}

static void find_plug_ins(struct plug_ins *plug_ins)
{
    const int room = sizeof plug_ins->prefix / sizeof *plug_ins->prefix;
    char line[4096 + 128];
    FILE *const maps = fopen("/proc/self/maps", "re");
    plug_ins->count = 0;
    while (maps != NULL && plug_ins->count < room && fgets(line, sizeof line, maps) != NULL) {
        const char *const slash = strrchr(line, '/');
        if (slash == NULL || strncmp(slash, "/mca_", 5) != 0)
            continue;
        char *const prefix = plug_ins->prefix[plug_ins->count];
        const size_t length = strcspn(slash + 5, ".\n");
        if (length + 2 > sizeof *plug_ins->prefix)
            continue;
        memcpy(prefix, slash + 5, length);
        memcpy(prefix + length, "_", 2);
        if (!has_plug_in(plug_ins, prefix)) /* a plug-in is mapped in several pieces */
            plug_ins->count++;
    }
    if (maps != NULL)
        fclose(maps);
}

static bool is_of_unused_plug_in(const char *variable)
{
    return !has_plug_in(&used_plug_ins, variable) &&
           (has_plug_in(&loaded_plug_ins, variable) || strncmp(variable, "mtl_psm2_", 9) == 0);
}

static bool has_meaningful_difference(int class, MPI_Datatype type)
{
    return (class == MPI_T_PVAR_CLASS_COUNTER || class == MPI_T_PVAR_CLASS_AGGREGATE ||
            class == MPI_T_PVAR_CLASS_TIMER) &&
           (type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG ||
            type == MPI_INT || type == MPI_COUNT || type == MPI_DOUBLE);
}

/* Makes and starts a handle for a variable. False if it can't be read here. */
static bool open_variable(int index, struct variable *variable)
{
    int verbosity, class, binding, is_read_only, is_continuous, is_atomic;
    int name_length = sizeof variable->name, no_description = 0;
    MPI_T_enum enumeration;
    if (MPI_T_pvar_get_info(index, variable->name, &name_length, &verbosity, &class,
                            &variable->type, &enumeration, NULL, &no_description, &binding,
                            &is_read_only, &is_continuous, &is_atomic) != MPI_SUCCESS)
        return false; /* belongs to a part of the library that is not loaded */
    if (binding != MPI_T_BIND_NO_OBJECT || !has_meaningful_difference(class, variable->type) ||
        is_of_unused_plug_in(variable->name))
        return false;
    /* The unit of a timer of an integer type is only in its description, so it is a count. */
    variable->is_time = class == MPI_T_PVAR_CLASS_TIMER && variable->type == MPI_DOUBLE;
    int values;
    if (MPI_T_pvar_handle_alloc(library.session, index, NULL, &variable->handle, &values) !=
        MPI_SUCCESS)
        return false;
    if (values == 1 &&
        (is_continuous || MPI_T_pvar_start(library.session, variable->handle) == MPI_SUCCESS))
        return true;
    (void)MPI_T_pvar_handle_free(library.session, &variable->handle);
    return false;
}

static void find_variables(void)
{
    int variables, provided;
    /* Open MPI applies the level requested here to the whole program. */
    int level = MPI_THREAD_SINGLE;
    (void)PMPI_Query_thread(&level);
    library.known = true;
    /* An error means that nobody has started MPI_T yet. */
    if (MPI_T_pvar_get_num(&variables) != MPI_SUCCESS)
        find_plug_ins(&used_plug_ins);
    if (MPI_T_init_thread(level, &provided) != MPI_SUCCESS ||
        MPI_T_pvar_get_num(&variables) != MPI_SUCCESS ||
        MPI_T_pvar_session_create(&library.session) != MPI_SUCCESS) {
        library.warning = "the MPI library's own services can't be collected: its tools interface "
                          "(MPI_T) does not start";
        return;
    }
    find_plug_ins(&loaded_plug_ins);
    const int room = sizeof library.variable / sizeof *library.variable;
    for (int index = 0; index < variables; index++) {
        struct variable variable;
        if (!open_variable(index, &variable))
            continue;
        if (library.count == room) {
            library.warning =
                "the MPI library has more performance variables than there is room for: only the "
                "first ones are here";
            (void)MPI_T_pvar_handle_free(library.session, &variable.handle);
            return;
        }
        library.variable[library.count++] = variable;
    }
    if (library.count == 0)
        library.warning =
            "the MPI library's own services can't be collected: it has no performance variables "
            "(MPI_T) that count for the whole process";
}

static double read_variable(const struct variable *variable)
{
    union {
        unsigned unsigned_value;
        unsigned long unsigned_long_value;
        unsigned long long unsigned_long_long_value;
        int int_value;
        MPI_Count count_value;
        double double_value;
    } read = {0};
    if (MPI_T_pvar_read(library.session, variable->handle, &read) != MPI_SUCCESS)
        return NAN;
    if (variable->type == MPI_UNSIGNED)
        return (double)read.unsigned_value;
    if (variable->type == MPI_UNSIGNED_LONG)
        return (double)read.unsigned_long_value;
    if (variable->type == MPI_UNSIGNED_LONG_LONG)
        return (double)read.unsigned_long_long_value;
    if (variable->type == MPI_INT)
        return (double)read.int_value;
    if (variable->type == MPI_COUNT)
        return (double)read.count_value;
    return read.double_value;
}

static void read_library(struct services *services)
{
    pthread_mutex_lock(&library.lock);
    if (!library.known)
        find_variables();
    for (int i = 0; i < library.count; i++) {
        const struct variable *const variable = &library.variable[i];
        struct service *const service = &services->service[services->count++];
        *service = (struct service){.is_time = variable->is_time,
                                    .range = variable->type == MPI_UNSIGNED ? 0x1p32 : 0.0,
                                    .value = read_variable(variable)};
        memcpy(service->name, variable->name, sizeof service->name);
    }
    if (library.warning != NULL)
        services->warning = library.warning;
    pthread_mutex_unlock(&library.lock);
}

void services_read(struct services *services)
{
    *services = (struct services){0};
    read_system(services);
    read_library(services);
}

void services_since(struct services *now, const struct services *before)
{
    for (int i = 0; i < now->count; i++) {
        struct service *const service = &now->service[i];
        if (i >= before->count || strcmp(service->name, before->service[i].name) != 0) {
            service->value = NAN;
            continue;
        }
        service->value -= before->service[i].value;
        if (service->value < 0.0)
            service->value += service->range;
    }
}
