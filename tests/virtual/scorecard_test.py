"""What the scorecard says of launches whose truth is known."""

import decimal
import functools
import os
import random
import re
import shutil
import statistics
import tempfile
import typing
import unittest

import rules
import virtual
from exposed import POST_US, PROGRAMS, SYNC_US, WAIT_US, Transfer, exposed_us
from launches import TOP, Folder
from random_machine import SIZES, Machine
from commcost.result import intervals, tables
from commcost.scorecard import card_text, gain_lines, scorecard

UNITS = {"ns": 1e-3, "µs": 1, "ms": 1e3, "s": 1e6, "%": 1, "MB/s": 1, "GB/s": 1024, "k": 1e3, "M": 1e6, "G": 1e9,
         "": 1}
SIZE_NAMES = {8: "8 bytes", 1 << 10: "1 KiB", 1 << 16: "64 KiB", 1 << 20: "1 MiB"}
PUT_ENDS = {"all": "with a barrier", "images": "with a notification"}
DIRECTIONS = {"send": "send", "recv": "receive"}
OPERATIONS = {"barrier": "Barrier of 2 processes", "allreduce": "Allreduce of 8 bytes", "bcast": "Broadcast of 8 bytes"}
THINGS = {"isend": "send", "irecv": "receive", "sendrecv": "send with receive", "ibcast": "broadcast",
          "iallreduce": "allreduce", "ialltoall": "alltoall", "put": "put"}
# The families of lines about gains whose words behind the family name things.
FAMILIES = ("Non-blocking halo by ", "Non-blocking ", "Message in partitions: ", "Work during ", "MPI_Test during ",
            "Persistent requests for ")
SHARES = "([0-9]+)(?: to ([0-9]+))? %"
COSTS, LINKS = "What it costs", "Which node or link is slow?"
QUESTIONS = ("Interruptions", "Node", "Non-blocking", "Message in partitions", "Work during", "MPI_Test",
             "Persistent requests", "MPI_Put")
COMPARED = ("Non-blocking", "Message in partitions", "MPI_Test", "Persistent requests", "MPI_Put", "Halo", "Messages a")
ENOUGH = 8  # launches
FALSE, MISSED = 0.01, 0.05
DISTURBED = 5  # percent, by which interruptions may change a gain


# ---- random machines -----------------------------------------------------------------------------

