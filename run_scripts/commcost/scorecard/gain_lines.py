# SPDX-License-Identifier: BSD-3-Clause
"""Lines about gains: is a call worth it? A function for each question yields Sizes of calls. Texts are in
card_table.py.

Answers need at least six launches. The programs' verdicts (column verdict) are based on a single launch.
"""

import functools
import itertools
import typing

from commcost.result import benchmarks
from commcost.result.intervals import LAUNCHES_ENOUGH, THRESHOLD_PCT, Measured, is_above, is_below, measured
from commcost.result.tables import NEW, Row, threshold_of
from commcost.scorecard import card_table, cost_lines
from commcost.scorecard.card_table import COST_LINES, GAIN_LINES
from commcost.scorecard.fact_lines import TIME_US, Line, digits_of, number, range_text, size_text, value_text
from commcost.words import UNSURE, grouped
from commcost.words import size_text as option_text

YES, PARTLY, EVEN, NO = "yes", "partly", "even", "no"
LOSES = "loses"  # verdict on a size; the answer is no
ANSWERS = YES, PARTLY, EVEN, NO, UNSURE
LINES = 12           # min lines for which sizes are left out
PLACE = 28           # max characters of the sizes of an answer; more become "some sizes"
MANY = 8             # sizes, of which a single one may be chance
SLOWER_PCT = 5.0     # least excess of a collective over other calls, as in collective
SLOW_LINES = 5       # max lines about that
PLACED_PCT = 5.0     # least saving by a placement of buffers
HIDES_PCT, BARE_PCT = 50, 10  # of an operation's time: min share that is worth it, max share that isn't

MESSAGES = {"isend": ("MPI_Isend", "MPI_Send_init"), "irecv": ("MPI_Irecv", "MPI_Recv_init"),
            "sendrecv": ("MPI_Isend + MPI_Irecv", "MPI_Send_init + MPI_Recv_init"),
            "put": ("MPI_Rput", "MPI_Rput"), "get": ("MPI_Rget", "MPI_Rget")}  # non-blocking; persistent


class Size(typing.NamedTuple):
    """An answer at a size: the verdict, and the time saved in percent of the alternative's time."""

    where: str
    row: Row
    verdict: str
    saved_pct: float
    launches: int            # number with this answer
    calls: str = ""          # number of calls of MPI_Test
    share: str = ""          # text for saved_pct if only the share that can be hidden is known
    is_bare: bool = False    # hardly anything can be hidden


class Answer(typing.NamedTuple):
    """An answer about a member of a family, and the runs of Sizes, among all sizes, for which it holds."""

    family: str  # of GAIN_LINES
    name: str
    runs: list
    every: list

    @property
    def sizes(self):
        return [size for run in self.runs for size in run]

    @property
    def verdict(self):
        """Returns the verdict common to all sizes, or NO if they differ or one loses."""
        found = {size.verdict for size in self.sizes}
        return found.pop() if len(found) == 1 and LOSES not in found else NO

    @property
    def place(self):
        """Returns the sizes in words."""
        if len(self.every) == 1 or not self.every[0].where:
            return self.every[0].where
        if len(self.sizes) == len(self.every):
            return card_table.ALL_SIZES
        text = ", ".join(map(self.run_text, self.runs))
        return card_table.SOME_SIZES if self.verdict == UNSURE or len(text) > PLACE else text

    def run_text(self, run):
        first, last = run[0], run[-1]
        if first is last:
            return first.where
        if last is self.every[-1]:
            return f"from {first.where}"
        return f"to {last.where}" if first is self.every[0] else f"{first.where}–{last.where}"


def answers_of(family, name, sizes):
    """Returns the Answers: yes and no, each with all of its sizes, or without either the answer of the most successive
    sizes. A single one of MANY sizes gives no answer."""
    runs = [list(run) for _, run in itertools.groupby(
        sizes, lambda size: NO if size.verdict in (EVEN, LOSES) else size.verdict)]
    enough = [run for run in runs if len(run) > 1 or len(sizes) < MANY]
    yes, no = ([run for run in enough if any(size.verdict in verdicts for size in run)]
               for verdicts in ((YES,), (NO, LOSES)))
    if no:
        no = [run for run in enough if run[0].verdict in (NO, EVEN, LOSES)]
    # The last one of those with the most sizes.
    others = [] if yes or no else [max(reversed(runs), key=len)]
    return [Answer(family, name, several, sizes) for several in (yes, no, others) if several]


