# SPDX-License-Identifier: BSD-3-Clause
"""summarize.sh as a user runs it, on results made here whose summary is known."""

import os

from case import Case, call, each
from commands import command
from mpi_run import read_tsv

COLUMNS = "name=key size=key time_us=less rate_per_s=more note=info status=info"


def text_of(rows, columns=COLUMNS, benchmark="bench", end=True):
    """The text of a result, whole or cut off."""
    lines = [f"# benchmark: {benchmark}", "# schema: 2", f"# columns: {columns}",
             "\t".join(word.split("=")[0] for word in columns.split())]
    lines += ["\t".join(map(str, row)) for row in rows]
    lines += [f"# end: {len(rows)} rows, exit 0"] if end else []
    return "\n".join(lines) + "\n"


class Summary:
    """Launches in a folder, and what summarize.sh makes of them."""

    def __init__(self, source, folder):
        self.program = os.path.join(source, "run_scripts/summarize.sh")
        self.folder = folder

    def launch(self, run, text, program="bench"):
        path = self.folder / "results" / "runs" / str(run) / (program + ".tsv")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, *words):
        return command("summarize", *words, cwd=str(self.folder))

    def text(self, *words):
        """Returns its stdout and stderr for all launches."""
        done = self.start("results", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    def row(self, quantity="time_us"):
        row, = (row for row in read_tsv(self.text()[0]) if row["quantity"] == quantity)
        return row


def launches(summary, times, status="ok"):
    for run, time in enumerate(times):
        summary.launch(run + 1, text_of([["put", 8, time, 5e6, "x", status]]))


class Summarize(Case):
    def setUp(self):
        super().setUp()
        self.summary = Summary(self.source, self.folder)

    def test_a_row(self):
        """Ten launches: the interval is from the second to the ninth."""
        launches(self.summary, [7, 3, 9, 1, 5, 2, 8, 4, 6, 100])
        text, said = self.summary.text()
        assert said == ""
        assert text == (
            "benchmark\tname\tsize\tquantity\tunit\tmedian\tlo\thi\tmin\tmax\tlaunches\tstatus\n"
            "bench\tput\t8\ttime_us\tus\t5.50000\t2.00000\t9.00000\t1.00000\t100.000\t10\tok\n"
            "bench\tput\t8\trate_per_s\t1/s\t5000000\t5000000\t5000000\t5000000\t5000000\t10\tok\n")
        assert self.summary.text("--wide")[0] == (
            "benchmark\tname\tsize\ttime_us\trate_per_s\tlaunches\tstatus\n"
            "bench\tput\t8\t5.50000\t5000000\t10\tok\n")

    @each("count, low, high", [
        (1, "NA", "NA"), (5, "NA", "NA"), (6, "1.00000", "6.00000"), (9, "2.00000", "8.00000")])
    def test_interval_over_launches(self, count, low, high):
        launches(self.summary, range(1, count + 1))
        row = self.summary.row()
        assert (row["lo"], row["hi"], row["launches"]) == (low, high, str(count))
        said = self.summary.text()[1]
        assert ("2 of 2 quantities have no interval (fewer than 6 launches)" in said) == (count < 6)
        assert len(said.splitlines()) == (count < 6)

    def test_worst_status_and_wrong_data(self):
        """A failed row has no value, and is counted as a launch."""
        launches(self.summary, [1, 2, 3, 4, 5, 6])
        self.summary.launch(7, text_of([["put", 8, 50, 1, "x", "budget"]]))
        assert self.summary.row()["status"] == "budget"
        assert self.summary.row()["max"] == "50.0000"
        self.summary.launch(7, text_of([["put", 8, 50, 1, "x", "FAIL"]]))
        assert (self.summary.row()["status"], self.summary.row()["max"]) == ("FAIL", "6.00000")
        assert self.summary.row()["launches"] == "7"

    def test_all_benchmarks(self):
        """Rows of all benchmarks, in their order, with the keys of all; cells are empty for keys that a benchmark
        doesn't have."""
        launches(self.summary, [1, "NA"])
        self.summary.launch(1, text_of([["MPI Send", 4, 99]], "pattern=key overhead=less avail(%)=more",
                                       "other"), "other")
        rows = read_tsv(self.summary.text()[0])
        assert [[row[column] for column in ("benchmark", "name", "size", "pattern", "quantity", "unit", "median",
                                            "launches", "status")] for row in rows] == [
            ["bench", "put", "8", "", "time_us", "us", "1.00000", "2", "ok"],
            ["bench", "put", "8", "", "rate_per_s", "1/s", "5000000", "2", "ok"],
            ["other", "", "", "MPI Send", "overhead", "us", "4.00000", "1", "ok"],
            ["other", "", "", "MPI Send", "avail(%)", "%", "99.0000", "1", "ok"]]
        assert self.summary.text("--wide")[0] == (
            "benchmark\tname\tsize\tpattern\ttime_us\trate_per_s\toverhead\tavail(%)\tlaunches\tstatus\n"
            "bench\tput\t8\t\t1.00000\t5000000\t\t\t2\tok\n"
            "other\t\t\tMPI Send\t\t\t4.00000\t99.0000\t1\tok\n")

    @each("folders, names", [(("results", "other"), ("results", "other")),
                             (("results", "deep/results"), ("results", "deep/results"))])
    def test_folders(self, folders, names):
        """Several have their rows apart, each with its launches and status; a file beside a folder, too."""
        launches(self.summary, [1, 2, 3])
        path = self.folder / folders[1] / "bench.tsv"
        path.parent.mkdir(parents=True)
        path.write_text(text_of([["put", 8, 5, 7e6, "x", "budget"]]), encoding="utf-8")
        for words in (folders, (*folders, folders[0])):
            rows = read_tsv(self.summary.start(*words).stdout)
            assert [[row[column] for column in ("results", "quantity", "median", "launches", "status")]
                    for row in rows] == [
                        [names[0], "time_us", "2.00000", "3", "ok"], [names[0], "rate_per_s", "5000000", "3", "ok"],
                        [names[1], "time_us", "5.00000", "1", "budget"],
                        [names[1], "rate_per_s", "7000000", "1", "budget"]]
        assert self.summary.start("--wide", *folders).stdout == (
            "benchmark\tresults\tname\tsize\ttime_us\trate_per_s\tlaunches\tstatus\n"
            f"bench\t{names[0]}\tput\t8\t2.00000\t5000000\t3\tok\n"
            f"bench\t{names[1]}\tput\t8\t5.00000\t7000000\t1\tbudget\n")
        assert [row["results"] for row in read_tsv(self.summary.start(folders[0], str(path)).stdout)] == 2 * [
            "results"] + 2 * ["bench"]

    def test_key_of_some_is_quantity_of_others(self):
        """As sizes are, which a launch finds in one model and is told in the other: one column, if wide."""
        self.summary.launch(1, text_of([["put", 8, 1.5]], "name=key size=key us=less"))
        self.summary.launch(1, text_of([[64, 2.5]], "size=less us=less", "other"), "other")
        assert self.summary.text("--wide")[0] == (
            "benchmark\tname\tsize\tus\tlaunches\tstatus\n"
            "bench\tput\t8\t1.50000\t1\tok\nother\t\t64.0000\t2.50000\t1\tok\n")

    @each("value, cell", [
        ("2-3", '"2-3"'), ("1/2", '"1/2"'), ("0-1,4", '"0-1,4"'), ("1,4", '"1,4"'), ("10x10x10", "10x10x10"),
        ("MPI barrier", "MPI barrier"), ("=1+1", "'=1+1"), ("8", "8"), ("1.5", "1.5"), ("1E3", "1E3"), ("NA", "NA")])
    def test_keys_that_are_no_numbers(self, value, cell):
        """In quotes where a spreadsheet might take them for a date or a number."""
        self.summary.launch(1, text_of([[value, 1.5]], "name=key us=less"))
        assert self.summary.text()[0].splitlines()[1].split("\t")[1] == cell

    def test_key_called_like_a_column(self):
        self.summary.launch(1, text_of([["x", 1.5]], "unit=key us=less"))
        done = self.summary.start("results")
        assert (done.returncode, done.stdout) == (2, "")
        assert "the key 'unit' has another column's name" in done.stderr

    def test_quantities_that_a_row_never_has(self):
        """They are left out where the row has another one, and kept where wrong data leave none."""
        launches(self.summary, ["NA", "NA"])
        assert [row["quantity"] for row in read_tsv(self.summary.text()[0])] == ["rate_per_s"]
        launches(self.summary, [1, 2], status="FAIL")
        assert [(row["quantity"], row["median"], row["status"])
                for row in read_tsv(self.summary.text()[0])] == [("time_us", "NA", "FAIL"),
                                                                 ("rate_per_s", "NA", "FAIL")]

    def test_decimal_comma(self):
        self.summary.launch(1, text_of([["0.5", 8, 1.5, 5e6, "x", "ok"]]))
        point, comma = self.summary.text()[0], self.summary.text("--decimal=,")[0]
        assert "." not in comma
        assert comma.replace(",", ".") == point

    def test_mixtures(self):
        """Launches with other ranks have rows of their own; those of another version share rows, with a warning."""
        for run, (ranks, version) in enumerate(((2, "1"), (2, "2"), (64, "1")), 1):
            text = text_of([["put", 8, 1.5, 5e6, "x", "ok"]])
            self.summary.launch(run, text.replace("# schema", f"# date: {run}\n# ranks: {ranks}\n# version: {version}\n"
                                                  "# schema"))
        text, remarks = self.summary.text()
        assert [(row["ranks"], row["quantity"], row["launches"]) for row in read_tsv(text)] == [
            ("2", "time_us", "2"), ("2", "rate_per_s", "2"), ("64", "time_us", "1"), ("64", "rate_per_s", "1")]
        warnings = [line for line in remarks.splitlines() if "warning: " in line]
        assert len(warnings) == 1, warnings
        assert "bench was measured with version 1 (" in warnings[0]
        assert " and 2 (" in warnings[0]

    def test_launches_that_are_not_whole(self):
        """They are named, also where there are no others."""
        launches(self.summary, [1, 2])
        self.summary.launch(3, text_of([["put", 8, 50, 1, "x", "ok"]], end=False))
        assert "results/runs/3/bench.tsv was cut off" in self.summary.text()[1]
        done = self.summary.start("results/runs/3/bench.tsv")
        assert done.returncode == 2 and "no values: results/runs/3/bench.tsv was cut off" in done.stderr, done.stderr

    def test_summaries_are_no_results(self):
        """Those beside results, in any form, also an earlier version's, are left out without a word."""
        launches(self.summary, [1, 2, 3, 4, 5, 6])
        folder = self.folder / "results" / "runs" / "1"
        (folder / "earlier.tsv").write_text("benchmark\tkey\tquantity\tunit\tmedian\tlaunches\tstatus\n")
        for name, options in (("summary", ()), ("wide", ("--wide",))):
            text, _ = self.summary.text(*options)
            (folder / f"{name}.tsv").write_text(text)
            assert self.summary.text(*options) == (text, "")

    def test_no_space(self):
        launches(self.summary, [1])
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = call([self.summary.program, "results"], cwd=str(self.summary.folder), stdout=full)
        assert done.returncode == 1
        assert "output was lost: No space left on device\n" in done.stderr, done.stderr

    @each("words, named", [
        ([], "which results"), (["/no/such"], "/no/such"), (["results", "--decimal=;"], "--decimal"),
        (["results", "--nonsense"], "--nonsense"), (["results", "--output=/no/such/x"], "/no/such/x"),
        (["empty"], "empty"), (["results", "bad\n.tsv"], "bad")])
    def test_usage(self, words, named):
        launches(self.summary, [1])
        (self.summary.folder / "empty").mkdir()
        (self.summary.folder / "bad\n.tsv").write_text("nothing")
        done = self.summary.start(*words)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert named in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