class Judge:
    """What is true of a machine's results."""

    def __init__(self, machine):
        self.machine, self.folder = machine, tempfile.mkdtemp(prefix="virtual-")
        machine.write(self.folder)
        self.tables = tables.Tables([self.folder])
        self.rows = {row.identity: row for kind in self.tables.kinds() for row in self.tables.rows(kind)}
        self.parts = {part.heading: part.lines for part in scorecard.card_of(self.tables).parts}
        shutil.rmtree(self.folder)

    def compared(self, name):
        """What is said of several ways: lines about gains, and the name of the best one of others."""
        lines = [line for lines in self.parts.values() for line in lines if line.what.startswith(name)]
        return [line if line.what.startswith(QUESTIONS) else line.note.partition(";")[0] for line in lines]

    def truth(self, identity, **keys):
        """Of a row, or of the one that differs from it in these keys."""
        row = self.rows[identity]
        return self.machine.truth_of(row._replace(keys={**row.keys, **keys}))

    def found(self, identity, column):
        """Returns the values of a row that launches found, by launch."""
        return {cells["run"]: float(cells[column]) for cells in self.rows[identity].launches}

    # ---- costs

    def is_true(self, heading, line):
        """True if all that a line shows is true: its subject, its numbers with their units, and all names."""
        judge = {LINKS: self.is_link_true, COSTS: self.is_cost_true}.get(heading, self.is_gain_true)
        return judge(line)

    def is_link_true(self, line):
        """A node that is called slow, by how many launches; or that none is."""
        if line.what == "Nodes and links":
            return line[1:5] == ("all alike", "", "", "") and not self.machine.has_slow_node
        (identity,) = line.rows
        row, verdict = self.rows[identity], self.truth(identity)["verdict"]
        named = sum(cells["verdict"] == verdict for cells in row.launches)
        note = "messages of 8 bytes, in {} of {} launches".format(named, len(row.launches))
        return self.machine.has_slow_node and line[:5] == ("Node " + row.keys["a"], verdict, "", "", note)

    def is_cost_true(self, line):
        """A value: whether it is what launches found, and the truth in their range, or hardly beside it."""
        (identity,) = line.rows
        column = self.column_of(line)
        if column is None or line.since or not self.truth(identity).get("is_usual", True):
            return False
        truth = self.truth(identity)[column]
        values = sorted(self.found(identity, column).values())
        if column == "added_ns":
            calls = self.rows[identity].keys["call"].count("MPI_")
            truth, values = truth / 1e3 / calls, [value / 1e3 / calls for value in values]
        if not self.is_note_true(line, column):
            return False
        if line.typical.startswith("< "):
            limit = shown(line.typical[2:])
            most = values[-1] if values[-1] > 0 else -values[0]
            return limit is not None and line.launches == "" and truth <= limit[0] and (
                most <= 1.000001 * limit[0] <= 2.500001 * most)
        unit = line.typical.partition(" ")[2]
        ends = [end + " " + unit if unit else end for end in line.launches.split(" – ")]
        if len(ends) != 2 or not (is_shown(line.typical, statistics.median(values)) and
                                  is_shown(ends[0], values[0]) and is_shown(ends[1], values[-1])):
            return False
        beside = max(values[-1] - values[0], 2 * shown(line.typical)[1])
        return values[0] - beside <= truth <= values[-1] + beside and self.is_best_true(line, column, truth)

    def column_of(self, line):
        """The column that a line about costs is of, by what it is called; None where its row isn't that."""
        (identity,) = line.rows
        return dict(self.named(identity)).get(line.what)

    def named(self, identity):
        """Pairs of what lines about a row are called, and their column."""
        keys, kind = self.rows[identity].keys, identity.rpartition("-")[0]
        is_old = not self.machine.has_collective  # results without collective, whose rows come first
        if kind == "pingpong":
            size = 8 * int(keys["blksize"])
            if keys["pattern"] == "put" and size == SIZES[0]:
                yield "Put of 8 bytes " + PUT_ENDS[keys["sync"]], "latency_us"
            if keys["pattern"] == "MPI Send":
                yield ("Message of 8 bytes, one way", "latency_us") if size == SIZES[0] else (
                    "Bandwidth, messages of 1 MiB", "bwidth_mbs" if size == SIZES[-1] else None)
        elif kind == "mpi_overhead" and int(keys["msgsize"]) in (SIZES[0], SIZES[-1]):
            yield "Processor time of a {}, {}".format(
                DIRECTIONS[keys["direction"]], SIZE_NAMES[int(keys["msgsize"])]), "overhead"
        elif kind == "msgrate":
            yield "Messages a second, caches flushed, 8 bytes", "rate_per_s"
        elif kind == "collective" and keys["size_bytes"] in ("0", "8"):
            yield OPERATIONS[keys["operation"]], "time_us"
        elif kind == "syncbench" and is_old:
            yield OPERATIONS["barrier"], "sync_us"
        elif kind in ("overlap_iallreduce_sweep", "overlap_ibcast_sweep") and is_old and keys["size_bytes"] == "8":
            yield OPERATIONS[keys["collective"][1:]], "blocking_us"
        elif kind in ("halo", "overlap_halo_sweep"):
            what = "Halo of {}".format(keys["local"].replace("x", " x "))
            yield (what, "latency_us") if kind == "halo" else (what + ", exposed under work", "exposed_us")
        elif kind == "monitor_overhead":
            yield "Monitoring, added to a call at most", "added_ns"
        elif kind == "noise" and keys["scope"] == "job":
            yield "Time lost to interruptions", "stopped_pct"
        elif kind == "noise":
            yield "Interruptions every 4 ms, ranks 0-1", "stop_us"

    def is_note_true(self, line, column):
        """All behind a value but which way is the best one."""
        (identity,) = line.rows
        if column == "stopped_pct":
            return line.note == ("" if self.has_usual_source() else "no single cause stands out")
        if column == "stop_us":
            share = re.fullmatch("(.*) of the time", line.note)
            return share is not None and is_shown(share[1], 0.5)
        if column == "added_ns":
            calls = {row.keys["call"]: statistics.median(self.found(row.identity, column).values()) /
                     row.keys["call"].count("MPI_") for row in self.tables.rows("monitor_overhead")}
            return line.note == self.rows[identity].keys["call"] == max(calls, key=calls.get)
        rivals = {self.way_of(row): row for row in self.rivals(identity, column)}
        if len(rivals) == 1:
            return line.note == ""
        own = self.way_of(self.rows[identity])
        number, rival = (re.fullmatch(pattern, line.note) for pattern in (
            "no clear best of ([0-9]+) ways", "best: {}(?: or|; next:) ([^,]+)(?:, (.*))?".format(re.escape(own))))
        if not rival:
            return number is not None and 3 <= int(number[1]) <= len(rivals)
        if rival[1] not in rivals or rival[1] == own:
            return False
        value = statistics.median(self.found(rivals[rival[1]].identity, column).values())
        return rival[2] is None if " or " in line.note else rival[2] is not None and is_shown(rival[2], value)

    def has_usual_source(self):
        """True if half of the launches found it."""
        return any(2 * len(row.launches) >= self.machine.launches for row in self.tables.rows("noise", scope="source"))

    def is_best_true(self, line, column, truth):
        """Of the best of several ways, where it is said to be that."""
        if ";" not in line.note:
            return True
        rivals = [self.truth(row.identity)[column] for row in self.rivals(line.rows[0], column)]
        return truth >= max(rivals) if column == "rate_per_s" else truth <= min(rivals)

    @staticmethod
    def way_of(row):
        """The name of one of several ways."""
        form, name = row.keys.get("form", "nonblocking"), row.keys.get("method", row.keys.get("pattern", ""))
        return name if form == "nonblocking" else "{} ({})".format(name, form)

    def rivals(self, identity, column):
        """The rows that differ only in the way, where that is chosen: halo swaps, and patterns of messages."""
        kind = identity.rpartition("-")[0]
        ways = ("pattern", "method", "form") if kind in ("halo", "overlap_halo_sweep", "msgrate") else ()
        own = {name: cell for name, cell in self.rows[identity].keys.items() if name not in ways}
        return [row for row in self.tables.rows(kind) if own == {
            name: cell for name, cell in row.keys.items() if name not in ways} and column in self.truth(row.identity)]

    # ---- gains

    def saved(self, what, identity):
        """What is saved in percent, and from which value on it is more than nothing."""
        own = self.truth(identity)
        if what.startswith("Work during"):
            return own["avail(%)"], None
        if what.startswith("MPI_Put"):
            send = self.truth(identity, pattern="MPI Send", sync="none")["latency_us"]
            return 100 * (1 - own["latency_us"] / send), 2
        if what.startswith(("MPI_Test", "Persistent")):
            other = self.truth(identity, **({"test_calls": "0"} if what[0] == "M" else {"form": "nonblocking"}))
            return 100 * (other["exposed_us"] - own["exposed_us"]) / other["blocking_us"], 2
        return own["gain_pct"], 2

    def is_gain_true(self, line):
        """An answer, of every row that it rests on; that it costs time, of one at least."""
        if line.launches or not self.has_its_names(line):
            return False
        if line.typical == gain_lines.UNSURE:
            return not line.since and line.note == ("launches disagree" if self.machine.launches >= 6 else
                                                    "needs more launches")
        if re.match("costs|takes", line.note) and not any(
                self.saved(line.what, identity)[0] < -2 for identity in line.rows):
            return False
        return (self.has_its_sizes(line) and self.is_reason_found(line) and
                all(self.is_row_true(line, identity) for identity in line.rows))

    def has_its_names(self, line):
        """True if a line names all things that it rests on, and nothing else."""
        family = next((family for family in FAMILIES if line.what.startswith(family)), "")
        named = {name_of_thing(family, self.rows[identity].keys) for identity in line.rows}
        return set(re.split(", | and ", line.what[len(family):])) == named

    def found_saved(self, what, identity):
        """The same as saved(), as launches found it: a Measured."""
        own = self.rows[identity]
        if what.startswith(("Work during", "Non-blocking", "Message in")):
            values = self.found(identity, "avail(%)" if what.startswith("Work") else "gain_pct")
            return intervals.over_launches(list(values.values()))
        other, column, whole = (
            ({"pattern": "MPI Send", "sync": "none"}, "latency_us", "latency_us") if what.startswith("MPI_Put") else
            ({"test_calls": "0"} if what[0] == "M" else {"form": "nonblocking"}, "exposed_us", "blocking_us"))
        keys = {**own.keys, **other}
        (row,) = (row for row in self.rows.values() if row.keys == keys)
        others, wholes, owns = (self.found(*of) for of in (
            (row.identity, column), (row.identity, whole), (identity, column)))
        return intervals.over_launches([100 * (others[run] - owns[run]) / wholes[run] for run in owns])

    def is_reason_found(self, line):
        """True if the numbers of a note are those that launches found."""
        found = [self.found_saved(line.what, identity) for identity in line.rows]
        costs = re.fullmatch("costs up to ([0-9]+) %|takes up to ([0-9.]+) times as long", line.note)
        if costs:
            most = max((-saved.value for saved in found if intervals.is_below(saved, -2)), default=0)
            return line.typical == "no" and (is_shown(costs[1], most) if costs[1] else
                                             is_shown(costs[2], 1 + most / 100) and most >= 99)
        saves = re.fullmatch("(?:saves {0}(?: with ([0-9]+) calls)?|{0} of the time is free for work)".format(SHARES),
                             line.note)
        if not saves:
            return line.typical in ("even", "no") and line.note in (
                "less than 10 % can be hidden", "makes no difference" if line.typical == "even" else "saves nothing")
        low, high = saves[1] or saves[4], saves[2] or saves[5] or saves[1] or saves[4]
        calls = {"4"} if line.what.startswith("MPI_Test") else {None}
        if line.typical == "no" or {saves[3]} != calls or (saves[4] is not None) != line.what.startswith("Work"):
            return False
        values = [saved.value for saved in found]
        return is_shown(low, min(values)) and is_shown(high, max(values))

    def is_row_true(self, line, identity):
        saved, least = self.saved(line.what, identity)
        if "can be hidden" in line.note and least is not None and not self.truth(identity)["overlap_pct"] < 10:
            return False
        if not self.is_saved_true(line.note, saved):
            return False
        if least is None:
            return {"yes": saved > 50, "partly": 10 < saved < 50, "no": saved < 10}.get(line.typical, False)
        return {"yes": saved > least, "no": saved < 2, "even": -2 < saved < 2}.get(line.typical, False)

    def is_saved_true(self, note, saved):
        """Whether a truth is among the percents of a note, but for what six launches differ by; where launches are slow
        there are two truths."""
        beside = 1 + 600 * self.machine.spread * max(1, 1 - saved / 100)
        found = re.match("(saves |costs up to |takes up to |)([0-9.]+)(?: to ([0-9]+))?", note)
        if not found or self.machine.slow_runs:
            return True
        low, high = float(found[2]), float(found[3] or found[2])
        if found[1].endswith("up to "):
            return -saved <= (high if found[1][0] == "c" else 100 * (1.1 * high - 1)) + beside
        return low - beside <= saved <= high + beside

    def has_its_sizes(self, line):
        """Whether a line rests on all sizes that it names, of each thing that it is about."""
        things = {}
        for identity in line.rows:
            things.setdefault(self.thing_of(self.rows[identity]), set()).add(self.size_of(self.rows[identity]))
        return line.since == "at some sizes" or all(
            sizes == self.named_sizes(thing, line.since) for thing, sizes in things.items())

    def named_sizes(self, thing, since):
        """The sizes of a thing's rows that words such as "from 16 KiB" name; None of other words."""
        rows = [row for row in self.rows.values() if self.thing_of(row) == thing]
        names = {row.keys["local"] if thing[1] not in (None, "NA") else SIZE_NAMES[self.size_of(row)]:
                 self.size_of(row) for row in rows}
        sizes = sorted(names.values())
        found = re.fullmatch("(?:(at|from|to) )?(.+?)(?: – (.+))?", since or "from " + next(
            name for name, size in names.items() if size == sizes[0]))
        word, first, last = found.groups()
        if first not in names or last not in (None, *names) or (word is None) == (last is None):
            return None
        return {size for size in sizes if (word == "to" or size >= names[first]) and
                (word == "from" or size <= names[last or first])}

    @staticmethod
    def thing_of(row):
        return (row.identity.rpartition("-")[0], *(row.keys.get(name) for name in ("method", "direction")))

    @staticmethod
    def size_of(row):
        column = next(name for name in ("size_bytes", "msgsize", "ndata", "nbytes") if name in row.keys)
        return (8 if column == "ndata" else 1) * float(row.keys[column])

    def clear_verdict(self, size, what):
        """The verdict at a gains.Size that the truth is twice the interval away from; None where it is near."""
        saved, least = self.saved(what, size.row.identity)
        width = 2 * self.width_pct(size.row, what)
        if least is None:
            return gain_lines.YES if saved > 50 + width else gain_lines.NO if saved < 10 - width else None
        if saved > least + width:
            return gain_lines.YES
        return gain_lines.NO if saved < -2 - width or abs(saved) < 2 - width else None

    def width_pct(self, row, what):
        """Of the intervals from which what is saved is known, in percent of the time that it takes otherwise."""
        kind = row.identity.rpartition("-")[0]
        if what.startswith("MPI_Put"):
            return 200 * self.relative_width(row, kind, "latency_us")
        if what.startswith(("MPI_Test", "Persistent")):
            exposed, blocking = (intervals.measured(row, name) for name in ("exposed_us", "blocking_us"))
            return 200 * self.relative_width(row, kind, "exposed_us") * max(1, exposed.value / blocking.value)
        gain = intervals.measured(row, "avail(%)" if what.startswith("Work") else "gain_pct")
        return gain.high - gain.low

    def is_value_clear(self, line):
        """Whether a value is surely more than noise."""
        (identity,) = line.rows
        column = self.column_of(line)
        return 0 < self.relative_width(self.rows[identity], identity.rpartition("-")[0], column) < 0.5

    def relative_width(self, row, kind, column):
        found = intervals.measured(row, column)
        return (found.high - found.low) / found.value


