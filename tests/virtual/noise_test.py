# SPDX-License-Identifier: BSD-3-Clause
"""Interruptions that are planted, and whether noise finds their rate, length, period and ranks, and
what they cost; and that it finds nothing where there is nothing."""

import math
import typing

import virtual

RANKS = 4
WATCHED_S = virtual.by_tier(plain=0.5, run=1.0)  # ten times --max-time
OPTIONS = ("--per=rank", "--max-time={}".format(WATCHED_S / 10), "--operations=barrier",
           "--grain=100")


class Clock(typing.NamedTuple):
    """Interruptions with a period."""

    per_s: float
    length_us: float
    ranks: str = "0,1,2,3"

    def variables(self):
        return {"DISTURB": "{}:{}".format(self.per_s, self.length_us), "DISTURB_PERIODIC": 1,
                "DISTURB_RANKS": self.ranks}


CLOCKS = (Clock(100, 200, "2"), Clock(1000, 20), Clock(250, 4, "0,3"), Clock(50, 2000, "1"))


def of_scope(rows, scope, **keys):
    return [row for row in rows if row["scope"] == scope and
            all(row[name] == value for name, value in keys.items())]


def names(ranks):
    """As the column `ranks` has them: 0-3, 0,2."""
    return ranks.replace("0,1,2,3", "0-3")


class Noise(virtual.Test):
    target = "0.5 %, plus a rate's chance variation"

    def rows(self, *options, ranks=RANKS, **variables):
        return virtual.run("noise", *OPTIONS, *options, ranks=ranks, **variables)[0].rows

    def check(self, row, per_s, length_us, what, slack=None, length_slack=0):
        """Rate, length and share; how many of a few fall into what is watched is chance."""
        slack = slack or 1.5 / (per_s * WATCHED_S)
        self.near(row["stops_per_s"], per_s, (0.005 + slack) * per_s, what + " rate")
        self.near(row["stop_us"], length_us, (0.005 + length_slack) * length_us, what + " length")
        share_pct = 1e-4 * per_s * length_us
        self.near(row["stopped_pct"], share_pct, (0.005 + 2 * slack) * share_pct, what + " share")

    def test_nothing(self):
        rows = self.rows("--operations=all", "--grain=0,100")
        self.assertEqual(of_scope(rows, "source"), [])
        for row in of_scope(rows, "job") + of_scope(rows, "rank"):
            self.assertEqual((row["stops_per_s"], row["stopped_pct"]), (0, 0), row)
        for row in of_scope(rows, "collective"):
            self.assertEqual((row["slowdown_pct"], row["predicted_pct"]), (0, 0), row)

    def test_clocks(self):
        for clock in virtual.by_tier(plain=CLOCKS[:1], run=CLOCKS):
            with self.subTest(clock=clock):
                rows, what = self.rows(**clock.variables()), str(clock)
                (source,) = of_scope(rows, "source")
                self.assertEqual((source["source"], str(source["ranks"]).replace(".0", "")),
                                 ("periodic", names(clock.ranks)), what)
                self.check(source, clock.per_s, clock.length_us, what)
                period_ms = 1e3 / clock.per_s
                self.near(source["period_ms"], period_ms, 0.0005 * period_ms, what)
                self.assertTrue(0.99 * period_ms < source["period_lo_ms"] <= period_ms + 1e-4, what)
                self.assertTrue(period_ms - 1e-4 <= source["period_hi_ms"] < 1.01 * period_ms, what)
                for row in of_scope(rows, "rank"):
                    if str(int(row["ranks"])) in clock.ranks:
                        self.check(row, clock.per_s, clock.length_us, what)
                    else:
                        self.assertEqual(row["stops_per_s"], 0, what)

    def test_hosts_of_a_source(self):
        rows = self.rows(ranks=4, VIRTUAL_NODES=4, **Clock(100, 200, "1,2").variables())
        (source,) = of_scope(rows, "source")
        self.assertEqual((math.isnan(source["host"]), source["ranks"]), (True, "1-2"))

    def test_one_rank_at_random(self):
        """One that begins in another waits for its end, so that both are one: a queue M/D/1, whose
        busy periods are 1 / (1 - load) as long as one interruption."""
        per_s, length_us, load = 300, 100, 0.03
        rows = self.rows(DISTURB="300:100", DISTURB_RANKS=1, ranks=2)
        slack = 3 / math.sqrt(per_s * WATCHED_S)
        (rank,) = of_scope(rows, "rank", ranks=1)
        # The standard deviation of a busy period is sqrt(load / (1 - load)) of its mean.
        self.check(rank, per_s * (1 - load), length_us / (1 - load), "at random", slack,
                   slack * math.sqrt(load / (1 - load)))
        (source,) = of_scope(rows, "source")
        self.assertEqual((source["source"], source["ranks"]), ("irregular", 1))
        self.near(source["stops_per_s"], per_s * (1 - load), 2 * slack * per_s, "irregular source")

    def test_all_ranks_at_random(self):
        """Interruptions that all ranks share, without a period, are no source."""
        rows = self.rows(DISTURB="1000:20")
        self.assertEqual(of_scope(rows, "source"), [])
        (job,) = of_scope(rows, "job")
        self.check(job, 980, 20 / 0.98, "job", 3 / math.sqrt(RANKS * 1000 * WATCHED_S), 0.01)

    def test_recorded(self):
        """The file has 13 ticks, and something long once, in 50 ms."""
        rows = self.rows("--per=host", DISTURB_RECORDED="ticks.txt")
        (job,) = of_scope(rows, "job")
        self.check(job, 280, (13 * 12 + 700) / 14, "recorded", 0.02, 0.02)
        found = {(row["source"], round(row["period_ms"]), round(row["stop_us"]))
                 for row in of_scope(rows, "source")}
        self.assertIn(("periodic", 50, 700), found)

    def test_cost(self):
        """Each interruption of a rank that never waits delays every step by its length, so that a
        share of the time is lost to all; of two ranks that are interrupted at random, both."""
        for ranks, length_us, lost in virtual.by_tier(plain=(("1", 20, 0.02),), run=(
                ("1", 20, 0.02), ("1,2", 20, 0.04), ("1", 200, 0.2))):
            with self.subTest(ranks=ranks, length_us=length_us):
                (row,) = of_scope(self.rows("--max-time=0.3", DISTURB="1000:{}".format(length_us),
                                            DISTURB_RANKS=ranks), "collective")
                truth_pct = 100 * lost / (1 - lost)
                self.near(row["usual_us"], 101.02, 0.005 * 101.02, "usual step")
                self.near(row["predicted_pct"], truth_pct, 0.1 * truth_pct, "predicted")
                self.near(row["slowdown_pct"], truth_pct, 0.25 * truth_pct, "measured")


if __name__ == "__main__":
    virtual.main()
