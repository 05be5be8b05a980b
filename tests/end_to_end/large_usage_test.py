"""Sizes that are too large are refused before anything of that size is allocated:
exit 2 and one line that names the option, also where little memory is allowed; sizes
around 2^31 are refused or run. Both by what there is: with nothing to spare, all of
them are refused."""

import argparse
import os
import resource
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import mpi_run  # noqa: E402

# More than any test machine has, more than any number is, and not numbers.
TOO_LARGE = ["512G", "1024G", "1025G", "4611686018427387904",
             "9223372036854775807", "9223372036854775808", "1E", "-1"]

OVERLAP = ["iallgather", "iallgatherv", "iallreduce", "ialltoall", "ialltoallv",
           "ialltoallw", "ibcast", "iexscan", "igather", "igatherv",
           "ineighbor_allgather", "ineighbor_alltoall", "ireduce",
           "ireduce_scatter", "ireduce_scatter_block", "iscan", "iscatter",
           "iscatterv"]

# Folder, program, and the option that takes a size, with what it needs beside it.
PROGRAMS = [("mpi_overhead", "mpi_overhead", "msgsize", []),
            ("msgrate", "msgrate", "size", ["-p", "1", "-m", "1"]),
            ("msgrate", "msgrate_rma", "size", ["-p", "1", "-m", "1"]),
            ("pingpong", "pingpong", "max-ndata", []),
            ("halo", "halo", "local", [])]

# An address space in which MPI starts, but which has no room for 2^31 bytes.
ADDRESS_SPACE_BYTES = 2 << 30


class Large(mpi_run.UsageTest):
    launcher = binaries = every = None

    def refused(self, folder, name, option, size, beside):
        program = os.path.join(self.binaries, folder, name)
        done = mpi_run.run_raw(self.launcher, 1 if name == "halo" else 2,
                               [program, f"--{option}={size}", *beside])
        line = self.assert_refused(done, name, "--" + option)
        if not size.startswith("-") and size != "1E":
            self.assertRegex(line, r"use (at most|less|--max-ndata=|extents|fewer"
                                   r"|\d+ to|a size|\d+|-s \d+ or less)")

    def test_refused(self):
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, -1))
        for entry in PROGRAMS:
            for size in TOO_LARGE if self.every else TOO_LARGE[1:5:2]:
                self.refused(*entry[:3], size, entry[3])
        for collective in OVERLAP if self.every else OVERLAP[::4]:
            for size in TOO_LARGE if self.every else TOO_LARGE[3:4]:
                self.refused("overlap", "overlap_" + collective, "max-num-elts",
                             size, [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", required=True)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("launcher", nargs="+")
    arguments = parser.parse_args()
    Large.launcher = mpi_run.Launcher(arguments.launcher)
    Large.binaries = arguments.binaries
    Large.every = arguments.every
    unittest.main(argv=["large_usage_test.py", "-v"])


if __name__ == "__main__":
    main()
