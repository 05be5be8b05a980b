# SPDX-License-Identifier: BSD-3-Clause
"""The summary and comparisons in formats for other programs: each has the numbers of the table."""

import json
import os
import re
from xml.etree import ElementTree

from case import Case, each, within
from commands import command
from commcost.result.metric_formats import escaped
from mpi_run import number, read, read_tsv
from schemas import violations
from summarize_test import text_of

COLUMNS = "name=key size=key time_us=less added_ns=less rate_per_s=more out_mbs=more free_pct=more note=info status=info"
QUANTITIES = {"time_us": ("us", "time", "_seconds", 1e-6), "added_ns": ("ns", "added", "_seconds", 1e-9),
              "rate_per_s": ("1/s", "rate", "_per_second", 1), "out_mbs": ("MB/s", "out", "_bytes_per_second", 2 ** 20),
              "free_pct": ("%", "free", "_ratio", 0.01)}
ODD = 'a "b" \\n <&> Größe \uffff'  # a key with all that formats escape
VERDICTS = {64: "slower", 512: "failed", 4096: "missing", 32768: "added", 8: "same", "NA": "not clear"}


def launch(side, number_of_run):
    """The text of a launch. Times of size 64 are longer on the new side, those of size NA differ widely."""
    rows = [[ODD, size, time * (1 + number_of_run / 1000), 7.5, 5e6 + number_of_run, 1234.5, 12.25, "x", "ok"]
            for size, time in ((8, 1.5), (64, 2.5 if side == "base" else 5), (512, 3), (4096, 4), (32768, 5))]
    rows.append(["put", "NA", 1 + number_of_run % 5, "NA", "NA", "NA", "NA", "x", "ok"])
    rows = [row for row in rows if row[1] != (32768 if side == "base" else 4096)]
    if side == "new":
        rows[2][-1] = "FAIL"
    return f"# mpi_library: {side}'s\n" + text_of(rows, COLUMNS)


def schema_of(name):
    return json.loads(read(os.path.join(Case.source, "docs", name)))


def cells_of(row):
    """A row of JSON as a table has it: numbers as text of six digits don't matter."""
    return {name: "NA" if value is None else value for name, value in row.items()}


def equal(cell, value):
    return cell == value or number(cell) == value


def name_of(row, *before):
    """The name of a row of the summary or comparison."""
    keys = ", ".join(f"{key} {row[key]}" for key in ("name", "size") if row[key] not in ("", "NA"))
    return f"{' '.join(before)}: {keys}".strip()


def gauges_in(text):
    """Reads the exposition format strictly: {(gauge, labels): value}."""
    found, kinds = {}, []
    for part in re.split("(?m)^(?=# HELP )", text)[1:]:
        head = re.match(r"# HELP (\w+) [^\n]+\n# TYPE \1 gauge\n", part)
        kinds.append(head.group(1))
        for line in part[head.end():].splitlines():
            name, labels, value = re.fullmatch(
                r'(\w+)\{((?:\w+="(?:[^"\\\n]|\\["\\n])*",?)*)\} (-?[0-9.]+(?:e[-+][0-9]+)?)', line).groups()
            assert name == kinds[-1] and (name, labels) not in found
            found[name, labels] = float(value)
    assert len(kinds) == len(set(kinds)) and text.endswith("\n")
    return found


class FormatsCase(Case):
    def setUp(self):
        super().setUp()
        for side in ("base", "new"):
            for run in range(1, 11):
                path = self.folder / side / "runs" / str(run) / "bench.tsv"
                path.parent.mkdir(parents=True)
                path.write_text(launch(side, run), encoding="utf-8")

    def start(self, name, *words, status=0):
        done = command(name, *words, cwd=str(self.folder))
        assert done.returncode == status, done.stderr
        return done

    def summary(self, name, side="new"):
        return self.start("summarize", side, f"--format={name}").stdout

    def compared(self, name, *words, status=1):
        return self.start("compare", "base", "new", f"--format={name}", *words, status=status).stdout


