"""Does bench_compare alarm when nothing changed, and notice a slowdown of 10 %? And does the
interval of a summary hold for the next launches?

Without a change: launches of the same programs, one after the other, of which every second one is a
side's. In windows that don't overlap, of 10 launches a side, nothing may be called slower or
faster. And in 1,000 windows anywhere in the sequence, to which drift and jumps of the machine are
added that go on through both sides, as they would, at most 1 % of the calls may alarm; as many with
--threshold=0, where the test alone decides.

With a change: launches on the model MPI, where everything of one size takes 10 % longer on one
side. A call catches it if it ends with exit status 1 and names that row slower, and no other row
anything else than it was. Of 400 calls, for each of which 10 of 20 launches a side are drawn, at
least 90 % must.

Of ten launches the summary's interval must contain the median of the ten between them in 85 % of
the rows.
"""

import collections
import os
import random
import statistics
import subprocess
import time
import typing

import pytest

from accuracy import cases
from commcost import compare as comparison
from commcost import summarize
from commcost.launches import Launches, Values
from mpi_run import read_tsv, run_raw

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
A_SIDE = 10
RECORDED = 60
CALLS, MODEL_CALLS = 1000, 400
MOST_ALARMS, LEAST_CAUGHT, LEAST_HOLD = 0.01, 0.90, 0.85
SLOWER = 0.10
SEED = 1  # of what is drawn

# Each with few rows that take little time.
PROGRAMS = [("overlap/overlap_iallreduce",
             ["--data-driven", "--max-num-elts=1K", "--max-time=0.02"]),
            ("pingpong/pingpong",
             ["--patterns=put,MPI Send", "--arrangements=single", "--max-ndata=4K",
              "--max-time=0.02"]),
            ("syncbench/syncbench",
             ["--types=sync all,MPI barrier,pairwise,fence", "--max-time=0.02"]),
            ("halo/halo", ["--local=20", "--max-time=0.02"]),
            ("msgrate/msgrate", ["-p", "1", "--max-time=0.1"]),
            ("mpi_overhead/mpi_overhead", ["--msgsize=8,64K", "--max-time=0.1"])]


class Model(typing.NamedTuple):
    """What is run on the model, and the row that must be called slower."""

    __test__ = False
    program: str
    options: list
    variables: dict
    slower: tuple  # the row's key, size, quantity

    def __str__(self):
        return os.path.basename(self.program)


# At least 5 us, so that a tenth of it is more than the least that matters.
MODELS = [Model("overlap/overlap_iallreduce",
                ["--data-driven", "--max-num-elts=1K", "--max-time=0.03"],
                {"MODEL_DURATION_US": 50, "MODEL_PER_BYTE_NS": 5, "MODEL_FRACTION": 0.5,
                 "MODEL_SLOW_BYTES": 1024},
                ("size_bytes", "1024", "ref_us")),
          Model("pingpong/pingpong",
                ["--patterns=MPI Send", "--arrangements=single", "--max-ndata=4K",
                 "--max-time=0.03"],
                {"MODEL_P2P": 1, "MODEL_COLL": 0, "MODEL_LATENCY_US": 20, "MODEL_PER_BYTE_NS": 1,
                 "MODEL_FRACTION": 1, "MODEL_DATA": 1, "MODEL_SLOW_BYTES": 4096},
                ("ndata", "512", "latency_us"))]


class Pool:
    """Launches, each a folder with a result of each program."""

    __test__ = False

    def __init__(self, folder, start):
        """`start` makes a launch: returns what its programs print, by name."""
        self.folder, self.start, self.launches = folder, start, []

    def launch(self):
        folder = self.folder / str(len(self.launches))
        folder.mkdir(parents=True)
        for name, text in self.start():
            (folder / f"{os.path.basename(name)}.tsv").write_text(text, encoding="utf-8")
        self.launches.append(folder)

    def draw(self, count, chance):
        return chance.sample(self.launches, count)


@pytest.fixture(scope="module")
def make_pool(launcher, built, tmp_path_factory):
    """An empty pool of these programs with their options."""
    def make(programs, environment=None):
        def start():
            for name, options in programs:
                done = run_raw(launcher.bound(), 2, [built(name), *options], environment)
                assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
                yield name, done.stdout
        return Pool(tmp_path_factory.mktemp("pool"), start)
    return make


def fill(pools, launches, say):
    """Launches of the pools in turn."""
    start_s = time.monotonic()
    for _ in range(launches):
        for pool in pools:
            pool.launch()
    say(f"{len(pools)} pools of {launches} launches: {time.monotonic() - start_s:.0f} s")


@pytest.fixture(scope="module")
def recorded(make_pool, full, say):
    """The folders of launches between which nothing changed, in their order."""
    pool = make_pool(PROGRAMS if full else PROGRAMS[:2])
    fill([pool], RECORDED if full else 2 * A_SIDE, say)
    return pool.launches


def in_turn(launches):
    """Both sides of launches that were made in turn."""
    return launches[::2], launches[1::2]


