"""syncbench as a user runs it: wrong usage, the rows that were asked for, the specified formula,
synchronisations that don't synchronise."""

import re
import statistics

import pytest

from mpi_run import number, read, read_tsv

ANYWHERE = ["sync all", "MPI barrier", "pairwise", "lock", "critical", "ibarrier",
            "allreduce 0 bytes", "allreduce 1 byte", "fence", "PSCW", "lock_all+flush"]
QUICK = ["--samples=3", "--inner=8", "--warmup=0"]
PROGRAM = "syncbench/syncbench"


# ---- usage ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("option, values", [
    ("--types", ("barriers", "", "lock,,fence")), ("--delay", ("", "x", "-1", "1e3", "2048G")),
    ("--inner", ("0", "-1")), ("--outer", ("0", "x")), ("--max-neighbours", ("0", "1", "1M")),
    ("--seed", ("-1", "x")), ("--start", ("window,barrier", ""))])
def test_usage(refused, launcher, option, values):
    # Open MPI's launcher takes seconds to end a job that failed.
    for value in values[:1 if launcher.is_openmpi else None]:
        refused(PROGRAM, f"{option}={value}", named=option)


@pytest.mark.parametrize("options, named", [
    (["--types=ring,3d grid"], "--types: 3D grid needs"),
    (["--outer=5", "--samples=7"], "--outer: 5")])
def test_combinations(refused, options, named):
    refused(PROGRAM, *options, named=named)


# ---- intervals -----------------------------------------------------------------------------------

@pytest.mark.parametrize("inner", [1, 4])
def test_interval_has_a_reading(start, model, inner):
    """It ends a reading of the clock, over the repetitions, beyond that of the samples, which so
    many make some ns narrow."""
    done = start(PROGRAM, "--types=MPI barrier", f"--inner={inner}", "--visits=1", "--samples=2000",
                 LD_PRELOAD=model, MODEL_SYNC_COLL="1", MODEL_BARRIER_US="2")
    row, = read_tsv(done.stdout)
    reading_ns = float(re.search("(?m)^# clock_cost_ns: (.*)$", done.stdout)[1]) / inner
    value, low, high = (1e3 * number(row[name]) for name in ("sync_us", "sync_lo_us", "sync_hi_us"))
    assert min(value - low, high - value) > reading_ns - 0.3
    assert max(value - low, high - value) < 1.5 * reading_ns + 5


# ---- rows ----------------------------------------------------------------------------------------

def test_two_ranks(own):
    done = own(*QUICK)
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


def test_window(own):
    """The metadata say which start it was; no row is lost where starts are missed, and a warning
    says so."""
    quick = [*QUICK, "--types=sync all,MPI barrier"]
    barrier = own(*quick).stdout
    assert "# start: barrier\n" in barrier
    assert "global_clock" not in barrier
    for ranks in (2, 4):
        done = own(*quick, "--start=window", ranks=ranks)
        assert done.returncode == 0, done.stderr
        for line in ("# start: window\n", "# global_clock: rank 0's", "# global_clock_error_us: "):
            assert line in done.stdout
        assert re.search("# note: in [0-9]+ of [0-9]+ rounds a rank was late", done.stdout)
        oversubscribed = "# warning: oversubscribed" in done.stdout
        assert ("a rank started late" in done.stdout) == oversubscribed
        assert [(row["sync"], row["samples"]) for row in read_tsv(done.stdout)] == [
            ("sync all", "3"), ("MPI barrier", "3")]


def test_rings_and_grid(own_rows):
    options = ["--types=random,ring,3D grid", "--samples=2", "--inner=1", "--warmup=0"]
    rows = own_rows(*options, ranks=8)
    assert [(row["sync"], row["neighbours"]) for row in rows] == [
        (name, n) for name in ("random", "ring") for n in "246"] + [("3D grid", "3")]
    rows = own_rows(*options, "--max-neighbours=5", ranks=8)
    assert [row["neighbours"] for row in rows] == ["2", "4", "2", "4", "3"]


def test_seed(own):
    done = own("--types=lock", "--seed=99", *QUICK)
    assert "random neighbours from seed 99" in done.stdout
    assert "# seed: 99" in done.stdout


def test_turns_are_shared(own_rows):
    """The repetitions of a lock are divided among the ranks."""
    row, = own_rows("--types=lock", "--inner=7", "--samples=2")
    assert row["inner"] == "6"


@pytest.mark.parametrize("name", ["MPI barrier", "lock"])
def test_delay(own_rows, name):
    """A delay is in the loop and in the reference, not in the result; where ranks take turns it is
    inside: two ranks' delays don't overlap."""
    short, = own_rows(f"--types={name}", "--delay=0", "--samples=50", "--visits=1")
    long, = own_rows(f"--types={name}", "--delay=20K", "--samples=50", "--visits=1")
    reference_us = number(long["ref_us"])
    assert number(short["ref_us"]) < 0.05
    assert reference_us > 5
    assert number(long["loop_us"]) - reference_us == pytest.approx(number(short["loop_us"]),
                                                                   abs=0.3 * reference_us)


# ---- --estimator=mean: the specification's formula, from the samples -----------------------------

def test_formula(own_rows, tmp_path):
    dump = tmp_path / "samples.tsv"
    row, = own_rows("--estimator=mean", "--types=MPI barrier", f"--dump-samples={dump}")
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
        assert number(row[name]) == pytest.approx(value, abs=0.0005), name
    assert int(row["outliers"]) == sum(abs(value - statistics.mean(loop)) > 3 * sds[0]
                                       for value in loop)


def test_counts(own_rows):
    row, = own_rows("--estimator=mean", "--types=pairwise", "--outer=7", "--inner=30")
    assert (row["inner"], row["outer"]) == ("30", "7")


# ---- --check: what synchronises passes, what doesn't fails ---------------------------------------

def assert_verdict(done, expected):
    """All rows have it, but for those that promise nothing."""
    rows = read_tsv(done.stdout)
    assert rows, done.stderr
    for row in rows:
        promises = row["sync"] not in ("lock_all+flush", "allreduce 0 bytes")
        assert row["check"] == (expected if promises else "NA"), row
    assert done.returncode == (1 if expected == "FAIL" else 0)


def lazy(built, function):
    """The variables with which this function doesn't wait."""
    return {"LD_PRELOAD": built("tests/end_to_end/liblazysync.so"), "LAZY": function}


def test_right(own):
    assert_verdict(own("--check", *QUICK), "ok")


@pytest.mark.parametrize("function, types", [
    ("barrier", "sync all,MPI barrier"), ("ibarrier", "ibarrier"),
    ("allreduce", "allreduce 1 byte"), ("fence", "fence"), ("pscw", "PSCW"),
    ("images", "pairwise"), ("lock", "lock"), ("atomics", "critical")])
def test_lazy(own, built, function, types):
    done = own("--check", f"--types={types}", *QUICK, **lazy(built, function))
    assert_verdict(done, "FAIL")


def test_what_need_not_wait(own, built):
    """An allreduce of no bytes may let ranks out: a note says so, checked or not."""
    done = own("--types=allreduce 0 bytes", *QUICK, **lazy(built, "allreduce"))
    assert done.returncode == 0, done.stderr
    assert "# note: allreduce 0 bytes: no synchronisation" in done.stdout


@pytest.mark.many
def test_many(own):
    """Neighbours of rings and grids: more ranks than a machine may have processors, and few
    repetitions."""
    assert_verdict(own("--check", "--types=random,ring,3D grid,pairwise,lock,critical",
                       "--max-neighbours=4", "--samples=1", "--inner=1", "--warmup=0",
                       ranks=8), "ok")