def name_of_thing(family, keys):
    """A row in a line about gains."""
    collective = keys.get("collective")
    if "direction" in keys:
        return "a " + DIRECTIONS[keys["direction"]]
    if collective == "halo":
        return ("" if "halo" in family else "halo by ") + keys["method"].split()[-1]
    if collective == "partitioned":
        return ("" if "partitions" in family else "partitions: ") + keys["partitions"]
    return THINGS[collective] if collective else "MPI_Put instead of send"


def shown(text):
    """The value of a number with its unit, and half of its last digit; None of another text."""
    found = re.fullmatch("([0-9.]+(?:e[+-][0-9]+)?) ?(.*)", text)
    if found is None or found[2] not in UNITS:
        return None
    number, unit = decimal.Decimal(found[1]), UNITS[found[2]]
    return float(number) * unit, 10.0 ** number.as_tuple().exponent / 2 * unit


def is_shown(text, value):
    """True if a text is this value, to its last digit."""
    found = shown(text)
    return found is not None and abs(found[0] - value) <= 1.000001 * found[1]


def changed(line):
    """The Lines that differ from one in a number, which is three times as large, or in a word."""
    for name in ("what", "typical", "since", "launches", "note"):
        words = re.split("( )", getattr(line, name))
        for place, word in enumerate(words):
            number = re.search("[1-9][0-9.]*|0[.][0-9]*[1-9]", word)
            other = (word[:number.start()] + "{:.7g}".format(3 * float(number[0])) + word[number.end():] if number else
                     word + "x" if word.strip() else word)
            if other != word:
                yield line._replace(**{name: "".join([*words[:place], other, *words[place + 1:]])})


