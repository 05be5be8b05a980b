# SPDX-License-Identifier: BSD-3-Clause
"""Results in the programs that people read them with: pandas, R, LibreOffice, and pictures by gnuplot."""

import json
import os

from case import Case, call, each
from commcost.words import parsed_number
from made_results import SCRIPTS
from mpi_run import run
from readers import PYTHON, cells_in_libreoffice, in_pandas_and_r, pivot_in_libreoffice

from foreign_test import LATENCY
from formats_test import FormatsCase, gauges_in
from summarize_test import Summary, text_of


def cell_of(text, decimal):
    """Returns the content that a cell must have: a number, or the text."""
    number = parsed_number(text.replace(decimal, "."))
    return text if number is None else number


class Readers(Case):
    def result(self, name, *options):
        """The file that overlap_NAME writes with these options."""
        path = self.folder / f"overlap_{name}.tsv"
        run(self.launcher, 2, [self.built(f"overlap/overlap_{name}"), "--data-driven", *options, f"--output={path}"])
        return path

    def test_result(self):
        path = self.result("iallreduce", "--min-num-elts=64", "--max-num-elts=64", "--samples=5", "--warmup=1")
        header, _ = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        for said in in_pandas_and_r(path, "len(t), t.elements[0], len(t.columns)", "nrow(t), t$elements[1], ncol(t)"):
            assert said.split() == ["1", "64", str(len(header.split("\t")))], said

    def summary(self, name="summary.tsv", *options):
        """The summary of two launches of two benchmarks, of which one has keys that look like dates."""
        made = Summary(self.source, self.folder)
        for launch in (1, 2):
            made.launch(launch, text_of([["2-3", 8, 1 + launch, 5e6], ["2-3", 64, 5, 4e6], ["0-1,4", 8, 3, 6e6],
                                         ["1/2", 8, 7, 2e6]], "ranks=key size=key time_us=less rate_per_s=more"))
            made.launch(launch, text_of([["put", 1.25]], "name=key time_us=less", "other"), "other")
        path = self.folder / name
        assert made.text(f"--output={path}", *options)[0] == ""
        return path

    def test_summary(self):
        """pandas and R read numbers as numbers, and keys as texts."""
        assert in_pandas_and_r(
            self.summary(),
            "len(t), t[t.quantity == 'time_us']['median'].sum(), t.lo.isna().sum(), t[t.ranks == '2-3']['size'].max()",
            "nrow(t), sum(t$median[t$quantity == 'time_us']), sum(is.na(t$lo)), max(t$size[t$ranks == '2-3'])") == [
                "9 18.75 9 64.0", "9 18.75 9 64"]

    def test_drawing(self):
        """A quantity over sizes, of the rows that have a key."""
        path = self.summary("wide.tsv", "--wide")
        pictures = [self.folder / "pandas.svg", self.folder / "r.pdf"]
        assert in_pandas_and_r(
            path, f"t[t.ranks == '2-3'].plot(x='size', y='time_us').figure.savefig('{pictures[0]}'), "
            "list(t[t.ranks == '2-3'].time_us)",
            f"{{ pdf('{pictures[1]}'); plot(time_us ~ size, t[t$ranks == '2-3', ]); dev.off() }}, "
            "t$time_us[t$ranks == '2-3']") == ["None [2.5, 5.0]", "1 2.5 5"]
        assert all(picture.stat().st_size > 1000 for picture in pictures)

    @each("decimal, language", [(".", 1033), (".", 2057), (",", 1043)])
    def test_pivot(self, decimal, language):
        """A spreadsheet in American or British English, or in Dutch, that looks for dates makes sums by keys."""
        path = self.summary("summary.tsv", f"--decimal={decimal}")
        assert pivot_in_libreoffice(path, language, "ranks", "quantity", "median")[2:] == [
            ["ranks", "rate_per_s", "time_us", "Total Result"], ["0-1,4", "6000000.0", "3.0", "6000003.0"],
            ["1/2", "2000000.0", "7.0", "2000007.0"], ["2-3", "9000000.0", "7.5", "9000007.5"],
            ["(empty)", "", "1.25", "1.25"], ["Total Result", "17000000.0", "18.75", "17000018.75"]]

    @each("decimal, language", [(".", 1033), (",", 1031)])
    def test_spreadsheet(self, decimal, language):
        """LibreOffice reads a summary, and a result without metadata, in English and in German: the same
        columns, numbers as numbers, all else as texts, if it isn't to look for dates."""
        paths = [self.summary("summary.tsv", f"--decimal={decimal}")]
        if decimal == ".":  # as programs write it
            paths.append(self.result("ibcast", "--max-num-elts=4", "--max-time=0.02", "--no-metadata"))
            paths.append(self.folder / "dates.tsv")
            paths[-1].write_text("ranks\tus\n2-3\t1.5\n1/2\t2.5\n0-1,4\t3\n10x10x10\t4\n1:4\t5\n")
        for path in paths:
            rows = [line.replace('"', "").split("\t") for line in path.read_text().splitlines()]
            assert len(rows) > 2
            assert cells_in_libreoffice(path, language) == [
                [cell_of(text, decimal) for text in row if text] for row in rows]

    def test_page_of_another_programs_outputs(self):
        """With our own rows they have none in common."""
        for side, latency in (("old", 1.0), ("new", 1.5)):
            (self.folder / side).mkdir()
            for launch in range(10):
                (self.folder / side / f"{launch}.txt").write_text(LATENCY.format(latency + launch / 1000))
        done = call(["sh", os.path.join(SCRIPTS, "report.sh"), "--output=page.html", "--base=old", "new"],
                    cwd=str(self.folder))
        assert done.returncode == 0, done.stderr
        page = (self.folder / "page.html").read_text()
        assert "<svg" in page
        assert "compare it with itself only" in page


