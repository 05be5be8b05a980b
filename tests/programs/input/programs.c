#include "programs.h"

#include <stdlib.h>

#define PROGRAM(constant) extern const struct bc_program constant;
#include "programs.def"
#undef PROGRAM

#define PROGRAM(constant) &constant,
const struct bc_program *const programs[] = {
#include "programs.def"
};
#undef PROGRAM
const size_t programs_count =
    sizeof programs / sizeof programs[0]; /* NOLINT(bugprone-sizeof-expression) */

void program_prepare(struct bc_run *run, const struct bc_program *program)
{
    void *const state = malloc(program->state_bytes + 1);
    if (state == NULL)
        abort();
    bc_run_prepare(run, program, state);
}

void program_release(struct bc_run *run)
{
    void *const state = run->own->state;
    bc_run_release(run);
    free(state);
}
