# SPDX-License-Identifier: BSD-3-Clause
"""Blocking collectives that go by messages, whose ranks leave at different times: the time from the first start
to the last end, the ranks' own times, and what these differ by."""

import collections
import math
import os
import random
import statistics
import tempfile

import virtual

LATENCY_US, BYTE_US = 20.0, 0.008
MESSAGES = {"MODEL_LATENCY_US": LATENCY_US, "MODEL_PER_BYTE_NS": BYTE_US * 1e3}
ALGORITHMS = ("linear", "binomial", "ring", "recursive_doubling")
FROM_ROOT, TO_ROOT = ("bcast", "scatter"), ("reduce", "gather")
TO_ALL = ("allgather", "allreduce", "alltoall", "reduce_scatter", "reduce_scatter_block")
UP = ("scan", "exscan")
OPERATIONS = FROM_ROOT + TO_ROOT + TO_ALL + UP
FEW = ("--samples=5", "--visits=1", "--warmup=1")


# ---- what each rank does: ("send", to, messages' blocks) and ("receive", from) -------------------

def tree(rank, ranks):
    """A rank's parent in a binomial tree, None for rank 0, and its children with the ranks below each, the largest
    part first."""
    low = rank & -rank if rank else 1 << (ranks - 1).bit_length()
    children, far = [], low // 2
    while far:
        if rank + far < ranks:
            children.append((rank + far, min(far, ranks - rank - far)))
        far //= 2
    return (rank - low if rank else None), children


def from_root(algorithm, rank, ranks, collects):
    """`collects`: each rank's data is another block, so a message holds several."""
    if algorithm == "linear":
        return [("send", to, 1) for to in range(1, ranks)] if rank == 0 else [("receive", 0)]
    if algorithm == "ring":
        rest = ranks - rank - 1
        return ([("receive", rank - 1)] if rank else []) + (
            [("send", rank + 1, rest if collects else 1)] if rest else [])
    parent, children = tree(rank, ranks)
    return ([] if parent is None else [("receive", parent)]) + [
        ("send", child, below if collects else 1) for child, below in children]


def to_root(algorithm, rank, ranks, collects):
    """The same in the other direction, backwards."""
    steps = []
    for other in range(ranks):
        for kind, peer, *blocks in from_root(algorithm, other, ranks, collects):
            if kind == "send" and peer == rank:
                steps.append(("send", other, *blocks))
    receives = [("receive", step[1]) for step in from_root(algorithm, rank, ranks, collects) if step[0] == "send"]
    return receives[::-1] + steps


def doubling(rank, ranks):
    power = 1 << (ranks.bit_length() - 1)
    if rank >= power:
        return [("send", rank - power, 1), ("receive", rank - power)]
    steps, far = ([("receive", rank + power)] if rank + power < ranks else []), 1
    while far < power:
        steps += [("send", rank ^ far, 1), ("receive", rank ^ far)]
        far *= 2
    return steps + ([("send", rank + power, 1)] if rank + power < ranks else [])


def to_all(algorithm, rank, ranks):
    if algorithm == "linear":
        others = [(rank + far) % ranks for far in range(1, ranks)]
        return [("send", to, 1) for to in others] + [("receive", other) for other in others]
    if algorithm == "ring":
        return (ranks - 1) * [("send", (rank + 1) % ranks, 1), ("receive", (rank - 1) % ranks)]
    if algorithm == "binomial":
        return to_root(algorithm, rank, ranks, False) + from_root(algorithm, rank, ranks, False)
    return doubling(rank, ranks)


def up(algorithm, rank, ranks):
    if algorithm == "linear":
        return [("send", to, 1) for to in range(rank + 1, ranks)] + [("receive", other) for other in range(rank)]
    if algorithm == "ring":
        return ([("receive", rank - 1)] if rank else []) + ([("send", rank + 1, 1)] if rank + 1 < ranks else [])
    steps, far = [], 1
    while far < ranks:
        steps += [("send", rank + far, 1)] if rank + far < ranks else []
        steps += [("receive", rank - far)] if rank >= far else []
        far *= 2
    return steps


def steps_of(operation, algorithm, rank, ranks):
    collects = operation in ("scatter", "gather")
    if operation in FROM_ROOT:
        return from_root(algorithm, rank, ranks, collects)
    if operation in TO_ROOT:
        return to_root(algorithm, rank, ranks, collects)
    return to_all(algorithm, rank, ranks) if operation in TO_ALL else up(algorithm, rank, ranks)