class RandomMachines(virtual.Test):
    """Each kind of line is false on at most one machine of a hundred, and says what is clear on 95."""

    def check(self, shares, limit, what):
        for name, (several, count) in sorted(shares.items()):
            with self.subTest("{}: {}".format(name, what)):
                self.rarely(several, count, limit, "{}: {}".format(name, what))

    def test_lines(self):
        false, missed = {}, {}
        for seed in range(virtual.by_tier(plain=40, run=200, full=1000)):
            judge = Judge(Machine(seed))
            for heading, lines in judge.parts.items():
                for line in lines:
                    is_true = judge.is_true(heading, line)
                    if not is_true:
                        virtual.say("machine {}, false: {}".format(seed, line))
                    count(false, name_of(line.what), not is_true)
            said = {name_of(line.what) for lines in judge.parts.values() for line in lines}
            count(missed, "Interruptions", "Interruptions" not in said)
            if judge.machine.has_slow_node:
                count(missed, "Node", "Node" not in said)
            self.look_for_clear_answers(judge, missed)
            for line in judge.parts[COSTS]:
                if judge.is_value_clear(line):
                    count(missed, name_of(line.what), line.typical.startswith("<"))
                if self.is_best_clear(judge, line):
                    count(missed, name_of(line.what), ";" not in line.note)
        self.check(false, FALSE, "false")
        self.check(missed, MISSED, "missed")
        for name, shares in sorted(false.items()):
            virtual.note_row("scorecard", name.replace(" ", "_"), name, *shares[::-1], *missed.get(name, ("", ""))[::-1])

    def test_judge_reads_all(self):
        """A true line is false with any other number, unit, size or name."""
        for seed in range(virtual.by_tier(plain=10, run=40, full=200)):
            judge = Judge(Machine(seed))
            for heading, lines in judge.parts.items():
                for line in lines:
                    if judge.is_true(heading, line):
                        self.assertEqual([], [other for other in changed(line) if judge.is_true(heading, other)], line)

    @staticmethod
    def look_for_clear_answers(judge, missed):
        for question in gain_lines.GAINS:
            for family, name, sizes in question(judge.tables):
                verdicts = [judge.clear_verdict(size, family + name) for size in sizes]
                if gain_lines.YES in verdicts or verdicts and set(verdicts) == {gain_lines.NO}:
                    said = {line.typical for line in judge.parts["Does it pay?"] if line.what.startswith(family) and
                            any(size.row.identity in line.rows for size in sizes)}
                    wanted = {gain_lines.YES} if gain_lines.YES in verdicts else {gain_lines.NO, gain_lines.EVEN}
                    count(missed, name_of(family + name), not said & wanted)

    @staticmethod
    def is_best_clear(judge, line):
        """Whether the best of several ways is so by twice the interval."""
        column = judge.column_of(line)
        if column not in ("rate_per_s", "exposed_us") and not line.what.startswith("Halo"):
            return False
        (identity,) = line.rows
        best, second = sorted((judge.truth(row.identity)[column] for row in judge.rivals(identity, column)),
                              reverse=column == "rate_per_s")[:2]
        width = 2 * judge.relative_width(judge.rows[identity], identity.rpartition("-")[0], column)
        return abs(best - second) > (intervals.THRESHOLD_PCT / 100 + 2 * width) * max(best, second)

    def test_few_launches(self):
        """No answer, and no best way, whatever they found."""
        for seed in range(virtual.by_tier(plain=5, run=20)):
            judge = Judge(Machine(seed, launches=1 + seed % 5))
            self.assertEqual({line.typical for line in judge.parts["Does it pay?"]}, {gain_lines.UNSURE})
            self.assertFalse([line for line in judge.parts[COSTS] if ";" in line.note])

    def test_ways_that_are_alike(self):
        """None is called better or best."""
        called = {}
        for seed in range(virtual.by_tier(plain=25, run=200, full=1000)):
            for lines in Judge(Machine(seed, are_alike=True)).parts.values():
                for line in lines:
                    if " or " in line.note or ";" in line.note:
                        count(called, name_of(line.what), ";" in line.note)
                    if line.what.startswith(("MPI_Put", "MPI_Test", "Persistent", "Non-blocking", "Message in")):
                        count(called, name_of(line.what), re.match("saves [0-9]|costs|takes", line.note) is not None)
        self.check(called, FALSE, "called better")

    def test_states(self):
        """A state of the machine that lasts for a launch changes no answer, since it slows what is compared alike."""
        changed = {}
        for seed in range(virtual.by_tier(plain=10, run=30, full=200)):
            usual, judge = (Judge(Machine(seed, slow=slow)) for slow in ("", "alike"))
            for name in COMPARED:
                count(changed, name, usual.compared(name) != judge.compared(name))
        self.check(changed, MISSED, "changed")

    def test_slow_launches(self):
        """Where rows are slowed differently, answers are as rarely false of the launches that aren't slow."""
        false = {}
        for seed in range(virtual.by_tier(plain=20, run=40, full=1000)):
            judge = Judge(Machine(seed, slow="rows"))
            for line in judge.parts["Does it pay?"]:
                count(false, name_of(line.what), not judge.is_gain_true(line))
        self.check(false, FALSE, "false")

    def test_widths(self):
        """Lines fit a terminal."""
        for seed in range(virtual.by_tier(plain=5, run=20)):
            for line in card_text.text_of(scorecard.card_of(Judge(Machine(seed)).tables)).splitlines():
                self.assertLessEqual(len(line), 100, line)


