# SPDX-License-Identifier: BSD-3-Clause
"""The results folder of a suite.

    NAME.tsv             all launches of a program, with a first column `run`
    runs/N/NAME.tsv      the result of each launch; NAME.log its command and output
    suite/               plan.tsv, versions, environment, environment_of_site, system, hosts, topology, options, calls,
                         run_again.sh; settings: by launch name, if settings are varied; launches.tsv: a record of
                         each launch; lock; complete: time of completion
"""

import difflib
import fcntl
import fnmatch
import itertools
import os
import re
import shlex
import shutil
import stat
import time

from commcost.command import Failure, plain, say
from commcost.result.result_metadata import is_of_the_system
from commcost.result.result_reader import End, Result, ResultError
from commcost.suite import launch_processes, launchers
from commcost.suite.suite_plan import variables_of
from commcost.system import is_half_written, lines_of, naming, now, quoted, remove, replace_file, command_output
from commcost.words import counted, listed

# Variables that tune an MPI library or a benchmark, and those of launchers and schedulers.
TUNING = ("^(UCX|FI|MPIR_CVAR|OMPI_MCA|MPICH|PSM2|PSM3|I_MPI|MV2|PMIX_MCA|HYDRA|OPAL|UCC|HCOLL|OPENHPCA|OVERLAP|OMP)_")
SITE = ("^(SLURM|PBS|LSB|OMPI|PMI|PMIX|MPI|MODULE|LOADEDMODULES|LMOD|SPACK|CONDA|PATH$|"
        "LD_LIBRARY_PATH$|HOSTNAME$|USER$|LANG$|LC_)")
_SECRET = "TOKEN|SECRET|PASS|JWT|_KEY"
WHOLE = ("done", "wrong")  # verdicts on a launch that has all of its rows
UNFINISHED = "unfinished"  # recorded result of a launch that the suite ended early
LOCK_TRIES = 40  # 2 s: a killed suite's last command may take a moment to end
# Names that run_suite.sh, tune.sh and device_matrix.sh write in a folder. In any other folder they belong to the user.
WRITTEN = ("suite", "runs", "*.tsv", "rules.*", "tune.html", "matrix.html")


