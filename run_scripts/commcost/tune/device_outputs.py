# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of the device matrix: the page with the library's claims, and the table."""

import re

from commcost import command
from commcost.page import Items, Page, Section, Text, matrix_parts
from commcost.result.result_writer import Output
from commcost.suite.trial_launches import WORKS
from commcost.system import short_path, replace_file, command_output
from commcost.words import bytes_text, counted, listed

SIZES_SHOWN = 3   # side by side within 100 characters
NAMES_SHOWN = 5
ON_DEVICE = "device|managed"  # memory that only a library with GPU support can read
LEGEND = ("A time: the right data arrived. direct faster: faster than with a copy to pinned host memory; staged "
          "faster: faster with that copy; even: less than 2 % apart. No word: not clear, or no staged counterpart.")


def matrix_of(found, memory):
    """Returns the section of a kind of memory, SIZES_SHOWN sizes side by side."""
    there = [one for one in found if one.trial.memory == memory]
    sizes, parts = sorted({one.trial.size for one in there}), []
    for first in range(0, len(sizes), SIZES_SHOWN):
        marks = {}
        for one in there:
            if one.trial.size in sizes[first:first + SIZES_SHOWN]:
                marks.setdefault(one.trial.operation.name, {})[one.trial.size] = one.mark()
        last = first + SIZES_SHOWN >= len(sizes)
        parts += matrix_parts(marks, "operation", bytes_text, LEGEND)[:None if last else 1]
    return Section(memory.replace(":", "_"), f"Buffers: {memory}", parts)


def failures_of(found):
    """Yields a sentence for each outcome that isn't WORKS, with the first message."""
    for outcome in dict.fromkeys(one.outcome for one in found if one.outcome != WORKS):
        several = [one for one in found if one.outcome == outcome]
        names = list(dict.fromkeys(one.trial.operation.name for one in several))
        first = several[0]
        log = f" {first.trial.name}.log: {first.message}" if first.message else ""
        yield f"{outcome}, {counted(len(several), 'launch', 'launches')}: {listed(names, NAMES_SHOWN)}.{log}"


def page_of(matrix, found, lines):
    """Returns the Page; the terminal shows its text."""
    works = sum(one.outcome == WORKS for one in found)
    gpu = re.sub("; the MPI library .*", "", value_of(lines, "^# note: rank 0 uses "))
    used = "; ".join(filter(None, (f"{matrix.options.ranks} ranks", value_of(lines, "^# mpi_library: "), gpu)))
    failures, claims = list(failures_of(found)), claims_of(lines, found)
    warnings = matrix.trials.warnings()
    sections = [Section("used", "Setup", [Text(used)])]
    sections += [matrix_of(found, memory) for memory in dict.fromkeys(one.trial.memory for one in found)]
    sections += [Section("failures", "Failures", [Items(failures, "facts")])] if failures else []
    sections += [Section("claims", "Claims of the library", [Items(claims, "facts")])] if claims else []
    sections += [Section("caveats", "Caveats", [Items(warnings, "facts")])] if warnings else []
    return Page(f"Buffers on a GPU: {works} of {counted(len(found), 'launch', 'launches')} work", sections,
                f"Logs: {short_path(matrix.trials.folder.path)}/runs/1")


def value_of(lines, pattern):
    """Returns the text after the pattern in the first line that has it, or "" without one."""
    return next(filter(None, (line.partition(found.group())[2] for line in lines
                              for found in [re.search(pattern, line)] if found)), "")


def built_with(library):
    """Returns the GPU support that the library's own tool reports, if it is in PATH."""
    if "Open MPI" in library:
        text = command_output("ompi_info", "--parsable", "--all")
        found = sorted(set(re.findall(r"built_with_(cuda|rocm)_support:value:(\w+)", text)))
        return [f"ompi_info: built with {name.upper()}: {value}" for name, value in found]
    text = command_output("mpichversion") if "MPICH" in library else ""
    words = re.findall(r"--with-(?:cuda|hip|ze)\S*", text)
    return [f"mpichversion: configured {' '.join(words) or 'with neither CUDA nor HIP'}"] if text else []


def claims_of(lines, found):
    """Returns sentences about the library's claims and their truth."""
    library, claim = value_of(lines, "^# mpi_library: "), value_of(lines, "; the MPI library ")
    kinds = value_of(lines, "^# note: mpi_memory_alloc_kinds: ")
    sentences = [f"The MPI library {claim}."] if claim else []
    sentences += [f"mpi_memory_alloc_kinds of MPI_COMM_WORLD: {kinds}."] if kinds else []
    sentences += [f"{text}." for text in built_with(library)]
    tried = [one for one in found if re.search(ON_DEVICE, one.trial.memory)]
    bad, launches = [one for one in tried if one.outcome != WORKS], counted(len(tried), "launch", "launches")
    if bad and ("claims to" in claim or re.search("cuda|rocm|hip|level_zero", kinds)):
        sentences.append(f"The claim is false: {len(bad)} of {launches} with such buffers failed.")
    if tried and not bad and "doesn't support" in claim:
        sentences.append(f"The library works better than it claims: right data in {launches} with such buffers.")
    return sentences


COLUMNS = (("operation", "key"), ("memory", "key"), ("size_bytes", "key"), ("outcome", "info"), ("time_us", "less"),
           ("staged_us", "less"), ("direct_gain_pct", "info"), ("direct_verdict", "info"), ("seconds", "info"),
           ("message", "info"))


def write_table(path, found, lines, words):
    table = Output("device_matrix")
    table.begin(COLUMNS, [("mpi_library", value_of(lines, "^# mpi_library: ") or "NA")], words)
    for one in found:
        table.row({**one.row, "operation": one.trial.operation.name, "memory": one.trial.memory,
                   "size_bytes": one.trial.size, "outcome": one.outcome, "seconds": one.seconds,
                   "time_us": one.row.get(one.trial.operation.column, "NA"), "message": one.message or "NA"})
    for sentence in claims_of(lines, found):
        table.remark("note", sentence)
    replace_file(path, table.text(command.EXIT_DONE))
