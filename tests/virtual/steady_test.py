# SPDX-License-Identifier: BSD-3-Clause
"""Mean times of operations in a row under disturbance, from short batches, against bare loops of 1,000 operations."""

import statistics

import virtual

# Two operations a batch, or more.
CASES = (("halo_bare", {"BARE_ROW": 2, "MODEL_FRACTION": 1, "MODEL_LATENCY_US": 10}),
         ("pingpong_bare", {"BARE_ROW": 1, "MODEL_LATENCY_US": 2}))
CONDITIONS = {"times of messages": {"DISTURB_TIMES": "epyc_times.txt"}, "cloud": virtual.CONDITIONS["cloud"],
              "varied": virtual.CONDITIONS["varied"]}


class Steady(virtual.Test):
    target = "2 %"

    def test_conditions(self):
        for condition in virtual.by_tier(plain=("times of messages",), run=CONDITIONS):
            for program, model in CASES:
                launches = virtual.run(program, "--estimator=mean", "--max-time=0.3", launches=4, BARE_REPETITIONS=1000,
                                       **model, **CONDITIONS[condition])
                ours, truth = (statistics.mean(launch.rows[0][column] for launch in launches)
                               for column in ("ours_us", "bare_us"))
                self.near(ours, truth, 0.02 * truth, "{}, {}".format(program, condition))

    def test_pairwise(self):
        """A synchronisation of few repetitions a loop, against 1,000."""
        found = {}
        for inner in (4, 1000):
            launches = virtual.run("syncbench", "--types=pairwise", "--estimator=mean", "--max-time=0.6", "--delay=10",
                                   "--inner={}".format(inner), launches=4, MODEL_LATENCY_US=10,
                                   **CONDITIONS["times of messages"])
            found[inner] = statistics.mean(launch.rows[0]["sync_us"] for launch in launches)
        self.near(found[4], found[1000], 0.02 * found[1000], "pairwise")


if __name__ == "__main__":
    virtual.main()
