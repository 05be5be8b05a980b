"""What results say about going non-blocking: whether it saves time, whether calls of MPI_Test help, and
whether persistent requests do.

The programs judge by the rounds of one launch (their column verdict); what is said here is judged
by launches (intervals.py), with the same threshold.
"""

import typing

from commcost.reading import benchmarks
from commcost.reading.intervals import Measured, is_above, is_below, is_less, measured
from commcost.reading.tables import NEW, Row, threshold_of
from commcost.saying.finding import NAMES, Finding, can_not_tell
from commcost.words import bytes_text, listed, short

THRESHOLD_PCT = 2.0  # of the programs' verdicts where results don't say theirs
DETAILS = 3          # operations of a sentence that have numbers
OTHERS = 3           # ranges of sizes with another verdict that are said of an operation

# Verdicts, as verbs of a sentence.
PAYS, LOSES, EVEN, UNSURE = "pays", "loses", "is even", "is unsure"


class Way(typing.NamedTuple):
    """A way to communicate: what tells rows apart but for the size and calls of MPI_Test."""

    collective: str
    form: str
    method: str
    partitions: str

    @property
    def name(self):
        return name_of(self)


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
    def size_told(self):
        """"" for what has no size."""
        box = self.row.keys.get("local", "NA")
        return f"box {box}" if box != "NA" else bytes_text(self.size) if self.size else ""

    @property
    def of_size(self):
        return f" of {self.size_told}" if self.size_told else ""

    @property
    def calls_told(self):
        if self.calls != "auto":
            return self.calls
        best = self.row.median("best_test_calls")
        if best is None:
            return "auto"
        return f"{int(best) if best == int(best) else short(best)} (auto)"


# ---- names ---------------------------------------------------------------------------------------

def name_of(way):
    """The calls of a way."""
    form = " (persistent)" if way.form == "persistent" else ""
    if way.collective == "halo":
        return f"a halo swap by {way.method}" + ("" if "persistent" in way.method else form)
    if way.collective == "partitioned":
        return f"a message in {way.partitions} partitions"
    if way.collective == "sendrecv":
        return "MPI_Isend with MPI_Irecv" + form
    if way.collective in ("put", "get"):
        return f"MPI_R{way.collective}"
    return f"MPI_{way.collective.capitalize()}{form}"


# ---- what there is -------------------------------------------------------------------------------

def cases_of(tables):
    """All Cases by way: of those that were measured over sizes these, of others that of the
    time-driven model."""
    found = {}
    for kind in tables.kinds():
        entry = benchmarks.entry_of(kind)
        if entry.kind not in ("overlap", "overlap_sweep"):
            continue
        quantities = {quantity.column: quantity for quantity in entry.quantities}
        threshold_pct = threshold_of(tables.of(NEW, kind))
        for row in tables.rows(kind):
            way = Way(*(row.keys[column] for column in Way._fields))
            values = (measured(row, quantities[column])
                      for column in ("blocking_us", "exposed_us", "gain_pct"))
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
        for name, several in usual_calls(way.name, [case for case in cases
                                                    if case.gain is not None]):
            verdicts = [case.verdict for case in several]
            group = next((verdict for verdict in (PAYS, LOSES, EVEN) if verdict in verdicts), UNSURE)
            groups[group].append((name, several, verdicts))
    said = []
    for group, words in ((PAYS, "Going non-blocking pays with plenty of work"),
                         (LOSES, "Going non-blocking loses even with plenty of work"),
                         (EVEN, "Going non-blocking makes no difference even with plenty of work")):
        if groups[group]:
            said.append(finding_of(groups[group], group, words))
    unsure = groups[UNSURE]
    if unsure:
        widths = [case.gain.width for _, several, _ in unsure for case in several]
        why = ("their gains have no intervals" if None in widths else
               f"the intervals of their gains are up to {short(max(widths))} points wide")
        said.append(can_not_tell(
            "whether going non-blocking pays for " +
            listed((name for name, _, _ in unsure), NAMES), why,
            [case.row for _, several, _ in unsure for case in several[-1:]]))
    return said


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


