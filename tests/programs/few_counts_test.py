# SPDX-License-Identifier: BSD-3-Clause
"""Every benchmark with its data checked, built so that more than 1000 elements are beyond what an
int counts: derived datatypes and MPI-4's large counts at sizes that any machine has."""

import pathlib
import re

from case import Case, each
from mpi_run import PAIRS, WHOLE, WITH_ELEMENTS, assert_refused, run, run_raw

# Below the limit, at it, beyond it with and without a rest, and beyond its square.
SIZES = [999, 1000, 1001, 2000, 12345, 1001234]
SIZE_LIST = ",".join(map(str, SIZES))
BY_DATATYPES = ["ialltoall", "ialltoallw", "iallgather", "ibcast", "igather", "iscatter",
                "ineighbor_allgather", "ineighbor_alltoall", *PAIRS]
BY_LARGE_COUNTS = [name for name in WITH_ELEMENTS if name not in BY_DATATYPES]


class FewCounts(Case):
    def program(self, name):
        """The path of a program of this build."""
        return self.built("tests/programs/few_counts/" + name)

    def has_large_counts(self):
        """True if the MPI library has MPI-4's functions."""
        done = run_raw(self.launcher, 2, [self.program("overlap_ibcast"), "--max-time=0.01", *WHOLE])
        return float(re.search("(?m)^# mpi_standard: (.*)$", done.stdout)[1]) >= 4

    def checked(self, name, *options, ranks=2):
        """The rows of a run, whose data was right."""
        _, rows = run(self.launcher, ranks,
                      [self.program(name), *options, "--check", "--samples=1", "--warmup=0"])
        for row in rows:
            assert row["status"] in ("ok", "budget", "no-knee"), row
            assert row.get("check", "ok") == "ok", row
        return rows

    def overlap(self, collective, first, last):
        """A run of a collective with numbers of elements from first to last."""
        rows = self.checked("overlap_" + collective, "--data-driven", f"--min-num-elts={first}",
                            f"--max-num-elts={last}", "--acceptance-threshold=100",
                            "--validation-steps=0")
        assert int(rows[0]["elements"]) == first
        assert int(rows[-1]["elements"]) == last

    def test_sources(self):
        """All sources of common/ that use the limit are compiled with it."""
        top = pathlib.Path(__file__).parents[2]
        compiled = (top / "tests/programs/large.cmake").read_text(encoding="utf-8")
        for source in top.glob("common/**/*.c"):
            if "BC_COUNT_MAX" in source.read_text(encoding="utf-8"):
                self.assertIn(f"/{source.relative_to(top)}", compiled)

    @each("collective", BY_DATATYPES)
    def test_overlap_by_datatypes(self, collective):
        self.overlap(collective, 77, 4321)

    def test_overlap_beyond_the_square(self):
        self.overlap("ibcast", 1001234, 1001234)

    @each("options", [["--types=double,char", "--root=rotate"], ["--types=float", "--in-place"]])
    def test_collective(self, options):
        """By datatypes all operations whose blocks are alike and that reduce nothing, by large counts the others."""
        names = [] if self.has_large_counts() else ["--operations=allgather,alltoall,bcast,gather,scatter"]
        assert self.checked("collective", "--sizes=8K,40000", *names, *options)

    @each("collective", BY_LARGE_COUNTS)
    def test_overlap_by_large_counts(self, collective):
        """Without large counts, the largest power of two that would do is named, and does."""
        if self.has_large_counts():
            self.overlap(collective, 77, 4321)
            return
        name = "overlap_" + collective
        done = run_raw(self.launcher, 2, [self.program(name), "--max-num-elts=4321"])
        line = assert_refused(done, name, "the counts of this MPI library: use at most")
        largest = int(line.split()[-1])
        assert largest in (128, 256, 512)
        self.overlap(collective, largest, largest)

    @each("collective", ["igatherv", "iscatterv", "iallgatherv"])
    def test_displacements_that_are_not_used(self, collective):
        """All blocks together are just what an int counts. The same number of the last rank's own would be
        more, but only collectives that send those need to count them."""
        rows = self.checked("overlap_" + collective, "--data-driven", "--min-num-elts=240",
                            "--max-num-elts=240", "--max-time=0.1", ranks=4)
        assert rows[0]["elements"] == "240"

    def test_messages(self):
        rows = self.checked("msgrate", "-p", "1", "-m", "3", "--size=" + SIZE_LIST)
        assert len(rows) == 4 * len(SIZES)
        assert len(self.checked("mpi_overhead", "--both", "--msgsize=" + SIZE_LIST)) == 2 * len(SIZES)

    @each("transfer", ["put", "get"])
    def test_one_sided(self, transfer):
        self.checked("msgrate_rma", "-p", "1", "-m", "3", "-u", transfer, "-r", "lock",
                     "--size=" + SIZE_LIST)

    def test_pingpong(self):
        self.checked("pingpong", "--max-ndata=32K", "--max-stride=4K", "--max-blocks=64",
                     "--coarray-sync=images", "--arrangements=single")

    def test_halo(self):
        boxes = ["40x30x20", "50x41x3", "3x50x41", "1x1x1234", "1234x3x2", "2x1999x1"]
        # Not neighbor_alltoallw, of which MPICH makes wrong data here.
        rows = self.checked("halo", "--local=" + ",".join(boxes),
                            "--methods=put,get,isend/irecv types,isend/irecv packed,persistent,"
                            "shared window", "--coarray-sync=images")
        assert len(rows) == 6 * len(boxes)
