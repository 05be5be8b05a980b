/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/job/metadata.h"

#include "common/job/hosts.h"
#include "common/job/launcher.h"
#include "common/mpi/mpi_check.h"
#include "common/result/text.h"
#include "common/result/warnings.h"
#include "common/result/writer.h"

#include "build_info.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Version of the output format, raised when readers must change. Since version 2 a complete result
   ends with an end line (bc_output_end). */
#define BC_OUTPUT_SCHEMA 2

void bc_metadata_write_program(struct bc_output *output, const char *benchmark, int argc,
                               char *const *argv)
{
    if (output == NULL)
        return;
    bc_output_meta(output, "benchmark", "%s", benchmark);
    bc_output_meta(output, "version", "%s", COMMCOST_VERSION);
    bc_output_meta(output, "commit", "%s", COMMCOST_COMMIT);
    bc_output_meta(output, "schema", "%d", BC_OUTPUT_SCHEMA);
    char date[64] = "NA";
    const time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local) != NULL)
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S%z", &local);
    bc_output_meta(output, "date", "%s", date);
    bc_output_short_meta(output, 1, "program", "%s %s (commcost), %s", benchmark, COMMCOST_VERSION,
                         date);
    struct bc_text command = {0};
    for (int i = 0; i < argc; i++)
        bc_text_append(&command, "%s%s", i > 0 ? " " : "", argv[i]);
    bc_output_meta(output, "command", "%s", command.start != NULL ? command.start : "");
    bc_output_short_meta(output, 2, "command", "%s", command.start != NULL ? command.start : "");
    free(command.start);
    bc_output_meta(output, "compiler", "%s", COMMCOST_COMPILER);
    bc_output_meta(output, "compiler_flags", "%s", COMMCOST_COMPILER_FLAGS);
}

const char *bc_thread_level_name(int level)
{
    return level == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE"
           : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
           : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                            : "MPI_THREAD_MULTIPLE";
}

static void write_processor(struct bc_output *output)
{
    char line[256], name[256] = "NA";
    FILE *const cpuinfo = fopen("/proc/cpuinfo", "r");
    while (cpuinfo != NULL && fgets(line, sizeof line, cpuinfo) != NULL &&
           sscanf(line, "model name : %255[^\n]", name) != 1)
        continue;
    bc_output_meta(output, "processor", "%s", name);
    if (cpuinfo != NULL)
        fclose(cpuinfo);
}

/* Writes the library that runs, and, if it differs in version or through the standard's ABI, the
   one that the program was built with. MPICH's version text has many lines: the first names the
   library, a later one the device. */
static void write_library(struct bc_output *output)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    BC_MPI(MPI_Get_library_version(text, &length));
    int version, subversion;
    BC_MPI(MPI_Get_version(&version, &subversion));
    char *const rest = text + strcspn(text, "\n");
    const char *const device = strstr(rest, "MPICH Device:");
    *rest = '\0';
    bc_make_plain_text(text, ' '); /* as CMake does */
    bc_output_meta(output, "mpi_library", "%s", text);
    bc_output_short_meta(output, 1, "mpi_library", "%s", text);
    if (COMMCOST_MPI_LIBRARY[0] != '\0' && strcmp(text, COMMCOST_MPI_LIBRARY) != 0)
        bc_output_meta(output, "mpi_built_with", "%s", COMMCOST_MPI_LIBRARY);
    bc_output_meta(output, "mpi_standard", "%d.%d", version, subversion);
#if MPI_ABI_VERSION > 0
    bc_output_meta(output, "mpi_abi", "%d.%d", MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
#endif
    if (device != NULL) {
        const char *const name = device + 13 + strspn(device + 13, " \t");
        bc_output_meta(output, "mpi_device", "%.*s", (int)strcspn(name, "\n"), name);
    }
}

/* Returns true if a text begins with one of the prefixes, separated by spaces; NULL: none. */
static bool begins_with(const char *text, const char *prefixes)
{
    while (prefixes != NULL && *prefixes != '\0') {
        const size_t length = strcspn(prefixes, " ");
        if (strncmp(text, prefixes, length) == 0)
            return true;
        prefixes += length + strspn(prefixes + length, " ");
    }
    return false;
}

