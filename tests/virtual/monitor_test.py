# SPDX-License-Identifier: BSD-3-Clause
"""The monitor's report of programs whose calls, computation and times are known.

A reading of the clock takes READING_US. The monitor subtracts what its own readings take; where a
transfer continues meanwhile that is up to two readings too much, and where others are in flight their
readings are in its time. So a time is right within 0.5 % or BESIDES_US."""

import math
import os
import typing

import virtual
from monitored import LIBRARY, run

READING_US = 0.02
BESIDES_US = 4 * READING_US
SHARE = 0.005


class Machine(typing.NamedTuple):
    """Times of the model's operations, see tests/virtual/plan.h; in us."""

    length: float      # of messages, collectives and barriers
    post: float = 0.1
    wait: float = 0.0
    fraction: float = 1
    sync: float = 0.1
    test: float = 0.05

    def variables(self):
        return {"MODEL_LATENCY_US": self.length, "MODEL_DURATION_US": self.length,
                "MODEL_BARRIER_US": self.length, "MODEL_POST_US": self.post,
                "MODEL_WAIT_US": self.wait, "MODEL_FRACTION": self.fraction,
                "MODEL_SYNC_US": self.sync, "MODEL_TEST_US": self.test}

    def transfers(self, posts=1, before=0, count=1):
        """From the first post to the end of a wait for `count`, of which the last begins after
        `before` posts."""
        alone = self.fraction * self.length
        return (max(posts * self.post, before * self.post + alone) +
                count * (self.length - alone + self.wait))


class Case(virtual.Test):
    target = "0.5 %, or 4 readings of the clock"

    def time_near(self, found_us, truth_us, what):
        self.near(found_us, truth_us, max(SHARE * truth_us, BESIDES_US), what)

    def check_sums(self, found):
        """Rows of all calls are the total, and so are the totals of the ranks."""
        total = found.row("total", "MPI")
        inside_s = [row["in_calls_s"] for row in found.rows if row["kind"] in ("pttopt", "coll", "calls")]
        ranks = [row["in_calls_s"] for row in found.ranks if row["kind"] == "total"]
        self.assertAlmostEqual(sum(inside_s), total["in_calls_s"], 7)
        self.assertAlmostEqual(sum(ranks), total["in_calls_s"], 7)
        self.assertEqual(total["slowest_s"], max(ranks))
        self.assertEqual(total["slowest_rank"], ranks.index(max(ranks)))
        return total["in_calls_s"]


# ---- each kind of operation ----------------------------------------------------------------------

class Operation(typing.NamedTuple):
    kind: str
    mean_us: float
    bytes: float      # of all ranks in a round, in messages
    calls: int = 1    # of a rank in a round


def operations(m, ranks):
    """Operations of a round of monitor_script.c on its ring."""
    one, both = m.transfers(), m.transfers(2, 1, 2)
    call_us = m.length + m.wait
    of = {"MPI_Irecv": Operation("pttopt", both, ranks),
          "MPI_Isend": Operation("pttopt", m.transfers(1, 0, 2), ranks),
          "MPI_Send": Operation("pttopt", one, ranks), "MPI_Ssend": Operation("pttopt", one, ranks),
          "MPI_Recv": Operation("pttopt", one, 2 * ranks, 2),
          "MPI_Sendrecv": Operation("pttopt", both, 2 * ranks),
          "MPI_Recv_init": Operation("pttopt", both, ranks),
          "MPI_Send_init": Operation("pttopt", both, ranks),
          "MPI_Put": Operation("pttopt", one + m.sync, ranks),
          "MPI_Get": Operation("pttopt", one + m.sync, ranks),
          "MPI_Rput": Operation("pttopt", one, ranks)}
    for name, size in {"MPI_Ibarrier": 0, "MPI_Ibcast": 1, "MPI_Iallreduce": ranks,
                       "MPI_Ialltoall": ranks ** 2}.items():
        of[name] = Operation("coll", one, size)
    for name, size in {"MPI_Neighbor_allgather": ranks, "MPI_Neighbor_alltoall": 2 * ranks,
                       "MPI_Barrier": 0, "MPI_Bcast": 1, "MPI_Scatter": ranks, "MPI_Gather": ranks,
                       "MPI_Reduce": ranks, "MPI_Allreduce": ranks, "MPI_Allgather": ranks,
                       "MPI_Alltoall": ranks ** 2}.items():
        of[name] = Operation("coll", call_us, size)
    return of


