# SPDX-License-Identifier: BSD-3-Clause
"""Overlap on an ideal machine: every operation, duration and fraction."""

import os
import sys
import tempfile

import virtual

sys.path.append(os.path.join(virtual.FOLDER, "../lib"))
from mpi_run import COLLECTIVES  # noqa: E402
DURATIONS_US = (200, 20, 5)
FRACTIONS = (0, 0.25, 0.5, 0.75, 1)
POINTS = 0.1  # of overlap
ONE_SIZE = ("--data-driven", "--min-num-elts=1024", "--max-num-elts=1024", "--max-time=0.3")


def cases():
    """Every collective with every duration and fraction; without --full a share of them."""
    every = [(name, duration_us, fraction) for name in COLLECTIVES for duration_us in DURATIONS_US
             for fraction in FRACTIONS]
    return every[::virtual.by_tier(plain=23, run=4, full=1)]


class Overlap(virtual.Test):
    """overlap_pct and ref_us of non-blocking collectives, against f, D, o and w."""

    target = "0.1 point; 0.5 %"

    def check(self, name, *options, points=POINTS, **variables):
        variables = dict({"MODEL_POST_US": 0.2, "MODEL_WAIT_US": 0.1}, **variables)
        (launch,) = virtual.run("overlap_" + name, *ONE_SIZE, *options, **variables)
        (row,) = launch.rows
        truth = launch.truth(name)
        duration_us, alone_us = truth["duration_us"], truth["fraction"] * truth["duration_us"]
        whole_us = max(alone_us, truth["host_us"]) + duration_us - alone_us + truth["extra_us"]
        what = "{} {} {}".format(name, options, variables)
        self.near(row["overlap_pct"], truth["overlap_pct"], points, what)
        self.near(row["ref_us"], whole_us, 0.005 * whole_us, what + " ref_us")
        # The guarantee: the work that is told fits, and no less is told than fits.
        virtual.guarantee(row, options)
        self.assertGreaterEqual(100 * row["work_us"] / row["ref_us"], truth["overlap_pct"] - 1, what)
        self.assertTrue(row["overlap_lo_pct"] <= truth["overlap_pct"] <= row["overlap_hi_pct"], what)
        return row

    def test_collectives(self):
        for name, duration_us, fraction in cases():
            with self.subTest(name, duration_us=duration_us, fraction=fraction):
                self.check(name, MODEL_DURATION_US=duration_us, MODEL_FRACTION=fraction)

    def test_late(self):
        """5 % of the operations are late by 10 D. With so much time that no visit has half of its rounds late."""
        for fraction in FRACTIONS:
            with self.subTest(fraction=fraction):
                self.check("iallreduce", "--max-time=2", MODEL_DURATION_US=200, MODEL_FRACTION=fraction,
                           MODEL_LATE_SHARE=0.05, MODEL_LATE_US=2000)

    def test_work_that_fits_at_times(self):
        """Where durations vary, work up to the knee makes every other operation longer: less is told, which doesn't,
        and hardly ever none."""
        smaller, none, launches = 0, 0, 6
        for fraction in FRACTIONS[1:]:
            with self.subTest(fraction=fraction):
                for launch in virtual.run("overlap_iallreduce", *ONE_SIZE, launches=launches, MODEL_DURATION_US=200,
                                          MODEL_FRACTION=fraction, MODEL_JITTER=0.1):
                    (row,) = launch.rows
                    virtual.guarantee(row)
                    smaller += 0 < row["work_us"] < 0.98 * fraction * row["ref_us"]
                    none += row["work_us"] == 0
        self.assertGreater(smaller, 0)
        self.rarely(none, launches * len(FRACTIONS[1:]), 0.1, "rows without work")

    def test_all_rounds_have_the_same_work(self):
        """All rounds time the same amounts of work, or total_us would be that of no amount."""
        for number in range(4):
            with tempfile.TemporaryDirectory() as folder:
                dump = os.path.join(folder, "samples")
                virtual.run("overlap_iallreduce", *ONE_SIZE, options_not_in_digest=["--dump-samples=" + dump],
                            MODEL_DURATION_US=200, MODEL_FRACTION=0.5, MODEL_JITTER=0.1, VIRTUAL_FIRST_LAUNCH=number)
                with open(dump, encoding="ascii") as stream:
                    works_ns = [sample["value_ns"] for sample in virtual.read_tsv(stream.read())
                                if sample["quantity"] == "work"]
            self.near(max(works_ns), min(works_ns), 0.005 * min(works_ns), "launch {}".format(number))

    def test_speed_that_jumps(self):
        """The injected work is compared to operations of the same visits."""
        told = 0
        for fraction in (0.5, 1):
            for launch in virtual.run("overlap_iallreduce", *ONE_SIZE, "--max-time=1.5", launches=5,
                                      MODEL_DURATION_US=200, MODEL_FRACTION=fraction,
                                      **virtual.CONDITIONS["jumps"]):
                (row,) = launch.rows
                self.near(row["total_us"], row["ref_us"], 0.02 * row["ref_us"], "fraction {}".format(fraction))
                told += row["work_us"] > 0
        self.assertGreater(told, 5)

    def test_what_the_library_takes_from_the_work(self):
        """A thread of the library's delays the work under an operation: that isn't hidden."""
        for taken_us in (2, 50):
            with self.subTest(taken_us=taken_us):
                (launch,) = virtual.run("overlap_iallreduce", *ONE_SIZE, MODEL_DURATION_US=200, MODEL_FRACTION=1,
                                        MODEL_BLOCKING_US=200, MODEL_TAKEN_US=taken_us)
                (row,) = launch.rows
                self.near(row["ref_us"], 200, 1)
                self.near(row["overlap_pct"], launch.truth("iallreduce")["overlap_pct"], POINTS, "overlap_pct")
                self.near(row["exposed_us"], 0.1 + taken_us, 0.2, "exposed_us")
                (mean,) = virtual.run("overlap_iallreduce", *ONE_SIZE, "--estimator=mean", MODEL_DURATION_US=200,
                                      MODEL_FRACTION=1, MODEL_BLOCKING_US=200, MODEL_TAKEN_US=taken_us)
                self.near(mean.rows[0]["exposed_us"], 0.1 + taken_us, 0.2, "exposed_us by the mean")
                self.assertGreaterEqual(row["work_us"], 200 - taken_us - 1.5)
                virtual.guarantee(row)
                virtual.guarantee(mean.rows[0], ("--estimator=mean",))

    def test_mean_estimator(self):
        """Work is found to within the acceptance threshold."""
        for fraction in FRACTIONS:
            with self.subTest(fraction=fraction):
                self.check("iallreduce", "--estimator=mean", points=0.5, MODEL_DURATION_US=200,
                           MODEL_FRACTION=fraction)

    def test_guarantee_of_every_run(self):
        """Few rounds, fixed numbers of rounds, one or many visits, either estimator, late and varying operations."""
        launches = virtual.by_tier(plain=2, run=6)
        for options in (("--default-tdm-n-iters=25",), ("--samples=3",), ("--samples=12", "--visits=6"),
                        ("--max-time=0.02",), ("--estimator=mean",), ("--estimator=mean", "--visits=4"),
                        ("--estimator=mean", "--default-tdm-n-iters=25"), ("--acceptance-threshold=0.01",)):
            for fraction in (0.5, 1):
                for launch in virtual.run("overlap_iallreduce", *ONE_SIZE, *options, launches=launches, MODEL_DURATION_US=200,
                                          MODEL_FRACTION=fraction, MODEL_JITTER=0.05, MODEL_LATE_SHARE=0.02,
                                          MODEL_LATE_US=400, DISTURB="1000:20"):
                    virtual.guarantee(launch.rows[0], options)

    def test_ranks_do_not_matter(self):
        for ranks in virtual.by_tier(plain=(3,), run=(3, 8, 17), all=(3, 8, 17, 64)):
            with self.subTest(ranks=ranks):
                self.check("iallreduce", ranks=ranks, MODEL_DURATION_US=50, MODEL_FRACTION=0.5)

    def test_few_rounds(self):
        """Where time is short and ranks are interrupted, most visits have a few rounds, and aren't sure that their
        work is more than fits. A row with six rounds has an interval nevertheless, around an answer in it."""
        short = 0
        for seed in virtual.by_tier(plain=range(175, 190), run=range(100, 200)):
            (launch,) = virtual.run("overlap_ialltoall", "--data-driven", "--min-num-elts=131072",
                                    "--max-num-elts=131072", "--max-time=0.045", VIRTUAL_SEED=seed, MODEL_JITTER=0.1,
                                    MODEL_DURATION_US=110, MODEL_FRACTION=0, DISTURB="3000:5,2000:50")
            (row,) = launch.rows
            if row["samples"] >= 6:
                short += row["samples"] < 20
                self.assertLessEqual(row["overlap_lo_pct"], row["overlap_pct"])
                self.assertGreaterEqual(row["overlap_hi_pct"], row["overlap_pct"])
        self.assertGreater(short, 0)

    def test_clocks(self):
        """Expensive readings, coarse steps and other clocks than the default."""
        for options, variables in (((), {"VIRTUAL_CLOCK_NS": 500}),
                                   ((), {"VIRTUAL_RESOLUTION_NS": 100}),
                                   (("--timer=tsc",), {}), (("--timer=wtime",), {})):
            with self.subTest(options=options, variables=variables):
                self.check("iallreduce", *options, MODEL_DURATION_US=200, MODEL_FRACTION=0.5,
                           **variables)


if __name__ == "__main__":
    virtual.main()
