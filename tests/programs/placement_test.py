# SPDX-License-Identifier: BSD-3-Clause
"""Whom ranks are paired with where a launcher deals them out over the nodes: with the other nodes'
ranks, and rows and notes name ranks of MPI_COMM_WORLD.

The even ranks are on one node and the odd ranks on another one, unless a test has others. The ranks by node are
then 0, 2, 4 ... 1, 3, 5 ...
"""

import re

from case import Case, each, in_full
from mpi_run import read_tsv

ONCE = ["--samples=2", "--warmup=0"]
MSGRATE_ONCE = ["-p", "1", "-c", "0", "-m", "3", *ONCE]

# The description of the job gathers the nodes' data: from the odd one to rank 0.
START_UP = (1, 0)


class Said:
    """A program's output: its rows, its notes, and who sent to whom, as pairs of ranks."""

    def __init__(self, done):
        assert done.returncode == 0, done.stdout + done.stderr
        self.rows = read_tsv(done.stdout)
        self.notes = [line for line in done.stdout.splitlines() if line.startswith("# note: ")]
        targets = re.findall("^targets of rank ([0-9]+):(.*)$", done.stderr, re.M)
        self.sent = {(int(rank), int(target)) for rank, line in targets
                     for target in line.split()} - {START_UP}

    def has(self, text):
        return f"# note: {text}" in self.notes

    def cells(self, column):
        return {row[column] for row in self.rows}


def both_ways(*pairs):
    """The pairs, each rank of which sends to the other one."""
    return {pair for a, b in pairs for pair in ((a, b), (b, a))} - {START_UP}


class PlacementCase(Case):
    def launched(self, program, *options, ranks=4, nodes="01010101", **environment):
        """Runs a program on such nodes."""
        return Said(self.start(program, *options, ranks=ranks, VIRTUAL_NODE_OF=nodes, MODEL_TARGETS=1, **environment))


# ---- two nodes: pairs are of an even rank and an odd one -----------------------------------------

