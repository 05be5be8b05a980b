"""Results in folders: which files are results, and what results are called."""

import glob
import os
import re

from commcost.result import foreign_outputs
from commcost.result.result_reader import NAMES_SHOWN, PATH_SHOWN, ResultError
from commcost.words import listed


def find_results(path):
    """The results that a path names, and remarks about files that were left out. A path is a result, or
    a folder. Of a folder the results are its *.tsv files that have a column `run` if there are any, else
    RUN/PROGRAM.tsv for each RUN in its folder `runs` if there are any, else its own *.tsv files, else
    those in its folders. ResultError if there are none."""
    if not os.path.isdir(path):
        return [path], []
    own, remarks = result_files(path), links_out(path)
    kinds = {file: _kind_of(file) for file in own}
    merged = [file for file in own if kinds[file] == "merged"]
    if merged:
        others = [file for file in own if kinds[file] == "launch"]
        remarks += [f"{file:.{PATH_SHOWN}} has no column 'run', as other files beside it have: "
                    "left out" for file in others[-1:]]
        return merged, remarks + unknown_beside(others)
    for files in (launch_files(path), own, files_below(path)):
        kinds.update({file: _kind_of(file) for file in files if file not in kinds})
        settings = [file for file in files if is_of_a_setting(file)]
        remarks += [f"{file:.{PATH_SHOWN}} is of one of several settings that the suite has not put together yet: "
                    "left out" if file in settings else f"{file:.{PATH_SHOWN}} has no '# columns:': left out"
                    for file in files if file in settings or kinds[file] is None]
        found = [file for file in files if kinds[file] == "launch" and file not in settings]
        if found:
            return found, remarks + unknown_beside(files)
    raise ResultError(f"'{path:.{PATH_SHOWN}}' has no results: no file PROGRAM.tsv with '# columns:' in it, in runs/N "
                      "or in its folders, and no .txt, .out or .log of a benchmark that is known" +
                      "".join(f"; {text}" for text in links_out(path)))


def unknown_beside(files):
    """One remark that names what stands beside outputs of other benchmarks and is none that is known;
    none where there are no such files."""
    folders = dict.fromkeys(os.path.dirname(file) for file in files if not file.endswith(".tsv"))
    unknown = [file for folder in folders for file in _entries(folder)
               if os.path.isfile(file) and not file.endswith((".tsv", ".html")) and file not in files]
    return [f"{listed(unknown, NAMES_SHOWN):.{PATH_SHOWN * 2}}: not known, left out"] if unknown else []


def is_of_a_setting(path):
    """Whether a file is what a launch of a suite with settings wrote (plan.make_plan), which
    doesn't say itself which of them it is of."""
    return re.search(r"@[0-9]+\.tsv$", path) is not None


def _entries(folder):
    """The files and folders in a folder, except links out of it."""
    return [path for path in _all_entries(folder) if not leads_out(path)]


def _all_entries(folder):
    return sorted(glob.glob(os.path.join(glob.escape(folder), "*")))


def leads_out(path):
    """True of a link out of the folder that it is in."""
    return os.path.islink(path) and not os.path.realpath(path).startswith(
        os.path.join(os.path.realpath(os.path.dirname(path)), ""))


def links_out(folder):
    """One remark that names the links out of a results folder and of its folders; none without such."""
    places, runs = [folder], os.path.join(folder, "runs")
    for place in [folder] if leads_out(runs) else [folder, runs]:
        places += filter(os.path.isdir, _entries(place))
    links = [path for place in places for path in _all_entries(place) if leads_out(path)]
    return [f"{listed(links, NAMES_SHOWN):.{PATH_SHOWN * 2}}: a link out of the folder, not followed, left out"
            ] if links else []


def result_files(folder):
    """The *.tsv files in a folder and the outputs of other benchmarks, by name."""
    return [path for path in _entries(folder) if os.path.isfile(path) and (
        path.endswith(".tsv") or path.endswith((".txt", ".out", ".log")) and foreign_outputs.is_foreign(_head_of(path)))]


def files_below(folder):
    """The same of its folders."""
    return [file for path in _entries(folder) if os.path.isdir(path) for file in result_files(path)]


def launch_files(folder):
    """The same of RUN in its folder `runs`."""
    runs = os.path.join(folder, "runs")
    return [] if leads_out(runs) else files_below(runs)


def labels_of(paths):
    """What results are called: the last parts of their paths, or where two are the same, the paths."""
    names = [re.sub(r"\.tsv$", "", os.path.basename(os.path.normpath(path))) for path in paths]
    return names if len(set(names)) == len(names) else paths


def is_summary(header):
    """Whether a header row is a summary's (summarize.py)."""
    return header[0] == "benchmark" and header[-2:] == ["launches", "status"]


def _head_of(path):
    try:
        with open(path, "rb") as stream:
            return stream.read(foreign_outputs.HEAD)
    except OSError:
        return b""


def is_made(path):
    """True of a file that was made from results: a comparison or a summary."""
    return _kind_of(path) == "made"


def _kind_of(path):
    """What a file of a folder is, by its metadata: "merged", "launch", "made" (from results: a
    comparison or a summary) or None."""
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