def finding_of(group, verdict, words):
    """The Finding on operations of a verdict: those with the largest gains or losses first, with
    numbers, at the largest size that has it."""
    shown = [(name, several, verdicts, [case for case, own in zip(several, verdicts)
                                        if own == verdict][-1])
             for name, several, verdicts in group]
    shown.sort(key=lambda one: -abs(one[3].gain.value))
    parts = []
    for place, (name, several, verdicts, case) in enumerate(shown):
        text = f"{name} {ranges_told(several, verdicts, verdict)}".rstrip()
        if place < DETAILS:
            text += f" ({numbers_told(case, case.of_size if len(several) > 1 else '')})"
        parts.append(text)
    return Finding(f"{words}: {'; '.join(cut(parts))}.",
                   tuple(case.row for _, _, _, case in shown))


def numbers_told(case, of_size):
    takes = (f", the blocking call takes {case.blocking.told('µs')}" if case.blocking is not None
             else "")
    return (f"{of_size[1:]}{': ' if of_size else ''}{case.exposed.told('µs')} stay exposed{takes}: "
            f"a gain of {case.gain.told('%')}")


def ranges_told(cases, verdicts, wanted):
    """At which sizes a verdict holds, and which ones hold at others: "from 64KiB on, loses
    below"."""
    if len(cases) == 1:
        return cases[0].of_size[1:]
    runs = []  # of sizes with the same verdict: the verdict, the first and the last place
    for place, verdict in enumerate(verdicts):
        if runs and runs[-1][0] == verdict:
            runs[-1][2] = place
        else:
            runs.append([verdict, place, place])
    own = [run for run in runs if run[0] == wanted]
    others = [run for run in runs if run[0] != wanted]
    text = listed(range_told(cases, *run[1:]) for run in own)
    if len(others) > OTHERS:
        return f"{text}, not at other sizes"
    for run in others:
        where = range_told(cases, *run[1:])
        if len(own) == 1 and len(others) == 1:
            where = "below" if run[1] < own[0][1] else "above"
        text += f", {run[0]} {where}"
    return text


def range_told(cases, first, last):
    least, most = cases[first].size_told, cases[last].size_told
    if first == 0 and last == len(cases) - 1:
        return "at every size that was measured"
    if last == len(cases) - 1:
        return f"from {least} on"
    if first == 0:
        return f"up to {most}"
    return f"at {least}" if first == last else f"from {least} to {most}"


# ---- calls of MPI_Test ---------------------------------------------------------------------------

def tests_that_help(tables):
    """With how many calls of MPI_Test during the work the least stays exposed, where it was measured
    with some and without."""
    help_most, cost, unsure = [], [], []
    for cases in cases_of(tables).values():
        by_size = {}
        for case in cases:
            by_size.setdefault((case.size, case.size_told), {})[case.calls] = case
        helped, harmed, untold = [], [], []
        for by_calls in by_size.values():
            without = by_calls.pop("0", None)
            if without is None or not by_calls:
                continue
            best = min(by_calls.values(), key=lambda case: case.exposed.value)
            if is_less(best.exposed, without.exposed):
                helped.append((best, without, list(by_calls.values())))
            elif all(is_less(without.exposed, case.exposed) for case in by_calls.values()):
                harmed.append((best, without))
            else:
                untold.append(without)
        # The largest size, where there is the most to be saved.
        help_most += helped[-1:]
        cost += [] if helped else harmed[-1:]
        unsure += [] if helped or harmed else untold[-1:]
    said = []
    if help_most:
        said.append(Finding(
            "With calls of MPI_Test during the work less stays exposed: "
            f"{'; '.join(cut(map(help_told, by_ratio(help_most))))}.",
            tuple(case.row for best, without, _ in help_most for case in (best, without))))
    if cost:
        parts = (f"{best.way.name}{best.of_size} ({best.exposed.told('µs')} at best with calls, "
                 f"{without.exposed.told('µs')} without)" for best, without in cost)
        said.append(Finding(
            f"Calls of MPI_Test during the work only cost time: {'; '.join(cut(parts))}.",
            tuple(case.row for pair in cost for case in pair)))
    if unsure:
        said.append(can_not_tell(
            "whether calls of MPI_Test help " +
            listed((f"{case.way.name}{case.of_size}" for case in unsure), NAMES),
            "the intervals of what stays exposed are as wide as what they differ by",
            [case.row for case in unsure]))
    return said


