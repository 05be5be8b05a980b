#!/usr/bin/env python3
"""Does the overlap suite find the known answer?

Runs the benchmarks on the model MPI, where the true overlap is known, and
compares. A case is a collective, a duration D, a fraction f that proceeds
without the host, and a share of late operations; its error is the median over
its runs. Fails if any error is beyond its target (DESIGN: accuracy), after one
repeat of the case, or if the intervals contain the truth less often than they
must. With --full: every case, and a table in Markdown.
"""

import argparse
import math
import os
import statistics
import sys
import time
from dataclasses import dataclass, field

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from bounds import Bounds  # noqa: E402
from mpi_run import Launcher, number, run_on_model  # noqa: E402

COLLECTIVES = [
    "iallgather", "iallgatherv", "iallreduce", "ialltoall", "ialltoallv",
    "ialltoallw", "ibarrier", "ibcast", "iexscan", "igather", "igatherv",
    "ineighbor_allgather", "ineighbor_alltoall", "ireduce", "ireduce_scatter",
    "ireduce_scatter_block", "iscan", "iscatter", "iscatterv"]
SHORT_COLLECTIVES = ["iallreduce", "ibcast", "ialltoallv"]
FRACTIONS = [0.0, 0.25, 0.5, 0.75, 1.0]

# Targets in points of overlap: DESIGN.md section 3.
TARGETS = {200: 0.5, 20: 1.0, 5: 2.0}
LATE_TARGET = 2.0
LATE_SHARE = 0.05

# Intervals at 95 %: the truth lies inside at least POOLED of them, and no case
# is significantly below SINGLE.
POOLED = 0.93
SINGLE = 0.85
SIGNIFICANCE = 0.01
# A run that has no interval claims nothing; so many must have one.
INTERVALS = 0.6


@dataclass
class Case:
    collective: str
    duration_us: int
    fraction: float
    late: bool = False
    estimator: str = "median"
    target: float = math.inf  # of the median error; infinite: shown only
    errors: list = field(default_factory=list)
    inside: list = field(default_factory=list)
    truth: float = math.nan
    repeated: bool = False
    allowed: float = math.inf  # the target, or wider on a machine that isn't quiet

    def __str__(self):
        late = f", {LATE_SHARE:.0%} late by 10 D" if self.late else ""
        mean = ", mean" if self.estimator == "mean" else ""
        return (f"{self.collective} D={self.duration_us} us "
                f"f={self.fraction:g}{late}{mean}")

    def error(self):
        return statistics.median(self.errors)


def measure(case, seed, options):
    """One launch: appends the error and whether the interval has the truth."""
    model = {"MODEL_DURATION_US": case.duration_us,
             "MODEL_FRACTION": case.fraction}
    if case.late:
        model.update(MODEL_LATE_SHARE=LATE_SHARE,
                     MODEL_LATE_US=10 * case.duration_us, MODEL_SEED=seed)
    program = [os.path.join(options.binaries, "overlap_" + case.collective),
               "--data-driven", "--min-num-elts=1024", "--max-num-elts=1024",
               "--estimator=" + case.estimator, "--start=" + options.start]
    _, rows, truths = run_on_model(options.launcher, 2, program, model,
                                   options.model)
    truth = number(truths[0]["overlap_pct"])
    low, found, high = (number(rows[0][column]) for column in
                        ("overlap_lo_pct", "overlap_pct", "overlap_hi_pct"))
    case.truth = truth
    case.errors.append(found - truth)
    if not math.isnan(low):
        case.inside.append(low <= truth <= high)


def quick_cases():
    """At least one case of each kind, every collective once."""
    cases = []
    for i, collective in enumerate(COLLECTIVES):
        cases.append(Case(collective, 200, FRACTIONS[i % len(FRACTIONS)],
                          target=TARGETS[200]))
    for i, collective in enumerate(SHORT_COLLECTIVES):
        for duration_us in (20, 5):
            cases.append(Case(collective, duration_us, FRACTIONS[1 + i],
                              target=TARGETS[duration_us]))
        cases.append(Case(collective, 200, FRACTIONS[1 + i], late=True,
                          target=LATE_TARGET))
    return cases


def full_cases():
    cases = []
    for fraction in FRACTIONS:
        for collective in COLLECTIVES:
            cases.append(Case(collective, 200, fraction, target=TARGETS[200]))
        for collective in SHORT_COLLECTIVES:
            for duration_us in (20, 5):
                cases.append(Case(collective, duration_us, fraction,
                                  target=TARGETS[duration_us]))
            cases.append(Case(collective, 200, fraction, late=True,
                              target=LATE_TARGET))
        for late in (False, True):
            cases.append(Case("iallreduce", 200, fraction, late=late,
                              estimator="mean"))
    return cases


