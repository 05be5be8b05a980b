/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other software services, with an MPI tools interface that the test makes up: which variables are
 * read, and what is made of their values. MPI itself is not started.
 */
#include "helpers.h"

#include "monitor/lib/count/services.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the tools interface --------------------------------------------------------------------- */

/* A performance variable: what the interface tells of it, and how it behaves. */
struct made_up {
    const char *name;
    int class;
    bool is_bound, is_continuous;
    int values;
    char type; /* u, l, L, i, d, c: unsigned, its long ones, int, double, char */
    bool unavailable, unreadable;
    bool started;
    double value;
};

static struct made_up made_up[80];
static int made_up_count;
static int inits, handles;
static bool starts = true;
static const char *plug_in; /* loaded when the interface is started */

#define PROGRAM_LEVEL MPI_THREAD_FUNNELED

int PMPI_Query_thread(int *provided)
{
    *provided = PROGRAM_LEVEL;
    return MPI_SUCCESS;
}

/* Open MPI would make another level that of the program. */
int MPI_T_init_thread(int required, int *provided)
{
    assert_int_equal(required, PROGRAM_LEVEL);
    inits++;
    if (plug_in != NULL)
        assert_non_null(dlopen(plug_in, RTLD_NOW));
    *provided = required;
    return starts ? MPI_SUCCESS : MPI_T_ERR_NOT_INITIALIZED;
}

int MPI_T_pvar_get_num(int *count)
{
    *count = made_up_count;
    return inits > 0 ? MPI_SUCCESS : MPI_T_ERR_NOT_INITIALIZED;
}

int MPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    *session = (MPI_T_pvar_session)(void *)&made_up_count;
    return MPI_SUCCESS;
}

static MPI_Datatype type_of(char type)
{
    return type == 'u'   ? MPI_UNSIGNED
           : type == 'l' ? MPI_UNSIGNED_LONG
           : type == 'L' ? MPI_UNSIGNED_LONG_LONG
           : type == 'i' ? MPI_INT
           : type == 'd' ? MPI_DOUBLE
                         : MPI_CHAR;
}

int MPI_T_pvar_get_info(int index, char *name, int *name_length, int *verbosity, int *class,
                        MPI_Datatype *type, MPI_T_enum *enumeration, char *description,
                        int *description_length, int *binding, int *is_read_only,
                        int *is_continuous, int *is_atomic)
{
    const struct made_up *const variable = &made_up[index];
    if (variable->unavailable)
        return MPI_T_ERR_INVALID_INDEX;
    snprintf(name, (size_t)*name_length, "%s", variable->name);
    *verbosity = *is_read_only = *is_atomic = 0;
    *class = variable->class;
    *type = type_of(variable->type);
    *binding = variable->is_bound ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT;
    *is_continuous = variable->is_continuous;
    return MPI_SUCCESS;
}

int MPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void *object,
                            MPI_T_pvar_handle *handle, int *values)
{
    assert_null(object);
    handles++;
    *handle = (MPI_T_pvar_handle)(void *)&made_up[index];
    *values = made_up[index].values;
    return MPI_SUCCESS;
}

int MPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    handles--;
    *handle = NULL;
    return MPI_SUCCESS;
}

int MPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    ((struct made_up *)(void *)handle)->started = true;
    return MPI_SUCCESS;
}

int MPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *value)
{
    const struct made_up *const variable = (const struct made_up *)(void *)handle;
    if (variable->unreadable)
        return MPI_T_ERR_INVALID_HANDLE;
    if (variable->type == 'u')
        *(unsigned *)value = (unsigned)variable->value;
    else if (variable->type == 'l')
        *(unsigned long *)value = (unsigned long)variable->value;
    else if (variable->type == 'L')
        *(unsigned long long *)value = (unsigned long long)variable->value;
    else if (variable->type == 'i')
        *(int *)value = (int)variable->value;
    else
        *(double *)value = variable->value;
    return MPI_SUCCESS;
}

/* ---- each test in a process of its own, since variables are found once ----------------------- */

static struct services before, now;