bool bc_is_mpi_variable(const char *definition)
{
    static const char mpi[] = "UCX_ FI_ MPIR_CVAR_ OMPI_MCA_ MPICH_ PSM2_ PSM3_ I_MPI_ MV2_ "
                              "HYDRA_ OPAL_ UCC_ HCOLL_";
    static const char launcher[] =
        "OMPI_MCA_orte_ OMPI_MCA_ess_ OMPI_MCA_pmix OMPI_MCA_initial_ OMPI_MCA_plm= "
        "OMPI_MCA_rmaps= OMPI_MCA_mpi_oversubscribe= OMPI_MCA_PREFIXES= OMPI_MCA_num_procs= "
        "OMPI_MCA_cpu_type= OPAL_USER_PARAMS_GIVEN=";
    return begins_with(definition, mpi) && !begins_with(definition, launcher);
}

/* Writes the variables that tune the library or that a script names. */
static void write_mpi_variables(struct bc_output *output)
{
    for (char **variable = environ; *variable != NULL; variable++)
        if (begins_with(*variable, getenv(BC_VARIABLES)) || bc_is_mpi_variable(*variable))
            bc_output_meta(output, "mpi_variable", "%s", *variable);
}

/* Returns a number by which ranks compare their variables. */
static int sum_variables(void)
{
    const char *const prefixes = getenv(BC_VARIABLES);
    uint32_t sum = 0; /* of FNV-1a hashes, since the order of variables doesn't matter */
    for (char **variable = environ; *variable != NULL; variable++) {
        uint32_t hash = 2166136261;
        for (const char *c = *variable; *c != '\0'; c++)
            hash = (hash ^ (unsigned char)*c) * 16777619;
        sum += begins_with(*variable, prefixes) ? hash : 0;
    }
    return (int)(sum & INT32_MAX);
}

void bc_variables_compare(const struct bc_job *job, struct bc_output *output)
{
    const int own = sum_variables();
    int *const sums = bc_gather(&own, sizeof own, MPI_COMM_WORLD);
    if (job->rank != 0)
        return;
    size_t count = 0;
    char text[64] = "";
    for (int rank = 0, root = sums[0]; rank < job->ranks; rank++)
        if (sums[rank] != root)
            sums[count++] = rank;
    if (bc_format_ranks(sums, count, text, sizeof text) >= sizeof text)
        strcpy(text + sizeof text - 4, "...");
    if (count > 0)
        bc_output_remark(output, BC_WARNING_VARIABLES, text);
    free(sums);
}

void bc_metadata_write(struct bc_output *output, const struct bc_job *job, int thread_level)
{
    if (output == NULL)
        return;
    write_library(output);
    write_mpi_variables(output);
    bc_output_meta(output, "thread_level", "%s", bc_thread_level_name(thread_level));
    bc_output_meta(output, "ranks", "%d", job->ranks);
    bc_output_meta(output, "nodes", "%d", job->nodes);
    if (job->min_per_node == job->max_per_node)
        bc_output_meta(output, "ranks_per_node", "%d", job->max_per_node);
    else
        bc_output_meta(output, "ranks_per_node", "%d to %d", job->min_per_node, job->max_per_node);
    bc_output_meta(output, "hosts", "%s", job->hosts);
    bc_output_meta(output, "binding", "%s", job->binding != NULL ? job->binding : "NA");
    bc_output_short_meta(output, 1, "layout", "%d rank%s on %d node%s (%s); binding: %s",
                         job->ranks, job->ranks == 1 ? "" : "s", job->nodes,
                         job->nodes == 1 ? "" : "s", job->hosts,
                         job->binding != NULL ? job->binding : "not known");
    write_processor(output);
    bc_output_meta(output, "processors", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    if (job->cores > 0)
        bc_output_meta(output, "cores", "%d", job->cores);
    else
        bc_output_meta(output, "cores", "NA");
    struct utsname kernel;
    if (uname(&kernel) == 0)
        bc_output_meta(output, "kernel", "%s %s %s", kernel.sysname, kernel.release,
                       kernel.machine);
    bc_output_meta(output, "job_id", "%s", job->id != NULL ? job->id : "NA");
    if (job->ranks == 1 && job->launched > 1)
        bc_output_remark(output, BC_WARNING_SINGLETONS, job->launched);
    if (job->host_names < job->nodes)
        bc_output_remark(output, BC_NOTE_HOST_NAMES, job->nodes, job->host_names);
    if (job->shares_processors)
        bc_output_remark(output, BC_WARNING_OVERSUBSCRIBED, job->max_per_node, job->min_processors);
    if (job->shared_cores != NULL)
        bc_output_remark(output, BC_NOTE_SHARED_CORES, job->shared_cores);
    if (job->exceeded_quota != NULL)
        bc_output_remark(output, BC_WARNING_QUOTA, job->exceeded_quota);
}