def gains(tables):
    """Returns the Lines of all questions, in order of verdicts, then questions. Calls with the same answer at the same
    sizes share a line; if there are many lines, so do calls with the same answer."""
    asked = [one for question in QUESTIONS for one in question(tables) if one[-1]]
    every = [answer for one in asked for answer in answers_of(*one)]
    groups = grouped(every, lambda answer: (answer.family, answer.verdict, answer.place))
    if len(groups) > LINES:
        groups = grouped(every, lambda answer: (answer.family, answer.verdict))
    return [line_of(group) for group in sorted(groups, key=lambda group: ANSWERS.index(group[0].verdict))]


def line_of(answers):
    """Returns the Line of Answers of a family with the same verdict."""
    verdict, places = answers[0].verdict, {answer.place for answer in answers}
    sizes = [size for answer in answers for size in answer.sizes]
    between = " or " if answers[0].family == "put" else ", "
    label = GAIN_LINES[answers[0].family].format(between.join(dict.fromkeys(answer.name for answer in answers)))
    return Line(label, NO if verdict == EVEN else verdict, places.pop() if len(places) == 1 else card_table.SOME_SIZES,
                note=gain_text(verdict, sizes), rows=tuple(size.row.identity for size in sizes))


def gain_text(verdict, sizes):
    """Returns the gain or loss of a verdict, or why it isn't clear."""
    if verdict == UNSURE:
        are_enough = all(size.launches >= LAUNCHES_ENOUGH for size in sizes)
        return card_table.DISAGREE if are_enough else card_table.TOO_FEW
    if verdict in (EVEN, NO):
        most = max((-size.saved_pct for size in sizes if size.verdict == LOSES), default=None)
        if most is not None:
            return (card_table.MORE_TIME.format(f"{most:.0f}") if most < 100 else
                    card_table.TIMES_AS_LONG.format(times_text(1 + most / 100)))
        if all(size.is_bare for size in sizes):
            return (sizes[0].share or card_table.HIDES).format(card_table.LITTLE.format(BARE_PCT))
        return card_table.EVEN_NOTE if verdict == EVEN else card_table.NO_NOTE
    low, high = (f"{end(size.saved_pct for size in sizes):.0f}" for end in (min, max))
    calls = ", ".join(dict.fromkeys(size.calls for size in sizes))
    share = f"{low if low == high else f'{low}–{high}'} %"
    return (sizes[0].share or card_table.SAVES).format(share) + (
        card_table.WITH_CALLS.format(calls, "" if calls == "1" else "s") if calls else "")


def times_text(factor):
    """Returns a factor with two digits, or all digits before the point: 3.5, 120."""
    return number(factor, factor, ((0, 1, ""),), 2)


# ---- verdicts ------------------------------------------------------------------------------------

def verdict_on(gain, threshold):
    """Returns YES if a Measured gain is above the threshold, LOSES if below its negative, EVEN if between, NO if LOSES
    or EVEN, else UNSURE."""
    if gain is None:
        return UNSURE
    if is_above(gain, threshold):
        return YES
    if not is_below(gain, threshold):
        return UNSURE
    return LOSES if is_below(gain, -threshold) else EVEN if is_above(gain, -threshold) else NO


def share_size(where, row, share, text):
    """Returns the Size for a percentage of time in which the processor can work."""
    is_bare = is_below(share, BARE_PCT)
    verdict = (NO if is_bare else YES if is_above(share, HIDES_PCT) else
               PARTLY if is_above(share, BARE_PCT) and is_below(share, HIDES_PCT) else UNSURE)
    return Size(where, row, verdict, share.value, share.launches, share=text, is_bare=is_bare)


# ---- what overlap_* measured ---------------------------------------------------------------------

class Way(typing.NamedTuple):
    """A way to communicate: the keys that distinguish rows, except the size and calls of MPI_Test."""

    collective: str
    form: str
    method: str
    partitions: str

    @property
    def family(self):
        """Returns the family in GAIN_LINES."""
        return "message" if self.collective in MESSAGES else (
            self.collective if self.collective in ("halo", "partitioned") else "collective")

    @property
    def name(self):
        """Returns the name within the family: MPI functions, a method, or partitions."""
        own = {"halo": self.method.replace("isend/irecv ", ""), "partitioned": self.partitions}.get(self.collective)
        is_persistent, blocking = self.form == "persistent", self.collective[1:]
        calls = MESSAGES.get(self.collective, (f"MPI_I{blocking}", f"MPI_{blocking.capitalize()}_init"))
        return own or calls[is_persistent]

    @property
    def full_name(self):
        """Returns the name among all families."""
        return {"halo": f"halo exchange ({self.name})", "partitioned": f"MPI_Psend_init ({self.name} partitions)"}.get(
            self.collective, self.name)


