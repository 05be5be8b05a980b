#include "programs.h"

#include <stdlib.h>

#define PROGRAM(constant) extern const struct bc_benchmark constant;
#include "programs.def"
#undef PROGRAM

#define PROGRAM(constant) &constant,
const struct bc_benchmark *const programs[] = {
#include "programs.def"
};
#undef PROGRAM
const size_t programs_count =
    sizeof programs / sizeof programs[0]; /* NOLINT(bugprone-sizeof-expression) */

void program_prepare(struct bc_run *run, const struct bc_benchmark *program)
{
    if (!bc_run_prepare(run, program))
        abort();
}
