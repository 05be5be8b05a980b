# SPDX-License-Identifier: BSD-3-Clause
"""Latency and bandwidth on an ideal machine: every pattern, synchronisation and arrangement."""

import math

import rules
import virtual

# Costs that tell one another apart; puts that the host must help; starts kept apart by a gap.
MODELS = {
    "usual": rules.Model(post=0.2, wait=0.3, latency=5, byte_ns=10, sync=0.5, barrier=2),
    "host": rules.Model(post=0.4, wait=0.2, latency=8, byte_ns=3, fraction=0.25, sync=0.7),
    "gap": rules.Model(post=0.2, latency=3, byte_ns=20, gap=0.9, sync=0.3, barrier=1.5),
}
SLOW_POST = rules.Model(post=6, wait=0.1, latency=2, byte_ns=10)
QUICK = rules.Model(post=0.1, wait=0.1, latency=1, byte_ns=0.1, sync=0.1)
SAMPLES = ("--samples=6", "--visits=2")


def sizes_of(row):
    """The bytes of each transfer of a row: strided patterns move one datatype, others blocks."""
    count = int(row["count"])
    at_once = row["pattern"].startswith("strided") and "many" not in row["pattern"]
    transfers = 1 if at_once else count
    return [8 * int(row["ndata"]) // transfers] * transfers


def true_us(model, row):
    """Half of there and back: one rank moves data and synchronises with the other, which waits."""
    if row["pattern"] == "MPI Send":
        return model.half_round(sizes_of(row)[0])
    if row["sync"] == "all":
        return model.sync_all(sizes_of(row))
    return model.sync_images(1, sizes_of(row))


class PingPong(virtual.Test):
    target = "0.5 %"

    def check(self, model, *options, rows, **variables):
        (launch,) = virtual.run("pingpong", "--max-ndata=64", "--max-stride=4", *SAMPLES, *options,
                                **model.variables(), **variables)
        for row in launch.rows:
            truth = true_us(model, row)
            what = "{} {} {}".format(options, variables, [row[key] for key in (
                "arrangement", "pattern", "sync", "count", "blksize", "stride")])
            self.near(row["latency_us"], truth, 0.005 * truth, what)
            mbs = 8 * row["ndata"] / 2 ** 20 / (truth * 1e-6)
            self.near(row["bwidth_mbs"], mbs, 0.005 * mbs, what + " bandwidth")
            self.assertEqual(row["status"], "ok", what)
        self.assertEqual(len(launch.rows), rows)

    def test_patterns(self):
        """20 patterns with two synchronisations, and messages, of 2 to 3 shapes each."""
        for name in virtual.by_tier(plain=("usual",), run=MODELS):
            with self.subTest(name):
                self.check(MODELS[name], rows=123)

    def test_arrangements(self):
        patterns = virtual.by_tier(plain=("put", "MPI Send"), run=("put,many get", "MPI Send"))
        for name in virtual.by_tier(plain=("host",), run=MODELS):
            for pattern in patterns:
                with self.subTest(name, pattern=pattern):
                    self.check(MODELS[name], "--patterns=" + pattern, ranks=4,
                               rows=9 if pattern == "MPI Send" else 18 * (1 + pattern.count(",")))

    def test_posts_longer_than_messages(self):
        self.check(SLOW_POST, "--patterns=MPI Send", rows=3)

    def test_adaptive(self):
        self.check(MODELS["usual"], "--patterns=put,MPI Send", "--max-time=0.1", rows=9)

    def test_one_synchronisation(self):
        for sync in ("all", "images"):
            with self.subTest(sync):
                self.check(MODELS["usual"], "--patterns=put", "--coarray-sync=" + sync, rows=3)

    def test_clocks(self):
        for variables in ({"VIRTUAL_CLOCK_NS": 500}, {"VIRTUAL_RESOLUTION_NS": 100}):
            with self.subTest(variables=variables):
                self.check(MODELS["usual"], "--patterns=put,MPI Send", rows=9, **variables)

    def test_uneven_release(self):
        """Ranks leave the barrier before a batch up to 4 us apart; the untimed repetition takes that up."""
        self.check(QUICK, "--patterns=put,MPI Send", "--coarray-sync=images", rows=6, MODEL_BARRIER_SKEW_US=4)

    def test_checked(self):
        """Each way is timed alone then, with a reading more."""
        self.check(MODELS["usual"], "--patterns=put,MPI Send", "--check", rows=9, VIRTUAL_CLOCK_NS=500)

    def test_expected_rate(self):
        """Within a node that of memcpy. Between nodes, pairs that move data the same way share their node's port."""
        for variables, byte_ns_of in (
                ({"VIRTUAL_MEMCPY_BYTE_NS": 0.125}, {"single": 0.125, "multiple": 0.125, "crossing": 0.125}),
                ({"VIRTUAL_NODES": 2, "VIRTUAL_LINK_MBITS": "800,1600"},
                 {"single": 10, "multiple": 20, "crossing": 10}),
                ({"VIRTUAL_NODES": 4, "VIRTUAL_LINK_MBITS": "1600,1600,0,1600"},
                 {"single": 5, "multiple": 0, "crossing": 0})):
            (launch,) = virtual.run("pingpong", "--sizes=8,64K", "--patterns=put,MPI Send", "--coarray-sync=images",
                                    *SAMPLES, ranks=4, **variables, **MODELS["usual"].variables())
            for row in launch.rows:
                byte_ns = byte_ns_of[row["arrangement"]]
                what = "{} {}".format(variables, row["arrangement"])
                self.near(row["latency_us"], true_us(MODELS["usual"], row), 0.005 * row["latency_us"], what)
                if byte_ns == 0 or row["ndata"] == 1:
                    self.assertTrue(math.isnan(row["expected_mbs"]) and math.isnan(row["share_pct"]), what)
                    continue
                mbs = 1e3 / byte_ns * 1e6 / 2 ** 20
                self.near(row["expected_mbs"], mbs, 0.005 * mbs, what)
                self.assertAlmostEqual(row["share_pct"], 100 * row["bwidth_mbs"] / row["expected_mbs"], delta=0.06)

    def test_data(self):
        """Data that moves is checked; wrong data is FAIL."""
        for corrupt in (0, 1):
            with self.subTest(corrupt=corrupt):
                (launch,) = virtual.run("pingpong", "--check", "--max-ndata=8", *SAMPLES,
                                        ranks=4, expect=corrupt, MODEL_CORRUPT=corrupt)
                self.assertEqual({row["check"] for row in launch.rows},
                                 {"FAIL" if corrupt else "ok"})


if __name__ == "__main__":
    virtual.main()
