"""Does it pay? For the scorecard: a function for each question, which comes to Lines with an answer and the sizes
for which it holds.

Answers rest on launches, six or more. The programs' own verdicts (their column verdict) know one launch only.
"""

import itertools
import typing

from commcost.reading import benchmarks
from commcost.reading.intervals import Measured, is_above, is_below, is_less
from commcost.reading.tables import NEW, Row, threshold_of
from commcost.saying import costs
from commcost.saying.facts import TIME_US, Line, listed, size_text, typical

YES, EVEN, NO, PARTLY, UNSURE = "yes", "even", "no", "partly", "not clear"
ORDER = (YES, PARTLY, EVEN, NO, UNSURE)
GROUPS = 8           # lines about non-blocking operations, from which on sizes are left out
THRESHOLD_PCT = 2.0  # of the programs' verdicts where results don't say theirs
ALIKE = 1.05         # times that differ by less are called equal
HIDES_PCT, BARE_PCT = 50, 10  # of an operation's time: so much hidden is worth it, so little is not

MORE = "needs more launches"
NAMES = {"isend": "send", "irecv": "receive", "sendrecv": "send with receive", "ibcast": "broadcast"}


class Way(typing.NamedTuple):
    """A way to communicate: what tells rows apart but for the size and calls of MPI_Test."""

    collective: str
    form: str
    method: str
    partitions: str

    @property
    def family(self):
        """What stands before the names of ways that share a line."""
        return {"halo": "Non-blocking halo by ", "partitioned": "Message in partitions: "}.get(self.collective,
                                                                                               "Non-blocking ")

    @property
    def name(self):
        """What it is called in its family."""
        return {"halo": self.method.replace("isend/irecv ", ""), "partitioned": self.partitions}.get(
            self.collective, NAMES.get(self.collective, self.collective.lstrip("i").replace("_", " ")))

    @property
    def full_name(self):
        kind = {"halo": "halo by ", "partitioned": "partitions: "}.get(self.collective, "")
        return ("persistent " if self.form == "persistent" and self.name != "persistent" else "") + kind + self.name


class Case(typing.NamedTuple):
    """A size of a way, with what decides: Measured ones, None where there is no value; and the threshold."""

    way: Way
    calls: str  # of MPI_Test: a number, or auto
    size: float
    row: Row
    overlap: typing.Optional[Measured]
    blocking: typing.Optional[Measured]
    exposed: typing.Optional[Measured]
    gain: typing.Optional[Measured]
    threshold_pct: float

    @property
    def where(self):
        """The size in words; "" for what has none."""
        box = self.row.keys.get("local", "NA")
        return box if box != "NA" else size_text(self.size) if self.size else ""


class Answer(typing.NamedTuple):
    """An answer, and the Cases (or Places) for which it holds, of all."""

    answer: str
    cases: list
    every: list

    @property
    def since(self):
        if self.answer == UNSURE:
            return ""
        first, last = self.cases[0].where, self.cases[-1].where
        if len(self.cases) == len(self.every):
            return "" if len(self.every) > 1 or not first else f"at {first}"
        if self.cases[-1] is self.every[-1]:
            return f"from {first}"
        if self.cases[0] is self.every[0]:
            return f"to {last}"
        return f"at {first}" if first == last else f"{first} – {last}"

    @property
    def rows(self):
        return tuple(case.row.identity for case in self.cases)


def answer_of(cases, verdicts):
    """The Answer of verdicts by size: yes at the most sizes in a row, else what holds at the most."""
    runs = [list(run) for _, run in itertools.groupby(zip(cases, verdicts), key=lambda pair: kind_of(pair[1]))]
    paying = [run for run in runs if run[0][1] == YES]
    best = max(reversed(paying or runs), key=len)
    found = {verdict for _, verdict in best}
    return Answer(found.pop() if len(found) == 1 else NO, [case for case, _ in best], cases)


def kind_of(verdict):
    """Even is no gain, too."""
    return NO if verdict == EVEN else verdict


def difference(one, other, even):
    """YES: one Measured is surely less than the other; EVEN: they surely differ by no more than that."""
    if not (one.is_sure and other.is_sure):
        return UNSURE
    if max(one.high, other.high) - min(one.low, other.low) <= even:
        return EVEN
    return YES if is_less(one, other) else NO if is_less(other, one) else UNSURE


