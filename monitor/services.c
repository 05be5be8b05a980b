#include "monitor/services.h"

#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* ---- the operating system -------------------------------------------------------------------- */

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

/* ---- the MPI library ------------------------------------------------------------------------- */

/* Found at the first use and kept. MPI_T is never finalised, since a handle must outlive every
   snapshot, and Open MPI 4.1.4 doesn't survive MPI_T_finalize after MPI_Finalize. The lock is for
   snapshots of several threads. */
static struct {
    pthread_mutex_t lock;
    bool known;
    MPI_T_pvar_session session;
    int count;
    struct variable {
        struct service service; /* without its value */
        MPI_Datatype type;
        MPI_T_pvar_handle handle;
    } variable[SERVICES_MAX - SERVICES_OF_SYSTEM];
    const char *warning;
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

/*
 * What the process has mapped (/proc/self/maps) before and after the start of the tools interface.
 *
 * Open MPI's MPI_T_init_thread loads plug-ins again that MPI_Init has unloaded, since the job
 * doesn't need them, and shows their variables; using one crashes (4.1.4: mtl_psm2 where there is
 * no Omni-Path; tests/mpi_defects/tools_variables.c). So only variables of plug-ins count that were
 * loaded before. Where that can't be known, since there are no plug-ins (a static library) or the
 * program itself has started the tools interface, the variables of mtl_psm2 or of all plug-ins are
 * left out.
 */
static char *mapped_before, *mapped_after; /* NULL: not known */

static char *read_maps(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const maps = fopen("/proc/self/maps", "re");
    if (maps == NULL)
        return NULL;
    (void)!getdelim(&text, &size, '\0', maps);
    (void)fclose(maps);
    return text;
}

/* Whether the variable is of one of the plug-ins, of which mca_mtl_psm2.so has "mtl_psm2_rx". */
static bool is_of_plug_in(const char *variable, const char *maps)
{
    const char *at = maps != NULL ? strstr(maps, "/mca_") : NULL;
    for (; at != NULL; at = strstr(at, "/mca_")) {
        at += strlen("/mca_");
        const size_t length = strcspn(at, ".\n");
        if (strncmp(variable, at, length) == 0 && variable[length] == '_')
            return true;
    }
    return false;
}

static bool is_of_unused_plug_in(const char *variable)
{
    return !is_of_plug_in(variable, mapped_before) &&
           (is_of_plug_in(variable, mapped_after) || strncmp(variable, "mtl_psm2_", 9) == 0);
}

/* Whether it is clear what a later value less an earlier one means. */
static bool has_meaningful_difference(int class, MPI_Datatype type)
{
    return (class == MPI_T_PVAR_CLASS_COUNTER || class == MPI_T_PVAR_CLASS_AGGREGATE ||
            class == MPI_T_PVAR_CLASS_TIMER) &&
           (type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG ||
            type == MPI_INT || type == MPI_COUNT || type == MPI_DOUBLE);
}

/* Makes and starts a handle for a variable of the library. False if it can't be read here. */
static bool open_variable(int index, struct variable *variable)
{
    int verbosity, class, binding, is_read_only, is_continuous, is_atomic, values;
    struct service *const service = &variable->service;
    int name_length = sizeof service->name, no_description = 0;
    MPI_T_enum enumeration;
    /* An error: it belongs to a part of the library that is not loaded. */
    if (MPI_T_pvar_get_info(index, service->name, &name_length, &verbosity, &class, &variable->type,
                            &enumeration, NULL, &no_description, &binding, &is_read_only,
                            &is_continuous, &is_atomic) != MPI_SUCCESS ||
        binding != MPI_T_BIND_NO_OBJECT || !has_meaningful_difference(class, variable->type) ||
        is_of_unused_plug_in(service->name) ||
        MPI_T_pvar_handle_alloc(library.session, index, NULL, &variable->handle, &values) !=
            MPI_SUCCESS)
        return false;
    /* The unit of a timer of an integer type is only in its description, so it is a count. */
    service->is_time = class == MPI_T_PVAR_CLASS_TIMER && variable->type == MPI_DOUBLE;
    service->range = variable->type == MPI_UNSIGNED ? 0x1p32 : 0.0;
    if (values == 1 &&
        (is_continuous || MPI_T_pvar_start(library.session, variable->handle) == MPI_SUCCESS))
        return true;
    (void)MPI_T_pvar_handle_free(library.session, &variable->handle);
    return false;
}

/* Returns a warning, or NULL. */
static const char *find_variables(void)
{
    int variables, provided;
    /* Open MPI makes the level that is asked for here that of the whole program. */
    int level = MPI_THREAD_SINGLE;
    (void)PMPI_Query_thread(&level);
    /* An error means that nobody has started MPI_T yet. */
    if (MPI_T_pvar_get_num(&variables) != MPI_SUCCESS)
        mapped_before = read_maps();
    if (MPI_T_init_thread(level, &provided) != MPI_SUCCESS ||
        MPI_T_pvar_get_num(&variables) != MPI_SUCCESS ||
        MPI_T_pvar_session_create(&library.session) != MPI_SUCCESS)
        return "the MPI library's own services can't be collected: its tools interface (MPI_T) "
               "does not start";
    mapped_after = read_maps();
    for (int index = 0; index < variables; index++) {
        struct variable variable = {.type = MPI_DATATYPE_NULL};
        if (!open_variable(index, &variable))
            continue;
        if (library.count == SERVICES_MAX - SERVICES_OF_SYSTEM) {
            (void)MPI_T_pvar_handle_free(library.session, &variable.handle);
            return "the MPI library has more performance variables than there is room for: only "
                   "the first ones are here";
        }
        library.variable[library.count++] = variable;
    }
    return library.count > 0
               ? NULL
               : "the MPI library's own services can't be collected: it has no performance "
                 "variables (MPI_T) that count for the whole process";
}

static double read_variable(const struct variable *variable)
{
    union {
        int int_value;
        unsigned unsigned_value;
        unsigned long long large_value; /* also of an unsigned long, and of an MPI_Count */
        double double_value;
    } read = {0};
    _Static_assert(sizeof(long) == sizeof(MPI_Count) && sizeof(long) == sizeof(long long),
                   "large counts have one size");
    if (MPI_T_pvar_read(library.session, variable->handle, &read) != MPI_SUCCESS)
        return NAN;
    return variable->type == MPI_INT        ? read.int_value
           : variable->type == MPI_UNSIGNED ? read.unsigned_value
           : variable->type == MPI_DOUBLE   ? read.double_value
                                            : (double)read.large_value;
}

static void read_library(struct services *services)
{
    pthread_mutex_lock(&library.lock);
    if (!library.known)
        library.warning = find_variables();
    library.known = true;
    for (int i = 0; i < library.count; i++) {
        struct service *const service = &services->service[services->count++];
        *service = library.variable[i].service;
        service->value = read_variable(&library.variable[i]);
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
        const struct service *const earlier = &before->service[i];
        const bool is_known = i < before->count && strcmp(service->name, earlier->name) == 0;
        service->value = is_known ? service->value - earlier->value : NAN;
        if (service->value < 0.0)
            service->value += service->range;
    }
}
