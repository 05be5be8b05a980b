# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs in virtual time under the monitor, which is preloaded. Standard library only."""

import hashlib
import os
import typing

import virtual

LIBRARY = os.path.join(virtual.BUILD, "tests/virtual/libmpirtmon_virtual.so")
REPORT = os.path.join(virtual.BUILD, "tests/virtual", "report.{}".format(os.getpid()))


class Monitored(typing.NamedTuple):
    """The results of a run."""

    rows: list   # of the report, of all ranks together
    ranks: list  # those of single ranks
    head: dict   # the report's "# key: value"
    said: list   # the rows that the program printed

    def row(self, kind, operation, comm=None, rank=None):
        """The only row of a kind and operation, on a communicator and of a rank if these are given."""
        rows = self.rows if rank is None else [row for row in self.ranks if row["rank"] == rank]
        (found,) = [row for row in rows if (row["kind"], row["operation"]) == (kind, operation) and
                    comm in (None, row["comm"])]
        return found


class Report(typing.NamedTuple):
    head: dict   # "# key: value"
    lines: list  # the others, without performance variables of the real library, which are its own
    text: str
    printed: str  # by the program


def report_of(program, *arguments, words="all", ranks=2, report=REPORT, expect=0, before=(), **variables):
    """Runs a program; returns its report, whose file is removed unless `report` names it. The libraries of `before` come
    before the monitor."""
    variables = dict(variables, VIRTUAL_RANKS=ranks)
    done = virtual.run_raw(program, *arguments, LD_PRELOAD=":".join([*before, LIBRARY]), MODEL_MAY_KEEP=1,
                           MPIRT_MONITOR="{},output={}".format(words, report), **variables)
    if done.returncode != expect:
        raise AssertionError("{} {}, {}: exit status {}\n{}{}".format(
            program, arguments, variables, done.returncode, done.stdout, done.stderr[-4000:]))
    with open(report, encoding="ascii") as stream:
        text = stream.read()
    if report == REPORT:
        os.remove(report)
    lines = [line for line in text.splitlines() if not line.startswith(("#", "other\t"))]
    virtual.digests.append(hashlib.sha256(repr((program, arguments, words, sorted(variables.items()),
                                                lines, done.stdout)).encode()).hexdigest())
    head = dict(line[2:].split(": ", 1) for line in text.splitlines()
                if line.startswith("# ") and ": " in line)
    return Report(head, lines, text, done.stdout)


def run(program, *arguments, **how):
    """Runs a program; reads its report, as report_of."""
    report = report_of(program, *arguments, **how)
    rows = virtual.read_tsv(report.text)
    own = [row for row in rows if row["rank"] == row["rank"]]
    return Monitored([row for row in rows if row not in own], own, report.head, virtual.read_tsv(report.printed))
