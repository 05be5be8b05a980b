# SPDX-License-Identifier: BSD-3-Clause
"""Experiments: the job as it is and with a remedy, launched alternately.

The evidence is the exact rank tests of rank_test.rounds_p, with Bonferroni's correction for the two LOOKS and Holm's
over all experiments of a check-up. The gain's interval is the signed-rank test's, at 95 %. A remedy whose gain isn't
shown isn't recommended.
"""

import math
import time
import typing

from commcost.checkup.jobs import SHORT
from commcost.result import rank_test

LOOKS = (10, 25)      # pairs of launches: more only where the first ones hint at a gain
HINT, CLEAR = 0.4, 0.001  # p-values between which more pairs are made
ALPHA = 0.01          # chance of one false gain or more in a check-up
LEAST_GAIN = 1.02     # a smaller one makes no difference


class Gain(typing.NamedTuple):
    """How many times faster the remedy makes a measurement."""

    fact: str
    ratio: float
    low: float
    high: float
    p: float


FAILED = "failed"  # instead of a Gain: a launch with the remedy failed, or lacked the measurement


def time_of(measured, unit):
    """A measurement as a time; the inverse of a bandwidth."""
    return measured.value if unit == "us" else 1 / measured.value


def times_of(outcome):
    """The times of a launch by fact; none of a launch that failed."""
    return {fact: time_of(*one) for fact, one in outcome.facts.measured.items()} if outcome.facts else {}


def first_gains(jobs, settings, deadline_s):
    """Launches once with each setting, to try the most suspicious first. Returns by setting the largest number of times
    faster; 0: the launch failed."""
    base, gains = times_of(jobs.measure(options=SHORT)), {}
    for setting in settings:
        gains[setting] = 1.0
        if base and time.monotonic() < deadline_s:
            outcome = jobs.measure(setting, SHORT)
            seen = times_of(outcome)
            gains[setting] = max((base[fact] / seen[fact] for fact in seen if fact in base),
                                 default=1.0 if outcome.out_of_time else 0.0)
    return gains


def run(jobs, remedy, facts, deadline_s):
    """Makes the experiment of a setting. Returns by fact a Gain, FAILED, or None if the time is too short for it."""
    sides, seconds = {False: [], True: []}, 0.0  # with the remedy or without: times by fact, of each launch
    gains = dict.fromkeys(facts)
    for look in LOOKS:
        for number in range(len(sides[True]), look):
            start = time.monotonic()
            if start + (look - number) * seconds > deadline_s:
                return gains
            for one in (None, remedy) if number % 2 == 0 else (remedy, None):
                outcome = jobs.measure(one, SHORT) if one else jobs.measure(options=SHORT)
                if outcome.facts is None:
                    return dict.fromkeys(facts, FAILED) if one and not outcome.out_of_time else gains
                sides[one is not None].append(times_of(outcome))
            seconds = max(seconds, time.monotonic() - start)
        for fact in facts:
            base, other = ({number: times[fact] for number, times in enumerate(side) if fact in times}
                           for side in (sides[False], sides[True]))
            gains[fact] = gain_of(fact, base, other) if len(base) == len(other) == look else FAILED
        if not any(isinstance(gain, Gain) and CLEAR < gain.p <= HINT and gain.ratio >= LEAST_GAIN
                   for gain in gains.values()):
            break
    return gains


def gain_of(fact, base, other):
    """The Gain that these times show, by the number of their pair."""
    shift = rank_test.signed_rank_shift([math.log(base[at] / other[at]) for at in base], 0.95)
    return Gain(fact, math.exp(shift.value), math.exp(shift.interval.low), math.exp(shift.interval.high),
                min(1.0, len(LOOKS) * rank_test.rounds_p(base, other)))


def shown(gains):
    """Those of these Gains, None and FAILED that are shown, by their place."""
    places = [place for place, gain in enumerate(gains) if isinstance(gain, Gain)]
    corrected = rank_test.holm([gains[place].p for place in places])
    return {place for place, p in zip(places, corrected)
            if p <= ALPHA and gains[place].ratio >= LEAST_GAIN and gains[place].low > 1}