class Folder:
    """A suite's folder. OSError if it can't be written, Failure if it belongs to a different suite. With `is_new`,
    make() may append a number to its path."""

    def __init__(self, path, is_new=False):
        self.path, self._is_new, self._lock = path, is_new, None

    @property
    def suite(self):
        return os.path.join(self.path, "suite")

    def suite_file(self, name):
        return os.path.join(self.suite, name)

    def launch_file(self, step):
        """Returns the path of a finished launch's result."""
        return os.path.join(self.path, "runs", str(step.run), step.name + ".tsv")

    def log_file(self, step):
        """Returns the path of a launch's command and output."""
        return self.launch_file(step)[:-len(".tsv")] + ".log"

    def launch(self, step, limit_s, signals, is_shown=False):
        """Runs a launch, whose result is launch_file(step) + ".part". Returns its begin, seconds, exit status
        (launch_processes.await_end), and the verdict() on its result. Failure if its ranks lack the variables of its
        command."""
        part, log = self.launch_file(step) + ".part", self.log_file(step)
        words = [*shlex.split(step.command), "--output=" + part]
        remove(part)
        replace_file(log, f"+ {quoted(words)}\n")
        if is_shown:
            say(f"+ {quoted(words)}")
        begin, begin_s = now(), time.monotonic()
        status = launch_processes.await_end(launch_processes.begin(words, log), limit_s, signals)
        seconds, result = time.monotonic() - begin_s, verdict(part)
        lacking = unconfirmed(variables_of(words), part) if result in WHOLE else ""
        if lacking:
            remove(part)
            raise Failure(f"{step.name}: {lacking}: the launcher doesn't pass variables to the ranks: see {log}")
        return begin, seconds, status, result

    def check(self):
        """Checks that nothing in the folder is a link, a pipe or a device, since it may come from somebody else.
        Failure otherwise."""
        for path in self._all():
            mode = os.lstat(path).st_mode if os.path.lexists(path) else stat.S_IFDIR
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise Failure(f"{path:.200} is a link, or no file: remove it from the results folder")

    def _all(self):
        """Yields all paths in the folders `suite` and `runs`, and these folders."""
        for top in (self.suite, os.path.join(self.path, "runs")):
            yield top
            for place, folders, files in os.walk(top):
                yield from (os.path.join(place, name) for name in folders + files)

    def claim(self):
        """Checks that the folder has no foreign files that would be replaced. Failure otherwise. Empty folders `suite`
        and `runs` were left by a suite killed before it made its lock."""
        if os.path.isdir(self.path) and not any(map(os.path.exists, map(self.suite_file, ("lock", "plan.tsv")))):
            for name in sorted(os.listdir(self.path)):
                path = os.path.join(self.path, name)
                is_empty = os.path.isdir(path) and not os.listdir(path)
                if not is_empty and any(fnmatch.fnmatchcase(name, pattern) for pattern in WRITTEN):
                    raise Failure(f"{self.path:.200} holds {name:.100} of another program: use another folder")

    def make(self):
        if self._is_new:
            self._make_new()
        self.claim()
        for folder in (self.path, self.suite, os.path.join(self.path, "runs")):
            os.makedirs(folder, exist_ok=True)

    def _make_new(self):
        path = self.path
        os.makedirs(os.path.dirname(path), exist_ok=True)
        for number in itertools.count(2):
            try:
                os.mkdir(self.path)
                return
            except FileExistsError:  # another suite began in the same second
                self.path = f"{path}-{number}"

    def lock(self):
        """Locks the folder until this process ends, if the file system has locks. Removes half-written files of killed
        suites."""
        self._lock = open(self.suite_file("lock"), "a", encoding="utf-8")
        for _ in range(LOCK_TRIES):
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for path in self._all():
                    if is_half_written(os.path.basename(path)):
                        remove(path)
                return
            except BlockingIOError:
                time.sleep(0.05)
            except OSError:
                return
        raise Failure(f"another run_suite.sh is running in {self.path}")

    def read(self, name):
        """Returns the text of a file of the suite, or "" if it is missing or a link."""
        try:
            if stat.S_ISREG(os.lstat(self.suite_file(name)).st_mode) and not os.path.islink(self.suite):
                with open(self.suite_file(name), encoding="utf-8", errors="surrogateescape") as stream:
                    return stream.read()
        except OSError:
            pass
        return ""

    def replace(self, name, text):
        replace_file(self.suite_file(name), text)

    def append(self, name, text):
        path = self.suite_file(name)
        with naming(path), open(path, "a", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)

    def begin(self, plan, versions, hosts):
        """Writes the description of the suite. The plan comes last, as a sign of completeness. Failure if the folder
        belongs to a different suite. More runs only add lines."""
        text = "\n".join(plan.lines) + "\n"
        if os.path.exists(self.suite_file("plan.tsv")):
            there = self.read("plan.tsv").splitlines()
            self._expect("begun with another plan", there, plan.lines[:len(there)])
            self._expect("measured with other programs", self.read("versions").splitlines(), versions.splitlines())
            if len(plan.lines) != len(there):
                self.replace("plan.tsv", text)
            self._warn_of_variables()
            # A full disk may have truncated the last record.
            records = self.read("launches.tsv")
            if not records.endswith("\n"):
                self.replace("launches.tsv", records[:records.rfind("\n") + 1])
            return
        for name, content in (
                ("launches.tsv", "run\tname\tstart\tseconds\texit\tresult\n"), ("versions", versions),
                ("environment", environment_text(TUNING)), ("environment_of_site", environment_text(SITE)),
                ("system", "\n".join([command_output("uname", "-a").strip(), *lines_of("/etc/os-release"), ""])),
                ("hosts", hosts_text(hosts)), ("lscpu.txt", command_output("lscpu")),
                ("lstopo.txt", command_output("lstopo-no-graphics", "--of", "console")),
                ("lstopo.xml", command_output("lstopo-no-graphics", "--of", "xml")),
                ("numactl.txt", command_output("numactl", "-H")), ("plan.tsv", text)):
            if content or not name.endswith((".txt", ".xml")):  # the output of a missing command
                self.replace(name, content)

    def _warn_of_variables(self):
        """Warns of tuning variables that have other values than when the suite began."""
        lines = [set(text.splitlines()) for text in (self.read("environment"), environment_text(TUNING))]
        names = sorted({re.sub("export |=.*", "", line) for line in lines[0] ^ lines[1] if line.startswith("export ")})
        if names:
            say(f"Warning: not as in the first launches: {listed(names, 4)}: use the values in "
                f"{self.suite_file('environment')}")

    def _expect(self, what, there, lines):
        if there == lines:
            return
        for line in [line for line in difflib.ndiff(there, lines) if line[0] in "-+"][:4]:
            say({"-": "<", "+": ">"}[line[0]] + line[1:])
        raise Failure(f"{self.path} was {what} (< then, > now): use another folder")

    def record(self, step, begin, seconds, status, result):
        self.append("launches.tsv", f"{step.run}\t{step.name}\t{begin}\t{seconds}\t{status}\t{result}\n")

    def records(self):
        """Returns (run, name, seconds, result) of each finished launch, from its last record."""
        found = []
        for line in self.read("launches.tsv").splitlines()[1:]:
            cells = line.split("\t")
            if len(cells) == 6 and re.fullmatch("[0-9]{1,8}", cells[3]) and cells[5] != UNFINISHED:
                found.append((cells[0], cells[1], int(cells[3]), cells[5]))
        return found

    def last_results(self):
        """Returns the recorded result of launches by (run, name)."""
        return {(run, name): result for run, name, _, result in self.records()}

    def settings(self):
        """Maps launch names to settings. Empty if nothing was varied."""
        return dict(line.split("\t", 1) for line in self.read("settings").splitlines() if "\t" in line)

    def results(self, plan):
        """Returns the result of each launch of the plan by (run, name), None if not reached."""
        last = self.last_results()
        return {(step.run, step.name): last.get((str(step.run), step.name)) for step in plan.steps}

    def merge(self, plan, entry):
        """Merges all launches of an entry of the list into one file. ValueError if their columns differ."""
        steps = [step for step in plan.steps if step.entry == entry and os.path.exists(self.launch_file(step))]
        if steps:
            replace_file(os.path.join(self.path, entry + ".tsv"),
                         merged([(step, self.launch_file(step)) for step in steps]))


