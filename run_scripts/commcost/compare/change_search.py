# SPDX-License-Identifier: BSD-3-Clause
"""A search for the settings that cause a change, among those that differ between two sides.

Delta debugging (Zeller, "Yesterday, my program worked. Today, it does not. Why?", ESEC/FSE 1999; Zeller and
Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE Trans. Softw. Eng. 28 (2002)), with times instead
of verdicts: a part of the settings is halved, and each half is launched without and with the other half. A half that
changes the time is searched further, in the context in which it changes the time more. So the search also finds
settings that add, and settings that only act together.

The four combinations of two halves are launched alternately, until an interval of exact rank tests shows for each half
whether it causes CAUSE of the change or more. A last series of launches proves the result.
"""

import math
import typing

from commcost.result import rank_test

CAUSE = 0.1              # share of the change from which a setting is a cause
LOOKS = (4, 5, 6, 8, 10, 12, 16, 20, 24)  # rounds after which the launches are evaluated
SURE = 0.97              # confidence of the intervals; 4 launches are enough for them
PROOF_LOOKS = (8, 12, 16, 24)
ALPHA = 0.01             # level of the proof
NOTHING = frozenset()    # the base


class Shares(typing.NamedTuple):
    """The shares of a row's change, 1 for the whole change."""

    together: float  # of all causes
    own: dict        # by cause, the mean of its shares without and with the others
    alone: dict      # by cause, its share without the others


def changes_of(values, scale):
    """Returns the change of a row from the base by combination, as a share of the base's value; for float, a
    difference."""
    base = list(map(scale, values[NOTHING]))
    shifts = {one: rank_test.rounds_shift(base, list(map(scale, several)), SURE).value
              for one, several in values.items()}
    return {one: math.expm1(shift) if scale is math.log else shift for one, shift in shifts.items()}


def shares_of(values, scale, causes, recorded, least):
    """Returns the Shares of `causes` in the change of a row. `values` are those of a Search's proof; `recorded` is the
    change in the results, `least` the end of its interval next to 0, both as shares of the base's value (for float,
    differences)."""
    found = changes_of(values, scale)
    # If the settings surely change the row less than in the results, the change has a further cause.
    now = found[max(values, key=len)]
    whole = now if abs(now) >= abs(least) else recorded
    own, alone = {}, {}
    for one in sorted(causes):
        alone[one] = found[frozenset([one])] / whole
        own[one] = (alone[one] + (found[causes] - found[causes - {one}]) / whole) / 2
    return Shares(found[causes] / whole, own, alone)


class Search:
    """A search among `count` settings. `launch(combination, round)` returns a row's value with these settings of the
    new side, or None if the launch failed. `recorded` is the change in the results, in the unit of `scale`: math.log,
    or float for values that may be 0. `rounds` were made before."""

    def __init__(self, launch, count, recorded, scale=math.log, rounds=0):
        self._launch, self._recorded, self._scale = launch, recorded, scale
        self.everything, self.rounds = frozenset(range(count)), rounds
        self.total = recorded       # change between the sides now
        self._found, self._open = NOTHING, [(self.everything, NOTHING)]  # parts to be searched, and their contexts

    def _values(self, combinations, looks, is_enough):
        """Launches combinations alternately until is_enough(values by combination), or to the last look. Returns the
        values, or None if a launch failed."""
        values = {one: [] for one in combinations}
        for number in range(looks[-1]):
            self.rounds += 1
            first = number % len(combinations)
            for one in combinations[first:] + combinations[:first]:
                value = self._launch(one, self.rounds)
                if value is None:
                    return None
                values[one].append(value)
            if number + 1 in looks and is_enough(values):
                break
        return values

    def _share(self, values, low, high):
        """Returns the Shift from one combination to another one, as a share of the change."""
        shift = rank_test.rounds_shift(*(list(map(self._scale, values[one])) for one in (low, high)), SURE)
        return rank_test.Shift(shift.value / self.total,
                               rank_test.Interval(*sorted(end / self.total for end in shift.interval)))

    def reproduce(self):
        """Returns the share of the recorded change that all settings cause, as a Shift. None if a launch failed."""
        sides = [NOTHING, self.everything]
        values = self._values(sides, LOOKS, lambda values: is_settled(self._share(values, *sides)))
        if values is None:
            return None
        share = self._share(values, *sides)
        self.total = share.value * self._recorded
        return share

    def causes(self):
        """Returns the settings that may cause the change."""
        while self._open:
            part, context = self._open[-1]
            parts = self._guilty_halves(part, context) if len(part) > 1 else []
            self._open[-1:] = parts
            self._found |= NOTHING if parts else part
        return self._found

    def suspects(self):
        """Returns the settings that may cause the change after an interrupted search."""
        return self._found.union(*(part for part, _ in self._open))

    def _guilty_halves(self, part, context):
        """Returns the halves of a part that change the time, each with the context in which it changes it more, or none
        if only the whole part does or a launch failed."""
        ordered = sorted(part)
        first, second = (frozenset(half) for half in (ordered[:len(part) // 2], ordered[len(part) // 2:]))

        def best(values, half, other):
            shares = [(self._share(values, before, before | half), before) for before in (context, context | other)]
            share, before = max(shares, key=lambda one: one[0].value)
            return share, before, is_cause(share) and is_settled(share) or all(is_settled(one) for one, _ in shares)

        def both(values):
            return [best(values, first, second), best(values, second, first)]

        values = self._values([context, context | first, context | second, context | part], LOOKS,
                              lambda values: all(is_enough for *_, is_enough in both(values)))
        return [] if values is None else [
            (half, before) for half, (share, before, _) in zip((first, second), both(values)) if is_cause(share)]

    def proof(self, causes):
        """Launches both sides, the causes, and each cause alone and left out, alternately. Returns the combinations,
        the range of rounds, and True if the causes surely change the row. None and False if a launch failed."""
        combinations = list(dict.fromkeys([NOTHING, self.everything, causes, *(frozenset([one]) for one in causes),
                                           *(causes - {one} for one in causes)]))
        first = self.rounds + 1

        def is_proved(values):
            rounds = [dict(enumerate(values[one])) for one in (NOTHING, causes)]
            return rank_test.rounds_p(*rounds) <= ALPHA / len(PROOF_LOOKS) and is_cause(
                self._share(values, NOTHING, causes))

        values = self._values(combinations, PROOF_LOOKS, is_proved)
        return combinations, range(first, self.rounds + 1), values is not None and is_proved(values)


def is_settled(share):
    return not share.interval.low <= CAUSE <= share.interval.high


def is_cause(share):
    return share.value > CAUSE and share.interval.low > 0
