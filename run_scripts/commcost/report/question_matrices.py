# SPDX-License-Identifier: BSD-3-Clause
"""A matrix for each section of the page.

A mark has a letter: F (faster), E (even), S (slower), N (not faster: even or slower), or ? (not clear, as always with
fewer than six launches: intervals.py). Numbers follow the letter.
"""

import math
import re

from commcost.page import COLUMNS_MOST, Mark, Text, matrix_parts
from commcost.report.pictures import WAYS
from commcost.result.intervals import LAUNCHES_ENOUGH, THRESHOLD_PCT
from commcost.result.row_labels import Key, Labels, further
from commcost.scorecard import cost_lines, gain_lines
from commcost.scorecard.fact_lines import value_text
from commcost.words import UNSURE, size_text

# By answer: the letter, and its class on the page.
LETTERS = {gain_lines.YES: ("F", "pays"), gain_lines.EVEN: ("E", "even"), gain_lines.PARTLY: ("E", "even"),
           gain_lines.NO: ("N", "even"), gain_lines.LOSES: ("S", "loses"), UNSURE: ("?", "unclear")}


def mark_of(row, answer, number=""):
    """Returns the Mark of a row: the letter of an answer, and a number."""
    letter, kind = LETTERS.get(answer, ("", ""))
    return Mark(f"{letter} {number}".strip(), kind, row.identity)


def number_of(value):
    """Returns a Measured without its unit, or a bound if it may be noise."""
    return value_text(value, ((0, 1, ""),))


def labels_of(tables, kind, keys, rows):
    """Returns the Labels that Keys of a kind make, and all further keys of its rows."""
    return Labels((*keys, *further(tables.further_keys(kind))), [row.keys for row in rows])


def numbers(tables, kind, pairs, keys, place_of):
    """Returns Marks of values by name (from Keys) and place: numbers, or ? if noise hides them."""
    labels, found = labels_of(tables, kind, keys, [row for row, _ in pairs]), {}
    for row, value in pairs:
        mark = mark_of(row, UNSURE) if cost_lines.is_lost(value) else mark_of(row, "", number_of(value))
        found.setdefault(labels.of(row.keys), {})[place_of(row)] = mark
    return found


def times_against(tables, kind, pairs, column, keys, place_of, heading, column_of, usual, usual_name):
    """Returns the matrix of times in a column, with answers relative to the row named `usual` at the same place and
    with the same further keys. This row comes first and has only numbers; `usual_name` is its name in a sentence."""
    rows, others = [row for row, _ in pairs], tables.further_keys(kind)
    labels, own = labels_of(tables, kind, keys, rows), Labels(keys, [row.keys for row in rows])
    found, is_judged = numbers(tables, kind, pairs, keys, place_of), False

    def at(row):
        return (place_of(row), *map(row.keys.get, others))

    usual_rows = [row for row in rows if own.of(row.keys) == usual]
    base, names = {at(row): row for row in usual_rows}, {labels.of(row.keys) for row in usual_rows}
    for row, value in pairs:
        name = labels.of(row.keys)
        if name not in names and at(row) in base:
            saved = row.saved_pct(base[at(row)], column)
            found[name][place_of(row)] = mark_of(row, gain_lines.verdict_on(saved, THRESHOLD_PCT), number_of(value))
            is_judged = True
    legend = "Times in µs." + (f" Against {usual_name}: {letters(found)}" if is_judged else "")
    return matrix_parts(dict(sorted(found.items(), key=lambda item: item[0] not in names)), heading, column_of, legend)


def letters(found):
    """Returns the meaning of the letters, including N only if a Mark has it."""
    has_n = any(mark.text.startswith("N") for marks in found.values() for mark in marks.values())
    return (f"F faster, E even, S slower, {'N not faster, perhaps slower, ' if has_n else ''}"
            f"? not clear (launches disagree, or there are fewer than {LAUNCHES_ENOUGH}).")


def power_of(size):
    """Returns the nearest power of two, since sizes of vector variants are a few bytes off."""
    return 1 << round(math.log2(size)) if size >= 1 else 0


def gain_matrix(tables):
    """Returns the matrix of gains of non-blocking calls, without numbers if there are many sizes."""
    cases = [case for several in gain_lines.cases_of(tables).values() for case in several if case.gain is not None]
    others = further(dict.fromkeys(name for kind in gain_lines.kinds_of(tables) for name in tables.further_keys(kind)))
    labels, found = Labels((Key("collective"), *WAYS, *others), [case.row.keys for case in cases]), {}
    if cases and max(case.gain.launches for case in cases) < LAUNCHES_ENOUGH:
        return [Text(f"Gains are not clear with fewer than {LAUNCHES_ENOUGH} launches.", small=True)]
    has_room = len({power_of(case.size) for case in cases}) <= COLUMNS_MOST
    for case in cases:
        answer = case.against_blocking.verdict
        has_number = has_room and answer in (gain_lines.YES, gain_lines.LOSES)
        found.setdefault(labels.of(case.row.keys), {})[power_of(case.size)] = mark_of(
            case.row, answer, f"{case.gain.value:.0f}" if has_number else "")
    numbers_are = " Numbers: time saved in % of the blocking call's time; negative: time added." if has_room else ""
    return matrix_parts(found, "operation / bytes", lambda size: size_text(size) if size else "no size",
                    f"Against the blocking call, with enough work: {letters(found)}{numbers_are}", most=99)


