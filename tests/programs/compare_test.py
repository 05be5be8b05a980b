# SPDX-License-Identifier: BSD-3-Clause
"""bench_compare as a user runs it, on folders of results made here: verdicts, exit status, how
launches are found and counted, what is refused."""

import math
import os
import random
import re

from case import Case, each, within
from commands import command
from mpi_run import number, read, read_tsv

COLUMNS = [("name", "key"), ("size", "key"), ("time_us", "less"), ("rate_per_s", "more"),
           ("free_pct", "more"), ("samples", "info"), ("status", "info")]
MERGED_COLUMNS = [("run", "key")] + COLUMNS
SIZES = (8, 64, 512, 4096)


def result(rows, columns=None):
    """The text of a result."""
    columns = columns or COLUMNS
    roles = " ".join(f"{name}={role}" for name, role in columns)
    head = ["# benchmark: bench", "# schema: 1", "# ranks: 2", f"# columns: {roles}"]
    table = [[name for name, _ in columns], *rows]
    return "\n".join(head + ["\t".join(map(str, row)) for row in table]) + "\n"


def data_lines(path):
    """The rows' lines of a result."""
    return [line for line in read(path).splitlines() if not line.startswith("#")][1:]


def rows_of(chance, time=None, rate=None, free=None, status="ok", sizes=SIZES):
    """The rows of a launch: `time` and the like give the factor or the points that a size has
    more."""
    def noisy(value):
        return f"{value * math.exp(chance.gauss(0, 0.01)):.6f}"

    return [["put", size, noisy((1 + size / 100) * (time or {}).get(size, 1)),
             noisy(1e6 / (1 + size / 100) * (rate or {}).get(size, 1)),
             f"{50 + (free or {}).get(size, 0) + chance.gauss(0, 0.3):.3f}",
             30, status] for size in sizes]


def by_size_and_quantity(text):
    """The rows of a comparison."""
    return {(row["size"], row["quantity"]): row for row in read_tsv(text)}


def counts_in(text):
    """The launches of both sides."""
    return re.search("; ([0-9]+) and ([0-9]+) launches\n", text).groups()


