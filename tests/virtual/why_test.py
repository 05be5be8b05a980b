# SPDX-License-Identifier: BSD-3-Clause
"""bench_compare --find-why on machines whose speed depends on planted variables: it names these, with their shares, and
no variable if none is guilty."""

import math
import os
import random
import re
import subprocess
import types

import virtual
from launches import TOP, Folder
from commcost.compare import find_why, row_changes
from commcost.compare.side_settings import Setting
from commcost.result.launches import Schema, Series, Values

VARIABLES = 10
A_SIDE = 10    # launches of each side's results
RIGHT = 0.95
NEAR_PCT = 10  # distance of a share from the truth
LIMITS = row_changes.Limits(0.01, 5, 0.95)
# The effect of two variables that are set or not, as shares of the logarithm of the change.
KINDS = {"one": lambda a, b, share: a, "two that add": lambda a, b, share: share * a + (1 - share) * b,
         "two together": lambda a, b, share: a * b, "either of two": lambda a, b, share: max(a, b),
         "none": lambda a, b, share: 0, "one and the library": lambda a, b, share: share * a}


class Machine:
    """Launches of a program with one row. They differ by a spread, and some are late by half. A third of the machines
    has two states, for some 50 launches, in one of which all takes longer. The change is 10 to 30 spreads."""

    benchmark, failure, quantity, size = "bench", "", "time_us", staticmethod(math.expm1)

    def __init__(self, seed, kind, variables=VARIABLES):
        chance = self.chance = random.Random(f"{seed} {kind}")
        self.spread = 10 ** chance.uniform(-2.5, -1.4)
        self.change = max(0.1, self.spread * chance.uniform(10, 30)) * chance.choice((1, 1, -1))
        self.guilty, self.share = chance.sample(range(variables), 2), chance.uniform(0.3, 0.7)
        self.effect, self.kind = KINDS[kind], kind
        self.slow, self.is_slow = (chance.uniform(1.5, 3) if chance.random() < 1 / 3 else 1), False
        self.made, self.count = {}, 0
        self.settings = types.SimpleNamespace(differing=[Setting(f"V{place}", "", "1") for place in range(variables)])
        series = Series(Schema("bench", ("size",)), ("8",), self.quantity, False)
        launches = [self.time(change) for _ in range(A_SIDE) for change in (0, self.change)]
        sides = launches[::2], launches[1::2]
        change, = row_changes.compare(types.SimpleNamespace(
            series={"row": series}, values=lambda _, side: Values(dict(enumerate(sides[side])), A_SIDE, 0)), LIMITS)
        self.targets, self.comparison = [change], types.SimpleNamespace(changes=[change])

    def time(self, change):
        self.is_slow ^= self.chance.random() < 1 / 50
        late = 1.5 if self.chance.random() < 0.02 else 1
        return 20 * math.exp(change + self.spread * self.chance.gauss(0, 1)) * late * (self.slow if self.is_slow else 1)

    def planted(self, *chosen):
        """Returns the true change with these variables."""
        return self.change * self.effect(*(place in chosen for place in self.guilty), self.share)

    def measure(self, _, chosen, run):
        self.count += 1
        self.made[chosen, run] = self.time(self.planted(*chosen))
        return self.made[chosen, run]

    def value(self, _, chosen, run):
        return self.made[chosen, run]

    def truth(self):
        """Returns the shares of the guilty variables in the change, in percent."""
        one, other = self.guilty
        alone = [self.size(self.planted(place)) for place in (one, other)]
        both, whole = self.size(self.planted(one, other)), self.size(self.change)
        return {f"V{place}=1": 50 * (mine + both - its) / whole
                for place, mine, its in zip((one, other), alone, alone[::-1]) if mine or both - its}

    def is_right(self, line):
        """True if an answer names the guilty variables, and their shares."""
        truth, shares = self.truth(), [int(share) for share in re.findall("([0-9]+) %(?: of the change)?\\)", line)]
        named = re.findall("V[0-9]+=1", line.partition("because of")[2])
        if not truth:
            return "but not because of the settings that differ" in line
        wanted = [truth[name] for name in named if name in truth]
        if re.search("only together|each alone", line):
            wanted = [sum(truth.values())]
            if ("only together" in line) != (self.kind == "two together"):
                return False
        return set(named) == set(truth) and all(abs(share - of) <= NEAR_PCT for share, of in zip(shares, wanted))


class Points(Machine):
    """The same with a percentage that changes by points, and may be negative."""

    quantity, size = "free_pct", staticmethod(float)

    def time(self, change):
        return 5 + 100 * (change + self.spread * self.chance.gauss(0, 1))


