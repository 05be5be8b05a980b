# SPDX-License-Identifier: BSD-3-Clause
"""Synchronisations on an ideal machine: every kind, with 2, 3 and 8 ranks."""

import queue_lock
import rules
import virtual

MODELS = {
    "usual": rules.Model(post=0.2, wait=0.3, latency=5, byte_ns=10, sync=0.5, barrier=2,
                         duration=20),
    "host": rules.Model(post=0.4, wait=0.2, latency=8, byte_ns=3, fraction=0.25, sync=0.7),
    "gap": rules.Model(post=0.2, latency=3, byte_ns=20, gap=0.9, sync=0.3, barrier=1.5),
    "slow test": rules.Model(latency=2, sync=0.5, test=20),
    "short": rules.Model(post=0.1, latency=0.5, sync=0.05, barrier=0.4, duration=0.4),
}
# All but "allreduce 0 bytes", whose check probes for a long time.
KINDS = ("sync all,MPI barrier,pairwise,random,ring,3D grid,lock,critical,ibarrier,allreduce 1 byte,"
         "fence,PSCW,lock_all+flush")
ROWS = {2: 10, 3: 8, 8: 17}  # without pairs, rings or a grid where there are none
SAMPLES = ("--samples=4", "--visits=2", "--warmup=1", "--inner=24", "--max-time=0.02")
DELAY_UNITS = 80
DELAY_US = 0.1  # VIRTUAL_WORK_NS is 1.25


def true_us(model, row):
    """Of ranks that come together, since all of them left the one before together."""
    sync, ranks = row["sync"], int(row["ranks"])
    flush, partners = model.synchronise(), row["neighbours"]
    if sync == "lock":  # taken, a get that is flushed, given back: then the next rank has it
        return flush + model.flush([8]) + flush
    if sync == "critical":
        return queue_lock.acquisition_us(model, ranks, int(row["inner"]), DELAY_US)
    return {
        "sync all": model.sync_all(),
        "MPI barrier": model.meet(),
        "allreduce 0 bytes": model.meet(),
        "allreduce 1 byte": model.meet() + model.byte_ns * 1e-3,
        "ibarrier": model.post + max(0, model.fraction * model.duration - model.post) +
                    (1 - model.fraction) * model.duration + model.wait,
        "fence": flush,
        "PSCW": 4 * flush,
        "lock_all+flush": 3 * flush,
    }.get(sync) or model.sync_images(int(partners))


class Syncbench(virtual.Test):
    target = "0.5 %"

    def check(self, name, ranks, *options, rows, **variables):
        model = MODELS[name]
        (launch,) = virtual.run("syncbench", "--delay={}".format(DELAY_UNITS), *options,
                                ranks=ranks, **model.variables(), **variables)
        for row in launch.rows:
            truth = true_us(model, row)
            what = "{} {} ranks {} {} {}".format(name, ranks, options, variables, row["sync"])
            self.near(row["sync_us"], truth, 0.005 * truth, what)
            if not variables:
                self.near(row["ref_us"], DELAY_US, 0.005, what + " reference")
            self.assertEqual(row["status"], "ok", what)
        self.assertEqual(len(launch.rows), rows)

    def test_kinds(self):
        for name in virtual.by_tier(plain=("usual",), run=("usual", "host", "gap", "short")):
            for ranks in virtual.by_tier(plain=(2, 8), run=(2, 3, 8)):
                # With a gap, what neighbours take depends on which of them send first.
                kinds = KINDS if name != "gap" else KINDS.replace("random,ring,3D grid,", "")
                rows = ROWS[ranks] - (7 if name == "gap" and ranks == 8 else 0)
                with self.subTest(name, ranks=ranks):
                    self.check(name, ranks, "--types=" + kinds, *SAMPLES, rows=rows)

    def test_allreduce_of_nothing(self):
        self.check("slow test", 3, "--types=allreduce 0 bytes", *SAMPLES, rows=1)

    def test_waiting_is_checked(self):
        (launch,) = virtual.run("syncbench", "--check", *SAMPLES, **MODELS["slow test"].variables())
        checks = {row["sync"]: row["check"] for row in launch.rows}
        self.assertEqual({sync for sync, check in checks.items() if check != "ok"},
                         {"allreduce 0 bytes", "lock_all+flush"}, checks)

    def test_adaptive(self):
        self.check("usual", 2, "--types=sync all,lock", "--max-time=0.1", rows=2)

    def test_mean_estimator(self):
        """The specification's formula, with 200 repetitions."""
        self.check("usual", 2, "--types=sync all,lock", "--estimator=mean", "--outer=5", rows=2)

    def test_clocks(self):
        for variables in ({"VIRTUAL_CLOCK_NS": 500}, {"VIRTUAL_RESOLUTION_NS": 100}):
            with self.subTest(variables=variables):
                self.check("usual", 2, "--types=sync all,lock", "--max-time=0.1", rows=2,
                           **variables)

    def test_skew(self):
        """Ranks leave a barrier up to 2 us late: each begins once the last has left the one before,
        which is late by P / (P + 1) of that on average. The slowest rank's time of all repetitions
        is longer, since it left the barrier before them early: with two ranks by 7/30."""
        skew_us, inner, model = 2, 100, MODELS["usual"]
        (launch,) = virtual.run("syncbench", "--types=MPI barrier", "--delay=80", "--samples=100",
                                "--inner={}".format(inner), "--estimator=mean", "--max-time=1",
                                MODEL_BARRIER_SKEW_US=skew_us, **model.variables())
        truth = model.meet() + skew_us * (2 / 3 + 7 / 30 / inner)
        self.near(launch.rows[0]["sync_us"], truth, 0.005 * truth)

    def test_lost_time(self):
        """lost_pct is the mean over ranks. One of them loses a tenth of its time."""
        for ranks in (2, 8):
            (launch,) = virtual.run("syncbench", "--types=MPI barrier", "--max-time=1", ranks=ranks,
                                    DISTURB="10000:10", DISTURB_PERIODIC=1, DISTURB_RANKS="1")
            self.near(launch.rows[0]["lost_pct"], 10 / ranks, 0.06 + 0.1 / ranks, "{} ranks".format(ranks))


if __name__ == "__main__":
    virtual.main()
