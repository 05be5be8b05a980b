"""A section of the page for each question: a picture, a matrix of answers, operations by sizes, and, closed, all rows.

A mark of a matrix is P where something pays, E where it makes no difference, L where it loses, N where it is one of the
latter two, and ? where that is not clear, as always with fewer than six launches (intervals.py). Times stand behind the
letter. Rows have medians over launches, and their ranges.
"""

import typing

from commcost.compare import best_setting
from commcost.page import Section
from commcost.report import plot
from commcost.report.question_matrices import (of_collectives, of_gains, of_halo, of_messages, of_monitor, of_noise,
                                               of_processor, of_rates, of_synchronisation)
from commcost.report.row_tables import closed
from commcost.result import benchmarks


# ---- a matrix for each question: its parts of the page --------------------------------------------

class Question(typing.NamedTuple):
    """A section of the page: kinds of benchmarks.Benchmark that answer it, and what makes its matrix, parts of the
    page, of the results."""

    identity: str
    heading: str
    groups: tuple
    matrix: typing.Callable = lambda tables: []


QUESTIONS = (
    Question("nonblocking", "Does non-blocking pay?", ("overlap_sweep", "overlap"), of_gains),
    Question("messages", "How fast are messages?", ("pingpong",), of_messages),
    Question("processor", "What does a message take of the processor?", ("mpi_overhead",), of_processor),
    Question("rates", "How many messages go in a second?", ("msgrate", "msgrate_rma"), of_rates),
    Question("synchronisation", "What does synchronisation cost?", ("syncbench",), of_synchronisation),
    Question("collectives", "What do blocking collectives take?", ("collective",), of_collectives),
    Question("halo_swaps", "Which halo swap is quickest?", ("halo",), of_halo),
    Question("disturbances", "What disturbs?", ("noise",), of_noise),
    Question("links", "Which node or link is slow?", ("linkmap",)),
    Question("monitoring", "What does monitoring cost?", ("monitor_overhead",), of_monitor),
    Question("program", "Where did the program's time go?", ("mpirtmon",)))


def sections_of(tables, drawn):
    """Those that the results have rows on; `drawn`: Figures by group."""
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
