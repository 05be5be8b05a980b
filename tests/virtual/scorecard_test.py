# SPDX-License-Identifier: BSD-3-Clause
"""The scorecard of launches whose truth is known."""

import decimal
import re
import shutil
import statistics
import tempfile
import typing

import rules
import virtual
from launches import Folder
from random_machine import SIZES, Machine
from commcost.result import intervals, tables
from commcost.scorecard import card_table, card_text, gain_lines, scorecard
from commcost.scorecard.card_table import CAVEATS, COSTS, GAINS, LINKS

UNITS = {"ns": 1e-3, "µs": 1, "ms": 1e3, "s": 1e6, "%": 1, "MB/s": 1, "GB/s": 1024, "/s": 1, "k/s": 1e3, "M/s": 1e6,
         "G/s": 1e9}
SIZE_NAMES = {8: "8 bytes", 1 << 10: "1 KiB", 1 << 16: "64 KiB", 1 << 20: "1 MiB"}
PUT_ENDS = {"all": "barrier", "images": "notification"}
DIRECTIONS = {"send": "MPI_Isend", "recv": "MPI_Irecv"}
OPERATIONS = {"barrier": "Barrier, 2 ranks", "allreduce": "Allreduce, 8 bytes", "bcast": "Broadcast, 8 bytes"}
CALLS = {"isend": "MPI_Isend", "irecv": "MPI_Irecv", "sendrecv": "MPI_Isend + MPI_Irecv", "put": "MPI_Rput",
         "ibcast": "MPI_Ibcast", "iallreduce": "MPI_Iallreduce", "ialltoall": "MPI_Ialltoall",
         "partitioned": "MPI_Psend_init (8 partitions)"}
PERSISTENT = {**CALLS, "isend": "MPI_Send_init", "irecv": "MPI_Recv_init",
              "sendrecv": "MPI_Send_init + MPI_Recv_init", "ibcast": "MPI_Bcast_init",
              "iallreduce": "MPI_Allreduce_init", "ialltoall": "MPI_Alltoall_init"}
# The labels of lines about gains: a question, and the names in it. The last one is of all other labels.
FAMILIES = {"MPI_Put": r"Put \+ (.+) vs[.] MPI_Send", "CPU availability": "CPU availability during (.+)",
            "MPI_Test": "MPI_Test during (.+)",
            "Persistent": "(.+) instead of new requests", "Partitioned": "MPI_Psend_init with (.+) partitions",
            "Non-blocking halo": "Non-blocking halo exchange, (.+)",
            "Non-blocking message": r"(.+) \+ work \+ MPI_Wait",
            "Non-blocking": "(.*)"}
AGAINST_BLOCKING = "Non-blocking", "Non-blocking halo", "Non-blocking message", "Partitioned"
SHARES = "([0-9]+)(?:–([0-9]+))? %"
NEXT = ", next best"
COMPARED = (*AGAINST_BLOCKING, "MPI_Put", "MPI_Test", "Persistent", "Halo exchange", "Message rate")
ENOUGH = 8  # launches
FALSE, MISSED = 0.01, 0.05


# ---- random machines -----------------------------------------------------------------------------