def cases_of(tables):
    """All Cases by way, by rising size: of those that were measured over sizes these, of others that of the
    time-driven model."""
    found = {}
    for kind in tables.kinds():
        entry = benchmarks.entry_of(kind)
        if entry.kind not in ("overlap", "overlap_sweep"):
            continue
        threshold_pct = threshold_of(tables.of(NEW, kind))
        for row in tables.rows(kind):
            way = Way(*(row.keys[column] for column in Way._fields))
            values = (tables.value(row, kind, column) for column in ("overlap_pct", "blocking_us", "exposed_us", "gain_pct"))
            found.setdefault(way, {}).setdefault(entry.kind, []).append(
                Case(way, row.keys["test_calls"], row.size(), row, *values,
                     THRESHOLD_PCT if threshold_pct is None else threshold_pct))
    return {way: sorted(by_kind.get("overlap_sweep") or by_kind["overlap"], key=lambda case: case.size)
            for way, by_kind in found.items()}


# ---- non-blocking instead of blocking ------------------------------------------------------------

def going_nonblocking(tables):
    """Which operations pay against their blocking calls; those with the same answer in one line."""
    answers, ways = [], cases_of(tables)
    for way, cases in ways.items():
        if way.form == "persistent" and way._replace(form="nonblocking") in ways:
            continue
        for name, several in usual_calls(way, cases):
            judged = [(case, verdict_of(case)) for case in several if verdict_of(case)]
            if judged:
                answers.append((way.family, name, answer_of(*map(list, zip(*judged)))))
    groups = grouped(answers, lambda one: (one[0], one[2].answer, one[2].since))
    if len(groups) > GROUPS:
        groups = grouped(answers, lambda one: (one[0], one[2].answer))
    return [line_of(*zip(*group)) for group in groups]


def grouped(several, key):
    """Lists of those with the same key; the answers in their order."""
    groups = {}
    for one in sorted(several, key=lambda one: ORDER.index(one[2].answer)):
        groups.setdefault(key(one), []).append(one)
    return list(groups.values())


def line_of(families, names, answers):
    """The Line of ways with the same answer."""
    places = {answer.since for answer in answers}
    return Line(families[0] + listed(names, families[0]), answers[0].answer,
                places.pop() if len(places) == 1 else "at some sizes", "",
                why(answers[0].answer, [case for answer in answers for case in answer.cases]),
                tuple(row for answer in answers for row in answer.rows))


def usual_calls(way, cases):
    """Pairs of a name and cases: those without calls of MPI_Test, or where there are none with each
    number of them."""
    by_calls = {}
    for case in cases:
        by_calls.setdefault(case.calls, []).append(case)
    if "0" in by_calls:
        return [(way.name, by_calls["0"])]
    return [(f"{way.name} with {calls} MPI_Test", several) for calls, several in by_calls.items()]


def verdict_of(case):
    """By what is gained against the blocking call, or where that wasn't measured, by what is hidden; None where
    there is neither."""
    if case.gain is not None:
        if is_above(case.gain, case.threshold_pct):
            return YES
        if is_below(case.gain, -case.threshold_pct):
            return NO
        is_even = is_below(case.gain, case.threshold_pct) and is_above(case.gain, -case.threshold_pct)
        return EVEN if is_even else UNSURE
    return share_verdict(case.overlap) if case.overlap is not None else None


def share_verdict(found):
    """By the share of the time in percent in which the processor can work."""
    if is_above(found, HIDES_PCT):
        return YES
    if is_below(found, BARE_PCT):
        return NO
    return PARTLY if is_above(found, BARE_PCT) and is_below(found, HIDES_PCT) else UNSURE


def why(answer, cases):
    """The reason of an answer that holds for these cases."""
    if answer == UNSURE:
        return MORE
    if answer == EVEN:
        return "the blocking call takes as long"
    if answer == NO and all(is_below(case.overlap, BARE_PCT) for case in cases if case.overlap):
        return f"less than {BARE_PCT} % can be hidden"
    if answer == NO:
        return f"takes up to {max(-case.gain.value for case in cases):.0f} % longer"
    if all(case.gain for case in cases):
        return f"saves {between([case.gain for case in cases])}"
    return f"hides {between([case.overlap for case in cases])}"


def between(several):
    """The range of Measured shares."""
    low, high = (f"{end:.0f}" for end in (min(found.value for found in several), max(found.value for found in several)))
    return f"{low} %" if low == high else f"{low} to {high} %"


# ---- one way instead of another ------------------------------------------------------------------