class Case(typing.NamedTuple):
    """A row of a way, with the Measured values that decide (or None), and the threshold."""

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
        """Returns the size in words, or "" without one."""
        box = self.row.keys.get("local", "NA")
        return cost_lines.box_text(box) if box != "NA" else size_text(self.size) if self.size else ""

    def against(self, other):
        """Returns the Size of this case compared with another of the same size, by the exposed time in percent of the
        blocking call. None if no launch has both."""
        saved = self.row.saved_pct(other.row, "exposed_us", "blocking_us" if other.blocking else None)
        found = self.row.median("best_test_calls") if self.calls == "auto" else None
        calls = f"{found:.3g}" if found is not None else "" if self.calls == "0" else self.calls
        return saved and Size(self.where, self.row, verdict_on(saved, self.threshold_pct), saved.value, saved.launches,
                              calls)

    @property
    def against_blocking(self):
        """Returns the Size by the gain over the blocking call or, if that wasn't measured, by the hidden share. None
        without either."""
        if self.gain is None:
            return None if self.overlap is None else share_size(self.where, self.row, self.overlap, card_table.HIDES)
        verdict = verdict_on(self.gain, self.threshold_pct)
        return Size(self.where, self.row, verdict, self.gain.value, self.gain.launches,
                    is_bare=self.overlap is not None and is_below(self.overlap, BARE_PCT))


def kinds_of(tables):
    """Returns the kinds of the overlap programs."""
    return [kind for kind in tables.kinds() if benchmarks.is_overlap(kind)]


@functools.lru_cache(maxsize=1)  # used by several questions
def cases_of(tables):
    """Returns all Cases by way, in ascending order of size: those of `overlap_sweep`, or else the one of `overlap`."""
    found = {}
    for kind in kinds_of(tables):
        threshold_pct = threshold_of(tables.of(NEW, kind))
        for row in tables.rows(kind):
            way = Way(*(row.keys[column] for column in Way._fields))
            values = (measured(row, column)
                      for column in ("overlap_pct", "blocking_us", "exposed_us", "gain_pct"))
            found.setdefault(way, {}).setdefault(benchmarks.entry_of(kind).kind, []).append(
                Case(row.keys["test_calls"], row.size(), row, *values,
                     THRESHOLD_PCT if threshold_pct is None else threshold_pct))
    return {way: sorted(by_kind.get("overlap_sweep") or by_kind["overlap"], key=lambda case: case.size)
            for way, by_kind in found.items()}


def best_of(sizes):
    """Returns the way that saves most, among those that surely save something if there are any."""
    return max(sizes, key=lambda size: (size.verdict == YES, size.saved_pct))


# ---- the questions: a family, a name and sizes for each call that they ask about -----------------

def nonblocking(tables):
    """Yields operations against their blocking calls: without calls of MPI_Test if there are such rows, and persistent
    ones only if there are no others."""
    ways = cases_of(tables)
    for way, cases in ways.items():
        if way.form != "persistent" or way._replace(form="nonblocking") not in ways:
            usual = [case for case in cases if case.calls == "0"] or cases
            sizes = [case.against_blocking for case in usual]
            yield way.family, way.name, list(filter(None, sizes))


def mpi_test(tables):
    """Yields the best number of calls of MPI_Test during the work, if measured both with and without such calls."""
    for way, cases in cases_of(tables).items():
        sizes = []
        for without in cases:
            tested = [case for case in cases if case.where == without.where and case.calls != "0" and case.exposed]
            if without.calls == "0" and without.exposed:
                sizes.append(list(filter(None, (case.against(without) for case in tested))))
        yield "test", way.full_name, list(map(best_of, filter(None, sizes)))


def persistent(tables):
    """Yields persistent requests, if both forms were measured the same way."""
    ways = cases_of(tables)
    for way, cases in ways.items():
        others = ways.get(way._replace(form="nonblocking"), []) if way.form == "persistent" else []
        usual = {case.where: case for case in others if case.calls == "0" and case.exposed}
        yield "persistent", way.full_name, list(filter(None, (
            case.against(usual[case.where]) for case in cases
            if case.calls == "0" and case.exposed and case.where in usual)))


