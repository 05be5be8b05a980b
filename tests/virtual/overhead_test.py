# SPDX-License-Identifier: BSD-3-Clause
"""Host overhead, transfer time and the knee on an ideal machine: mpi_overhead."""

import itertools
import math

import virtual

POSTS_US = (1, 2, 5, 10)


class Overhead(virtual.Test):
    """overhead and transfer_us of mpi_overhead, against o, w and L."""

    target = "0.5 %"

    def check(self, direction, post_us, wait_us, *options, barrier_us=1, **variables):
        options = options + (("--recv",) if direction == "recv" else ())
        latency_us = 10 * post_us
        (launch,) = virtual.run("mpi_overhead", *options, "--max-time=0.5",
                                MODEL_POST_US=post_us, MODEL_WAIT_US=wait_us,
                                MODEL_LATENCY_US=latency_us, MODEL_BARRIER_US=barrier_us,
                                **variables)
        (row,) = launch.rows
        what = "{} o={} w={} {} {}".format(direction, post_us, wait_us, options, variables)
        overhead_us, transfer_us = post_us + wait_us, latency_us + wait_us
        self.near(row["overhead"], overhead_us, 0.005 * overhead_us, what + " overhead")
        self.near(row["transfer_us"], transfer_us, 0.005 * transfer_us, what + " transfer")
        for column, whole_us in (("avail(%)", row["base_t"]), ("transfer_avail_pct", transfer_us)):
            share_pct = 100 * (1 - overhead_us / whole_us)
            self.near(row[column], share_pct, 0.2, what + " " + column)
            lo, hi = ("avail_lo_pct", "avail_hi_pct") if column == "avail(%)" else (
                "transfer_avail_lo_pct", "transfer_avail_hi_pct")
            self.assertTrue(row[lo] - 0.05 <= share_pct <= row[hi] + 0.05, what + " " + column)
        self.assertTrue(row["overhead_lo_us"] <= overhead_us <= row["overhead_hi_us"], what)
        self.assertEqual(row["status"], "ok", what)
        return row

    def test_overhead(self):
        every = list(itertools.product(("send", "recv"), POSTS_US, (0, 4)))
        for direction, post_us, wait_us in every[::virtual.by_tier(plain=3, run=1)]:
            with self.subTest(direction, post_us=post_us, wait_us=wait_us):
                self.check(direction, post_us, wait_us)

    def test_barrier_cancels(self):
        for barrier_us in (0.5, 20, 100):
            with self.subTest(barrier_us=barrier_us):
                self.check("send", 5, 0, barrier_us=barrier_us)

    def test_verbose_output_costs_nothing(self):
        self.check("send", 1, 0, "--verbose")

    def test_impossible_differences(self):
        """If loops of `-b RATIO` are interrupted, their difference may be below 0, or above the transfer, of which the
        overhead is a part: such a row has no overhead, and its status is no-knee."""
        statuses = set()
        for launch in virtual.run("mpi_overhead", "-b", "1.02", "-i", "200", launches=30, MODEL_LATENCY_US=2,
                                  DISTURB="20:10000"):
            (row,) = launch.rows
            is_possible = -0.0005 <= row["iter_t"] - row["work_t"] <= row["base_t"] + 0.0005
            statuses.add(row["status"])
            self.assertEqual((row["status"], math.isnan(row["overhead"]), math.isnan(row["avail(%)"])),
                             ("ok", False, False) if is_possible else ("no-knee", True, True), row)
        self.assertEqual(statuses, {"ok", "no-knee"})
        for options in (("--estimator=mean",), ("-i", "200"), ("--max-time=0.05",)):
            for launch in virtual.run("mpi_overhead", *options, launches=20, MODEL_LATENCY_US=2, DISTURB="20:10000"):
                (row,) = launch.rows
                is_possible = -0.0005 <= row["overhead"] <= row["base_t"] + 0.0005
                self.assertTrue(row["status"] != "ok" or is_possible, row)

    def test_ranks_do_not_matter(self):
        self.check("send", 2, 1, ranks=6)

    def test_the_pair(self):
        """Rank 0's partner is half of the ranks away."""
        for links, more_us in (("0>2", 30), ("0>1,0>3", 0)):
            (launch,) = virtual.run("mpi_overhead", "--max-time=0.2", ranks=4, VIRTUAL_NODES=4, MODEL_LATENCY_US=10,
                                    MODEL_SLOW_LINKS=links, MODEL_SLOW_LINK_US=30)
            self.near(launch.rows[0]["transfer_us"], 10 + more_us, 0.2, links)

    def test_ends_of_what_is_left(self):
        """Both ends divide by the shortest transfer, since the overhead's interval begins below 0."""
        (launch,) = virtual.run("mpi_overhead", "--max-time=0.1", MODEL_POST_US=0.01, MODEL_LATENCY_US=20,
                                MODEL_JITTER=0.5)
        (row,) = launch.rows
        self.assertLess(row["overhead_lo_us"], 0)
        shortest_us = row["transfer_lo_us"]
        for end, overhead_us in (("lo", row["overhead_hi_us"]), ("hi", row["overhead_lo_us"])):
            self.near(row["transfer_avail_{}_pct".format(end)], 100 * (1 - overhead_us / shortest_us), 0.2, end)
        self.assertLess(shortest_us, row["transfer_hi_us"])

    def test_clocks(self):
        for variables in ({"VIRTUAL_CLOCK_NS": 500}, {"VIRTUAL_RESOLUTION_NS": 100}):
            with self.subTest(variables=variables):
                self.check("send", 2, 1, **variables)


if __name__ == "__main__":
    virtual.main()