def binomial_at_most(successes, trials, probability):
    """P(X <= successes) for X binomial."""
    return sum(math.comb(trials, k) * probability ** k *
               (1 - probability) ** (trials - k)
               for k in range(successes + 1))


def run_case(case, options):
    for seed in range(options.runs):
        measure(case, seed, options)
    case.allowed = options.bounds.wider() * case.target
    if abs(case.error()) > case.allowed:
        print(f"repeated: {case}: error {case.error():+.2f} points in "
              f"{options.runs} runs", flush=True)
        case.repeated = True
        case.errors.clear()
        for seed in range(options.runs, 2 * options.runs):
            measure(case, seed, options)
        case.allowed = options.bounds.wider() * case.target
    verdict = "" if abs(case.error()) <= case.allowed else "  TOO FAR"
    print(f"{case}: truth {case.truth:.2f} %, error {case.error():+.3f} "
          f"points, intervals {sum(case.inside)}/{len(case.inside)}{verdict}",
          flush=True)


def check_coverage(cases):
    """What is wrong with the intervals, as a list of texts."""
    wrong = []
    robust = [case for case in cases if case.estimator == "median"]
    inside = sum(sum(case.inside) for case in robust)
    total = sum(len(case.inside) for case in robust)
    print(f"intervals: {inside} of {total} contain the truth "
          f"({inside / total:.1%}; required: {POOLED:.0%})")
    if inside < POOLED * total:
        wrong.append(f"intervals contain the truth in {inside / total:.1%}")
    for case in robust:
        count = len(case.inside)
        if count < INTERVALS * len(case.errors):
            wrong.append(f"{case}: {count} intervals in "
                         f"{len(case.errors)} runs")
        elif binomial_at_most(sum(case.inside), count, SINGLE) < SIGNIFICANCE:
            wrong.append(f"{case}: {sum(case.inside)} of {count} intervals")
    return wrong


KINDS = [
    ("overlap, D = 200 µs", 200, False, "median"),
    ("overlap, D = 20 µs", 20, False, "median"),
    ("overlap, D = 5 µs", 5, False, "median"),
    ("overlap, D = 200 µs, 5 % late by 10 D", 200, True, "median"),
    ("overlap, D = 200 µs, --estimator=mean", 200, False, "mean"),
    ("overlap, D = 200 µs, 5 % late by 10 D, --estimator=mean", 200, True,
     "mean")]


def table(cases):
    """The accuracy table, in Markdown."""
    lines = ["| what | collectives | runs | target | largest error of a case, "
             "f = 0, ¼, ½, ¾, 1 | largest | intervals with the truth |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for name, duration_us, late, estimator in KINDS:
        kind = [case for case in cases
                if (case.duration_us, case.late, case.estimator) ==
                (duration_us, late, estimator)]
        if not kind:
            continue
        by_fraction = []
        for fraction in FRACTIONS:
            errors = [abs(case.error()) for case in kind
                      if case.fraction == fraction]
            by_fraction.append(f"{max(errors):.2f}" if errors else "–")
        largest = max(abs(case.error()) for case in kind)
        target = kind[0].target
        inside = sum(sum(case.inside) for case in kind)
        total = sum(len(case.inside) for case in kind)
        lines.append(
            f"| {name} | {len({case.collective for case in kind})} "
            f"| {sum(len(case.errors) for case in kind)} "
            f"| {'–' if math.isinf(target) else target} "
            f"| {', '.join(by_fraction)} | {largest:.2f} points "
            f"| {inside} of {total} |")
    return "\n".join(lines)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binaries", required=True,
                        help="folder of the overlap programs")
    parser.add_argument("--model", required=True, help="libmodelmpi.so")
    parser.add_argument("--full", action="store_true", help="every case")
    parser.add_argument("--runs", type=int, help="launches a case")
    parser.add_argument("--table", help="file for the table in Markdown")
    parser.add_argument("--start", default="barrier", help="barrier or window")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    options = parser.parse_args()
    options.launcher = Launcher(options.launcher)
    options.bounds = Bounds()
    options.runs = options.runs or (7 if options.full else 3)
    return options


def main():
    options = parse_arguments()
    start_s = time.monotonic()
    cases = full_cases() if options.full else quick_cases()
    for case in cases:
        run_case(case, options)
    wrong = [f"{case}: error {case.error():+.2f} points, target "
             f"{case.target}" for case in cases
             if abs(case.error()) > case.allowed]
    # Intervals hold for what was sampled, not for a truth that stops move.
    coverage = check_coverage(cases)
    wrong += coverage if all(case.allowed == case.target for case in cases) else []
    text = table(cases)
    print(text)
    if options.table:
        with open(options.table, "w", encoding="utf-8") as stream:
            stream.write(text + "\n")
    print(f"{len(cases)} cases, {options.runs} runs each, "
          f"{time.monotonic() - start_s:.0f} s")
    for line in wrong:
        print("FAILED: " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