class Judge:
    """The truth of a machine's results."""

    def __init__(self, machine):
        self.machine, self.folder = machine, tempfile.mkdtemp(prefix="virtual-")
        machine.write(self.folder)
        self.tables = tables.Tables([self.folder])
        self.rows = {row.identity: row for kind in self.tables.kinds() for row in self.tables.rows(kind)}
        self.parts = {part.heading: part.lines for part in scorecard.card_of(self.tables).parts}
        shutil.rmtree(self.folder)

    def compared(self, name):
        """The lines of a question about gains; the notes of another one, which name the best of several ways."""
        if name in FAMILIES:
            return [line for line in self.parts[GAINS] if family_of(line.label)[0] == name]
        return [line.note for line in self.parts[COSTS] if name_of(line.label) == name and NEXT not in line.label]

    def truth(self, identity, **keys):
        """Of a row, or of the one that differs from it in these keys."""
        row = self.rows[identity]
        return self.machine.truth_of(row._replace(keys={**row.keys, **keys}))

    def found(self, identity, column):
        """Returns the values of a row that launches found, by launch."""
        return {cells["run"]: float(cells[column]) for cells in self.rows[identity].launches}

    # ---- costs

    def is_true(self, heading, line):
        """True if all of a line is true: its label, its numbers with their units, and all names."""
        judge = {LINKS: self.is_link_true, COSTS: self.is_cost_true}.get(heading, self.is_gain_true)
        return judge(line)

    def is_link_true(self, line):
        """A node that is called slow, by how many launches; or that none is."""
        if line.label == "Nodes and links":
            return line[1:5] == ("all alike", "", "", "") and not self.machine.has_slow_node
        (identity,) = line.rows
        row, verdict = self.rows[identity], self.truth(identity)["verdict"]
        named = sum(cells["verdict"] == verdict for cells in row.launches)
        note = "8 bytes messages, in {} of {} launches".format(named, len(row.launches))
        return self.machine.has_slow_node and line[:5] == ("Node " + row.keys["a"], verdict, "", "", note)

    def is_cost_true(self, line):
        """A value: whether it is what launches found, and the truth in their range, or hardly beside it."""
        (identity,) = line.rows
        column = self.column_of(line)
        if column is None or line.sizes or not self.truth(identity).get("is_usual", True):
            return False
        truth = self.truth(identity)[column]
        values = sorted(self.found(identity, column).values())
        if column == "added_ns":
            calls = self.rows[identity].keys["call"].count("MPI_")
            truth, values = truth / 1e3 / calls, [value / 1e3 / calls for value in values]
        if not self.is_note_true(line, column):
            return False
        if line.value.startswith("< "):
            limit = shown(line.value[2:])
            most = values[-1] if values[-1] > 0 else -values[0]
            return limit is not None and line.spread == "" and truth <= limit[0] and (
                most <= 1.000001 * limit[0] <= 2.500001 * most)
        unit = line.value.partition(" ")[2]
        ends = [end + " " + unit for end in line.spread.split("–")]
        if len(ends) != 2 or not (is_shown(line.value, statistics.median(values)) and
                                  is_shown(ends[0], values[0]) and is_shown(ends[1], values[-1])):
            return False
        beside = max(values[-1] - values[0], 2 * shown(line.value)[1])
        return values[0] - beside <= truth <= values[-1] + beside and self.is_best_true(line, column, truth)

    def column_of(self, line):
        """The column that a line about costs is of, by what it is called; None where its row isn't that."""
        (identity,) = line.rows
        return dict(self.named(identity)).get(line.label)

    def named(self, identity):
        """Pairs of the labels of lines about a row, and their column."""
        keys, kind = self.rows[identity].keys, identity.rpartition("-")[0]
        is_old = not self.machine.has_collective  # results without collective, whose rows come first
        if kind == "pingpong":
            size = 8 * int(keys["blksize"])
            if keys["pattern"] == "put" and size == SIZES[0]:
                yield "MPI_Put + {}, 8 bytes".format(PUT_ENDS[keys["sync"]]), "latency_us"
            if keys["pattern"] == "MPI Send":
                yield ("Latency, 8 bytes", "latency_us") if size == SIZES[0] else (
                    "Bandwidth, 1 MiB", "bwidth_mbs" if size == SIZES[-1] else None)
        elif kind == "mpi_overhead" and int(keys["msgsize"]) in (SIZES[0], SIZES[-1]):
            yield "Host overhead of {}, {}".format(
                DIRECTIONS[keys["direction"]], SIZE_NAMES[int(keys["msgsize"])]), "overhead"
        elif kind == "msgrate":
            yield "Message rate, cold caches, 8 bytes", "rate_per_s"
            yield "Message rate, cold caches, 8 bytes" + NEXT, "rate_per_s"
        elif kind == "collective" and keys["size_bytes"] in ("0", "8"):
            yield OPERATIONS[keys["operation"]], "time_us"
        elif kind == "syncbench" and is_old:
            yield OPERATIONS["barrier"], "sync_us"
        elif kind in ("overlap_iallreduce_sweep", "overlap_ibcast_sweep") and is_old and keys["size_bytes"] == "8":
            yield OPERATIONS[keys["collective"][1:]], "blocking_us"
        elif kind in ("halo", "overlap_halo_sweep"):
            what, column = (("Halo exchange", "latency_us") if kind == "halo" else
                            ("Exposed halo exchange", "exposed_us"))
            label = "{}, {}".format(what, keys["local"].replace("x", " × "))
            yield from ((label, column), (label + NEXT, column))
        elif kind == "monitor_overhead":
            yield "Monitoring overhead of a call, at most", "added_ns"
        elif kind == "noise" and keys["scope"] == "job":
            yield "Time lost to interruptions", "stopped_pct"
        elif kind == "noise":
            yield "Length of interruptions every 4 ms, ranks 0–1", "stop_us"

    def is_note_true(self, line, column):
        """All behind a value but which way is the best one."""
        (identity,) = line.rows
        if column == "stopped_pct":
            return line.note == ("" if self.has_usual_source() else "no single cause")
        if column == "stop_us":
            share = re.fullmatch("(.*) of the time", line.note)
            return share is not None and is_shown(share[1], 0.5)
        if column == "added_ns":
            calls = {row.keys["call"]: statistics.median(self.found(row.identity, column).values()) /
                     row.keys["call"].count("MPI_") for row in self.tables.rows("monitor_overhead")}
            return line.note == self.rows[identity].keys["call"] == max(calls, key=calls.get)
        names, near = self.found_ways(identity, column)
        if len(names) == 1:
            return line.note == ""
        if self.way_of(self.rows[identity]) != names[NEXT in line.label]:
            return False
        if NEXT in line.label:
            return line.note == names[1] and not near
        if len(near) > 1:
            kind = "pattern" if column == "rate_per_s" else "method"
            return line.note == "{}; no {} clearly best".format(names[0], kind)
        return line.note == "fastest: " + " or ".join(names[:1] + near)

    def found_ways(self, identity, column):
        """The methods, forms or patterns as launches found them, the best first; and those that aren't surely worse
        than the best."""
        found = {self.way_of(row): self.found(row.identity, column) for row in self.rivals(identity, column)}

        def ahead(one, other):
            """The time saved in percent, or the rate gained."""
            one, other = (found[other], found[one]) if column == "rate_per_s" else (found[one], found[other])
            return intervals.launch_median([100 * (1 - one[run] / other[run]) for run in one])

        first = list(found)[0]
        names = sorted(found, key=lambda name: (-1 if column == "rate_per_s" else 1) * intervals.launch_median(
            [found[name][run] / found[first][run] for run in found[name]]).value)
        return names, [name for name in names[1:] if not intervals.is_above(ahead(names[0], name), 2)]

    def has_usual_source(self):
        """True if half of the launches found it."""
        return any(2 * len(row.launches) >= self.machine.launches for row in self.tables.rows("noise", scope="source"))

    def is_best_true(self, line, column, truth):
        """True unless a line names a way as the best that isn't."""
        if not names_best(line):
            return True
        rivals = [self.truth(row.identity)[column] for row in self.rivals(line.rows[0], column)]
        return truth >= max(rivals) if column == "rate_per_s" else truth <= min(rivals)

    @staticmethod
    def way_of(row):
        """The name of one of several ways."""
        form, name = row.keys.get("form", "nonblocking"), row.keys.get("method", row.keys.get("pattern", ""))
        return name if form == "nonblocking" else "{} ({})".format(name, form)

    def rivals(self, identity, column):
        """The rows of halo exchanges and messages that differ only in method, form or pattern."""
        kind = identity.rpartition("-")[0]
        ways = ("pattern", "method", "form") if kind in ("halo", "overlap_halo_sweep", "msgrate") else ()
        own = {name: cell for name, cell in self.rows[identity].keys.items() if name not in ways}
        return [row for row in self.tables.rows(kind) if own == {
            name: cell for name, cell in row.keys.items() if name not in ways} and column in self.truth(row.identity)]

    # ---- gains

    def saved(self, family, identity):
        """The time saved in percent, and the limit above which it is more than nothing."""
        own = self.truth(identity)
        if family == "CPU availability":
            return own["avail(%)"], None
        if family == "MPI_Put":
            send = self.truth(identity, pattern="MPI Send", sync="none")["latency_us"]
            return 100 * (1 - own["latency_us"] / send), 2
        if family in ("MPI_Test", "Persistent"):
            other = self.truth(identity, **({"test_calls": "0"} if family == "MPI_Test" else {"form": "nonblocking"}))
            return 100 * (other["exposed_us"] - own["exposed_us"]) / other["blocking_us"], 2
        return own["gain_pct"], 2

    def is_gain_true(self, line):
        """An answer, of every row that it rests on; that it costs time, of one at least."""
        family, names = family_of(line.label)
        if line.spread or line.remedy or not self.has_its_sizes(line) or (
                names != {name_of_thing(family, self.rows[identity].keys) for identity in line.rows}):
            return False
        if line.value == gain_lines.UNSURE:
            return line.note == ("launches disagree" if self.machine.launches >= 6 else "needs more launches")
        if line.note.startswith("up to") and not any(self.saved(family, identity)[0] < -2 for identity in line.rows):
            return False
        return self.is_reason_found(family, line) and all(
            self.is_row_true(family, line, identity) for identity in line.rows)

    def found_saved(self, family, identity):
        """The same as saved(), as launches found it: a Measured."""
        own = self.rows[identity]
        if family == "CPU availability" or family in AGAINST_BLOCKING:
            values = self.found(identity, "avail(%)" if family == "CPU availability" else "gain_pct")
            return intervals.launch_median(list(values.values()))
        other, column, whole = (
            ({"pattern": "MPI Send", "sync": "none"}, "latency_us", "latency_us") if family == "MPI_Put" else
            ({"test_calls": "0"} if family == "MPI_Test" else {"form": "nonblocking"}, "exposed_us", "blocking_us"))
        keys = {**own.keys, **other}
        (row,) = (row for row in self.rows.values() if row.keys == keys)
        others, wholes, owns = (self.found(*of) for of in (
            (row.identity, column), (row.identity, whole), (identity, column)))
        return intervals.launch_median([100 * (others[run] - owns[run]) / wholes[run] for run in owns])

    def is_reason_found(self, family, line):
        """True if the numbers of a note are those that launches found."""
        found = [self.found_saved(family, identity) for identity in line.rows]
        share = "" if family == "CPU availability" else "saves "
        costs = re.fullmatch("up to ([0-9]+) % more time|up to ([0-9.]+) × the time", line.note)
        most = max((-saved.value for saved in found if intervals.is_below(saved, -2)), default=0)
        if costs:
            return line.value == "no" and (is_shown(costs[1] + " %", most) if costs[1] else
                                           is_shown(costs[2] + " %", 1 + most / 100) and most >= 99)
        saves = re.fullmatch(share + SHARES + (" with 4 calls" if family == "MPI_Test" else ""), line.note)
        if not saves:
            little = "less than 10 %" if family == "CPU availability" else "hides less than 10 %"
            return line.value == "no" and not most and line.note in (little, "no difference", "saves nothing")
        values = [saved.value for saved in found]
        return line.value != "no" and is_shown(saves[1] + " %", min(values)) and is_shown(
            (saves[2] or saves[1]) + " %", max(values))

    def is_row_true(self, family, line, identity):
        saved, least = self.saved(family, identity)
        if "less than" in line.note and least is not None and not self.truth(identity)["overlap_pct"] < 10:
            return False
        if line.note == "no difference" and not -2 < saved < 2 or not self.is_saved_true(line.note, saved):
            return False
        if least is None:
            return {"yes": saved > 50, "partly": 10 < saved < 50, "no": saved < 10}.get(line.value, False)
        return {"yes": saved > least, "no": saved < 2}.get(line.value, False)

    def is_saved_true(self, note, saved):
        """True if a truth is among the percents of a note, or as near as six launches come; with slow launches there
        are two truths."""
        beside = 1 + 600 * self.machine.spread * max(1, 1 - saved / 100)
        most = re.match("up to ([0-9.]+) ([%×])", note)
        found = re.match("(?:saves )?" + SHARES, note)
        if self.machine.slow_runs or not (most or found):
            return True
        if most:
            return -saved <= (float(most[1]) if most[2] == "%" else 100 * (1.1 * float(most[1]) - 1)) + beside
        return float(found[1]) - beside <= saved <= float(found[2] or found[1]) + beside

    def has_its_sizes(self, line):
        """True if a line rests on all sizes that it names, of each thing that it is about."""
        things = {}
        for identity in line.rows:
            things.setdefault(self.thing_of(self.rows[identity]), set()).add(self.size_of(self.rows[identity]))
        return line.sizes == "some sizes" or all(
            sizes == self.named_sizes(thing, line.sizes) for thing, sizes in things.items())

    def named_sizes(self, thing, words):
        """The sizes of a thing's rows that words such as "from 16 KiB" name; None of other words."""
        rows = [row for row in self.rows.values() if self.thing_of(row) == thing]
        is_halo = thing[1] not in (None, "NA")
        names = {row.keys["local"].replace("x", " × ") if is_halo else SIZE_NAMES[self.size_of(row)]: self.size_of(row)
                 for row in rows}
        sizes = set(names.values())
        if words == "all sizes":
            return sizes if len(sizes) > 1 else None
        named = set()
        for text in words.split(", "):
            word, first, last = re.fullmatch("(from |to |)(.*?)(?:–(.+))?", text).groups()
            if first not in names or last not in (None, *names) or (word and last):
                return None
            named |= {size for size in sizes if (word == "to " or size >= names[first]) and
                      (word == "from " or size <= names[last or first])}
        return named

    @staticmethod
    def thing_of(row):
        return (row.identity.rpartition("-")[0], *(row.keys.get(name) for name in ("method", "direction")))

    @staticmethod
    def size_of(row):
        column = next(name for name in ("size_bytes", "msgsize", "ndata", "nbytes") if name in row.keys)
        return (8 if column == "ndata" else 1) * float(row.keys[column])

    def clear_verdict(self, size, family):
        """The verdict at a gain_lines.Size that the truth is twice the interval away from; None where it is near."""
        saved, least = self.saved(family, size.row.identity)
        width = 2 * self.width_pct(size.row, family)
        if least is None:
            return gain_lines.YES if saved > 50 + width else gain_lines.NO if saved < 10 - width else None
        if saved > least + width:
            return gain_lines.YES
        return gain_lines.NO if saved < -2 - width or abs(saved) < 2 - width else None

    def width_pct(self, row, family):
        """The width of the intervals of the time saved, in percent of the time that it takes otherwise."""
        kind = row.identity.rpartition("-")[0]
        if family == "MPI_Put":
            return 200 * self.relative_width(row, kind, "latency_us")
        if family in ("MPI_Test", "Persistent"):
            exposed, blocking = (intervals.measured(row, name) for name in ("exposed_us", "blocking_us"))
            return 200 * self.relative_width(row, kind, "exposed_us") * max(1, exposed.value / blocking.value)
        gain = intervals.measured(row, "avail(%)" if family == "CPU availability" else "gain_pct")
        return gain.high - gain.low

    def is_value_clear(self, line):
        """True if a value is surely more than noise."""
        (identity,) = line.rows
        column = self.column_of(line)
        return 0 < self.relative_width(self.rows[identity], identity.rpartition("-")[0], column) < 0.5

    def relative_width(self, row, kind, column):
        found = intervals.measured(row, column)
        return (found.high - found.low) / found.value