def verdict(path):
    """Returns the verdict on a launch from its result, which is complete if its last line is an end, however the
    launcher ended: "done", "wrong" (all rows are present, some FAIL), "interrupted", or "failed", also if each process
    was a separate job."""
    try:
        with Result(path) as result:
            place = result.place("status")
            statuses = [place is not None and cells[place] for cells in result.rows()]
    except ResultError:
        return "failed"
    warnings = [remark.text for remark in result.remarks if remark.kind == "warning"]
    if place is None or any(re.match("[0-9]+ processes were started, but each is a job", text) for text in warnings):
        return "failed"
    if any(text.startswith("interrupted by ") for text in warnings):
        return "interrupted"
    if result.end == End(len(statuses), 0):
        return "done"
    return "wrong" if result.end == End(len(statuses), 1) and "FAIL" in statuses else "failed"


def unconfirmed(variables, path):
    """Returns a sentence about a variable ("" if unset) that had a different value in the ranks, or "" if there is
    none. Launchers may prepend folders to a list."""
    with Result(path) as result:
        found = dict(text.partition("=")[::2] for text in result.metadata.get("mpi_variable", []))
    for name, value in variables.items():
        there = found.get(name)
        if plain(there or "").strip() != plain(value).strip() and not (there or "").endswith(":" + value):
            return (f"its ranks had {name} {'unset' if there is None else f'{there:.100}'}, "
                    f"not {f'{value:.100}' if value else 'unset'}")
    return ""


