"""Experiments: the job as it is and with a remedy, launched alternately.

The evidence is the exact rank tests of rank_test.rounds_p, with Bonferroni's correction for the two LOOKS and Holm's
over all experiments of a check-up. The gain's interval is the signed-rank test's, at 95 %. A remedy whose gain isn't
shown isn't recommended.
"""

import math
import time
import typing

from commcost.result import rank_test

LOOKS = (10, 25)      # pairs of launches: more only where the first ones hint at a gain
HINT, CLEAR = 0.4, 0.001  # p-values between which more pairs are made
ALPHA = 0.01          # chance of one false gain or more in a check-up
LEAST_GAIN = 1.02     # a smaller one makes no difference
SHORT = ("--visits=1", "--max-time=0.02")  # of each launch


class Gain(typing.NamedTuple):
    """How many times faster the remedy makes a measurement."""

    fact: str
    ratio: float
    low: float
    high: float
    p: float


class Failed(typing.NamedTuple):
    """A launch with the remedy failed, or lacked the measurement."""

    text: str


def time_of(measured, unit):
    """A measurement as a time; the inverse of a bandwidth."""
    return measured.value if unit == "us" else 1 / measured.value


def first_gains(jobs, asked, deadline_s):
    """Launches once with each (setting, fact), to try the most suspicious first. Returns times faster; 1: unknown."""
    base, outcomes, gains = jobs.measure(options=SHORT), [], []
    for setting, fact in asked:
        seen = next((outcome for other, outcome in outcomes if other == setting), None)
        if seen is None and time.monotonic() < deadline_s:
            seen = jobs.measure(setting, SHORT)
            outcomes.append((setting, seen))
        times = [time_of(*outcome.facts.measured[fact]) for outcome in (base, seen)
                 if outcome and outcome.facts and fact in outcome.facts.measured]
        gains.append(times[0] / times[1] if len(times) == 2 else 1.0)
    return gains


def run(jobs, remedy, fact, deadline_s):
    """Makes an experiment: a Gain, a Failed, or None if the time is too short for it."""
    sides, seconds = {False: {}, True: {}}, 0.0  # by remedy or not, the number of the pair: times
    gain = None
    for look in LOOKS:
        for number in range(len(sides[True]), look):
            start = time.monotonic()
            if start + (look - number) * seconds > deadline_s:
                return gain
            for one in (None, remedy) if number % 2 == 0 else (remedy, None):
                outcome = jobs.measure(one, SHORT) if one else jobs.measure(options=SHORT)
                if outcome.facts is None or fact not in outcome.facts.measured:
                    return Failed(outcome.text) if one else gain
                sides[one is not None][number] = time_of(*outcome.facts.measured[fact])
            seconds = max(seconds, time.monotonic() - start)
        gain = gain_of(fact, sides[False], sides[True])
        if not (CLEAR < gain.p <= HINT and gain.ratio >= LEAST_GAIN):
            break
    return gain


def gain_of(fact, base, other):
    """The Gain that these times show, by the number of their pair."""
    shift = rank_test.signed_rank_shift([math.log(base[at] / other[at]) for at in base], 0.95)
    return Gain(fact, math.exp(shift.value), math.exp(shift.interval.low), math.exp(shift.interval.high),
                min(1.0, len(LOOKS) * rank_test.rounds_p(base, other)))


def shown(gains):
    """Those of these Gains, None and Failed that are shown, by their place."""
    places = [place for place, gain in enumerate(gains) if isinstance(gain, Gain)]
    corrected = rank_test.holm([gains[place].p for place in places])
    return {place for place, p in zip(places, corrected)
            if p <= ALPHA and gains[place].ratio >= LEAST_GAIN and gains[place].low > 1}
