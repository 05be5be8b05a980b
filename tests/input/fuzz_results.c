/*
 * bench_compare's reading and comparing: of two files, or of two folders.
 *
 * The first byte says which. Files, the base's first, are parted by lines of `====`; in a
 * folder what follows that is a file's name.
 */
#include "target.h"

#include "run_scripts/bench_compare/compare.h"
#include "run_scripts/bench_compare/results.h"

#include <errno.h>
#include <ftw.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARTING "===="

static char folder[256];

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void remove_tree(const char *path)
{
    must(nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT,
         "a folder that can be removed");
}

static void remove_folder(void) { remove_tree(folder); }

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    must(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "a locale C.UTF-8");
    const char *const parent = getenv("TMPDIR");
    const int length = snprintf(folder, sizeof folder, "%s/commcost_fuzz_XXXXXX",
                                parent != NULL ? parent : "/tmp");
    must(length < (int)sizeof folder, "a shorter TMPDIR");
    must(mkdtemp(folder) != NULL, "a folder for files");
    must(atexit(remove_folder) == 0, "a folder that goes away");
    return 0;
}

static void write_file(const char *path, const uint8_t *bytes, size_t count)
{
    FILE *const stream = fopen(path, "wb");
    must(stream != NULL && fwrite(bytes, 1, count, stream) == count, "a file that can be written");
    (void)fclose(stream);
}

/* ---- the input, as files --------------------------------------------------------------------- */

static const uint8_t *find_parting(const uint8_t *bytes, const uint8_t *end)
{
    const size_t length = strlen(PARTING);
    for (; (size_t)(end - bytes) >= length; bytes++)
        if (memcmp(bytes, PARTING, length) == 0)
            return bytes;
    return end;
}

/* The files that there can be in a side's folder. */
static const char *const names[] = {"halo.tsv",        "msgrate.tsv", "runs/1/halo.tsv",
                                    "runs/2/halo.tsv", "a/halo.tsv",  "notes.txt"};
enum { NAMES = sizeof names / sizeof *names };

static void make_folder(const char *path)
{
    must(mkdir(path, 0700) == 0 || errno == EEXIST, "a folder that can be made");
}

static void make_folders(const char *side)
{
    static const char *const folders[] = {"", "/runs", "/runs/1", "/runs/2", "/a"};
    char path[400];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        (void)snprintf(path, sizeof path, "%s/%s%s", folder, side, folders[i]);
        make_folder(path);
    }
}

static void remove_files(const char *side)
{
    char path[400];
    for (size_t i = 0; i < NAMES; i++) {
        (void)snprintf(path, sizeof path, "%s/%s/%s", folder, side, names[i]);
        (void)unlink(path);
    }
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void judge_error(const struct bc_error *error)
{
    must(error->text[0] != '\0', "an error where something is refused");
    must(mbstowcs(NULL, error->text, 0) != (size_t)-1, "an error that is text");
    must(strchr(error->text, '\n') == NULL, "an error of one line");
}

static void judge_change(const struct change *change)
{
    must(change->series != NULL && change->verdict >= 0 && change->verdict < VERDICTS, "a verdict");
    must(isnan(change->p) || (change->p >= 0.0 && change->p <= 1.0), "a probability");
    must(isnan(change->corrected_p) ||
             (change->corrected_p >= change->p && change->corrected_p <= 1.0),
         "a corrected probability that is no less");
    must(isnan(change->interval.lo) == isnan(change->interval.hi) || isinf(change->interval.lo) ||
             isinf(change->interval.hi),
         "both ends of an interval");
    must(!(change->interval.lo > change->interval.hi),
         "an interval from its low end to its high one");
}

static void compare_paths(const char *base, const char *new)
{
    static const struct limits limits = {.alpha = 0.01, .threshold_pct = 5.0, .confidence = 0.95};
    struct bc_error error = {""};
    struct results *const results = results_create();
    if (results_add(results, BASE, base, &error) && results_add(results, NEW, new, &error) &&
        results_finish(results, &error)) {
        struct comparison comparison;
        compare(&comparison, results, &limits);
        size_t verdicts = 0;
        for (size_t i = 0; i < comparison.count; i++)
            judge_change(&comparison.changes[i]);
        for (size_t i = 0; i < VERDICTS; i++)
            verdicts += comparison.verdicts[i];
        must(verdicts == comparison.count, "a verdict for each row");
        free(comparison.changes);
    } else {
        judge_error(&error);
    }
    results_free(results);
}

static void try_files(const uint8_t *bytes, const uint8_t *end)
{
    char base[300], new[300];
    const uint8_t *const parting = find_parting(bytes, end);
    (void)snprintf(base, sizeof base, "%s/base.tsv", folder);
    (void)snprintf(new, sizeof new, "%s/new.tsv", folder);
    write_file(base, bytes, (size_t)(parting - bytes));
    const uint8_t *const second =
        parting == end ? bytes : parting + strlen(PARTING) + (parting + strlen(PARTING) < end);
    write_file(new, second, (size_t)(end - second));
    compare_paths(base, new);
}

static void try_folders(const uint8_t *bytes, const uint8_t *end)
{
    static const char *const sides[] = {"base", "new"};
    char paths[2][300];
    for (int side = 0; side < 2; side++) {
        (void)snprintf(paths[side], sizeof paths[side], "%s/%s", folder, sides[side]);
        make_folders(sides[side]);
    }
    /* Each parting is followed by a byte that says which file of which side comes. */
    for (const uint8_t *part = bytes; part < end;) {
        char path[400];
        const uint8_t *const parting = find_parting(part + 1, end);
        (void)snprintf(path, sizeof path, "%s/%s", paths[(*part / NAMES) % 2],
                       names[*part % NAMES]);
        write_file(path, part + 1, (size_t)(parting - part - 1));
        part = parting == end ? end : parting + strlen(PARTING);
    }
    compare_paths(paths[0], paths[1]);
    remove_files(sides[0]);
    remove_files(sides[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count == 0)
        return 0;
    if (bytes[0] % 2 == 0)
        try_files(bytes + 1, bytes + count);
    else
        try_folders(bytes + 1, bytes + count);
    return 0;
}
