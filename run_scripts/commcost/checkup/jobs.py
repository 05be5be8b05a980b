"""Launches of the check-up: each ends within its time, and leaves no process behind."""

import os
import signal
import subprocess
import tempfile
import typing

from commcost.checkup import transports
from commcost.result.checkup_facts import facts_of_result, facts_of_texts
from commcost.result.result_reader import ResultError
from commcost.suite import launch_processes
from commcost.suite.launchers import Launch


class Setting(typing.NamedTuple):
    """Changes of the user's environment and of the launcher's words."""

    unset: tuple = ()    # names of variables
    words: tuple = ()    # behind the launcher's own
    launcher: typing.Any = None  # another Launcher
    variables: tuple = ()  # pairs of name and value


class Outcome(typing.NamedTuple):
    """The end of a launch."""

    status: int
    timed_out: bool
    text: str            # stdout and stderr of the launcher
    facts: typing.Any    # Facts; None without a whole result


class Jobs:
    """Starts `checkup` with a launcher. `limit_s`: the longest time of a launch. `folder`: of its files."""

    def __init__(self, program, launcher, job, limit_s, folder=None):
        self.program, self.launcher, self.job, self.limit_s, self.folder = program, launcher, job, limit_s, folder

    def line(self, setting):
        """The words that start the job's ranks."""
        launcher = setting.launcher or self.launcher
        words = launcher.line(self.job, Launch(self.job.ranks, 1, dict(setting.variables)))
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
        # Not a pipe, which processes that outlive the job may keep open.
        with tempfile.TemporaryFile() as output:
            try:
                process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                           env=environment, start_new_session=True)
            except OSError as error:
                return Outcome(127, False, f"{words[0]}: {error.strerror}", None)
            timed_out = False
            try:
                process.wait(self.limit_s)
            except subprocess.TimeoutExpired:
                timed_out = True
                launch_processes.end(process.pid, launch_processes.KILL_S, os.killpg)
                process.wait()
            except BaseException:
                launch_processes.send(signal.SIGKILL, process.pid, os.killpg)
                launch_processes.end_session(process.pid)
                raise
            if process.returncode:
                launch_processes.end_session(process.pid)
            output.seek(0)
            text = output.read().decode("utf-8", "replace")
        return Outcome(process.returncode, timed_out, text, None)


def place_of_process(text):
    """The launcher's number of the process that printed these facts."""
    for line in text.splitlines():
        name, value = (line.split("\t") + [""])[:2]
        if name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID") and value.isdigit():
            return int(value)
    return 0
