#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a library in C that times every call of an MPI function that mpi.h declares, in the
simplest way there is: two readings of a clock around the outermost call of a thread. It is preloaded
after the monitor and before the model, and is what the monitor's sums are compared with.

The monitor, whose calls lead through this library, sees the timing as a part of the MPI library. So
each call here takes what its caller sees: what lies between the readings, and what the timing of an
empty call takes besides, which is measured when the library is loaded. It is a few hundredths of a
microsecond, as long as a test that finds nothing takes itself.

usage: every_call.py OUTPUT.c COMPILER [OPTION...]
"""

import re
import subprocess
import sys

# Not timed: what takes no longer than the timing, what never returns, handles between languages, the
# tool interface, and MPI_Finalize, which is not over when the monitor reports.
LEFT_OUT = re.compile(r"MPI_(T_|Wtime|Wtick|Aint_|Pcontrol|Abort|Finalize$|DUP_FN|Session_)|"
                      r"_(f2c|c2f|f082c|c2f08|f2f08|f082f|fromint|toint)$|_FN$")

HEAD = """/* Written by every_call.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Environment variable with the file of the times. */
#ifndef EVERY_CALL
#define EVERY_CALL "EVERY_CALL"
#endif

static _Thread_local int depth __attribute__((tls_model("initial-exec")));

struct function {
    const char *name;
    long calls;
    int64_t ticks;
};

/* Of another interposer, or of the MPI library. */
static void *next_definition(const char *pmpi_name)
{
    void *const definition = dlsym(RTLD_NEXT, pmpi_name + 1);
    return definition != NULL ? definition : dlsym(RTLD_DEFAULT, pmpi_name);
}

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The clock that is read fastest. */
static inline int64_t ticks_now(void)
{
#if defined(__x86_64__)
    return (int64_t)__builtin_ia32_rdtsc();
#else
    return now_ns();
#endif
}

/* Timed as all others, to see what that takes. */
__attribute__((visibility("hidden"))) int nothing(int, void *, int *, int *, void *);

static int do_nothing(int count, void *requests, int *index, int *flag, void *status)
{
    (void)count, (void)requests, (void)index, (void)flag, (void)status;
    return 0;
}
"""

WRAPPER = """
static struct function of_{name} = {{"{name}", 0, 0}};
static __typeof__({name}) *next_{name};
int {name}({parameters})
{{
    if (next_{name} == NULL)
        next_{name} = next_definition("P{name}");
    const int is_outermost = depth++ == 0;
    const int64_t start_ticks = ticks_now();
    const int returned = next_{name}({arguments});
    const int64_t ticks = ticks_now() - start_ticks;
    depth--;
    if (is_outermost) {{
        of_{name}.calls++;
        of_{name}.ticks += ticks;
    }}
    return returned;
}}
"""

TAIL = """
/* When the library was loaded, and what a timed call takes beyond what is between its readings. */
static int64_t loaded_ns, loaded_ticks;
static double besides_ticks;

/* The median of rounds, since the process may be stopped in some. */
static double find_besides(void)
{{
    enum {{ ROUNDS = 101, CALLS = 100 }};
    __typeof__(nothing) *volatile timed = nothing;
    double found[ROUNDS];
    int number = 0;
    next_nothing = do_nothing;
    for (int round = 0; round < ROUNDS; round++) {{
        of_nothing.ticks = 0;
        const int64_t start_ticks = ticks_now();
        for (int i = 0; i < CALLS; i++)
            (void)timed(CALLS, found, &number, &number, found);
        const double ticks = (double)(ticks_now() - start_ticks - of_nothing.ticks) / CALLS;
        int place = round;
        for (; place > 0 && found[place - 1] > ticks; place--)
            found[place] = found[place - 1];
        found[place] = ticks;
    }}
    return found[ROUNDS / 2];
}}

__attribute__((constructor)) static void start(void)
{{
    besides_ticks = find_besides();
    loaded_ticks = ticks_now();
    loaded_ns = now_ns();
}}

/* One line for each function that was called, in the file EVERY_CALL.RANK (EVERY_CALL:
   an environment variable): its name, calls, their
   nanoseconds, and of these what the timing itself took. */
int MPI_Finalize(void)
{{
    static struct function *const functions[] = {{{functions}}};
    const double tick_ns = (double)(now_ns() - loaded_ns) / (double)(ticks_now() - loaded_ticks);
    const char *const prefix = getenv(EVERY_CALL);
    char path[4096];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)snprintf(path, sizeof path, "%s.%d", prefix != NULL ? prefix : "/dev/null", rank);
    FILE *const file = prefix != NULL ? fopen(path, "w") : NULL;
    for (unsigned i = 0; file != NULL && i < sizeof functions / sizeof *functions; i++)
        if (functions[i]->calls > 0) {{
            const double besides = besides_ticks * (double)functions[i]->calls;
            fprintf(file, "%s %ld %.0f %.0f\\n", functions[i]->name, functions[i]->calls,
                    ((double)functions[i]->ticks + besides) * tick_ns, besides * tick_ns);
        }}
    if (file != NULL)
        fclose(file);
    return ((int (*)(void))next_definition("PMPI_Finalize"))();
}}
"""


def declarations(compiler):
    """The names and parameters of the functions that mpi.h declares, for these words of a compiler."""
    text = subprocess.run([*compiler, "-E", "-P", "-x", "c", "-"], input="#include <mpi.h>\n", check=True,
                          capture_output=True, text=True).stdout
    text = re.sub(r"\s+", " ", text)
    found = {}
    for match in re.finditer(r"\bint (MPI_\w+) ?\(", text):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        rest = text[end:text.index(";", end)]
        # Removed functions are declared so that their use is an error.
        if "{" not in rest and "error" not in rest:
            found.setdefault(match.group(1), text[match.end():end - 1].strip())
    return {name: words for name, words in found.items() if not LEFT_OUT.search(name)}


def split(parameters):
    """Parameters, which may be functions."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(parameters + ","):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(parameters[start:place].strip())
            start = place + 1
    return parts


def name_in(parameter):
    match = (re.search(r"\( ?\* ?(\w+) ?\)", parameter) or
             re.search(r"(\w+)(?: ?\[[^\]]*\])*$", parameter))
    return match.group(1)


def wrapper(name, parameters):
    names = [] if parameters in ("", "void") else [name_in(one) for one in split(parameters)]
    return WRAPPER.format(name=name, parameters=parameters, arguments=", ".join(names))


def main():
    output, *compiler = sys.argv[1:]
    functions = declarations(compiler)
    with open(output, "w", encoding="utf-8") as file:
        file.write(HEAD)
        file.write(wrapper("nothing", "int count, void *requests, int *index, int *flag, void *status"))
        file.writelines(wrapper(*function) for function in functions.items())
        file.write(TAIL.format(functions=", ".join(f"&of_{name}" for name in functions)))


main()
