#!/usr/bin/env python3
"""Whom ranks are paired with where a launcher deals them out over the nodes: with the
other nodes' ranks, and rows and notes name ranks of MPI_COMM_WORLD.

The nodes are made up by targets.c: the even ranks are one and the odd ones another, unless
a test says otherwise. The ranks by node are then 0, 2, 4 ... 1, 3, 5 ..."""

import argparse
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import Launcher, read_tsv, run_raw  # noqa: E402
from run_tests import run_tests  # noqa: E402

ONCE = ["--samples=2", "--warmup=0"]

# The description of the job brings together what nodes say: from the odd one to rank 0.
START_UP = (1, 0)

OPTIONS = None


class Launched:
    """What a program said: its rows, its notes, and who sent to whom, as pairs of
    ranks."""

    def __init__(self, program, *arguments, ranks=4, nodes="01010101", **environment):
        environment.update(LD_PRELOAD=OPTIONS.targets, NODES=nodes)
        done = run_raw(OPTIONS.launcher, ranks,
                       [os.path.join(OPTIONS.binaries, program), *arguments], environment)
        assert done.returncode == 0, done.stdout + done.stderr
        self.rows = read_tsv(done.stdout)
        self.notes = [line for line in done.stdout.splitlines()
                      if line.startswith("# note: ")]
        self.sent = {(int(rank), int(target)) for rank, targets in re.findall(
            "^targets of rank ([0-9]+):(.*)$", done.stderr, re.M)
                     for target in targets.split()} - {START_UP}

    def has(self, text):
        return f"# note: {text}" in self.notes


def both_ways(*pairs):
    """The pairs, each rank of which sends to the other one."""
    return {pair for a, b in pairs for pair in ((a, b), (b, a))} - {START_UP}


class TwoNodes(unittest.TestCase):
    """Pairs are of an even rank and an odd one."""

    def test_pingpong(self):
        for patterns in ("put", "get", "MPI Send"):
            found = Launched("pingpong/pingpong", f"--patterns={patterns}", *ONCE,
                             "--arrangements=multiple,crossing", "--max-ndata=1", "--check")
            self.assertEqual(found.sent, both_ways((0, 1), (2, 3)))
            self.assertEqual({row["check"] for row in found.rows}, {"ok"})
            for name in ("multiple", "crossing"):
                self.assertTrue(found.has(f"{name}: 100 % of the pairs cross nodes"))

    def test_pingpong_single(self):
        """Of five ranks the last one is on the node of the first."""
        found = Launched("pingpong/pingpong", "--patterns=MPI Send", *ONCE,
                         "--max-ndata=1", ranks=5)
        self.assertEqual(found.sent, both_ways((0, 3)))
        self.assertTrue(found.has("single: 100 % of the pairs cross nodes"))

    def test_syncbench(self):
        for name in ("pairwise", "PSCW"):
            found = Launched("syncbench/syncbench", f"--types={name}", "--inner=2", *ONCE,
                             "--check")
            # The check puts to those who wait for this rank: the partner.
            self.assertEqual(found.sent, both_ways((0, 1), (2, 3)))
            self.assertEqual([row["check"] for row in found.rows], ["ok"])
            self.assertTrue(found.has("100 % of the pairs cross nodes"))

    def test_syncbench_ring(self):
        """Rings and grids are those of MPI_COMM_WORLD."""
        found = Launched("syncbench/syncbench", "--types=ring", "--inner=2", *ONCE,
                         "--max-neighbours=2")
        self.assertEqual(found.sent, both_ways((0, 1), (1, 2), (2, 3), (3, 0)))
        self.assertFalse(any("cross nodes" in note for note in found.notes))

    def test_mpi_overhead(self):
        found = Launched("mpi_overhead/mpi_overhead", "--all-pairs", "--both",
                         "--max-time=0.05")
        self.assertEqual(found.sent, both_ways((0, 1), (2, 3)))
        self.assertEqual([row["pair"] for row in found.rows], ["0", "2"] * 2)
        self.assertTrue(found.has("100 % of the pairs cross nodes"))
        self.assertFalse(any("the reported pair" in note for note in found.notes))

    def test_mpi_overhead_on_one_node(self):
        """Rank 0's partner is on its node, since that has most of the ranks: 0, 2, 3 | 1."""
        found = Launched("mpi_overhead/mpi_overhead", "--both", "--max-time=0.05",
                         nodes="0100")
        self.assertEqual(found.sent, both_ways((0, 3), (2, 1)))
        self.assertTrue(found.has("50 % of the pairs cross nodes"))
        self.assertTrue(found.has("the reported pair, ranks 0 and 3, is on one node: "
                                  "--all-pairs reports all of them"))

    def test_msgrate_single(self):
        """Of five ranks by node, 0, 2, 4, 1, 3, the last one rests."""
        for program, check in (("msgrate", []), ("msgrate_rma", ["--transfer=get"]),
                               ("msgrate_rma", ["--transfer=put"])):
            found = Launched(f"msgrate/{program}", "-p", "1", "-c", "0", "-m", "3", *ONCE,
                             "--check", *check, ranks=5)
            self.assertEqual({row["status"] for row in found.rows}, {"ok"})
            self.assertTrue(found.has("single direction: rank 3 rests and doesn't count, "
                                      "for want of a partner"))
            # Of 0, 2, 4 | 1, 3 each goes two places on: 0 to 4, 2 to 1, 4 to 3, 1 to 0,
            # 3 to 2; and in the single direction 0 to 4, 2 to 1. Posts go the other way.
            self.assertEqual({frozenset(pair) for pair in found.sent | {START_UP}},
                             {frozenset(pair) for pair in (
                                 (0, 4), (2, 1), (4, 3), (1, 0), (3, 2))})
            self.assertEqual({row["ppn"] for row in found.rows}, {"2"})
            self.assertTrue(found.has("distance between peers, ranks ordered by node: 2, "
                                      "the smallest that puts the most of them, 80 %, on "
                                      "other nodes (-n sets it)"), found.notes)
            self.assertTrue(found.has("single direction: 50 % of the pairs cross nodes"))

    def test_msgrate(self):
        """The default puts all peers on the other node; another distance need not."""
        found = Launched("msgrate/msgrate", "-p", "1", "-c", "0", "-m", "3", *ONCE)
        self.assertEqual(found.sent, both_ways((0, 1), (2, 3)))
        self.assertTrue(found.has("distance between peers, ranks ordered by node: 2, the "
                                  "smallest that puts the most of them, 100 %, on other "
                                  "nodes (-n sets it)"), found.notes)
        self.assertTrue(found.has("single direction: 100 % of the pairs cross nodes"))
        found = Launched("msgrate/msgrate", "-p", "1", "-n", "1", "-c", "0", "-m", "3", *ONCE)
        self.assertEqual(found.sent, {(0, 2), (2, 1), (1, 3), (3, 0), (0, 1), (2, 3)})
        self.assertTrue(found.has("distance between peers, ranks ordered by node: 1, which "
                                  "puts 50 % of them on other nodes"), found.notes)

    def test_slowest_rank(self):
        """Of six ranks rank 2 is slow, which is in the second place; its partner, which
        waits for it, is rank 3, in the fifth."""
        found = Launched("msgrate/msgrate", "-p", "1", "-c", "0", "-m", "1", "--samples=5",
                         ranks=6, SLOW_RANK=2)
        row = found.rows[0]
        self.assertEqual(row["pattern"], "single direction")
        self.assertIn(row["slowest_rank"], ("2", "3"))