BLOCKING = ("MPI_Send", "MPI_Ssend", "MPI_Recv", "MPI_Sendrecv", "MPI_Barrier", "MPI_Bcast",
            "MPI_Scatter", "MPI_Gather", "MPI_Reduce", "MPI_Allreduce", "MPI_Allgather",
            "MPI_Alltoall", "MPI_Neighbor_allgather", "MPI_Neighbor_alltoall")


def spans_us(m, ranks, rounds):
    """Spans of the ring's operations: the first and the last collective ones make and free a window."""
    of = operations(m, ranks)
    counted = {"MPI_Irecv": 1, "MPI_Send": 2, "MPI_Ssend": 2, "MPI_Sendrecv": 1, "MPI_Recv_init": 1,
               "MPI_Put": 1, "MPI_Get": 1, "MPI_Rput": 1}
    messages_us = rounds * sum(of[name].mean_us * times for name, times in counted.items())
    collectives_us = rounds * sum(one.mean_us for one in of.values() if one.kind == "coll")
    locks_us = m.sync + m.wait
    whole_us = messages_us + collectives_us + 2 * locks_us
    return {"point-to-point": messages_us, "collective": whole_us, "all": whole_us}


class Script(Case):
    """Calls, bytes and times of a report, of a program whose calls are known."""

    TIMES = 20
    WORDS = "pttopt,coll,calls,comm,msgsize,traffic,large={},timeout={}us"

    def check(self, m, size, ranks=2, large=1024, reading_us=READING_US):
        timeout_us = 1.2 * m.length
        found = run("monitor_script", self.TIMES, size, ranks=ranks, **m.variables(),
                    VIRTUAL_CLOCK_NS=reading_us * 1e3, words=self.WORDS.format(large, timeout_us))
        for name, truth in operations(m, ranks).items():
            row, what = found.row(truth.kind, name, "ring"), "{} {} {}".format(name, m, size)
            calls = ranks * truth.calls * self.TIMES
            late = calls if truth.mean_us > timeout_us else 0
            self.assertEqual([row[key] for key in ("calls", "completed", "timeouts", "bytes", "ranks")],
                             [calls, calls, late, truth.bytes * size * self.TIMES, ranks], what)
            # Nothing proceeds without a blocking call.
            besides_us = 0 if name in BLOCKING else 4 * reading_us
            for column, found_us in (("mean", row["mean_us"]), ("max", row["max_us"]),
                                     ("total", row["total_s"] * 1e6 / calls)):
                self.near(found_us, truth.mean_us, max(SHARE * truth.mean_us, besides_us),
                          what + " " + column)
        self.check_groups(found, m, size, ranks, large, reading_us)
        self.check_sums(found)

    def check_groups(self, found, m, size, ranks, large, reading_us):
        """Rows of the communicator and of its workload."""
        elapsed_s = found.said[0]["seconds"]
        for name, span_us in spans_us(m, ranks, self.TIMES).items():
            self.near(found.row("comm", name, "ring")["total_s"] * 1e6, span_us,
                      SHARE * span_us + self.TIMES * 60 * reading_us, "span of " + name)
        row = found.row("workload", "messages", "ring")
        sent, share = 8 * ranks * self.TIMES, "large" if size >= large else "small"
        for end in ("small", "large"):
            truth = sent if end == share else 0
            self.assertEqual((row[end], row[end + "_bytes"]), (truth, truth * size))
            # The snapshot begins with MPI_Init, and the head has its length.
            per_s = truth / float(found.head["snapshot_s"])
            self.near(row[end + "_per_s"], per_s, 1e-3 * per_s + 1e-3, end + "_per_s")
        self.assertGreater(float(found.head["snapshot_s"]), elapsed_s)

    def test_operations(self):
        machines = (Machine(20), Machine(200, 2, 3, 1, 5), Machine(50, 1, 0.5, 0.5),
                    Machine(20, 0.5, 0.2, 0), Machine(1000, 10, 10), Machine(5))
        for m in machines[:virtual.by_tier(plain=3, run=None, all=6)]:
            for size in (8, 4096):
                with self.subTest(m=m, size=size):
                    self.check(m, size)

    def test_ranks(self):
        for ranks in virtual.by_tier(plain=(4,), run=(4, 6), all=(4, 6, 16)):
            with self.subTest(ranks=ranks):
                self.check(Machine(100, 1, 1), 64, ranks)

    def test_clock_costs(self):
        """The cost of readings is subtracted."""
        self.check(Machine(200, 2, 3), 8, reading_us=2)


