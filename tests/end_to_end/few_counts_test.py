"""Every benchmark with its data checked, built so that more than 1000 elements are
beyond what an int counts: derived datatypes and MPI-4's large counts at sizes that
any machine has."""

import argparse
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import mpi_run  # noqa: E402

BRIEFLY = ["--check", "--samples=1", "--warmup=0"]

# Below the limit, at it, beyond it with and without a rest, and beyond its square.
SIZES = [999, 1000, 1001, 2000, 12345, 1001234]

BY_DATATYPES = ["ialltoall", "ialltoallw", "iallgather", "ibcast", "igather",
                "iscatter", "ineighbor_allgather", "ineighbor_alltoall"]
BY_LARGE_COUNTS = ["iallgatherv", "ialltoallv", "igatherv", "iscatterv",
                   "iallreduce", "iexscan", "ireduce", "ireduce_scatter",
                   "ireduce_scatter_block", "iscan"]


class FewCounts(mpi_run.UsageTest):
    launcher = binaries = has_large_counts = None

    def checked(self, program, *arguments, ranks=2):
        """The rows of a run, whose data was right."""
        line = [os.path.join(self.binaries, program), *arguments,
                *BRIEFLY]
        _, rows = mpi_run.run(self.launcher, ranks, line)
        for row in rows:
            self.assertIn(row["status"], ("ok", "budget", "no-knee"), row)
            self.assertEqual(row.get("check", "ok"), "ok", row)
        return rows

    def overlap(self, collective, least, most):
        rows = self.checked("overlap_" + collective, "--data-driven",
                            f"--min-num-elts={least}", f"--max-num-elts={most}",
                            "--acceptance-threshold=100",
                            "--validation-steps=0")
        self.assertEqual(int(rows[0]["elements"]), least)
        self.assertEqual(int(rows[-1]["elements"]), most)

    def test_overlap_by_datatypes(self):
        for collective in BY_DATATYPES:
            with self.subTest(collective=collective):
                self.overlap(collective, 77, 4321)

    def test_overlap_beyond_the_square(self):
        self.overlap("ibcast", 1001234, 1001234)

    def test_overlap_by_large_counts(self):
        for collective in BY_LARGE_COUNTS:
            with self.subTest(collective=collective):
                if self.has_large_counts:
                    self.overlap(collective, 77, 4321)
                else:
                    self.refused(collective)

    def test_displacements_that_are_not_used(self):
        """All blocks together are just what an int counts. As many of the last rank's
        own would be more, but only collectives that send those need to count them."""
        for collective in ("igatherv", "iscatterv", "iallgatherv"):
            with self.subTest(collective=collective):
                rows = self.checked("overlap_" + collective, "--data-driven",
                                    "--min-num-elts=240", "--max-num-elts=240",
                                    "--max-time=0.1", ranks=4)
                self.assertEqual(rows[0]["elements"], "240")

    def refused(self, collective):
        """The largest power of two that would do is named, and does."""
        program = os.path.join(self.binaries, "overlap_" + collective)
        done = mpi_run.run_raw(self.launcher, 2,
                               [program, "--max-num-elts=4321"])
        line = self.assert_refused(done, "overlap_" + collective,
                                   "what this MPI library can count: use at "
                                   "most")
        most = int(line.split()[-1])
        self.assertIn(most, (128, 256, 512))
        self.overlap(collective, most, most)

    def test_messages(self):
        sizes = "--size=" + ",".join(map(str, SIZES))
        self.assertEqual(len(self.checked("msgrate", "-p", "1", "-m", "3", sizes)),
                         4 * len(SIZES))
        sizes = sizes.replace("--size", "--msgsize")
        self.assertEqual(len(self.checked("mpi_overhead", "--both", sizes)),
                         2 * len(SIZES))

    def test_one_sided(self):
        sizes = "--size=" + ",".join(map(str, SIZES))
        for transfer in "put", "get":
            self.checked("msgrate_rma", "-p", "1", "-m", "3", "-u", transfer,
                         "-r", "lock", sizes)

    def test_pingpong(self):
        self.checked("pingpong", "--max-ndata=32K", "--max-stride=4K",
                     "--max-blocks=64", "--coarray-sync=images",
                     "--arrangements=single")

    def test_halo(self):
        boxes = ["40x30x20", "50x41x3", "3x50x41", "1x1x1234", "1234x3x2",
                 "2x1999x1"]
        # Not neighbor_alltoallw, of which MPICH makes wrong data here.
        rows = self.checked("halo", "--local=" + ",".join(boxes),
                            "--methods=put,get,isend/irecv types,isend/irecv "
                            "packed,persistent,shared window", "--coarray-sync=images")
        self.assertEqual(len(rows), 6 * len(boxes))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", required=True)
    parser.add_argument("launcher", nargs="+")
    arguments = parser.parse_args()
    FewCounts.launcher = mpi_run.Launcher(arguments.launcher)
    FewCounts.binaries = arguments.binaries
    done = mpi_run.run_raw(FewCounts.launcher, 2, [
        os.path.join(arguments.binaries, "overlap_ibcast"), "--max-time=0.01"])
    standard = [line.split()[-1] for line in done.stdout.splitlines()
                if line.startswith("# mpi_standard: ")]
    FewCounts.has_large_counts = float(standard[0]) >= 4
    unittest.main(argv=["few_counts_test.py", "-v"])


if __name__ == "__main__":
    main()
