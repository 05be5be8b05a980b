"""Does the overlap suite find the known answer?

Runs the benchmarks on the model MPI, where the true overlap is known. A case is a collective, a
duration D, a fraction f that proceeds without the host, and a share of late operations. The
intervals must contain the truth often enough, too. With --full there is a table in Markdown in
BUILD/accuracy.md.
"""

import itertools
import math
import os
import time
import typing

import pytest

from accuracy import binomial_at_most, cases
from mpi_run import COLLECTIVES, number

SHORT_COLLECTIVES = ["iallreduce", "ibcast", "ialltoallv"]
FRACTIONS = [0.0, 0.25, 0.5, 0.75, 1.0]

# Targets in points of overlap.
TARGETS = {200: 0.5, 20: 1.0, 5: 2.0}
LATE_TARGET = 2.0
LATE_SHARE = 0.05

# Intervals at 95 %: the truth lies inside at least POOLED of them, and no case is significantly
# below SINGLE. The few of the quick tier aren't significantly below POOLED.
POOLED = 0.93
SINGLE = 0.85
SIGNIFICANCE = 0.01
# A run without an interval claims nothing; at least this share of a case's runs must have one.
INTERVALS = 0.6


class Case(typing.NamedTuple):
    __test__ = False
    collective: str
    duration_us: int
    fraction: float
    late: bool = False
    estimator: str = "median"

    def __str__(self):
        late = f", {LATE_SHARE:.0%} late by 10 D" if self.late else ""
        mean = ", mean" if self.estimator == "mean" else ""
        return f"{self.collective} D={self.duration_us} us f={self.fraction:g}{late}{mean}"

    def target(self):
        """Of the median error, in points; None: shown only."""
        if self.estimator == "mean":
            return None
        return LATE_TARGET if self.late else TARGETS[self.duration_us]


class Measured(typing.NamedTuple):
    """What the launches of a case found."""

    __test__ = False
    case: Case
    error: float  # the median
    runs: int     # of which it is
    inside: list  # whether the truth is in the interval, of all runs that have one, repeated or not


def quick_cases():
    """At least one case of each kind, every collective once."""
    chosen = [Case(collective, 200, fraction)
              for collective, fraction in zip(COLLECTIVES, itertools.cycle(FRACTIONS))]
    for collective, fraction in zip(SHORT_COLLECTIVES, FRACTIONS[1:]):
        chosen += [Case(collective, 20, fraction), Case(collective, 5, fraction),
                   Case(collective, 200, fraction, late=True)]
    return chosen


def all_cases():
    chosen = []
    for fraction in FRACTIONS:
        chosen += [Case(collective, 200, fraction) for collective in COLLECTIVES]
        for collective in SHORT_COLLECTIVES:
            chosen += [Case(collective, 20, fraction), Case(collective, 5, fraction),
                       Case(collective, 200, fraction, late=True)]
        chosen += [Case("iallreduce", 200, fraction, late, "mean") for late in (False, True)]
    return chosen


def measure(case, accuracy, on_model, launches=3, start="barrier"):
    """Measures a case; returns the runner's result and what was found."""
    seeds, inside = itertools.count(), []

    def launch():
        late = {"MODEL_LATE_SHARE": LATE_SHARE, "MODEL_LATE_US": 10 * case.duration_us,
                "MODEL_SEED": next(seeds)} if case.late else {}
        rows, truths = on_model(
            "overlap/overlap_" + case.collective, "--data-driven", "--min-num-elts=1024",
            "--max-num-elts=1024", "--max-time=0.3", f"--estimator={case.estimator}",
            f"--start={start}",
            MODEL_DURATION_US=case.duration_us, MODEL_FRACTION=case.fraction, **late)
        truth = number(truths[0]["overlap_pct"])
        low, found, high = (number(rows[0][column]) for column in
                            ("overlap_lo_pct", "overlap_pct", "overlap_hi_pct"))
        if not math.isnan(low):
            inside.append(low <= truth <= high)
        return {"truth": truth, "error": found - truth}

    def text(pct):
        return (f"truth {pct['truth']:.2f} %, error {pct['error']:+.3f} points, intervals "
                f"{sum(inside)}/{len(inside)}")

    allowed = {} if case.target() is None else {"error": case.target()}
    result = accuracy.measure(str(case), launch, allowed, launches=launches, text=text)
    return result, Measured(case, result.medians["error"], result.launches, inside)


KINDS = [
    ("overlap, D = 200 µs", 200, False, "median"),
    ("overlap, D = 20 µs", 20, False, "median"),
    ("overlap, D = 5 µs", 5, False, "median"),
    ("overlap, D = 200 µs, 5 % late by 10 D", 200, True, "median"),
    ("overlap, D = 200 µs, --estimator=mean", 200, False, "mean"),
    ("overlap, D = 200 µs, 5 % late by 10 D, --estimator=mean", 200, True, "mean")]


def count_inside(several):
    """How many intervals have the truth, of how many."""
    return (sum(sum(measured.inside) for measured in several),
            sum(len(measured.inside) for measured in several))


def table(several):
    """The accuracy table, in Markdown."""
    lines = ["| what | collectives | runs | target | largest error of a case, f = 0, ¼, ½, ¾, 1 "
             "| largest | intervals with the truth |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for name, *key in KINDS:
        kind = [measured for measured in several if key == [
            measured.case.duration_us, measured.case.late, measured.case.estimator]]
        if not kind:
            continue
        by_fraction = [max((abs(measured.error) for measured in kind
                            if measured.case.fraction == fraction), default=None)
                       for fraction in FRACTIONS]
        inside, total = count_inside(kind)
        lines.append(
            f"| {name} | {len({measured.case.collective for measured in kind})} "
            f"| {sum(measured.runs for measured in kind)} | {kind[0].case.target() or '–'} "
            f"| {', '.join('–' if error is None else f'{error:.2f}' for error in by_fraction)} "
            f"| {max(abs(measured.error) for measured in kind):.2f} points "
            f"| {inside} of {total} |")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def all_measured(build, full, say):
    """What was found of all cases until now. In the end it is in the table."""
    start_s = time.monotonic()
    several = []
    yield several
    say(table(several))
    if full:
        with open(os.path.join(build, "accuracy.md"), "w", encoding="utf-8") as stream:
            stream.write(table(several) + "\n")
    say(f"{len(several)} cases, {time.monotonic() - start_s:.0f} s")


@pytest.mark.parametrize("case", cases(all_cases(), quick_cases()))
def test_overlap(case, accuracy, on_model, all_measured, full):
    result, measured = measure(case, accuracy, on_model, launches=7 if full else 3)
    all_measured.append(measured)
    accuracy.judge(result)


def test_intervals(all_measured, full, say):
    """Of all cases before it."""
    robust = [measured for measured in all_measured if measured.case.estimator == "median"]
    inside, total = count_inside(robust)
    say(f"intervals: {inside} of {total} contain the truth ({inside / max(total, 1):.1%}; "
        f"required: {POOLED:.0%})")
    wrong = [f"{measured.case}: {sum(measured.inside)} of {len(measured.inside)} intervals in "
             f"{measured.runs} runs" for measured in robust
             if len(measured.inside) < INTERVALS * measured.runs or
             binomial_at_most(sum(measured.inside), len(measured.inside), SINGLE) < SIGNIFICANCE]
    enough = inside >= POOLED * total if full else \
        binomial_at_most(inside, total, POOLED) >= SIGNIFICANCE
    enough = total > 0 and enough
    assert enough and not wrong, (inside, total, wrong)
