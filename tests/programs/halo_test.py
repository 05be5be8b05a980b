# SPDX-License-Identifier: BSD-3-Clause
"""halo as a user runs it: wrong usage, the rows that were asked for, data checks in grids with few
processes in a direction, shared memory."""

import re

from case import Case, each, in_full, many, real
from mounts import with_small_fs
from mpi_run import (WHOLE, assert_checked, assert_of_samples, assert_without_time, read_tsv, run, run_and_dump, run_raw)

METHODS = [("put", "all"), ("put", "images"), ("get", "all"), ("get", "images"),
           ("isend/irecv types", "none"), ("isend/irecv packed", "none"), ("persistent", "none"),
           ("neighbor_alltoallw", "none"), ("shared window", "none")]
ONCE = ["--samples=1", "--warmup=0"]
PROGRAM = "halo/halo"
FAULTY = "tests/programs/halo_faulty_copy"


def ndata(local):
    a, b, c = (int(extent) for extent in local.split("x"))
    return 2 * (a * b + b * c + a * c)


def pairs(rows):
    return list(dict.fromkeys((row["method"], row["sync"]) for row in rows))


def boxes(rows):
    return [row["local"] for row in rows]


class HaloCase(Case):
    def run_halo(self, *options, ranks=2, environment=None, program=PROGRAM):
        """Runs halo, or a variant of it, and waits for its end."""
        return run_raw(self.launcher, ranks, [self.built(program), *options, *WHOLE], environment)


# ---- usage ---------------------------------------------------------------------------------------

class Usage(HaloCase):
    def test_small_shm(self):
        """Boxes that don't fit into /dev/shm are left out of the defaults, and refused if the user asks for them; the
        size that the error suggests works."""
        small = self.launcher.behind(with_small_fs("/dev/shm", 64 << 10))
        quick = [self.built(PROGRAM), "--methods=put", "--coarray-sync=all", *ONCE]
        done = run_raw(small, 2, [*quick, *WHOLE])
        assert done.returncode == 0, done.stderr
        assert boxes(read_tsv(done.stdout)) == ["10x10x10", "50x50x50", "100x100x100"]
        assert "# local: 10,50,100\n" in done.stdout
        note = re.search("# note: no boxes of 150: .* use at most ([0-9]+)x[0-9]+x[0-9]+\n",
                         done.stdout)
        assert note is not None, done.stdout
        done = run_raw(small, 2, [*quick, "--local=10,150"])
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert "halo: --local: 150x150x150 needs" in done.stderr
        most = re.search("use at most ([0-9]+)x", done.stderr).group(1)
        assert most == note.group(1)
        assert boxes(run(small, 2, [*quick, "--local=" + most])[1]) == [f"{most}x{most}x{most}"]
        # Without windows, more boxes fit.
        assert len(run(small, 2, [self.built(PROGRAM), "--methods=persistent", *ONCE])[1]) == 4


# ---- rows ----------------------------------------------------------------------------------------

class Rows(HaloCase):
    def test_all_methods(self):
        rows, samples = run_and_dump(self.launcher, 2, [self.built(PROGRAM), "--local=10,4x5x6,1", "--samples=3",
                                                        "--warmup=0"])
        assert pairs(rows) == METHODS
        assert boxes(rows) == ["10x10x10", "4x5x6", "1x1x1"] * len(METHODS)
        for row, samples_ns in zip(rows, samples):
            assert row["dims"] == "2x1x1"
            assert int(row["ndata"]) == ndata(row["local"])
            assert_of_samples(row, samples_ns, ndata(row["local"]))

    @each("options, expected", [
        (["--methods=persistent,put", "--coarray-sync=images"],
         [("put", "images"), ("persistent", "none")]),
        (["--methods=Isend/Irecv-types"], [("isend/irecv types", "none")]),
        (["--coarray-sync=all"], [pair for pair in METHODS if pair[1] != "images"])])
    def test_choices(self, options, expected):
        assert pairs(read_tsv(self.run_halo("--local=3", *ONCE, *options).stdout)) == expected

    @each("asked, ranks, found", [
        ("1x2x1", 2, "1x2x1"), ("0x0x2", 2, "1x1x2"), ("0x0x0", 4, "2x2x1")])
    def test_dims(self, asked, ranks, found):
        done = self.run_halo("--local=3", "--methods=persistent", f"--dims={asked}", *ONCE, ranks=ranks)
        assert [row["dims"] for row in read_tsv(done.stdout)] == [found], done.stderr

    def test_no_time(self):
        """Every row is there, from one sample or more."""
        rows = self.rows_of(PROGRAM, "--local=10,4x3x2", "--max-time=0.001", ranks=4)
        assert [(row["method"], row["sync"], row["local"]) for row in rows] == [
            (*pair, local) for pair in METHODS for local in ("10x10x10", "4x3x2")]
        for row in rows:
            assert_without_time(row)


# ---- the notes of the shared window --------------------------------------------------------------

# The message of all programs to a process that is a job of its own.
ALONE = ("it needs at least 2 processes, got 1: use mpirun -np 2 or more (if you did, mpirun is of another MPI library "
         "than this program)")


