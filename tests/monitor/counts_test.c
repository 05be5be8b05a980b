/*
 * Counts against a known truth, on 2 ranks: calls every function that the monitor wraps a known
 * number of times with known amounts of data. Each row must be exactly right.
 */
#include "counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MPI_Comm pair;
char data[BUFFER_BYTES], result[BUFFER_BYTES];

static struct watch one_case, all_cases;

/* All functions that the monitor wraps, from its own table. */
static struct function {
    const char *name;
    bool exercised;
} functions[] = {
#define NEXT(Name) {"MPI_" #Name, false},
#include "monitor/next_functions.h"
#undef NEXT
};

/* Functions whose time counts, and nothing else: their wrappers are all made alike. */
static const char *const others[] = {
#define LARGE_COUNTS 0
#define CALL(Name, ...) "MPI_" #Name,
#define OTHER(Name, ...) "MPI_" #Name,
#include "monitor/functions.def"
};

static bool is_other(const char *name)
{
    for (size_t i = 0; i < ELEMENTS(others); i++)
        if (strcmp(others[i], name) == 0)
            return true;
    return false;
}

/* Functions that no case calls. */
static const struct exemption {
    const char *function, *reason;
} exemptions[] = {
    {"MPI_Init", "one of the two is called, once, before all cases"},
    {"MPI_Init_thread", "the same"},
    {"MPI_Finalize", "is called after all cases"},
    {"MPI_Comm_accept", "needs a name server under some libraries"},
    {"MPI_Comm_connect", "the same"},
    {"MPI_Comm_spawn", "the launcher must let a job grow"},
    {"MPI_Comm_spawn_multiple", "the same"},
#if MPI_VERSION >= 4
    {"MPI_Intercomm_create_from_groups",
     "counts nothing, and no library here makes one without sessions"},
#endif
};

void exercised(const char *name)
{
    for (size_t i = 0; i < ELEMENTS(functions); i++)
        if (strcmp(functions[i].name, name) == 0) {
            functions[i].exercised = true;
            return;
        }
    char what[128];
    (void)snprintf(what, sizeof what, "%s is not in the monitor's table", name);
    check(false, what);
}

void case_begin(const char *function, const char *what)
{
    char about[256];
    (void)snprintf(about, sizeof about, "%s, %s", function, what);
    test_about(about);
    if (getenv("VERBOSE") != NULL)
        (void)fprintf(stderr, "rank %d: %s\n", me, about);
    exercised(function);
    watch_begin(&one_case);
}

void case_expects(enum kind kind, const char *comm, const char *operation, struct amounts amounts)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%s", operation);
    const size_t length = strlen(name);
    if (length > 2 && strcmp(name + length - 2, "_c") == 0)
        name[length - 2] = '\0';
    expect(&one_case, kind, comm, name, amounts);
    expect(&all_cases, kind, comm, name, amounts);
}

void case_end(void)
{
    watch_end(&one_case);
    meet();
}

static void check_all_exercised(void)
{
    test_about("what this test calls");
    for (size_t i = 0; i < ELEMENTS(functions); i++) {
        bool exempt = is_other(functions[i].name);
        for (size_t j = 0; j < ELEMENTS(exemptions); j++)
            exempt = exempt || strcmp(exemptions[j].function, functions[i].name) == 0;
        char what[128];
        (void)snprintf(what, sizeof what, "%s %s", functions[i].name,
                       exempt ? "is exempt, but called" : "is not called");
        check(functions[i].exercised != exempt, what);
    }
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv, false);
    pair = make_named("pair");

    watch_begin(&all_cases);
    count_messages();
    count_completions();
    count_collectives();
    count_communicators();
    count_windows();
    test_about("all cases together");
    watch_end(&all_cases);
    if (me == 0)
        check_all_exercised();

    MPI_Comm_free(&pair);
    const int status = test_end();
    MPI_Finalize();
    return status;
}
