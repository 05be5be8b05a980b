# SPDX-License-Identifier: BSD-3-Clause
"""Efficiencies in the monitor's report, against the definition by hand (POP's multiplicative model).

In each round of monitor_efficiency.c a rank computes its share and then meets the others at a barrier."""

import math

import virtual
from monitored import run

STEP_US, ROUNDS, BARRIER_US = 100, 48, 50
COLUMNS = ("parallel_eff_pct", "load_balance_pct", "communication_eff_pct", "serialisation_eff_pct",
           "transfer_eff_pct")


def shares(pattern, ranks):
    """By round, each rank's share of the computation."""
    return [[1 + (rank + (i if pattern == "alternating" else 0)) % ranks for rank in range(ranks)]
            for i in range(ROUNDS)]


def by_hand(pattern, region, ranks):
    """The efficiencies in percent, of useful computation c, run time T and run time without messages."""
    useful_us = [STEP_US * sum(of[rank] for of in shares(pattern, ranks)) for rank in range(ranks)]
    ideal_us = STEP_US * sum(max(of) for of in shares(pattern, ranks))
    # MPI_Finalize of the whole run has a barrier.
    run_us = ideal_us + (ROUNDS + (region == "run")) * BARRIER_US
    mean_us, most_us = sum(useful_us) / ranks, max(useful_us)
    return [100 * of for of in (mean_us / run_us, mean_us / most_us, most_us / run_us, most_us / ideal_us,
                                ideal_us / run_us)]


class Efficiency(virtual.Test):
    """Parallel efficiency and its factors"""

    target = "0.2 percentage points"

    def total(self, pattern, region, ranks, words="calls,coll", messages=0):
        found = run("monitor_efficiency", pattern, region, ROUNDS, STEP_US, messages, words=words, ranks=ranks,
                    MODEL_BARRIER_US=BARRIER_US, MODEL_LATENCY_US=10 * STEP_US)
        return found.row("total", "MPI")

    def check(self, row, truth):
        for column, value in zip(COLUMNS, truth):
            self.near(row[column], value, 0.2, column)
        self.assertAlmostEqual(row["parallel_eff_pct"],
                               row["load_balance_pct"] * row["communication_eff_pct"] / 100, 2)
        self.assertAlmostEqual(row["communication_eff_pct"],
                               row["serialisation_eff_pct"] * row["transfer_eff_pct"] / 100, 2)

    def test_by_hand(self):
        for ranks in virtual.by_tier(plain=(2,), run=(2, 4), all=(2, 4, 16)):
            for pattern in ("uneven", "alternating"):
                for region in ("run", "region", "threads"):
                    with self.subTest(pattern, region=region, ranks=ranks):
                        self.check(self.total(pattern, region, ranks), by_hand(pattern, region, ranks))

    def test_unknown_waiting(self):
        """Messages whose waiting isn't known leave the two factors of the communication efficiency open, as do
        collectives without `coll`."""
        for words, messages in (("calls,coll", 3), ("calls", 0)):
            row = self.total("uneven", "region", 2, words, messages)
            self.assertFalse(math.isnan(row["communication_eff_pct"]))
            self.assertTrue(math.isnan(row["serialisation_eff_pct"]) and math.isnan(row["transfer_eff_pct"]), words)

    def test_only_with_calls(self):
        found = run("monitor_efficiency", "uneven", "run", 1, STEP_US, 0, words="coll")
        self.assertTrue(all(math.isnan(row[column]) for row in found.rows for column in COLUMNS))


if __name__ == "__main__":
    virtual.main()
