#!/usr/bin/env python3
"""No benchmark leaves a handle of MPI behind: with a preloaded library that counts what is made and freed.

usage: leaks_test.py --library FILE --leaves FILE --binaries FOLDER --monitor FILE --stencil FILE
       CLASS -- MPIRUN...
"""

import argparse
import glob
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import mpi_run  # noqa: E402

OPTIONS = None

KINDS = ["communicator", "datatype", "error handler", "file", "group", "info", "keyval", "message", "memory", "op",
         "request", "window"]


def counted(ranks, program, environment=None, expect=(0,), preloaded=()):
    """Runs a program with the library; the finished process, and of each rank what there was: {kind: row}."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report")
        libraries = " ".join([OPTIONS.library, *preloaded])
        done = mpi_run.run_raw(OPTIONS.launcher, ranks, program,
                               {"LD_PRELOAD": libraries, "LEAKS_REPORT": report, **(environment or {})})
        if done.returncode not in expect:
            raise mpi_run.Failed(f"{' '.join(done.args)}: exit status {done.returncode}\n{done.stdout[-1000:]}\n"
                                 f"{done.stderr[-3000:]}")
        counts = []
        for rank in range(ranks):
            with open(f"{report}.{rank}", encoding="utf-8") as stream:
                counts.append({row["kind"]: {key: int(value) for key, value in row.items() if key != "kind"}
                               for row in mpi_run.read_tsv(stream.read())})
        return done, counts


class Kinds(unittest.TestCase):
    """The library itself: one of each kind left, and none."""

    def check(self, case, kind, maker):
        with self.subTest(case=case, freed="one of two"):
            done, counts = counted(1, [OPTIONS.leaves, case], expect=(1,))
            others = {"message": {"request"}}.get(kind, set())  # the send
            self.assertEqual({name for name in KINDS if counts[0][name]["left"]},
                             {kind} | others)
            self.assertEqual(counts[0][kind]["left"], 1)
            self.assertIn(f"leaks: rank 0: 1 {kind} left, made by {maker}, called from {OPTIONS.leaves} +0x",
                          done.stderr)
        with self.subTest(case=case, freed="both"):
            done, counts = counted(1, [OPTIONS.leaves, case, "free"])
            self.assertGreaterEqual(counts[0][kind]["made"], 2)
            self.assertEqual([counts[0][name]["left"] for name in KINDS], [0] * len(KINDS))
            self.assertNotIn("leaks:", done.stderr)

    def test_each(self):
        for case, maker in (("communicator", "Comm_split_type"), ("datatype", "Type_vector"),
                            ("error handler", "Comm_create_errhandler"), ("file", "File_open"),
                            ("group", "Comm_group"), ("info", "Info_create"), ("keyval", "Comm_create_keyval"),
                            ("message", "Mprobe"), ("memory", "Alloc_mem"), ("op", "Op_create"),
                            ("request", "Ibarrier"), ("window", "Win_allocate")):
            self.check(case, case, "MPI_" + maker)
        self.check("persistent request", "request", "MPI_Recv_init")

    def test_freed_in_finalize(self):
        """What delete callbacks free, which MPI_Finalize calls."""
        _, counts = counted(1, [OPTIONS.leaves, "attribute", "free"])
        self.assertEqual(counts[0]["datatype"], {"made": 2, "freed": 2, "left": 0, "unknown": 0})

    def test_unknown(self):
        """What was made by none of the functions in the table, and freed, is no secret."""
        done, counts = counted(1, [OPTIONS.leaves, "unknown", "free"], expect=(1,))
        self.assertEqual(counts[0]["datatype"]["unknown"], 2)
        self.assertIn("datatype unknown, freed by MPI_Type_free", done.stderr)


class Benchmarks(unittest.TestCase):
    """Each with all that it has, small."""

    def check(self, program, *arguments, ranks=2, expect=(0,), **how):
        with self.subTest(program=program, arguments=arguments):
            done, counts = counted(ranks, [os.path.join(OPTIONS.binaries, program), *arguments], expect=expect, **how)
            self.assertNotIn("leaks:", done.stderr)
            for of_rank in counts:
                self.assertEqual(of_rank.keys(), set(KINDS))
                self.assertEqual({kind: row for kind, row in of_rank.items() if row["left"] or row["unknown"]}, {})
            return counts

    def test_overlap(self):
        programs = sorted(glob.glob(os.path.join(OPTIONS.binaries, "overlap", "overlap_i*")))
        self.assertEqual(len(programs), 19)
        for program in programs:
            counts = self.check(program, "--max-num-elts=64", "--cutoff-time=0.01", "--max-time=0.01", "--check")
            self.assertGreater(counts[1]["request"]["made"], 5)

    def test_mpi_overhead(self):
        self.check("mpi_overhead/mpi_overhead", "--both", "--all-pairs", "--msgsize=0,64K", "--max-time=0.02", "--check")

    def test_msgrate(self):
        short = ("-p", "1", "-c", "64K", "--size=0,1K", "--max-time=0.02")
        self.check("msgrate/msgrate", *short, "--check")
        for transfer in ("put", "get"):
            for more in (("--check",), ("--threads=2",)):
                counts = self.check("msgrate/msgrate_rma", *short, "--transfer=" + transfer, *more)
                self.assertGreaterEqual(counts[0]["window"]["made"], 2)
                self.assertGreaterEqual(counts[0]["group"]["made"], 2)

    def test_pingpong(self):
        counts = self.check("pingpong/pingpong", "--max-ndata=8", "--max-stride=2", "--max-time=0.002", "--check")
        self.assertGreater(counts[0]["datatype"]["made"], 0)

    def test_syncbench(self):
        self.check("syncbench/syncbench", "--max-time=0.01", "--check")

    def test_halo(self):
        # Exit status 1: MPICH 4.0.2's neighbor_alltoallw.
        counts = self.check("halo/halo", "--local=2", "--max-time=0.01", "--check", expect=(0, 1))
        self.assertGreaterEqual(counts[0]["window"]["made"], 3)

    def test_leaving_early(self):
        self.check("halo/halo", "--local=0", expect=(2,))
        self.check("msgrate/msgrate_rma", "-p", "7", expect=(2,))

    def test_monitor(self):
        """The monitor's own handles are made and freed under MPI's other names, PMPI_."""
        self.check("monitor/monitor_overhead", "--max-time=0.002", ranks=1)
        asked = {"MPIRT_MONITOR": "pttopt,coll,comm,msgsize,traffic,other"}
        for program in (("halo/halo", "--local=2", "--max-time=0.01"), (OPTIONS.stencil,)):
            self.check(*program, environment=asked, preloaded=[OPTIONS.monitor])


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    for name in ("library", "leaves", "binaries", "monitor", "stencil"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("name")
    parser.add_argument("mpirun", nargs="+")
    OPTIONS = parser.parse_args()
    OPTIONS.launcher = mpi_run.Launcher(OPTIONS.mpirun)
    unittest.main(argv=[sys.argv[0], OPTIONS.name], verbosity=2)


if __name__ == "__main__":
    main()