def mpi_test(tables):
    """Whether less stays exposed with calls of MPI_Test during the work, where it was measured with some and
    without: of each way the size at which they save most."""
    lines = []
    for way, cases in cases_of(tables).items():
        sizes = {}
        for case in cases:
            if case.exposed is not None:
                sizes.setdefault((case.size, case.where), {})[case.calls] = case
        pairs = [(min((case for calls, case in by_calls.items() if calls != "0"), key=lambda case: case.exposed.value),
                  by_calls["0"]) for by_calls in sizes.values() if "0" in by_calls and len(by_calls) > 1]
        lines += of_pairs(f"MPI_Test during {way.full_name}", pairs,
                          lambda case: f"with {calls_of(case)}")
    return lines


def calls_of(case):
    best = case.row.median("best_test_calls") if case.calls == "auto" else float(case.calls)
    return "auto calls" if best is None else f"{best:.3g} call{'' if best == 1 else 's'}"


def persistent(tables):
    """Whether less stays exposed with persistent requests, where both were measured alike."""
    ways, lines = cases_of(tables), []
    for way, cases in ways.items():
        others = {(case.size, case.where, case.calls): case for case in ways.get(way._replace(form="nonblocking"), [])
                  if case.exposed is not None} if way.form == "persistent" else {}
        pairs = [(case, others[case.size, case.where, case.calls]) for case in cases
                 if case.exposed is not None and (case.size, case.where, case.calls) in others]
        # With calls of MPI_Test only where that is all there is.
        lines += of_pairs(f"Persistent requests for {way._replace(form='').full_name}",
                          [pair for pair in pairs if pair[0].calls == "0"] or pairs, lambda case: "")
    return lines


def of_pairs(what, pairs, how):
    """The Line of pairs of a case and the one that it is held against, by rising size."""
    if not pairs:
        return []
    answer = answer_of([case for case, _ in pairs],
                       [difference(case.exposed, other.exposed, even_us(other)) for case, other in pairs])
    case, other = pairs[[case for case, _ in pairs].index(answer.cases[-1])]
    note = MORE if answer.answer == UNSURE else (
        f"exposed{' at' * bool(case.where)} {case.where} {how(case)}".rstrip() +
        f": {typical(case.exposed, TIME_US)}, without {typical(other.exposed, TIME_US)}")
    return [Line(what, answer.answer, answer.since, "", note, answer.rows + (other.row.identity,))]


def even_us(case):
    """So much of the time of an operation doesn't matter."""
    return case.threshold_pct / 100 * (case.blocking or case.exposed).value


def put_instead_of_send(tables):
    """Whether a put, with what tells its partner, is quicker than a send, by size."""
    sends = {row.keys["ndata"]: found for row, found in costs.of_pattern(tables, "latency_us", "MPI Send")}
    puts = {}
    for row, found in costs.of_pattern(tables, "latency_us", "put"):
        # The quickest of several ways to put.
        before = puts.get(row.keys["ndata"])
        if row.keys["ndata"] in sends and (before is None or found.value < before.found.value):
            puts[row.keys["ndata"]] = Place(size_text(costs.bytes_of(row)), row, found)
    if not puts:
        return []
    verdicts = [difference(place.found, sends[size], (ALIKE - 1) * sends[size].value) for size, place in puts.items()]
    answer = answer_of(list(puts.values()), verdicts)
    unlike = [place for place, verdict in zip(puts.values(), verdicts) if verdict in (YES, NO) and place in answer.cases]
    note = MORE if answer.answer == UNSURE else "equal within 5 %"
    if unlike:
        place = unlike[-1 if answer.answer == YES else 0]
        note = f"takes {place.found.value / sends[place.row.keys['ndata']].value:.2g} times as long at {place.where}"
    return [Line("MPI_Put instead of send", answer.answer, answer.since, "", note, answer.rows)]


class Place(typing.NamedTuple):
    """A size, and what was measured there."""

    where: str
    row: Row
    found: Measured


def work_under_messages(tables):
    """How much of a transfer's time the processor has for work."""
    lines = []
    for direction, name in (("send", "sent"), ("recv", "received")):
        places = [Place(size_text(row.size("msgsize")), row, found) for row, found in sorted(
            costs.of_direction(tables, "avail(%)", direction), key=lambda pair: pair[0].size("msgsize"))]
        if places:
            answer = answer_of(places, [share_verdict(place.found) for place in places])
            note = f"{between([place.found for place in answer.cases])} of the time is free"
            lines.append(Line(f"Work while a message is {name}", answer.answer, answer.since, "",
                              MORE if answer.answer == UNSURE else note, answer.rows))
    return lines


GAINS = (going_nonblocking, work_under_messages, mpi_test, persistent, put_instead_of_send)
