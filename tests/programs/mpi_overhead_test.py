# SPDX-License-Identifier: BSD-3-Clause
"""mpi_overhead as a user runs it: usage errors, rows, the specification's options, data checks."""

import re
import statistics

from case import Case, each, within
from mpi_run import number, read_tsv, run_on_model

PROGRAM = "mpi_overhead/mpi_overhead"

# The iterations of the specification for a message of a size.
ITERATIONS = [("8", "1000"), ("64K", "100"), ("8M", "10")]


def numbers(row, *names):
    return tuple(number(row[name]) for name in names)


# ---- usage ---------------------------------------------------------------------------------------


# ---- rows: which ones, and what they must agree on -----------------------------------------------

def check_share(row, available, whole):
    """The availability is 100 (1 - overhead / whole), as exactly as three decimals of both
    allow."""
    overhead, whole = numbers(row, "overhead", whole)
    rounding = 0.05 + 0.0005 * (1 + abs(overhead) / whole) / whole * 100
    assert number(row[available]) == within(100 * (1 - overhead / whole), 1.01 * rounding)


# In virtual time, what takes no time in the model never ends.
TIMES = {"MODEL_LATENCY_US": 10, "MODEL_PER_BYTE_NS": 0.1}


class Rows(Case):
    def rows_of(self, *options, **variables):
        return super().rows_of(PROGRAM, *options, **{**TIMES, **variables})

    def test_odd_number_of_ranks(self):
        self.refused(PROGRAM, named="even number", ranks=3)

    def test_sizes_and_directions(self):
        rows = self.rows_of("--both", "-m", "0,8,1K:2K", "--max-time=0.1")
        assert [(row["msgsize"], row["direction"]) for row in rows] == [
            (size, direction) for size in ("0", "8", "1024", "2048") for direction in ("send", "recv")]
        for row in rows:
            iter_t, work_t, overhead = numbers(row, "iter_t", "work_t", "overhead")
            assert iter_t - work_t == within(overhead, 0.5)
            check_share(row, "avail(%)", "base_t")
            check_share(row, "transfer_avail_pct", "transfer_us")

    def test_threshold_of_the_specification(self):
        for size, iterations in ITERATIONS:
            row, = self.rows_of("-b", "1.05", "-m", size)
            assert row["iterations"] == iterations
            check_share(row, "avail(%)", "base_t")
            assert row["transfer_avail_pct"] == "NA"
        row, = self.rows_of("-b", "1.05", "-i", "50", "-r")
        assert (row["iterations"], row["direction"]) == ("50", "recv")

    def test_number_of_iterations(self):
        """A given one runs in full, however long that takes; with means there are the
        specification's. --samples beats both. Loops are of a 25th."""
        row, = self.rows_of("-i", "1500", "-m", "1M", "--visits=1")
        assert (row["iterations"], row["status"]) == ("1500", "ok")
        row, = self.rows_of("-i", "1500", "-m", "4M", "--visits=1", "--max-time=0.1")
        assert int(row["iterations"]) < 1500
        for size, iterations in ITERATIONS:
            row, = self.rows_of("--estimator=mean", "-m", size)
            assert row["iterations"] == iterations
        for number_given in ("--estimator=mean", "--iterations=1500"):
            row, = self.rows_of(number_given, "--samples=7", "--visits=1")
            assert row["samples"] == "7"

    @each("more", [[], ["--samples=7"]])
    def test_no_knee_ends(self, more):
        """With a base threshold that the average never leaves behind."""
        done = self.start(PROGRAM, "-b", "50", "-t", "20", "-i", "200", *more, **TIMES)
        row, = read_tsv(done.stdout)
        assert (row["status"], row["overhead"]) == ("no-knee", "NA")
        assert re.search("# note: row 1: base_t .* lower --bthresh", done.stdout)

    @each("max_time, status", [("20", "ok"), ("0.3", "no-knee")])
    def test_search_of_the_specification_runs_in_full(self, max_time, status):
        """About 20 amounts of work, each 100 messages of 1 ms: 2 s and more."""
        done = self.start(PROGRAM, "-b", "1.02", "-m", "64K", f"--max-time={max_time}", MODEL_LATENCY_US=1000)
        row, = read_tsv(done.stdout)
        assert (row["status"], row["iterations"]) == (status, "100")
        assert ("raise --max-time" in done.stdout) == (status == "no-knee")
        iter_t, base_t = numbers(row, "iter_t", "base_t")
        assert (iter_t > 1.5 * base_t) == (status == "ok")

    def test_all_pairs(self):
        for more, pairs in ((["--all-pairs"], ["0", "1"]), ([], ["0"])):
            assert [row["pair"] for row in self.rows_of(*more, "--max-time=0.1", ranks=4)] == pairs


# ---- -v: the output of the specification's program, and its figure 1 as a table ----------------------

# Of a message of 1000 bytes; a token takes nothing.
TRANSFER_US = 40.0
MODEL = {"MODEL_PER_BYTE_NS": TRANSFER_US}