def latency_matrix(tables):
    pairs = tables.measured("pingpong", "latency_us", arrangement="single")
    whole = [pair for pair in pairs if not re.search("many|strided", pair[0].keys["pattern"])]
    return times_against(tables, "pingpong", whole, "latency_us",
                   (Key("pattern"), Key("sync", optional=True)), cost_lines.bytes_of, "method / bytes",
                   size_text, "MPI_Send", "MPI_Send")


def overhead_matrix(tables):
    found = {}
    for column, label in (("overhead", "{}: host overhead (µs)"), ("avail(%)", "{}: CPU availability (%)")):
        pairs = tables.measured("mpi_overhead", column)
        if column != "overhead":  # a share, which noise may move outside 0 to 100 %
            pairs = [(row, share.within(0.0, 100.0)) for row, share in pairs]
        marks = numbers(tables, "mpi_overhead", pairs, (Key("direction"), Key("pair", "pair %", True)),
                        lambda row: row.size("msgsize"))
        found.update((label.format(name), of_name) for name, of_name in marks.items())
    return matrix_parts(found, "message / bytes", size_text, "Host overhead: the CPU time of a message. CPU "
                        "availability: the share of an iteration (transfer and barrier) that is left for work; for "
                        "small messages an upper bound. ?: not clear.")


def rate_matrix(tables):
    found = {}
    more = (Key("npeers", "% peers", True), Key("nmsgs", "% messages", True), Key("job_size", "% ranks", True))
    for kind, keys in (("msgrate", ("pattern",)), ("msgrate_rma", ("transfer", "synchronisation", "pattern"))):
        for caches in cost_lines.CACHES:
            pairs = [(row, rate.scaled(1e-6)) for row, rate in tables.measured(kind, "rate_per_s")
                     if cost_lines.caches_of(row) == caches]
            marks = numbers(tables, kind, pairs, (*map(Key, keys), *more), lambda row: row.size("nbytes"))
            found.update((", ".join(filter(None, (name, caches[:-2]))), of_name) for name, of_name in marks.items())
    return matrix_parts(found, "pattern / bytes", size_text,
                    "Millions of messages sent and received per second and rank.")


def sync_matrix(tables):
    return times_against(tables, "syncbench", tables.measured("syncbench", "sync_us"), "sync_us",
                   (Key("sync"), Key("neighbours", "% neighbours", True)),
                   lambda row: row.size("ranks"), "synchronisation", lambda ranks: f"{ranks:g} ranks",
                   "MPI barrier", "MPI_Barrier")


def collective_matrix(tables):
    more = (Key("type", optional=True), Key("op", optional=True), Key("in_place", "in place: %", True),
            Key("root", "root %", True))
    found = numbers(tables, "collective", tables.measured("collective", "time_us"), (Key("operation"), *more),
                    lambda row: power_of(row.size()))
    return matrix_parts(found, "operation / bytes", lambda size: size_text(size) if size else "no size",
                    "Times in µs, from the first rank's start to the last rank's end.")


def halo_matrix(tables):
    return times_against(tables, "halo", tables.measured("halo", "latency_us"), "latency_us",
                   (Key("method"), Key("sync", optional=True), Key("dims", optional=True)),
                   lambda row: tuple(map(int, re.findall("[0-9]{1,18}", row.keys["local"]))), "method / box",
                   lambda box: "x".join(map(str, box)),
                   "isend/irecv packed", "packed messages")


def noise_matrix(tables):
    pairs = tables.measured("noise", "slowdown_pct", scope="collective")
    return matrix_parts(numbers(tables, "noise", pairs, (Key("operation"),), lambda row: row.size("grain_us")),
                    "measured slowdown (%)", lambda work: f"{work:g} µs of work" if work else "no work",
                    "How much interruptions lengthen a step, which is work and an operation.")


def monitor_matrix(tables):
    pairs = tables.measured("monitor_overhead", "added_ns")
    found = numbers(tables, "monitor_overhead", pairs, (Key("call"),), lambda row: row.keys["mode"])
    return matrix_parts(found, "calls", lambda mode: f"monitor {mode}", "Added time in ns.")
