/*
 * Whether all ranks of the job have the monitor, and the variable MPIRT_MONITOR with the same
 * words.
 *
 * A message, a collective's too, may be received by the program of a rank without the monitor, so
 * MPI can't be asked. Each rank leaves a mark in a file of the working directory, which all ranks
 * have in common, `.mpirtmon-` and a number that is the job's (of what the launcher tells, and of
 * the words). Who sees the marks of all decides that they are there; who has waited too long, that
 * they aren't. The decision is a symbolic link, which only the first of them can make: all follow
 * it. A rank that comes late, or files that are seen late, can make the answer no, but never
 * different ones.
 */
#include "monitor/environment.h"

#include "common/machine/hosts.h"
#include "monitor/handles.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_S = 10 }; /* for other ranks; those of a job leave MPI_Init at nearly the same time */

/* ---- the job --------------------------------------------------------------------------------- */

/* Of the text's end, too. */
static uint64_t hash_text(uint64_t so_far, const char *text)
{
    return hash(so_far, text, strlen(text) + 1);
}

/* Reads a file of /proc, up to room - 2 bytes, and ends it with two zeros. Returns its length. */
static size_t read_process(long process, const char *name, char *text, size_t room)
{
    char file[64];
    (void)snprintf(file, sizeof file, "/proc/%ld/%s", process, name);
    FILE *const stream = fopen(file, "re");
    const size_t length = stream != NULL ? fread(text, 1, room - 2, stream) : 0;
    if (stream != NULL)
        (void)fclose(stream);
    memset(text + length, 0, 2);
    return length;
}

/* Its field 4, behind "(NAME) S", where the name may have parentheses. 0: not known. */
static long parent_of(long process)
{
    char text[1024];
    (void)read_process(process, "stat", text, sizeof text);
    const char *const name_end = strrchr(text, ')');
    return name_end != NULL && strlen(name_end) > 4 ? strtol(name_end + 4, NULL, 10) : 0;
}

/* Hydra, the launcher of MPICH and others, has no number for a job. But its proxy on each node,
   from which the ranks descend, was started with the port of mpirun, and with the number of the
   group of processes. */
static uint64_t hash_proxy(uint64_t so_far)
{
    enum { GENERATIONS = 8 };
    static char words[16384];
    size_t length = 0;
    long process = getppid();
    for (int i = 0; i < GENERATIONS && process > 1; i++, process = parent_of(process)) {
        length = read_process(process, "cmdline", words, sizeof words);
        if (strstr(words, "proxy") != NULL)
            break;
        length = 0;
    }
    for (const char *word = words; word < words + length; word += strlen(word) + 1) {
        const char *const port = strstr(word, "-port");
        if (strcmp(word, "--pgid") == 0 || (port != NULL && port[5] == '\0'))
            so_far = hash_text(so_far, word + strlen(word) + 1);
    }
    return so_far;
}

/* The same on all ranks of a job, and different in jobs that run at a time. */
static uint64_t hash_job(uint64_t so_far)
{
    static const char *const variables[] = {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID",
                                            "PALS_APID", "FLUX_JOB_ID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]) != NULL)
            so_far = hash_text(so_far, getenv(variables[i]));
    return hash_proxy(so_far);
}

/* ---- marks and the decision ------------------------------------------------------------------ */

static char folder[4096], marks[sizeof folder + 64], decision[sizeof marks + 8];
static bool has_files;

void presence_begin(const char *words)
{
    const uint64_t job = hash_job(hash_text(HASH_START, words));
    if (getcwd(folder, sizeof folder) == NULL)
        (void)snprintf(folder, sizeof folder, ".");
    (void)snprintf(marks, sizeof marks, "%s/.mpirtmon-%016" PRIx64, folder, job);
    (void)snprintf(decision, sizeof decision, "%s.there", marks);
    has_files = true;
    (void)unlink(marks);
    (void)unlink(decision);
}

void presence_end(void)
{
    if (has_files) {
        (void)unlink(marks);
        (void)unlink(decision);
    }
    has_files = false;
}

/* A byte for each rank. Synchronous, so that NFS writes no more than this byte. False if it can't
   be written. */
static bool leave_mark(int rank)
{
    const int file =
        open(marks, O_WRONLY | O_CREAT | O_CLOEXEC | O_DSYNC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (file < 0)
        return false;
    const bool written = pwrite(file, "x", 1, rank) == 1;
    (void)close(file); /* Others may have seen the mark. */
    return written;
}

/* Sets the ranks that have left no mark; NFS shows what others wrote when a file is opened. Returns
   how many these are. */
static int find_absent(int ranks, int *absent)
{
    int count = 0;
    FILE *const file = fopen(marks, "re");
    for (int rank = 0; rank < ranks; rank++)
        if (file == NULL || getc(file) != 'x')
            absent[count++] = rank;
    if (file != NULL)
        (void)fclose(file);
    return count;
}

/* Sleeps, a bit longer each time. False once that were WAIT_S. */
static bool pause_before_look(double *slept_s)
{
    const double pause_s = *slept_s < 0.1 ? 1e-4 + *slept_s / 2.0 : 0.05;
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)(pause_s * 1e9)}, NULL);
    *slept_s += pause_s;
    return *slept_s < WAIT_S;
}

/* Decides, unless it was decided before: when all marks are there, or this rank has waited too
   long. The decision is looked for only then: NFS remembers for half a minute that a file isn't
   there. A rank that can't write it waits for another one's. */
static bool decide(int ranks, int *absent)
{
    char text[8];
    double slept_s = 0.0;
    bool all = find_absent(ranks, absent) == 0;
    while (!all && pause_before_look(&slept_s))
        all = find_absent(ranks, absent) == 0;
    const bool is_decided = symlink(all ? "all" : "some", decision) == 0 || errno == EEXIST;
    ssize_t length = readlink(decision, text, sizeof text);
    slept_s = 0.0;
    while (!is_decided && length < 0 && pause_before_look(&slept_s))
        length = readlink(decision, text, sizeof text);
    return length == 3 && strncmp(text, "all", 3) == 0;
}

/* On the lowest rank that is there. */
static void say_who_is_absent(int rank, const int *absent, int count)
{
    char list[200];
    int lowest = 0;
    while (lowest < count && absent[lowest] == lowest)
        lowest++;
    if (rank != lowest)
        return;
    (void)bc_format_ranks(absent, (size_t)count, list, sizeof list);
    if (count == 0)
        (void)fprintf(stderr,
                      "mpirtmon: nothing is monitored: a rank came more than %d s after another\n",
                      WAIT_S);
    else
        (void)fprintf(
            stderr,
            "mpirtmon: nothing is monitored: rank%s %s left no mark in '%.200s': give all "
            "ranks the monitor, one MPIRT_MONITOR and one folder\n",
            count == 1 ? "" : "s", list, folder);
}

bool presence_agree(int rank, int ranks)
{
    if (ranks == 1)
        return true;
    int *const absent = malloc((size_t)ranks * sizeof *absent);
    const bool can_ask = absent != NULL && leave_mark(rank);
    const bool is_there = can_ask && decide(ranks, absent);
    if (!can_ask && rank == 0)
        (void)fprintf(stderr,
                      "mpirtmon: nothing is monitored: cannot write '%.200s', by which ranks find "
                      "each other: %s: start the job in another folder\n",
                      marks, strerror(errno));
    if (can_ask && !is_there)
        say_who_is_absent(rank, absent, find_absent(ranks, absent));
    free(absent);
    return is_there;
}
