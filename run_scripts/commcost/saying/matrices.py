"""Answers at one look: for each question of the page a matrix of marks, operations by sizes.

A mark is P where something pays, E where it makes no difference, L where it loses, and ? where that is not
clear, as always with fewer than six launches (intervals.py). Times stand behind the letter.
"""

import math
import typing

from commcost.drawing.pictures import WAYS, Key, Labels
from commcost.reading.intervals import LAUNCHES_ENOUGH
from commcost.saying import costs, gains
from commcost.saying.facts import typical
from commcost.saying.page import Column, Grid, Mark, Row
from commcost.words import size_text

COLUMNS_MOST = 10   # with a number in each cell; of more columns every second, third ... is shown
# Answers: the letter, and its class on the page.
LETTERS = {gains.YES: ("P", "pays"), gains.EVEN: ("E", "even"), gains.NO: ("L", "loses"),
           gains.UNSURE: ("?", "unclear")}


class Matrix(typing.NamedTuple):
    """A table of marks, None where no mark would be clear; and what its marks say, or what is missing."""

    grid: typing.Optional[Grid]
    legend: str


# ---- marks ---------------------------------------------------------------------------------------

def mark_of(answer, row, number=""):
    """The Mark of an answer that rests on a row."""
    letter, kind = LETTERS[answer]
    return Mark(f"{letter} {number}".rstrip(), kind, row.identity)


def number_of(value):
    """A Measured without its unit, or what it is less than where it may be noise."""
    return typical(value, ((0, 1, ""),))


# ---- tables of marks -----------------------------------------------------------------------------

def matrix_of(found, heading, column_of, legend, most=COLUMNS_MOST):
    """The Matrix of Marks by name and place, with at most `most` places; None where there are none.
    `column_of` makes a column's heading of a place."""
    places = thinned(sorted({place for marks in found.values() for place in marks}), most)
    columns = [Column(heading, "what"), *(Column(column_of(place), column_of(place), True) for place in places)]
    rows = [Row([name, *(marks.get(place, "") for place in places)]) for name, marks in found.items()
            if any(place in marks for place in places)]
    return Matrix(Grid(columns, rows, "matrix"), legend) if rows else None