def by_ratio(found):
    """Tuples that begin with two cases, those that differ most first."""
    return sorted(found, key=lambda one: -abs(one[1].exposed.value - one[0].exposed.value))


def cut(texts):
    texts = list(texts)
    more = len(texts) - NAMES
    return texts if more <= 0 else [*texts[:NAMES - 1], f"{more + 1} more"]


def help_told(found):
    """An operation with its best number of calls, and others that may be as good."""
    best, without, every = found
    as_good = [case for case in every if case is best or not is_less(best.exposed, case.exposed)]
    as_good.sort(key=lambda case: (case.calls == "auto", len(case.calls), case.calls))
    calls = " or ".join(case.calls_told for case in as_good)
    noun = "call" if calls == "1" else "calls"
    return (f"{best.way.name}{best.of_size}, least at {calls} {noun} "
            f"({best.exposed.told('µs')}, without {without.exposed.told('µs')}"
            f"{turned(best, without, 'with them', 'without')})")


def turned(one, other, of_one, of_other):
    """Both verdicts where they differ and are sure."""
    if one.gain is None or other.gain is None:
        return ""
    first, second = one.verdict, other.verdict
    if first == second or UNSURE in (first, second):
        return ""
    return f"; going non-blocking {first} {of_one}, {second} {of_other}"


# ---- persistent requests -------------------------------------------------------------------------

def persistent_requests(tables):
    """Whether less stays exposed with persistent requests, where both were measured alike."""
    every = cases_of(tables)
    less, more, unsure = [], [], []
    for way, cases in every.items():
        if way.form != "persistent":
            continue
        others = {(case.size, case.size_told, case.calls): case
                  for case in every.get(way._replace(form="nonblocking"), [])}
        pairs = [(case, others[case.size, case.size_told, case.calls]) for case in cases
                 if (case.size, case.size_told, case.calls) in others]
        # With calls of MPI_Test only where that is all there is.
        pairs = [pair for pair in pairs if pair[0].calls == "0"] or pairs
        sooner = [pair for pair in pairs if is_less(pair[0].exposed, pair[1].exposed)]
        later = [pair for pair in pairs if is_less(pair[1].exposed, pair[0].exposed)]
        less += by_share(sooner)[:1]
        more += by_share(later)[:1]
        unsure += [] if sooner or later else pairs[-1:]
    said = []
    for found, words in ((less, "less"), (more, "more")):
        if found:
            said.append(Finding(
                f"With persistent requests {words} stays exposed, the most so of: "
                f"{'; '.join(cut(map(persistent_told, by_share(found))))}.",
                tuple(case.row for pair in found for case in pair)))
    if unsure:
        said.append(can_not_tell(
            "whether persistent requests leave less exposed of " +
            listed((case.way._replace(form='nonblocking').name for case, _ in unsure), NAMES),
            "the intervals of what stays exposed are as wide as what they differ by",
            [case.row for pair in unsure for case in pair]))
    return said


def by_share(pairs):
    """Those first that differ by the largest share."""
    def share(pair):
        least, most = sorted(case.exposed.value for case in pair)
        return (most - least) / most if most > 0 else 0.0
    return sorted(pairs, key=share, reverse=True)


def persistent_told(pair):
    persistent, other = pair
    tests = f" with calls of MPI_Test ({other.calls})" if other.calls != "0" else ""
    return (f"{other.way.name}{other.of_size}{tests} ({persistent.exposed.told('µs')}, nonblocking "
            f"{other.exposed.told('µs')}{turned(persistent, other, 'with them', 'without')})")