# ---- the switch -----------------------------------------------------------------------------------

class Switch(Case):
    """While MPI_Pcontrol has it off, nothing counts, nor does the time."""

    def test_off(self):
        for seconds in (0, 1):
            found = run("foreign", "switch", seconds, words="coll", **Machine(100).variables())
            self.assertEqual(found.row("coll", "MPI_Barrier")["calls"], 2 * (3 + 7))
            # MPI_Finalize has a barrier, too.
            self.time_near(float(found.head["snapshot_s"]) * 1e6, (3 + 7 + 1) * 100, "the run")


# ---- time inside calls, and around them ----------------------------------------------------------

class Inside(Case):
    """Time inside MPI and computed between calls, of every kind of call."""

    TIMES, WORK_US, RANKS = 20, 300, 2
    M = Machine(200, 2, 0, 1, 50, 20)

    def test_inside(self):
        m, rounds = self.M, self.RANKS * self.TIMES
        found = run("monitor_inside", self.TIMES, self.WORK_US, **m.variables())
        half = (m.length - m.post) / 2  # of a wait for two messages, less what their posts hide
        inside = {"MPI_Isend": 3 * m.post + half, "MPI_Irecv": 3 * m.post + half + m.test,
                  "MPI_Send_init": m.post + half, "MPI_Recv_init": m.post + half,
                  "MPI_Put": m.length + m.sync, "MPI_Allreduce": 2 * m.length}
        waits = {"MPI_Isend": half, "MPI_Irecv": half + m.test, "MPI_Send_init": half, "MPI_Recv_init": half,
                 "MPI_Put": m.length - m.post + m.sync, "MPI_Allreduce": 0}
        computed = {"MPI_Isend": 2 * self.WORK_US, "MPI_Irecv": 2 * self.WORK_US}
        times = {"MPI_Isend": 3, "MPI_Irecv": 3}
        for name, truth_us in inside.items():
            kind = "coll" if name == "MPI_Allreduce" else "pttopt"
            whole, sized = found.row(kind, name, "pair"), found.row("sizes", name, "pair")
            completed = rounds * times.get(name, 1)
            self.time_near(whole["in_calls_s"] * 1e6 / rounds, truth_us, name + " inside")
            self.time_near(whole["in_waits_s"] * 1e6 / rounds, waits[name], name + " in waits")
            self.time_near(sized["computed_s"] * 1e6 / rounds, computed.get(name, 0.0),
                           name + " computed")
            self.assertEqual([sized[key] for key in ("size_bytes", "completed", "bytes")],
                             [8, completed, 8 * completed])
            for column in ("total_s", "in_calls_s", "in_waits_s"):
                self.assertAlmostEqual(sized[column], whole[column], 7)
        calls = {"MPI_Test": m.test, "MPI_Win_flush": m.sync}
        for name, truth_us in calls.items():
            row = found.row("calls", name)
            self.assertEqual(row["calls"], rounds)
            self.time_near(row["in_calls_s"] * 1e6 / rounds, truth_us, name)
        # Inside another call.
        self.assertEqual(found.row("coll", "MPI_Barrier", "MPI_COMM_SELF")["in_calls_s"], 0)
        # MPI_Finalize, a barrier, lock and unlock come once.
        once_us = self.RANKS * 2 * (m.length + m.sync)
        truth_us = rounds * (sum(inside.values()) + sum(calls.values())) + once_us
        self.near(self.check_sums(found) * 1e6, truth_us, SHARE * truth_us, "total")

    # Calls a round that could have been part of others, and computation after calls in parts of the
    # work, of all ranks together (monitor_around.c).
    JOINABLE = {"MPI_Irecv": 0, "MPI_Isend": 0, "MPI_Ssend": 2, "MPI_Send": 2, "MPI_Recv": 0,
                "MPI_Allreduce": 4, "MPI_Allgather": 0, "MPI_Barrier": 0, "MPI_Put": 2}
    POLLS = 100
    AFTER = {"MPI_Irecv": 3, "MPI_Isend": 1, "MPI_Allreduce": 2, "MPI_Send": 0, "MPI_Barrier": 0,
             "MPI_Put": 0}

    def test_around(self):
        found = run("monitor_around", self.TIMES, self.WORK_US, **self.M.variables())
        for name, count in self.JOINABLE.items():
            row = found.row("sizes", name, "pair")
            self.assertEqual((row["joinable"], row["callers"]),
                             (count * self.TIMES, 1 if name == "MPI_Put" else 2), name)
        for name, parts in self.AFTER.items():
            row = found.row("sizes", name, "pair")
            self.near(row["computed_after_s"] * 1e6 / self.TIMES, parts * self.WORK_US,
                      SHARE * parts * self.WORK_US + READING_US, name + " after")
        # The monitor's work belongs to the call, and to a row of its own: here two readings of the clock, of some
        # operations three. Its rank, which polls, computes nothing.
        own = found.row("calls", "libmpirtmon")
        self.near(own["in_calls_s"] * 1e6 / own["calls"], 2.5 * READING_US, 0.5 * READING_US, "readings")
        row = found.row("calls", "MPI_Test")
        self.assertEqual(row["calls"], 2 * self.TIMES * self.POLLS)
        self.near(row["in_calls_s"] * 1e6, 0, row["calls"] * SHARE * READING_US, "polls")
        self.assertGreaterEqual(own["calls"], row["calls"])
        neighbours = {row["operation"]: row["neighbours"] for row in found.rows
                      if row["comm"] == "pair" and row["kind"] == "pttopt"}
        self.assertEqual({name for name, count in neighbours.items() if count == 1},
                         {"MPI_Isend", "MPI_Ssend", "MPI_Send", "MPI_Put", "MPI_Rput"})
        self.assertTrue(all(math.isnan(neighbours[name]) for name in ("MPI_Irecv", "MPI_Recv")))
        for name, truth in {"MPI_Win_flush": (3, 1), "MPI_Win_flush_all": (2, 0)}.items():
            row = found.row("calls", name, "pair")
            self.assertEqual((row["calls"], row["joinable"]),
                             tuple(self.TIMES * number for number in truth), name)
        self.check_sums(found)

    def test_polling(self):
        """A rank that polls computes nothing, and one that computes between polls computes all of that: the head tells
        from which gap between two calls on."""
        polls = 1000
        for gap_ns in (0, 30, 100, 105, 200, 1000, 10000, 100000):
            with self.subTest(gap_ns=gap_ns):
                found = run("monitor_poll", polls, gap_ns, **self.M._replace(length=1, test=0.05).variables())
                from_ns = float(found.head["computing_from_ns"])
                self.assertEqual(from_ns, 100)
                computed_ns = polls * gap_ns if gap_ns > from_ns else 0
                row = found.row("sizes", "MPI_Irecv", "pair")
                self.near(row["computed_s"] * 1e9, 2 * computed_ns, 2e3 * READING_US, "computed")
                # Time that isn't computed is the monitor's, not the test's.
                tests, own = (found.row("calls", name) for name in ("MPI_Test", "libmpirtmon"))
                self.near(tests["in_calls_s"] * 1e9 / tests["calls"], 50, 50 * SHARE, "a test")
                self.near(own["in_calls_s"] * 1e9 / own["calls"],
                          2e3 * READING_US + gap_ns * (gap_ns <= from_ns), 1.0, "the monitor")

    def test_words(self):
        whole = run("monitor_inside", 5, 1, **self.M.variables())
        for words, kinds in (("calls", {"calls", "total"}), ("pttopt", {"pttopt"}),
                             ("sizes", {"sizes"}), ("coll,calls", {"coll", "calls", "total"})):
            with self.subTest(words):
                found = run("monitor_inside", 5, 1, words=words, **self.M.variables())
                self.assertEqual({row["kind"] for row in found.rows}, kinds)
                if "calls" in words:
                    # Whatever else was asked for, the total is all.
                    truth_s = whole.row("total", "MPI")["in_calls_s"]
                    self.near(found.row("total", "MPI")["in_calls_s"], truth_s, SHARE * truth_s)