def thinned(places, most):
    """Every nth of them, so that they are at most `most`; the last one always."""
    step = -(-len(places) // most) or 1
    return places[::-1][::step][::-1]


def numbers(pairs, keys, place_of):
    """Marks of values by name, which Keys make, and place: numbers alone."""
    labels, found = Labels(keys, [row.keys for row, _ in pairs]), {}
    for row, value in pairs:
        found.setdefault(labels.of(row.keys), {})[place_of(row)] = Mark(number_of(value), "", row.identity)
    return found


def against(pairs, keys, place_of, usual, told):
    """Marks of times by name and place against the row that is called `usual` at the same place, which comes
    first and has numbers alone; and what the marks say, where `told` is what that row is called in a sentence."""
    labels, found = Labels(keys, [row.keys for row, _ in pairs]), numbers(pairs, keys, place_of)
    base = {place_of(row): value for row, value in pairs if labels.of(row.keys) == usual}
    for row, value in pairs:
        name, place = labels.of(row.keys), place_of(row)
        if name != usual and place in base:
            even = gains.THRESHOLD_PCT / 100 * base[place].value
            answer = gains.verdict_between(value, base[place], even)
            found[name][place] = mark_of(answer, row, number_of(value))
    has_letters = any(mark.kind for marks in found.values() for mark in marks.values())
    return (dict(sorted(found.items(), key=lambda item: item[0] != usual)),
            "Times in µs." + (f" P: pays, is quicker than {told}; {OTHER_LETTERS}" if has_letters else ""))


OTHER_LETTERS = f"E: even; L: loses; ?: not clear: launches disagree, or are fewer than {LAUNCHES_ENOUGH}."


# ---- a matrix for each question ------------------------------------------------------------------

def power_of(size):
    """The nearest power of two: in vector variants sizes are a few bytes off."""
    return 1 << round(math.log2(size)) if size >= 1 else 0


def of_gains(tables):
    """Does non-blocking pay? Without numbers where there are many sizes."""
    cases = [case for several in gains.cases_of(tables).values() for case in several if case.gain is not None]
    labels, found = Labels((Key("collective"), *WAYS), [case.row.keys for case in cases]), {}
    if cases and max(case.gain.launches for case in cases) < LAUNCHES_ENOUGH:
        return Matrix(None, f"At which sizes it pays is not clear with fewer than {LAUNCHES_ENOUGH} launches.")
    has_room = len({power_of(case.size) for case in cases}) <= COLUMNS_MOST
    for case in cases:
        answer = case.against_blocking.verdict
        has_number = has_room and answer in (gains.YES, gains.NO)
        found.setdefault(labels.of(case.row.keys), {})[power_of(case.size)] = mark_of(
            answer, case.row, f"{case.gain.value:.0f}" if has_number else "")
    numbers_are = " Numbers: the gain in percent of the blocking call's time." if has_room else ""
    return matrix_of(found, "operation / bytes", lambda size: size_text(size) if size else "no size",
                     f"P: pays with plenty of work; {OTHER_LETTERS}{numbers_are}", most=99)


def of_messages(tables):
    """How fast are messages?"""
    pairs = tables.measured("pingpong", "latency_us", arrangement="single", count="1")
    found, legend = against(pairs, (Key("pattern"), Key("sync", optional=True)), lambda row: 8 * row.size("ndata"),
                            "MPI Send", "MPI_Send")
    return matrix_of(found, "way / bytes", size_text, legend)


def of_processor(tables):
    """What does a message take of the processor?"""
    found = {}
    for column, what in (("overhead", "{} (µs)"), ("avail(%)", "{}: free (%)")):
        marks = numbers(tables.measured("mpi_overhead", column), (Key("direction"), Key("pair", "pair %", True)),
                        lambda row: row.size("msgsize"))
        found.update((what.format(name), of_name) for name, of_name in marks.items())
    return matrix_of(found, "message / bytes", size_text,
                     "The time for which a message keeps the processor busy, and the share of the transfer's time "
                     "that is free for other work.")


def of_rates(tables):
    """How many messages go in a second?"""
    found = {}
    for kind, keys in (("msgrate", ("pattern",)), ("msgrate_rma", ("transfer", "synchronisation", "pattern"))):
        pairs = [(row, rate.scaled(1e-6)) for row, rate in tables.measured(kind, "rate_per_s")]
        for caches in costs.CACHES:
            marks = numbers([pair for pair in pairs if costs.caches_of(pair[0]) == caches],
                            [*map(Key, keys), Key("npeers", "% peers", True), Key("nmsgs", "% messages", True),
                             Key("job_size", "% ranks", True)],
                            lambda row: row.size("nbytes"))
            found.update((", ".join(filter(None, (name, caches[:-2]))), of_name)
                         for name, of_name in marks.items())
    return matrix_of(found, "pattern / bytes", size_text,
                     "Millions of messages that a process sends and receives in a second.")


def of_synchronisation(tables):
    """What does synchronisation cost?"""
    found, legend = against(tables.measured("syncbench", "sync_us"),
                            (Key("sync"), Key("neighbours", "% neighbours", True)), lambda row: row.size("ranks"),
                            "MPI barrier", "MPI_Barrier")
    return matrix_of(found, "synchronisation", lambda ranks: f"{ranks:g} processes", legend)


def of_halo(tables):
    """Which halo swap is quickest?"""
    pairs = tables.measured("halo", "latency_us")
    boxes = {row.size("ndata"): row.keys["local"] for row, _ in pairs}
    found, legend = against(pairs, (Key("method"), Key("sync", optional=True), Key("dims", optional=True)),
                            lambda row: row.size("ndata"), "isend/irecv packed", "messages of packed faces")
    return matrix_of(found, "way / box", boxes.get, legend)


def of_noise(tables):
    """What disturbs?"""
    pairs = tables.measured("noise", "slowdown_pct", scope="collective")
    return matrix_of(numbers(pairs, (Key("operation"),), lambda row: row.size("grain_us")),
                     "operation", lambda work: f"after {work:g} µs of work" if work else "without work",
                     "By how many percent a step of work and an operation takes longer than undisturbed.")


def of_monitor(tables):
    """What does monitoring cost?"""
    return matrix_of(numbers(tables.measured("monitor_overhead", "added_ns"), (Key("call"),),
                             lambda row: row.keys["mode"]),
                     "calls", lambda mode: f"monitor {mode}", "Nanoseconds that monitoring adds.")
