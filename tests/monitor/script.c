/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a script, for the monitor's tests: calls MPI functions, and starts and ends
 * snapshots. On 2 ranks, each with a script of its own, PREFIX.RANK. What is found goes to
 * PREFIX.RANK.found; calls.py writes the scripts and reads what was found.
 *
 * A line of a script is a statement: its name and words in any order. The name is that of an MPI
 * function without "MPI_", a collective of collectives.def as Ibcast.root_1, or one of statements[]
 * at the end. `.NAME` is called as PMPI_, which the monitor doesn't see; `!NAME` must fail, `?NAME`
 * may.
 *
 *   1000      count of elements (1)            int, double, byte, pieces   their type (byte)
 *   >0 >none  peer, target or root (the other rank)                 #3     tag
 *   @2 @0-9   requests by number (@0), in this order; functions for one request are called for each
 *   =10       bytes that arrive in each request, which its status must have; for MPI_Waitany and
 *             the like the index that they must return, -1 for MPI_UNDEFINED
 *   status    with statuses           once   asks once, not until something is complete
 *   all       calls MPI_Waitany and the like until all requests are complete
 *   *5        times                   +NAME  what to call the communicator or window that is made
 *   NAME      the communicator or window on which it is called
 *
 * usage: monitor_calls [PREFIX [multiple]]
 *   without arguments lists the functions
 *   multiple   at MPI_THREAD_MULTIPLE, for which the monitor has other code
 */
#include "calls.h"
#include "common/work/work.h"
#include "monitor/lib/flags.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS(array) (sizeof(array) / sizeof *(array))

int me, partner;
static int case_number;
static FILE *found;

static int number(const char *text) { return (int)strtol(text, NULL, 10); }

void wrong(const struct call *call, const char *what, int is)
{
    (void)fprintf(found, "%d\twrong\t%s: %s: %d\n", case_number, call->text, what, is);
}

struct object *object_of(const char *name)
{
    enum { OBJECTS_MAX = 2048 };
    static struct object objects[OBJECTS_MAX];
    static int count;
    for (int i = 0; i < count; i++)
        if (strcmp(objects[i].name, name) == 0)
            return &objects[i];
    if (count == OBJECTS_MAX)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    struct object *const object = &objects[count++];
    (void)snprintf(object->name, sizeof object->name, "%s", name);
    object->comm = MPI_COMM_NULL;
    object->win = MPI_WIN_NULL;
    return object;
}

/* ---- statements ------------------------------------------------------------------------------ */

/* A statement returns MPI_SUCCESS or, where it is wrong, something else. */
enum { WRONG = -1 };

static int meet(struct call *c)
{
    (void)c;
    return PMPI_Barrier(MPI_COMM_WORLD);
}

/* case NUMBER: what is found from here on is this case's. */
static int begin_case(struct call *c)
{
    case_number = c->count;
    memset(slots, 0, sizeof slots);
    return meet(c);
}

/* True if requests are MPI_REQUEST_NULL. */
static int is_null(struct call *c)
{
    return requests[c->slot] == MPI_REQUEST_NULL ? MPI_SUCCESS : WRONG;
}

/* True if two requests are one. */
static int are_one(struct call *c)
{
    return requests[c->first] == requests[c->last] ? MPI_SUCCESS : WRONG;
}

/* Prints facts for calls.py: if two requests are one; the received bytes of the last status;
   how many ranks a communicator has. */
static int say(int what)
{
    (void)fprintf(found, "%d\tfact\t%d\n", case_number, what);
    return MPI_SUCCESS;
}

static int say_one(struct call *c) { return say(are_one(c) == MPI_SUCCESS); }

static int say_bytes(struct call *c)
{
    int bytes = 0;
    (void)c;
    PMPI_Get_count(statuses, MPI_BYTE, &bytes);
    return say(bytes == MPI_UNDEFINED ? 0 : bytes);
}

static int say_size(struct call *c)
{
    int size = 0;
    PMPI_Comm_size(c->object->comm, &size);
    return say(size);
}

static int work(struct call *c)
{
    enum { UNITS_PER_US = 800 }; /* in virtual time */
    (void)bc_work((uint64_t)c->count * UNITS_PER_US);
    return MPI_SUCCESS;
}

/* Functions that delete attributes may still use the communicator that is being freed. */
static int last_barrier(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)keyval, (void)value, (void)extra;
    return MPI_Barrier(comm);
}

