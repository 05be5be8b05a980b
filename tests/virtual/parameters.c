/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/virtual/parameters.h"

#include "tests/virtual/world.h"

#include <math.h>
#include <stdlib.h>

struct parameters parameters;

static void read_number(double *member, const char *variable, double unit, double usual, double min,
                        double max)
{
    const char *const text = getenv(variable);
    char *end;
    *member = usual * unit;
    if (text == NULL || text[0] == '\0')
        return;
    const double value = strtod(text, &end);
    if (*end != '\0' || !(value >= min && value <= max))
        world_abort("%s=%s: has to be a number from %g to %g", variable, text, min, max);
    *member = value * unit;
}

void parameters_read(void)
{
#define PARAMETER(member, variable, unit, usual, min, max)                                         \
    read_number(&parameters.member, variable, unit, usual, min, max);
#include "tests/virtual/parameters.def"
}
