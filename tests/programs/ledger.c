#include "ledger.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Handles of a kind that have the same number. The maker is the last one. */
struct entry {
    enum handle_kind kind;
    uint64_t handle;
    int64_t count;
    const char *function;
    const void *caller;
};

enum { ENTRIES_MAX = 1 << 14, UNKNOWN_SHOWN = 20 };

static const char *const kind_names[KINDS] = {
#define KIND(NAME, name) [NAME] = (name),
    HANDLE_KINDS(KIND)
#undef KIND
};

/* Entries stay when their count is back at 0: few handles differ. */
static struct {
    pthread_mutex_t lock;
    struct entry entries[ENTRIES_MAX];
    int entry_count;
    int64_t made[KINDS], freed[KINDS], unknown[KINDS];
    struct entry unknown_shown[UNKNOWN_SHOWN];
    int unknown_count;
} ledger = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t handle_number(const void *handle, int size_bytes)
{
    uint64_t number = 0;
    memcpy(&number, handle, (size_t)size_bytes);
    return number;
}

/* The handle's entry, with `create` a new one if need be; NULL if there is none. */
static struct entry *find(enum handle_kind kind, uint64_t handle, bool create)
{
    struct entry *entry = ledger.entries;
    struct entry *const end = ledger.entries + ledger.entry_count;
    while (entry < end && (entry->kind != kind || entry->handle != handle))
        entry++;
    if (entry < end || !create)
        return entry < end ? entry : NULL;
    if (++ledger.entry_count > ENTRIES_MAX) {
        (void)fputs("leaks: too many handles\n", stderr);
        abort();
    }
    *entry = (struct entry){.kind = kind, .handle = handle};
    return entry;
}

void ledger_made(enum handle_kind kind, uint64_t handle, const char *function, const void *caller)
{
    pthread_mutex_lock(&ledger.lock);
    struct entry *const entry = find(kind, handle, true);
    entry->count++;
    entry->function = function;
    entry->caller = caller;
    ledger.made[kind]++;
    pthread_mutex_unlock(&ledger.lock);
}

void ledger_freed(enum handle_kind kind, uint64_t handle, const char *function, const void *caller)
{
    pthread_mutex_lock(&ledger.lock);
    struct entry *const entry = find(kind, handle, false);
    if (entry != NULL && entry->count > 0) {
        entry->count--;
        ledger.freed[kind]++;
    } else {
        ledger.unknown[kind]++;
        if (ledger.unknown_count < UNKNOWN_SHOWN)
            ledger.unknown_shown[ledger.unknown_count++] = (struct entry){
                .kind = kind, .handle = handle, .count = 1, .function = function, .caller = caller};
    }
    pthread_mutex_unlock(&ledger.lock);
}

/* The place as `addr2line -e OBJECT OFFSET` wants it. */
static void print_entry(int rank, const struct entry *entry, const char *what)
{
    Dl_info info;
    const bool known = dladdr(entry->caller, &info) != 0;
    (void)fprintf(stderr, "leaks: rank %d: %" PRId64 " %s %s %s, called from %s +0x%tx\n", rank,
                  entry->count, kind_names[entry->kind], what, entry->function,
                  known ? info.dli_fname : "?",
                  known ? (const char *)entry->caller - (const char *)info.dli_fbase : 0);
}

static void write_counts(int rank)
{
    const char *const prefix = getenv("LEAKS_REPORT");
    char path[4096];
    if (prefix == NULL || (size_t)snprintf(path, sizeof path, "%s.%d", prefix, rank) >= sizeof path)
        return;
    FILE *const report = fopen(path, "we");
    if (report == NULL) {
        perror(path);
        return;
    }
    (void)fputs("kind\tmade\tfreed\tleft\tunknown\n", report);
    for (int k = 0; k < KINDS; k++)
        (void)fprintf(report, "%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n",
                      kind_names[k], ledger.made[k], ledger.freed[k],
                      ledger.made[k] - ledger.freed[k], ledger.unknown[k]);
    (void)fclose(report);
}

bool ledger_report(int rank)
{
    pthread_mutex_lock(&ledger.lock);
    bool good = ledger.unknown_count == 0;
    for (int i = 0; i < ledger.entry_count; i++)
        if (ledger.entries[i].count > 0) {
            print_entry(rank, &ledger.entries[i], "left, made by");
            good = false;
        }
    for (int i = 0; i < ledger.unknown_count; i++)
        print_entry(rank, &ledger.unknown_shown[i], "unknown, freed by");
    write_counts(rank);
    pthread_mutex_unlock(&ledger.lock);
    return good;
}

bool ledger_has(enum handle_kind kind)
{
    pthread_mutex_lock(&ledger.lock);
    const bool has = ledger.made[kind] > ledger.freed[kind];
    pthread_mutex_unlock(&ledger.lock);
    return has;
}