static int use_when_freed(struct call *c)
{
    int keyval;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, last_barrier, &keyval, NULL);
    PMPI_Comm_set_attr(c->object->comm, keyval, c);
    return PMPI_Comm_free_keyval(&keyval);
}

static int fail_softly(struct call *c)
{
    return PMPI_Win_set_errhandler(c->object->win, MPI_ERRORS_RETURN);
}

/* ---- snapshots ------------------------------------------------------------------------------- */

enum { SNAPSHOTS = 26, LARGE_BYTES = 1000 };

static struct snapshot {
    MPIX_Monitor handle;
    MPIX_Monitor_request request;
} snapshots[SNAPSHOTS]; /* a to z */

static struct snapshot *snapshot_of(const struct call *c)
{
    return &snapshots[c->words[1][0] - 'a'];
}

#define FLAGS(FLAG) FLAG(profile) MONITOR_FLAGS(FLAG) FLAG(per_rank) FLAG(clock)

static bool equal(const MPIX_Monitor *a, const MPIX_Monitor *b)
{
#define AND_EQUAL(Flag) &&a->Flag == b->Flag
    return a->large_bytes == b->large_bytes FLAGS(AND_EQUAL) && !(a->timeout_us < b->timeout_us) &&
           !(a->timeout_us > b->timeout_us);
}

