"""Does bench_compare alarm when nothing changed, and notice a slowdown of 10 %?

Without a change: from a pool of launches of the same programs, 10 are drawn at random for one side
and 10 for the other, 1000 times. A call in which anything is called slower or faster is a false
alarm; the upper 95 % bound (Clopper and Pearson, "The Use of Confidence or Fiducial Limits",
Biometrika 26 (1934)) of their rate must be at most 3 %; also with --threshold=0, where the test
alone decides.

With a change: launches on the model MPI, where everything of one size takes 10 % longer on one
side. A call catches it if it ends with exit status 1 and names that row slower, and no other row
anything else than it was. The lower 95 % bound of the rate must be at least 90 %.

The machine may change while launches go on; they are drawn in no order, so that this is the same
for both sides. With --full: larger pools of more programs.
"""

import collections
import os
import random
import subprocess
import time
import typing

import pytest

from accuracy import binomial_at_most, cases
from mpi_run import read_tsv, run_raw

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
A_SIDE = 10
CALLS, MODEL_CALLS = 1000, 400
MOST_ALARMS, LEAST_CAUGHT = 0.03, 0.90
SLOWER = 0.10
SEED = 1  # of the draws

# Each with few rows that take little time.
PROGRAMS = [("overlap/overlap_iallreduce",
             ["--data-driven", "--max-num-elts=1K", "--max-time=0.02"]),
            ("pingpong/pingpong",
             ["--patterns=put,MPI Send", "--arrangements=single", "--max-ndata=4K",
              "--max-time=0.02"]),
            ("syncbench/syncbench",
             ["--types=sync all,MPI barrier,pairwise,fence", "--max-time=0.02"])]


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


def upper_bound(successes, trials):
    """The rate above which so few successes have a chance of 5 %."""
    if successes == trials:
        return 1.0
    low, high = 0.0, 1.0 - 1e-12
    for _ in range(60):
        middle = (low + high) / 2
        if binomial_at_most(successes, trials, middle) > 0.05:
            low = middle
        else:
            high = middle
    return high


def lower_bound(successes, trials):
    return 1 - upper_bound(trials - successes, trials)


def test_bounds_of_a_rate():
    """Against R: binom.test(k, n, alternative = ..., conf.level = 0.95)."""
    for computed, expected in ((upper_bound(0, 400), 0.007461), (upper_bound(6, 400), 0.02939),
                               (lower_bound(400, 400), 0.99254), (lower_bound(371, 400), 0.90246)):
        assert abs(computed - expected) < 5e-5


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
                done = run_raw(launcher, 2, [built(name), *options], environment)
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
def unchanged(make_pool, full, say):
    """A pool of launches between which nothing changed."""
    pool = make_pool(PROGRAMS if full else PROGRAMS[:2])
    fill([pool], 60 if full else 24, say)
    return pool


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
def test_false_alarms(threshold, unchanged, compare, say):
    chance = random.Random(SEED)
    alarms, told, rows = 0, 0, []
    for _ in range(CALLS):
        drawn = unchanged.draw(2 * A_SIDE, chance)
        alarmed, rows, changed = compare(drawn[:A_SIDE], drawn[A_SIDE:], f"--threshold={threshold}")
        told += sum(row["verdict"] == "same" for row in rows)
        alarms += bool(changed)
        assert changed or not alarmed, "exit status 1 without a reason"
    bound = upper_bound(alarms, CALLS)
    say(f"without a change, {len(rows)} rows a call, {A_SIDE} launches a side, threshold "
        f"{threshold} %: {alarms} of {CALLS} calls with a false alarm, upper bound {bound:.2%} "
        f"(target: {MOST_ALARMS:.0%}); {told / CALLS / len(rows):.0%} of the rows said to be the "
        "same")
    assert bound <= MOST_ALARMS


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
    bound = lower_bound(caught, MODEL_CALLS)
    say(f"{case}, {SLOWER:.0%} slower at {key} {size}, {len(rows)} rows a call: caught in {caught} "
        f"of {MODEL_CALLS} calls, and nothing else; lower bound {bound:.1%} (target: "
        f"{LEAST_CAUGHT:.0%})")
    assert bound >= LEAST_CAUGHT
