#!/usr/bin/env python3
"""halo as a user runs it: usage errors, columns, the rows that were asked for,
data checks in grids with few processes in a direction, shared memory."""

import argparse
import os
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mounts import with_small_fs  # noqa: E402
from mpi_run import (  # noqa: E402
    Launcher, UsageTest, number, read_tsv, run, run_and_dump, run_raw,
    total_error)
from run_tests import run_tests  # noqa: E402

COLUMNS = """method sync dims local ndata nrep time_s latency_us latency_lo_us
    latency_hi_us latency_p99_us latency_max_us bwidth_mbs check samples status
    slowest_rank""".split()
METHODS = [("put", "all"), ("put", "images"), ("get", "all"),
           ("get", "images"), ("isend/irecv types", "none"),
           ("isend/irecv packed", "none"), ("persistent", "none"),
           ("neighbor_alltoallw", "none"), ("shared window", "none")]
ONCE = ["--samples=1", "--warmup=0"]

OPTIONS = None


def run_halo(*arguments, ranks=2, environment=None, program=None):
    return run_raw(OPTIONS.launcher, ranks,
                   [program or OPTIONS.program] + list(arguments), environment)


def ndata(local):
    a, b, c = (int(extent) for extent in local.split("x"))
    return 2 * (a * b + b * c + a * c)


def pairs(rows):
    return list(dict.fromkeys((row["method"], row["sync"]) for row in rows))


class Usage(UsageTest):
    """One line on stderr that names the option, exit 2, no output."""

    def refused(self, arguments, named, ranks=2):
        done = run_halo(*arguments, ranks=ranks)
        self.assertIn("use", self.assert_refused(done, "halo", named))

    def test_usage(self):
        for option, values in (
                ("--dims", ("3x1x1", "2x1", "x", "0x3x0", "")),
                ("--local", ("0", "10x20", "10,,20", "99999999999", "",
                             "100000x100000x1", "40000x40000x40000")),
                ("--methods", ("puts", "", "put,,get")),
                ("--coarray-sync", ("none", "x"))):
            # Open MPI's launcher takes seconds to end a job that failed.
            for value in values[:1 if OPTIONS.launcher.is_openmpi else None]:
                self.refused([f"{option}={value}"], option)


class Memory(unittest.TestCase):
    """What doesn't fit into /dev/shm is left out of the default boxes, and
    refused where it was asked for; what would do does."""

    def test_small_shm(self):
        small = OPTIONS.launcher.behind(
            with_small_fs("/dev/shm", 64 << 10))
        quick = [OPTIONS.program, "--methods=put", "--coarray-sync=all", *ONCE]
        done = run_raw(small, 2, quick)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([row["local"] for row in read_tsv(done.stdout)],
                         ["10x10x10", "50x50x50", "100x100x100"])
        self.assertIn("# local: 10,50,100\n", done.stdout)
        note = re.search("# note: no boxes of 150: .* use at most "
                         "([0-9]+)x[0-9]+x[0-9]+\n", done.stdout)
        self.assertIsNotNone(note, done.stdout)
        done = run_raw(small, 2, quick + ["--local=10,150"])
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("halo: --local: 150x150x150 needs", done.stderr)
        most = re.search("use at most ([0-9]+)x", done.stderr).group(1)
        self.assertEqual(most, note.group(1))
        rows = run(small, 2, quick + ["--local=" + most])[1]
        self.assertEqual([row["local"] for row in rows],
                         [f"{most}x{most}x{most}"])
        # Without windows there is more.
        rows = run(small, 2, [OPTIONS.program, "--methods=persistent", *ONCE])[1]
        self.assertEqual(len(rows), 4)


