# SPDX-License-Identifier: BSD-3-Clause
"""Call sites in the monitor's report: each call of a program at the line that the program prints for it."""

import collections
import os
import re
import shutil
import subprocess
import sys

from case import Case, each, within
from commands import command
from mpi_run import call, number, read, read_tsv

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(TOP, "run_scripts"))
from commcost.result.call_sites import CallSites  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM, EXCHANGE = os.path.join(HERE, "call_sites.c"), os.path.join(HERE, "call_sites_exchange.c")
WITHOUT_ROW = ("Send_init", "Recv_init", "Request_free")  # they start no operation
RANKS = 2


class CallSitesCase(Case):
    def setUp(self):
        super().setUp()
        with open(os.path.join(self.build, "CMakeCache.txt"), encoding="utf-8") as stream:
            self.compiler, = re.findall("^MPI_C_COMPILER:[A-Z]+=(.*)$", stream.read(), re.MULTILINE)

    def compile(self, name, *words):
        """Compiles and returns the program."""
        program = str(self.folder / name)
        subprocess.run([self.compiler, "-g", "-w", *words, "-o", program, "-ldl"], check=True)
        return program

    def monitored(self, *program, words):
        """Runs the program. Returns its output, and its report's rows and CallSites."""
        path = self.folder / "report.tsv"
        done = call(self.launcher.line(RANKS, {
            "LD_PRELOAD": self.built("monitor/libmpirtmon.so"), "MPIRT_MONITOR": f"{words},output={path}",
            "CALLS_FILE": self.folder / "calls"}, program))
        assert (done.returncode, done.stderr) == (0, "")
        report = read(path)
        date, = re.findall("^# date: (.*)$", report, re.MULTILINE)
        rows = read_tsv(report)
        return done.stdout, rows, CallSites(rows, date)

    def calls(self, *program, words="site,calls"):
        """Runs the program call_sites. Returns the calls that it printed by function and line, and the same."""
        _, rows, sites = self.monitored(*program, words=words)
        output = "".join(map(read, self.folder.glob("calls.*")))
        printed = collections.Counter()
        for function, file, line in re.findall(r"^MPI_(\w+)\(.*\) (\S+):([0-9]+)$", output, re.MULTILINE):
            printed[function, f"{os.path.basename(file)}:{line}"] += 1
        return printed, rows, sites

    @staticmethod
    def assert_counted(rows, sites, printed):
        """The report has all calls and no others, and all operations are complete."""
        found, expected = of_program(calls_by_line(rows, sites)), as_counted(printed)
        missing = {key: calls for key, calls in expected.items() if found.get(key) != calls}
        added = {key: calls for key, calls in found.items() if expected.get(key) != calls}
        assert (missing, added) == ({}, {})
        operations = [row for row in rows if row["kind"] == "site" and row["completed"] != "NA"]
        assert [row["completed"] for row in operations] == [row["calls"] for row in operations]
        keys = [(row["operation"], row["site"], row["rank"]) for row in rows if row["kind"] == "site"]
        assert len(keys) == len(set(keys))


def calls_by_line(rows, sites):
    """Returns the calls in rows of kind site, by function and innermost line."""
    found = collections.Counter()
    for row in rows:
        if row["kind"] == "site" and row["rank"] == "NA":
            line = sites.line(row["site"])
            place = f"{os.path.basename(line.file)}:{line.line}" if line and line.line else row["site"]
            found[row["operation"].replace("MPI_", ""), place] += int(row["calls"])
    return found


def as_counted(printed):
    """Returns the calls as the monitor counts them: a start begins the operation of each request."""
    started = [key for key in printed if key[0] == "Startall"]
    counted = {key: calls for key, calls in printed.items() if key[0] not in (*WITHOUT_ROW, "Startall")}
    for (_, place), calls in ((key, printed[key]) for key in started):
        counted.update({("Send_init", place): calls, ("Recv_init", place): calls})
    return counted


def of_program(found):
    return {key: calls for key, calls in found.items() if key[0] != "other MPI"}


