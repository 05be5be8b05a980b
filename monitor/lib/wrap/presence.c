/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/lib/wrap/presence.h"

#include "common/clock/source.h"
#include "common/job/hosts.h"
#include "monitor/lib/count/handles.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Maximum wait for the other ranks, which leave MPI_Init at nearly the same time. */
enum { WAIT_S = 10 };
#define WAIT_NS (WAIT_S * INT64_C(1000000000))

static uint64_t hash_text(uint64_t so_far, const char *text)
{
    return hash(so_far, text, strlen(text) + 1);
}

/* Reads up to room - 2 bytes of a file of /proc, ended by two zeros. Returns the length. */
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

/* Returns the parent: field 4 of the stat file, after "(NAME) S", where NAME may have parentheses.
   0 if it is unknown. */
static long parent_of(long process)
{
    char text[1024];
    (void)read_process(process, "stat", text, sizeof text);
    const char *const name_end = strrchr(text, ')');
    return name_end != NULL && strlen(name_end) > 4 ? strtol(name_end + 4, NULL, 10) : 0;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Hashes the words of Hydra's proxy, from which the ranks of MPICH descend: the port of mpirun
   and the number of the process group. Hydra has no number for a job. */
static uint64_t hash_proxy(uint64_t so_far)
{
    enum { GENERATIONS = 8 };
    static char words[16384];
    long process = getppid();
    for (int i = 0; i < GENERATIONS && process > 1; i++, process = parent_of(process)) {
        const size_t length = read_process(process, "cmdline", words, sizeof words);
        if (strstr(words, "proxy") == NULL)
            continue;
        for (const char *word = words; word < words + length; word += strlen(word) + 1)
            if (ends_in(word, "-port") || strcmp(word, "--pgid") == 0)
                so_far = hash_text(so_far, word + strlen(word) + 1);
        break;
    }
    return so_far;
}

/* Hashes what is equal on the ranks of a job, and different in simultaneous jobs. */
static uint64_t hash_job(uint64_t so_far)
{
    static const char *const variables[] = {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID",
                                            "PALS_APID", "FLUX_JOB_ID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]) != NULL)
            so_far = hash_text(so_far, getenv(variables[i]));
    return hash_proxy(so_far);
}

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
    presence_end();
    has_files = true;
}

void presence_end(void)
{
    if (!has_files)
        return;
    has_files = false;
    (void)unlink(marks);
    (void)unlink(decision);
}

/* Writes the byte of this rank, synchronously, so NFS writes no other byte. False if it can't. */
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

/* Finds the ranks without a mark; returns their number. NFS shows the writes of others when a file
   is opened. */
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

enum answer { UNDECIDED, ALL_THERE, NOT_ALL_THERE };

static enum answer read_decision(void)
{
    char text[8];
    const ssize_t length = readlink(decision, text, sizeof text);
    if (length < 0)
        return UNDECIDED;
    return length == 3 && strncmp(text, "all", 3) == 0 ? ALL_THERE : NOT_ALL_THERE;
}

static void pause_before_look(int64_t *pause_ns)
{
    bc_sleep_ns(*pause_ns);
    if (*pause_ns < 50000000)
        *pause_ns += *pause_ns / 2;
}

/* Decides, unless another rank has: when all marks exist, or this rank has waited too long. It
   looks for the decision only then, since NFS remembers for half a minute that a file doesn't
   exist. A rank that can't write the decision waits for another rank's. */
static enum answer decide(int ranks, int *absent)
{
    int64_t end_ns = bc_source_monotonic_ns() + WAIT_NS;
    int64_t pause_ns = 100000;
    bool all = false;
    while (!all && bc_source_monotonic_ns() < end_ns) {
        all = find_absent(ranks, absent) == 0;
        if (!all)
            pause_before_look(&pause_ns);
    }
    const bool is_decided = symlink(all ? "all" : "some", decision) == 0 || errno == EEXIST;
    enum answer answer = read_decision();
    end_ns = bc_source_monotonic_ns() + WAIT_NS;
    while (!is_decided && answer == UNDECIDED && bc_source_monotonic_ns() < end_ns) {
        pause_before_look(&pause_ns);
        answer = read_decision();
    }
    return answer;
}

static void name_absent_ranks(struct bc_error *error, int rank, const int *absent, int count)
{
    enum { SHOWN = 200 };
    char list[SHOWN];
    int lowest = 0; /* the lowest rank present */
    while (lowest < count && absent[lowest] == lowest)
        lowest++;
    if (rank != lowest)
        return;
    if (count == 0) {
        (void)bc_error_set(error, "nothing is monitored: a rank came more than %d s after another",
                           WAIT_S);
        return;
    }
    (void)bc_format_ranks(absent, (size_t)count, list, sizeof list);
    (void)bc_error_set(error,
                       "nothing is monitored: rank%s %s left no mark in '%.200s': give all ranks "
                       "the monitor, one MPIRT_MONITOR and one folder",
                       count == 1 ? "" : "s", list, folder);
}

bool presence_agree(int rank, int ranks, struct bc_error *error)
{
    int *const absent = ranks > 1 ? malloc((size_t)ranks * sizeof *absent) : NULL;
    error->text[0] = '\0';
    if (ranks == 1)
        return true;
    if (absent == NULL || !leave_mark(rank)) {
        if (rank == 0)
            (void)bc_error_set(error,
                               "nothing is monitored: cannot write '%.200s', by which ranks find "
                               "each other: %s: start the job in another folder",
                               marks, strerror(errno));
        free(absent);
        return false;
    }
    const enum answer answer = decide(ranks, absent);
    if (answer != ALL_THERE)
        name_absent_ranks(error, rank, absent, find_absent(ranks, absent));
    free(absent);
    return answer == ALL_THERE;
}
