# SPDX-License-Identifier: BSD-3-Clause
"""Messages, buffers and faces just beyond 2^31 bytes, really moved, their data checked.

Each case has the memory that it takes, measured, and is left out where that is not available, which
the output reports."""

import time
from typing import NamedTuple

from case import Case, each, in_full
from mpi_run import WHOLE, available_gib, read_tsv, run_raw


class Sized(NamedTuple):
    """A program with its options; the memory it takes."""

    __test__ = False
    gib: int
    program: str
    options: tuple
    ranks: int = 2
    check: bool = True
    needs_openmpi: bool = False


# Doubles: 8 bytes more than 2 GiB, and half of that.
BEYOND = (1 << 28) + 1
HALF_BEYOND = (1 << 27) + 1


def overlap(gib, collective, elements, **how):
    """With the fewest runs that a row needs: of one amount of work."""
    return Sized(gib, f"overlap/overlap_{collective}", (
        "--data-driven", f"--min-num-elts={elements}", f"--max-num-elts={elements}",
        "--acceptance-threshold=100", "--validation-steps=0", "--max-time=1"), **how)


def pingpong(gib, patterns, *options):
    return Sized(gib, "pingpong/pingpong", (f"--patterns={patterns}", "--arrangements=single",
                                           "--coarray-sync=images", *options))


def rates(gib, program, *options, messages=1):
    return Sized(gib, "msgrate/" + program, ("-p", "1", "-m", str(messages), "-c", "0", *options),
                check=False)


def overhead(gib, *options):
    return Sized(gib, "mpi_overhead/mpi_overhead",
                (*options, "--bthresh=1.02", "--iterations=1", "--max-time=1"))


def halo(gib, method, *options):
    """Two faces of 2^28 values and a few."""
    return Sized(gib, "halo/halo", (f"--methods={method}", *options, "--local=1x16384x16385"),
                ranks=1)


CASES = {
    "pingpong_send": pingpong(5, "MPI Send", "--max-ndata=256M"),
    "pingpong_put": pingpong(5, "put", "--max-ndata=256M"),
    "pingpong_get": pingpong(5, "get", "--max-ndata=256M"),
    "pingpong_all": pingpong(10, "all put,all get", "--max-ndata=256M"),
    "pingpong_many": pingpong(5, "many put,many get", "--max-ndata=256M", "--max-blocks=64"),
    "pingpong_strided": pingpong(5, "strided put,strided get", "--max-ndata=256M",
                                 "--max-stride=4M"),
    "pingpong_strided_many": pingpong(9, "strided many put", "--max-ndata=256M",
                                      "--max-blocks=64"),
    "pingpong_send_4g": pingpong(9, "MPI Send", "--max-ndata=512M"),
    "msgrate": rates(10, "msgrate", "--size=2147483647,2147483648,2200M"),
    "msgrate_many": rates(9, "msgrate", "--size=725K", messages=3000),
    "msgrate_rma_put": rates(10, "msgrate_rma", "--size=2147483648,2200M"),
    "msgrate_rma_get": rates(9, "msgrate_rma", "-u", "get", "--size=2147483648,2200M"),
    "overhead_once": overhead(6, "--msgsize=2200M"),
    "overhead": overhead(6, "--both", "--msgsize=2147483647,2147483648,2200M"),
    "overhead_3g": overhead(8, "--both", "--msgsize=3G"),
    "halo_put": halo(7, "put", "--coarray-sync=images"),
    "halo_get": halo(7, "get", "--coarray-sync=all"),
    "halo_types": halo(11, "isend/irecv types"),
    "halo_persistent": halo(11, "persistent"),
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
    "isend": overlap(5, "isend", BEYOND),
    "irecv": overlap(5, "irecv", BEYOND),
    "sendrecv": overlap(9, "sendrecv", BEYOND),
    "put": overlap(5, "put", BEYOND),
    "get": overlap(5, "get", BEYOND),
}


class Large(Case):
    @each("name", ["overhead_once", *in_full(*(name for name in CASES if name != "overhead_once"))])
    def test_large(self, name):
        case = CASES[name]
        there = available_gib()
        if there < 2 * case.gib and there < case.gib + 2:
            self.skipTest(f"takes {case.gib} GiB of memory, and {there:.1f} are available")
        if case.needs_openmpi and not self.launcher.is_openmpi:
            self.skipTest("MPICH 4.0 fails with it")
        start_s = time.monotonic()
        done = run_raw(self.launcher, case.ranks, [
            self.built(case.program), *case.options, "--samples=1", "--warmup=0",
            *(["--check"] if case.check else []), *WHOLE], timeout_s=240)
        assert done.returncode == 0, done.stdout + done.stderr
        rows = read_tsv(done.stdout)
        print(f"{name}: {len(rows)} rows, {time.monotonic() - start_s:.1f} s")
        assert rows, done.stdout
        for row in rows:
            assert row["status"] in ("ok", "budget", "no-knee")
            assert row.get("check", "ok") == "ok"