static void set_flag(MPIX_Monitor *handle, const char *word)
{
#define SET_FLAG(Flag)                                                                             \
    if (strcmp(word, #Flag) == 0)                                                                  \
        handle->Flag = 1;
    FLAGS(SET_FLAG)
}

/* With the variable MONITOR_DETAILS, snapshots of operations also count them by line and peer, and
   their depths. These rows are not checked, but the others stay the same. */
static void add_details(MPIX_Monitor *handle)
{
    if (getenv("MONITOR_DETAILS") == NULL || !handle->profile || !(handle->pttopt || handle->coll))
        return;
    handle->site = MPIX_MONITOR_CALLERS_MAX;
    handle->peers = handle->depth = 1;
}

/* begin SNAPSHOT [FLAG...] [large=BYTES] [timeout=US]: without words, counts everything. */
static int begin(struct call *c)
{
    struct snapshot *const snapshot = snapshot_of(c);
    MPIX_Monitor asked = {
        .profile = 1, .pttopt = 1, .coll = 1, .comm = 1, .msgsize = 1, .traffic = 1};
    asked.large_bytes = LARGE_BYTES;
    if (c->words[2] != NULL)
        asked = (MPIX_Monitor){0};
    for (char **word = &c->words[2]; *word != NULL; word++) {
        set_flag(&asked, *word);
        if (strncmp(*word, "large=", 6) == 0)
            asked.large_bytes = number(*word + 6);
        if (strncmp(*word, "timeout=", 8) == 0)
            asked.timeout_us = strtod(*word + 8, NULL);
    }
    add_details(&asked);
    snapshot->handle = asked;
    const int code = MPIX_Start_monitor(&snapshot->request, &snapshot->handle, NULL);
    return code == MPIX_MONITOR_SUCCESS && equal(&snapshot->handle, &asked) ? MPI_SUCCESS : WRONG;
}

/* Ends a snapshot, which puts the handle back to its defaults, and forgets it. */
static int drop(struct call *c)
{
    const MPIX_Monitor defaults = MPIX_MONITOR_DEFAULTS;
    struct snapshot *const snapshot = snapshot_of(c);
    const int code = MPIX_End_monitor(&snapshot->request, &snapshot->handle);
    return code == MPIX_MONITOR_SUCCESS && equal(&snapshot->handle, &defaults) ? MPI_SUCCESS
                                                                               : WRONG;
}

static void write_row(char name, const MPIX_Monitor_row *r)
{
    (void)fprintf(found, "%d\trow\t%c\t%s\t%s\t%s\t%s\t%d", case_number, name, r->kind, r->comm,
                  r->operation, r->members, r->ranks);
    const int64_t counts[] = {r->calls, r->completed, r->timeouts,    r->bytes,
                              r->small, r->large,     r->small_bytes, r->large_bytes,
                              r->rank,  r->max_rank,  r->joinable};
    for (size_t i = 0; i < ELEMENTS(counts); i++)
        (void)fprintf(found, "\t%" PRId64, counts[i]);
    const double reals[] = {r->total_s, r->mean_us, r->max_us, r->small_per_s, r->large_per_s};
    for (size_t i = 0; i < ELEMENTS(reals); i++)
        (void)fprintf(found, "\t%.17g", reals[i]);
    (void)fprintf(found, "\n");
}

/* Ends a snapshot and writes its rows and warnings. */
static int end(struct call *c)
{
    enum { CAPACITY = 32 };
    MPIX_Monitor_warning warnings[CAPACITY];
    const MPIX_Monitor_request *const request = &snapshot_of(c)->request;
    int count = -1, again = -1, code = drop(c);
    code |= MPIX_Get_monitor(request, NULL, 0, &count);
    MPIX_Monitor_row *const rows = calloc((size_t)count + 1, sizeof *rows);
    if (rows == NULL)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    code |= MPIX_Get_monitor(request, rows, count, &again);
    for (int i = 0; i < count; i++)
        write_row(c->words[1][0], &rows[i]);
    free(rows);
    code |= again != count;
    code |= MPIX_Get_monitor_warnings(request, warnings, CAPACITY, &count);
    for (int i = 0; i < count; i++)
        (void)fprintf(found, "%d\twarning\t%c\t%d\t%s\n", case_number, c->words[1][0],
                      warnings[i].code, warnings[i].text);
    return code;
}

/* ---- the script ------------------------------------------------------------------------------ */

static const struct function statements[] = {
    {"meet", meet, ONCE},
    {"case", begin_case, ONCE},
    {"null", is_null, EACH},
    {"one", are_one, ONCE},
    {"say_one", say_one, ONCE},
    {"say_bytes", say_bytes, ONCE},
    {"say_size", say_size, ONCE},
    {"work", work, ONCE},
    {"use_when_freed", use_when_freed, ONCE},
    {"fail_softly", fail_softly, ONCE},
    {"begin", begin, ONCE},
    {"drop", drop, ONCE},
    {"end", end, ONCE},
    {NULL, NULL, ONCE},
};

/* Functions that the monitor wraps, from its own table. */
static struct wrapped {
    const char *name;
    bool is_called;
} wrapped[] = {
#define NEXT(Name) {#Name, false},
#include "monitor/lib/count/next_functions.h"
#undef NEXT
};

/* Functions whose time counts, and nothing else: their wrappers are all made alike. */
static const struct row {
    const char *kind, *name;
} rows[] = {
#define LARGE_COUNTS 0
#define ROW(KIND, Name, ...) {#KIND, #Name},
#include "monitor/lib/count/functions.def"
#if MPI_VERSION >= 4
#define LARGE_COUNTS 1
#define ROW(KIND, Name, ...) {#KIND, #Name "_c"},
#include "monitor/lib/count/functions.def"
#endif
};

static bool is_of_others(const struct row *row)
{
    return strcmp(row->kind, "CALL") == 0 || strcmp(row->kind, "OTHER") == 0 ||
           strcmp(row->kind, "ANY_THREAD") == 0 || strncmp(row->kind, "FILE_", 5) == 0 ||
           strcmp(row->kind, "DATATYPE") == 0;
}

/* Compares up to the variant of a collective. */
static bool names(const char *word, const char *name)
{
    const size_t length = strcspn(word, ".");
    return strncmp(word, name, length) == 0 && name[length] == '\0';
}

static void write_uncalled(void)
{
    for (size_t i = 0; i < ELEMENTS(wrapped); i++) {
        bool is_other = wrapped[i].is_called;
        for (size_t j = 0; j < ELEMENTS(rows); j++)
            is_other =
                is_other || (is_of_others(&rows[j]) && strcmp(rows[j].name, wrapped[i].name) == 0);
        if (!is_other)
            (void)fprintf(found, "%d\tuncalled\t%s\n", case_number, wrapped[i].name);
    }
}

static const struct function *function_of(const char *name)
{
    for (size_t i = 0; i < ELEMENTS(wrapped); i++)
        wrapped[i].is_called = wrapped[i].is_called || names(name, wrapped[i].name);
    for (const struct function *f = statements; f->name != NULL; f++)
        if (strcmp(name, f->name) == 0)
            return f;
    for (const struct function *f = functions; f->name != NULL; f++)
        if (strcmp(name, f->name) == 0)
            return f;
    return NULL;
}

static void read_requests(struct call *c, const char *word)
{
    const char *const dash = strchr(word, '-');
    c->first = number(word);
    c->last = dash == NULL ? c->first : number(dash + 1);
}

/* Applies a word. */
static void read_word(struct call *c, const char *word)
{
    if (word[0] >= '0' && word[0] <= '9')
        c->count = number(word);
    else if (word[0] == '>')
        c->peer = strcmp(word, ">none") == 0 ? MPI_PROC_NULL : number(word + 1);
    else if (word[0] == '#')
        c->tag = number(word + 1);
    else if (word[0] == '=')
        c->expected = number(word + 1);
    else if (word[0] == '*')
        c->times = number(word + 1);
    else if (word[0] == '+')
        c->made = object_of(word + 1);
    else if (word[0] == '@')
        read_requests(c, word + 1);
    else if (strcmp(word, "status") == 0)
        c->wants_status = true;
    else if (strcmp(word, "once") == 0)
        c->once = true;
    else if (strcmp(word, "all") == 0)
        c->all = true;
    else if (type_of(word) != MPI_DATATYPE_NULL)
        c->type = type_of(word);
    else
        c->object = object_of(word);
}

/* A statement of this line, which becomes words. */
static struct call read_line(char *line)
{
    static char text[256];
    (void)snprintf(text, sizeof text, "%s", line);
    struct call c = {.text = text,
                     .count = 1,
                     .peer = partner,
                     .tag = 7,
                     .expected = NOT_KNOWN,
                     .times = 1,
                     .type = MPI_BYTE,
                     .object = object_of("MPI_COMM_WORLD")};
    c.object->comm = MPI_COMM_WORLD;
    int count = 0;
    for (char *word = strtok(line, " "); word != NULL && count < WORDS_MAX;
         word = strtok(NULL, " "))
        c.words[count++] = word;
    for (; strchr(".!?", c.words[0][0]) != NULL; c.words[0]++) {
        c.is_hidden = c.is_hidden || c.words[0][0] == '.';
        c.must_fail = c.must_fail || c.words[0][0] == '!';
        c.may_fail = c.may_fail || c.words[0][0] == '?';
    }
    const bool is_snapshot = strcmp(c.words[0], "begin") == 0 || strcmp(c.words[0], "drop") == 0 ||
                             strcmp(c.words[0], "end") == 0;
    for (int i = 1; i < count && !is_snapshot; i++)
        read_word(&c, c.words[i]);
    return c;
}

static void call(const struct function *function, struct call *c)
{
    const int step = c->last < c->first ? -1 : 1;
    const int until = function->form == EACH ? c->last : c->first;
    for (int slot = c->first; slot != until + step; slot += step) {
        c->slot = slot;
        if (c->expected != NOT_KNOWN)
            slots[slot] = (struct slot){true, c->expected, c->peer};
        const int error = function->call(c);
        if (!c->may_fail && (error != MPI_SUCCESS) != c->must_fail)
            wrong(c, "returns", error);
        if (function->form == RECEIVES && error == MPI_SUCCESS)
            check_status(c, statuses, slot);
    }
}

static void run(FILE *script)
{
    char line[256];
    while (fgets(line, sizeof line, script) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        struct call c = read_line(line);
        const struct function *const function = function_of(c.words[0]);
        if (function == NULL)
            wrong(&c, "no such statement", 0);
        for (int i = 0; function != NULL && i < c.times; i++)
            call(function, &c);
    }
}

static FILE *open_file(const char *prefix, const char *suffix, const char *mode)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s.%d%s", prefix, me, suffix);
    FILE *const file = fopen(path, mode);
    if (file == NULL)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    return file;
}

int main(int argc, char **argv)
{
    for (const struct function *f = functions; argc < 2 && f->name != NULL; f++)
        (void)printf("%s\n", f->name);
    if (argc < 2)
        return 0;
    const bool multiple = argc > 2 && strcmp(argv[2], "multiple") == 0;
    int provided = 0;
    if (multiple)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    partner = 1 - me;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    object_of("MPI_COMM_SELF")->comm = MPI_COMM_SELF;
    calls_begin();
    FILE *const script = open_file(argv[1], "", "r");
    found = open_file(argv[1], ".found", "w");
    (void)setvbuf(found, NULL, _IOLBF, BUFSIZ);
    run(script);
    write_uncalled();
    (void)fprintf(found, "0\tover\t%d\n", !multiple || provided == MPI_THREAD_MULTIPLE);
    (void)fclose(found);
    (void)fclose(script);
    calls_end();
    MPI_Finalize();
    return 0;
}