static void start_with(const struct made_up *variables, int count)
{
    if (count > 0)
        memcpy(made_up, variables, (size_t)count * sizeof *variables);
    made_up_count = count;
    services_read(&before);
}

static const struct service *library_service(int index)
{
    assert_true(SERVICES_OF_SYSTEM + index < now.count);
    return &now.service[SERVICES_OF_SYSTEM + index];
}

/* A variable of one value. */
#define ONE(type_) .values = 1, .type = (type_)
#define COUNTER MPI_T_PVAR_CLASS_COUNTER
#define TIMER MPI_T_PVAR_CLASS_TIMER
#define AGGREGATE MPI_T_PVAR_CLASS_AGGREGATE

TEST(only_variables_of_the_process)
{
    const struct made_up variables[] = {
        {.name = "level", .class = MPI_T_PVAR_CLASS_LEVEL, ONE('u'), .is_continuous = true},
        {.name = "gone", .class = COUNTER, ONE('u'), .unavailable = true},
        {.name = "bound", .class = COUNTER, ONE('u'), .is_bound = true},
        {.name = "vector", .class = COUNTER, .values = 4, .type = 'u'},
        {.name = "text", .class = COUNTER, ONE('c')},
        {.name = "started", .class = COUNTER, ONE('l'), .value = 5},
        {.name = "always_on", .class = AGGREGATE, ONE('L'), .is_continuous = true, .value = 1e12},
        {.name = "seconds", .class = TIMER, ONE('d'), .value = 1.25},
        {.name = "cycles", .class = TIMER, ONE('u'), .value = 9},
        {.name = "broken", .class = COUNTER, ONE('i'), .unreadable = true},
    };
    start_with(variables, COUNT(variables));
    assert_null(before.warning);
    assert_int_equal(handles, 5); /* the vector's was given back */
    assert_true(made_up[5].started);
    assert_false(made_up[6].started);
    made_up[5].value += 7;
    made_up[6].value += 3;
    made_up[7].value += 0.5;
    made_up[8].value += 1;
    services_read(&now);
    services_since(&now, &before);
    assert_int_equal(inits, 1);
    assert_int_equal(handles, 5);
    assert_int_equal(now.count, SERVICES_OF_SYSTEM + 5);
    static const struct {
        const char *name;
        double value;
    } expected[] = {{"started", 7}, {"always_on", 3}, {"seconds", 0.5}, {"cycles", 1}};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(library_service(i)->name, expected[i].name);
        assert_near(library_service(i)->value, expected[i].value, 0);
        assert_int_equal(library_service(i)->is_time, i == 2);
    }
    assert_true(isnan(library_service(4)->value));
}

/* Plug-ins that only the tools interface has loaded are not in use: their variables must not be
   touched. */
static void start_with_plug_ins(void)
{
    const struct made_up variables[] = {
        {.name = "mtl_psm2_rx", .class = COUNTER, ONE('l')},
        {.name = "test_part_a", .class = COUNTER, ONE('l')},
        {.name = "test_particle_a", .class = COUNTER, ONE('l')},
    };
    start_with(variables, COUNT(variables));
}

TEST(variables_of_plug_ins_in_use)
{
    assert_non_null(dlopen(PLUG_IN, RTLD_NOW));
    start_with_plug_ins();
    assert_int_equal(before.count, SERVICES_OF_SYSTEM + 2);
    assert_string_equal(before.service[SERVICES_OF_SYSTEM].name, "test_part_a");
    assert_string_equal(before.service[SERVICES_OF_SYSTEM + 1].name, "test_particle_a");
}

TEST(variables_of_other_plug_ins_are_left_out)
{
    plug_in = PLUG_IN;
    start_with_plug_ins();
    assert_int_equal(handles, 1);
    assert_int_equal(before.count, SERVICES_OF_SYSTEM + 1);
    assert_string_equal(before.service[SERVICES_OF_SYSTEM].name, "test_particle_a");
}

/* Then it isn't known who loaded the plug-ins. */
TEST(variables_when_the_program_has_started_the_interface)
{
    assert_non_null(dlopen(PLUG_IN, RTLD_NOW));
    inits = 1;
    start_with_plug_ins();
    assert_int_equal(before.count, SERVICES_OF_SYSTEM + 1);
    assert_string_equal(before.service[SERVICES_OF_SYSTEM].name, "test_particle_a");
}