def name_of(what):
    """The question that a line, or something of it, answers."""
    return next((name for name in QUESTIONS if what.startswith(name)), re.split(" of|,", what)[0])


def count(shares, name, is_so):
    several, every = shares.get(name, (0, 0))
    shares[name] = several + is_so, every + 1


# ---- launches of programs ------------------------------------------------------------------------

class Case(typing.NamedTuple):
    """A line that the scorecard must have for a program: its subject, and its words (is_said)."""

    what: str
    words: str
    program: str
    options: tuple
    variables: dict


def gain(what, words, *options, program="overlap_iallreduce", sizes=(8, 8), **variables):
    return Case(what, words, program, ("--data-driven", "--min-num-elts={}".format(sizes[0]),
                                       "--max-num-elts={}".format(sizes[1]), "--max-time=0.3", *options),
                {"MODEL_DURATION_US": 200, **variables})


PUT = ("--patterns=put,MPI Send", "--arrangements=single", "--coarray-sync=all", "--max-ndata=1", "--max-time=0.3")
OVERHEAD = ("mpi_overhead", ("--msgsize=8,64K", "--max-time=0.4"),
            {"MODEL_POST_US": 3, "MODEL_LATENCY_US": 20, "MODEL_PER_BYTE_NS": 1})
SLOW_SYNC, FACES = rules.Model(latency=20, sync=100), 6 * [8 * 4 * 4]
MIND = "Mind"
CASES = [
    gain("Non-blocking allreduce", "at 64 bytes yes saves 33 %", MODEL_FRACTION=0.5, MODEL_BLOCKING_US=150),
    gain("Non-blocking allreduce", "at 64 bytes no less than 10 % can be hidden", MODEL_FRACTION=0,
         MODEL_BLOCKING_US=150),
    gain("Non-blocking allreduce", "at 64 bytes no costs up to 33 %", MODEL_FRACTION=0.5, MODEL_BLOCKING_US=75),
    gain("Non-blocking allreduce", "at 64 bytes even makes no difference", MODEL_FRACTION=0.5, MODEL_BLOCKING_US=100),
    # Where the blocking call takes 8 us and more, which is what is exposed.
    gain("Non-blocking broadcast", "from 4 KiB yes saves 11.5±1.5 to 79.5±0.5 %", program="overlap_ibcast",
         sizes=(8, 4096), MODEL_POST_US=8, MODEL_DURATION_US=10, MODEL_BLOCKING_US=5, MODEL_PER_BYTE_NS=1,
         MODEL_FRACTION=1),
    # Stages of 50 us under 400 us of work: a call in the middle starts the second one.
    gain("MPI_Test during allreduce", "at 64 bytes yes saves 74.5±0.5 % with 15 calls", "--test-calls=0,1,15",
         MODEL_FRACTION=1, MODEL_PROGRESS_SHARE=0.25, MODEL_BLOCKING_US=200),
    # Two calls of 20 us until one completes the operation.
    gain("MPI_Test during allreduce", "at 64 bytes no costs up to 19.5±0.5 %", "--test-calls=0,4", MODEL_FRACTION=0.75,
         MODEL_TEST_US=20, MODEL_BLOCKING_US=200),
    gain("MPI_Test during allreduce", "at 64 bytes even makes no difference", "--test-calls=0,4", MODEL_FRACTION=0.75,
         MODEL_BLOCKING_US=200),
    Case("Processor time of a send, 8 bytes", "3±0.05 µs 3±0.1 – 3±0.1", *OVERHEAD),
    Case("Work during a send", "yes 85±1 to 96.5±0.5 % of the time is free for work", *OVERHEAD),
    # All ranks wait for the last one, which gets the message after 20 us.
    Case("Broadcast of 8 bytes", "20.5±0.5 µs 20.5±1 – 20.5±1", "collective",
         ("--operations=bcast", "--sizes=8", "--max-time=0.1"), {"MODEL_LATENCY_US": 20, "MODEL_ALGORITHM": "linear"}),
    Case("Barrier of 2 processes", "25±0.5 µs 25±0.8 – 25±0.8", "collective",
         ("--operations=barrier", "--max-time=0.1"), {"MODEL_BARRIER_US": 25}),
    Case("Barrier of 2 processes", "25±0.5 µs 25±0.8 – 25±0.8", "syncbench", ("--types=MPI barrier", "--max-time=0.3"),
         {"MODEL_BARRIER_US": 25}),
    # 128 receives are posted in 12.8 us, then 128 messages come 2 us apart, and as many go: 256 in 268.8 us. So in all
    # patterns but that of one direction.
    Case("Messages a second, warm caches, 8 bytes", "952±10 k 952±20 – 952±20 no clear best of 3 ways", "msgrate",
         ("-p", "1", "-c", "0", "--max-time=0.1"), {"MODEL_LATENCY_US": 2, "MODEL_GAP_US": 2}),
    Case("Message of 8 bytes, one way", "20±0.5 µs 20±0.8 – 20±0.8", "pingpong", PUT, {"MODEL_LATENCY_US": 20}),
    Case("MPI_Put instead of send", "at 8 bytes no takes up to 4.5 times as long", "pingpong", PUT,
         {"MODEL_LATENCY_US": 20, "MODEL_SYNC_US": 40, "MODEL_BARRIER_US": 30}),
    Case("Halo of 4 x 4 x 4",
         "{0:.4g}±1 µs {0:.4g}±2 – {0:.4g}±2 best: isend/irecv packed; next: put (all), {1:.4g}±5 µs".format(
             SLOW_SYNC.exchange_packed(FACES), SLOW_SYNC.sync_all() + SLOW_SYNC.sync_all(FACES)),
         "halo", ("--local=4", "--methods=put,isend/irecv packed", "--coarray-sync=all", "--max-time=0.3"),
         SLOW_SYNC.variables()),
    Case(MIND, "1 of 1 row lost more than 10 % of the time to interruptions: measure them again on a quieter machine.",
         "syncbench", ("--types=MPI barrier", "--max-time=0.5"), {"MODEL_BARRIER_US": 25, "DISTURB": "10000:50"}),
    Case(MIND, "", "syncbench", ("--types=MPI barrier", "--max-time=0.5"),
         {"MODEL_BARRIER_US": 25, **virtual.CONDITIONS["cloud"]}),
]