def work_during_messages(tables):
    """Yields the share of transfer and barrier in which the processor can work (avail(%) of mpi_overhead)."""
    for cost, name in ((COST_LINES["send"], "MPI_Isend"), (COST_LINES["receive"], "MPI_Irecv")):
        pairs = cost_lines.values_of_direction(tables, "avail(%)", cost.keys["direction"])
        yield "work", name, [share_size(size_text(row.size("msgsize")), row, share, card_table.AVAILABLE)
                             for row, share in pairs if share is not None]


def put(tables):
    """Yields a put, with the barrier or notification that ends it, against a send."""
    sends = {row.keys["blksize"]: row for row, _ in cost_lines.pingpong_pairs(tables, COST_LINES["latency"])}
    ways = {}
    for row, _ in cost_lines.pingpong_pairs(tables, COST_LINES["put"]):
        send = sends.get(row.keys["blksize"])
        saved = row.saved_pct(send, "latency_us") if send else None
        if saved:
            size = Size(size_text(cost_lines.bytes_of(row)), row, verdict_on(saved, THRESHOLD_PCT), saved.value,
                        saved.launches)
            ways.setdefault(cost_lines.put_end(row), []).append(size)
    for end, sizes in ways.items():
        yield "put", end, sizes


QUESTIONS = (nonblocking, work_during_messages, mpi_test, persistent, put)


# ---- collectives beside other calls --------------------------------------------------------------

def slow_collectives(tables):
    """Returns the Lines of operations with the worst size and alternative of each, the worst operations first."""
    worst = {}
    for row, slower in tables.measured("guidelines", "slower_pct"):
        operation = row.keys["operation"]
        if is_above(slower, SLOWER_PCT) and (operation not in worst or slower.value > worst[operation][1].value):
            worst[operation] = row, slower
    lines = sorted(worst.items(), key=lambda one: -one[1][1].value)
    return [slow_line(operation, *found) for operation, found in lines[:SLOW_LINES]]


def calls_text(alternative):
    """Returns the calls of an alternative: MPI_Scatter + MPI_Allgather."""
    calls = " + ".join(f"MPI_{name.capitalize()}" for name in alternative.split("+"))
    return card_table.GENERIC.get(alternative, calls)


def slow_line(operation, row, slower):
    times = [1 + float(text) / 100 for text in row.texts("slower_pct")]
    found = slower._replace(value=1 + slower.value / 100, low=1 + slower.low / 100, high=1 + slower.high / 100)
    size = row.size("size_bytes")
    return Line(f"MPI_{operation.capitalize()}, {size_text(size)}", value_text(found, card_table.TIMES_OF), "",
                range_text(found, times, card_table.TIMES_OF),
                card_table.TIME_OF.format(calls_text(row.keys["alternative"])), (row.identity,),
                card_table.TUNE.format(operation, option_text(size)))


# ---- placements of buffers -----------------------------------------------------------------------

def better_placements(tables):
    """Yields the Line of a call and a size if the best placement of its buffers surely saves time over malloc's, within
    launches."""
    for kind, column, name, bytes_of in (
            ("collective_align", "time_us", lambda keys: f"MPI_{keys['operation'].capitalize()}", Row.size),
            ("pingpong_align", "latency_us", lambda keys: "MPI_Send", cost_lines.bytes_of)):
        for rows in grouped(tables.rows(kind), lambda row: tuple({**row.keys, "align": ""}.items())):
            times = {row.keys["align"]: measured(row, column) for row in rows if row.texts(column)}
            placed = {row.keys["align"]: row for row in rows}
            usual, best = "malloc", min(times, key=lambda align: times[align].value, default=None)
            saved = placed[best].saved_pct(placed[usual], column) if usual in times else None
            if saved and saved.value >= PLACED_PCT and is_above(saved, 0):
                yield placement_line(name(placed[best].keys), bytes_of(placed[best]), times[best], times[usual],
                                     [placed[best], placed[usual]])


def placement_line(call, size, best, usual, rows):
    own = number(best.value, usual.value, TIME_US, digits_of(best))
    align = rows[0].keys["align"]
    return Line(card_table.ALIGN.format(call, size_text(size)),
                card_table.INSTEAD_OF.format(own, value_text(usual, TIME_US)),
                note=card_table.ON_PAGES if align == "page" else card_table.AT_MULTIPLES.format(align),
                rows=tuple(row.identity for row in rows))
