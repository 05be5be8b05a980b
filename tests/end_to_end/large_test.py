"""Messages, buffers and faces just beyond 2^31 bytes, really moved, their data
checked.

Each case says what memory it takes, measured, and is left out where that is not
available, which the output says."""

import argparse
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import mpi_run  # noqa: E402
from run_tests import run_tests  # noqa: E402

ONCE = ["--samples=1", "--warmup=0"]
# The least that a row needs: one amount of work.
FEW_TRIALS = ["--acceptance-threshold=100", "--validation-steps=0", "--max-time=1"]

# Doubles: 8 bytes more than 2 GiB, and half of that.
BEYOND = (1 << 28) + 1
HALF_BEYOND = (1 << 27) + 1


class Case:
    """A program with its arguments, its ranks, and the memory it takes."""

    def __init__(self, gib, program, *arguments, ranks=2, check=True,
                 needs_openmpi=False):
        self.gib, self.program, self.ranks = gib, program, ranks
        self.needs_openmpi = needs_openmpi
        self.arguments = [*arguments, *ONCE, *(["--check"] if check else [])]


def overlap(gib, collective, elements, **how):
    return Case(gib, f"overlap/overlap_{collective}", "--data-driven",
                f"--min-num-elts={elements}", f"--max-num-elts={elements}", *FEW_TRIALS,
                **how)


def pingpong(gib, patterns, *arguments, **how):
    return Case(gib, "pingpong/pingpong", f"--patterns={patterns}",
                "--arrangements=single", "--coarray-sync=images", *arguments, **how)


def rates(gib, program, *arguments, **how):
    return Case(gib, "msgrate/" + program, "-p", "1", "-m", "1", "-c", "0",
                *arguments, **how)


# Two faces of 2^28 values and a few.
WIDE_BOX = "1x16384x16385"

CASES = {
    "pingpong_send": pingpong(5, "MPI Send", "--max-ndata=256M"),
    "pingpong_put": pingpong(5, "put", "--max-ndata=256M"),
    "pingpong_get": pingpong(5, "get", "--max-ndata=256M"),
    "pingpong_all": pingpong(10, "all put,all get", "--max-ndata=256M"),
    "pingpong_many": pingpong(5, "many put,many get", "--max-ndata=256M",
                              "--max-blocks=64"),
    "pingpong_strided": pingpong(5, "strided put,strided get",
                                 "--max-ndata=256M", "--max-stride=4M"),
    "pingpong_strided_many": pingpong(9, "strided many put", "--max-ndata=256M",
                                      "--max-blocks=64"),
    "pingpong_send_4g": pingpong(9, "MPI Send", "--max-ndata=512M"),
    "msgrate": rates(10, "msgrate", "--size=2147483647,2147483648,2200M",
                     check=False),
    "msgrate_many": Case(9, "msgrate/msgrate", "-p", "1", "-m", "3000", "-c",
                         "0", "--size=725K", check=False),
    "msgrate_rma_put": rates(10, "msgrate_rma", "--size=2147483648,2200M",
                             check=False),
    "msgrate_rma_get": rates(9, "msgrate_rma", "-u", "get",
                             "--size=2147483648,2200M", check=False),
    "overhead_once": Case(6, "mpi_overhead/mpi_overhead", "--msgsize=2200M",
                          "--bthresh=1.02", "--iterations=1", "--max-time=1"),
    "overhead": Case(6, "mpi_overhead/mpi_overhead", "--both",
                     "--msgsize=2147483647,2147483648,2200M",
                     "--bthresh=1.02", "--iterations=1", "--max-time=1"),
    "overhead_3g": Case(8, "mpi_overhead/mpi_overhead", "--both",
                        "--msgsize=3G", "--bthresh=1.02", "--iterations=1",
                        "--max-time=1"),
    "halo_put": Case(7, "halo/halo", "--methods=put", "--coarray-sync=images",
                     f"--local={WIDE_BOX}", ranks=1),
    "halo_get": Case(7, "halo/halo", "--methods=get", "--coarray-sync=all",
                     f"--local={WIDE_BOX}", ranks=1),
    "halo_types": Case(11, "halo/halo", "--methods=isend/irecv types",
                       f"--local={WIDE_BOX}", ranks=1),
    "halo_persistent": Case(11, "halo/halo", "--methods=persistent",
                            f"--local={WIDE_BOX}", ranks=1),
    "ibcast": overlap(5, "ibcast", BEYOND, needs_openmpi=True),
    "ireduce": overlap(11, "ireduce", BEYOND),
    "iallreduce": overlap(13, "iallreduce", BEYOND),
    "iscan": overlap(13, "iscan", BEYOND),
    "iexscan": overlap(13, "iexscan", BEYOND),
    "iallgather": overlap(7, "iallgather", HALF_BEYOND),
    "iallgatherv": overlap(7, "iallgatherv", HALF_BEYOND),
    "ialltoall": overlap(9, "ialltoall", HALF_BEYOND),
    "ialltoallv": overlap(9, "ialltoallv", HALF_BEYOND),
    "ialltoallw": overlap(9, "ialltoallw", HALF_BEYOND),
    "igather": overlap(5, "igather", HALF_BEYOND),
    "igatherv": overlap(5, "igatherv", HALF_BEYOND),
    "iscatter": overlap(5, "iscatter", HALF_BEYOND),
    "iscatterv": overlap(5, "iscatterv", HALF_BEYOND),
    "ireduce_scatter": overlap(12, "ireduce_scatter", HALF_BEYOND),
    "ireduce_scatter_block": overlap(12, "ireduce_scatter_block", HALF_BEYOND),
    "ineighbor_allgather": overlap(8, "ineighbor_allgather", BEYOND // 6 + 1),
    "ineighbor_alltoall": overlap(9, "ineighbor_alltoall", BEYOND // 6 + 1),
}


def available_gib():
    with open("/proc/meminfo", encoding="ascii") as stream:
        for line in stream:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) / (1 << 20)
    return 0.0


class Large(unittest.TestCase):
    launcher = binaries = names = None

    def run_case(self, name):
        case = CASES[name]
        there = available_gib()
        if there < 2 * case.gib and there < case.gib + 2:
            self.skipTest(f"{name}: takes {case.gib} GiB of memory, and "
                          f"{there:.1f} are available")
        if case.needs_openmpi and not self.launcher.is_openmpi:
            self.skipTest(f"{name}: MPICH 4.0 fails with it")
        start_s = time.monotonic()
        program = [os.path.join(self.binaries, case.program)]
        done = mpi_run.run_raw(self.launcher, case.ranks,
                               program + case.arguments, timeout_s=240)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = mpi_run.read_tsv(done.stdout)
        print(f"{name}: {len(rows)} rows, {time.monotonic() - start_s:.1f} s",
              flush=True)
        self.assertGreater(len(rows), 0, done.stdout)
        for row in rows:
            self.assertIn(row["status"], ("ok", "budget", "no-knee"))
            self.assertEqual(row.get("check", "ok"), "ok")

    def test_cases(self):
        for name in self.names:
            with self.subTest(case=name):
                self.run_case(name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", required=True)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("launcher", nargs="+")
    arguments = parser.parse_args()
    Large.launcher = mpi_run.Launcher(arguments.launcher)
    Large.binaries = arguments.binaries
    Large.names = arguments.cases.split(",")
    run_tests()


if __name__ == "__main__":
    main()
