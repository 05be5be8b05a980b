#!/usr/bin/env python3
"""bench_compare as a user runs it, on folders of results made here: verdicts, exit
status, how launches are found and counted, what is refused; against R's wilcox.test
where there is Rscript."""

import argparse
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
from mpi_run import Launcher, number, read_tsv, run_raw  # noqa: E402

OPTIONS = None

COLUMNS = [("name", "key"), ("size", "key"), ("time_us", "less"),
           ("rate_per_s", "more"), ("free_pct", "more"), ("samples", "info"),
           ("status", "info")]
SIZES = (8, 64, 512, 4096)


def result(rows, columns=None, benchmark="bench", ranks="2", extra=""):
    """The text of a result."""
    columns = columns or COLUMNS
    roles = " ".join(f"{name}={role}" for name, role in columns)
    head = [f"# benchmark: {benchmark}", "# schema: 1", f"# ranks: {ranks}",
            f"# columns: {roles}", "\t".join(name for name, _ in columns)]
    lines = head + ["\t".join(str(cell) for cell in row) for row in rows]
    return "\n".join(lines) + "\n" + extra


def rows_of(chance, time=None, rate=None, free=None, status="ok", sizes=SIZES):
    """The rows of a launch: `time` and the like give the factor or the points that
    a size has more."""
    def noisy(value):
        return f"{value * math.exp(chance.gauss(0, 0.01)):.6f}"

    return [["put", size, noisy((1 + size / 100) * (time or {}).get(size, 1)),
             noisy(1e6 / (1 + size / 100) * (rate or {}).get(size, 1)),
             f"{50 + (free or {}).get(size, 0) + chance.gauss(0, 0.3):.3f}",
             30, status] for size in sizes]


class CompareTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.chance = random.Random(7)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, text, *names):
        path = self.path(*names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(text if isinstance(text, bytes) else text.encode())
        return path

    def side(self, name, launches=10, program="bench", columns=None, **changes):
        """A folder with runs/N/PROGRAM.tsv."""
        for run in range(launches):
            self.write(result(rows_of(self.chance, **changes), columns),
                       name, "runs", str(run + 1), program + ".tsv")
        return self.path(name)

    def compare(self, *arguments, expect=0):
        done = subprocess.run([OPTIONS.program, *arguments], text=True,
                              capture_output=True, check=False, timeout=60,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        if expect != 2:
            # Too few launches are said there, too: the exit status is silent.
            self.assertEqual("too few launches" in done.stderr,
                             "too few launches" in done.stdout)
            self.assertLessEqual(done.stderr.count("\n"),
                                 done.stderr.count("too few launches"))
        return done.stdout

    def rows(self, *arguments, expect=0):
        return {(row["size"], row["quantity"]): row
                for row in read_tsv(self.compare(*arguments, expect=expect))}

    def refused(self, *arguments):
        done = subprocess.run([OPTIONS.program, *arguments], text=True,
                              capture_output=True, check=False, timeout=60,
                              errors="replace")
        self.assertEqual((done.returncode, done.stdout), (2, ""),
                         (arguments, done.stderr))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("bench_compare: "), done.stderr)
        return done.stderr


class Verdicts(CompareTest):
    def test_no_change(self):
        text = self.compare(self.side("base"), self.side("new"))
        rows = read_tsv(text)
        self.assertEqual(list(rows[0]), """benchmark name size quantity base new
            change_pct change_lo_pct change_hi_pct p_value verdict better change_in
            p_uncorrected base_launches new_launches""".split())
        self.assertEqual(len(rows), 12)
        self.assertEqual({row["verdict"] for row in rows}, {"same"})
        for row in rows:
            self.assertLess(number(row["change_lo_pct"]),
                            number(row["change_pct"]))
            self.assertLess(number(row["change_pct"]),
                            number(row["change_hi_pct"]))
            self.assertEqual((row["benchmark"], row["name"],
                              row["base_launches"], row["new_launches"]),
                             ("bench", "put", "10", "10"))
        self.assertIn("# summary: 0 slower, 0 faster, 12 same, 0 can't tell, "
                      "0 failed, 0 missing, 0 added; 10 and 10 launches\n", text)
        for key in ("benchmark: bench_compare", "schema: 2", "alpha: 1",
                    "threshold: 5", "confidence: 95", "base: ", "new: "):
            self.assertIn("\n# " + key, "\n" + text)

    def only(self, rows, verdicts):
        """All rows but these are `same`."""
        self.assertEqual({key: row["verdict"] for key, row in rows.items()
                          if row["verdict"] != "same"}, verdicts)

    def test_slower(self):
        base = self.side("base")
        rows = self.rows(base, self.side("new", time={512: 1.1}), expect=1)
        self.only(rows, {("512", "time_us"): "slower"})
        row = rows["512", "time_us"]
        self.assertAlmostEqual(number(row["change_pct"]), 10, delta=1.5)
        self.assertAlmostEqual(number(row["base"]), 6.12, delta=0.1)
        self.assertAlmostEqual(number(row["p_uncorrected"]), 2 / 184756,
                               delta=1e-7)
        self.assertAlmostEqual(number(row["p_value"]), 12 * 2 / 184756,
                               delta=1e-6)

    def test_directions(self):
        base = self.side("base")
        for changes, verdict, expect in (
                ({"time": {8: 0.8}}, {("8", "time_us"): "faster"}, 0),
                ({"rate": {8: 0.8}}, {("8", "rate_per_s"): "slower"}, 1),
                ({"rate": {8: 1.3}}, {("8", "rate_per_s"): "faster"}, 0),
                # Points, not percent of 50 %.
                ({"free": {8: 7}}, {("8", "free_pct"): "faster"}, 0),
                ({"free": {8: -7}}, {("8", "free_pct"): "slower"}, 1),
                ({"free": {8: 4}}, {}, 0),
                # Significant, but less than what matters.
                ({"time": {8: 1.03}}, {}, 0)):
            with self.subTest(changes=changes):
                rows = self.rows(base, self.side("new", **changes),
                                 expect=expect)
                self.only(rows, verdict)
        self.assertEqual(rows["8", "free_pct"]["change_in"], "points")
        self.assertEqual(rows["8", "time_us"]["change_in"], "percent")

    def test_limits(self):
        base, new = self.side("base"), self.side("new", time={8: 1.1})
        slower = {("8", "time_us"): "slower"}
        self.only(self.rows(base, new, "--threshold=8%", expect=1), slower)
        rows = self.rows(base, new, "--threshold", "12")
        self.assertIn(rows["8", "time_us"]["verdict"], ("can't tell", "same"))
        # 12 rows, 10 and 10 launches: p can't be below 1.3e-4.
        self.assertIn("# note: 12 of 12 rows have too few launches (such as 10 and "
                      "10) for any change in one of them to be told from chance: "
                      "use at least 11 launches a side, or fewer rows\n",
                      self.compare(base, new, "--alpha=0.01"))
        wide = self.rows(base, new, "--confidence=99.9", expect=1)["8", "time_us"]
        narrow = self.rows(base, new, "--confidence=60", expect=1)["8", "time_us"]
        self.assertGreater(number(wide["change_hi_pct"]),
                           number(narrow["change_hi_pct"]))

    def test_cannot_tell(self):
        """Launches that differ by 20 % among themselves."""
        columns = [("kind", "key"), ("time_us", "less")]
        for side in ("base", "new"):
            for i in range(10):
                self.write(result([["x", math.exp(self.chance.gauss(0, 0.2))]],
                                  columns), side, "runs", str(i), "bench.tsv")
        arguments = [self.path("base"), self.path("new")]
        row = read_tsv(self.compare(*arguments))[0]
        self.assertEqual(row["verdict"], "can't tell")
        low, high = number(row["change_lo_pct"]), number(row["change_hi_pct"])
        self.assertLess(abs(number(row["change_pct"])), max(-low, high) - 2)
        # The same as soon as the whole interval doesn't matter.
        for threshold, verdict in ((max(-low, high) + 0.02, "same"),
                                   (max(-low, high) - 0.02, "can't tell")):
            row = read_tsv(self.compare(*arguments, f"--threshold={threshold}"))[0]
            self.assertEqual(row["verdict"], verdict)
        # To both sides.
        row = read_tsv(self.compare(*arguments[::-1],
                                    f"--threshold={max(-low, high) - 2}"))[0]
        self.assertEqual(row["verdict"], "can't tell")

    def test_few_launches(self):
        text = self.compare(self.side("base", 3), self.side("new", 3,
                                                            time={8: 2}))
        self.assertIn("12 of 12 rows have too few launches (such as 3 and 3)", text)
        # The least n with 12 * 2 / C(2n, n) <= 1 %.
        enough = next(n for n in range(1, 50) if
                      24 / math.comb(2 * n, n) <= 0.01)
        self.assertIn(f"use at least {enough} launches a side", text)
        rows = read_tsv(text)
        self.assertEqual({row["verdict"] for row in rows}, {"can't tell"})
        self.assertEqual({row["change_lo_pct"] for row in rows}, {"NA"})
        row = next(row for row in rows if row["size"] == "8")
        self.assertAlmostEqual(number(row["change_pct"]), 100, delta=5)
        # And they do.
        text = self.compare(self.side("base2", enough),
                            self.side("new2", enough, time={8: 2}), expect=1)
        self.assertNotIn("# note:", text)

    def test_zero_and_negative(self):
        columns = [("kind", "key"), ("added_ns", "less")]
        def side(name, *values):
            for i in range(10):
                self.write(result([[k, f"{value + i * 0.01:.3f}"]
                                   for k, value in enumerate(values)], columns),
                           name, "runs", str(i), "bench.tsv")
            return self.path(name)
        done = self.compare(side("base", -5, 0, -0.05, 1, -1),
                            side("new", -3, 9, -0.05, -2, 4), expect=1)
        rows = read_tsv(done)
        self.assertEqual([row["verdict"] for row in rows],
                         ["can't tell",   # costs nothing before and after
                          "slower", "can't tell", "faster", "slower"])
        self.assertEqual(rows[0]["change_pct"], "NA")
        self.assertAlmostEqual(number(rows[3]["change_pct"]), -287, delta=2)

    def test_all_the_same(self):
        """Values without any spread."""
        for side, value in (("base", "0.000"), ("new", "0.000")):
            for i in range(5):
                self.write(result([["put", 8, value, "NA", "100.00", 3, "ok"]],
                                  extra=f"# note: {i}\n"),
                           side, "runs", str(i), "bench.tsv")
        rows = self.rows(self.path("base"), self.path("new"))
        self.assertEqual({key: row["verdict"] for key, row in rows.items()},
                         {("8", "time_us"): "same", ("8", "free_pct"): "same"})

    def test_failed(self):
        base = self.side("base")
        new = self.side("new", 9)
        self.write(result(rows_of(self.chance, status="FAIL")), "new", "runs", "x",
                   "bench.tsv")
        text = self.compare(base, new, expect=1)
        self.assertEqual({row["verdict"] for row in read_tsv(text)}, {"failed"})
        self.assertIn("12 failed", text)
        # What failed on the base only doesn't count there.
        rows = self.rows(new, base)
        self.only(rows, {})
        self.assertEqual(rows["8", "time_us"]["base_launches"], "9")

    def test_missing_and_added(self):
        text = self.compare(self.side("base", sizes=(8, 64)),
                            self.side("new", sizes=(64, 512)))
        self.assertIn("3 same, 0 can't tell, 0 failed, 3 missing, 3 added", text)
        for row in read_tsv(text):
            verdict = {"8": "missing", "64": "same", "512": "added"}[row["size"]]
            self.assertEqual(row["verdict"], verdict)
            self.assertEqual(row["base"] == "NA", verdict == "added")
            self.assertEqual(row["new"] == "NA", verdict == "missing")
            self.assertEqual(row["p_value"] == "NA", verdict != "same")

    def test_time_driven_overlap(self):
        """The launches of a side find different sizes: no keys, but a result."""
        columns = [("collective", "key"), ("model", "key"), ("elements", "more"),
                   ("size_bytes", "info"), ("ref_us", "info"),
                   ("overlap_pct", "more")]
        def side(name, exponents):
            for i in range(10):
                elements = 2 ** self.chance.choice(exponents)
                self.write(result([["ibcast", "time", elements, 8 * elements,
                                    1000 + i, 40 + self.chance.random()]],
                                  columns), name, "runs", str(i), "overlap.tsv")
            return self.path(name)
        rows = read_tsv(self.compare(side("base", (14, 15)), side("new", (14, 15)),
                                     expect=0))
        self.assertEqual([row["quantity"] for row in rows],
                         ["elements", "overlap_pct"])
        rows = read_tsv(self.compare(self.path("base"), side("slow", (11, 12)),
                                     expect=1))
        self.assertEqual([row["verdict"] for row in rows], ["slower", "same"])

    def test_several_benchmarks(self):
        """Keys of all benchmarks are columns; one that a benchmark lacks is NA."""
        columns = [("sync", "key"), ("sync_us", "less")]
        for name in ("base", "new"):
            self.side(name)
            for i in range(10):
                self.write(result([["barrier", self.chance.random() + 1]], columns,
                                  "other"), name, "runs", str(i + 1), "other.tsv")
        rows = read_tsv(self.compare(self.path("base"), self.path("new")))
        self.assertEqual(list(rows[0])[:5], ["benchmark", "name", "size", "sync",
                                             "quantity"])
        self.assertEqual([(row["benchmark"], row["name"], row["sync"])
                          for row in rows[::12]],
                         [("bench", "put", "NA"), ("other", "NA", "barrier")])

    def test_as_r(self):
        """p-values, changes and intervals are those of R's wilcox.test."""
        if shutil.which("Rscript") is None:
            raise unittest.SkipTest("no Rscript")
        base = self.side("base", 8)
        new = self.side("new", 11, time={8: 1.01, 64: 0.98},
                        rate={512: 1.02}, free={8: 0.3})
        script = """
            a <- read.delim(commandArgs(TRUE)[1]); b <- read.delim(commandArgs(TRUE)[2])
            p <- c()
            for (s in unique(a$size)) for (q in c("time_us", "rate_per_s", "free_pct")) {
              x <- a[a$size == s, q]; y <- b[b$size == s, q]
              if (q != "free_pct") { x <- log(x); y <- log(y) }
              w <- wilcox.test(y, x, exact = TRUE, conf.int = TRUE)
              v <- c(w$estimate, w$conf.int)
              if (q != "free_pct") v <- 100 * (exp(v) - 1)
              p <- c(p, w$p.value); cat(s, q, v, w$p.value, "\\n") }
            cat(p.adjust(p, "holm"))"""
        paths = []
        for side in ("base", "new"):
            lines = []
            for run in sorted(os.listdir(self.path(side, "runs"))):
                with open(self.path(side, "runs", run, "bench.tsv"),
                          encoding="utf-8") as stream:
                    lines += [line for line in stream if not
                              line.startswith("#")][1 if lines else 0:]
            paths.append(self.write("".join(lines), side + ".txt"))
        done = subprocess.run(["Rscript", "-e", script, *paths], text=True,
                              capture_output=True, check=True)
        rows = self.rows(base, new)
        *lines, corrected = done.stdout.splitlines()
        self.assertEqual(len(lines), 12)
        for line, holm in zip(lines, corrected.split()):
            size, quantity, change, low, high, p = line.split()
            row = rows[size, quantity]
            for column, value in (("change_pct", change), ("change_lo_pct", low),
                                  ("change_hi_pct", high)):
                self.assertAlmostEqual(number(row[column]), float(value),
                                       delta=0.006)
            for column, value in (("p_uncorrected", p), ("p_value", holm)):
                self.assertAlmostEqual(number(row[column]) / float(value), 1,
                                       delta=0.006)


class Launches(CompareTest):
    """How launches are found, and that each counts once."""

    def counts(self, *arguments):
        text = self.compare(*arguments)
        return re.search("; ([0-9]+) and ([0-9]+) launches\n", text).groups()

    def merged(self, folder, name="bench.tsv", runs=None):
        """RESULTS/PROGRAM.tsv, of the launches in RESULTS/runs."""
        rows = []
        for run in runs or sorted(os.listdir(self.path(folder, "runs"))):
            with open(self.path(folder, "runs", run, "bench.tsv"),
                      encoding="utf-8") as stream:
                rows += [[run] + line.rstrip("\n").split("\t") for line in stream
                         if not line.startswith("#")][1:]
        return self.write(result(rows, [("run", "key")] + COLUMNS), folder, name)

    def test_layouts(self):
        base, new = self.side("base", 6), self.side("new", 5)
        self.assertEqual(self.counts(base, new), ("6", "5"))
        expected = self.rows(base, new)
        merged = [self.merged("base"), self.merged("new")]
        for arguments in ([base, new], merged, [self.path("base", "runs"), new],
                          ["--base", base, "--new", new],
                          ["--new", new, "--base=" + base],
                          ["--ne", new, "--b=" + base],
                          ["--alpha", "1", base, "--threshold", "5", "--", new],
                          ["--base", *[self.path("base", "runs", str(i),
                                                 "bench.tsv")
                                       for i in range(1, 7)],
                           "--alpha=1", "--new", merged[1]]):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.counts(*arguments), ("6", "5"))
                self.assertEqual(self.rows(*arguments), expected)
                self.assertNotIn("# warning:", self.compare(*arguments))
        # A plain folder, without runs.
        for run in range(6):
            shutil.copy(self.path("base", "runs", str(run + 1), "bench.tsv"),
                        self.write("", "plain", f"bench{run}.tsv"))
        self.assertEqual(self.rows(self.path("plain"), new), expected)

    def test_never_twice(self):
        base, new = self.side("base", 6), self.side("new", 5)
        merged = self.merged("base")
        run = self.path("base", "runs", "3", "bench.tsv")
        copy = shutil.copy(run, self.path("copy.tsv"))
        os.symlink(run, self.path("link.tsv"))
        for again in ([run], [merged], [base], [copy], [self.path("link.tsv")],
                      [run, run], [self.path("base", "runs")]):
            with self.subTest(again=again):
                arguments = ["--base", base, *again, "--new", new]
                self.assertEqual(self.counts(*arguments), ("6", "5"))
                self.assertRegex(self.compare(*arguments),
                                 "# warning: .*(twice|once)")
        # The same on both sides is no copy: nothing changed.
        self.assertEqual(self.counts(base, base), ("6", "6"))

    def test_repeated_rows(self):
        """A row that a launch has three times counts once, as the median."""
        for run in range(5):
            rows = [["put", 8, 100 * factor + run, "NA", "NA", 1, "ok"]
                    for factor in (1, 9, 2)]
            self.write(result(rows), "base", "runs", str(run), "bench.tsv")
        text = self.compare(self.path("base"), self.path("base"))
        self.assertIn("# warning: launches have rows more than once (30 "
                      "values)", text)
        row = read_tsv(text)[0]
        self.assertEqual((row["base"], row["base_launches"]), ("202.000", "5"))

    def test_other_files(self):
        """What is no result, in a folder: left out with a warning."""
        base, new = self.side("base"), self.side("new")
        self.write("row\tquantity\n1\tx\n", "base", "runs", "1", "samples.tsv")
        self.write("no table", "base", "runs", "1", "report.md")
        self.write("\0\0", "base", "runs", "1", ".hidden.tsv")
        text = self.compare(base, new)
        self.assertIn("samples.tsv has no '# columns:': left out", text)
        self.assertEqual(text.count("# warning:"), 1)
        # A comparison is no launch.
        self.compare(base, new, "--output=" + self.path("base", "runs", "1",
                                                        "compare.tsv"))
        self.assertEqual(self.compare(base, new).count("# warning:"), 1)

    def test_files_as_others_write_them(self):
        """Line ends of Windows, a mark for UTF-8, columns in another order, blank
        lines, remarks anywhere, a last line without end."""
        base, new = self.side("base"), self.side("new")
        expected = self.rows(base, new)
        for run in range(10):
            path = self.path("new", "runs", str(run + 1), "bench.tsv")
            with open(path, encoding="utf-8") as stream:
                lines = stream.read().splitlines()
            lines = [line if line.startswith("#") else
                     "\t".join(reversed(line.split("\t"))) for line in lines]
            text = "\r\n".join(lines[:4] + ["", "# note: x"] + lines[4:6] +
                               ["# warning: columns: y"] + lines[6:])
            self.write("\ufeff" + text, path)
        self.assertEqual(self.rows(base, new), expected)

    def test_cut_off(self):
        base, new = self.side("base"), self.side("new")
        path = self.path("new", "runs", "1", "bench.tsv")
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        self.write(text[:-20], path)
        text = self.compare(base, new)
        self.assertIn("bench.tsv: line 9 was cut off and doesn't count", text)
        self.assertEqual([row["new_launches"] for row in read_tsv(text)],
                         ["10"] * 9 + ["9"] * 3)

    def test_end_mark(self):
        """From schema 2 on a launch counts only if its file has its last line,
        whatever else of it is there."""
        base, new = self.side("base"), self.side("new")
        for run in range(1, 11):
            path = self.path("new", "runs", str(run), "bench.tsv")
            with open(path, encoding="utf-8") as stream:
                text = stream.read().replace("schema: 1", "schema: 2")
            whole = text + "# end: 4 rows, exit 0\n"
            if run <= 4:
                whole = (text, text.replace("ok", "FAIL"), text[:-1],
                         text[:-20])[run - 1]
            self.write(whole, path)
        text = self.compare(base, new)
        self.assertEqual({row["new_launches"] for row in read_tsv(text)}, {"6"})
        self.assertEqual(text.count("was cut off: it doesn't end with '# end:'"),
                         4, text)
        self.assertIn("10 and 6 launches", text)
        for run in (1, 2, 3, 4):
            self.assertIn(f"new/runs/{run}/bench.tsv was cut off", text)
        # A row that was taken out later is said, too.
        self.write(whole.replace("put", "#put", 1), path)
        self.assertIn("runs/10/bench.tsv has 3 rows, and had 4",
                      self.compare(base, new))
        said = self.refused(base, self.path("new", "runs", "1", "bench.tsv"))
        self.assertIn("the new side has no complete launch", said)

    def test_end_mark_of_several(self):
        """A file of several launches has one end."""
        columns = [("run", "key")] + COLUMNS
        rows = [[run] + row for run in range(1, 6)
                for row in rows_of(self.chance)]
        whole = result(rows, columns).replace("schema: 1", "schema: 2")
        base = self.write(whole + "# end: 20 rows, exit 0\n", "base.tsv")
        new = self.write(whole, "new.tsv")
        self.assertIn("5 and 5 launches", self.compare(base, base, expect=0))
        self.assertIn("the new side has no complete launch",
                      self.refused(base, new))