def family_of(label):
    """The question of a line about gains, and the names in its label."""
    family, names = next((family, found[1]) for family, pattern in FAMILIES.items()
                         for found in [re.fullmatch(pattern, label)] if found)
    return family, set(names.split(" or " if family == "MPI_Put" else ", "))


def name_of_thing(family, keys):
    """The name of a row in a line about gains."""
    collective = keys.get("collective")
    if "direction" in keys:
        return DIRECTIONS[keys["direction"]]
    if collective == "halo":
        method = keys["method"].split()[-1]
        return method if family == "Non-blocking halo" else "halo exchange ({})".format(method)
    if family == "Partitioned":
        return keys["partitions"]
    return (PERSISTENT if family == "Persistent" else CALLS)[collective] if collective else PUT_ENDS[keys["sync"]]


def names_best(line):
    """True if a line names one way as the best."""
    return line.note.startswith("fastest: ") and " or " not in line.note


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
    """Yields the Lines that differ from one in a number, which is three times as large, in a word, which is longer or
    missing, or in the answer."""
    for name in ("label", "value", "sizes", "spread", "note"):
        text = getattr(line, name)
        for found in re.finditer("[1-9][0-9.]*|0[.][0-9]*[1-9]|[^-– 0-9.]+", text):
            number = re.fullmatch("[0-9.]+", found[0])
            for other in (["{:.7g}".format(3 * float(found[0].rstrip(".")))] if number else [found[0] + "x", ""]):
                yield line._replace(**{name: (text[:found.start()] + other + text[found.end():]).strip()})
    for answer in {"yes", "no", "partly", gain_lines.UNSURE} - {line.value}:
        yield line._replace(value=answer)