# ---- ranks that come late ------------------------------------------------------------------------

FUNCTIONS = ("MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall", "MPI_Bcast", "MPI_Scatter",
             "MPI_Scatterv", "MPI_Gather", "MPI_Gatherv", "MPI_Reduce", "MPI_Allgatherv",
             "MPI_Alltoallv", "MPI_Reduce_scatter")
ROOTED, FROM_ROOT = FUNCTIONS[3:9], FUNCTIONS[3:6]
BY_BLOCK = FUNCTIONS[9:]        # nobody waits in these where any rank has no data
KEPT_MAX = 4096  # calls of a function


class Waiting(typing.NamedTuple):
    """Of a function, by rank."""

    waited_us: list
    longest_us: list
    last: list  # calls in which all others waited for the rank, or the root did


def waiting(name, calls, step_us, ranks, empty=0):
    """The waiting in monitor_late.c."""
    number, found = FUNCTIONS.index(name), Waiting([0] * ranks, [0] * ranks, [0] * ranks)
    apart = set(range(ranks - empty, ranks)) if name in ("MPI_Scatterv", "MPI_Gatherv") else set()
    for i in range(calls):
        came = [(5 * i + 3 * number + 11 * rank) % 17 for rank in range(ranks)]
        root, everyone = (i + number) % ranks, set(range(ranks))
        others = everyone - {root} - apart
        waits, awaited = ((everyone, everyone) if name not in ROOTED else
                          (others, {root}) if name in FROM_ROOT else ({root}, others))
        if not others:
            continue
        last = max(awaited, key=lambda r: came[r])
        found.last[last] += all(came[rank] < came[last] for rank in waits - {last})
        for rank in waits:
            waited_us = step_us * max(0, came[last] - came[rank])
            found.waited_us[rank] += waited_us
            found.longest_us[rank] = max(found.longest_us[rank], waited_us)
    return found