class Lines(CallSitesCase):
    @each("flags", ["-O0", "-O3", "-O0 -no-pie", "-O3 -no-pie", "-O3 -fomit-frame-pointer -funroll-loops"])
    def test_program(self, flags):
        program = self.compile("program", *flags.split(), "-DLINKED", PROGRAM, EXCHANGE)
        printed, rows, sites = self.calls(program)
        assert len(printed) == 21
        self.assert_counted(rows, sites, printed)
        assert sites.remarks == []

    def test_shared_object(self):
        library = self.compile("libexchange.so", "-O3", "-shared", "-fPIC", EXCHANGE)
        program = self.compile("program", "-O2", "-DLINKED", PROGRAM, library)
        printed, rows, sites = self.calls(program)
        self.assert_counted(rows, sites, printed)
        assert {row["site"] for row in rows if row["kind"] == "module"} == {library, program}

    def test_unloaded(self):
        """Two shared objects at the same address, one after the other, have sites of their own."""
        first = self.compile("first.so", "-O3", "-shared", "-fPIC", EXCHANGE)
        second = str(self.folder / "second.so")
        shutil.copy2(first, second)
        program = self.compile("program", "-O2", PROGRAM)
        printed, rows, sites = self.calls(program, first, second, first)
        self.assert_counted(rows, sites, printed)
        calls = collections.Counter()
        for row in rows:
            if row["kind"] == "site" and row["operation"] == "MPI_Isend":
                calls[row["site"].split("+")[0]] += int(row["calls"])
        assert calls == {"first.so": RANKS * 3 * 2, "second.so": RANKS * 3}

    def test_stripped(self):
        program = self.compile("program", "-O2", "-s", "-DLINKED", PROGRAM, EXCHANGE)
        printed, rows, sites = self.calls(program)
        assert sum(of_program(calls_by_line(rows, sites)).values()) == sum(as_counted(printed).values())
        assert {sites.text(row["site"]) for row in rows if row["kind"] == "site"} == {
            row["site"] for row in rows if row["kind"] == "site"}
        assert sites.remarks == [
            "program: it is stripped, or addr2line (binutils) is missing, so its lines are unknown"]

    def test_newer_program(self):
        program = self.compile("program", "-O2", "-DLINKED", PROGRAM, EXCHANGE)
        _, rows, _ = self.calls(program)
        sites = CallSites(rows, "2001-01-01T00:00:00+0000")
        assert sites.remarks == ["program: its file changed after the report, so its lines are unknown: run it again"]

    @each("callers flags", [(2, "-O0"), (3, "-O2 -fomit-frame-pointer")])
    def test_callers(self, callers, flags):
        program = self.compile("program", *flags.split(), "-DLINKED", PROGRAM, EXCHANGE)
        printed, rows, sites = self.calls(program, words=f"site={callers},calls")
        self.assert_counted(rows, sites, printed)
        # Two lines wait for both requests, in exchange(), which main() calls. The compiler may copy one.
        waits = {sites.text(row["site"]) for row in rows
                 if row["kind"] == "site" and row["operation"] == "MPI_Waitall"}
        functions = [re.findall(r"\((\w+)\)", wait) for wait in waits]
        assert functions == [["wait_for_both", "exchange", "main"][:callers]] * 2


class Readers(CallSitesCase):
    def test_commands(self):
        """Commands show lines: the time by line, and the rows of the report's page."""
        program = self.compile("program", "-O2", "-DLINKED", PROGRAM, EXCHANGE)
        self.calls(program)
        shown = command("call_sites", self.folder / "report.tsv", "--lines=2")
        assert (shown.returncode, shown.stderr) == (0, "")
        lines = re.findall(r"(MPI_\w+) +(call_sites\w*\.c:[0-9]+) ", shown.stdout)
        assert len(lines) == 2
        page = self.folder / "page.html"
        done = command("report", self.folder / "report.tsv", f"--output={page}")
        assert done.returncode == 0
        for function, place in lines:
            assert place in read(page), (function, place)
        assert re.findall(r"(?<!\) )program\+0x", read(page)) == []


class Times(CallSitesCase):
    def test_sums(self):
        """The times of all sites and of the monitor itself add up to the time inside MPI."""
        program = self.compile("program", "-O2", "-DLINKED", PROGRAM, EXCHANGE)
        _, rows, _ = self.calls(program)
        inside = {kind: sum(number(row["in_calls_s"]) for row in rows if row["kind"] == kind and row["rank"] == "NA")
                  for kind in ("site", "total", "calls")}
        own, = (number(row["in_calls_s"]) for row in rows if row["operation"] == "libmpirtmon")
        assert inside["site"] + own == within(inside["total"], 1e-6)
        by_kind = {kind: sum(number(row["in_calls_s"]) for row in rows if row["kind"] == "site" and
                             row["operation"] == kind) for kind in ("MPI_Waitall", "MPI_Irecv")}
        waits_s = sum(number(row["in_waits_s"]) for row in rows if row["kind"] == "site" and
                      row["operation"] in ("MPI_Irecv", "MPI_Isend", "MPI_Send_init", "MPI_Recv_init"))
        # Operations that were complete when they started have no wait, and a wait for them alone is no operation's.
        assert 0 < waits_s <= by_kind["MPI_Waitall"] + 1e-6

    def test_all_together(self):
        """Other flags don't change the counts, and the program's output is the same."""
        program = self.compile("program", "-O2", "-DLINKED", PROGRAM, EXCHANGE)
        printed, rows, sites = self.calls(program, words="all,site,per-rank")
        self.assert_counted(rows, sites, printed)
        waited = {row["operation"]: row["waited_s"] for row in rows if row["kind"] == "site" and row["rank"] == "NA"}
        assert waited["MPI_Allreduce"] != "NA" and waited["MPI_Isend"] == "NA"