class SameOrder(unittest.TestCase):
    """Where there is one node, or nodes are filled one by one, nothing changes."""

    def test_filled_nodes(self):
        found = Launched("pingpong/pingpong", "--patterns=MPI Send", "--max-ndata=1", *ONCE,
                         "--arrangements=multiple", nodes="0011")
        # The second node's lowest rank is 2 here.
        self.assertEqual(found.sent | {(2, 0)}, {(0, 2), (2, 0), (1, 3), (3, 1)})

    def test_pairs(self):
        for program, arguments in (
                ("pingpong/pingpong", ["--patterns=MPI Send", "--max-ndata=1",
                                       "--arrangements=multiple", *ONCE]),
                ("syncbench/syncbench", ["--types=pairwise", "--inner=2", *ONCE]),
                ("mpi_overhead/mpi_overhead", ["--both", "--max-time=0.05"]),
                ("msgrate/msgrate", ["-p", "1", "-n", "2", "-c", "0", "-m", "3", *ONCE])):
            found = Launched(program, *arguments, nodes="0000")
            self.assertEqual(found.sent, both_ways((0, 2), (1, 3)), program)
            self.assertFalse(any("cross nodes" in note or "between peers" in note
                                 for note in found.notes), found.notes)

    def test_default_distance(self):
        found = Launched("msgrate/msgrate", "-p", "1", "-c", "0", "-m", "3", *ONCE,
                         nodes="0000")
        self.assertEqual({row["ppn"] for row in found.rows}, {"1"})


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binaries", required=True, help="the build folder")
    parser.add_argument("--targets", required=True, help="libtargets.so")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    OPTIONS = parser.parse_args()
    OPTIONS.launcher = Launcher(OPTIONS.launcher)
    run_tests()


if __name__ == "__main__":
    main()