class Formats(FormatsCase):
    """The formats for other programs, in Debian's readers of them."""

    def in_debian(self, text, *lines):
        """Returns the output of Python on the text of a format, as `text`."""
        path = self.folder / "text"
        path.write_text(text, encoding="utf-8")
        done = call([PYTHON, "-c", "\n".join(["import json, sys", "text = open(sys.argv[1], encoding='utf-8').read()",
                                              *lines]), str(path)])
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @each("name, text", [("summary", FormatsCase.summary), ("compare", FormatsCase.compared)])
    def test_json(self, name, text):
        """By the schema in its whole language, which `violations` knows in part, and in jq."""
        schema = os.path.join(self.source, "docs", name + ".schema.json")
        assert self.in_debian(text(self, "json"), "import jsonschema", f"schema = json.load(open('{schema}'))",
                              "jsonschema.Draft7Validator.check_schema(schema)",
                              "jsonschema.Draft7Validator(schema).validate(json.loads(text))", "print('valid')") == "valid"
        done = call(["jq", "-r", '[.rows[] | select(.keys.size == 64 and .quantity == "time_us")][0] | .new // .median',
                     str(self.folder / "text")])
        assert done.stdout == "5.0275\n", done.stderr

    def test_junit(self):
        assert self.in_debian(self.compared("junit"), "import junitparser",
                              "suite, = junitparser.JUnitXml.fromstring(text.encode())",
                              "print(suite.tests, suite.failures, suite.errors, suite.skipped, len(list(suite)))",
                              "print([test.result[0].message for test in suite if test.result][0])") == (
            "26 6 0 11 26\nslower: 5.03 us instead of 2.51, change +100.0 % (99.4 to 100.6)")

    def test_prometheus(self):
        text = self.summary("prometheus")
        found = json.loads(self.in_debian(
            text, "from prometheus_client.parser import text_string_to_metric_families as families",
            "print(json.dumps([(each.name, each.type, len(each.samples), sum(one.value for one in each.samples))",
            "                  for each in families(text)]))"))
        assert [kind for _, kind, _, _ in found] == len(found) * ["gauge"]
        assert sum(count for _, _, count, _ in found) == len(gauges_in(text))
        assert [total for name, _, _, total in found if name == "commcost_failed"] == [1]
