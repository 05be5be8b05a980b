# SPDX-License-Identifier: BSD-3-Clause
"""A class for each kind of launcher, with its options for ranks, hosts and binding. A new kind needs a class here,
listed in KINDS."""

import os
import re
import shutil
import time
import typing

from commcost.command import Failure, UsageError
from commcost.suite import launch_processes, processor_count
from commcost.system import lines_of, command_output, shell_command


VERSION_S = 10  # of a launcher that hangs


class Job(typing.NamedTuple):
    """The ranks of a job and their placement. None and "" mean the launcher's default."""

    ranks: int
    ranks_per_node: typing.Optional[int] = None
    hosts: str = ""
    bind: str = ""
    has_progress_threads: bool = False  # the MPI library starts progress threads in some launch

    @property
    def nodes(self):
        """Returns the nodes of the job, or 1 if neither options nor scheduler define them."""
        if self.hosts:
            return len(self.hosts.split(","))
        if self.ranks_per_node:
            return -(-self.ranks // self.ranks_per_node)
        if slurm_number("SLURM_JOB_NUM_NODES"):
            return slurm_number("SLURM_JOB_NUM_NODES")
        nodes = pbs_nodes()
        return len(set(nodes)) if nodes else 1


class Launch(typing.NamedTuple):
    """A launch of a job, with all or a few of its ranks."""

    ranks: int
    threads: int     # per rank
    variables: dict  # environment variables that ranks must get


def pbs_nodes():
    """Returns the lines of PBS_NODEFILE, one per slot."""
    return lines_of(os.environ.get("PBS_NODEFILE", ""))


def slurm_number(name):
    """Returns a number from Slurm's environment, or None without one."""
    text = os.environ.get(name, "")
    if text and not re.fullmatch("[1-9][0-9]{0,8}", text):
        raise UsageError(f"{name}='{text}' is no number: use --ranks, and --ranks-per-node or --hosts")
    return int(text) if text else None


def slurm_tasks():
    """Returns the ranks of a Slurm job, or None if unknown. UsageError if Slurm's variables contradict each other."""
    tasks, nodes = slurm_number("SLURM_NTASKS"), slurm_number("SLURM_JOB_NUM_NODES")
    name, by_node = "SLURM_TASKS_PER_NODE", os.environ.get("SLURM_TASKS_PER_NODE", "")
    if not by_node:
        return tasks
    parts = [re.fullmatch(r"([1-9][0-9]{0,6})(?:\(x([1-9][0-9]{0,6})\))?", part) for part in by_node.split(",")]
    if not all(parts):
        raise UsageError(f"{name}='{by_node}' can't be read (expected '4(x2),3'): use --ranks")
    counts = [(int(part.group(1)), int(part.group(2) or 1)) for part in parts]
    total, count = sum(number * times for number, times in counts), sum(times for _, times in counts)
    for other, known, found in (("SLURM_NTASKS", tasks, total), ("SLURM_JOB_NUM_NODES", nodes, count)):
        if known not in (None, found):
            raise UsageError(f"{other}={known} contradicts {name}='{by_node}': use --ranks and --ranks-per-node")
    # Without a number of tasks, these counts are logical processors.
    return total if tasks is not None else min(total, count * cores_of_node())


def slurm_time_left_s():
    """Returns the seconds until Slurm ends this job, or None outside of a job or if the job has no time limit."""
    job, end = os.environ.get("SLURM_JOB_ID"), os.environ.get("SLURM_JOB_END_TIME", "")
    left = command_output("squeue", "--noheader", f"--jobs={job}", "--format=%L").strip() if job else ""
    found = re.fullmatch("(?:(?:([0-9]{1,5})-)?([0-9]{1,2}):)?([0-9]{1,2}):([0-9]{2})", left)
    if found:
        return sum(int(part or 0) * seconds for part, seconds in zip(found.groups(), (86400, 3600, 60, 1)))
    # Slurm 23.02 and newer also set the end, but don't update it if the time limit changes.
    return int(end) - int(time.time()) if job and not left and re.fullmatch("[0-9]{1,11}", end) else None


def cores_of_node():
    """Returns the cores of this node of a Slurm job, or a large number elsewhere."""
    return processor_count.ranks_with_room() if os.environ.get("SLURMD_NODENAME") else 1 << 30


def progresses_asynchronously(environment):
    """True if a variable starts the MPI library's progress threads."""
    return any(environment.get(name, "0") not in ("", "0", "no", "off", "false")
               for name in ("MPIR_CVAR_ASYNC_PROGRESS", "MPICH_ASYNC_PROGRESS", "I_MPI_ASYNC_PROGRESS"))


def version_of(command):
    """Returns the output of --version, or "" if the command doesn't start or end."""
    try:
        status, output = launch_processes.run_limited([command, "--version"], VERSION_S)
    except OSError:
        return ""
    return "" if status is None else output


class Place(typing.NamedTuple):
    """The placement of a launch's ranks."""

    per_node: typing.Optional[int]
    nodes: int
    slots: int  # per host
    cores: int  # to which a rank is bound by default; 0 for no binding
    bind: str   # binding requested by the user; "" for the default or none


def place_of(job, launch):
    """Returns the Place of a launch. A few ranks get one node each, to measure the network. Without slots, hydra
    distributes ranks one by one, and Open MPI puts all on the first host. Each thread of a rank gets a core: results
    vary between launches if ranks move or share cores."""
    per_node, nodes = job.ranks_per_node, job.nodes
    if launch.ranks < job.ranks and nodes > 1:
        per_node, nodes = 1, min(nodes, launch.ranks)
    slots = job.ranks_per_node or -(-job.ranks // nodes)
    is_bound = not (job.bind or job.has_progress_threads or slots * launch.threads > processor_count.ranks_with_room())
    return Place(per_node, nodes, slots, launch.threads if is_bound else 0, "" if job.bind == "none" else job.bind)


def crowding(job, launcher):
    """Returns a warning if ranks of a job share processors, or "" if they don't or it isn't known."""
    is_of_slurm = launcher.name == Srun.name or os.environ.get("SLURM_JOB_ID")
    if job.hosts or is_of_slurm and not os.environ.get("SLURMD_NODENAME"):
        return ""
    slots, room = place_of(job, Launch(job.ranks, 1, {})).slots, processor_count.ranks_with_room()
    return "" if slots <= room else (f"oversubscribed: {slots} ranks on a node share {room} processor"
                                     f"{'' if room == 1 else 's'}; times include waiting for a processor")


class Launcher:
    """A launcher, given by its words. Each kind has a name for --launcher, possible commands, a pattern in their
    --version, and line(job, launch), which returns the words before a program."""

    def __init__(self, words):
        self.words = words


class Hydra(Launcher):
    name = "hydra"
    commands = ("mpirun.mpich", "mpiexec.hydra", "mpirun", "mpiexec")
    says = ("HYDRA", "Intel(R) MPI")

    def line(self, job, launch):
        place = place_of(job, launch)
        words = [*self.words, "-np", str(launch.ranks)]
        if place.per_node or job.hosts:
            words += ["-ppn", str(place.per_node or place.slots)]
        if job.hosts:
            words += ["-hosts", job.hosts]
        bind = place.bind or ("core" if place.cores == 1 else place.cores and f"core:{place.cores}")
        return words + (["-bind-to", bind] if bind else [])


class OpenMpi(Launcher):
    name = "openmpi"
    commands = ("mpirun.openmpi", "mpirun", "orterun")
    says = ("Open MPI", "OpenRTE", "PRRTE")

    def line(self, job, launch):
        place = place_of(job, launch)
        in_allocation = any(os.environ.get(name) for name in ("SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS"))
        words = [*self.words, *(["--allow-run-as-root"] if os.geteuid() == 0 else []),
                 *([] if job.hosts or in_allocation else ["--oversubscribe"]), "-np", str(launch.ranks)]
        # Only the last --map-by is used, so one option has both.
        by = f"ppr:{place.per_node}:node" if place.per_node else "slot" if place.cores > 1 else ""
        if by:
            words += ["--map-by", by + (f":PE={place.cores}" if place.cores > 1 else "")]
        if job.hosts:
            words += ["--host", ",".join(f"{host}:{place.slots}" for host in job.hosts.split(","))]
        bind = place.bind or place.cores and "core"
        words += ["--bind-to", bind] if bind else []
        return words + [word for name in launch.variables for word in ("-x", name)]


class Srun(Launcher):
    name = "srun"

    def line(self, job, launch):
        place = place_of(job, launch)
        words = list(self.words)
        # By default srun waits forever for the other ranks if one is killed.
        if not any(word.startswith(("-K", "--kill-on-bad-exit")) for word in words):
            words.append("--kill-on-bad-exit=1")
        words.append(f"--ntasks={launch.ranks}")
        if place.per_node:
            words += [f"--nodes={place.nodes}", f"--ntasks-per-node={place.per_node}"]
        if job.hosts:
            # A few ranks run on the first hosts.
            words.append("--nodelist=" + ",".join(job.hosts.split(",")[:place.nodes]))
        if place.bind:
            plural = place.bind in ("core", "socket", "thread")
            words.append(f"--cpu-bind={place.bind}{'s' if plural else ''}")
        # Otherwise ranks get no variables at sites with SLURM_EXPORT_ENV=NONE.
        return words + ([] if any(word.startswith("--export") for word in words) else ["--export=ALL"])


class Words(Launcher):
    """Any other launcher. Its words contain {ranks} and so on. Words that become empty are dropped."""

    name = "words"

    def line(self, job, launch):
        place = place_of(job, launch)
        filled = self.words
        for what, by in (("{ranks}", launch.ranks), ("{ranks_per_node}", place.per_node or launch.ranks),
                         ("{nodes}", place.nodes), ("{bind}", job.bind), ("{hosts}", job.hosts)):
            filled = [word.replace(what, str(by)) for word in filled]
        return list(filter(None, filled))


KINDS = {kind.name: kind for kind in (Srun, Hydra, OpenMpi)}


def kind_of(command):
    """Returns the kind of a launcher, or None if unknown."""
    if os.path.basename(command) == Srun.name:
        return Srun
    output = "\n".join(version_of(command).splitlines()[:20])
    return next((kind for kind in (Hydra, OpenMpi) if any(word in output for word in kind.says)), None)


def built_launcher(build):
    """Returns the library's launcher that the build found."""
    for line in lines_of(os.path.join(build, "CMakeCache.txt")):
        found = re.match("COMMCOST_MPIRUN_PROGRAM:[A-Z]*=(.+)", line)
        if found and not found.group(1).endswith("-NOTFOUND"):
            return found.group(1)
    return "mpirun"


def words_of(asked):
    """Splits a value of --launcher into words. A path may have blanks."""
    return [asked] if shutil.which(asked) else asked.split()


def absolute(asked):
    """Returns a value of --launcher that is valid in any folder."""
    first, *others = words_of(asked) or [""]
    return " ".join([os.path.abspath(first) if "/" in first else first, *others]) or asked


def find(asked, build):
    """Returns the Launcher for a value of --launcher; "" means srun in a Slurm job, else the build's. UsageError for
    unusable words, Failure if there is none."""
    built, words = built_launcher(build), words_of(asked)
    if not asked:
        words = ["srun"] if os.environ.get("SLURM_JOB_ID") and shutil.which("srun") else [built]
    elif asked in (Hydra.name, OpenMpi.name):
        kind = KINDS[asked]
        words = [name for name in (built, *kind.commands) if shutil.which(name) and kind_of(name) is kind][:1]
        if not words:
            raise Failure(f"--launcher={asked}: none of {' '.join(kind.commands)} found: use --launcher=PATH")
    if not words or not shutil.which(words[0]):
        raise Failure(f"no launcher '{(words or [asked])[0]}': use --launcher=PATH")
    if any("{ranks}" in word for word in words):
        return Words(words)
    kind = kind_of(words[0])
    if kind is None:
        raise UsageError(f"--launcher: '{words[0]}' is unknown: show the place of the number of ranks, like "
                         f"{shell_command('--launcher=' + ' '.join([*words, '-n', '{ranks}']))}")
    return kind(words)


def default_ranks(hosts, ranks_per_node):
    """Returns the ranks of the job, else of all hosts, else this machine's cores, 2 to 8."""
    if hosts:
        return max(2, len(hosts.split(",")) * (ranks_per_node or 1))
    nodes = slurm_number("SLURM_JOB_NUM_NODES")
    if nodes and ranks_per_node:
        return max(2, nodes * ranks_per_node)
    # On a node Slurm counts logical processors.
    ranks = slurm_tasks() or (nodes and nodes * min(slurm_number("SLURM_CPUS_ON_NODE") or 1, cores_of_node()))
    return max(2, ranks or len(pbs_nodes()) or min(8, processor_count.ranks_with_room()))


def main(words):
    """Prints the words that start a sweep's job, one per line: srun in a Slurm job with its tasks, else two processes
    with the build's mpirun, or the launcher of --launcher=WHICH, the number of --ranks, and ranks that get --variables.
    If a program and options follow the build folder, prints the command to paste."""
    asked = {"launcher": "", "ranks": "", "variables": ""}
    while words and words[0].partition("=")[0] in [f"--{name}" for name in asked]:
        name, _, value = words[0][2:].partition("=")
        asked[name], words = value, words[1:]
    if not words:
        raise UsageError("which build? use launcher [--launcher=WHICH] BUILD_FOLDER [PROGRAM [OPTION]...]")
    ranks = int(asked["ranks"] or (default_ranks("", None) if os.environ.get("SLURM_JOB_ID") else 2))
    job = Job(ranks, has_progress_threads=progresses_asynchronously(os.environ))
    variables = dict.fromkeys(filter(None, asked["variables"].split(",")))
    try:
        line = find(asked["launcher"], words[0]).line(job, Launch(ranks, 1, variables))
        print(shell_command(*line, *words[1:]) if words[1:] else "\n".join(line))
    except Failure:
        raise UsageError("LAUNCH: no launcher was found: set it to the words that start a job") from None
    return 0