@pytest.fixture
def compare(built):
    """One call: whether it alarmed, its rows, and those of them that are called slower or
    faster."""
    def call(base, new, *options):
        done = subprocess.run([os.path.join(TOP, "run_scripts/bench_compare"), *options, "--base",
                               *base, "--new", *new], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        rows = read_tsv(done.stdout)
        changed = [row for row in rows if row["verdict"] not in ("same", "can't tell")]
        return done.returncode == 1, rows, changed
    return call


@pytest.mark.parametrize("threshold", [5, 0])
def test_real_launches(threshold, recorded, compare, say):
    for first in range(0, len(recorded), 2 * A_SIDE):
        base, new = in_turn(recorded[first:first + 2 * A_SIDE])
        alarmed, rows, changed = compare(base, new, f"--threshold={threshold}")
        told = sum(row["verdict"] == "same" for row in rows)
        say(f"launches {first + 1} to {first + 2 * A_SIDE}, threshold {threshold} %: "
            f"{len(changed)} of {len(rows)} rows are called changed, {told} the same")
        assert not alarmed and not changed


class Sequence:
    """Launches whose values change with the machine's speed, as a comparison reads them (Launches):
    side 0 and side 1 in turn.

    found   of each of `series` what each launch found, or None
    speeds  how many times as long each launch took
    """

    __test__ = False

    def __init__(self, series, found, speeds):
        self.series, self.found, self.speeds = series, found, speeds

    def values(self, series, side):
        pairs = list(zip(self.found[series], self.speeds))[side::2]
        if series.quantity.endswith(("_pct", "(%)")):
            pairs = [(value, 1) for value, _ in pairs]
        values = [value / speed if series.more else value * speed
                  for value, speed in pairs if value is not None]
        return Values(values, len(values), 0)


def speeds_of(launches, chance):
    """How many times as long each launch takes on a machine that gets slower or quicker by up to
    30 % in their course, and for some launches in a row takes 10 to 50 % longer."""
    drift, slow, speeds = chance.uniform(-0.3, 0.3), 1.0, []
    for place in range(launches):
        if chance.random() < (0.3 if slow > 1 else 0.1):
            slow = chance.uniform(1.1, 1.5) if slow == 1 else 1.0
        speeds.append(slow * (1 + drift * place / launches))
    return speeds


@pytest.mark.parametrize("threshold", [5, 0])
def test_drift_and_jumps(threshold, recorded, say):
    read = [Launches() for _ in recorded]
    for launches, folder in zip(read, recorded):
        launches.add(0, str(folder))
        launches.finish()
    series = read[0].series
    found = {one: [next(iter(launches.values(launches.series[identity], 0).values), None)
                   if identity in launches.series else None for launches in read]
             for identity, one in series.items()}
    limits = comparison.Limits(0.01, threshold, 0.95)
    chance, alarms = random.Random(SEED), 0
    for _ in range(CALLS):
        first = chance.randrange(len(recorded) - 2 * A_SIDE + 1)
        window = slice(first, first + 2 * A_SIDE)
        drawn = Sequence(series, {one: values[window] for one, values in found.items()},
                         speeds_of(2 * A_SIDE, chance))
        alarms += any(change.verdict in (comparison.SLOWER, comparison.FASTER)
                      for change in comparison.compare(drawn, limits))
    say(f"launches in turn while the machine drifts and jumps, {len(series)} rows a call, {A_SIDE} "
        f"launches a side, threshold {threshold} %: {alarms} of {CALLS} calls with a false alarm "
        f"(target: {MOST_ALARMS:.0%})")
    assert alarms <= MOST_ALARMS * CALLS


def test_summary_holds(recorded, say):
    """For what the launches between its own found."""
    hold = []
    for first in range(0, len(recorded), 2 * A_SIDE):
        sides = []
        for folders in in_turn(recorded[first:first + 2 * A_SIDE]):
            launches = Launches()
            for folder in folders:
                launches.add(0, str(folder))
            launches.finish()
            sides.append({tuple(row[:3]): dict(zip(summarize.HEADER, row))
                          for row in summarize.rows_of(launches)})
        for key, row in sides[0].items():
            other = sides[1].get(key, {"median": None})["median"]
            if row["lo"] is not None and other is not None:
                hold.append(row["lo"] <= other <= row["hi"])
    say(f"{sum(hold)} of {len(hold)} intervals over {A_SIDE} launches contain the median of the "
        f"{A_SIDE} between them, {statistics.mean(hold):.0%} (target: {LEAST_HOLD:.0%})")
    assert sum(hold) >= LEAST_HOLD * len(hold)


@pytest.mark.parametrize("case", cases(MODELS, quick=MODELS[:1]))
def test_slowdown_is_caught(case, make_pool, compare, model, full, say):
    variables = {**case.variables, "LD_PRELOAD": model}
    programs = [(case.program, case.options)]
    usual = make_pool(programs, variables)
    slow = make_pool(programs, {**variables, "MODEL_SLOW_SHARE": SLOWER})
    fill([usual, slow], 20 if full else 12, say)
    chance = random.Random(SEED)
    key, size, quantity = case.slower
    caught, rows, others = 0, [], collections.Counter()
    for _ in range(MODEL_CALLS):
        alarmed, rows, changed = compare(usual.draw(A_SIDE, chance), slow.draw(A_SIDE, chance))
        found = [(row[key], row["quantity"], row["verdict"]) for row in changed]
        if found != [(size, quantity, "slower")]:
            others[str(found)] += 1
        elif alarmed:
            caught += 1
    for found, count in others.items():
        say(f"  {count} times: {found}")
    say(f"{case}, {SLOWER:.0%} slower at {key} {size}, {len(rows)} rows a call: caught in {caught} "
        f"of {MODEL_CALLS} calls, and nothing else (target: {LEAST_CAUGHT:.0%})")
    assert caught >= LEAST_CAUGHT * MODEL_CALLS
