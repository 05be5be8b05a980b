# SPDX-License-Identifier: BSD-3-Clause
"""msgrate and msgrate_rma as a user runs them: usage errors, rows, the specification's options,
data checks."""

from case import Case, also_many, by_ranks, each, in_full, many, real, within
from mpi_run import number, read_tsv

PROGRAM, RMA = "msgrate/msgrate", "msgrate/msgrate_rma"
PATTERNS = ["single direction", "pair-based", "pre-post", "all-start"]
SYNCS = ["fence", "lock", "pscw", "flush"]

# The programs, each with what it transfers by.
TRANSFERS = [[PROGRAM], [RMA, "-u", "put"], [RMA, "-u", "get"]]


# ---- usage ---------------------------------------------------------------------------------------

class Usage(Case):
    def test_wrong_peers(self):
        self.refused(PROGRAM, "-p", "6", ranks=4,
                     named="6 peers need at least 7 processes, got 4: use -p 3 or more processes")
        self.refused(PROGRAM, "-p", "1", "-n", "4", ranks=4, named="leave -n out, or use fewer peers")
        self.refused(PROGRAM, "-n", "4", ranks=4, named="leave -n out, or use fewer peers")
        for program in (PROGRAM, RMA):
            self.refused(program, "-p", "2", named="use -p 1 or more processes")
        self.refused(PROGRAM, "-p", "2", "-n", "2", named="--ppn", ranks=4)

    @each("program", [PROGRAM, RMA])
    @each("ranks, options, peers", [(2, [], 1), (4, [], 3), (4, ["-n", "2"], 1), (7, [], 6)])
    def test_default_peers(self, program, ranks, options, peers):
        """The number that the job has, with a note."""
        done = self.start(program, "--samples=1", "-c", "0", *options, ranks=ranks)
        assert {row["npeers"] for row in read_tsv(done.stdout)} == {str(peers)}
        noted = f"note: {peers} peer{'s'[:peers > 1]} instead of the default 6, which needs more processes"
        assert (noted in done.stdout) == (peers < 6), done.stdout

    @each("program", [PROGRAM, RMA])
    @each("options", [
        ["-m", "1G", "-s", "1G"], ["-m", "1G", "-s", "8"], ["-m", "2147483647", "-s", "2147483647"],
        ["-m", "1024", "-s", "1G"], ["--cache=4096G", "-m", "1"]])
    def test_too_much(self, program, options):
        """Products that overflow, or don't fit into memory."""
        self.refused(program, "-p", "1", *options, named="use")


# ---- rows: which ones, and what they must agree on -----------------------------------------------