class Rows(unittest.TestCase):
    """The rows that were asked for, and what they must agree on."""

    def test_all_methods(self):
        rows, samples = run_and_dump(
            OPTIONS.launcher, 2, [OPTIONS.program, "--local=10,4x5x6,1",
                                  "--samples=3", "--warmup=0"])
        self.assertEqual(list(rows[0]), COLUMNS)
        self.assertEqual(pairs(rows), METHODS)
        self.assertEqual([row["local"] for row in rows],
                         ["10x10x10", "4x5x6", "1x1x1"] * len(METHODS))
        for row, values_ns in zip(rows, samples):
            self.assertEqual(row["dims"], "2x1x1")
            self.assertEqual(int(row["ndata"]), ndata(row["local"]))
            latency_s = number(row["latency_us"]) * 1e-6
            mib = 8 * ndata(row["local"]) / 1048576
            self.assertAlmostEqual(number(row["bwidth_mbs"]) * latency_s, mib,
                                   delta=0.01 * mib)
            self.assertLess(total_error(row, values_ns), 1.0, row)
            # The clock's cost, which is in the samples alone.
            batch = int(row["nrep"]) // 3
            self.assertLessEqual(number(row["latency_us"]),
                                 sorted(values_ns)[1] / 1e3 + 0.001)
            self.assertGreater(number(row["latency_us"]),
                               (sorted(values_ns)[1] - 1e3 / batch) / 1e3 -
                               0.001)
            self.assertEqual((row["samples"], row["check"]), ("3", "off"))

    def test_choices(self):
        for arguments, expected in (
                (["--methods=persistent,put", "--coarray-sync=images"],
                 [("put", "images"), ("persistent", "none")]),
                (["--methods=Isend/Irecv-types"],
                 [("isend/irecv types", "none")]),
                (["--coarray-sync=all"],
                 [pair for pair in METHODS if pair[1] != "images"])):
            done = run_halo("--local=3", *ONCE, *arguments)
            self.assertEqual(pairs(read_tsv(done.stdout)), expected)

    def test_dims(self):
        for asked, ranks, found in (("1x2x1", 2, "1x2x1"),
                                    ("0x0x2", 2, "1x1x2"),
                                    ("0x0x0", 4, "2x2x1")):
            done = run_halo("--local=3", "--methods=persistent",
                            "--dims=" + asked, *ONCE, ranks=ranks)
            self.assertEqual([row["dims"] for row in read_tsv(done.stdout)],
                             [found], done.stderr)

    def test_start(self):
        """The metadata say how samples begin, and of which clock."""
        for sync in ("barrier", "window"):
            text = run_halo("--local=3", "--methods=persistent",
                            "--start=" + sync, *ONCE).stdout
            self.assertIn(f"# start: {sync}\n", text)
            self.assertEqual("# global_clock_error_us: " in text,
                             sync == "window")


class Nodes(unittest.TestCase):
    """The shared window: what a note says of it."""

    def test_one_node(self):
        done = run_halo("--local=3", *ONCE)
        self.assertIn("# note: shared window: 0 of 12 faces cross nodes",
                      done.stdout)

    def test_alone(self):
        done = run_halo("--local=3", *ONCE, ranks=1)
        self.assertEqual(pairs(read_tsv(done.stdout)), METHODS[:-1])
        self.assertIn("# note: no shared window: no process shares a node with "
                      "a neighbour", done.stdout)

    def test_two_nodes(self):
        if OPTIONS.launcher.is_openmpi:
            self.skipTest("MPICH alone can be told that ranks of one machine "
                          "are on two nodes")
        two_nodes = {"MPIR_CVAR_ODD_EVEN_CLIQUES": 1}
        done = run_halo("--local=4x3x2", "--dims=2x2x1", "--check",
                        "--methods=shared window", *ONCE, ranks=4,
                        environment=two_nodes)
        self.assertIn("# note: shared window: 8 of 24 faces cross nodes",
                      done.stdout)
        self.assertEqual([row["check"] for row in read_tsv(done.stdout)],
                         ["ok"], done.stdout + done.stderr)
        done = run_halo("--local=4", "--methods=shared window", *ONCE,
                        environment=two_nodes)
        self.assertEqual((done.returncode, read_tsv(done.stdout)), (0, []))
        self.assertIn("# note: no shared window", done.stdout)


class Time(unittest.TestCase):
    """With more ranks than processors and no time at all every row is there, from
    one sample at the least, and soon."""

    def test_oversubscribed(self):
        start_s = time.monotonic()
        rows = run(OPTIONS.launcher, 8, [OPTIONS.program, "--local=10,4x3x2",
                                         "--max-time=0.001"])[1]
        self.assertLess(time.monotonic() - start_s, 20.0)
        self.assertEqual([(row["method"], row["sync"], row["local"])
                          for row in rows],
                         [(method, sync, local) for method, sync in METHODS
                          for local in ("10x10x10", "4x3x2")])
        for row in rows:
            samples = int(row["samples"])
            self.assertGreaterEqual(samples, 1, row)
            self.assertIn(row["status"], ("ok", "budget"))
            self.assertGreater(number(row["latency_us"]), 0.0, row)
            if samples < 6:
                self.assertEqual((row["latency_lo_us"], row["latency_hi_us"],
                                  row["status"]), ("NA", "NA", "budget"))


