# SPDX-License-Identifier: BSD-3-Clause
"""Clocks of ranks that differ: the clock that they share is known, starts on it are together, and
each rank's own cost of a reading is taken off."""

import re

import rules
import virtual

# Of rank r: r times as much ahead, and as much faster.
CLOCKS = (
    {},
    {"VIRTUAL_CLOCK_SHIFT_US": 1e6, "VIRTUAL_CLOCK_PPM": 50},
    {"VIRTUAL_CLOCK_SHIFT_US": -5e4, "VIRTUAL_CLOCK_PPM": -20, "VIRTUAL_NODES": 2},
    {"VIRTUAL_CLOCK_SHIFT_US": 1e6, "VIRTUAL_CLOCK_PPM": 50, "VIRTUAL_CLOCK_NS": 200,
     "VIRTUAL_RESOLUTION_NS": 10},
)
MODEL = rules.Model(post=0.2, wait=0.3, latency=5, byte_ns=10, sync=0.5, barrier=2, duration=50)


class Clock(virtual.Test):
    target = "0.5 %; clocks 5 ns, later 50 ns"

    def test_shared_clock(self):
        """Its error when it was found, ten seconds later, and before and after updates: at most
        the stated error, and what a reading may be off."""
        for ranks in virtual.by_tier(plain=(2,), run=(2, 6), all=(2, 6, 16), full=(2, 3, 6, 16)):
            for clocks in CLOCKS + ({**CLOCKS[1], **virtual.CONDITIONS["cloud"]},):
                with self.subTest(ranks=ranks, clocks=clocks):
                    done = virtual.run_raw("global_clock_error", 2, 1.0, 10, 3, 1,
                                           VIRTUAL_RANKS=ranks, **clocks)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    rows = virtual.read_tsv(done.stdout)
                    self.assertEqual(len(rows), 5)
                    slack = clocks.get("VIRTUAL_RESOLUTION_NS", 1) * 1e-3
                    for row in rows:
                        what = "{} ranks {} {}".format(ranks, clocks, row["step"])
                        self.near(row["after_us"], 0, 0.005 + slack, what + " after")
                        self.near(row["later_us"], 0, 0.05 + 20 * slack, what + " later")
                        self.assertLessEqual(row["after_us"], row["stated_us"] + slack, what)
                        self.assertLessEqual(row["after_us"], row["bound_us"], what)
                        if row["step"] == "update":
                            self.near(row["before_us"], 0, 0.05 + 20 * slack, what + " before")

    def test_past(self):
        """A clock for the past fits all measurements, however many: at no time since the first one is its error more
        than its bound, which is a message's time and two readings for each step to rank 0."""
        for ranks, steps in virtual.by_tier(plain=(), run=((4, 2),), full=((2, 1), (4, 2), (8, 3))):
            for clocks in CLOCKS[1:3] + ({**CLOCKS[1], **virtual.CONDITIONS["cloud"]},):
                with self.subTest(ranks=ranks, clocks=clocks):
                    done = virtual.run_raw("global_clock_error", 1, 0, 10, 12, 1, "past", VIRTUAL_RANKS=ranks,
                                           MODEL_LATENCY_US=5, **clocks)
                    rows = [row for row in virtual.read_tsv(done.stdout) if row["step"] == "past"]
                    self.assertEqual(len(rows), 9, done.stderr)
                    for row in rows:
                        self.near(row["after_us"], 0, 0.05, "{} ranks {} past".format(ranks, clocks))
                        self.assertLessEqual(row["later_us"], 0)
                        self.assertAlmostEqual(row["bound_us"], 5.1 * steps, delta=0.3 * steps)
                        self.assertLessEqual(row["took_s"], 0)

    def test_slow_rounds(self):
        """Ranks that share a processor in slices of milliseconds are measured again, if they ask for messages instead of
        waiting; a slow link is what it is: below a millisecond a round trip it is measured once."""
        for variables, took_s in (({"VIRTUAL_SLICE_US": 2000}, 0.2), ({"MODEL_LATENCY_US": 1000}, 0.2),
                                  ({"MODEL_LATENCY_US": 400}, 0.1)):
            with self.subTest(**variables):
                done = virtual.run_raw("global_clock_error", 1, 0.3, 10, 1, 0.1, VIRTUAL_RANKS=2, MODEL_TEST_US=0.5,
                                       VIRTUAL_CLOCK_PPM=50, **variables)
                new, update = virtual.read_tsv(done.stdout)
                for row in (new, update):
                    self.near(row["after_us"], 0, 0.5, "{} {}".format(variables, row["step"]))
                self.assertLess(update["took_s"], took_s)

    def run_window(self, program, *options, ranks=4, **variables):
        return virtual.run(program, "--start=window", "--max-time=0.05", *options, ranks=ranks,
                           **MODEL.variables(), **variables)[0].rows

    def test_window(self):
        """Ranks that start together find what they find after a barrier, whatever their clocks."""
        for clocks in virtual.by_tier(plain=CLOCKS[1:2], run=CLOCKS):
            with self.subTest(clocks=clocks):
                for row in self.run_window("overlap_iallreduce", "--data-driven",
                                           "--min-num-elts=1", "--max-num-elts=1", **clocks):
                    truth = MODEL.duration + MODEL.byte_ns * 8e-3 + MODEL.wait
                    self.near(row["ref_us"], truth, 0.005 * truth, "ref_us")
                    self.near(row["overlap_pct"], 100 * (1 - 0.5 / truth), 0.2, "overlap_pct")
                for row in self.run_window("syncbench", "--types=sync all,pairwise", **clocks):
                    truth = (MODEL.sync_all() if row["sync"] == "sync all" else
                             MODEL.sync_images(1))
                    self.near(row["sync_us"], truth, 0.005 * truth, row["sync"])
                (row,) = self.run_window("halo", "--local=10", "--methods=isend/irecv types",
                                         **clocks)
                truth = MODEL.exchange([800] * 6)
                self.near(row["latency_us"], truth, 0.005 * truth, "halo")

    def test_one_clock(self):
        """Ranks that read one clock don't wait for its drift to show; others do."""
        for clocks, waits in ((CLOCKS[0], False), (CLOCKS[1], True)):
            with self.subTest(clocks=clocks):
                done = virtual.run_raw("overlap_ibarrier", "--start=window", "--samples=1",
                                       "--metadata=full", VIRTUAL_RANKS=4, **MODEL.variables(), **clocks)
                took_s = float(re.search("^# global_clock: .* in ([0-9.]+) s;", done.stdout, re.M).group(1))
                self.assertEqual(took_s > 0.5, waits, took_s)

    def test_skew(self):
        """Where ranks leave a barrier up to 20 us late, an operation of known time takes that with
        a window, and with a barrier a third of 20 us more, which is how far two ranks are apart on
        average."""
        skew_us, truth = 20, MODEL.duration + MODEL.wait
        for start, expected, target in (("window", truth, 0.005 * truth),
                                        ("barrier", truth + skew_us / 3, 0.03 * truth)):
            with self.subTest(start):
                (launch,) = virtual.run("overlap_ibarrier", "--start=" + start, "--max-time=0.5",
                                        "--estimator=mean", "--samples=2000",
                                        MODEL_BARRIER_SKEW_US=skew_us, **MODEL.variables())
                self.near(launch.rows[0]["ref_us"], expected, target, start)

    def test_rate_of_each_clock(self):
        """Rank 1's clock is fast, so that it shows more than passes: times are those of rank 0's clock."""
        truth = MODEL.duration + MODEL.wait
        (launch,) = virtual.run("overlap_ibarrier", "--start=window", "--max-time=0.5", VIRTUAL_CLOCK_PPM=500,
                                **MODEL.variables())
        self.near(launch.rows[0]["ref_us"], truth, 1e-4 * truth)

    def test_cost_of_each_clock(self):
        """A reading costs rank 1 10 us, so that it comes later by that, and rank 0 is the slowest:
        what is taken off is the cost of its own clock."""
        for cost_us in (0.02, 10):
            with self.subTest(cost_us=cost_us):
                (launch,) = virtual.run("overlap_ibarrier", "--max-time=0.5",
                                        VIRTUAL_CLOCK_ODD_NS=1000 * cost_us, **MODEL.variables())
                truth = MODEL.duration + MODEL.wait + cost_us - 0.02
                self.near(launch.rows[0]["ref_us"], truth, 0.005 * truth)


if __name__ == "__main__":
    virtual.main()
