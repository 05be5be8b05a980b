# SPDX-License-Identifier: BSD-3-Clause
"""syncbench as a user runs it: wrong usage, the rows that were asked for, the specified formula,
synchronisations that don't synchronise."""

import re
import statistics

from case import Case, each, many, within
from mpi_run import number, read, read_tsv

ANYWHERE = ["sync all", "MPI barrier", "pairwise", "lock", "critical", "ibarrier",
            "allreduce 0 bytes", "allreduce 1 byte", "fence", "PSCW", "lock_all+flush"]
QUICK = ["--samples=3", "--inner=8", "--warmup=0"]
PROGRAM = "syncbench/syncbench"


# ---- usage ---------------------------------------------------------------------------------------

class Usage(Case):
    @each("options, named", [
        (["--types=ring,3d grid"], "--types: 3D grid needs"),
        (["--outer=5", "--samples=7"], "--outer: 5")])
    def test_combinations(self, options, named):
        self.refused(PROGRAM, *options, named=named)


# ---- intervals -----------------------------------------------------------------------------------

class Intervals(Case):
    @each("inner", [1, 4])
    def test_interval_has_a_reading(self, inner):
        """It ends a reading of the clock, over the repetitions, beyond that of the samples, which so
        many make some ns narrow."""
        done = self.start(PROGRAM, "--types=MPI barrier", f"--inner={inner}", "--visits=1", "--samples=2000",
                          MODEL_BARRIER_US="2")
        row, = read_tsv(done.stdout)
        reading_ns = float(re.search("(?m)^# clock_cost_ns: (.*)$", done.stdout)[1]) / inner
        value, low, high = (1e3 * number(row[name]) for name in ("sync_us", "sync_lo_us", "sync_hi_us"))
        assert min(value - low, high - value) > reading_ns - 0.3
        assert max(value - low, high - value) < 1.5 * reading_ns + 5


# ---- rows ----------------------------------------------------------------------------------------

class Rows(Case):
    def test_two_ranks(self):
        done = self.start(PROGRAM, *QUICK)
        rows = read_tsv(done.stdout)
        assert done.returncode == 0, done.stderr
        assert [row["sync"] for row in rows] == ANYWHERE
        for name in ("random", "ring", "3D grid"):
            assert f"# note: no {name}: it needs" in done.stdout
        neighbours = {"lock": "NA", "critical": "NA", "lock_all+flush": "0"}
        for row in rows:
            names = ("ranks", "inner", "outer", "samples", "status", "check", "neighbours")
            assert [row[name] for name in names] == [
                "2", "8", "3", "3", "ok", "off", neighbours.get(row["sync"], "1")]

    def test_window(self):
        """The metadata have the start; no row is lost if starts are missed, and a warning
        reports it."""
        quick = [*QUICK, "--types=sync all,MPI barrier"]
        barrier = self.start(PROGRAM, *quick).stdout
        assert "# start: barrier\n" in barrier
        assert "global_clock" not in barrier
        for ranks in (2, 4):
            done = self.start(PROGRAM, *quick, "--start=window", ranks=ranks)
            assert done.returncode == 0, done.stderr
            for line in ("# start: window\n", "# global_clock: rank 0's", "# global_clock_error_us: "):
                assert line in done.stdout
            assert re.search("# note: a rank was late in [0-9]+ of [0-9]+ rounds", done.stdout)
            # Without oversubscription that depends on what else runs.
            assert "a rank started late" in done.stdout or "# warning: oversubscribed" not in done.stdout
            assert [(row["sync"], row["samples"]) for row in read_tsv(done.stdout)] == [
                ("sync all", "3"), ("MPI barrier", "3")]

    def test_rings_and_grid(self):
        options = ["--types=random,ring,3D grid", "--samples=2", "--inner=1", "--warmup=0"]
        rows = self.rows_of(PROGRAM, *options, ranks=8)
        assert [(row["sync"], row["neighbours"]) for row in rows] == [
            (name, n) for name in ("random", "ring") for n in "246"] + [("3D grid", "3")]
        rows = self.rows_of(PROGRAM, *options, "--max-neighbours=5", ranks=8)
        assert [row["neighbours"] for row in rows] == ["2", "4", "2", "4", "3"]

    def test_seed(self):
        done = self.start(PROGRAM, "--types=lock", "--seed=99", *QUICK)
        assert "random neighbours: seed 99" in done.stdout
        assert "# seed: 99" in done.stdout

    def test_turns_are_shared(self):
        """The repetitions of a lock are divided among the ranks."""
        row, = self.rows_of(PROGRAM, "--types=lock", "--inner=7", "--samples=2")
        assert row["inner"] == "6"