class Why(virtual.Test):
    target = "right in 95 of 100"

    def check(self, cases, kind, variables=VARIABLES, machine_of=Machine):
        """Checks the answers of these cases. Returns the median number of launches."""
        wrong, counts = [], []
        for seed in range(cases):
            machine = machine_of(seed, kind, variables)
            why = find_why.Why(machine)
            why.explain()
            line, = why.lines
            counts.append(machine.count)
            if not machine.is_right(line) or why.is_partial != (kind in ("none", "one and the library")):
                wrong.append(f"{seed}: {line}; truth {machine.truth()}")
        median = sorted(counts)[cases // 2]
        with self.subTest(kind, wrong=wrong[:5]):
            self.mostly(cases - len(wrong), cases, RIGHT,
                        f"{machine_of.__name__}, {kind} of {variables}, {median} launches: right")
        return median

    def test_planted(self):
        for kind in KINDS:
            self.check(virtual.by_tier(plain=5, run=10, all=20, full=200), kind)

    def test_points(self):
        for kind in ("two that add", "two together", "none"):
            self.check(virtual.by_tier(plain=3, run=5, all=10, full=100), kind, machine_of=Points)

    def test_many_variables(self):
        """The launches grow with the number of halvings, not with the number of variables."""
        for kind in ("one", "two together"):
            self.assertLess(self.check(virtual.by_tier(plain=3, run=5, all=10, full=100), kind, 40), 500)


# A launcher of the model MPI, whose latency depends on two variables. Each launch has a seed of its own.
LAUNCHER = """#!/bin/sh
export VIRTUAL_RANKS=$1 VIRTUAL_FIRST_LAUNCH=$(cat "$0.count") MODEL_LAUNCH_SPREAD=0.01
echo $((VIRTUAL_FIRST_LAUNCH + 1)) >"$0.count"
shift
latency=1
KIND
MODEL_LATENCY_US=$latency exec "$@"
"""
TOGETHER = '[ "$UCX_V1$UCX_V3" != 22 ] || latency=2'
NONE = 'latency=$(cat "$0.latency" 2>/dev/null || echo 1)'
PROGRAM = ["pingpong", "--patterns=MPI Send", "--arrangements=single", "--sizes=8", "--max-time=0.002", "--visits=1"]


class Command(virtual.Test):
    """The command with the model MPI."""

    target = "the planted variables"

    def launch(self, side, run, variables):
        os.makedirs(os.path.join(self.folder, side), exist_ok=True)
        subprocess.run([self.launcher, "2", os.path.join(virtual.BUILD, "tests/virtual", PROGRAM[0]), *PROGRAM[1:],
                        f"--output={self.folder}/{side}/{run}.tsv"], env={**os.environ, **variables}, check=True)

    def answer(self, kind, count):
        """Records both sides, whose variables differ, and returns the command's answer and exit status."""
        self.folder = Folder(self).path
        self.launcher = os.path.join(self.folder, "launcher")
        for path, text in ((self.launcher, LAUNCHER.replace("KIND", kind)), (self.launcher + ".count", "0")):
            with open(path, "w", encoding="ascii") as stream:
                stream.write(text)
        os.chmod(self.launcher, 0o700)
        for run in range(8):
            for number, side in enumerate(("base", "new"), 1):
                with open(self.launcher + ".latency", "w", encoding="ascii") as stream:
                    stream.write(str(number))
                self.launch(side, run, {f"UCX_V{place}": str(number) for place in range(count)})
        os.remove(self.launcher + ".latency")
        done = subprocess.run([
            os.path.join(TOP, "run_scripts/bench_compare"), "--find-why", f"{self.folder}/base", f"{self.folder}/new",
            f"--build={virtual.BUILD}/tests/virtual", f"--launcher={self.launcher} {{ranks}}",
            f"--output={self.folder}/why"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
            env={**os.environ, "LC_ALL": "C.UTF-8"}, check=False)
        self.assertIn(": base: ", done.stderr)
        return done.stdout, done.returncode

    def test_answers(self):
        row = "pingpong, latency_us: "
        cases = [(TOGETHER, "2.0 × slower because of UCX_V1=2 and UCX_V3=2, only together", 0),
                 (NONE, "2.0 × slower, but not because of the settings that differ \\(with those of new: 1.0. ×\\)\n"
                  "Nothing else in the metadata differs: measure both sides again, alternately.", 1),
                 (TOGETHER, "2.0 × slower because of UCX_V1=2 and UCX_V3=2, only together", 0)]
        for number, (kind, text, status) in enumerate(cases[:virtual.by_tier(plain=0, run=0, all=2, full=3)]):
            answer, found = self.answer(kind, 10 if number == 2 else 4)
            self.assertRegex(answer, "^" + row + text)
            self.assertEqual(found, status)


if __name__ == "__main__":
    virtual.main()