class RandomMachines(virtual.Test):
    """Each kind of line is false on at most one machine of a hundred, and names a clear fact on 95."""

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
                    count(false, subject_of(heading, line), not is_true)
            subjects = {name_of(line.label) for lines in judge.parts.values() for line in lines}
            count(missed, "Length of interruptions", "Length of interruptions" not in subjects)
            if judge.machine.has_slow_node:
                count(missed, "Node", "Node" not in subjects)
            self.look_for_clear_answers(judge, missed)
            for line in judge.parts[COSTS]:
                if judge.is_value_clear(line):
                    count(missed, name_of(line.label), line.value.startswith("<"))
                if self.is_best_clear(judge, line):
                    count(missed, name_of(line.label), not names_best(line))
        self.check(false, FALSE, "false")
        self.check(missed, MISSED, "missed")
        for name, shares in sorted(false.items()):
            virtual.note_row("scorecard", name.replace(" ", "_"), name, *shares[::-1],
                             *missed.get(name, ("", ""))[::-1])

    def test_judge_reads_all(self):
        """A true line is false with any other number, unit, size, name or answer."""
        for seed in range(virtual.by_tier(plain=10, run=40, full=200)):
            judge = Judge(Machine(seed))
            for heading, lines in judge.parts.items():
                for line in lines:
                    if judge.is_true(heading, line):
                        self.assertEqual([], [other for other in changed(line) if judge.is_true(heading, other)], line)

    @staticmethod
    def look_for_clear_answers(judge, missed):
        for question in gain_lines.QUESTIONS:
            for asked, name, sizes in question(judge.tables):
                family = family_of(card_table.GAIN_LINES[asked].format(name))[0]
                verdicts = [judge.clear_verdict(size, family) for size in sizes]
                if gain_lines.YES in verdicts or verdicts and set(verdicts) == {gain_lines.NO}:
                    answers = {line.value for line in judge.parts[GAINS] if family_of(line.label)[0] == family and
                               any(size.row.identity in line.rows for size in sizes)}
                    wanted = gain_lines.YES if gain_lines.YES in verdicts else gain_lines.NO
                    count(missed, family, wanted not in answers)

    @staticmethod
    def is_best_clear(judge, line):
        """True if the best of several ways is so by twice the interval."""
        column = judge.column_of(line)
        if not re.match("Message rate|Halo|Exposed", line.label) or NEXT in line.label:
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
            self.assertEqual({line.value for line in judge.parts[GAINS]}, {gain_lines.UNSURE})
            self.assertFalse([line for line in judge.parts[COSTS] if names_best(line) or NEXT in line.label])

    def test_ways_that_are_alike(self):
        """None is called better or best."""
        called = {}
        for seed in range(virtual.by_tier(plain=25, run=200, full=1000)):
            parts = Judge(Machine(seed, are_alike=True)).parts
            for line in parts[COSTS]:
                if line.note.startswith("fastest: "):
                    count(called, name_of(line.label), names_best(line))
            for line in parts[GAINS]:
                if not line.label.startswith("CPU availability"):
                    count(called, family_of(line.label)[0], re.match("saves [0-9]|up to", line.note) is not None)
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
            for line in judge.parts[GAINS]:
                count(false, family_of(line.label)[0], not judge.is_gain_true(line))
        self.check(false, FALSE, "false")

    def test_widths(self):
        """Lines fit a terminal."""
        for seed in range(virtual.by_tier(plain=5, run=20)):
            for line in card_text.text_of(scorecard.card_of(Judge(Machine(seed)).tables)).splitlines():
                self.assertLessEqual(len(line), 100, line)