def check_table(table, threshold):
    """The work doubles until iter_t, which is a transfer as long as the work fits, is beyond the
    threshold. work_t has no transfer in it. Returns the share of the last iter_t that is work."""
    works, iters, alone, _ = zip(*table)
    raised = [work for work in works if work > 0]
    assert raised == [raised[0] * 2 ** i for i in range(len(raised))]
    beyond = [iter_t > threshold * base_t for _, iter_t, _, base_t in table]
    assert beyond == (len(table) - 1) * [False] + [True]
    assert min(iters) >= TRANSFER_US
    assert alone[0] < TRANSFER_US / 2
    return alone[-1] / iters[-1]


class Verbose(Case):
    def measure(self, *options, ranks=2):
        """Returns the messages before each row, its table (tuples of work, iter_t, work_t, base_t), and the
        rows."""
        done = self.start(PROGRAM, "--verbose", *options, ranks=ranks, **MODEL)
        assert done.returncode == 0, done.stderr
        assert "# verbose: mpi_overhead: done\n" in done.stdout
        parts = done.stdout.split("# verbose: Calculating ")[1:]
        said = [["Calculating " + part.splitlines()[0]] +
                re.findall("(?m)^# verbose: ([A-Z].*)$", part) for part in parts]
        head = r"(?m)^# verbose: work +iter_t +work_t +base_t$"
        tables = [re.findall(r"(?m)^# verbose: (\d+) +([\d.]+) +([\d.]+) +([\d.]+)$",
                             re.split(head, part)[1]) for part in parts]
        rows = read_tsv(done.stdout)
        assert len(parts) == len(rows)
        return said, [[tuple(map(float, line)) for line in table] for table in tables], rows

    @each("more, direction, iterations", [
        ([], "send", "Iterations are being calculated automatically"),
        (["-r", "-i", "200"], "receive", "Number of iterations is 200")])
    def test_verbose_threshold_of_the_specification(self, more, direction, iterations):
        (said,), (table,), (row,) = self.measure("-b", "1.05", "-m", "1000", *more)
        assert said[:5] == [
            f"Calculating {direction} overhead", iterations, "Message size is 1000 bytes",
            "Overhead comparison threshold is 1.500000 (50.0%)",
            "Base time comparison threshold is 1.050000 (5.0%)"]
        assert re.search(r"^Timing resolution is \d+\.\d{3} uS$", said[5])
        assert said[6:] == [f"Using {row['iterations']} iterations per work value"]
        assert check_table(table, 1.5) > 0.8
        assert table[0][0] == 1
        # base_t is the average of iter_t until that is beyond the base threshold.
        averaged = []
        for _, iter_t, _, _ in table:
            if averaged and iter_t > 1.05 * statistics.mean(averaged):
                break
            averaged.append(iter_t)
        for i, (_, _, _, base_t) in enumerate(table):
            assert base_t == within(statistics.mean(averaged[:i + 1]), 0.0011)
        # The last line is the result.
        assert table[-1][1:] == numbers(row, "iter_t", "work_t", "base_t")

    def test_verbose_times_nothing_more(self):
        """With and without -v the same loops run: for each amount of work 50 messages, a barrier after
        each and before the loop, and the same number of barriers without messages."""
        others = []
        for more in ([], ["-v"]):
            _, truths = run_on_model([self.built(PROGRAM), "-b", "1.05", "-i", "50", "-m", "1000", *more], **MODEL)
            counts = {row["operation"]: int(row["posted"]) for row in truths}
            amounts, rest = divmod(counts["isend"], 50)
            assert rest == 0
            others.append(counts["barrier"] - 2 * 51 * amounts)
        assert others[0] == others[1]


# ---- the token: the partner's part of the barrier stays out of the wait for a message ------------

class Token(Case):
    @each("options, token", [
        (["--recv"], True), ([], True), (["-b", "1.05"], False), (["--recv", "-b", "1.05"], False)])
    def test_token_by_fit_only(self, options, token):
        _, truths = run_on_model([self.built(PROGRAM), "--max-time=0.1", *options], MODEL_LATENCY_US=10)
        sent = [row["bytes"] for row in truths if row["operation"] == "send"]
        assert sent == (["0"] if token else [])


# ---- --check: right data passes, wrong data fails, in both directions ----------------------------

class Check(Case):
    def check(self, sizes, *options, **environment):
        """Exit status and the statuses of the rows."""
        done = self.start(PROGRAM, "--check", "--both", "--max-time=0.1", "-m", sizes, *options,
                          MODEL_FRACTION=1, **environment)
        return done.returncode, [row["status"] for row in read_tsv(done.stdout)]

    def test_data(self):
        code, statuses = self.check("1,8,253,100K", MODEL_DATA=1)
        assert code == 0
        assert len(statuses) == 8
        assert "FAIL" not in statuses
        assert self.check("1,8,253,100K", MODEL_DATA=1, MODEL_CORRUPT=1) == (1, 8 * ["FAIL"])

    @each("options", [[], ["-b", "1.05", "-i", "1007"]])
    def test_every_message_is_verified(self, options):
        # 1007 iterations: no loop's last message is a fiftieth one.
        found = self.check("1,8,100K", *options, MODEL_DATA=1, MODEL_CORRUPT=1, MODEL_CORRUPT_EVERY=50)
        assert found == (1, 6 * ["FAIL"])