class Settings(CompareTest):
    """Options that change what a number is."""

    def side_with(self, name, settings):
        """Launches with the settings in turn, which are lines of metadata."""
        for run, lines in enumerate(settings):
            text = result(rows_of(self.chance))
            self.write(text.replace("# ranks", lines + "# ranks"), name, "runs",
                       str(run + 1), "bench.tsv")
        return self.path(name)

    def warnings(self, base, new):
        return [line for line in self.compare(self.side_with("base", base),
                                              self.side_with("new", new)).splitlines()
                if "was measured with" in line]

    def test_differ(self):
        """One warning each, which names what differs, and where."""
        plain = "# start: barrier\n# timer: monotonic\n# estimator: median\n"
        for name, value, other in (("start", "barrier", "window"),
                                   ("timer", "monotonic", "MPI_Wtime"),
                                   ("estimator", "median", "mean")):
            with self.subTest(name=name):
                changed = plain.replace(value, other)
                self.assertNotEqual(changed, plain)
                said = self.warnings([plain] * 6, [changed] * 6)
                self.assertEqual(len(said), 1, said)
                self.assertIn(f"base/runs/1/bench.tsv was measured with "
                              f"--{name}={value}, ", said[0])
                self.assertIn(f"new/runs/1/bench.tsv with --{name}={other}", said[0])

    def test_differ_within_a_side(self):
        said = self.warnings(["# start: barrier\n"] * 5 + ["# start: window\n"],
                             ["# start: barrier\n"] * 6)
        self.assertEqual(len(said), 1, said)

    def test_keys(self):
        """msgrate_rma's --sync says which rows there are."""
        self.assertEqual(self.warnings(["# sync: all\n"] * 6,
                                       ["# sync: fence\n"] * 6), [])

    def test_same(self):
        """What doesn't say, as older results, doesn't differ."""
        self.assertEqual(self.warnings(["# start: window\n", ""] * 3,
                                       ["", "# start: window\n"] * 3), [])