# ---- --estimator=mean: the specification's formula, from the samples -----------------------------

class Mean(Case):
    def test_formula(self):
        dump = self.folder / "samples.tsv"
        row, = self.rows_of(PROGRAM, "--estimator=mean", "--types=MPI barrier", f"--dump-samples={dump}")
        samples = read_tsv(read(dump))
        loop, reference = ([float(sample["value_ns"]) / 1e3 for sample in samples
                            if sample["quantity"] == name] for name in ("loop", "reference"))
        assert (row["inner"], row["outer"], len(loop)) == ("200", "100", 100)
        mean = statistics.mean(loop) - statistics.mean(reference)
        sds = statistics.stdev(loop), statistics.stdev(reference)
        for name, value in (("sync_us", mean), ("loop_sd_us", sds[0]), ("ref_sd_us", sds[1]),
                            ("sync_lo_us", mean - 1.96 * sum(sds)),
                            ("sync_hi_us", mean + 1.96 * sum(sds))):
            # The file has a tenth of a nanosecond.
            assert number(row[name]) == within(value, 0.0005), name
        assert int(row["outliers"]) == sum(abs(value - statistics.mean(loop)) > 3 * sds[0]
                                           for value in loop)

    def test_counts(self):
        row, = self.rows_of(PROGRAM, "--estimator=mean", "--types=pairwise", "--outer=7", "--inner=30")
        assert (row["inner"], row["outer"]) == ("30", "7")


# ---- --check: what synchronises passes, what doesn't fails ---------------------------------------

def assert_verdict(done, expected):
    """All rows have it, except those that promise nothing."""
    rows = read_tsv(done.stdout)
    assert rows, done.stderr
    for row in rows:
        promises = row["sync"] not in ("lock_all+flush", "allreduce 0 bytes")
        assert row["check"] == (expected if promises else "NA"), row
    assert done.returncode == (1 if expected == "FAIL" else 0)


def lazy(built, function):
    """The variables with which this function doesn't wait, in virtual time: who comes first is known."""
    return {"LD_PRELOAD": built("tests/programs/liblazysync.so"), "LAZY": function, "MODEL_SYNC_US": "0.1"}


class Check(Case):
    def test_right(self):
        assert_verdict(self.start(PROGRAM, "--check", *QUICK), "ok")

    @each("function, types", [
        ("barrier", "sync all,MPI barrier"), ("ibarrier", "ibarrier"),
        ("allreduce", "allreduce 1 byte"), ("fence", "fence"), ("pscw", "PSCW"),
        ("images", "pairwise"), ("lock", "lock"), ("atomics", "critical")])
    def test_lazy(self, function, types):
        done = self.start(PROGRAM, "--check", f"--types={types}", *QUICK, **lazy(self.built, function))
        assert_verdict(done, "FAIL")

    def test_what_need_not_wait(self):
        """An allreduce of no bytes may let ranks out: a note reports it, checked or not."""
        done = self.start(PROGRAM, "--types=allreduce 0 bytes", *QUICK, **lazy(self.built, "allreduce"))
        assert done.returncode == 0, done.stderr
        assert "# note: allreduce 0 bytes: ranks don't wait" in done.stdout

    @many
    def test_many(self):
        """Neighbours of rings and grids: more ranks than a machine may have processors, and few
        repetitions."""
        assert_verdict(self.start(PROGRAM, "--check", "--types=random,ring,3D grid,pairwise,lock,critical",
                                    "--max-neighbours=4", "--samples=1", "--inner=1", "--warmup=0",
                                    ranks=8), "ok")