def leaving_us(operation, algorithm, ranks, size, start_us=None):
    """When each rank is done, in the order from the root on; `start_us`: when each one starts."""
    steps = [collections.deque(steps_of(operation, algorithm, rank, ranks)) for rank in range(ranks)]
    now_us = list(start_us or ranks * [0.0])
    arrivals = collections.defaultdict(collections.deque)
    while any(steps):
        for rank, left in enumerate(steps):
            while left and (left[0][0] == "send" or arrivals[left[0][1], rank]):
                kind, peer, *blocks = left.popleft()
                if kind == "send":
                    now_us[rank] += blocks[0] * size * BYTE_US
                    arrivals[rank, peer].append(now_us[rank] + LATENCY_US)
                else:
                    now_us[rank] = max(now_us[rank], arrivals[peer, rank].popleft())
    return now_us


class Collective(virtual.Test):
    target = "0.5 %"

    def compare(self, row, algorithm, ranks, share, what):
        ends_us = leaving_us(row["operation"], algorithm, ranks, row["size_bytes"])
        for quantity, truth in (("time_us", max(ends_us)), ("own_us", statistics.mean(ends_us)),
                                ("skew_us", max(ends_us) - min(ends_us))):
            self.near(row[quantity], truth, share * max(ends_us), "{} {}".format(what, quantity))

    def test_truth(self):
        """The truth itself, where a formula is known: k steps of all, or P - 1 of them."""
        step_us, busy_us = LATENCY_US + 8 * BYTE_US, 8 * BYTE_US
        for k in (1, 2, 3):
            ranks = 1 << k
            for operation, algorithm, truth in (
                    ("bcast", "binomial", k * step_us), ("bcast", "ring", (ranks - 1) * step_us),
                    ("bcast", "linear", (ranks - 1) * busy_us + LATENCY_US), ("reduce", "linear", step_us),
                    ("reduce", "binomial", k * step_us), ("allreduce", "binomial", 2 * k * step_us),
                    ("allreduce", "recursive_doubling", k * step_us), ("allgather", "ring", (ranks - 1) * step_us),
                    ("alltoall", "linear", (ranks - 1) * busy_us + LATENCY_US),
                    ("scatter", "binomial", k * LATENCY_US + (ranks - 1) * busy_us),
                    ("scan", "binomial", k * step_us)):
                self.assertAlmostEqual(max(leaving_us(operation, algorithm, ranks, 8)), truth, 9,
                                       (operation, algorithm, ranks))

    def test_algorithms(self):
        for algorithm in ALGORITHMS:
            for ranks in virtual.by_tier(plain=(5,), full=(2, 3, 4, 5, 8, 13)):
                (launch,) = virtual.run("collective", "--operations=" + ",".join(OPERATIONS), "--sizes=8,4K", *FEW,
                                        ranks=ranks, MODEL_ALGORITHM=algorithm, **MESSAGES)
                self.assertEqual(len(launch.rows), 2 * len(OPERATIONS))
                for row in launch.rows:
                    with self.subTest(algorithm, ranks=ranks, operation=row["operation"]):
                        self.compare(row, algorithm, ranks, 0.005, "{} {} ranks {} {:.0f}".format(
                            algorithm, ranks, row["operation"], row["size_bytes"]))

    def test_expensive_clock(self):
        """A reading of 5 µs is subtracted from each quantity, once."""
        (launch,) = virtual.run("collective", "--operations=bcast,allreduce", "--sizes=8", *FEW, ranks=4,
                                VIRTUAL_CLOCK_NS=5000, MODEL_ALGORITHM="binomial", **MESSAGES)
        for row in launch.rows:
            self.compare(row, "binomial", 4, 0.005, "expensive clock {}".format(row["operation"]))

    def test_roots(self):
        """Another root's tree is the same, and so is the time of alternating roots."""
        for root in ("3", "rotate"):
            (launch,) = virtual.run("collective", "--operations=bcast,gather", "--sizes=64", "--root=" + root,
                                    "--samples=8", "--visits=1", "--warmup=0", "--check", ranks=4,
                                    MODEL_ALGORITHM="binomial", **MESSAGES)
            for row in launch.rows:
                self.compare(row, "binomial", 4, 0.005, "root {} {}".format(root, row["operation"]))
                self.assertEqual((row["check"], str(row["root"]).split(".")[0]), ("ok", root))

    def test_rotation(self):
        """Which rank was the root shows where blocks differ: it sends all but its own, one after the other."""
        ranks, elements = 4, 500
        blocks_us = [math.ceil(2 * elements * (rank + 1) / (ranks + 1)) * 8 * BYTE_US for rank in range(ranks)]
        for root, roots in (("rotate", 2 * list(range(ranks))), ("1", 2 * ranks * [1])):
            with tempfile.TemporaryDirectory() as folder:
                dump = os.path.join(folder, "samples")
                virtual.run("collective", "--operations=scatterv", "--sizes={}".format(8 * elements),
                            "--start=barrier", "--samples=8", "--visits=1", "--warmup=0", "--root=" + root,
                            options_not_in_digest=["--dump-samples=" + dump], ranks=ranks, MODEL_ALGORITHM="linear",
                            **MESSAGES)
                with open(dump, encoding="ascii") as stream:
                    times_us = [row["value_ns"] / 1e3 for row in virtual.read_tsv(stream.read())
                                if row["quantity"] == "time"]
            self.assertEqual(len(times_us), len(roots))
            for found, rank in zip(times_us, roots):
                truth = sum(blocks_us) - blocks_us[rank] + LATENCY_US
                self.near(found, truth, 0.005 * truth, "root {} {}".format(root, rank))

    def test_bare_loop(self):
        """Results beside bare calls, as in real time (tests/machine), hold in virtual time."""
        for algorithm in ("linear", "recursive_doubling"):
            (launch,) = virtual.run("collective_bare", "--visits=2", "--samples=5", "--warmup=3",
                                    MODEL_ALGORITHM=algorithm, **MESSAGES)
            self.assertEqual(len(launch.rows), 6)
            for row in launch.rows:
                operation, _, size, unit = row["name"].split()
                truth = max(leaving_us(operation, algorithm, 2, int(size) * {"B": 1, "KiB": 1024}[unit]))
                for column in ("ours_us", "bare_us"):
                    self.near(row[column], truth, 0.005 * truth, "{} {} {}".format(algorithm, row["name"], column))

    def test_no_pipeline(self):
        """A root that only sends is done at once, and a loop of calls would show little else: a bare loop takes
        less than half of the truth here."""
        ranks, size = 8, 4096
        truth = max(leaving_us("bcast", "ring", ranks, size))
        self.assertLess(size * BYTE_US, truth / 2)
        for start in ("window", "barrier"):
            (launch,) = virtual.run("collective", "--operations=bcast", "--sizes=4K", "--max-time=0.02",
                                    "--start=" + start, ranks=ranks, MODEL_ALGORITHM="ring", **MESSAGES)
            self.near(launch.rows[0]["time_us"], truth, 0.005 * truth, "ring " + start)

    def test_default_rows(self):
        (launch,) = virtual.run("collective", "--max-time=0.005", ranks=4, MODEL_ALGORITHM="recursive_doubling",
                                **MESSAGES)
        found = collections.Counter(row["operation"] for row in launch.rows)
        self.assertEqual((found.pop("barrier"), set(found.values()), len(found)), (1, {4}, 18))

    def test_sizes_of_a_barrier(self):
        """It has none, so it has one row whatever they are."""
        (launch,) = virtual.run("collective", "--operations=barrier", "--sizes=3,8", *FEW, MODEL_BARRIER_US=10)
        self.assertEqual([row["operation"] for row in launch.rows], ["barrier"])
        virtual.run("collective", "--operations=barrier,bcast", "--sizes=3,8", *FEW, expect=2)

    def test_forms(self):
        """In place, and of other types and operations, the data is right, and the times are the same."""
        for options in (("--types=all", "--root=rotate"), ("--in-place", "--types=all", "--op=max"),
                        ("--in-place", "--root=1", "--op=min", "--types=char")):
            (launch,) = virtual.run("collective", *options, "--sizes=8,4K", *FEW, "--check", ranks=3,
                                    MODEL_ALGORITHM="linear", **MESSAGES)
            in_place = "--in-place" in options
            for row in launch.rows:
                what = "{} {} {}".format(options, row["operation"], row["type"])
                self.assertEqual((row["check"], row["status"], row["in_place"]),
                                 ("ok", "ok", "yes" if in_place else "no"), what)
                if row["operation"] in OPERATIONS:
                    self.compare(row, "linear", 3, 0.005, what)

    def test_wrong_data(self):
        """The model brings wrong data by neighbourhood collectives only: programs rely on the others."""
        (launch,) = virtual.run("collective", "--operations=neighbor_alltoall,allgather", "--sizes=8", "--max-time=0.05", "--check",
                                ranks=4, expect=1, MODEL_CORRUPT=1)
        self.assertEqual({row["operation"]: row["check"] for row in launch.rows},
                         {"allgather": "ok", "neighbor_alltoall": "FAIL"})


