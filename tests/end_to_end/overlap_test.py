#!/usr/bin/env python3
"""The overlap suite as a user runs it: usage errors, the output contract, the
environment variables, the data checks, the defaults, signals."""

import argparse
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import (Launcher, number, read_tsv, run, run_on_model,  # noqa: E402
                     run_raw)

COLLECTIVES = [
    "iallgather", "iallgatherv", "iallreduce", "ialltoall", "ialltoallv",
    "ialltoallw", "ibarrier", "ibcast", "iexscan", "igather", "igatherv",
    "ineighbor_allgather", "ineighbor_alltoall", "ireduce", "ireduce_scatter",
    "ireduce_scatter_block", "iscan", "iscatter", "iscatterv"]

COLUMNS = """collective model elements size_bytes ref_us ref_sd_us work_us
    total_us overlap_pct overlap_lo_pct overlap_hi_pct ref_lo_us ref_hi_us
    ref_p99_us ref_max_us work_lo_us work_hi_us work_p99_us work_max_us
    total_lo_us total_hi_us total_p99_us total_max_us samples status
    slowest_rank""".split()

METADATA = """benchmark version commit schema date command compiler
    compiler_flags mpi_library mpi_standard thread_level ranks nodes
    ranks_per_node hosts binding processor processors cores kernel job_id clock
    clock_cost_ns clock_resolution_ns min-num-elts max-num-elts
    data-driven-execution cutoff-time acceptance-threshold validation-steps
    default-tdm-n-iters max-tdm-iters root precision confidence min-samples
    max-samples samples max-time warmup timer estimator check""".split()

# One size, few samples: for tests that are not about the numbers.
SHORT = ["--data-driven", "--min-num-elts=64", "--max-num-elts=64",
         "--samples=5", "--warmup=1"]

OPTIONS = None


def program(collective):
    return os.path.join(OPTIONS.binaries, "overlap_" + collective)


