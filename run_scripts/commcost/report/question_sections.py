# SPDX-License-Identifier: BSD-3-Clause
"""Sections of the page: a picture, a matrix of answers (question_matrices.py), and a closed part with the medians and
ranges over launches of all rows."""

import typing

from commcost.compare import best_setting
from commcost.page import Section
from commcost.report import plot
from commcost.report.question_matrices import (collective_matrix, gain_matrix, halo_matrix, latency_matrix,
                                               monitor_matrix, noise_matrix, overhead_matrix, rate_matrix, sync_matrix)
from commcost.report.peer_matrices import program_matrix
from commcost.report.row_tables import closed
from commcost.result import benchmarks


class Question(typing.NamedTuple):
    """A section of the page: its kinds (benchmarks.Benchmark), and the function that makes its matrix."""

    identity: str
    heading: str
    groups: tuple
    matrix: typing.Callable = lambda tables: []


QUESTIONS = (
    Question("nonblocking", "Overlap: gain of non-blocking calls", ("overlap_sweep", "overlap"), gain_matrix),
    Question("messages", "Latency and bandwidth", ("pingpong", "pingpong_align", "protocols"), latency_matrix),
    Question("host_overhead", "Host overhead and CPU availability", ("mpi_overhead",), overhead_matrix),
    Question("rates", "Message rate", ("msgrate", "msgrate_rma"), rate_matrix),
    Question("synchronisation", "Synchronisation", ("syncbench",), sync_matrix),
    Question("collectives", "Blocking collectives", ("collective", "collective_align", "guidelines"),
             collective_matrix),
    Question("halo_exchange", "Halo exchange", ("halo",), halo_matrix),
    Question("noise_section", "Noise", ("noise",), noise_matrix),
    Question("links", "Nodes and links", ("linkmap",)),
    Question("monitoring", "Monitoring overhead", ("monitor_overhead",), monitor_matrix),
    Question("program", "Time in MPI", ("mpirtmon",), program_matrix))


def sections_of(tables, drawn):
    """Returns the Sections for which the results have rows. `drawn` are Figures by group."""
    groups = plot.groups_of(tables)
    others = [Question(f"of_{group}", benchmarks.entry_of(group).heading, (group,)) for group in groups
              if benchmarks.entry_of(group).program]
    return [section_of(question, tables, groups, drawn) for question in [*QUESTIONS, *others]
            if any(group in groups for group in question.groups)]


def section_of(question, tables, groups, drawn):
    parts = [drawn[group] for group in question.groups if group in drawn][:1]
    parts += [] if best_setting.is_varied(tables) else question.matrix(tables)
    return Section(question.identity, question.heading, parts + [
        closed(tables, group, groups[group]) for group in question.groups if group in groups])