class Rows(Case):
    def test_sizes_and_patterns(self):
        rows = self.rows_of(PROGRAM, "-p", "1", "-i", "5", "-m", "16", "-s", "0,8", "-c", "64K")
        assert [(row["nbytes"], row["pattern"]) for row in rows] == [
            (size, pattern) for size in ("0", "8") for pattern in PATTERNS]
        for row in rows:
            names = ("job_size", "npeers", "niters", "nmsgs", "cache_size", "ppn", "samples")
            assert [row[name] for name in names] == ["2", "1", "5", "16", "65536", "1", "5"]

    @each("ranks, peers", [(2, 1), (3, 2)])
    def test_rate_is_messages_over_time(self, ranks, peers):
        for row in self.rows_of(PROGRAM, "-p", str(peers), "-i", "9", "-m", "50", "-c", "0", ranks=ranks):
            single = row["pattern"] == PATTERNS[0]
            messages = 50 if single else 2 * peers * 50
            rate = number(row["rate_per_s"])
            assert rate * number(row["iter_us"]) * 1e-6 == within(messages, 0.002 * messages)
            # An odd job's last rank rests where there are pairs.
            part = ranks // 2 * 2 if single else ranks
            assert number(row["total_rate_per_s"]) / rate == within(part, 1e-3)
            if row["rate_lo_per_s"] != "NA":
                assert number(row["rate_lo_per_s"]) <= rate <= number(row["rate_hi_per_s"])

    def test_machine_readable(self):
        done = self.start(PROGRAM, "-p", "1", "-o", "-i", "4", "-m", "8", "-s", "1,2", "-c", "1K")
        assert done.returncode == 0, done.stderr
        aligned = self.start(PROGRAM, "-p", "1", "-o", "-i", "4", "-m", "8", "-c", "1K", "--format=table")
        assert aligned.stdout.splitlines()[-1].count("\t") == 10
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        assert [line[:7] for line in lines] == [["2", "1", "4", "8", "1", "1024", "1"],
                                                ["2", "1", "4", "8", "2", "1024", "1"]]
        for line in lines:
            assert len(line) == 11
            for rate in line[7:]:
                assert float(rate) > 1000.0

    def test_cache(self):
        def once(*options):
            return self.start(PROGRAM, "-p", "1", "-i", "1", "--warmup=0", *options)
        done = once("-c", "llc")
        if "last-level cache's size is unknown" in done.stderr:
            self.skipTest(done.stderr)
        assert "# warning: flushing" not in done.stdout
        size = read_tsv(done.stdout)[0]["cache_size"]
        assert int(size) > 1 << 18
        # It is half as much again as the cache has.
        assert "# warning: flushing " in once("-c", str(int(size) * 2 // 3 - 8)).stdout
        assert "# note: the caches are not flushed" in once("-c", "0").stdout
        assert read_tsv(once().stdout)[0]["cache_size"] == "16777216"

    def test_dumped_samples(self):
        path = self.folder / "samples"
        self.start(PROGRAM, "-p", "1", "-o", "-i", "3", f"--dump-samples={path}")
        assert [(row["quantity"], row["sample"]) for row in read_tsv(path.read_text())] == [
            (pattern, sample) for pattern in PATTERNS for sample in ("1", "2", "3")]

    def test_one_sided(self):
        rows = self.rows_of(RMA, "-p", "1", "-i", "5", "-m", "16", "-c", "64K", "-u", "get")
        assert [(row["pattern"], row["synchronisation"]) for row in rows] == [
            (pattern, sync) for pattern in ("single direction", "pre-post") for sync in SYNCS]
        assert {row["transfer"] for row in rows} == {"get"}


# ---- --check: right data passes, in every job and with threads; wrong data fails -----------------

class Check(Case):
    def check(self, program, *options, ranks=2, wrong=False, **environment):
        """All rows are right, or all are wrong."""
        done = self.start(program, "--check", "-i", "4", "-c", "4K", *options, ranks=ranks,
                          **environment)
        statuses = {row["status"] for row in read_tsv(done.stdout)}
        assert done.returncode == wrong, (done.args, done.stdout[-1500:] + done.stderr)
        assert statuses, done.args
        assert statuses == {"FAIL"} if wrong else "FAIL" not in statuses, done.args

    @also_many
    @each("ranks, peers, sizes", by_ranks(
        [(2, 1, "0,1,100,5K"), *in_full((3, 2, "5"))],
        [(ranks, peers, "0,1,5K") for ranks, peers in ((3, 1), (3, 2), (4, 3), (5, 3), (7, 6))]))
    def test_right(self, ranks, peers, sizes):
        for program in TRANSFERS:
            self.check(*program, "-p", str(peers), "-m", "9", "-s", sizes, ranks=ranks)

    @many
    @each("ranks, peers", [(3, 1), (5, 2)])
    def test_right_with_strides(self, ranks, peers):
        for program in (PROGRAM, RMA):
            self.check(program, "-p", str(peers), "-n", "2", "-m", "5", ranks=ranks)

    @real
    @each("transfer", ["put", "get"])
    def test_right_with_threads(self, transfer):
        self.check(RMA, "-p", "1", "-u", transfer, "-t", "3", "-m", "20")

    @real
    def test_rows_with_threads(self):
        for sync in SYNCS:
            rows = self.rows_of(RMA, "-p", "1", "-i", "2", "-c", "0", "-r", sync, "-t", "2")
            assert {row["synchronisation"] for row in rows} == {sync}
            assert {row["threads"] for row in rows} == {"2"}

    def test_wrong_machine_readable(self):
        done = self.start(PROGRAM, "-p", "1", "-i", "2", "-o", "--check",
                          MODEL_CORRUPT=1)
        assert done.returncode == 1, done.stdout + done.stderr

    @each("program", TRANSFERS)
    def test_wrong(self, program):
        """Every 7th message has a wrong byte."""
        for size in ("1", "64"):
            self.check(*program, "-p", "1", "-m", "16", "-s", size, wrong=True,
                       MODEL_DATA=1, MODEL_CORRUPT=1, MODEL_CORRUPT_EVERY=7)