def merged(launches):
    """Merges launches, pairs of a plan's step and a file: the metadata of the first one, the date of the last one
    (last_date), a first column `run`, a column `setting` if settings are varied, and all rows. New notes and warnings
    of later launches get the number of the run; those of single rows are all kept. For further settings, a note has the
    system's metadata that differ from the first setting. The last line is a common end, with the greatest exit status.
    ValueError if columns differ, ResultError if a file isn't a result."""
    first = launches[0][0]
    added = ["run", "setting"] if any(step.setting for step, _ in launches) else ["run"]
    roles = " ".join(f"{name}=key" for name in added)
    out, known, ends, header = [], set(), [], None
    systems = {}  # by setting: the system's metadata in its first launch
    for step, path in launches:
        own = [str(step.run), step.setting][:len(added)]
        with Result(path, as_written=True) as result:
            taken = 0  # number of its remarks
            if header is None:
                header = result.header
                out = [re.sub("^# columns: ", f"# columns: {roles} ", line) for line in result.head]
                out.append("\t".join(added + header))
                known.update(result.remarks)
                taken = len(result.remarks)
            elif result.header != header:
                raise ValueError(f"{path}: other columns than run {first.run}")
            if step.setting not in systems:
                systems[step.setting] = {key: values for key, values in result.metadata.items()
                                         if is_of_the_system(key)}
                out += [f"# note: setting {step.setting}: {line}" for line in
                        different(systems[first.setting], systems[step.setting])]
            for cells in itertools.chain(result.rows(), [None]):
                for remark in result.remarks[taken:]:
                    if remark not in known or re.match("row [0-9]+: ", remark.text):
                        run = "" if step is first else f"run {step.run}: "
                        out.append(f"# {remark.kind}: {run}{remark.text}")
                    known.add(remark)
                taken = len(result.remarks)
                if cells is not None:
                    out.append("\t".join(own + cells))
            ends.append(result.end)
    if len(launches) > 1 and result.value("date"):
        out.insert(1, f"# last_date: {result.value('date')}")
    if all(ends):
        rows = sum(end.rows for end in ends)
        out.append(f"# end: {counted(rows, 'row')}, exit {max(end.status for end in ends)}")
    return "\n".join(out) + "\n"


def different(first, other):
    """Returns the lines of `other` (values by key) that differ from `first`."""
    return [f"{key}: {'; '.join(other.get(key, ['not there']))}" for key in dict.fromkeys([*first, *other])
            if sorted(first.get(key, [])) != sorted(other.get(key, []))]


def environment_text(pattern):
    """Returns commands that set the variables with such names, except possible secrets."""
    return "".join(f"export {name}={shlex.quote(os.environ[name])}\n" for name in sorted(os.environ)
                   if re.search(pattern, name) and not re.search(_SECRET, name) and
                   re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name))


def hosts_text(hosts):
    """Returns the hosts of the job, or this host, one per line."""
    nodes = os.environ.get("SLURM_JOB_NODELIST")
    if nodes and not hosts:
        return command_output("scontrol", "show", "hostnames", nodes) or nodes + "\n"
    return "\n".join(hosts.split(",") if hosts else launchers.pbs_nodes() or [os.uname().nodename]) + "\n"


def versions_of(programs, used):
    """Returns the versions of all programs (by build) and of the launchers `used`. Results with equal versions may be
    merged."""
    text = ""
    for build, names in programs.items():
        for line in lines_of(os.path.join(build, "generated/build_info.h")):
            found = re.match('#define COMMCOST_([A-Z_]*) "(.*)"$', line)
            text += f"{found.group(1)}: {found.group(2)}\n" if found else ""
        cache = dict(re.findall(r"(?m)^(\w+):\w*=(.+)$", "\n".join(lines_of(os.path.join(build, "CMakeCache.txt")))))
        compiler, wrapper = cache.get("CMAKE_C_COMPILER"), cache.get("MPI_C_COMPILER")
        if compiler:
            text += f"C compiler: {(command_output(compiler, '--version').splitlines() or ['NA'])[0]}\n"
        if wrapper:
            # The full path, so that it doesn't depend on CMake's options.
            text += f"MPI compiler: {shutil.which(wrapper) or wrapper}\n"
        text += "programs (cksum):\n" + command_output("cksum", *sorted(names), cwd=build)
    for launcher in {tuple(one.words): one for one in used}.values():
        text += f"launcher: {' '.join(launcher.words)}\n"
        if launcher.name != "words":
            text += "".join(f"  {line}\n" for line in launchers.version_of(launcher.words[0]).splitlines())
    return text
