#include "programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM(name) int name##_main(int argc, char **argv);
#include "programs.def"
#undef PROGRAM

#define PROGRAM(name) {#name, name##_main},
const struct program programs[] = {
#include "programs.def"
};
#undef PROGRAM
const size_t programs_count = sizeof programs / sizeof *programs;

/* Some programs keep values outside of what their main() sets, since a process calls it
   but once: the defaults as they were at first. */
static char *defaults[sizeof programs / sizeof *programs];

static struct {
    size_t program;
    programs_visit_fn *visit;
    void *context;
    bool begun;
} visiting;

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", programs[visiting.program].name, what);
    abort();
}

static void restore_defaults(struct bc_run *run)
{
    char **const first = &defaults[visiting.program];
    char *const now = bc_options_encode(&run->options);
    if (now == NULL)
        fail("no memory");
    if (*first == NULL) {
        *first = now;
        return;
    }
    if (strcmp(now, *first) != 0 && !bc_options_decode(&run->options, *first))
        fail("the defaults can't be restored");
    free(now);
}

/* What the programs' sources call for bc_run_begin(). */
bool programs_begin(struct bc_run *run, const struct bc_benchmark *benchmark, int argc, char **argv,
                    int *status);

bool programs_begin(struct bc_run *run, const struct bc_benchmark *benchmark, int argc, char **argv,
                    int *status)
{
    (void)argc, (void)argv;
    if (!bc_run_prepare(run, benchmark))
        fail("no memory");
    restore_defaults(run);
    visiting.begun = true;
    visiting.visit(run, visiting.context);
    bc_run_release(run);
    *status = 0;
    return false;
}

void programs_visit(const struct program *program, programs_visit_fn *visit, void *context)
{
    char name[] = "program";
    char *words[] = {name, NULL};
    visiting.program = (size_t)(program - programs);
    visiting.visit = visit;
    visiting.context = context;
    visiting.begun = false;
    (void)program->main(1, words);
    if (!visiting.begun)
        fail("did not begin");
}

void programs_forget(void)
{
    for (size_t i = 0; i < programs_count; i++) {
        free(defaults[i]);
        defaults[i] = NULL;
    }
}
