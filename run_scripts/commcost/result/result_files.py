# SPDX-License-Identifier: BSD-3-Clause
"""Results in folders."""

import glob
import os
import re

from commcost.result import foreign_outputs
from commcost.result.result_reader import NAMES_SHOWN, PATH_SHOWN, ResultError
from commcost.words import listed


def find_results(path):
    """Returns the results of a path, and remarks about files left out. A folder's results are its *.tsv files with a
    column `run`, else RUN/PROGRAM.tsv for each RUN in its folder `runs`, else its own *.tsv files, else those in its
    subfolders. ResultError if there are none."""
    if not os.path.isdir(path):
        return [path], []
    own, remarks = result_files(path), outer_links(path)
    kinds = {file: _kind_of(file) for file in own}
    merged = [file for file in own if kinds[file] == "merged"]
    if merged:
        others = [file for file in own if kinds[file] == "launch"]
        remarks += [f"{file:.{PATH_SHOWN}} has no column 'run': left out" for file in others[-1:]]
        return merged, remarks + unknown_files(others)
    for files in (launch_files(path), own, files_below(path)):
        kinds.update({file: _kind_of(file) for file in files if file not in kinds})
        for file in files:
            reason = ("is of an unfinished suite with settings" if has_setting(file) else
                      "has no '# columns:'" if kinds[file] is None else "")
            remarks += [f"{file:.{PATH_SHOWN}} {reason}: left out"] if reason else []
        found = [file for file in files if kinds[file] == "launch" and not has_setting(file)]
        if found:
            return found, remarks + unknown_files(files)
    raise ResultError(f"'{path:.{PATH_SHOWN}}' has no results: use a folder with PROGRAM.tsv or runs/N/PROGRAM.tsv" +
                      "".join(f"; {text}" for text in outer_links(path)))


def unknown_files(files):
    """Returns a remark that names unknown files among outputs of other benchmarks, if there are any."""
    folders = dict.fromkeys(os.path.dirname(file) for file in files if not file.endswith(".tsv"))
    unknown = [file for folder in folders for file in _entries(folder)
               if os.path.isfile(file) and not file.endswith((".tsv", ".html")) and file not in files]
    return [f"{listed(unknown, NAMES_SHOWN):.{PATH_SHOWN * 2}}: unknown, left out"] if unknown else []


def has_setting(path):
    """True if a launch of a suite with settings wrote the file, which doesn't name its setting."""
    return re.search(r"@[0-9]+\.tsv$", path) is not None


def _entries(folder):
    """Returns the files and folders in a folder, except links that leave it."""
    return [path for path in _all_entries(folder) if not is_outer_link(path)]


def _all_entries(folder):
    return sorted(glob.glob(os.path.join(glob.escape(folder), "*")))


def is_outer_link(path):
    """True if the path is a link that leaves its folder."""
    return os.path.islink(path) and not os.path.realpath(path).startswith(
        os.path.join(os.path.realpath(os.path.dirname(path)), ""))


def outer_links(folder):
    """Returns a remark that names links that leave a results folder or its subfolders, if there are any."""
    places, runs = [folder], os.path.join(folder, "runs")
    for place in [folder] if is_outer_link(runs) else [folder, runs]:
        places += filter(os.path.isdir, _entries(place))
    links = [path for place in places for path in _all_entries(place) if is_outer_link(path)]
    return [f"{listed(links, NAMES_SHOWN):.{PATH_SHOWN * 2}}: a link out of the folder, left out"
            ] if links else []


def result_files(folder):
    """Returns the *.tsv files in a folder and the outputs of other benchmarks, sorted by name."""
    return [path for path in _entries(folder) if os.path.isfile(path) and (path.endswith(".tsv") or path.endswith(
        (".txt", ".out", ".log")) and foreign_outputs.is_foreign(_head_of(path)))]


def files_below(folder):
    """Returns the result files in the folders of a folder, except in a suite's record."""
    return [file for path in _entries(folder) if os.path.isdir(path) and os.path.basename(path) != "suite"
            for file in result_files(path)]


def launch_files(folder):
    runs = os.path.join(folder, "runs")
    return [] if is_outer_link(runs) else files_below(runs)


def labels_of(paths):
    """Returns labels of results: the last parts of their paths, or the full paths if any two are equal."""
    names = [re.sub(r"\.tsv$", "", os.path.basename(os.path.normpath(path))) for path in paths]
    return names if len(set(names)) == len(names) else paths


def is_summary(header):
    return header[0] == "benchmark" and header[-2:] == ["launches", "status"]


def _head_of(path):
    try:
        with open(path, "rb") as stream:
            return stream.read(foreign_outputs.HEAD)
    except OSError:
        return b""


def is_made(path):
    """True if a comparison or summary wrote the file."""
    return _kind_of(path) == "made"


def _kind_of(path):
    """Returns the kind of a file from its metadata: "merged", "launch", "made" (comparison or summary) or None."""
    head = _head_of(path)
    if foreign_outputs.is_foreign(head):
        return "launch"
    kind = None
    for line in head.decode("utf-8", "replace").lstrip("\ufeff").split("\n"):
        line = line.rstrip("\r")
        if line == "# benchmark: bench_compare" or is_summary(line.split("\t")):
            return "made"
        if line.strip() and not line.startswith("#"):
            break
        if line.startswith("# columns: "):
            kind = "merged" if "run=key" in line.split() else "launch"
    return kind