class TwoNodes(PlacementCase):
    @each("patterns", ["put", *in_full("get"), "MPI Send"])
    def test_pingpong(self, patterns):
        found = self.launched("pingpong/pingpong", f"--patterns={patterns}", *ONCE,
                              "--arrangements=multiple,crossing", "--max-ndata=1", "--check")
        assert found.sent == both_ways((0, 1), (2, 3))
        assert found.cells("check") == {"ok"}
        for name in ("multiple", "crossing"):
            assert found.has(f"{name}: 100 % of the pairs cross nodes")

    def test_pingpong_single(self):
        """Of five ranks the last one is on the node of the first."""
        found = self.launched("pingpong/pingpong", "--patterns=MPI Send", *ONCE, "--max-ndata=1", ranks=5)
        assert found.sent == both_ways((0, 3))
        assert found.has("single: 100 % of the pairs cross nodes")

    @each("name", ["pairwise", "PSCW"])
    def test_syncbench(self, name):
        found = self.launched("syncbench/syncbench", f"--types={name}", "--inner=2", *ONCE, "--check")
        # The check puts a mark to the rank itself, and gets that of the rank it waits for: the partner.
        assert found.sent == both_ways((0, 1), (2, 3)) | {(rank, rank) for rank in range(4)}
        assert [row["check"] for row in found.rows] == ["ok"]
        assert found.has("100 % of the pairs cross nodes")

    def test_syncbench_ring(self):
        """Rings and grids are those of MPI_COMM_WORLD."""
        found = self.launched("syncbench/syncbench", "--types=ring", "--inner=2", *ONCE,
                              "--max-neighbours=2")
        assert found.sent == both_ways((0, 1), (1, 2), (2, 3), (3, 0))
        assert not any("cross nodes" in note for note in found.notes)

    def test_mpi_overhead(self):
        found = self.launched("mpi_overhead/mpi_overhead", "--all-pairs", "--both", "--max-time=0.05")
        assert found.sent == both_ways((0, 1), (2, 3))
        assert [row["pair"] for row in found.rows] == ["0", "2"] * 2
        assert found.has("100 % of the pairs cross nodes")
        assert not any("the reported pair" in note for note in found.notes)

    def test_mpi_overhead_on_one_node(self):
        """Rank 0's partner is on its node, since that has most of the ranks: 0, 2, 3 | 1."""
        found = self.launched("mpi_overhead/mpi_overhead", "--both", "--max-time=0.05", nodes="0100")
        assert found.sent == both_ways((0, 3), (2, 1))
        assert found.has("50 % of the pairs cross nodes")
        assert found.has("the reported pair, ranks 0 and 3, is on one node: use --all-pairs to report "
                         "every pair")

    @each("program, options", [
        ("msgrate", []), *in_full(*(("msgrate_rma", [f"--transfer={transfer}"]) for transfer in ("put", "get")))])
    def test_msgrate_single(self, program, options):
        """Of five ranks by node, 0, 2, 4, 1, 3, the last one rests."""
        found = self.launched(f"msgrate/{program}", *MSGRATE_ONCE, "--check", *options, ranks=5)
        assert found.cells("status") == {"ok"}
        assert found.has("single direction: rank 3 rests, since it has no partner")
        # Of 0, 2, 4 | 1, 3 each goes two places on: 0 to 4, 2 to 1, 4 to 3, 1 to 0, 3 to 2; and in
        # the single direction 0 to 4, 2 to 1. Posts go the other way.
        assert {frozenset(pair) for pair in found.sent | {START_UP}} == {
            frozenset(pair) for pair in ((0, 4), (2, 1), (4, 3), (1, 0), (3, 2))}
        assert found.cells("ppn") == {"2"}
        assert found.has("peers are 2 ranks apart, with ranks ordered by node: 80 % of them on other nodes, the most: "
                         "-n sets the distance"), found.notes
        assert found.has("single direction: 50 % of the pairs cross nodes")

    def test_msgrate(self):
        """The default puts all peers on the other node; another distance need not."""
        found = self.launched("msgrate/msgrate", *MSGRATE_ONCE)
        assert found.sent == both_ways((0, 1), (2, 3))
        assert found.has("peers are 2 ranks apart, with ranks ordered by node: 100 % of them on other nodes, the most: "
                         "-n sets the distance"), found.notes
        assert found.has("single direction: 100 % of the pairs cross nodes")
        found = self.launched("msgrate/msgrate", "-n", "1", *MSGRATE_ONCE)
        assert found.sent == {(0, 2), (2, 1), (1, 3), (3, 0), (0, 1), (2, 3)}
        assert found.has("peers are 1 ranks apart, with ranks ordered by node: 50 % of them on other "
                         "nodes"), found.notes

    def test_slowest_rank(self):
        """Of six ranks rank 2 is slow, which is in the second place; its partner, which waits for it,
        is rank 3, in the fifth."""
        found = self.launched("msgrate/msgrate", "-p", "1", "-c", "0", "-m", "9", "--samples=5", ranks=6,
                              MODEL_POST_US=20, DISTURB="10000:50", DISTURB_RANKS=2)
        row = found.rows[0]
        assert row["pattern"] == "single direction"
        assert row["slowest_rank"] in ("2", "3")


# ---- one node, or nodes that are filled one by one: pairs as by the numbers of ranks ---------------

MULTIPLE = ["--patterns=MPI Send", "--max-ndata=1", *ONCE, "--arrangements=multiple"]


class SameOrder(PlacementCase):
    def test_filled_nodes(self):
        found = self.launched("pingpong/pingpong", *MULTIPLE, nodes="0011")
        # The second node's lowest rank is 2 here.
        assert found.sent | {(2, 0)} == {(0, 2), (2, 0), (1, 3), (3, 1)}

    @each("program, options", [
        ("pingpong/pingpong", MULTIPLE),
        ("syncbench/syncbench", ["--types=pairwise", "--inner=2", *ONCE]),
        ("mpi_overhead/mpi_overhead", ["--both", "--max-time=0.05"]),
        ("msgrate/msgrate", ["-n", "2", *MSGRATE_ONCE])])
    def test_pairs(self, program, options):
        found = self.launched(program, *options, nodes="0000")
        assert found.sent == both_ways((0, 2), (1, 3))
        assert not any("cross nodes" in note or "between peers" in note for note in found.notes)

    def test_default_distance(self):
        found = self.launched("msgrate/msgrate", *MSGRATE_ONCE, nodes="0000")
        assert found.cells("ppn") == {"1"}
