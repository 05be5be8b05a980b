# SPDX-License-Identifier: BSD-3-Clause
"""The 99th percentile and the maximum of times whose distribution is known: log-normal."""

import math

import virtual

JITTER = 0.1  # the standard deviation of a duration's logarithm


def probability(time_us, median_us):
    """The probability of a duration up to this time."""
    return 0.5 * math.erfc(-math.log(time_us / median_us) / JITTER / math.sqrt(2))


# Program, options, model, column, median, and the fewest and the most samples that the row has.
CASES = (
    ("collective", ("--operations=allreduce", "--sizes=8", "--samples=5000", "--visits=1"), {"MODEL_BLOCKING_US": 50},
     "time", 50, 5000, 5000),
    ("syncbench", ("--types=MPI barrier", "--samples=2000", "--visits=1"), {"MODEL_BARRIER_US": 2}, "sync", 2, 1001, 1001),
)


class Tail(virtual.Test):
    def check_order(self, level, rank_of, fewest, most, what):
        """A value below which a time lies with this probability is the rank_of(n)-th least of n times: by chance in 999 of
        1,000 trials, for some n from the fewest to the most."""
        virtual.say("{}: {:.4%} of times are less".format(what, level))
        less = [virtual.at_most(rank_of(count) - 1, count, level) for count in (fewest, most)]
        self.assertGreater(max(less), virtual.IMPROBABLE / 2, what + ": too large")
        self.assertGreater(1 - min(less), virtual.IMPROBABLE / 2, what + ": too small")

    def test_quantiles(self):
        for program, options, model, name, median_us, fewest, most in CASES:
            what = "{} {}".format(program, median_us)
            with self.subTest(what):
                (launch,) = virtual.run(program, *options, MODEL_JITTER=JITTER, **model)
                row = launch.rows[0]
                self.check_order(probability(row[name + "_p99_us"], median_us), lambda n: math.ceil(0.99 * n), fewest, most,
                                 what + " p99")
                self.check_order(probability(row[name + "_max_us"], median_us), lambda n: n, fewest, most, what + " max")


if __name__ == "__main__":
    virtual.main()