TEST(counters_run_over)
{
    const struct made_up variables[] = {
        {.name = "a", .class = COUNTER, ONE('u'), .value = 4294967290.0},
        {.name = "b", .class = COUNTER, ONE('l'), .value = 4294967290.0}};
    start_with(variables, 2);
    made_up[0].value = 4;
    made_up[1].value += 10;
    services_read(&now);
    services_since(&now, &before);
    assert_near(library_service(0)->value, 10, 0);
    assert_near(library_service(1)->value, 10, 0);
}

TEST(no_variables_are_a_warning)
{
    start_with(NULL, 0);
    assert_int_equal(before.count, SERVICES_OF_SYSTEM);
    assert_non_null(before.warning);
    assert_non_null(strstr(before.warning, "no performance variables"));
    assert_null(strchr(before.warning, '\n'));
}

TEST(no_tools_interface_is_a_warning)
{
    starts = false;
    start_with(NULL, 0);
    assert_int_equal(before.count, SERVICES_OF_SYSTEM);
    assert_non_null(strstr(before.warning, "does not start"));
}

static void start_with_many(int count)
{
    static struct made_up variables[COUNT(made_up)];
    for (int i = 0; i < count; i++)
        variables[i] = (struct made_up){.name = "many", .class = COUNTER, ONE('u')};
    start_with(variables, count);
}

TEST(variables_that_fill_the_room)
{
    start_with_many(SERVICES_MAX - SERVICES_OF_SYSTEM);
    assert_null(before.warning);
    assert_int_equal(before.count, SERVICES_MAX);
}

TEST(more_variables_than_room_are_a_warning)
{
    start_with_many(SERVICES_MAX - SERVICES_OF_SYSTEM + 1);
    assert_non_null(before.warning);
    assert_int_equal(before.count, SERVICES_MAX);
    assert_int_equal(handles, SERVICES_MAX - SERVICES_OF_SYSTEM);
}

/* ---- the operating system -------------------------------------------------------------------- */

static bool counts = true;

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker's names */
int __real_getrusage(int who, struct rusage *usage);
int __wrap_getrusage(int who, struct rusage *usage);
int __wrap_getrusage(int who, struct rusage *usage)
{
    return counts ? __real_getrusage(who, usage) : -1;
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

TEST(no_counts_of_the_system_are_a_warning)
{
    struct made_up variables[] = {{.name = "one", .class = COUNTER, ONE('u')}};
    counts = false;
    start_with(variables, 1);
    counts = true;
    assert_int_equal(before.count, 1);
    assert_non_null(strstr(before.warning, "getrusage fails"));
}

static double processor_s(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

TEST(system_counts)
{
    enum { PAGES = 1000 };
    static const char *const names[] = {"user_time",          "system_time",
                                        "voluntary_switches", "involuntary_switches",
                                        "minor_page_faults",  "major_page_faults"};
    start_with(NULL, 0);
    const double start_s = processor_s();
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *const memory =
        mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    (void)madvise(memory, PAGES * page, MADV_NOHUGEPAGE); /* a kernel without huge pages refuses */
    for (size_t i = 0; i < PAGES; i++)
        memory[i * page] = 1;
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < 20; i++)
        nanosleep(&pause, NULL);
    while (processor_s() - start_s < 0.1)
        ;
    services_read(&now);
    const double used_s = processor_s() - start_s;
    services_since(&now, &before);
    assert_int_equal(now.count, SERVICES_OF_SYSTEM);
    for (int i = 0; i < SERVICES_OF_SYSTEM; i++) {
        assert_string_equal(now.service[i].name, names[i]);
        assert_int_equal(now.service[i].is_time, i < 2);
        assert_true(now.service[i].value >= 0.0);
    }
    assert_near(now.service[0].value + now.service[1].value, used_s, 0.02);
    assert_true(now.service[2].value >= 20.0);
    assert_true(now.service[4].value >= PAGES && now.service[4].value < 2 * PAGES);
}

const struct test_program test_program = {.processes = true};
