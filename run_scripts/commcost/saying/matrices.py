"""Answers at one look: for each question of the page a matrix of marks, operations by sizes.

A mark is P where something pays, E where it makes no difference, L where it loses, and ? where that is not
clear, as always with fewer than six launches (intervals.py). Times stand behind the letter.
"""

import math

from commcost.drawing.pictures import WAYS, Key, Labels
from commcost.reading.intervals import LAUNCHES_ENOUGH
from commcost.saying import costs, gains
from commcost.saying.facts import typical
from commcost.saying.page import Column, Grid, Mark, Row, Text
from commcost.words import size_text

COLUMNS_MOST = 10   # with a number in each cell; of more columns every second, third ... is shown
# Answers: the letter, and its class on the page.
LETTERS = {gains.YES: ("P", "pays"), gains.EVEN: ("E", "even"), gains.NO: ("L", "loses"),
           gains.UNSURE: ("?", "unclear")}


# ---- tables of marks -----------------------------------------------------------------------------

def parts_of(found, heading, column_of, legend, most=COLUMNS_MOST):
    """The parts of the page that show Marks by name and place, with at most `most` places, and say what they mean; none
    where there are no marks. `column_of` makes a column's heading of a place."""
    places = thinned(sorted({place for marks in found.values() for place in marks}), most)
    columns = [Column(heading, "what"), *(Column(column_of(place), "", True) for place in places)]
    rows = [Row([name, *(marks.get(place, "") for place in places)]) for name, marks in found.items()
            if any(place in marks for place in places)]
    return [Grid(columns, rows, "matrix"), Text(legend, small=True)] if rows else []


def thinned(places, most):
    """Every nth of them, so that they are at most `most`; the last one always."""
    step = -(-len(places) // most) or 1
    return places[::-1][::step][::-1]


def mark_of(row, answer, number=""):
    """The Mark of a row: a letter of an answer, and a number."""
    letter, kind = LETTERS.get(answer, ("", ""))
    return Mark(f"{letter} {number}".strip(), kind, row.identity)


def number_of(value):
    """A Measured without its unit, or what it is less than where it may be noise."""
    return typical(value, ((0, 1, ""),))


def numbers(pairs, keys, place_of):
    """Marks of values by name, which Keys make, and place: numbers alone."""
    labels, found = Labels(keys, [row.keys for row, _ in pairs]), {}
    for row, value in pairs:
        found.setdefault(labels.of(row.keys), {})[place_of(row)] = mark_of(row, "", number_of(value))
    return found


def against(pairs, keys, place_of, heading, column_of, usual, told):
    """The parts of times, with answers against the row that is called `usual` at the same place, which comes first and
    has numbers alone; `told` is what that row is called in a sentence."""
    labels, found = Labels(keys, [row.keys for row, _ in pairs]), numbers(pairs, keys, place_of)
    base = {place_of(row): value for row, value in pairs if labels.of(row.keys) == usual}
    legend = "Times in µs."
    for row, value in pairs:
        name, place = labels.of(row.keys), place_of(row)
        if name != usual and place in base:
            even = gains.THRESHOLD_PCT / 100 * base[place].value
            found[name][place] = mark_of(row, gains.verdict_between(value, base[place], even), number_of(value))
            legend = f"Times in µs. P: pays, is quicker than {told}; {OTHER_LETTERS}"
    return parts_of(dict(sorted(found.items(), key=lambda item: item[0] != usual)), heading, column_of, legend)


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
        return [Text(f"At which sizes it pays is not clear with fewer than {LAUNCHES_ENOUGH} launches.", small=True)]
    has_room = len({power_of(case.size) for case in cases}) <= COLUMNS_MOST
    for case in cases:
        answer = case.against_blocking.verdict
        has_number = has_room and answer in (gains.YES, gains.NO)
        found.setdefault(labels.of(case.row.keys), {})[power_of(case.size)] = mark_of(
            case.row, answer, f"{case.gain.value:.0f}" if has_number else "")
    numbers_are = " Numbers: the gain in percent of the blocking call's time." if has_room else ""
    return parts_of(found, "operation / bytes", lambda size: size_text(size) if size else "no size",
                    f"P: pays with plenty of work; {OTHER_LETTERS}{numbers_are}", most=99)


def of_messages(tables):
    """How fast are messages?"""
    return against(tables.measured("pingpong", "latency_us", arrangement="single", count="1"),
                   (Key("pattern"), Key("sync", optional=True)), lambda row: 8 * row.size("ndata"),
                   "way / bytes", size_text, "MPI Send", "MPI_Send")


def of_processor(tables):
    """What does a message take of the processor?"""
    found = {}
    for column, what in (("overhead", "{} (µs)"), ("avail(%)", "{}: free (%)")):
        marks = numbers(tables.measured("mpi_overhead", column), (Key("direction"), Key("pair", "pair %", True)),
                        lambda row: row.size("msgsize"))
        found.update((what.format(name), of_name) for name, of_name in marks.items())
    return parts_of(found, "message / bytes", size_text, "The time for which a message keeps the processor busy, and the "
                    "share of the transfer's time that is free for other work.")


def of_rates(tables):
    """How many messages go in a second?"""
    found, more = {}, (Key("npeers", "% peers", True), Key("nmsgs", "% messages", True), Key("job_size", "% ranks", True))
    for kind, keys in (("msgrate", ("pattern",)), ("msgrate_rma", ("transfer", "synchronisation", "pattern"))):
        for caches in costs.CACHES:
            pairs = [(row, rate.scaled(1e-6)) for row, rate in tables.measured(kind, "rate_per_s")
                     if costs.caches_of(row) == caches]
            marks = numbers(pairs, (*map(Key, keys), *more), lambda row: row.size("nbytes"))
            found.update((", ".join(filter(None, (name, caches[:-2]))), of_name) for name, of_name in marks.items())
    return parts_of(found, "pattern / bytes", size_text,
                    "Millions of messages that a process sends and receives in a second.")


def of_synchronisation(tables):
    """What does synchronisation cost?"""
    return against(tables.measured("syncbench", "sync_us"), (Key("sync"), Key("neighbours", "% neighbours", True)),
                   lambda row: row.size("ranks"), "synchronisation", lambda ranks: f"{ranks:g} processes",
                   "MPI barrier", "MPI_Barrier")


def of_halo(tables):
    """Which halo swap is quickest?"""
    pairs = tables.measured("halo", "latency_us")
    boxes = {row.size("ndata"): row.keys["local"] for row, _ in pairs}
    return against(pairs, (Key("method"), Key("sync", optional=True), Key("dims", optional=True)),
                   lambda row: row.size("ndata"), "way / box", boxes.get, "isend/irecv packed", "messages of packed faces")


def of_noise(tables):
    """What disturbs?"""
    pairs = tables.measured("noise", "slowdown_pct", scope="collective")
    return parts_of(numbers(pairs, (Key("operation"),), lambda row: row.size("grain_us")),
                    "operation", lambda work: f"after {work:g} µs of work" if work else "without work",
                    "By how many percent a step of work and an operation takes longer than undisturbed.")


def of_monitor(tables):
    """What does monitoring cost?"""
    pairs = tables.measured("monitor_overhead", "added_ns")
    return parts_of(numbers(pairs, (Key("call"),), lambda row: row.keys["mode"]), "calls",
                    lambda mode: f"monitor {mode}", "Nanoseconds that monitoring adds.")