class Formats(FormatsCase):
    def assert_valid(self, content, name):
        schema = schema_of(name)
        assert list(violations(content, schema, schema, "")) == []
        for wrong in ({**content, "more": 1}, {"rows": content["rows"]}, {**content, "rows": [{"benchmark": "x"}]}):
            assert list(violations(wrong, schema, schema, "")) != []

    def test_json(self):
        content = json.loads(self.summary("json"))
        self.assert_valid(content, "summary.schema.json")
        table = read_tsv(self.summary("tsv"))
        comparison = json.loads(self.compared("json"))
        self.assert_valid(comparison, "compare.schema.json")
        assert comparison["exit"] == 1 and comparison["base"] == ["base"]
        assert comparison["summary"]["failed"] == 5 and comparison["summary"]["slower"] == 1
        assert comparison["remarks"] == [] and comparison["differences"] == [
            {"group": "library", "name": "mpi_library", "base": "base's", "new": "new's", "benchmarks": ""}]
        for rows, lines in ((content["rows"], table), (comparison["rows"], read_tsv(self.compared("tsv")))):
            assert len(rows) == len(lines)
            for row, line in zip(rows, lines):
                flat = cells_of({**row, **row["keys"]})
                assert all(equal(cell, flat[name]) for name, cell in line.items()), (line, flat)
                assert row["better"] == ("less" if row["quantity"] in ("time_us", "added_ns") else "more")
                assert row["unit"] == QUANTITIES[row["quantity"]][0]

    @each("fail_on", [(), ("--fail-on=missing,not-clear",)])
    def test_junit(self, fail_on):
        """A test case for each row, which has its cells. There are failures if the exit status is 1."""
        top = ElementTree.fromstring(self.compared("junit", *fail_on))
        lines = read_tsv(self.compared("tsv", *fail_on))
        failing = {"slower", "failed"} | ({"missing", "not clear"} if fail_on else set())
        outcomes = []
        for test, line in zip(top.iter("testcase"), lines):
            assert test.get("classname") == "commcost.bench" and test.get("name") == name_of(line, line["quantity"])
            cells = dict(text.split(": ", 1) for text in test.find("system-out").text.splitlines())
            assert cells == {name: line[name] for name in list(line)[4:]}
            assert line["quantity"] != "time_us" or line["verdict"] == VERDICTS[
                line["size"] if line["size"] == "NA" else int(line["size"])]
            kinds = [child.tag for child in test if child.tag != "system-out"]
            assert kinds == (["failure"] if line["verdict"] in failing else
                             [] if line["verdict"] in ("same", "faster") else ["skipped"])
            outcomes += kinds
            if kinds == ["failure"]:
                assert test.find("failure").get("type") == line["verdict"]
        assert "slower: 5.03 us instead of 2.51, change +100.0 % (99.4 to 100.6)" in [
            failure.get("message") for failure in top.iter("failure")]
        for part in (top, top.find("testsuite")):
            assert [part.get(name) for name in ("tests", "failures", "errors")] == [
                str(len(lines)), str(outcomes.count("failure")), "0"]
        assert top.find("testsuite").get("skipped") == str(outcomes.count("skipped"))
        assert len({(test.get("classname"), test.get("name")) for test in top.iter("testcase")}) == len(lines)

    def expected(self):
        """The values of the new side, from the table: {(row, quantity): (value, low, high)}."""
        lines = read_tsv(self.summary("tsv"))
        return {(name_of(line, "bench"), line["quantity"]): tuple(
            number(line[name]) for name in ("median", "lo", "hi")) for line in lines if line["median"] != "NA"}

    def test_github(self):
        expected = {}
        for (row, quantity), value in self.expected().items():
            expected[f"bench {quantity}{row[len('bench'):]}"] = (QUANTITIES[quantity][0], *value)
        for read, extra in ((self.summary, "launches: 10\nstatus: ok"), (self.compared, "verdict: same")):
            entries = [json.loads(read(f"github-{better}")) for better in ("smaller", "bigger")]
            found = {}
            for entry in sum(entries, []):
                assert set(entry) == {"name", "unit", "value", "range", "extra"}
                found[entry["name"]] = (entry["unit"], entry["value"], *map(float, entry["range"].split(" to ")))
            assert found == expected
            assert extra in entries[0][0]["extra"]
            assert {entry["unit"] for entry in entries[0]} == {"us", "ns"}

    def test_bencher(self):
        for text in (self.summary("bencher"), self.compared("bencher")):
            rows = json.loads(text)
            assert {(row, quantity): (value["value"], value["lower_value"], value["upper_value"])
                    for row, values in rows.items() for quantity, value in values.items()} == self.expected()

    def test_prometheus(self):
        """Base units, labels for keys, and each row's launches and failure. A file is replaced by renaming."""
        path = self.folder / "node" / "commcost.prom"
        path.parent.mkdir()
        path.write_text("old\n", encoding="utf-8")
        old = path.stat().st_ino
        assert self.start("summarize", "new", "--format=prometheus", f"--output={path}").stdout == ""
        assert path.stat().st_ino != old and os.listdir(str(path.parent)) == ["commcost.prom"]
        found, expected = gauges_in(read(path)), {}
        for line in read_tsv(self.summary("tsv")):
            name = line["name"].replace("\\", "\\\\").replace('"', '\\"')
            labels = f'benchmark="bench",name="{name}"' + (f',size="{line["size"]}"' if line["size"] != "NA" else "")
            _, stem, end, size = QUANTITIES[line["quantity"]]
            for column, part in (("median", ""), ("lo", "_lo"), ("hi", "_hi")):
                if line[column] != "NA":
                    value = number(line[column]) * size
                    expected[f"commcost_{stem}{part}{end}", labels] = within(value, 1e-9 * value)
            expected["commcost_launches", labels] = 10
            expected["commcost_failed", labels] = int(line["status"] == "FAIL")
        assert found == expected
        assert escaped('a"b\\') == 'a\\"b\\\\'
        assert sum(value for (gauge, _), value in found.items() if gauge == "commcost_failed") == 1

    def test_few_launches(self):
        """There are no intervals."""
        assert "_lo_" not in self.start("summarize", "new/runs/1/bench.tsv", "--format=prometheus").stdout
        entry = json.loads(self.start("summarize", "new/runs/1/bench.tsv", "--format=github-smaller").stdout)[0]
        assert set(entry) == {"name", "unit", "value", "extra"}

    @each("words, named", [
        (["summarize", "new", "--format=bencher", "--wide"], "--format=bencher has no --wide"),
        (["summarize", "new", "--format=json", "--decimal=,"], "--format=json has no --wide"),
        (["compare", "base", "new", "--format=junit", "--no-header"], "--no-header: --format=junit has no header"),
        (["summarize", "one.tsv", "--format=github-bigger"], "use --format=github-smaller"),
        (["summarize", "one.tsv", "two.tsv", "--format=bencher"], "two values are called 'bench: name put: us': use")])
    def test_refused(self, words, named):
        (self.folder / "one.tsv").write_text(text_of([["put", 1.5]], "name=key us=less"), encoding="utf-8")
        (self.folder / "two.tsv").write_text(text_of([["put", "NA", 1.5]], "name=key size=key us=less"),
                                             encoding="utf-8")
        done = self.start(*words, status=2)
        assert named in done.stderr and done.stderr.count("\n") == 1, done.stderr