def subject_of(heading, line):
    """The subject of a line: its question about gains, or its first words."""
    return family_of(line.label)[0] if heading == GAINS else name_of(line.label)


def name_of(label):
    """The first words of a label."""
    return re.split(" every| n[0-9]| [+] |,", label)[0]


def count(shares, name, is_so):
    several, every = shares.get(name, (0, 0))
    shares[name] = several + is_so, every + 1


# ---- launches of programs ------------------------------------------------------------------------

class Case(typing.NamedTuple):
    """A line that the scorecard must have for a program: its label, and the rest of it (is_shown_so)."""

    label: str
    words: str
    program: str
    options: tuple
    variables: dict


def gain(label, words, *options, program="overlap_iallreduce", sizes=(8, 8), **variables):
    return Case(label, words, program, ("--data-driven", "--min-num-elts={}".format(sizes[0]),
                                        "--max-num-elts={}".format(sizes[1]), "--max-time=0.3", *options),
                {"MODEL_DURATION_US": 200, **variables})


PUT = ("--patterns=put,MPI Send", "--arrangements=single", "--coarray-sync=all", "--max-ndata=1", "--max-time=0.3")
OVERHEAD = ("mpi_overhead", ("--msgsize=8,64K", "--max-time=0.4"),
            {"MODEL_POST_US": 3, "MODEL_LATENCY_US": 20, "MODEL_PER_BYTE_NS": 1})