class Usage(unittest.TestCase):
    """One line on stderr that names the option, exit 2, no output, at once."""

    def refused(self, arguments, named, ranks=2, environment=None,
                collective="iallreduce"):
        start_s = time.monotonic()
        done = run_raw(OPTIONS.launcher, ranks,
                       [program(collective)] + arguments, environment)
        seconds = time.monotonic() - start_s
        with self.subTest(arguments=arguments, environment=environment):
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stdout, "")
            ours = [line for line in done.stderr.splitlines()
                    if line.startswith("overlap_")]
            self.assertEqual(len(ours), 1, done.stderr)
            self.assertIn(named, ours[0])
            self.assertRegex(ours[0], r"use |see --help|lower the one")
            if not OPTIONS.launcher.is_openmpi:  # whose mpirun adds its own
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertLess(seconds, 2.0 + OPTIONS.launch_s)

    def test_numbers(self):
        for value in ("abc", "-1", "0", "", "1.5", "0x10", "9" * 40, "1T",
                      "8589934592G", " 5"):
            self.refused(["--min-num-elts=" + value], "--min-num-elts")
        for value in ("0", "-1", "nan", "inf", "1e999", "ms"):
            self.refused(["--cutoff-time=" + value], "--cutoff-time")
        self.refused(["--acceptance-threshold=0"], "--acceptance-threshold")
        self.refused(["--acceptance-threshold=101%"], "--acceptance-threshold")
        self.refused(["--validation-steps=-2"], "--validation-steps")
        self.refused(["--precision=0"], "--precision")
        self.refused(["--max-time=0"], "--max-time")

    def test_combinations(self):
        self.refused(["--min-num-elts=8", "--max-num-elts=4"],
                     "--min-num-elts")
        self.refused(["--max-num-elts=2147483647"], "--max-num-elts",
                     collective="ialltoall")
        self.refused(["--root=2"], "--root", collective="ibcast")
        self.refused(["--min-samples=9", "--max-samples=8"], "--min-samples")
        self.refused(["--default-tdm-n-iters=9", "--max-tdm-iters=8"],
                     "--default-tdm-n-iters")

    def test_words(self):
        self.refused(["--no-such-option"], "--no-such-option")
        self.refused(["--m"], "--m")
        self.refused(["--root"], "--root")
        self.refused(["-z"], "-z")
        self.refused(["stray"], "stray")
        self.refused(["--timer=sundial"], "--timer")
        self.refused(["--format=xml"], "--format")
        self.refused(["--output=/no/such/folder/file"], "--output")
        self.refused(["--dump-samples=/no/such/folder/file"],
                     "--dump-samples")

    def test_one_rank(self):
        self.refused([], "at least 2 processes", ranks=1)
        self.refused([], "mpirun is of another MPI library", ranks=1)

    def test_environment(self):
        for name, value in (("OPENHPCA_OVERLAP_MIN_NUM_ELTS", "few"),
                            ("OPENHPCA_OVERLAP_MAX_NUM_ELTS", "0"),
                            ("OPENHPCA_OVERLAP_VALIDATION_STEPS", "x"),
                            ("OPENHPCA_OVERLAP_CUTOFF_TIME", "0"),
                            ("OPENHPCA_OVERLAP_ACCEPTANCE_THRESHOLD", "-5"),
                            ("OPENHPCA_OVERLAP_DEFAULT_TDM_N_ITERS", "y"),
                            ("OVERLAP_MAX_TDM_ITERS_ENVVAR", "z")):
            self.refused([], name, environment={name: value})

    def test_full_disk(self):
        done = run_raw(OPTIONS.launcher, 2, [program("iallreduce"),
                                             "--output=/dev/full"] + SHORT)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertIn("output was lost", done.stderr)

    def test_help_and_version(self):
        for launch in (lambda words: subprocess.run(
                           words, capture_output=True, text=True, check=False),
                       lambda words: run_raw(OPTIONS.launcher, 2, words)):
            done = launch([program("igatherv"), "--help"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count("Usage:"), 1)
            for option in METADATA[METADATA.index("min-num-elts"):]:
                self.assertIn("--" + option, done.stdout)
            self.assertLessEqual(
                max(len(line) for line in done.stdout.splitlines()
                    if "environment:" not in line), 80)
            abbreviated = launch([program("igatherv"), "--hel"])
            self.assertEqual((abbreviated.returncode, abbreviated.stdout),
                             (0, done.stdout))
            # The defaults, whatever was said before.
            after = launch([program("igatherv"), "--max-num-elts=7",
                            "--data-driven", "--timer=tsc", "--output=x", "--help"])
            self.assertEqual((after.returncode, after.stdout), (0, done.stdout))
            done = launch([program("igatherv"), "--version"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout,
                             r"\Aoverlap_igatherv \(commcost\) \d+\.\d+\.\d+\n\Z")


class Contract(unittest.TestCase):
    """The output is what the contract says."""

    def output(self, *arguments, collective="iallreduce", environment=None):
        done = run_raw(OPTIONS.launcher, 2, [program(collective)] + SHORT +
                       list(arguments), environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_metadata_header_rows(self):
        lines = self.output().splitlines()
        keys = [line[2:].split(":")[0] for line in lines
                if line.startswith("# ")]
        for key in METADATA:
            self.assertEqual(keys.count(key), 1, key)
        rows = [line for line in lines if not line.startswith("#")]
        self.assertEqual(rows[0].split("\t"), COLUMNS)
        self.assertEqual(len(rows), 2)
        cells = dict(zip(COLUMNS, rows[1].split("\t")))
        self.assertEqual((cells["collective"], cells["model"],
                          cells["elements"], cells["size_bytes"],
                          cells["samples"], cells["status"]),
                         ("iallreduce", "data", "64", "512", "5", "ok"))

    def test_start(self):
        """The metadata say how samples begin, and of which clock."""
        for sync in ("barrier", "window"):
            text = self.output("--start=" + sync)
            self.assertIn(f"# start: {sync}\n", text)
            self.assertEqual("# global_clock_error_us: " in text,
                             sync == "window")

    def roles(self, *arguments, collective="iallreduce"):
        lines = self.output(*arguments, collective=collective).splitlines()
        at = next(i for i, line in enumerate(lines)
                  if line.startswith("# columns: "))
        words = [word.split("=") for word in lines[at].split()[2:]]
        self.assertEqual([name for name, _ in words], COLUMNS)
        self.assertEqual(lines[at + 1].split("\t"), COLUMNS)
        return dict(words)

    def test_roles(self):
        """The time-driven model finds the size, so that is a result."""
        for arguments, collective, expected in (
                ([], "iallreduce", ("key", "key", "less", "more")),
                ([], "ibarrier", ("key", "key", "less", "more")),
                (["--data-driven=no"], "ibarrier",
                 ("key", "key", "less", "more")),
                (["--data-driven=no"], "iallreduce",
                 ("more", "info", "info", "more"))):
            roles = self.roles(*arguments, collective=collective)
            self.assertEqual(tuple(roles[name] for name in (
                "elements", "size_bytes", "ref_us", "overlap_pct")), expected)
            self.assertEqual((roles["model"], roles["ref_max_us"]),
                             ("key", "info"))

    def test_barrier_has_no_elements(self):
        row = read_tsv(self.output(collective="ibarrier"))[0]
        self.assertEqual((row["elements"], row["size_bytes"], row["model"]),
                         ("NA", "0", "data"))

    def test_varying_amounts(self):
        # 2 ranks, 64 elements: ceil(128/3) + ceil(256/3) = 43 + 86, so the
        # mean is 64.5 elements of 8 bytes.
        row = read_tsv(self.output(collective="iallgatherv"))[0]
        self.assertEqual((row["elements"], row["size_bytes"]), ("64", "516"))

    def test_output_file_and_no_header(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result")
            self.assertEqual(self.output("--output=" + path), "")
            with open(path, encoding="utf-8") as stream:
                self.assertEqual(len(read_tsv(stream.read())), 1)
        line, = self.output("--no-header").splitlines()
        self.assertEqual(line.split("\t")[0], "iallreduce")

    def test_table_is_aligned(self):
        lines = [line for line in self.output("--format=table").splitlines()
                 if not line.startswith("#")]
        self.assertEqual(lines[0].split(), COLUMNS)
        self.assertEqual(len(lines[1].split()), len(COLUMNS))
        self.assertNotIn("\t", "".join(lines))

    def test_dump_samples(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "samples")
            row = read_tsv(self.output("--dump-samples=" + path))[0]
            with open(path, encoding="utf-8") as stream:
                samples = read_tsv(stream.read())
        reference = sorted(float(sample["value_ns"]) for sample in samples
                           if sample["quantity"] == "reference")
        self.assertEqual(len(reference), 5)
        # The row's reference is their median, as the file has it.
        self.assertAlmostEqual(float(row["ref_us"]), reference[2] / 1000,
                               delta=0.001)

    def test_one_file_for_two(self):
        """The result and the samples, under whatever names, are refused, and what was
        there stays."""
        with tempfile.TemporaryDirectory() as folder:
            one = os.path.join(folder, "one")
            for other in (one, os.path.join(folder, ".", "one"),
                          os.path.join(folder, "link"), os.path.join(folder, "hard")):
                for there in (False, True):
                    for name in os.listdir(folder):
                        os.remove(os.path.join(folder, name))
                    if there:
                        with open(one, "w", encoding="utf-8") as stream:
                            stream.write("a result\n")
                    if other.endswith("link"):
                        os.symlink("one", other)
                    elif other.endswith("hard"):
                        if not there:
                            continue
                        os.link(one, other)
                    with self.subTest(other=other, there=there):
                        done = run_raw(OPTIONS.launcher, 2, [
                            program("iallreduce"), "--output=" + one,
                            "--dump-samples=" + other] + SHORT)
                        self.assertEqual(done.returncode, 2, done.stderr)
                        self.assertIn("--dump-samples: ", done.stderr)
                        self.assertIn("use another file", done.stderr)
                        if there:
                            self.assertEqual(read_if_there(one), "a result\n")

    def test_lists_in_full(self):
        """However long a list is, the metadata has all of it."""
        sizes = ",".join(str(size) for size in range(1000))
        done = run_raw(OPTIONS.launcher, 2, [
            os.path.join(os.path.dirname(OPTIONS.binaries), "mpi_overhead",
                         "mpi_overhead"),
            "--msgsize=" + sizes, "--samples=1", "-b", "1.5", "-i", "1"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"\n# msgsize: {sizes}\n", done.stdout)

    def test_variables_are_named(self):
        text = self.output(environment={"OPENHPCA_OVERLAP_VALIDATION_STEPS":
                                        "1", "UCX_LOG_LEVEL": "error"})
        self.assertIn("# environment: OPENHPCA_OVERLAP_VALIDATION_STEPS=1\n",
                      text)
        self.assertIn("# validation-steps: 1\n", text)
        self.assertIn("# mpi_variable: UCX_LOG_LEVEL=error\n", text)

    def test_oversubscription_is_stated(self):
        ranks = (os.cpu_count() or 1) + 1
        done = run_raw(OPTIONS.launcher, ranks,
                       [program("ibarrier"), "--max-time=0.3"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("# warning: oversubscribed", done.stdout)
        self.assertNotIn("# warning: oversubscribed", self.output())

    def test_loads_in_pandas_and_r(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.tsv")
            self.output("--output=" + path)
            pandas = ("import pandas, sys; f = pandas.read_csv(sys.argv[1], "
                      "sep='\\t', comment='#'); print(len(f), f.elements[0], "
                      "len(f.columns))")
            r = ("f <- read.delim(commandArgs(TRUE)[1], comment.char='#'); "
                 "cat(nrow(f), f$elements[1], ncol(f))")
            # Debian's pandas is for Debian's Python, whichever comes first.
            for reader in (["/usr/bin/python3", "-c", pandas],
                           ["Rscript", "-e", r]):
                done = subprocess.run(reader + [path], capture_output=True,
                                      text=True, check=False)
                self.assertEqual(done.stdout.split(),
                                 ["1", "64", str(len(COLUMNS))], done.stderr)


class Variables(unittest.TestCase):
    """Every variable of the specification does what it says."""

    def model(self, arguments=(), environment=None, duration_us=100,
              per_byte_ns=0.0, fraction=0.5, collective="iallreduce"):
        model = {"MODEL_DURATION_US": duration_us,
                 "MODEL_PER_BYTE_NS": per_byte_ns, "MODEL_FRACTION": fraction}
        model.update(environment or {})
        return run_on_model(OPTIONS.launcher, 2,
                            [program(collective)] + list(arguments), model,
                            OPTIONS.model)[1]

    def test_sizes_data_driven(self):
        rows = self.model(["--max-time=0.05"],
                          {"OPENHPCA_DATA_DRIVEN_EXECUTION": 1,
                           "OPENHPCA_OVERLAP_MIN_NUM_ELTS": 3,
                           "OPENHPCA_OVERLAP_MAX_NUM_ELTS": 20})
        self.assertEqual([row["elements"] for row in rows],
                         ["3", "6", "12", "20"])
        self.assertEqual({row["model"] for row in rows}, {"data"})

    def test_command_line_beats_environment(self):
        rows = self.model(["--max-time=0.05", "--max-num-elts=4",
                           "--min-num-elts=4"],
                          {"OPENHPCA_DATA_DRIVEN_EXECUTION": "yes",
                           "OPENHPCA_OVERLAP_MIN_NUM_ELTS": 100})
        self.assertEqual([row["elements"] for row in rows], ["4"])
        rows = self.model(["--max-time=0.05",
                           "--data-driven-execution=no"],
                          {"OPENHPCA_DATA_DRIVEN_EXECUTION": "yes"})
        self.assertEqual([row["model"] for row in rows], ["time"])

    def test_boolean_variables(self):
        for value, model in (("", "time"), ("0", "time"), ("no", "time"),
                             ("false", "time"), ("true", "data")):
            rows = self.model(["--max-time=0.02", "--max-num-elts=1"],
                              {"OPENHPCA_DATA_DRIVEN_EXECUTION": value})
            self.assertEqual({row["model"] for row in rows}, {model}, value)

    def test_time_driven_finds_the_size(self):
        # 10 ns a byte: 80 ns an element. The first power of two that takes
        # 1 ms is 16384, 0.2 ms 4096; for the latter by its variable.
        for environment, elements in (
                ({}, "16384"), ({"OPENHPCA_OVERLAP_CUTOFF_TIME": 0.2}, "4096")):
            rows = self.model(["--max-time=0.3"], environment, duration_us=0,
                              per_byte_ns=10.0)
            self.assertEqual([(row["model"], row["elements"])
                              for row in rows], [("time", elements)])

    def test_cutoff_not_reached(self):
        row, = self.model(["--max-time=0.2"], {}, duration_us=50)
        self.assertEqual((row["elements"], row["status"]),
                         ("131072", "max-size"))

    def test_iterations(self):
        for name in ("OPENHPCA_OVERLAP_DEFAULT_TDM_N_ITERS",
                     "OVERLAP_DEFAULT_TDM_N_ITERS_ENVVAR"):
            row, = self.model(["--max-num-elts=1"], {name: 25})
            self.assertEqual(row["samples"], "25", name)
        for name in ("OPENHPCA_OVERLAP_MAX_TDM_ITERS",
                     "OVERLAP_MAX_TDM_ITERS_ENVVAR"):
            row, = self.model(["--max-num-elts=1", "--precision=0.001"],
                              {name: 50, "MODEL_LATE_SHARE": 0.4,
                               "MODEL_LATE_US": 50})
            self.assertEqual(row["samples"], "50", name)

    def test_acceptance_threshold(self):
        widths = []
        for percent in (0.5, 20):
            row, = self.model(["--max-num-elts=1"],
                              {"OPENHPCA_OVERLAP_ACCEPTANCE_THRESHOLD":
                               f"{percent}%"})
            widths.append(number(row["overlap_hi_pct"]) -
                          number(row["overlap_lo_pct"]))
        self.assertLess(widths[0], 1.5)
        self.assertGreater(widths[1], 2.0)

    def trials_that_fail(self, steps):
        """Trials in a row of the same amount that did not fit, at most."""
        environment = {"LD_PRELOAD": OPTIONS.model, "MODEL_DURATION_US": 100,
                       "MODEL_FRACTION": 0.8, "OPENHPCA_OVERLAP_DEBUG": 1,
                       "OPENHPCA_OVERLAP_VALIDATION_STEPS": steps}
        done = run_raw(OPTIONS.launcher, 2,
                       [program("iallreduce"), "--max-num-elts=1"],
                       environment)
        verdicts = [line.endswith("does not fit")
                    for line in done.stdout.splitlines()
                    if line.startswith("# debug: trial")]
        self.assertTrue(verdicts, done.stdout)
        first = 0
        while verdicts[first]:
            first += 1
        return first

    def test_validation_steps(self):
        # Work as long as the operation never fits, half as much does: the first
        # amount fails once, and once more for each validation step.
        self.assertEqual(self.trials_that_fail(0), 1)
        self.assertEqual(self.trials_that_fail(4), 5)

    def test_verbose_and_debug(self):
        for name, word in (("OPENHPCA_OVERLAP_VERBOSE", "# verbose: "),
                           ("OPENHPCA_OVERLAP_DEBUG", "# debug: ")):
            for value in (0, 1):
                done = run_raw(OPTIONS.launcher, 2,
                               [program("iallreduce")] + SHORT,
                               {name: value})
                said = word in done.stdout.replace("# verbose: yes", "") \
                    .replace("# verbose: no", "").replace("# debug: yes", "") \
                    .replace("# debug: no", "")
                self.assertEqual(said, bool(value), (name, value))


class Data(unittest.TestCase):
    """--check: right data passes, wrong data fails, for every collective."""

    def check(self, collective, ranks, corrupt):
        model = {"MODEL_DURATION_US": 20, "MODEL_FRACTION": 1,
                 "MODEL_DATA": 1, "MODEL_CORRUPT": int(corrupt)}
        status, rows, _ = run_on_model(
            OPTIONS.launcher, ranks,
            [program(collective), "--check"] + SHORT, model, OPTIONS.model,
            expect=(0, 1))
        with self.subTest(collective=collective, ranks=ranks,
                          corrupt=corrupt):
            self.assertEqual(len(rows), 1)
            self.assertEqual((status, rows[0]["status"]),
                             (1, "FAIL") if corrupt else (0, "ok"))

    def test_right_data(self):
        for collective in COLLECTIVES:
            with self.subTest(collective=collective):
                _, rows = run(OPTIONS.launcher, 3,
                              [program(collective), "--check", "--root=1",
                               "--max-time=0.2"] + SHORT)
                self.assertIn(rows[0]["status"], ("ok", "budget"))

    def test_wrong_data(self):
        for collective in COLLECTIVES:
            self.check(collective, 2, corrupt=False)
            self.check(collective, 2, corrupt=True)


class Defaults(unittest.TestCase):
    """With its defaults each program ends within 20 s with a row."""

    def test_all(self):
        for collective in COLLECTIVES:
            with self.subTest(collective=collective):
                start_s = time.monotonic()
                _, rows = run(OPTIONS.launcher, 2, [program(collective)])
                self.assertLess(time.monotonic() - start_s, 20.0)
                self.assertGreaterEqual(len(rows), 1)
                self.assertGreater(number(rows[0]["ref_us"]), 0.0)
                self.assertIn(rows[0]["status"], ("ok", "budget", "max-size"))

    def test_data_driven(self):
        start_s = time.monotonic()
        _, rows = run(OPTIONS.launcher, 2, [program("iallreduce"),
                                            "--data-driven"])
        self.assertLess(time.monotonic() - start_s, 20.0)
        self.assertEqual([row["elements"] for row in rows],
                         [str(2 ** i) for i in range(18)])

    def slow(self, arguments, ranks, environment, seconds):
        """Rows are never dropped, however slow the operation is."""
        start_s = time.monotonic()
        environment = dict(environment, LD_PRELOAD=OPTIONS.model)
        _, rows = run(OPTIONS.launcher, ranks,
                      [program("iallreduce"), "--data-driven"] + arguments,
                      environment)
        self.assertLess(time.monotonic() - start_s, seconds)
        self.assertEqual(len(rows), 18)
        self.assertEqual({row["status"] for row in rows}, {"budget"})
        for row in rows:
            self.assertGreaterEqual(int(row["samples"]), 1)
            if int(row["samples"]) < 6:
                self.assertEqual((row["overlap_lo_pct"],
                                  row["overlap_hi_pct"]), ("NA", "NA"))
        return rows

    def test_slow_operations(self):
        rows = self.slow([], 2, {"MODEL_DURATION_US": 90000,
                                 "MODEL_FRACTION": 0.5}, 20.0)
        # One sample a row may be late; the middle of 18 is not.
        for row in rows:
            self.assertGreater(number(row["ref_us"]), 89999)
        self.assertAlmostEqual(
            statistics.median(number(row["ref_us"]) for row in rows), 90000,
            delta=900)
        self.assertAlmostEqual(
            statistics.median(number(row["overlap_pct"]) for row in rows), 50,
            delta=2)


class Oversubscribed(unittest.TestCase):
    """Where ranks share a processor the harness's own collectives are
    non-blocking, too; the model must not take them for the operation."""

    def test_harness_is_not_measured(self):
        processor = str(min(os.sched_getaffinity(0)))
        done = run_raw(OPTIONS.launcher, 2,
                       ["taskset", "-c", processor, program("iallreduce"),
                        "--data-driven", "--max-num-elts=1", "--max-time=2"],
                       {"LD_PRELOAD": OPTIONS.model,
                        "MODEL_DURATION_US": 20000, "MODEL_FRACTION": 1})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("# warning: oversubscribed", done.stdout)
        rows = read_tsv(done.stdout)
        self.assertEqual(len(rows), 1)
        self.assertGreaterEqual(int(rows[0]["samples"]), 1)
        self.assertGreater(number(rows[0]["ref_us"]), 19900)

    def test_one_sample_tells_no_share(self):
        done = run_raw(OPTIONS.launcher, 2, [
            program("iallreduce"), "--data-driven", "--max-num-elts=1", "--samples=1"])
        row, = read_tsv(done.stdout)
        self.assertEqual([row[name] for name in (
            "samples", "ref_sd_us", "overlap_pct", "overlap_lo_pct")], ["1", "NA", "NA", "NA"])


def read_if_there(path):
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except FileNotFoundError:
        return ""


class Mean(unittest.TestCase):
    """--estimator=mean is the specification to the letter."""

    def samples(self, environment):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "samples")
            environment = dict(environment, MODEL_DURATION_US=200)
            done = run_raw(
                OPTIONS.launcher, 2,
                [program("iallreduce"), "--estimator=mean", "--data-driven",
                 "--max-num-elts=1", "--samples=400", "--verbose",
                 "--dump-samples=" + path],
                dict(environment, LD_PRELOAD=OPTIONS.model))
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = read_tsv(done.stdout)
            with open(path, encoding="utf-8") as stream:
                reference = [float(sample["value_ns"]) / 1000
                             for sample in read_tsv(stream.read())
                             if sample["quantity"] == "reference_phase"]
        return rows[0], reference, done.stdout

    def test_mean_and_deviation_of_the_first_phase(self):
        row, reference, _ = self.samples({"MODEL_FRACTION": 0.5})
        self.assertEqual(len(reference), 400)
        self.assertAlmostEqual(number(row["ref_us"]),
                               statistics.mean(reference), delta=0.1)
        self.assertAlmostEqual(number(row["ref_sd_us"]),
                               statistics.stdev(reference), delta=0.01)

    def test_outliers_make_any_work_fit(self):
        row, reference, said = self.samples({"MODEL_FRACTION": 0,
                                             "MODEL_LATE_SHARE": 0.05,
                                             "MODEL_LATE_US": 2000})
        self.assertGreater(statistics.stdev(reference), 200)
        # As much work as the reference takes, the first amount that is tried, fits. What
        # it takes when it is timed may be a little less, where the processor's clock
        # rate changed.
        self.assertRegex(said, "phases 3 and 4: 1 trials, [0-9.]+ us fits, inf us does not")
        self.assertGreater(number(row["overlap_pct"]), 95.0)


class Growth(unittest.TestCase):
    """The search for a size that takes the cutoff time."""

    def search(self, **environment):
        """Row, the sizes that were tried with their times in us, and the warnings."""
        model = {"LD_PRELOAD": OPTIONS.model, **environment}
        text = run_raw(OPTIONS.launcher, 2, [
            program("iallreduce"), "--verbose", "--max-time=0.5"], model).stdout
        tried = [(int(elements), float(time_us)) for elements, time_us in re.findall(
            r"(?m)^# verbose: (\d+) elements: ([\d.]+) us, cutoff 1000.000 us$", text)]
        row, = read_tsv(text)
        return row, tried, "and the cutoff time when its size" in text

    def test_a_size_takes_it_twice(self):
        row, tried, warned = self.search(MODEL_DURATION_US=2000)
        self.assertEqual((row["elements"], [size for size, _ in tried], warned),
                         ("1", [1, 1], False))
        row, tried, warned = self.search(MODEL_DURATION_US=200)
        self.assertEqual((row["elements"], row["status"], warned),
                         ("131072", "max-size", False))

    def test_found_by_mistake(self):
        """Operations that are late by chance: of a few their median is, too. What two in
        a row say is believed, and the row then shows the mistake."""
        mistakes = once = 0
        for _ in range(20):
            row, tried, warned = self.search(
                MODEL_DURATION_US=200, MODEL_LATE_SHARE=0.35, MODEL_LATE_US=2000)
            found = row["status"] != "max-size"
            self.assertEqual(warned, found and number(row["ref_us"]) < 500.0)
            if found:
                self.assertEqual(tried[-1][0], tried[-2][0])
                self.assertGreaterEqual(min(tried[-1][1], tried[-2][1]), 1000.0)
            # Who takes it once and not again is passed over.
            for (size, first_us), (again, us), (then, _) in zip(tried, tried[1:],
                                                                tried[2:]):
                if size == again:
                    self.assertGreaterEqual(first_us, 1000.0)
                    self.assertLess(us, 1000.0)
                    self.assertEqual(then, min(2 * size, 131072))
                    once += 1
            mistakes += warned
            if mistakes >= 3 and once >= 3:
                return
        self.fail(f"the model was not late enough: {mistakes} {once}")


class Answer(unittest.TestCase):
    """No row is about work that was seen not to fit, however restless the operation is
    and however few the samples are."""

    ROUNDING_US = 0.0002  # of a difference: the file of samples has tenths of a nanosecond

    def measure(self, duration_us, fraction, seconds, seed):
        """The row of an operation, many of which are late by a tenth, the samples behind
        it by quantity in us, and the search's floor in us."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "samples")
            done = run_raw(OPTIONS.launcher, 2, [
                program("iallreduce"), "--data-driven", "--max-num-elts=1",
                f"--max-time={seconds}", "--dump-samples=" + path],
                           {"LD_PRELOAD": OPTIONS.model,
                            "MODEL_DURATION_US": duration_us,
                            "MODEL_FRACTION": fraction, "MODEL_LATE_SHARE": 0.4,
                            "MODEL_LATE_US": duration_us / 10, "MODEL_SEED": seed})
            self.assertEqual(done.returncode, 0, done.stderr)
            samples = {}
            for sample in read_tsv(read_if_there(path)):
                samples.setdefault(sample["quantity"], []).append(
                    float(sample["value_ns"]) / 1000)
        row, = read_tsv(done.stdout)
        clock_ns = float(re.search(r"(?m)^# clock_cost_ns: ([\d.]+)$",
                                   done.stdout).group(1))
        return row, samples, max(3e-3 * clock_ns, 0.005 * duration_us / 4)

    @staticmethod
    def lower_end(values):
        """Of the interval of the median at 95 % from order statistics."""
        values, below = sorted(values), 0
        end = None
        for i in range((len(values) + 1) // 2):
            below += math.comb(len(values), i)
            if 1 - 2 * below / 2 ** len(values) < 0.95:
                break
            end = values[i]
        return end

    def check(self, row, samples, floor_us):
        """Whether the operation took too long with the work that was measured last."""
        if "work" not in samples:  # no time but for a single trial
            return False
        work_us = statistics.median(samples["work"])
        excesses = [total - reference for total, reference in
                    zip(samples["total"], samples["reference"])]
        excess_us = statistics.median(excesses)
        end_us = self.lower_end(excesses)
        if row["total_us"] == "NA":
            self.assertGreater(end_us, -self.ROUNDING_US, row)
            self.assertAlmostEqual(number(row["work_us"]), max(0, work_us - excess_us), delta=0.1)
            self.assertEqual(row["status"], "budget")
        else:
            self.assertAlmostEqual(number(row["work_us"]), max(0, work_us), delta=0.1)
        if len(excesses) > 1:
            self.assertAlmostEqual(
                number(row["overlap_pct"]),
                min(100, 100 * number(row["work_us"]) / number(row["ref_us"])), delta=0.02)
        if work_us < 0.05:  # there is no less
            return False
        # The reference of the tolerance was measured before.
        if excess_us <= 1.2 * max(0.005 * work_us, floor_us):
            return False
        if end_us is not None and end_us > self.ROUNDING_US:
            self.assertEqual(row["total_us"], "NA", row)
        if row["overlap_lo_pct"] != "NA":
            self.assertLessEqual(
                number(row["overlap_lo_pct"]),
                max(0, 100 * (work_us - excess_us) / number(row["ref_us"])) + 0.02)
        return True

    def test_restless_operations(self):
        too_long = 0
        for seed in range(30):
            for duration_us, fraction in ((400, 0.0), (400, 0.5), (1000, 0.5), (4000, 0.75)):
                with self.subTest(duration_us=duration_us, seed=seed):
                    too_long += self.check(*self.measure(duration_us, fraction, 0.3, seed))
            # There is something to see in most of them; in some it is no chance.
            if seed >= 7 and too_long >= 3:
                return
        self.fail(f"too long with the work in {too_long} launches only")


class Signals(unittest.TestCase):
    """A signal ends the run after the row in hand."""

    def interrupted(self, number_of_signal, name):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result")
            line = OPTIONS.launcher.line(
                2, {}, [program("iallreduce"), "--data-driven",
                        "--max-time=0.5", "--samples=50000",
                        "--output=" + path])
            with subprocess.Popen(line, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as job:
                while "\niallreduce" not in read_if_there(path):
                    time.sleep(0.05)
                subprocess.run(["pkill", f"-{int(number_of_signal)}", "-f",
                                "^" + program("iallreduce")], check=True)
                job.communicate(timeout=30)
            text = read_if_there(path)
        self.assertEqual(job.returncode, 1)
        rows = read_tsv(text)
        self.assertIn(f"# warning: interrupted by {name}\n", text)
        self.assertEqual(text.splitlines()[-1], f"# end: {len(rows)} "
                         f"row{'s' * (len(rows) > 1)}, exit 1")
        self.assertGreaterEqual(len(rows), 1)
        self.assertLess(len(rows), 18)
        self.assertNotIn(None, rows[-1].values())

    def test_signals(self):
        self.interrupted(signal.SIGTERM, "SIGTERM")
        self.interrupted(signal.SIGINT, "SIGINT")
        self.interrupted(signal.SIGUSR1, "SIGUSR1")


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binaries", required=True,
                        help="folder of the overlap programs")
    parser.add_argument("--model", required=True, help="libmodelmpi.so")
    parser.add_argument("tests", help="names of test classes, with commas")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    OPTIONS = parser.parse_args()
    OPTIONS.launcher = Launcher(OPTIONS.launcher)
    # What a launcher takes to end a job that failed is no fault of the
    # program's: 2 s for Open MPI's.
    start_s = time.monotonic()
    run_raw(OPTIONS.launcher, 2, ["false"])
    OPTIONS.launch_s = time.monotonic() - start_s
    unittest.main(argv=[sys.argv[0]] + OPTIONS.tests.split(","), verbosity=2)


if __name__ == "__main__":
    main()
