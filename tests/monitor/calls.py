# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of monitor_calls (script.c) on two ranks, and what the monitor must count in them.

A script's lines are for both ranks, or for the rank whose number begins the line ("0: Send 10 one; Send 20 one").
What a snapshot counts is a dictionary of amounts by the names of a communicator and a function, which here have no
MPI_ ("one Send"). All rows of a snapshot must follow from these, so neither a missing row nor one too many goes
unnoticed."""

import math
import os
import re
import typing

NA = -1
LARGE_BYTES = 1000
DETAILS = {"site", "module", "peer", "depth"}  # kinds of rows that are not checked
EVERYTHING = {"profile", "pttopt", "coll", "comm", "msgsize", "traffic"}


class Amounts(typing.NamedTuple):
    """Messages count where they are sent, as small and large ones."""

    calls: int
    completed: int
    timeouts: int
    bytes: int
    small: int = 0
    large: int = 0
    small_bytes: int = 0
    large_bytes: int = 0


def calls(count, size=0, done=None):
    """Of calls that send no message; with their bytes together. All are completed, or those that are `done`."""
    return Amounts(count, count if done is None else done, 0, size)


def sent(count, each, done=None, large=LARGE_BYTES):
    """Messages of `each` byte; from `large` bytes on they are large."""
    of = calls(count, count * each, done)
    return (of._replace(small=count, small_bytes=of.bytes) if each < large else
            of._replace(large=count, large_bytes=of.bytes))


def total(amounts):
    return Amounts(*map(sum, zip(*amounts)))


class Script(typing.NamedTuple):
    title: str
    text: str
    expected: dict    # of rank 0, by snapshot: {"a": {"one Send": sent(1, 10)}}; amounts may be a list. None: not known
    of_rank_1: dict = {}
    warnings: dict = {}  # codes by snapshot


class Row(typing.NamedTuple):
    kind: str
    comm: str
    operation: str
    members: str
    ranks: int
    amounts: tuple
    rank: int
    max_rank: int
    joinable: int
    total_s: float
    mean_us: float
    max_us: float
    per_s: tuple  # of small and of large messages


def read_row(cells):
    numbers, reals = [int(cell) for cell in cells[4:16]], [float(cell) for cell in cells[16:]]
    return Row(*cells[:4], numbers[0], tuple(numbers[1:9]), *numbers[9:], *reals[:3], tuple(reals[3:]))


class Found:
    """Rows and warnings of a rank in a script."""

    def __init__(self):
        self.rows, self.warnings, self.facts, self.wrong, self.uncalled = {}, {}, [], [], []

    def read(self, what, cells):
        if what == "row" and cells[1] in DETAILS:
            return
        if what == "row":
            self.rows.setdefault(cells[0], []).append(read_row(cells[1:]))
        elif what == "warning":
            self.warnings.setdefault(cells[0], []).append(int(cells[1]))
        elif what == "fact":
            self.facts.append(int(cells[0]))
        else:
            getattr(self, what).append(cells[0])


def statements(text, rank):
    """Those of a rank, one after the other."""
    for line in text.strip().splitlines():
        whose, words = re.match(r"\s*(?:([01]):)?(.*)", line).groups()
        if whose in (None, str(rank)):
            yield from filter(None, (one.strip() for one in words.split(";")))


def write(prefix, scripts):
    for rank in range(2):
        with open("{}.{}".format(prefix, rank), "w", encoding="ascii") as stream:
            for number, script in enumerate(scripts):
                stream.writelines(one + "\n" for one in ("case {}".format(number), *statements(script.text, rank)))


def read(prefix, scripts):
    """By script and rank."""
    found = [[Found(), Found()] for _ in scripts]
    for rank in range(2):
        with open("{}.{}.found".format(prefix, rank), encoding="ascii") as stream:
            *lines, last = stream.read().splitlines()
        assert last == "0\tover\t1", last
        for line in lines:
            number, what, *cells = line.split("\t")
            found[int(number)][rank].read(what, cells)
    return found


def run(test, scripts, *options, program="tests/monitor/monitor_calls"):
    """Runs all of them in one job; returns what was found and the finished process."""
    prefix = os.path.join(str(test.folder), "script")
    write(prefix, scripts)
    done = test.start(program, prefix, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return read(prefix, scripts), done


def asked(script, rank, snapshot):
    """The words with which a snapshot began."""
    line, = (one for one in statements(script.text, rank) if re.match("begin {}( |$)".format(snapshot), one))
    return set(line.split()[2:]) or EVERYTHING


def is_message(operation):
    return re.search("[Ss]end|[Rr]ecv|[Pp]ut$|[Gg]et$|ccumulate|Fetch|Compare_and", operation) is not None


def expected_rows(words, counts):
    """The amounts of each row by kind, communicator and operation."""
    rows = {}
    for name, amounts in counts.items():
        comm, operation = name.rsplit(" ", 1)
        amounts = amounts if isinstance(amounts, list) else [amounts]
        own, other = ("point-to-point", "collective")[::1 if is_message(operation) else -1]
        added = [("pttopt" if is_message(operation) else "coll", "MPI_" + operation)]
        added += [("comm", "all"), ("comm", own), ("workload", "messages")][:3 if is_message(operation) else 2]
        for kind, row in added:
            rows.setdefault((kind, comm, row), []).extend(amounts)
        rows.setdefault(("comm", comm, other), []).append(calls(0))
    chosen = words | ({"workload"} if words & {"msgsize", "traffic"} else set())
    return {key: cells(key[0], total(amounts), words) for key, amounts in rows.items()
            if "profile" in words and key[0] in chosen}


def cells(kind, amounts, words):
    """The cells of a row: those that it has, and NA."""
    if kind != "workload":
        return (*amounts[:4], NA, NA, NA, NA)
    size = amounts.small_bytes + amounts.large_bytes
    return (NA, NA, NA, *((size, *amounts[4:]) if "msgsize" in words else (NA,) * 5))


def sums(rows):
    """The cells of rows of the same names, since several communicators may have one name."""
    found = {}
    for row in rows:
        found.setdefault((row.kind, row.comm, row.operation), []).append(row.amounts)
    return {key: tuple(NA if column[0] == NA else sum(column) for column in zip(*amounts))
            for key, amounts in found.items()}


def check_times(test, row, rank, words):
    """Conditions on the times of every row."""
    completed, total_us = row.amounts[1], row.total_s * 1e6
    test.assertEqual(row.rank, rank)
    if row.kind == "comm":
        good = math.isnan(row.mean_us) and (math.isnan(row.total_s) if completed == 0 else row.total_s >= 0)
    elif row.kind == "workload":
        good = all(map(math.isnan, (row.total_s, row.mean_us, row.max_us)))
    elif completed == 0:
        good = row.total_s <= 0 and math.isnan(row.mean_us) and math.isnan(row.max_us)
    else:
        # 0.1 ns is for rounding.
        good = (0 <= row.mean_us <= row.max_us + 1e-4 and row.max_us <= total_us + 1e-4 and row.max_rank == rank and
                abs(row.mean_us * completed - total_us) <= 1e-4 + total_us * 1e-9)
    test.assertTrue(good, row)
    has_traffic = row.kind == "workload" and "traffic" in words
    for per_s, count in zip(row.per_s, row.amounts[4:6]):
        test.assertTrue(math.isnan(per_s) or has_traffic and (count == NA or (per_s > 0) == (count > 0)), row)
        test.assertEqual(math.isnan(per_s), not has_traffic, row)


def check(test, script, found):
    """Compares a script with what was found on both ranks."""
    for rank, expected in enumerate((script.expected, script.of_rank_1)):
        of = found[rank]
        test.assertEqual(of.wrong, [], script.title)
        if script.expected is None:
            continue
        ended = {one.split()[1] for one in statements(script.text, rank) if one.startswith("end ")}
        for name in ended | set(expected):
            words = asked(script, rank, name)
            rows = [row for row in of.rows.get(name, []) if row.kind not in ("calls", "total", "other")]
            test.assertEqual(sums(rows), expected_rows(words, expected.get(name, {})),
                             "{}: snapshot {} on rank {}".format(script.title, name, rank))
            for row in rows:
                check_times(test, row, rank, words)
            test.assertEqual(of.warnings.get(name, []), script.warnings.get(name, []), script.title)