class SharedWindow(HaloCase):
    def test_one_node(self):
        done = self.run_halo("--local=3", *ONCE)
        assert "# note: shared window: all faces stay on their node" in done.stdout

    def test_alone(self):
        done = self.run_halo("--local=3", *ONCE, ranks=1)
        assert pairs(read_tsv(done.stdout)) == METHODS[:-1]
        assert f"# note: no shared window: {ALONE}\n" in done.stdout
        self.refused_alone(ALONE, ranks=1)

    def refused_alone(self, why, **how):
        """Refused, since no other method was asked for."""
        done = self.run_halo("--local=4", "--methods=shared window", *ONCE, **how)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"halo: --methods: shared window: {why}: use " in done.stderr

    @real
    def test_two_nodes(self):
        if self.launcher.is_openmpi:
            self.skipTest("only MPICH can place ranks of one machine on two nodes")
        two_nodes = {"MPIR_CVAR_ODD_EVEN_CLIQUES": 1}
        done = self.run_halo("--local=4x3x2", "--dims=2x2x1", "--check", "--methods=shared window", *ONCE,
                             ranks=4, environment=two_nodes)
        assert "# note: shared window: 8 of 24 faces cross nodes" in done.stdout
        assert "# note: nodes are counted by shared memory: 2 nodes, host names: 1" in done.stdout
        assert [row["check"] for row in read_tsv(done.stdout)] == ["ok"], done.stdout + done.stderr
        self.refused_alone("no process shares a node with a neighbour", ranks=2, environment=two_nodes)


# ---- faces that the MPI library mixes up ---------------------------------------------------------

@real
class Faces(HaloCase):
    ONE = ["--check", "--local=2", "--methods=neighbor_alltoallw", *ONCE]

    def notes(self, program, *options):
        """Returns the exit status, 1 for wrong data, and the notes without their end."""
        done = self.run_halo(*self.ONE, *options, program=program)
        return done.returncode, re.findall("# note: (.*): this MPI library mixes up opposite faces", done.stdout)

    def test_notes(self):
        """Noted if --check finds wrong data; in overlap_halo also of the blocking counterpart."""
        wrong, notes = self.notes(PROGRAM, "--dims=2x1x1")
        assert notes == wrong * ["neighbor_alltoallw"]
        wrong_in_parts, in_parts = self.notes("overlap/overlap_halo", "--no-blocking")
        assert in_parts == wrong_in_parts * ["neighbor_alltoallw"]
        _, notes = self.notes("overlap/overlap_halo")
        assert notes == in_parts + wrong * ["blocking neighbor_alltoallw"]


# ---- --check: right data passes in every method; wrong data fails, wherever it is ----------------

PACKED, SHARED = "--methods=isend/irecv packed", "--methods=isend/irecv packed,shared window"


class Check(HaloCase):
    def checked(self, wrong, *options, **how):
        """The rows of a run whose data must all be right, or all be wrong."""
        return assert_checked(self.run_halo("--check", "--warmup=0", *options, **how), wrong)

    def all_right(self, dims, ranks, samples, local):
        """All methods pass; the neighbourhood collective of the model, since MPICH's mixes up faces."""
        others = ",".join(dict.fromkeys(method for method, _ in METHODS
                                        if self.launcher.virtual or method != "neighbor_alltoallw"))
        visits = "--visits=2" if dims == "2x1x1" else "--visits=1"
        rows = self.checked(False, f"--dims={dims}", f"--samples={samples}", visits, f"--local={local}",
                            "--methods=" + others, ranks=ranks)
        assert len(pairs(rows)) == len(METHODS) - (ranks == 1) - (not self.launcher.virtual)

    @each("dims, ranks, samples", [
        ("1x1x1", 1, 5), ("1x2x1", 2, 20), ("1x1x2", 2, 20),
        *in_full(("2x1x1", 2, 20))])
    def test_right(self, dims, ranks, samples):
        self.all_right(dims, ranks, samples, "4,5x3x2,1x7x3,6x1x2,1")

    @many
    @each("dims, ranks, samples", [
        ("3x1x1", 3, 2), ("2x2x1", 4, 2), ("1x5x1", 5, 1), ("1x2x3", 6, 1), ("2x2x2", 8, 1)])
    def test_many(self, dims, ranks, samples):
        """More ranks than a machine may have processors: few samples."""
        self.all_right(dims, ranks, samples, "4x3x2")

    def test_right_in_order(self):
        """If, in each direction with 1 or 2 processes, both faces hold the same values, a mix-up can't show: the
        neighbourhood collective of every library passes."""
        self.checked(False, "--dims=3x1x1", "--samples=2", "--local=5x1x1", ranks=3)

    @each("methods, kind, ranks, local", [
        ("put,get", "MODEL_RMA", 2, "4x3x2"),
        ("isend/irecv types,isend/irecv packed", "MODEL_P2P", 2, "4x3x2"),
        ("persistent", "MODEL_P2P", 2, "4x3x2"),
        ("neighbor_alltoallw", "MODEL_COLL", 3, "5x1x1")])
    def test_wrong(self, methods, kind, ranks, local):
        options = [f"--methods={methods}", f"--local={local}", "--samples=1"]
        variables = {"MODEL_RMA": 0, "MODEL_P2P": 0, "MODEL_COLL": 0, kind: 1}
        self.checked(False, *options, ranks=ranks, environment={**variables, "MODEL_DATA": 1})
        # Of the six messages to each rank: all, or the fourth, fifth, sixth.
        for every in (1, 4, 5, 6) if kind != "MODEL_COLL" else (1,):
            self.checked(True, *options, ranks=ranks, environment={
                **variables, "MODEL_CORRUPT": 1, "MODEL_CORRUPT_EVERY": every})

    def test_right_copies(self):
        """The program with faulty copies, without a fault."""
        self.checked(False, SHARED, "--local=4x3x5", "--samples=2", program=FAULTY)

    @each("fault", ["value", "stale", "old", "box", "corner"])
    @each("face", range(6))
    def test_wrong_copies(self, face, fault):
        """Faulty copies, of packing and in shared memory, are detected."""
        self.checked(True, PACKED if fault == "old" else SHARED, "--local=4x3x5", "--samples=2",
                     program=FAULTY, environment={"FAULT_FACE": face, "FAULT": fault})