def is_said(said, words, beside=0):
    """True if words are said. Their numbers may differ by the number behind ±, and `beside`."""
    found, wanted = said.split(), words.split()
    return len(found) == len(wanted) and all(map(functools.partial(is_word_said, beside), found, wanted))


def is_word_said(beside, word, wanted):
    middle, _, around = wanted.partition("±")
    numbers = [re.fullmatch("[0-9]+([.][0-9]+)?", text) for text in (word, middle)]
    return word == wanted or all(numbers) and abs(float(word) - float(middle)) <= float(around or 0) + beside


class Launches(virtual.Test):
    """Programs' own launches."""

    def said(self, case, **how):
        """The line of a case, but for what it is about; of two that of the sizes where it pays."""
        folder = Folder(self)
        folder.launches("runs", case.program, *case.options, **{**case.variables, **how})
        card = scorecard.card_of(tables.Tables([folder.path]))
        if case.what == MIND:
            return " ".join(text for text in card.mind if "launches" not in text and "run_suite" not in text)
        line = next(line for part in card.parts for line in part.lines if line.what == case.what)
        return " ".join(filter(None, [line.since, line.typical, line.launches, line.note]))

    def test_launches(self):
        """Six that differ by a percent."""
        for case in CASES[::virtual.by_tier(plain=6, run=1)]:
            with self.subTest("{}: {}".format(case.what, case.words)):
                said = self.said(case, launches=ENOUGH, MODEL_LAUNCH_SPREAD=0.01)
                self.assertTrue(is_said(said, case.words), said)

    def test_disturbed(self):
        """The same, or not clear, where the system takes 3 % of the time."""
        clear = 0
        cases = CASES[:8][::virtual.by_tier(plain=8, run=1)]
        for case in cases:
            with self.subTest("{}: {}".format(case.what, case.words)):
                said = self.said(case, launches=ENOUGH, MODEL_LAUNCH_SPREAD=0.01, **virtual.CONDITIONS["cloud"])
                answers = (case.words, case.words.replace("even makes no difference", "no saves nothing"),
                           "not clear launches disagree")
                self.assertTrue(any(is_said(said, words, beside=DISTURBED) for words in answers), said)
                clear += gain_lines.UNSURE not in said
        self.mostly(clear, len(cases), 0.5, "clear answers")

    def test_one_launch(self):
        """Nothing is clear."""
        for case in CASES[:8][::virtual.by_tier(plain=8, run=3)]:
            self.assertEqual(self.said(case), "not clear needs more launches")

    def test_wrong_data(self):
        """Only where there is any."""
        case = Case(MIND, "", "halo", ("--local=4", "--methods=isend/irecv packed", "--check", "--max-time=0.1"),
                    {"MODEL_LATENCY_US": 5})
        self.assertEqual(self.said(case), "")
        self.assertRegex(self.said(case, status=1, MODEL_CORRUPT=1), "^1 row has wrong data .*: halo")


