# SPDX-License-Identifier: BSD-3-Clause
"""linkmap as its users run it. Whether it names what is slow is in tests/virtual/linkmap_test.py."""

import os
import unittest

from case import Case, read_tsv, real, within
from mpi_run import call

PROGRAM = "linkmap/linkmap"
ONCE = ["--visits=1", "--samples=2"]


class Linkmap(Case):
    def test_too_little(self):
        self.refused(PROGRAM, ranks=1, named="at least 2 processes")
        self.refused(PROGRAM, "--per=node", named="--per")

    def test_sizes_count_once(self):
        assert [row["nbytes"] for row in self.rows_of(PROGRAM, "--sizes=8,1:16,8", *ONCE)
                if row["scope"] == "whole"] == ["8", "1", "2", "4", "16"]

    def test_two_ranks(self):
        """All rows agree on the only link; from 4 KiB on each way alone."""
        rows = self.rows_of(PROGRAM, "--sizes=8,4095,4K", "--pairs=all", *ONCE)
        assert [(row["nbytes"], row["scope"]) for row in rows] == [
            (size, scope) for size in ("8", "4095", "4096") for scope in ("whole", "rank", "rank", "pair")]
        for row in rows:
            times = [row[name] for name in ("time_us", "out_mbs", "in_mbs")]
            known = [False, True, True] if row["nbytes"] == "4096" else [True, False, False]
            assert [text != "NA" and float(text) > 0 for text in times] == known
            assert row["verdict"] == "NA"
        pair = rows[-1]
        first, second = rows[-3:-1]
        assert (pair["a"], pair["b"]) == (first["a"], second["a"])
        assert (pair["out_mbs"], pair["in_mbs"]) == (first["out_mbs"], first["in_mbs"])
        assert (pair["out_mbs"], pair["in_mbs"]) == (second["in_mbs"], second["out_mbs"])

    def test_data(self):
        done = self.start(PROGRAM, "--check", "--sizes=1,64K", *ONCE)
        assert done.returncode == 0, done.stdout
        done = self.start(PROGRAM, "--check", "--sizes=1,64K", *ONCE, MODEL_DATA=1, MODEL_CORRUPT=1)
        assert done.returncode == 1


TESTBED = os.path.join(Case.source, "tests", "machine", "testbed", "testbed.sh")
WIRE_MBIT = 50


@real
@unittest.skipUnless(call(["sh", TESTBED, "check"]).returncode == 0, "no testbed can be had here")
class Wire(Case):
    """Two hosts on a wire that is slower than the rate of its ports. The wire's rate is an upper bound: a message takes
    longer if its ranks wait for a processor."""

    def measure(self, *words):
        done = call(["sh", TESTBED, "run", "-q", "--rate", f"{WIRE_MBIT}mbit", "--", *words, "--metadata=full",
                     "--columns=all"], env=dict(os.environ, UCX_TLS="tcp,self"))
        assert done.returncode == 0, done.stderr
        return done.stdout, read_tsv(done.stdout)

    def with_ports(self):
        """A wrapper of ranks, whose ports are an interface with a device and a virtual one, which doesn't count."""
        script = self.folder / "ports"
        script.write_text("\n".join([
            "#!/bin/sh", "set -e", "mount -t tmpfs tmpfs /sys/class", "cd /sys/class",
            "mkdir -p net made/wire/device made/veth9", "ln -s ../made/wire ../made/veth9 net",
            "echo up | tee made/wire/operstate > made/veth9/operstate",
            "echo 1 | tee made/wire/carrier > made/veth9/carrier",
            "echo 1000 > made/wire/speed", "echo 10000 > made/veth9/speed", 'exec "$@"', ""]), encoding="ascii")
        script.chmod(0o755)
        return ["unshare", "--mount", str(script)]

    def assert_share(self, row, found_mbs, mbit):
        """The bucket of the wire's filter holds 1.6 % of a message."""
        share_pct, expected_mbs = float(row["share_pct"]), mbit * 1e6 / 8 / 2 ** 20
        assert float(row["expected_mbs"]) == within(expected_mbs, 0.001)
        assert share_pct == within(100 * found_mbs / expected_mbs, 0.06)
        assert 0 < share_pct < 102 * WIRE_MBIT / mbit

    def test_linkmap(self):
        text, rows = self.measure(*self.with_ports(), self.built(PROGRAM), "--sizes=1M", "--visits=3", "--samples=3")
        assert "# note: expected_mbs between nodes: 1 Gbit/s (wire)\n" in text
        assert "# warning: 1048576 bytes: most links are below 20 % of the expected rate: run checkup.sh\n" in text
        (whole,) = (row for row in rows if row["scope"] == "whole")
        self.assert_share(whole, min(float(whole["out_mbs"]), float(whole["in_mbs"])), 1000)

    def test_pingpong(self):
        _, rows = self.measure(self.built("pingpong/pingpong"), "--patterns=MPI Send", "--sizes=1M", "--visits=3",
                               "--samples=3", "--warmup=1", "--arrangements=single", f"--link-rate={WIRE_MBIT / 1e3}")
        self.assert_share(rows[0], float(rows[0]["bwidth_mbs"]), WIRE_MBIT)

    def test_no_rate(self):
        text, rows = self.measure(self.built(PROGRAM), "--sizes=4K", *ONCE)
        assert "# note: expected_mbs between nodes is unknown, since no port reports a rate: use --link-rate\n" in text
        assert {row["expected_mbs"] for row in rows} == {"NA"}
