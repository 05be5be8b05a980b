# SPDX-License-Identifier: BSD-3-Clause
"""linkmap as its users run it. Whether it names what is slow is in tests/virtual/linkmap_test.py."""

from case import Case

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
