"""A race of choices against a default: which are measured further, and which is better by the evidence.

All choices of a cell (an operation of a size) get a few launches. Then those are dropped that surely don't gain what
is asked for over the default or over the best choice; the others get as many launches again, and so on: a race (Maron
and Moore, "Hoeffding Races: Accelerating Model Selection Search for Classification and Function Approximation", NIPS 6
(1993)) in rounds that double (Karnin, Koren and Somekh, "Almost Optimal Exploration in Multi-Armed Bandits", ICML 30
(2013)). Its intervals are those of exact rank tests, since a launch that is late must not decide.

A machine can be in one state for many launches and in another for many more, which differ by more than choices do. The
launches of one round come one after the other, so they mostly share a state: gains are those of pairs of one round.

What the race chooses is no evidence yet: it has picked the best of many. The proof is: the choice against the default
in fresh launches, by a rank test with Holm's correction over all cells and its level divided among the looks at it. So
the chance of any choice that isn't better than the default, but is proved so, is at most the level for all together.
"""

import math
import typing

from commcost.result import rank_test

DEFAULT = "default"
NO_GAIN = "no choice gains"  # begins the reason of a cell whose default is as good as the choices
ALPHA = 0.01      # level of all proofs of a tuning together
DROPPED_AT = 0.9  # confidence of the interval by which choices are dropped
PROVED_AT = 0.95
PROOFS = 2        # a proof may have that many times a race's launches
FIRST = 3         # launches, the fewest that have such an interval
TESTED_FROM = 6   # launches of each side


class Gain(typing.NamedTuple):
    """By how many percent less time one choice takes than another; the ends are None with too few launches."""

    value: float
    low: typing.Optional[float]
    high: typing.Optional[float]


def _logs(values):
    return [math.log(value) for value in values]


def gain_over(base, other, confidence):
    """The Gain of times over those of `base`, whose rounds are the same: of the ratios of pairs of a round; of all pairs
    where the rounds are too few for an interval."""
    base, other = _logs(base), _logs(other)
    shift = rank_test.signed_rank_shift([y - x for x, y in zip(base, other)], confidence)
    if shift.interval is None:
        shift = rank_test.rank_shift(base, other, confidence)
    low, high = shift.interval or (None, None)
    return Gain(*(None if end is None else -100 * math.expm1(end) for end in (shift.value, high, low)))


class Decision(typing.NamedTuple):
    """What became of a cell: the choice, or DEFAULT, and why."""

    choice: str
    reason: str
    gain: typing.Optional[Gain] = None  # over the default
    p: typing.Optional[float] = None    # corrected
    launches: int = 0                   # of the choice


def looks_of(launches):
    """After how many launches of each choice the race is looked at, at most `launches`."""
    looks = [FIRST, TESTED_FROM]
    while 2 * looks[-1] < launches:
        looks.append(2 * looks[-1])
    return sorted({*looks, launches})


def level_of(file, earlier, is_cut):
    """The share of ALPHA for the proof of a file; `earlier`: the files of all proofs so far, in their order. A race that a
    budget cut may go on and choose another file, so each file gets half of what is left. That of a race that ran to its
    end gets all that is left."""
    files = list(dict.fromkeys([*earlier, file]))
    return ALPHA * (0.5 ** (files.index(file) + 1) + (0 if is_cut else 0.5 ** len(files)))


class Race:
    """`cells`: each cell's choices, besides the default. Times are positive, in any unit; each round of launches adds
    one for every choice that runs. A proof has one choice a cell, and decides by p-values: `level` says that it is one."""

    def __init__(self, cells, min_gain_pct, launches, level=None):
        self.min_gain_pct, self.looks, self.level = min_gain_pct, looks_of(launches), level
        self.running = {cell: list(choices) for cell, choices in cells.items()}
        self.tests = len(cells)
        self.values, self.decisions, self._ps = {}, {}, {}

    def add(self, cell, choice, value):
        self.values.setdefault((cell, choice), []).append(value)

    def runs(self, cell, choice):
        """Whether a choice of a cell is to be measured further; the default as long as any is."""
        left = self.running.get(cell, [])
        return choice in left or bool(left) and choice == DEFAULT

    def drop(self, cell, choice, reason):
        """Takes a choice out, such as one with wrong data; the default ends the cell."""
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
        """Drops and decides; each choice that runs has had this number of launches."""
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
        """The p-values of the cells that run, corrected. Those that were dropped count as tests without evidence."""
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
        """Decides for the default what still runs."""
        for cell in list(self.running):
            self._decide(cell, Decision(DEFAULT, reason))