class Guidelines(virtual.Test):
    """Operations beside other calls that do their work."""

    target = "0.5 %"
    # The calls, each with its block's size by the operation's.
    CALLS = {"gather+bcast": (("gather", 1), ("bcast", "ranks")),
             "reduce+bcast": (("reduce", 1), ("bcast", 1)),
             "reduce_scatter+allgather": (("reduce_scatter", "part"), ("allgather", "part")),
             "alltoallv": (("alltoall", 1),),
             "scatter+allgather": (("scatter", "part"), ("allgather", "part")),
             "allgather": (("allgather", 1),), "gatherv": (("gather", 1),), "scatterv": (("scatter", 1),),
             "exscan+reduce_local": (("exscan", 1),), "bcast": (("bcast", "ranks"),),
             "reduce+scatter": (("reduce", "ranks"), ("scatter", 1))}

    def calls_of(self, row, ranks):
        """The operations and sizes of the alternative's calls."""
        operation, size = row["operation"], row["size_bytes"]
        factors = {"ranks": ranks, "part": 1 / ranks}
        if row["alternative"] == "two halves":
            return 2 * [(operation, size / 2)]
        if row["alternative"] == "twice the data":
            return [(operation, 2 * size)]
        if row["alternative"] == "allreduce":
            return [("allreduce", size if operation == "reduce" else size * ranks)]
        return [(name, size * factors.get(factor, factor)) for name, factor in self.CALLS[row["alternative"]]]

    def truth_us(self, calls, algorithm, ranks):
        ends_us = ranks * [0.0]
        for operation, size in calls:
            ends_us = leaving_us(operation, algorithm, ranks, size, ends_us)
        return max(ends_us)

    def test_alternatives(self):
        """Data, times and verdicts of all. Ranks don't wait for each other between two calls."""
        for algorithm in virtual.by_tier(plain=("binomial",), run=ALGORITHMS):
            for ranks in virtual.by_tier(plain=(4,), full=(2, 4, 8)):
                (launch,) = virtual.run("collective", "--guidelines", "--operations=" + ",".join(OPERATIONS),
                                        "--sizes=4K", "--check", "--samples=12", "--visits=6", "--warmup=1",
                                        ranks=ranks, MODEL_ALGORITHM=algorithm, **MESSAGES)
                self.assertEqual(len(launch.rows), 2 * len(OPERATIONS) + 15)
                for row in launch.rows:
                    truth_us = self.truth_us(self.calls_of(row, ranks), algorithm, ranks)
                    own_us = self.truth_us([(row["operation"], row["size_bytes"])], algorithm, ranks)
                    what = "{} {} {} {}".format(algorithm, ranks, row["operation"], row["alternative"])
                    self.near(row["alternative_us"], truth_us, 0.005 * truth_us, what)
                    self.near(row["slower_pct"], 100 * (own_us / truth_us - 1), 0.5, what)
                    self.assertEqual(row["check"], "ok", what)
                    if abs(own_us / truth_us - 1.05) > 0.01:
                        self.assertEqual(row["guideline"], "violated" if own_us > 1.05 * truth_us else "kept", what)

    def test_parts_that_differ(self):
        """Blocks that can't be divided among the ranks, a single element, other types and roots: right data."""
        for options in (("--sizes=8,56", "--root=2"), ("--sizes=1,10", "--types=char", "--root=rotate", "--op=max")):
            (launch,) = virtual.run("collective", "--guidelines", "--check", *options, *FEW, ranks=3,
                                    MODEL_ALGORITHM="linear", **MESSAGES)
            self.assertGreater(len(launch.rows), 40)
            self.assertEqual({row["check"] for row in launch.rows}, {"ok"}, options)

    def test_planted(self):
        """Each call takes 50 us, those of one size longer by a share. Violations are found beside one other call and, from
        105 us on, beside two, and nowhere else, also while ranks are interrupted."""
        for condition in virtual.by_tier(plain=("quiet",), run=("quiet", "cloud")):
            for share in virtual.by_tier(plain=(0, 0.5), run=(0, 0.2, 0.5, 2)):
                launches = virtual.run("collective", "--guidelines", "--operations=allreduce,bcast,alltoall",
                                       "--sizes=512,8K", "--max-time=0.05", ranks=2, launches=10, MODEL_BLOCKING_US=50,
                                       MODEL_SLOW_BYTES=8192, MODEL_SLOW_SHARE=share, **virtual.CONDITIONS[condition])
                found = {True: [], False: []}
                for row in (row for launch in launches for row in launch.rows):
                    slow = share if row["size_bytes"] == 8192 else 0
                    other = {"twice the data": 1, "alltoallv": 1, "reduce+bcast": 2 * (1 + slow)}.get(row["alternative"], 2)
                    found[1 + slow > 1.05 * other].append(row["guideline"] == "violated")
                with self.subTest(condition=condition, share=share):
                    self.assertEqual(len(found[True]), 0 if share == 0 else 40 if share < 1 else 90)
                    self.assertGreaterEqual(sum(found[True]), 0.95 * len(found[True]))
                    self.assertEqual(sum(found[False]), 0)