class Late(Case):
    """Waiting for late ranks, in every kind of collective."""

    M = Machine(1, test=0.2)

    def check(self, calls, step_us, ranks=2, functions=FUNCTIONS, words="coll,clock", empty=0, **variables):
        found = run("monitor_late", calls, step_us, empty, ranks=ranks, words=words + ",per-rank", MODEL_DATA=1,
                    **self.M.variables(), **variables)
        for name in functions:
            truth = waiting(name, calls, step_us, ranks, empty)
            all_ranks = found.row("coll", name, "team")
            of = [found.row("coll", name, "team", rank) for rank in range(ranks)]
            for rank, row in enumerate(of):
                self.check_rank(row, truth, rank, calls, "{} rank {} of {}, {} calls of {} us {}".format(
                    name, rank, ranks, calls, step_us, variables))
            for column, of_all in (("waited_s", sum), ("least_waited_s", min)):
                source = [row["waited_s"] for row in of]
                self.assertAlmostEqual(all_ranks[column], of_all(source), 8, name)
            near = 0.05 * calls if calls > KEPT_MAX else 0
            self.assertLessEqual(abs(all_ranks["last_calls"] - max(truth.last)), near, name)
            self.assertLessEqual(max(truth.last) - truth.last[int(all_ranks["last_rank"])], near, name)
            slowest = max(range(ranks), key=lambda rank: of[rank]["total_s"])
            self.assertEqual(all_ranks["slowest_s"], of[slowest]["total_s"])
            self.assertEqual(all_ranks["slowest_rank"], slowest)
            self.assertEqual(all_ranks["max_us"], max(row["max_us"] for row in of))
        return found

    def check_rank(self, row, truth, rank, calls, what):
        truth_us, call_us = truth.waited_us[rank], self.M.length
        # An interval has two standard errors where some calls were kept only.
        sampled_s = row["waited_hi_s"] - row["waited_s"] if calls > KEPT_MAX else 0
        self.near(row["waited_s"] * 1e6, truth_us,
                  max(SHARE * truth_us, 2 * READING_US * calls) + sampled_s * 1e6, what)
        self.assertTrue(row["waited_lo_s"] * 1e6 <= truth_us <= row["waited_hi_s"] * 1e6, what)
        self.time_near(row["total_s"] * 1e6 / calls, truth_us / calls + call_us, what + " total")
        self.time_near(row["max_us"], truth.longest_us[rank] + call_us, what + " max")
        self.assertEqual(row["max_rank"], rank)

    def test_waiting(self):
        for calls, step_us, ranks in virtual.by_tier(
                plain=((100, 10, 2),), run=((100, 10, 2), (300, 1, 3), (100, 20, 5)),
                all=((100, 10, 2), (300, 1, 3), (100, 20, 5), (17, 100, 16))):
            with self.subTest(calls=calls, step_us=step_us, ranks=ranks):
                self.check(calls, step_us, ranks)

    def test_clocks(self):
        """Clocks that are shifted, and run at other rates, within a node and between nodes."""
        every = [(2, 1, 1e6, 50), (4, 2, -3, 0), (4, 4, 200, -20), (3, 1, 0, 0), (3, 3, 0, 10),
                 (8, 4, 7e5, -100)]
        for ranks, nodes, shift_us, ppm in every[:virtual.by_tier(plain=2, run=4, all=6)]:
            with self.subTest(ranks=ranks, nodes=nodes, shift_us=shift_us, ppm=ppm):
                found = self.check(100, 10, ranks, VIRTUAL_NODES=nodes,
                                   VIRTUAL_CLOCK_SHIFT_US=shift_us, VIRTUAL_CLOCK_PPM=ppm)
                # Half of a round trip and a reading, by the steps of a binomial tree.
                steps = math.ceil(math.log2(nodes)) + math.ceil(math.log2(-(-ranks // nodes)))
                self.assertLess(float(found.head["common_clock_error_ns"]),
                                steps * 1e3 * (self.M.length + 6 * READING_US) + 1)

    def test_sampled(self):
        """More calls than are kept."""
        for calls in virtual.by_tier(plain=(), run=(5000,), all=(5000, 20000)):
            with self.subTest(calls=calls):
                self.check(calls, 0.5)

    def test_other_ticks(self):
        """Ranks whose ticks have another length: a call of 1 us is no waiting."""
        for ranks in virtual.by_tier(plain=(2,), run=(2, 3)):
            for ticks in (3, 7):
                with self.subTest(ranks=ranks, ticks=ticks):
                    self.check(100, 10, ranks, VIRTUAL_NODES=ranks, VIRTUAL_ODD_TICKS=ticks)

    def told(self, found):
        """The functions of which the report tells waiting."""
        return {row["operation"] for row in found.rows if row["kind"] == "coll" and
                row["comm"] == "team" and row["waited_s"] == row["waited_s"]}

    def test_only_where_ranks_wait(self):
        """In rooted collectives with a clock only."""
        for words, functions in (("coll", set(FUNCTIONS) - set(ROOTED)), ("coll,clock", set(FUNCTIONS)),
                                 ("all", set(FUNCTIONS))):
            with self.subTest(words):
                self.assertEqual(self.told(self.check(20, 10, functions=functions, words=words)), functions)

    def test_empty_blocks(self):
        """Who needs nothing of others may leave before they come: that tells no waiting."""
        functions = set(FUNCTIONS) - set(BY_BLOCK)
        for ranks, empty in virtual.by_tier(plain=((2, 1), (3, 3)), run=((2, 1), (3, 1), (3, 3), (5, 2))):
            with self.subTest(ranks=ranks, empty=empty):
                found = self.check(100, 10, ranks, functions=functions, empty=empty)
                self.assertEqual(self.told(found), functions)

    def test_behind_files(self):
        """Waiting for a rank that comes from files is told apart from waiting for a rank that worked."""
        times, size, work_us = 20, 50000, 300
        for ranks in virtual.by_tier(plain=(2,), run=(2, 4)):
            with self.subTest(ranks=ranks):
                found = run("monitor_files", times, size, work_us, ranks=ranks, MODEL_FILE_BYTE_NS=2,
                            **self.M.variables())
                row, file_us = found.row("coll", "MPI_Barrier", "team"), size * 2e-3
                for column, us in (("waited_s", 2 * file_us + work_us), ("waited_files_s", file_us)):
                    self.time_near(row[column] * 1e6 / times / (ranks - 1), us, column)
                self.assertEqual(row["last_rank"], 0)
                row = found.row("calls", "MPI_File_write_at")
                count = 2 * times * (ranks + 1)  # of parts
                self.assertEqual([row[key] for key in ("calls", "completed", "bytes", "callers")],
                                 [2 * times * ranks, 2 * times * ranks, count * size, ranks])
                for column in ("total_s", "in_calls_s"):
                    self.time_near(row[column] * 1e6 / count, file_us, column)
                for name in ("MPI_File_open", "MPI_File_close", "MPI_Init", "MPI_Finalize"):
                    self.assertEqual(found.row("calls", name)["calls"], ranks, name)
        row = run("monitor_files", times, size, work_us, words="coll", MODEL_FILE_BYTE_NS=2,
                  **self.M.variables()).row("coll", "MPI_Barrier", "team")
        self.assertGreater(row["waited_s"], 0)
        self.assertTrue(math.isnan(row["waited_files_s"]), row)

# ---- many communicators --------------------------------------------------------------------------

MESSAGES = ("isend", "irecv", "send", "recv")


class Pairs(Case):
    """The monitor's messages for a job's communicators at its end."""

    RANKS = 8

    def posted(self, limit, **variables):
        """How many operations rank 0 posts, by name."""
        report = os.path.join(virtual.BUILD, "tests/virtual", "truth.{}".format(os.getpid()))
        done = virtual.run_raw("monitor_pairs", limit, VIRTUAL_RANKS=self.RANKS, MODEL_REPORT=report, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {}
        with open(report, encoding="ascii") as stream:
            for row in virtual.read_tsv(stream.read()):
                found[row["operation"]] = found.get(row["operation"], 0) + row["posted"]
        os.remove(report)
        return found

    def own(self, limit):
        """Those of the monitor, collectives and messages."""
        with_it = self.posted(limit, LD_PRELOAD=LIBRARY, MPIRT_MONITOR="all,output=/dev/null")
        without = self.posted(limit)
        more = {name: count - without.get(name, 0) for name, count in with_it.items()}
        return ({name: count for name, count in more.items() if name not in MESSAGES},
                sum(count for name, count in more.items() if name in MESSAGES))

    def test_operations_at_the_end(self):
        """The collectives for 28 communicators are those for one, and messages go along a tree."""
        (one, few), (many, more) = self.own(2), self.own(self.RANKS)
        self.assertEqual(one, many)
        pairs = self.RANKS * (self.RANKS - 1) // 2
        self.assertLessEqual(more - few, 4 * math.log2(self.RANKS) * pairs)

    def test_rows(self):
        found = run("monitor_pairs", self.RANKS, ranks=self.RANKS, words="coll")
        rows = [row for row in found.rows if row["operation"] == "MPI_Barrier" and row["ranks"] == 2]
        self.assertEqual({row["members"] for row in rows},
                         {"{}-{}".format(i, j) if j == i + 1 else "{},{}".format(i, j)
                          for i in range(self.RANKS) for j in range(i + 1, self.RANKS)})
        self.assertEqual(len(rows), self.RANKS * (self.RANKS - 1) // 2)
        for row in rows:
            self.assertEqual((row["calls"], row["waited_s"] >= 0), (2, True), row)


if __name__ == "__main__":
    virtual.main()
