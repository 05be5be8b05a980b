"""Trials: many launches of programs whose truth is known, and whether their intervals hold it.

Launches are rows of a file, to which a trial appends, so that one that was interrupted goes on.
"""

import math
import os
import statistics
import typing

from accuracy import binomial_at_most
from bounds import Bounds
from mpi_run import number, read, read_tsv

# A case fails if that few intervals with the truth are this unlikely at this rate (Holm's
# correction over cases: S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure",
# Scandinavian Journal of Statistics 6 (1979)).
RATE = 0.85
SIGNIFICANCE = 0.01


class Launch(typing.NamedTuple):
    """What one launch found of its one row."""

    __test__ = False
    condition: str
    case: str
    truth: float
    value: float
    lo: float
    hi: float
    target: float  # how far the value may be off on a quiet machine
    lost_pct: float

    @property
    def inside(self):
        """Whether its interval holds the truth. One without an interval doesn't."""
        return self.lo <= self.truth <= self.hi

    @property
    def error(self):
        """In units of the target."""
        return (self.value - self.truth) / self.target


class Record:
    """The launches in a file."""

    __test__ = False

    def __init__(self, path, kind=Launch):
        """`kind` is of the launches: a NamedTuple of texts and numbers."""
        self.path, self.kind = path, kind
        self.launches = []
        if os.path.exists(path):
            self.launches = [
                kind(*(row[name] if of is str else number(row[name])
                       for name, of in typing.get_type_hints(kind).items()))
                for row in read_tsv(read(path))]

    def forget_older_than(self, programs):
        """Launches count no longer if a program was built anew since the first one."""
        begun = self.path + ".begun"
        newest = max(map(os.path.getmtime, programs))
        if self.launches and not (os.path.exists(begun) and os.path.getmtime(begun) >= newest):
            os.replace(self.path, self.path + ".old")
            self.launches = []

    def append(self, launch):
        new = not os.path.exists(self.path)
        if new:
            with open(self.path + ".begun", "w", encoding="utf-8"):
                pass
        with open(self.path, "a", encoding="utf-8") as stream:
            for line in ([self.kind._fields] if new else []) + [launch]:
                print(*("NA" if cell != cell else cell for cell in line), sep="\t", file=stream)
        self.launches.append(launch)

    def of(self, condition):
        return [launch for launch in self.launches if launch.condition == condition]


def by_case(launches):
    """The launches of each case, in the order in which cases appear."""
    cases = {}
    for launch in launches:
        cases.setdefault(launch.case, []).append(launch)
    return cases


def rejected(launches):
    """The cases whose intervals hold the truth too seldom to be as good as RATE."""
    chances = {case: binomial_at_most(sum(launch.inside for launch in several), len(several), RATE)
               for case, several in by_case(launches).items()}
    failed = []
    for place, case in enumerate(sorted(chances, key=chances.get)):
        if chances[case] >= SIGNIFICANCE / (len(chances) - place):
            break
        failed.append(case)
    return failed


def share_inside(launches):
    return sum(launch.inside for launch in launches) / len(launches)


def mean_error(launches):
    """In units of the target."""
    return statistics.mean(launch.error for launch in launches)


def wider_by(launches):
    """How much larger than its target an error may be where ranks were stopped."""
    known_pct = [launch.lost_pct for launch in launches if not math.isnan(launch.lost_pct)]
    return Bounds.wider_by(statistics.median(known_pct) / 100 if known_pct else 0.0)


def table(launches):
    """Lines about each case."""
    for case, several in by_case(launches).items():
        errors = [launch.error for launch in several]
        half_widths = [(launch.hi - launch.lo) / 2 / launch.target for launch in several]
        inside = sum(launch.inside for launch in several)
        yield (f"{case}: {inside} of {len(several)} inside; error in targets: median "
               f"{statistics.median(errors):+.2f}, mean {statistics.mean(errors):+.2f}, largest "
               f"{max(errors, key=abs):+.2f}; half-width {statistics.median(half_widths):.2f}; "
               f"lost {statistics.median(launch.lost_pct for launch in several):.1f} %")