class CollectiveUneven(virtual.Test):
    """The times of blocking collectives whose ranks' clocks differ and drift, and whose ranks come out of barriers
    at different times."""

    target = "2 %"

    def test_nodes(self):
        for algorithm in virtual.by_tier(plain=("binomial",), all=ALGORITHMS):
            (launch,) = virtual.run("collective", "--operations=bcast,reduce,allreduce", "--sizes=8,4K",
                                    "--max-time=0.05", ranks=4, VIRTUAL_NODES=4, VIRTUAL_CLOCK_SHIFT_US=3000,
                                    VIRTUAL_CLOCK_PPM=20, MODEL_BARRIER_SKEW_US=20, MODEL_ALGORITHM=algorithm,
                                    **MESSAGES)
            for row in launch.rows:
                truth = max(leaving_us(row["operation"], algorithm, 4, row["size_bytes"]))
                self.near(row["time_us"], truth, 0.02 * truth, "{} {}".format(algorithm, row["operation"]))


    def test_barrier(self):
        """Ranks that a barrier lets go at any time in 10 us: the truth is what rounds with such starts take, by the
        slowest rank's own time."""
        draw, ranks, skew_us = random.Random(1), 4, 10.0
        (launch,) = virtual.run("collective", "--operations=bcast,reduce,allreduce", "--sizes=8", "--start=barrier",
                                "--samples=3000", ranks=ranks, MODEL_BARRIER_SKEW_US=skew_us,
                                MODEL_ALGORITHM="binomial", **MESSAGES)
        for row in launch.rows:
            times_us = []
            for _ in range(3000):
                start_us = [skew_us * draw.random() for _ in range(ranks)]
                ends_us = leaving_us(row["operation"], "binomial", ranks, 8, start_us)
                times_us.append(max(end - start for end, start in zip(ends_us, start_us)))
            truth = statistics.median(times_us)
            self.near(row["time_us"], truth, 0.02 * truth, "barrier {}".format(row["operation"]))


class CollectiveDisturbed(virtual.Test):
    """The times of blocking collectives while ranks are interrupted: the median of five launches."""

    target = "2 %"

    def test_conditions(self):
        for condition in virtual.by_tier(plain=("cloud",), run=("quiet", "cloud", "bad"), full=("quiet", "cloud", "bad",
                                                                                               "varied")):
            launches = virtual.run("collective", "--operations=bcast,reduce,allreduce", "--sizes=512",
                                   "--max-time=0.05", ranks=4, launches=5, MODEL_ALGORITHM="binomial", **MESSAGES,
                                   **virtual.CONDITIONS[condition])
            for rows in zip(*(launch.rows for launch in launches)):
                truth = max(leaving_us(rows[0]["operation"], "binomial", 4, 512))
                found = statistics.median(row["time_us"] for row in rows)
                self.near(found, truth, 0.02 * truth, "{} {}".format(condition, rows[0]["operation"]))


if __name__ == "__main__":
    virtual.main()
