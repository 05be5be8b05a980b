# SPDX-License-Identifier: BSD-3-Clause
"""Peers of each rank in the monitor's report, against the matrix that monitor_peers.c plants."""

import collections
import math

import virtual
from monitored import run

LATE_US = 5000
LATENCY_US = 10
ROUNDS = 4   # of persistent messages and of puts
SHOWN = 64   # peers of a rank
MACHINE = {"MODEL_LATENCY_US": LATENCY_US, "MODEL_POST_US": 0.1, "MODEL_SYNC_US": 0.1, "MODEL_BARRIER_US": 5,
           "MODEL_DATA": 1}  # also in the large messages of the report


def planted(shape, ranks):
    """Messages and bytes by way, rank and peer."""
    amounts = collections.defaultdict(lambda: [0, 0])

    def add(way, rank, peer, messages, size):
        amounts[way, rank, peer][0] += messages
        amounts[way, rank, peer][1] += messages * size

    def send(source, target, messages, size):
        if messages:
            add("sends", source, target, messages, size)
            add("receives", target, source, messages, size)

    for i in range(ranks):
        for j in range(ranks):
            distance = (j - i) % ranks
            power = max(distance, 1).bit_length() - 1
            if shape == "uniform":
                send(i, j, 3 if i != j else 0, 100)
            elif i != j:
                send(i, j, 5 if j == 0 else 1 + power if distance & (distance - 1) == 0 else 0, 8 << power)
        following = (i + 1) % ranks
        if i + 1 < ranks:
            send(i, i + 1, 1, 16)
        send(i, following, ROUNDS, 32)
        add("puts", i, following, ROUNDS, 24)
        add("gets", i, (i + 2) % ranks, 1, 48)
        add("gets", i, 0, 1, 8)
        if i > 0:
            send(0, i, 1, 0)
    return {key: tuple(of) for key, of in amounts.items()}


def rank_of(cell):
    return None if math.isnan(cell) else int(cell)


class Peers(virtual.Test):
    """Messages, bytes and time by pair of ranks"""

    target = "0.5 %, or exact counts"

    def report(self, shape, ranks):
        return run("monitor_peers", shape, LATE_US, words="pttopt,calls,peers", ranks=ranks, **MACHINE)

    def found(self, report):
        return {(row["operation"], int(row["rank"]), rank_of(row["peer"])): (row["calls"], row["bytes"])
                for row in report.ranks if row["kind"] == "peer"}

    def check_equal(self, found, truth):
        wrong = [(key, found.get(key), truth.get(key)) for key in {*found, *truth} if found.get(key) != truth.get(key)]
        self.assertEqual(wrong[:10], [], "{} of {} pairs".format(len(wrong), len(truth)))

    def check_all_shown(self, shape, ranks):
        report = self.report(shape, ranks)
        self.check_equal(self.found(report), planted(shape, ranks))
        self.assertEqual(report.head["peers_missed_bytes"], "0")
        self.check_times(report, ranks)

    def check_times(self, report, ranks):
        """The time of all pairs is that of all messages and puts, except those to and from MPI_PROC_NULL."""
        pairs_s = sum(row["in_calls_s"] for row in report.ranks if row["kind"] == "peer")
        whole_s = sum(row["in_calls_s"] for row in report.rows if row["kind"] == "pttopt")
        self.near(pairs_s, whole_s, max(1e-4 * whole_s, 1e-8 * len(report.ranks)), "time of all pairs")
        for row in report.ranks:
            if (row["kind"], row["operation"], row["peer"]) == ("peer", "receives", 0) and row["rank"] > 1:
                self.assertGreaterEqual(row["in_calls_s"], LATE_US * 1e-6)
                self.assertLess(row["in_calls_s"], (LATE_US + 100 * ranks * LATENCY_US) * 1e-6)

    def test_every_pair(self):
        for ranks in virtual.by_tier(plain=(2, 3), run=(2, 5), all=(2, 3, 17, 64)):
            for shape in ("uniform", "skewed"):
                with self.subTest(shape, ranks=ranks):
                    self.check_all_shown(shape, ranks)

    def check_with_rest(self, shape, ranks):
        """Of more than SHOWN peers of a rank, the others are a sum."""
        found, truth = self.found(self.report(shape, ranks)), planted(shape, ranks)
        shown = {key: amounts for key, amounts in found.items() if key[2] is not None}
        self.check_equal(shown, {key: truth.get(key) for key in shown})
        peers, sums = [collections.defaultdict(set) for _ in range(2)], [collections.Counter() for _ in range(2)]
        for place, amounts in enumerate((found, truth)):
            for (way, rank, peer), (messages, volume) in amounts.items():
                peers[place][rank] |= {peer} - {None}
                sums[place].update({(way.split(" ")[0], rank, "messages"): messages,
                                    (way.split(" ")[0], rank, "bytes"): volume})
        self.check_equal(dict(sums[0]), dict(sums[1]))
        self.check_equal({rank: len(of) for rank, of in peers[0].items()},
                         {rank: min(SHOWN, len(of)) for rank, of in peers[1].items()})

    def test_sum_of_the_rest(self):
        for ranks, shape in virtual.by_tier(plain=(), all=((80, "uniform"), (70, "skewed")),
                                            full=((80, "uniform"), (1024, "skewed"))):
            with self.subTest(shape, ranks=ranks):
                self.check_with_rest(shape, ranks)


if __name__ == "__main__":
    virtual.main()