class Usage(CompareTest):
    def test_usage(self):
        base, new = self.side("base"), self.side("new")
        for arguments, named in (
                ([], "BASE NEW"), ([base], "BASE NEW"),
                ([base, new, new], "--base PATH... --new PATH..."),
                (["--base", base], "new side"), (["--new", new], "base side"),
                ([base, "--new", new], "belongs to no side"),
                ([base, new, "--alpha=0"], "--alpha"),
                ([base, new, "--threshold=x"], "--threshold"),
                ([base, new, "--confidence=100"], "--confidence"),
                ([base, new, "--format=csv"], "--format"),
                ([base, new, "--nonsense"], "nonsense"),
                ([base, self.path("none")], "none"),
                ([base, self.path("none.tsv")], "none.tsv"),
                ([base, new, "--output=/nonexistent/x"], "--output"),
                ([base, os.path.dirname(OPTIONS.program)], "has no results")):
            self.assertIn(named, self.refused(*arguments), arguments)

    def test_help_and_version(self):
        for arguments in (["--help"], ["-h"], ["--help", "x", "y", "z"]):
            text = self.compare(*arguments)
            self.assertIn("Usage: bench_compare [OPTION]... BASE NEW", text)
            self.assertIn("--threshold=PERCENT", text)
        for arguments in (["--threshold=77", "--help"], ["--hel"]):
            self.assertEqual(self.compare(*arguments), text)
        self.assertRegex(self.compare("--version"),
                         r"^bench_compare \(commcost\) [0-9.]+\n$")

    def test_output(self):
        base, new = self.side("base"), self.side("new", time={8: 2})
        text = self.compare(base, new, expect=1)
        path = self.path("comparison")
        self.assertEqual(self.compare(base, new, "--output=" + path, expect=1), "")
        with open(path, encoding="utf-8") as stream:
            self.assertEqual(read_tsv(stream.read()), read_tsv(text))
        table = self.compare(base, new, "--format=table", expect=1)
        self.assertNotIn("\t", table)
        self.assertIn("# summary: 1 slower", table)
        done = subprocess.run([OPTIONS.program, base, base, "--output=/dev/full"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("output was lost", done.stderr)

    def test_no_header(self):
        """Rows only; each remark once on stderr."""
        base, new = self.side("base", 3), self.side("new", 3, time={8: 2})
        text = self.compare(base, new)
        done = subprocess.run([OPTIONS.program, base, new, "--no-header"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout.splitlines(),
                         [line for line in text.splitlines()
                          if not line.startswith("#")][1:])
        self.assertEqual(done.stderr.splitlines(),
                         ["bench_compare: " + line[2:] for line in text.splitlines()
                          if line.startswith(("# note: ", "# summary: "))])
        self.assertEqual(len(done.stderr.splitlines()), 2)

    def test_inconsistent(self):
        base = self.side("base")
        good = result(rows_of(self.chance))
        columns = re.search("# columns: .*\n", good).group()
        header = "\n".join(good.splitlines()[4:5]) + "\n"
        for text, named in (
                ("", "no header row"), ("# benchmark: x\n", "no header row"),
                (good.replace(columns, ""), "no '# columns:'"),
                (good.replace("# benchmark: bench\n", ""), "no '# benchmark:'"),
                (good.split(header)[1], "--no-header"),
                ("".join(line for line in good.splitlines(True) if line[0] != "#"),
                 "--no-metadata"),
                (good.replace("schema: 1", "schema: 3"), "schema '3'"),
                (good.replace("schema: 1", "schema: 0"), "schema '0'"),
                (good.replace("schema: 1", "schema: "), "schema"),
                (good.replace("ranks: 2", "ranks: 4"), "ranks"),
                (good + good, "line 10: a second"),
                (columns + good, "a second '# columns:'"),
                (good.replace("time_us=less", "time_us=fewer"), "=fewer"),
                (good.replace("time_us=less", "time_us"), "time_us"),
                (good.replace("time_us=less", "=less"), "=less"),
                (good.replace("time_us=less", "size=less"), "twice"),
                (good.replace("time_us=less", "times=less"), "time_us"),
                (good.replace("time_us=less", "x" * 200 + "=less"), "too long"),
                (good.replace("time_us=less", " ".join(
                    f"c{i}=info" for i in range(300))), "more than 256"),
                (good.replace("\nname\tsize", "\nname\tname"), "twice"),
                (good.replace("\nname\tsize", "\nname"), "lacks the key 'size'"),
                (good.replace("time_us=less", "time_us=more"), "more is better"),
                (good.replace("\t30\t", "\t30\t30\t"), "8 cells"),
                (good.replace("\t30\t", "\t"), "6 cells"),
                (good.replace("put\t8\t", "put\t8\tx"), "is no number"),
                (good.replace("put\t8\t", "put\t8\tnan\t"), "8 cells"),
                (re.sub("put\t8\t[0-9.]*", "put\t8\t", good), "is no number"),
                (re.sub("put\t8\t[0-9.]*", "put\t8\tinf", good), "is no number"),
                (re.sub("put\t8\t[0-9.]*", "put\t8\tnan", good), "is no number"),
                (re.sub("put\t8\t[0-9.]*", "put\t8\t1e999", good),
                 "is no number"),
                (good.replace("put", "p\0t"), "a byte of 0"),
                (good + "x" * (1 << 20) + "y\n", "longer than 1 MiB"),
                (good.replace("name", "base").replace("# base", "# name"),
                 "no row in common"),
                (good.replace("# benchmark: bench", "# benchmark: other"),
                 "no row in common"),
                (good.replace("put\t", "get\t"), "no row in common"),
                (b"\x7fELF\x01\x02\x03" * 1000, "'# columns:'"),
                (os.urandom(5000).replace(b"\0", b"x"), "")):
            path = self.write(text, "new.tsv")
            self.assertIn(named, self.refused(base, path), (named, text[:300]))

    def test_own_column_names(self):
        columns = [("quantity", "key"), ("time_us", "less")]
        path = self.write(result([["x", 1]], columns), "a.tsv")
        self.assertIn("'quantity'", self.refused(path, path))
        many = [(f"k{i}", "key") for i in range(40)] + [("time_us", "less")]
        path = self.write(result([list(range(41))], many), "a.tsv")
        self.assertIn("keys in all", self.refused(path, path))

    def test_many_launches(self):
        rows = [[run] + row for run in range(200)
                for row in rows_of(self.chance, sizes=(8,))]
        columns = [("run", "key")] + COLUMNS
        path = self.write(result(rows, columns), "many.tsv")
        self.assertEqual({row["verdict"] for row in self.rows(path, path).values()},
                         {"same"})
        path = self.write(result(rows + [[200] + rows[0][1:]], columns), "many.tsv")
        self.assertIn("more than 200 launches", self.refused(path, path))
        rows = [[run, "put", 8, 1, 1, 1, 1, "ok"] for run in range(10001)]
        path = self.write(result(rows, columns), "many.tsv")
        self.assertIn("more than 10000 launches", self.refused(path, path))


class Programs(CompareTest):
    """Results as the programs write them."""

    def test_programs(self):
        programs = [("overlap/overlap_iallreduce",
                     ["--data-driven", "--max-num-elts=2", "--samples=5"]),
                    ("overlap/overlap_ibarrier", ["--samples=5"]),
                    ("pingpong/pingpong", ["--samples=2", "--max-ndata=8", "--patterns=put"]),
                    ("syncbench/syncbench", ["--samples=2"]),
                    ("halo/halo", ["--samples=1", "--local=3"]),
                    ("msgrate/msgrate", ["--peers=1", "--samples=1"]),
                    ("mpi_overhead/mpi_overhead", ["--samples=2", "--msgsize=8"])]
        found = set()
        for name, arguments in programs:
            program = os.path.join(OPTIONS.binaries, name)
            if not os.path.exists(program):
                continue
            done = run_raw(OPTIONS.launcher, 2, [program, *arguments])
            self.assertEqual(done.returncode, 0, done.stderr)
            for side in ("base", "new"):
                self.write(done.stdout, side, "runs", "1",
                           os.path.basename(name) + ".tsv")
        text = self.compare(self.path("base"), self.path("new"))
        rows = read_tsv(text)
        for row in rows:
            found.add((row["benchmark"], row["quantity"], row["better"]))
            self.assertEqual(row["verdict"], "can't tell")
            # There is no share of nothing; what rounds to 0 may be a little more.
            if number(row["base"]) != 0:
                self.assertEqual(row["change_pct"] == "NA",
                                 number(row["base"]) < 0)
            if row["change_pct"] != "NA":
                self.assertEqual(number(row["change_pct"]), 0.0)
        self.assertTrue(found <= {
            ("overlap_iallreduce", "ref_us", "less"),
            ("overlap_iallreduce", "overlap_pct", "more"),
            ("overlap_ibarrier", "ref_us", "less"),
            ("overlap_ibarrier", "overlap_pct", "more"),
            ("pingpong", "latency_us", "less"), ("syncbench", "sync_us", "less"),
            ("halo", "latency_us", "less"), ("msgrate", "rate_per_s", "more"),
            ("mpi_overhead", "overhead", "less"),
            ("mpi_overhead", "transfer_us", "less")}, found)
        self.assertGreater(len(found), 4)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="bench_compare")
    parser.add_argument("--binaries", required=True, help="the build folder")
    parser.add_argument("launcher", nargs="+", help="mpirun and its flags")
    OPTIONS = parser.parse_args()
    OPTIONS.launcher = Launcher(OPTIONS.launcher)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