class Checked(unittest.TestCase):
    """--check says the same of all rows."""

    def checked(self, wrong, *arguments, **how):
        done = run_halo("--check", "--warmup=0", *arguments, **how)
        rows = read_tsv(done.stdout)
        context = done.stdout[-1500:] + done.stderr
        self.assertTrue(rows, context)
        self.assertEqual(done.returncode, 1 if wrong else 0, context)
        for row in rows:
            self.assertEqual(row["check"], "FAIL" if wrong else "ok", row)
            # A sample is a swap then.
            self.assertEqual(row["nrep"], row["samples"])
            self.assertEqual(row["status"] == "FAIL", wrong, row)
        return rows

    def right(self, dims, ranks, samples, local):
        """All methods but the neighbourhood collective, whose data is as the
        library brings it: --check must say the same as a test of that alone."""
        others = ",".join(dict.fromkeys(
            method for method, _ in METHODS if method != "neighbor_alltoallw"))
        rows = self.checked(False, f"--dims={dims}", f"--samples={samples}",
                            f"--local={local}", "--methods=" + others,
                            ranks=ranks)
        self.assertEqual(len(pairs(rows)), len(METHODS) - (
            2 if ranks == 1 else 1))
        verdict = run_raw(OPTIONS.launcher, ranks,
                          [OPTIONS.neighbor_order] + dims.split("x")).stdout
        self.assertIn(verdict.strip(), ("right", "wrong"))
        self.checked(verdict.strip() == "wrong", f"--dims={dims}",
                     f"--samples={samples}", "--local=4,4x3x2",
                     "--methods=neighbor_alltoallw", ranks=ranks)


class Data(Checked):
    """Right data passes in every method; wrong data fails in every method,
    wherever it is."""

    def test_right(self):
        local = "4,5x3x2,1x7x3,6x1x2,1"
        self.right("1x1x1", 1, 5, local)
        for dims in ("2x1x1", "1x2x1", "1x1x2"):
            self.right(dims, 2, 20, local)

    def test_right_in_order(self):
        """Where neither direction of 1 or 2 processes has two different faces,
        the neighbourhood collective is right in every library."""
        self.checked(False, "--dims=3x1x1", "--samples=2", "--local=5x1x1",
                     ranks=3)

    def wrong_by_model(self, method, kind, ranks=2, local="4x3x2"):
        arguments = [f"--methods={method}", f"--local={local}", *ONCE[:1]]
        model = {"LD_PRELOAD": OPTIONS.model, "MODEL_RMA": 0, "MODEL_P2P": 0,
                 "MODEL_COLL": 0, kind: 1}
        self.checked(False, *arguments, ranks=ranks,
                     environment={**model, "MODEL_DATA": 1})
        # Of the six messages to each rank: all, or the fourth, fifth, sixth.
        every = (1, 4, 5, 6) if kind != "MODEL_COLL" else (1,)
        for number_of in every:
            self.checked(True, *arguments, ranks=ranks,
                         environment={**model, "MODEL_CORRUPT": 1,
                                      "MODEL_CORRUPT_EVERY": number_of})

    def test_wrong_put_get(self):
        self.wrong_by_model("put,get", "MODEL_RMA")

    def test_wrong_messages(self):
        self.wrong_by_model("isend/irecv types,isend/irecv packed", "MODEL_P2P")

    def test_wrong_persistent(self):
        self.wrong_by_model("persistent", "MODEL_P2P")

    def test_wrong_neighbor_alltoallw(self):
        self.wrong_by_model("neighbor_alltoallw", "MODEL_COLL", ranks=3,
                            local="5x1x1")

    def test_wrong_copies(self):
        """Where no MPI call carries a face: by a copy with a fault."""
        arguments = ["--local=4x3x5", "--samples=2"]
        packed, shared = "isend/irecv packed", "shared window"
        self.checked(False, f"--methods={packed},{shared}", *arguments,
                     program=OPTIONS.faulty)
        for face in range(6):
            for fault in ("value", "stale", "old", "box", "corner"):
                methods = packed if fault == "old" else f"{packed},{shared}"
                with self.subTest(face=face, fault=fault):
                    self.checked(True, f"--methods={methods}", *arguments,
                                 program=OPTIONS.faulty,
                                 environment={"FAULT_FACE": face,
                                              "FAULT": fault})


class Many(Checked):
    """More ranks than a machine may have processors: few samples."""

    def test_right(self):
        for dims, ranks, samples in (("3x1x1", 3, 2), ("2x2x1", 4, 2),
                                     ("1x5x1", 5, 1), ("1x2x3", 6, 1),
                                     ("2x2x2", 8, 1)):
            self.right(dims, ranks, samples, "4x3x2")


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="halo")
    parser.add_argument("--faulty", required=True, help="halo_faulty_copy")
    parser.add_argument("--neighbor-order", required=True,
                        help="neighbor_order")
    parser.add_argument("--model", required=True, help="libmodelmpi.so")
    parser.add_argument("--many", action="store_true",
                        help="the tests with many ranks, and only these")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    OPTIONS = parser.parse_args()
    OPTIONS.launcher = Launcher(OPTIONS.launcher)
    run_tests(["Many"] if OPTIONS.many else
              ["Usage", "Memory", "Rows", "Nodes", "Time", "Data"])


if __name__ == "__main__":
    main()
