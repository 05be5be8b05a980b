"""What results say about going non-blocking: whether it saves time, whether calls of MPI_Test help, and
whether persistent requests do. Their words are in sentences.py.

The programs judge by the rounds of one launch (their column verdict); what is said here is judged
by launches (intervals.py), with the same threshold.
"""

import typing

from commcost.reading import benchmarks
from commcost.reading.intervals import Measured, is_above, is_below, is_less
from commcost.reading.tables import NEW, Row, threshold_of
from commcost.saying import sentences

THRESHOLD_PCT = 2.0  # of the programs' verdicts where results don't say theirs

# Verdicts, as verbs of a sentence.
PAYS, LOSES, EVEN, UNSURE = "pays", "loses", "is even", "is unsure"


class Way(typing.NamedTuple):
    """A way to communicate: what tells rows apart but for the size and calls of MPI_Test."""

    collective: str
    form: str
    method: str
    partitions: str


class Case(typing.NamedTuple):
    """A row of a way, with what decides: Measured ones, None where there is no value."""

    way: Way
    calls: str  # of MPI_Test: a number, or auto
    size: float
    row: Row
    blocking: typing.Optional[Measured]
    exposed: typing.Optional[Measured]
    gain: typing.Optional[Measured]
    threshold_pct: float

    @property
    def verdict(self):
        """PAYS, LOSES or EVEN where the launches make it clear, else UNSURE."""
        if is_above(self.gain, self.threshold_pct):
            return PAYS
        if is_below(self.gain, -self.threshold_pct):
            return LOSES
        if is_below(self.gain, self.threshold_pct) and is_above(self.gain, -self.threshold_pct):
            return EVEN
        return UNSURE

    @property
    def sure_verdict(self):
        """The verdict; None where it isn't sure or the gain wasn't measured."""
        return None if self.gain is None or self.verdict == UNSURE else self.verdict

    @property
    def setting(self):
        """What a case of another way must have, too, to be compared."""
        return self.size, sentences.size_of(self), self.calls


def cases_of(tables):
    """All Cases by way: of those that were measured over sizes these, of others that of the
    time-driven model."""
    found = {}
    for kind in tables.kinds():
        entry = benchmarks.entry_of(kind)
        if entry.kind not in ("overlap", "overlap_sweep"):
            continue
        threshold_pct = threshold_of(tables.of(NEW, kind))
        for row in tables.rows(kind):
            way = Way(*(row.keys[column] for column in Way._fields))
            values = (tables.value(row, kind, column) for column in ("blocking_us", "exposed_us", "gain_pct"))
            case = Case(way, row.keys["test_calls"], row.size(), row, *values,
                        THRESHOLD_PCT if threshold_pct is None else threshold_pct)
            if case.exposed is not None:
                found.setdefault(way, {}).setdefault(entry.kind, []).append(case)
    return {way: sorted(by_kind.get("overlap_sweep") or by_kind["overlap"],
                        key=lambda case: case.size) for way, by_kind in found.items()}


# ---- does it pay? --------------------------------------------------------------------------------

def what_pays(tables):
    """Which operations pay against their blocking calls, at which sizes, and what stays exposed."""
    every = cases_of(tables)
    groups = {PAYS: [], LOSES: [], EVEN: [], UNSURE: []}
    for way, cases in every.items():
        if way.form == "persistent" and way._replace(form="nonblocking") in every:
            continue
        for name, several in usual_calls(sentences.name_of(way), [case for case in cases
                                                                  if case.gain is not None]):
            verdicts = [case.verdict for case in several]
            group = next((verdict for verdict in (PAYS, LOSES, EVEN) if verdict in verdicts), UNSURE)
            groups[group].append((name, several, verdicts))
    said = [sentences.pays(verdict, groups[verdict]) for verdict in (PAYS, LOSES, EVEN) if groups[verdict]]
    return said + ([sentences.unclear_gain(groups[UNSURE])] if groups[UNSURE] else [])


def usual_calls(name, cases):
    """Pairs of a name and cases: those without calls of MPI_Test, or where there are none with each
    number of them."""
    by_calls = {}
    for case in cases:
        by_calls.setdefault(case.calls, []).append(case)
    if "0" in by_calls:
        return [(name, by_calls["0"])]
    return [(f"{name} with calls of MPI_Test ({calls})", several)
            for calls, several in by_calls.items()]


# ---- calls of MPI_Test ---------------------------------------------------------------------------

def tests_that_help(tables):
    """With how many calls of MPI_Test during the work the least stays exposed, where it was measured
    with some and without."""
    help_most, cost, unsure = [], [], []
    for cases in cases_of(tables).values():
        by_size = {}
        for case in cases:
            by_size.setdefault(case.setting[:2], {})[case.calls] = case
        helped, harmed, untold = [], [], []
        for by_calls in by_size.values():
            without = by_calls.pop("0", None)
            if without is None or not by_calls:
                continue
            best = min(by_calls.values(), key=lambda case: case.exposed.value)
            if is_less(best.exposed, without.exposed):
                helped.append((best, without, as_good_as(best, by_calls.values())))
            elif all(is_less(without.exposed, case.exposed) for case in by_calls.values()):
                harmed.append((best, without))
            else:
                untold.append(without)
        # The largest size, where there is the most to be saved.
        help_most += helped[-1:]
        cost += [] if helped else harmed[-1:]
        unsure += [] if helped or harmed else untold[-1:]
    help_most.sort(key=lambda one: -abs(one[1].exposed.value - one[0].exposed.value))
    return [say(found) for say, found in ((sentences.tests_help, help_most), (sentences.tests_cost, cost),
                                          (sentences.unclear_tests, unsure)) if found]


def as_good_as(best, cases):
    """The best of cases with different numbers of calls, and those that may be as good."""
    return sorted((case for case in cases if case is best or not is_less(best.exposed, case.exposed)),
                  key=lambda case: (case.calls == "auto", len(case.calls), case.calls))


# ---- persistent requests -------------------------------------------------------------------------

def persistent_requests(tables):
    """Whether less stays exposed with persistent requests, where both were measured alike."""
    every = cases_of(tables)
    less, more, unsure = [], [], []
    for way, cases in every.items():
        if way.form != "persistent":
            continue
        others = {case.setting: case for case in every.get(way._replace(form="nonblocking"), [])}
        pairs = [(case, others[case.setting]) for case in cases if case.setting in others]
        # With calls of MPI_Test only where that is all there is.
        pairs = [pair for pair in pairs if pair[0].calls == "0"] or pairs
        sooner = [pair for pair in pairs if is_less(pair[0].exposed, pair[1].exposed)]
        later = [pair for pair in pairs if is_less(pair[1].exposed, pair[0].exposed)]
        less += by_share(sooner)[:1]
        more += by_share(later)[:1]
        unsure += [] if sooner or later else pairs[-1:]
    said = [sentences.persistent(word, by_share(found)) for word, found in (("less", less), ("more", more)) if found]
    return said + ([sentences.unclear_persistent(unsure)] if unsure else [])


def by_share(pairs):
    """Those first that differ by the largest share."""
    def share(pair):
        least, most = sorted(case.exposed.value for case in pair)
        return (most - least) / most if most > 0 else 0.0
    return sorted(pairs, key=share, reverse=True)