SLOW_SYNC, FACES = rules.Model(latency=20, sync=100), 6 * [8 * 4 * 4]
HALO_OF_FOUR = ("halo", ("--local=4", "--methods=put,isend/irecv packed", "--coarray-sync=all", "--max-time=0.3"),
                SLOW_SYNC.variables())
CASES = [
    gain("MPI_Iallreduce", "64 bytes yes saves 33 %", MODEL_FRACTION=0.5, MODEL_BLOCKING_US=150),
    gain("MPI_Iallreduce", "64 bytes no hides less than 10 %", MODEL_FRACTION=0, MODEL_BLOCKING_US=200),
    gain("MPI_Iallreduce", "64 bytes no up to 33 % more time", MODEL_FRACTION=0.5, MODEL_BLOCKING_US=75),
    gain("MPI_Iallreduce", "64 bytes no no difference", MODEL_FRACTION=0.5, MODEL_BLOCKING_US=100),
    # Stages of 50 us under 400 us of work: a call in the middle starts the second one.
    gain("MPI_Test during MPI_Iallreduce", "64 bytes yes saves 74.5±0.5 % with 15 calls", "--test-calls=0,1,15",
         MODEL_FRACTION=1, MODEL_PROGRESS_SHARE=0.25, MODEL_BLOCKING_US=200),
    Case("Host overhead of MPI_Isend, 8 bytes", "3±0.05 µs 3±0.1–3±0.1", *OVERHEAD),
    Case("CPU availability during MPI_Isend", "all sizes yes 85±1–96.5±0.5 %", *OVERHEAD),
    Case("Barrier, 2 ranks", "25±0.5 µs 25±0.8–25±0.8", "collective", ("--operations=barrier", "--max-time=0.1"),
         {"MODEL_BARRIER_US": 25}),
    Case("Barrier, 2 ranks", "25±0.5 µs 25±0.8–25±0.8", "syncbench", ("--types=MPI barrier", "--max-time=0.3"),
         {"MODEL_BARRIER_US": 25}),
    # 128 receives are posted in 12.8 us, then 128 messages come and go 2 us apart: 256 in 268.8 us. So in all patterns
    # except that of one direction.
    Case("Message rate, warm caches, 8 bytes", "952±10 k/s 952±20–952±20 * no pattern clearly best", "msgrate",
         ("-p", "1", "-c", "0", "--max-time=0.1"), {"MODEL_LATENCY_US": 2, "MODEL_GAP_US": 2}),
    Case("Latency, 8 bytes", "20±0.5 µs 20±0.8–20±0.8", "pingpong", PUT, {"MODEL_LATENCY_US": 20}),
    Case("Put + barrier vs. MPI_Send", "8 bytes no up to 4.5 × the time", "pingpong", PUT,
         {"MODEL_LATENCY_US": 20, "MODEL_SYNC_US": 40, "MODEL_BARRIER_US": 30}),
    Case("Halo exchange, 4 × 4 × 4", "{0:.4g}±1 µs {0:.4g}±2–{0:.4g}±2 fastest: isend/irecv packed".format(
        SLOW_SYNC.exchange_packed(FACES)), *HALO_OF_FOUR),
    Case("Halo exchange, 4 × 4 × 4, next best", "{0:.4g}±5 µs {0:.4g}±9–{0:.4g}±9 put + barrier".format(
        SLOW_SYNC.sync_all() + SLOW_SYNC.sync_all(FACES)), *HALO_OF_FOUR),
    Case(CAVEATS, "1 of 1 result lost more than 10 % of the time to interruptions: rerun on a quiet machine",
         "syncbench", ("--types=MPI barrier", "--max-time=0.5"), {"MODEL_BARRIER_US": 25, "DISTURB": "10000:50"}),
    Case(CAVEATS, "", "syncbench", ("--types=MPI barrier", "--max-time=0.5"),
         {"MODEL_BARRIER_US": 25, **virtual.CONDITIONS["cloud"]}),
]