# The example of docs/scorecard.md: programs, their options, and what messages and operations take.
TIMES = {"MODEL_LAUNCH_SPREAD": 0.01, "MODEL_LATENCY_US": 0.4, "MODEL_PER_BYTE_NS": 0.1, "MODEL_POST_US": 0.13,
         "MODEL_SYNC_US": 0.3, "MODEL_BARRIER_US": 0.85}
OVERLAPPED = {"MODEL_DURATION_US": 1.1, "MODEL_BLOCKING_US": 1}
OVER_SIZES = ("--sizes=8,1K,64K,1M", "--max-time=0.01")
EXAMPLE = [
    ("pingpong", ("--patterns=MPI Send,put", "--arrangements=single", "--max-ndata=128K", "--max-time=0.001"), {}),
    ("mpi_overhead", ("--both", "--sizes=8,64K", "--max-time=0.02"), {}),
    ("msgrate", ("--peers=1", "--cache=0", "--max-time=0.01"), {"MODEL_GAP_US": 0.05}),
    ("collective", ("--operations=barrier,allreduce,bcast", "--sizes=8", "--max-time=0.005"), {}),
    ("halo", ("--local=50", "--methods=shared window,isend/irecv packed", "--max-time=0.005"), {}),
    ("noise", ("--max-time=0.1", "--operations=barrier", "--grain=100"), {"DISTURB": "250:16", "DISTURB_PERIODIC": 1}),
    ("overlap_iallreduce", OVER_SIZES, {**OVERLAPPED, "MODEL_FRACTION": 0}),
    ("overlap_ialltoall", OVER_SIZES, {**OVERLAPPED, "MODEL_FRACTION": 1}),
    ("overlap_sendrecv", ("--test-calls=0,4", *OVER_SIZES),
     {"MODEL_BLOCKING_US": 1, "MODEL_FRACTION": 0.5, "MODEL_PROGRESS_SHARE": 0.25})]


