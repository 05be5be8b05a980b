#!/usr/bin/env python3
"""Does bench_compare alarm when nothing changed, and notice a slowdown of 10 %?

Without a change: from a pool of launches of the same programs, 10 are drawn at
random for one side and 10 for the other, 1000 times. A call in which anything is
called slower or faster is a false alarm; the upper 95 % bound (Clopper and
Pearson, "The Use of Confidence or Fiducial Limits", Biometrika 26 (1934)) of their
rate must be at most 3 %; also with --threshold=0, where the test alone decides.

With a change: launches on the model MPI, where everything of one size takes 10 %
longer on one side. A call catches it if it ends with exit status 1 and names that
row slower, and no other row anything else than it was. The lower 95 % bound of the
rate must be at least 90 %.

The machine may change while launches go on; they are drawn in no order, so that
this is the same for both sides. With --full: larger pools of more programs.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import Launcher, read_tsv, run_raw  # noqa: E402

A_SIDE = 10
CALLS, MODEL_CALLS = 1000, 400
MOST_ALARMS, LEAST_CAUGHT = 0.03, 0.90
SLOWER = 0.10

# Each with few rows that take little time.
PROGRAMS = [("overlap/overlap_iallreduce",
             ["--data-driven", "--max-num-elts=1K", "--max-time=0.02"]),
            ("pingpong/pingpong",
             ["--patterns=put,MPI Send", "--arrangements=single",
              "--max-ndata=4K", "--max-time=0.02"]),
            ("syncbench/syncbench",
             ["--types=sync all,MPI barrier,pairwise,fence",
              "--max-time=0.02"])]

# What is run on the model, and what must be called slower: its key, size, quantity.
# At least 5 us, so that a tenth of it is more than the least that matters.
MODELS = [("overlap/overlap_iallreduce",
           ["--data-driven", "--max-num-elts=1K", "--max-time=0.03"],
           {"MODEL_DURATION_US": 50, "MODEL_PER_BYTE_NS": 5,
            "MODEL_FRACTION": 0.5, "MODEL_SLOW_BYTES": 1024},
           ("size_bytes", "1024", "ref_us")),
          ("pingpong/pingpong",
           ["--patterns=MPI Send", "--arrangements=single", "--max-ndata=4K",
            "--max-time=0.03"],
           {"MODEL_P2P": 1, "MODEL_COLL": 0, "MODEL_LATENCY_US": 20,
            "MODEL_PER_BYTE_NS": 1, "MODEL_FRACTION": 1, "MODEL_DATA": 1,
            "MODEL_SLOW_BYTES": 4096},
           ("ndata", "512", "latency_us"))]


def binomial_at_most(successes, trials, rate):
    """P(at most so many successes)."""
    term = total = (1 - rate) ** trials
    for i in range(successes):
        term *= (trials - i) / (i + 1) * rate / (1 - rate)
        total += term
    return total


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


def check_bounds():
    """Against R: binom.test(k, n, alternative = ..., conf.level = 0.95)."""
    for computed, expected in ((upper_bound(0, 400), 0.007461),
                               (upper_bound(6, 400), 0.02939),
                               (lower_bound(400, 400), 0.99254),
                               (lower_bound(371, 400), 0.90246)):
        assert abs(computed - expected) < 5e-5, (computed, expected)


class Pool:
    """Launches, each a folder with a result of each program; kept in a folder."""

    def __init__(self, options, name, programs, environment=None):
        self.options, self.programs = options, programs
        self.environment = environment or {}
        self.folder = os.path.join(options.pool, name)
        self.size = 0

    def launch(self):
        """One more, unless it is there from an earlier trial."""
        folder = os.path.join(self.folder, str(self.size))
        for name, arguments in self.programs:
            path = os.path.join(folder, os.path.basename(name) + ".tsv")
            if os.path.exists(path):
                continue
            done = run_raw(self.options.launcher, 2,
                           [os.path.join(self.options.binaries, name),
                            *arguments], self.environment)
            if done.returncode != 0:
                raise SystemExit(f"{name}: exit status {done.returncode}\n"
                                 f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
            os.makedirs(folder, exist_ok=True)
            with open(path + ".part", "w", encoding="utf-8") as stream:
                stream.write(done.stdout)
            os.rename(path + ".part", path)
        self.size += 1

    def fill(self, size):
        while self.size < size:
            self.launch()

    def draw(self, count, chance):
        return [os.path.join(self.folder, str(i))
                for i in chance.sample(range(self.size), count)]


def compare(options, base, new, *arguments):
    """One call: its exit status, its rows."""
    done = subprocess.run([options.program, *arguments, "--base", *base,
                           "--new", *new],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"bench_compare: {done.stderr}")
    return done.returncode, read_tsv(done.stdout)


def changed(rows):
    return [row for row in rows if row["verdict"] not in ("same", "can't tell")]


def false_alarms(options, pool, threshold):
    chance = random.Random(options.seed)
    alarms, told, rows = 0, 0, []
    for _ in range(CALLS):
        drawn = pool.draw(2 * A_SIDE, chance)
        status, rows = compare(options, drawn[:A_SIDE], drawn[A_SIDE:],
                               f"--threshold={threshold}")
        told += sum(row["verdict"] == "same" for row in rows)
        alarms += bool(changed(rows))
        if status == 1 and not changed(rows):
            raise SystemExit("exit status 1 without a reason")
    bound = upper_bound(alarms, CALLS)
    print(f"without a change, {len(rows)} rows a call, {A_SIDE} launches a side, "
          f"threshold {threshold} %: {alarms} of {CALLS} calls with a false alarm, "
          f"upper bound {bound:.2%} (target: {MOST_ALARMS:.0%}); "
          f"{told / CALLS / len(rows):.0%} of the rows said to be the same",
          flush=True)
    return bound <= MOST_ALARMS


def catches(options, launches, case):
    program, arguments, model, (key, size, quantity) = case
    model = {name: str(value) for name, value in model.items()}
    model["LD_PRELOAD"] = options.model
    name = os.path.basename(program)
    usual = Pool(options, f"{name}_usual", [(program, arguments)], model)
    slow = Pool(options, f"{name}_slow", [(program, arguments)],
                {**model, "MODEL_SLOW_SHARE": str(SLOWER)})
    started = time.monotonic()
    for size_now in range(1, launches + 1): # in turn
        usual.fill(size_now)
        slow.fill(size_now)
    print(f"pools of {launches} launches on the model each: "
          f"{time.monotonic() - started:.0f} s", flush=True)
    chance = random.Random(options.seed)
    caught, rows, others = 0, [], {}
    for _ in range(MODEL_CALLS):
        status, rows = compare(options, usual.draw(A_SIDE, chance),
                               slow.draw(A_SIDE, chance))
        found = [(row[key], row["quantity"], row["verdict"])
                 for row in changed(rows)]
        right = found == [(size, quantity, "slower")]
        caught += right and status == 1
        if not right:
            others[str(found)] = others.get(str(found), 0) + 1
    for found, count in others.items():
        print(f"  {count} times: {found}")
    bound = lower_bound(caught, MODEL_CALLS)
    print(f"{name}, {SLOWER:.0%} slower at {key} {size}, {len(rows)} rows a call: "
          f"caught in {caught} of {MODEL_CALLS} calls, and nothing else; lower bound "
          f"{bound:.1%} (target: {LEAST_CAUGHT:.0%})", flush=True)
    return bound >= LEAST_CAUGHT


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="bench_compare")
    parser.add_argument("--binaries", required=True, help="the build folder")
    parser.add_argument("--model", required=True, help="libmodelmpi.so")
    parser.add_argument("--full", action="store_true",
                        help="larger pools of more programs")
    parser.add_argument("--pool", help="a folder that keeps the launches; those "
                                       "that it has are not done again")
    parser.add_argument("--seed", type=int, default=1, help="of the draws")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    check_bounds()
    with tempfile.TemporaryDirectory() as folder:
        options.pool = options.pool or folder
        pool = Pool(options, "real", PROGRAMS if options.full else PROGRAMS[:2])
        started = time.monotonic()
        pool.fill(60 if options.full else 24)
        print(f"pool of {pool.size} launches: {time.monotonic() - started:.0f} s",
              flush=True)
        good = all([false_alarms(options, pool, threshold)
                    for threshold in (5, 0)])
        for case in MODELS if options.full else MODELS[:1]:
            good = catches(options, 20 if options.full else 12, case) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
