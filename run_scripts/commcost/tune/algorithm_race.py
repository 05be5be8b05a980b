# SPDX-License-Identifier: BSD-3-Clause
"""A race of choices against a default: selects choices to measure further, and proves winners.

All choices of a cell (an operation of a size) get a few launches. Choices that surely don't gain the requested share
over the default or over the best choice are dropped. The others get twice the launches, and so on: a race (Maron and
Moore, "Hoeffding Races: Accelerating Model Selection Search for Classification and Function Approximation", NIPS 6
(1993)) in rounds that double (Karnin, Koren and Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", ICML 30
(2013)). Exact rank tests give its intervals, so a single slow launch never decides.

A machine may change its state between launches, and states may differ more than choices. Consecutive launches mostly
share a state, so gains are computed from pairs of launches of one round.

The winner is the best of many, possibly by chance. So the proof compares it with the default in new launches, by a rank
test with Holm's correction over all cells, whose level is divided among the looks (evaluations). The chance of any
false proof in all cells together is at most the level.
"""

import math
import typing

from commcost.result import rank_test

DEFAULT = "default"
NO_GAIN = "no choice gains"  # begins the reason for a default that is as good as the choices
ALPHA = 0.01      # level of all proofs of a tuning together
DROPPED_AT = 0.9  # confidence of the interval by which choices are dropped
PROVED_AT = 0.95
PROOFS = 2        # max launches of a proof, as a multiple of the race's
FIRST = 3         # min launches for such an interval
TESTED_FROM = 6   # min launches of each side for a test


class Gain(typing.NamedTuple):
    """The time that a choice saves over another one, in percent. The ends are None with too few launches."""

    value: float
    low: typing.Optional[float]
    high: typing.Optional[float]


def gain_over(base, other, confidence):
    """Returns the Gain of times over those of `base`, by their ratios."""
    shift = rank_test.rounds_shift(*([math.log(value) for value in side] for side in (base, other)), confidence)
    low, high = shift.interval or (None, None)
    return Gain(*(None if end is None else -100 * math.expm1(end) for end in (shift.value, high, low)))


class Decision(typing.NamedTuple):
    """The decision on a cell: the choice, or DEFAULT, and the reason."""

    choice: str
    reason: str
    gain: typing.Optional[Gain] = None  # over the default
    p: typing.Optional[float] = None    # corrected
    launches: int = 0                   # of the choice


def looks_of(launches):
    """Returns the numbers of launches after which the race is evaluated, up to `launches`."""
    looks = [FIRST, TESTED_FROM]
    while 2 * looks[-1] < launches:
        looks.append(2 * looks[-1])
    return sorted({*looks, launches})


def level_of(file, earlier, is_cut):
    """Returns the share of ALPHA for the proof of a file. `earlier` are the files of earlier proofs. A race cut short
    by a budget may choose a different file later, so each such file gets half of the rest. A complete race gets the
    whole rest."""
    files = list(dict.fromkeys([*earlier, file]))
    return ALPHA * (0.5 ** (files.index(file) + 1) + (0 if is_cut else 0.5 ** len(files)))


class Race:
    """A race of `cells`: each cell's choices, without the default. Times are positive, in any unit; each round of
    launches adds one per running choice. A proof is a race with a `level` and one choice per cell, and decides by
    p-values."""

    def __init__(self, cells, min_gain_pct, launches, level=None):
        self.min_gain_pct, self.looks, self.level = min_gain_pct, looks_of(launches), level
        self.running = {cell: list(choices) for cell, choices in cells.items()}
        self.tests = len(cells)
        self.values, self.decisions, self._ps = {}, {}, {}

    def add(self, cell, choice, value):
        self.values.setdefault((cell, choice), []).append(value)

    def runs(self, cell, choice):
        """True if a choice of a cell needs more launches. The default needs them as long as any choice does."""
        left = self.running.get(cell, [])
        return choice in left or bool(left) and choice == DEFAULT

    def drop(self, cell, choice, reason):
        """Removes a choice, such as one with wrong data. Removing the default ends the cell."""
        if self.runs(cell, choice):
            self.running[cell] = [one for one in self.running[cell] if choice not in (one, DEFAULT)]
            if not self.running[cell]:
                self._decide(cell, Decision(DEFAULT, reason))

    def _decide(self, cell, decision):
        self.decisions[cell] = decision
        self.running.pop(cell)

    def gain(self, cell, choice, base=DEFAULT, confidence=DROPPED_AT):
        return gain_over(self.values[cell, base], self.values[cell, choice], confidence)

    def best(self, cell):
        return min(self.running[cell], key=lambda choice: rank_test.median(self.values[cell, choice]))

    def look(self, launches):
        """Drops choices and decides cells after this number of launches of each running choice."""
        for cell in list(self.running):
            self._drop_worse(cell)
        if launches < TESTED_FROM:
            return
        corrected = self._corrected() if self.level else {}
        for cell in list(self.running):
            choice = self.best(cell)
            gain, p = self.gain(cell, choice, confidence=PROVED_AT), corrected.get(cell)
            is_better = gain.value >= self.min_gain_pct and (gain.low > 0 if p is None else p <= self.level_of_a_look)
            if is_better and (len(self.running[cell]) == 1 or launches == self.looks[-1]):
                self._decide(cell, Decision(choice, "better", gain, p, launches))
            elif launches == self.looks[-1]:
                self._decide(cell, Decision(DEFAULT, f"not clear after {launches} launches", gain, p, launches))

    @property
    def level_of_a_look(self):
        return self.level / sum(look >= TESTED_FROM for look in self.looks)

    def _corrected(self):
        """Returns the corrected p-values of the running cells. Dropped cells enter as tests with p = 1."""
        self._ps.update({cell: rank_test.rounds_p(*(dict(enumerate(self.values[cell, one]))
                                                    for one in (DEFAULT, choice)))
                         for cell, (choice,) in self.running.items()})
        return dict(zip(self._ps, rank_test.holm([*self._ps.values(), *[1.0] * (self.tests - len(self._ps))])))

    def _drop_worse(self, cell):
        """Drops choices that surely don't gain min_gain_pct over the default, or over the best of the others."""
        best = self.best(cell)
        gains = {choice: self.gain(cell, choice) for choice in self.running[cell]}
        left = [choice for choice, gain in gains.items() if gain.high >= self.min_gain_pct and (
            choice == best or self.gain(cell, choice, best).high >= self.min_gain_pct)]
        if left:
            self.running[cell] = left
        else:
            count = len(self.values[cell, best])
            self._decide(cell, Decision(DEFAULT, f"{NO_GAIN} {self.min_gain_pct:g} %", gains[best], None, count))

    def end(self, reason):
        """Decides for the default in all running cells."""
        for cell in list(self.running):
            self._decide(cell, Decision(DEFAULT, reason))