class CompareCase(Case):
    """Writes results into the test's folder and compares them."""

    def setUp(self):
        super().setUp()
        self.program = os.path.join(self.source, "run_scripts/bench_compare")
        self.chance = random.Random(7)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run_path(self, side, run):
        """The result of a launch of a side."""
        return self.path(side, "runs", str(run), "bench.tsv")

    def write(self, text, *names):
        path = self.path(*names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(text if isinstance(text, bytes) else text.encode())
        return path

    def launches(self, name, texts, program="bench"):
        """A folder with runs/N/PROGRAM.tsv, of these texts."""
        for run, text in enumerate(texts):
            self.write(text, name, "runs", str(run + 1), program + ".tsv")
        return self.path(name)

    def side(self, name, launches=10, **changes):
        """The same, with rows_of these changes."""
        return self.launches(name, (result(rows_of(self.chance, **changes))
                                    for _ in range(launches)))

    def start(self, *arguments):
        return command("compare", *arguments)

    def compare(self, *arguments, expect=0):
        """Returns the output of bench_compare, which ends with this exit status."""
        done = self.start(*arguments)
        assert done.returncode == expect, done.stdout + done.stderr
        # stderr has messages of too few launches and unclear rows, too: the exit status is silent.
        few, unsure = "too few launches", re.search("[1-9][0-9]* not clear", done.stdout)
        assert (few in done.stderr) == (few in done.stdout)
        assert ("use more launches" in done.stderr) == (expect == 0 and unsure is not None)
        assert done.stderr.count("\n") == (few in done.stderr) + ("use more launches" in done.stderr)
        return done.stdout

    def rows(self, *arguments, expect=0):
        return by_size_and_quantity(self.compare(*arguments, expect=expect))

    def counts(self, *arguments):
        return counts_in(self.compare(*arguments))

    def refused(self, *arguments):
        """Returns the only line of the refusal."""
        done = self.start(*arguments)
        assert (done.returncode, done.stdout) == (2, ""), (arguments, done.stderr)
        assert done.stderr.count("\n") == 1, done.stderr
        assert done.stderr.startswith("bench_compare: "), done.stderr
        return done.stderr


def verdicts(rows):
    return [row["verdict"] for row in rows]


def assert_only(rows, expected):
    """All rows but these are `same`."""
    assert {key: row["verdict"] for key, row in rows.items()
            if row["verdict"] != "same"} == expected


# ---- verdicts ------------------------------------------------------------------------------------

class Verdicts(CompareCase):
    def test_no_change(self):
        text = self.compare(self.side("base"), self.side("new"))
        rows = read_tsv(text)
        assert list(rows[0]) == """benchmark name size quantity base new change_pct change_lo_pct
            change_hi_pct p_value verdict better change_in p_uncorrected base_launches
            new_launches""".split()
        assert verdicts(rows) == 12 * ["same"]
        for row in rows:
            assert (number(row["change_lo_pct"]) < number(row["change_pct"]) <
                    number(row["change_hi_pct"]))
            names = ("benchmark", "name", "base_launches", "new_launches")
            assert [row[name] for name in names] == ["bench", "put", "10", "10"]
        assert ("# summary: 0 slower, 0 faster, 12 same, 0 not clear, 0 failed, 0 missing, 0 added; "
                "10 and 10 launches\n") in text
        for key in ("benchmark: bench_compare", "schema: 2", "alpha: 1", "threshold: 5",
                    "confidence: 95", "base: ", "new: "):
            assert "\n# " + key in "\n" + text

    def test_every_cell(self):
        """Launches that don't differ: twice the time, a third of the rate, 20 points less; and 1 % more, which is the
        same. p is 2 of the 184,756 ways to divide 20 launches, times four rows."""
        def side(name, *cells, time_us):
            rows = [["put", 8, *cells, 30, "ok"], ["put", 64, time_us, "NA", "NA", 30, "ok"]]
            return self.launches(name, (result(rows).replace("# ranks", f"# date: {run}\n# ranks") for run in range(10)))
        base, new = side("base", 10, 3e6, 50, time_us=7), side("new", 20, 1e6, 30, time_us=7.07)
        keys = ("size", "quantity", "base", "new", "change_pct", "change_lo_pct", "change_hi_pct", "p_value", "verdict",
                "better", "change_in", "p_uncorrected", "base_launches", "new_launches")
        assert [" ".join(row[key] for key in keys) for row in read_tsv(self.compare(base, new, expect=1))] == [
            "8 time_us 10.0000 20.0000 100.00 100.00 100.00 4.33e-05 slower less percent 1.08e-05 10 10",
            "8 rate_per_s 3000000 1000000 -66.67 -66.67 -66.67 4.33e-05 slower more percent 1.08e-05 10 10",
            "8 free_pct 50.0000 30.0000 -20.00 -20.00 -20.00 4.33e-05 slower more points 1.08e-05 10 10",
            "64 time_us 7.00000 7.07000 1.00 1.00 1.00 4.33e-05 same less percent 1.08e-05 10 10"]
        said = self.compare(base, new, "--format=table", expect=1)
        assert "\n# bench: name put\n" in said
        assert ("\n# p: probability of such a difference without a change, corrected for all rows\n"
                "# verdict: changed: p of at most 0.01, and a change of at least 5 %\n") in said
        table = [line for line in said.splitlines() if line[0] != "#"]
        assert [" ".join(line.split()) for line in table] == [
            "size quantity base new change lo hi p verdict",
            "8 time_us 10.0 20.0 100.0 % 100.0 100.0 4.3e-05 slower",
            "8 rate_per_s 3000000 1000000 -66.7 % -66.7 -66.7 4.3e-05 slower",
            "8 free_pct 50.0 30.0 -20.0 pts -20.0 -20.0 4.3e-05 slower",
            "64 time_us 7.00 7.07 1.0 % 1.0 1.0 4.3e-05 same"]

    def test_directions(self):
        base = self.side("base")
        for changes, expected, status in (
                ({"time": {8: 0.8}}, {("8", "time_us"): "faster"}, 0),
                ({"rate": {8: 0.8}}, {("8", "rate_per_s"): "slower"}, 1),
                ({"rate": {8: 1.3}}, {("8", "rate_per_s"): "faster"}, 0),
                # Points, not percent of 50 %.
                ({"free": {8: 7}}, {("8", "free_pct"): "faster"}, 0),
                ({"free": {8: -7}}, {("8", "free_pct"): "slower"}, 1),
                ({"free": {8: 4}}, {}, 0),
                # Significant, but less than what matters.
                ({"time": {8: 1.03}}, {}, 0)):
            rows = self.rows(base, self.side("new", **changes), expect=status)
            assert_only(rows, expected)
        assert rows["8", "free_pct"]["change_in"] == "points"
        assert rows["8", "time_us"]["change_in"] == "percent"

    def test_limits(self):
        base, new = self.side("base"), self.side("new", time={8: 1.1})
        assert_only(self.rows(base, new, "--threshold=8%", expect=1), {("8", "time_us"): "slower"})
        rows = self.rows(base, new, "--threshold", "12")
        assert rows["8", "time_us"]["verdict"] in ("not clear", "same")
        # 12 rows, 10 and 10 launches: p can't be below 1.3e-4.
        assert ("# note: 12 of 12 rows have too few launches to show a change: use at least 11 per side\n"
                ) in self.compare(base, new, "--alpha=0.01", expect=3)
        wide = self.rows(base, new, "--confidence=99.9", expect=1)["8", "time_us"]
        narrow = self.rows(base, new, "--confidence=60", expect=1)["8", "time_us"]
        assert number(wide["change_hi_pct"]) > number(narrow["change_hi_pct"])

    def test_cannot_tell(self):
        """Launches that differ by 20 % among themselves."""
        columns = [("kind", "key"), ("time_us", "less")]
        sides = [self.launches(side, (result([["x", math.exp(self.chance.gauss(0, 0.2))]], columns)
                                           for _ in range(10))) for side in ("base", "new")]

        def row(*arguments):
            return read_tsv(self.compare(*arguments))[0]
        first = row(*sides)
        assert first["verdict"] == "not clear"
        low, high = number(first["change_lo_pct"]), number(first["change_hi_pct"])
        widest = max(-low, high)
        assert abs(number(first["change_pct"])) < widest - 2
        # The same as soon as the whole interval doesn't matter.
        assert row(*sides, f"--threshold={widest + 0.02}")["verdict"] == "same"
        assert row(*sides, f"--threshold={widest - 0.02}")["verdict"] == "not clear"
        self.compare(*sides, "--fail-on=missing,not-clear", expect=1)
        assert self.start(*sides, "--output=" + self.path("x.tsv")).stderr == (
            "bench_compare: not clear: 1 of 1 row: use more launches, or --fail-on=not-clear to exit with 1\n")
        # To both sides.
        assert row(*sides[::-1], f"--threshold={widest - 2}")["verdict"] == "not clear"

    def test_few_launches(self):
        sides = self.side("base", 3), self.side("new", 3, time={8: 2})
        text = self.compare(*sides, expect=3)
        assert "12 of 12 rows have too few launches" in text
        # The least n with 12 * 2 / C(2n, n) <= 1 %.
        enough = next(n for n in range(1, 50) if 24 / math.comb(2 * n, n) <= 0.01)
        assert f"use at least {enough} per side" in text
        rows = read_tsv(text)
        assert set(verdicts(rows)) == {"not clear"}
        assert {row["change_lo_pct"] for row in rows} == {"NA"}
        row = next(row for row in rows if row["size"] == "8")
        assert number(row["change_pct"]) == within(100, 5)
        # And they do.
        sides = self.side("base2", enough), self.side("new2", enough, time={8: 2})
        text = self.compare(*sides, expect=1)
        assert "# note:" not in text
        assert f"; {enough} and {enough} launches\n" in text
        # Where some rows have enough, the exit status goes by these; if all are the same, so they are.
        for side, count in zip(sides, (3, 2)):
            self.launches(side, (result(rows_of(self.chance)).replace(": bench\n", ": other\n")
                                 for _ in range(count)), "other")
        text = self.compare(*sides[::-1], "--alpha=2")
        assert "12 of 24 rows have too few launches" in text
        assert f"; 2 to {enough} and 3 to {enough} launches\n" in text
        assert set(verdicts(read_tsv(self.compare(self.side("few", 5), self.side("fewer", 5))))) == {"same"}

    def test_fail_on(self):
        """Verdicts besides slower and failed with which the exit status is 1."""
        sides = self.side("base", sizes=(8, 64)), self.side("new", sizes=(64, 512))
        for names, status in (("missing", 1), ("added", 1), ("same", 1), ("faster", 0), ("not-clear", 0),
                              ("faster,missing", 1)):
            self.compare(*sides, f"--fail-on={names}", expect=status)
        assert "'nonsense': use some of slower, faster, same, not-clear" in self.refused(*sides, "--fail-on=nonsense")

    def test_zero_and_negative(self):
        columns = [("kind", "key"), ("added_ns", "less")]

        def side(name, *values):
            return self.launches(name, (
                result([[k, f"{value + i * 0.01:.3f}"] for k, value in enumerate(values)], columns)
                for i in range(10)))
        rows = read_tsv(self.compare(side("base", -5, 0, -0.05, 1, -1), side("new", -3, 9, -0.05, -2, 4), expect=1))
        assert verdicts(rows) == ["not clear",   # costs nothing before and after
                                  "slower", "not clear", "faster", "slower"]
        assert rows[0]["change_pct"] == "NA"
        assert number(rows[3]["change_pct"]) == within(-287, 2)

    def test_all_the_same(self):
        """Values without any spread."""
        sides = [self.launches(side, (
            result([["put", 8, "0.000", "NA", "100.00", 3, "ok"]]) + f"# note: {i}\n"
            for i in range(5))) for side in ("base", "new")]
        assert {key: row["verdict"] for key, row in self.rows(*sides).items()} == {
            ("8", "time_us"): "same", ("8", "free_pct"): "same"}

    def test_failed(self):
        base, new = self.side("base"), self.side("new", 9)
        self.write(result(rows_of(self.chance, status="FAIL")), "new", "runs", "x", "bench.tsv")
        text = self.compare(base, new, expect=1)
        assert set(verdicts(read_tsv(text))) == {"failed"}
        assert "12 failed" in text
        # Failures on the base only don't count there.
        rows = self.rows(new, base)
        assert_only(rows, {})
        assert rows["8", "time_us"]["base_launches"] == "9"

    def test_rows_that_each_launch_finds(self):
        """Neither missing nor added, unless all launches of the side have them that chose rows alike."""
        def side(name, sizes):
            return self.launches(name, (result(rows_of(self.chance, sizes=(4096, *(1000 * run + i for i in sizes)))
                                               ) for run in range(5)))
        base, new = side("base", (1, 2)), side("new", (2, 3))
        text = self.compare(base, new, expect=3)
        assert "# note: not compared: 30 rows that only some launches of one side have (bench)\n" in text
        assert {row["size"] for row in read_tsv(text)} == {"4096"} | {str(1000 * run + 2) for run in range(5)}
        for run in range(5):
            self.write(result(rows_of(self.chance, sizes=(8,))).replace("# ranks", "# sizes: 8\n# ranks"),
                       "base", "runs", str(run), "sizes.tsv")
        text = self.compare(base, new, "--fail-on=missing", expect=1)
        assert [row["size"] for row in read_tsv(text) if row["verdict"] == "missing"] == 3 * ["8"], text

    def test_ratio(self):
        """Changes of times are ratios, however much launches differ."""
        columns = [("kind", "key"), ("time_us", "less")]
        sides = [self.launches(side, (result([["x", factor * 3 ** i]], columns) for i in range(10)))
                 for side, factor in (("base", 1), ("new", 1.5))]
        row, = read_tsv(self.compare(*sides))
        assert number(row["change_pct"]) == within(50, 0.01)

    def test_several_benchmarks(self):
        """Keys of all benchmarks are columns; one that a benchmark lacks is NA."""
        columns = [("sync", "key"), ("sync_us", "less")]
        sides = [self.launches(self.side(name), (
            result([["barrier", self.chance.random() + 1]], columns).replace(": bench\n", ": other\n")
            for _ in range(10)), "other") for name in ("base", "new")]
        rows = read_tsv(self.compare(*sides))
        assert list(rows[0])[:5] == ["benchmark", "name", "size", "sync", "quantity"]
        assert [(row["benchmark"], row["name"], row["sync"]) for row in rows[::12]] == [
            ("bench", "put", "NA"), ("other", "NA", "barrier")]


# ---- launches: how they are found (that each counts once: results_test.py) -----------------------

class Launches(CompareCase):
    def write_merged(self, folder):
        """RESULTS/bench.tsv, of the launches in RESULTS/runs."""
        rows = [[run] + line.split("\t") for run in sorted(os.listdir(self.path(folder, "runs")))
                for line in data_lines(self.run_path(folder, run))]
        return self.write(result(rows, MERGED_COLUMNS), folder, "bench.tsv")

    def test_layouts(self):
        base, new = self.side("base", 6), self.side("new", 5)
        assert self.counts(base, new) == ("6", "5")
        expected = self.rows(base, new)
        merged = [self.write_merged("base"), self.write_merged("new")]
        base_runs = [self.run_path("base", run) for run in range(1, 7)]
        for arguments in ([base, new], merged, [self.path("base", "runs"), new],
                          ["--base", base, "--new", new],
                          ["--new", new, "--base=" + base],
                          ["--ne", new, "--b=" + base],
                          ["--alpha", "1", base, "--threshold", "5", "--", new],
                          ["--base", *base_runs, "--alpha=1", "--new", merged[1]]):
            text = self.compare(*arguments)
            assert counts_in(text) == ("6", "5"), arguments
            assert by_size_and_quantity(text) == expected, arguments
            assert "# warning:" not in text, arguments
        # A plain folder, without runs.
        for run, path in enumerate(base_runs):
            self.write(read(path), "plain", f"bench{run}.tsv")
        assert self.rows(self.path("plain"), new) == expected

    def test_other_files(self):
        """A file of a folder that is no result is left out with a warning."""
        base, new = self.side("base"), self.side("new")
        for name, text in (("samples.tsv", "row\tquantity\n1\tx\n"), ("report.md", "no table"),
                           (".hidden.tsv", "\0\0")):
            self.write(text, "base", "runs", "1", name)
        text = self.compare(base, new)
        assert "samples.tsv has no '# columns:': left out" in text
        assert text.count("# warning:") == 1
        # A comparison is no launch.
        self.compare(base, new, "--output=" + self.path("base", "runs", "1", "compare.tsv"))
        assert self.compare(base, new).count("# warning:") == 1

    def test_files_as_others_write_them(self):
        """Line ends of Windows, a mark for UTF-8, columns in another order, blank lines, remarks
        anywhere, a last line without end."""
        base, new = self.side("base"), self.side("new")
        expected = self.rows(base, new)
        for run in range(1, 11):
            lines = [line if line.startswith("#") else "\t".join(reversed(line.split("\t")))
                     for line in read(self.run_path("new", run)).splitlines()]
            text = "\r\n".join(lines[:4] + ["", "# note: x"] + lines[4:6] +
                               ["# warning: columns: y"] + lines[6:])
            self.write("\ufeff" + text, self.run_path("new", run))
        assert self.rows(base, new) == expected


# ---- metadata: what differs between results ------------------------------------------------------

ALIKE = """# nodes: 1
# processor: A
# mpi_library: MPICH 4
# mpi_variable: UCX_TLS=self
# timer: monotonic
# max-time: 1
# estimator: median
# check: no
# inner: auto
# sizes-of-the-future: 1
# local: 10
# date: today
"""


def changed(key, value):
    text = re.sub(f"# {key}: .*", f"# {key}: {value}", ALIKE)
    assert text != ALIKE
    return text


class MetadataWhatDiffersBetweenResults(CompareCase):
    def sides(self, base, new):
        """Both sides' folders: launches with this metadata alternately."""
        return [self.launches(name, (
            result(rows_of(self.chance)).replace("# ranks", lines + "# ranks")
            for lines in metadata)) for name, metadata in (("base", base), ("new", new))]

    @each("key", ["nodes", "estimator", "check", "inner", "sizes-of-the-future"])
    def test_what_changes_the_measurement(self, key):
        """Refused, in one line that names both files; with --force a warning."""
        paths = self.sides([ALIKE] * 6, [changed(key, "2")] * 6)
        for said in (self.refused(*paths), self.compare(*paths, "--force")):
            one, other = (f"[^ ]*{side}/runs/1/bench.tsv" for side in ("base", "new"))
            value = re.search(f"# {key}: (.*)", ALIKE)
            words = (f"ran on {value[1]} {key}, {other} on 2" if key == "nodes" else
                     f"was measured with --{key}={value[1]}, {other} with --{key}=2")
            assert re.search(f": {one} {words}(:|$)", said, re.M), said
        assert "--force" in self.refused(*paths)
        assert self.compare(*paths, "--force").count("# warning:") == 1

    def differences(self, base, new, *options):
        """Returns what a comparison of launches with these metadata begins with."""
        text = self.compare(*self.sides([base] * 6, [new] * 6), *options)
        head = text[:text.index("\nbench\t")]
        assert text.count("# differs:") == head.count("# differs:") and "# warning:" not in text
        return re.findall("# differs: (.*)", head)

    @each("key, line", [
        ("processor", "binding: processor is A"), ("mpi_library", "library: MPICH 4"),
        ("timer", "clock: timer is monotonic"), ("max-time", "sampling: max-time is 1")])
    def test_what_may_be_compared(self, key, line):
        """A difference that the comparison may be about."""
        assert self.differences(ALIKE, changed(key, "other")) == [f"{line} in base, other in new"]

    def test_order(self):
        """The likeliest reason first. A fact of the check-up that a side lacks is no difference."""
        lines = [("kernel", "6.1", "6.2"), ("compiler", "GNU 12", "GNU 13"), ("mpi_variable", "B=1", "B=2"),
                 ("mpi_variable", "MPIR_CVAR_BCAST_INTRA_ALGORITHM=nb", "FI_MR=1"),
                 ("mpi_variable", "UCX_RNDV_THRESH=8", "UCX_RNDV_THRESH=1K"),
                 ("fact.memlock_bytes", "65536", "unlimited"), ("fact.open_files", "1024", "64")]
        base, new = (ALIKE.replace("# timer", "".join(f"# {name}: {values[side]}\n" for name, *values in lines) +
                                   "# fact.cpu_quota: 2\n" * side + "# timer") for side in (0, 1))
        assert self.differences(base, new.replace("MPICH 4", "MPICH 5").replace("TLS=self", "TLS=tcp")) == [
            "library: MPICH 4 in base, MPICH 5 in new", "transport: UCX_TLS is self in base, tcp in new",
            "transport: memlock_bytes is 65536 in base, unlimited in new", "switches: UCX_RNDV_THRESH is 8 in base, 1K in new",
            "algorithm: MPIR_CVAR_BCAST_INTRA_ALGORITHM=nb only in base", "kernel: 6.1 in base, 6.2 in new",
            "kernel: open_files is 1024 in base, 64 in new", "variables: B is 1 in base, 2 in new",
            "variables: FI_MR=1 only in new", "build: compiler is GNU 12 in base, GNU 13 in new"]

    def test_many(self):
        """A long list is cut, except with -v."""
        new = ALIKE.replace("# timer", "".join(f"# mpi_variable: A{number}=1\n" for number in range(9)) + "# timer")
        lines = [f"variables: A{number}=1 only in new" for number in range(9)]
        assert self.differences(ALIKE, new) == [*lines[:3], "variables: 6 more: -v lists all"]
        assert self.differences(ALIKE, new, "-v") == lines

    def test_several_benchmarks(self):
        """An equal difference is one warning."""
        paths = self.sides([ALIKE] * 6, [changed("processor", "B")] * 6)
        for name in ("second", "third"):
            for path in paths:
                self.launches(path, (read(os.path.join(path, "runs/1/bench.tsv")).replace(": bench", ": " + name)
                                     for _ in range(1)), name)
        for name, of in (("", ""), ("fourth", " (bench, second and third)")):
            if name:
                self.launches(paths[0], [result(rows_of(self.chance)).replace(": bench", ": fourth")], "fourth")
            assert re.findall("# differs: (.*)", self.compare(*paths, "--alpha=50")) == [
                f"binding: processor is A in base, B in new{of}"]

    def test_no_variables(self):
        """A side with full metadata and no variable has none set."""
        new = ALIKE.replace("# timer", "# thread_level: A\n# timer")
        base = new.replace("# mpi_variable: UCX_TLS=self\n", "")
        assert self.differences(base, new) == ["transport: UCX_TLS=self only in new"]
        assert self.differences(new, base) == ["transport: UCX_TLS=self only in base"]
        assert not self.differences(base.replace("# thread_level: A\n", ""), new)

    @each("key", ["local", "date"])
    def test_what_may_differ(self, key):
        assert not self.differences(ALIKE, changed(key, "other"))

    def test_differences_within_a_side(self):
        assert "estimator" in self.refused(*self.sides([ALIKE] * 5 + [changed("estimator", "mean")],
                                                            [ALIKE] * 6))

    def test_nothing_said(self):
        """A result without a key, as older results, doesn't differ in it."""
        assert "# warning:" not in self.compare(*self.sides([ALIKE, ""] * 3, ["", ALIKE] * 3))


# ---- usage ---------------------------------------------------------------------------------------

class Usage(CompareCase):
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
                ([base, os.path.dirname(self.program)], "has no results")):
            assert named in self.refused(*arguments), arguments

    def test_output(self):
        base, new = self.side("base"), self.side("new", time={8: 2})
        text = self.compare(base, new, expect=1)
        path = self.path("comparison")
        assert self.compare(base, new, "--output=" + path, expect=1) == ""
        assert read_tsv(read(path)) == read_tsv(text)
        table = self.compare(base, new, "--format=table", expect=1)
        assert "\t" not in table
        assert "# summary: 1 slower" in table
        # The main columns, and of the keys those that vary.
        heading, *rows = [line.split("  ") for line in table.splitlines() if not line.startswith("#")]
        assert " ".join("  ".join(heading).split()) == "size quantity base new change lo hi p verdict"
        assert "# verdict: changed: p of at most 0.01, and a change of at least 5 %\n" in table
        assert [f"{number(row['p_value']):.2g}" for row in read_tsv(text)] == [line[-2].strip() for line in rows]
        assert ([(row[0], row[-1].strip()) for row in rows] ==
                [(row["size"], row["verdict"]) for row in read_tsv(text)])
        assert max(len("  ".join(row)) for row in rows) <= 100
        # A program that the new side lacks is one warning, and no table.
        self.launches(base, [result([["x", 1]], [("kind", "key"), ("time_us", "less")]).replace(": bench", ": gone")], "gone")
        table = self.compare(base, new, "--format=table", expect=1)
        assert "# warning: the new side has no results of gone\n" in table and "# gone: " not in table
        assert "1 missing" in table
        done = self.start(base, base, "--output=/dev/full")
        assert done.returncode == 1
        assert "output was lost" in done.stderr

    def test_no_header(self):
        """Rows only; each remark once on stderr."""
        base, new = self.side("base", 3), self.side("new", 3, time={8: 2})
        lines = self.compare(base, new, expect=3).splitlines()
        done = self.start(base, new, "--no-header")
        assert done.stdout.splitlines() == [line for line in lines if not line.startswith("#")][1:]
        remarks = ["bench_compare: " + line[2:] for line in lines
                   if line.startswith(("# note: ", "# summary: "))]
        assert done.stderr.splitlines() == remarks
        assert len(remarks) == 2

    def test_own_column_names(self):
        path = self.write(result([["x", 1]], [("quantity", "key"), ("time_us", "less")]), "a.tsv")
        assert "'quantity'" in self.refused(path, path)

    def test_many_launches(self):
        def many(rows):
            return self.write(result(rows, MERGED_COLUMNS), "many.tsv")
        rows = [[run] + row for run in range(200) for row in rows_of(self.chance, sizes=(8,))]
        path = many(rows)
        assert {row["verdict"] for row in self.rows(path, path).values()} == {"same"}
        many(rows + [[200] + rows[0][1:]])
        assert self.refused(path, path).endswith("more than 200 launches per side in a row of bench: compare fewer\n")
        many([run, "put", 8, 1, 1, 1, 1, "ok"] for run in range(10001))
        assert "more than 10000 launches" in self.refused(path, path)