class Example(virtual.Test):
    """docs/scorecard.md shows what the tools say of launches that anyone can repeat."""

    @unittest.skipIf(virtual.TIER == "plain", "launches of nine programs")
    def test_docs(self):
        folder = Folder(self)
        for program, options, variables in EXAMPLE:
            folder.launches("runs", program, *options, launches=6, **{**TIMES, **variables})
        text = card_text.text_of(scorecard.card_of(tables.Tables([folder.path])))
        with open(os.path.join(TOP, "docs/scorecard.md"), encoding="utf-8") as stream:
            shown = stream.read().split("```\n")[1]
        # The first line has the MPI library.
        self.assertEqual(shown.partition("\n")[2], text.partition("\n")[2], text)


class RandomLaunches(virtual.Test):
    """Operations that take times drawn at random, measured six times on a machine that is disturbed."""

    def test_answers(self):
        chance, wrong, clear, missed = random.Random(41), 0, 0, 0
        cases = virtual.by_tier(plain=4, run=16, full=60)
        for _ in range(cases):
            program = chance.choice(PROGRAMS[:9])
            duration_us, fraction = 10 ** chance.uniform(1, 2.5), chance.choice((0, 0.3, 0.6, 1))
            blocking_us = chance.choice((0.5, 0.8, 1, 1.3)) * duration_us
            folder = Folder(self)
            folder.launches("runs", "overlap_" + program.name, *program.options, launches=ENOUGH,
                            MODEL_DURATION_US=duration_us, MODEL_LATENCY_US=duration_us,
                            MODEL_BLOCKING_US=blocking_us, MODEL_FRACTION=fraction, MODEL_POST_US=POST_US,
                            MODEL_WAIT_US=WAIT_US, MODEL_SYNC_US=SYNC_US, MODEL_LAUNCH_SPREAD=0.01,
                            **virtual.CONDITIONS["quiet"])
            left_us = exposed_us([Transfer(duration_us, fraction, POST_US, WAIT_US)], 2 * duration_us)
            gain_pct = 100 * (1 - left_us / program.blocking_us(None, blocking_us))
            right = ["yes"] if gain_pct > 2 else ["no"] if gain_pct < -2 else ["even", "no"]
            (line,) = scorecard.card_of(tables.Tables([folder.path])).parts[-1].lines
            is_clear = min(abs(gain_pct - 2), abs(gain_pct + 2)) > 8  # launches differ by some 4 points
            is_wrong = (line.typical not in (*right, gain_lines.UNSURE) or
                        line.note.startswith("costs") and right != ["no"])
            wrong += is_wrong
            clear += is_clear
            missed += is_clear and line.typical == gain_lines.UNSURE
            if is_wrong:
                virtual.say("{} gains {:.1f} %: {}".format(program, gain_pct, line))
        self.rarely(wrong, cases, FALSE, "false answers")
        self.rarely(missed, clear, MISSED, "clear answers that are missed")


if __name__ == "__main__":
    virtual.main()
