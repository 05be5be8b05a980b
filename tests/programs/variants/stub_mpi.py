#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that all sources compile with the stub of MPI in stub_mpi/, whose mpi.h promises what the standard does and
no more.

Configures a build for which the stub is the MPI library, so that CMake finds in it what it looks for in any other
(such as persistent and partitioned communication), and checks the syntax of each source as that build would compile it.
Nothing is built. Prints which sources fail, with the compiler's words. Exit status 1 if any does.

usage: stub_mpi.py SOURCE BUILD
"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

# Beyond what the build has: some of the tests' libraries are compiled without.
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]

# Sources that are about one library.
LEFT_OUT = {
    "tests/programs/simulation/source.c": "calls SimGrid's smpi_execute_benched",
}

# How sources are compiled that only a build with some library has: MPICH's launcher, SimGrid's SMPI.
PLAIN = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-DCOMMCOST_PREADY_LIST_CONST=const"]


def configure(source, build):
    """Returns the commands of the build: a set of (source, words)."""
    command = ["cmake", "-S", source, "-B", build, f"-DCMAKE_C_FLAGS=-I{source}/tests/programs/variants/stub_mpi",
               # There is no library to link CMake's trial programs with.
               "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--unresolved-symbols=ignore-all", "-DCOMMCOST_TEST_TIER=all",
               "-DMPI_C_COMPILER=cc", "-DCOMMCOST_MAN=OFF"]
    print("+", shlex.join(command), flush=True)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open(f"{build}/compile_commands.json", encoding="utf-8") as file:
        entries = json.load(file)
    commands = set()
    for entry in entries:
        words = shlex.split(entry["command"])
        output = words.index("-o")
        commands.add((entry["file"], tuple(words[:output] + words[output + 2:])))
    return commands


def add_others(commands, source, build):
    """Adds the sources that this build doesn't have."""
    names = subprocess.run(["git", "-C", source, "ls-files", "*.c"], check=True, capture_output=True,
                           text=True).stdout.split()
    known = {name for name, _ in commands}
    for name in (f"{source}/{name}" for name in names if name not in LEFT_OUT):
        if name not in known:
            commands.add((name, ("cc", *PLAIN, f"-I{source}", f"-I{source}/tests/programs/variants/stub_mpi",
                                 f"-I{build}/generated", "-c", name)))


def check(command):
    """Returns the compiler's messages about a source; None: it compiles."""
    _, words = command
    done = subprocess.run([*words, *WARNINGS, "-fsyntax-only"], check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.stdout if done.returncode != 0 else None


def main():
    source, build = (os.path.abspath(path) for path in sys.argv[1:])
    commands = configure(source, build)
    # The generated tests/monitor/every_call.c wraps the functions of an mpi.h by its own declarations.
    commands = {(name, words) for name, words in commands if not name.startswith(build + "/")}
    add_others(commands, source, build)
    failed = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, _), text in zip(commands, pool.map(check, commands)):
            if text is not None and name not in failed:
                failed.add(name)
                print(f"{os.path.relpath(name, source)} does not compile with the stub of MPI:\n{text}")
    print(f"{len({name for name, _ in commands})} sources in {len(commands)} ways, {len(failed)} fail")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
