# SPDX-License-Identifier: BSD-3-Clause
"""Sizes that are too large are refused before anything of that size is allocated: exit 2 and one
line that names the option, also where little memory is allowed; sizes around 2^31 are refused or
run. Both by what there is: with nothing to spare, all of them are refused."""

import re
import resource

from case import Case, each, in_full
from mpi_run import WITH_ELEMENTS, assert_refused, run_raw

# More than any test machine has, more than any number is, and not numbers.
TOO_LARGE = ["512G", "1024G", "1025G", "4611686018427387904", "9223372036854775807",
             "9223372036854775808", "1E", "-1"]


# The option that takes a size, what a program needs beside it, and the sizes that are tried always.
PROGRAMS = {
    "mpi_overhead/mpi_overhead": ("--msgsize", [], TOO_LARGE[1:5:2]),
    "msgrate/msgrate": ("--size", ["-p", "1", "-m", "1"], TOO_LARGE[1:5:2]),
    "msgrate/msgrate_rma": ("--size", ["-p", "1", "-m", "1"], TOO_LARGE[1:5:2]),
    "pingpong/pingpong": ("--max-ndata", [], TOO_LARGE[1:5:2]),
    "halo/halo": ("--local", [], TOO_LARGE[1:5:2]),
    **{"overlap/overlap_" + name: ("--max-num-elts", [], [] if i % 4 else TOO_LARGE[3:4])
       for i, name in enumerate(WITH_ELEMENTS)}
}

# An address space in which MPI starts, but which has no room for 2^31 bytes.
ADDRESS_SPACE_BYTES = 2 << 30


class LargeUsage(Case):
    def little_memory(self):
        """Programs have the small address space."""
        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, before[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_AS, before)

    @each("program, size", [
        (program, size) for program, (_, _, always) in PROGRAMS.items() for size in TOO_LARGE
        if size in always or in_full(size)])
    def test_refused(self, program, size):
        option, beside, _ = PROGRAMS[program]
        name = program.split("/")[1]
        self.little_memory()
        done = run_raw(self.launcher, 1 if name == "halo" else 2,
                       [self.built(program), f"{option}={size}", *beside])
        line = assert_refused(done, name, option)
        if size not in ("-1", "1E"):
            assert re.search(r"use (at most|less|--max-ndata=|extents|fewer|\d+ to|a size|\d+"
                             r"|-s \d+ or less)", line), line
