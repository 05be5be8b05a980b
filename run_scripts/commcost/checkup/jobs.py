# SPDX-License-Identifier: BSD-3-Clause
"""Launches of the check-up: each ends within its time, and leaves no process behind."""

import os
import tempfile
import time
import typing

from commcost.checkup import installations, transports
from commcost.result.checkup_facts import facts_of_result, facts_of_texts
from commcost.result.result_reader import ResultError
from commcost.command import Failure
from commcost.suite import launch_options, launch_processes, launchers


SHORT = ("--visits=1", "--max-time=0.02")  # options of a launch


class Setting(typing.NamedTuple):
    """Changes of the user's environment and of the launcher's words."""

    unset: tuple = ()    # names of variables
    words: tuple = ()    # behind the launcher's own
    launcher: typing.Any = None  # another Launcher
    variables: tuple = ()  # pairs of name and value


class Outcome(typing.NamedTuple):
    """The end of a launch."""

    status: typing.Optional[int]  # None: it took longer than limit_s
    limit_s: float
    out_of_time: bool    # the check-up's own time was too short for it
    text: str            # stdout and stderr of the launcher
    facts: typing.Any    # Facts; None without a whole result


class Jobs:
    """Starts `checkup` with a launcher. `limit_s`: the longest time of a launch. `deadline_s`: when the last one must
    have ended. `folder`: of its files."""

    def __init__(self, program, launcher, job, limit_s, deadline_s, folder=None):
        self.program, self.launcher, self.job, self.folder = program, launcher, job, folder
        self.limit_s, self.deadline_s = limit_s, deadline_s

    def line(self, setting):
        """The words that start the job's ranks."""
        launcher = setting.launcher or self.launcher
        words = launcher.line(self.job, launchers.Launch(self.job.ranks, 1, dict(setting.variables)))
        return [*words, *setting.words]

    def environment(self, setting):
        return {**{name: value for name, value in os.environ.items() if name not in setting.unset},
                **dict(setting.variables)}

    def measure(self, setting=Setting(), options=()):
        """Starts the program in the job; an Outcome."""
        with tempfile.TemporaryDirectory(prefix=".commcost-checkup-", dir=self.folder) as folder:
            path = os.path.join(folder, "checkup.tsv")
            outcome = self._run([*self.line(setting), self.program, f"--output={path}", *options],
                                self.environment(setting))
            try:
                facts = facts_of_result(path) if outcome.status == 0 else None
            except ResultError:
                facts = None
        return outcome._replace(facts=facts)

    def transports(self, options=()):
        """Starts the job so that the library reports its transports."""
        setting = Setting(variables=tuple(transports.REPORTING.items()))
        return transports.transports_of(self.measure(setting, options).text)

    @staticmethod
    def installation(facts):
        """The Installation of the launcher, from the facts of the first rank."""
        return installations.installation_of(facts.ranks[0]) if facts.ranks else installations.Installation()

    def facts_without_mpi(self):
        """Starts `checkup --facts` in the job: facts also where MPI_Init fails. Each process has a
        file of its own, also where all have the same pid."""
        with tempfile.TemporaryDirectory(prefix=".commcost-checkup-", dir=self.folder) as folder:
            script = 'exec "$1" --facts > "$(mktemp "$2/XXXXXX")"'
            self._run([*self.line(Setting()), "sh", "-c", script, "sh", self.program, folder],
                      self.environment(Setting()))
            texts = []
            for name in sorted(os.listdir(folder)):
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as stream:
                    texts.append(stream.read())
        return facts_of_texts(sorted(filter(None, texts), key=place_of_process))

    def _run(self, words, environment):
        # Half of the time left: something remains for other launches after one that hangs.
        left_s = (self.deadline_s - time.monotonic()) / 2
        limit_s = max(0.0, min(self.limit_s, left_s))
        if limit_s == 0:
            return Outcome(None, limit_s, True, "", None)
        try:
            status, text = launch_processes.run_limited(words, limit_s, environment)
        except OSError as error:
            status, text = 127, f"{words[0]}: {error.strerror}"
        return Outcome(status, limit_s, status is None and left_s < self.limit_s, text, None)


def place_of_process(text):
    """The launcher's number of the process that printed these facts."""
    for line in text.splitlines():
        name, value = (line.split("\t") + [""])[:2]
        if name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID") and value.isdigit():
            return int(value)
    return 0


def jobs_of(options, folder):
    """The Jobs that the options ask for. Failure without a build or a launcher."""
    build = options.build or launch_options.own_build()
    program = os.path.join(build, "checkup", "checkup")
    if not os.access(program, os.X_OK):
        raise Failure(f"no program '{program:.200}': run quickstart.sh first, or use --build=FOLDER")
    ranks = options.ranks or launchers.default_ranks(options.hosts, options.ranks_per_node)
    job = launchers.Job(ranks, options.ranks_per_node, options.hosts or "", "none")
    # Without experiments: the first launch, one for the transports or for facts without MPI, and others that may start.
    seconds = options.seconds or 4 * options.limit
    return Jobs(program, launchers.find(options.launcher or "", build), job, options.limit,
                time.monotonic() + seconds, folder)