def is_shown_so(text, words):
    """True if a text has these words, of which * is any. Their numbers may differ by the number behind ±."""
    found, wanted = (re.findall("[^ –]+", one) for one in (text, words))
    return len(found) == len(wanted) and all(map(is_word, found, wanted))


def is_word(word, wanted):
    middle, _, around = wanted.partition("±")
    numbers = [re.fullmatch("[0-9]+([.][0-9]+)?", text) for text in (word, middle)]
    return wanted in ("*", word) or all(numbers) and abs(float(word) - float(middle)) <= float(around or 0)


class Launches(virtual.Test):
    """Programs' own launches."""

    def test_launches(self):
        """Lines of launches that differ by a percent."""
        for case in CASES[::virtual.by_tier(plain=6, run=1)]:
            with self.subTest("{}: {}".format(case.label, case.words)):
                folder = Folder(self)
                folder.launches("runs", case.program, *case.options, launches=ENOUGH, MODEL_LAUNCH_SPREAD=0.01,
                                **case.variables)
                card = scorecard.card_of(tables.Tables([folder.path]))
                lines = {line.label: " ".join(filter(None, (line.sizes, line.value, line.spread, line.note)))
                         for part in card.parts for line in part.lines}
                lines[CAVEATS] = " ".join(text for text in card.caveats if not re.search("between launches|page of", text))
                self.assertTrue(is_shown_so(lines[case.label], case.words), lines[case.label])


if __name__ == "__main__":
    virtual.main()
