# SPDX-License-Identifier: BSD-3-Clause
"""run_suite.sh with real launchers: the mpirun of the build, two hosts of the testbed, srun and sbatch of a Slurm that
the test starts. Each runs some of the benchmarks."""

import os
import random
import re
import shutil
import signal
import subprocess
import time

import launchers
from case import Case
from mpi_run import read, read_if_there, read_tsv
from pretended_suite import SCRIPTS, SUITE, TOP
from processes import processes_with, ranks_of, wait_for

SMALL = ["--options=all: --max-time=0.02",
         "--options=pingpong: --patterns=put,MPISend --max-ndata=8 --coarray-sync=all",
         "--options=mpi_overhead: --msgsize=0,1K"]
CHOICE = ["--benchmarks=overlap_ibarrier,pingpong,mpi_overhead,linkmap", "--runs=2", *SMALL]
END_S, LIMIT_S = 10, 60  # a launch of which a rank was killed ends within the first, alone
ROWS = {"overlap_ibarrier": 1, "pingpong": 4, "mpi_overhead": 4, "linkmap": 6}


def call(words, environment=None, timeout_s=120):
    """Runs a command in a session of its own, all of which ends with the time."""
    with subprocess.Popen(words, env={**os.environ, **(environment or {})},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            out, said = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            out, said = process.communicate(timeout=30)
            said += f"\nno end after {timeout_s} s"
    return subprocess.CompletedProcess(words, process.returncode, out, said)


class Suite:
    """run_suite.sh with the build's programs, into a folder, and what it left there."""

    def __init__(self, build, folder):
        self.folder = folder
        self.results = folder / "results"
        self.build = f"--build={build}"
        self.line = ["sh", SUITE, self.build, f"--output={self.results}"]

    def run(self, *options, environment=None):
        """The choice on two ranks."""
        done = call([*self.line, *CHOICE, "--ranks=2", *options], environment)
        assert done.returncode == 0, done.stdout + done.stderr + self.logs()
        return done

    def logs(self):
        return call(["sh", "-c", f"tail -n 5 {self.results}/runs/*/*.log"]).stdout

    def of_suite(self, name):
        return read(self.results / "suite" / name)

    def check(self):
        """All rows of both runs of the choice are there. Returns pingpong's result."""
        for name, rows in ROWS.items():
            path = self.results / (name + ".tsv")
            found = read_tsv(read(path))
            assert [row["run"] for row in found] == ["1"] * rows + ["2"] * rows, read(path)
            assert "FAIL" not in [row["status"] for row in found]
        text = read(self.results / "pingpong.tsv")
        assert "# ranks: 2\n" in text
        return text


class LaunchCase(Case):
    """run_suite.sh with the build's programs."""

    def setUp(self):
        super().setUp()
        self.suite = Suite(self.build, self.folder)
        # The name of the build's launcher in run_suite.sh.
        self.kind = "openmpi" if self.launcher.is_openmpi else "hydra"

    def kill_a_rank(self, *options, environment=None, at_any_moment=True):
        """Kills either rank of a launch that has rows, and one at a random moment: the launch fails and ends within
        END_S, its rows stay, and the suite, resumed, measures it again."""
        words = [*self.suite.line, "--runs=2", "--benchmarks=halo", "--ranks=2", f"--limit={LIMIT_S}",
                 "--options=halo: --local=4,6,8 --max-time=0.25", *options]
        for victim, has_rows in ((0, True), (1, True), *([(random.randrange(2), False)] if at_any_moment else [])):
            shutil.rmtree(self.suite.results, ignore_errors=True)
            part = self.suite.results / "runs/1/halo.tsv.part"
            with subprocess.Popen(words, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True) as process:
                ranks = (os.path.realpath(self.built("halo/halo")), f"--output={part}")
                assert wait_for(lambda: read_tsv(read_if_there(part)) if has_rows else len(ranks_of(*ranks)) == 2, 60)
                moment_s = 0 if has_rows else random.random()
                time.sleep(moment_s)
                before = read_if_there(part)
                os.kill(ranks_of(*ranks)[victim], signal.SIGKILL)
                assert wait_for(lambda: "\n1\thalo\t" in read_if_there(self.suite.results / "suite/launches.tsv"),
                                END_S), (victim, moment_s)
                said = process.communicate(timeout=60)[1]
            assert process.returncode == 1 and "halo (run 1)" in said, (victim, moment_s, said)
            assert read_if_there(self.suite.results / "runs/1/halo.tsv.failed").startswith(before), (victim, moment_s)
            assert wait_for(lambda: not list(processes_with(f"{self.suite.results}/runs")))
            second = (self.suite.results / "runs/2/halo.tsv").stat()
            done = call(words, environment)
            assert done.returncode == 0, done.stderr
            assert (self.suite.results / "runs/2/halo.tsv").stat().st_mtime_ns == second.st_mtime_ns
            rows = [(row["run"], row["method"], row["sync"], row["local"])
                    for row in read_tsv(read(self.suite.results / "halo.tsv"))]
            assert len(rows) == len(set(rows)) and {run for run, *_ in rows} == {"1", "2"}, rows


class Mpirun(LaunchCase):
    """The build's own: hydra, or Open MPI's."""

    def test_suite(self):
        done = self.suite.run(f"--launcher={self.kind}")
        assert "8 of 8 launches" in done.stderr
        assert "# nodes: 1\n" in self.suite.check()
        as_root = self.kind == "openmpi" and os.geteuid() == 0
        assert ("--allow-run-as-root" in self.suite.of_suite("plan.tsv")) == as_root
        assert ("MPI" if self.kind == "openmpi" else "HYDRA") in self.suite.of_suite("versions")

    def test_noise(self):
        """Launches find different sources; the summary has the rows of all launches."""
        done = call([*self.suite.line, "--runs=2", "--benchmarks=noise", "--ranks=2",
                     "--options=noise: --max-time=0.05"])
        assert done.returncode == 0, done.stderr
        rows = [row for row in read_tsv(read(self.suite.results / "summary.tsv"))
                if row["scope"] != "source"]
        found = {(row["scope"], row["quantity"]) for row in rows}
        assert found == {(scope, quantity) for scope, quantities in (
            ("job", ("stops_per_s", "stop_us", "stopped_pct")),
            ("host", ("stops_per_s", "stop_us", "stopped_pct")),
            ("collective", ("step_us", "slowdown_pct"))) for quantity in quantities}
        assert {row["launches"] for row in rows} == {"2"}
        assert "NA" not in {row["median"] for row in rows}

    def test_killed_rank(self):
        self.kill_a_rank(f"--launcher={self.kind}")

    def test_signal(self):
        """Ended in the middle of a launch, nothing of it continues."""
        def at_work():
            """The command lines that have this test's results."""
            return [process.line for process in processes_with(f"{self.suite.results}/runs")]

        words = [*self.suite.line, "--runs=1", "--benchmarks=monitor_overhead,pingpong",
                 "--options=monitor_overhead: --max-time=0.02", "--options=pingpong: --samples=1000000"]
        part = self.suite.results / "runs/1/pingpong.tsv.part"
        for number, status in ((signal.SIGTERM, 1), (signal.SIGKILL, -9)):
            with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True) as process:
                assert wait_for(part.exists)
                process.send_signal(number)
                said = process.communicate(timeout=30)[1]
            assert process.returncode == status, said
            if number == signal.SIGTERM:
                assert not part.exists()
                assert wait_for(lambda: not at_work()), at_work()
        assert at_work()
        # The next suite ends the processes that the killed one left.
        done = call(words + ["--budget=6"])
        assert "Ending process" in done.stderr
        assert wait_for(lambda: not at_work()), at_work()


def over_tcp(suite, *line):
    """MPICH 4.0.2 over TCP may wait in MPI_Finalize for ever when the processors have other things
    to do. The suite ends such a launch and can be resumed."""
    for _ in range(4):
        done = call([*line, *CHOICE, f"--hosts={','.join(launchers.Testbed.hosts)}",
                     "--ranks-per-node=1", "--limit=10"])
        if "took longer than" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr + suite.logs()
    assert "# nodes: 2\n" in suite.check()


class Testbed(LaunchCase):
    """Two hosts, each with a rank."""

    def setUp(self):
        super().setUp()
        self.testbed = launchers.Testbed("suite")
        self.addCleanup(self.testbed.close)

    def test_wrapper(self):
        over_tcp(self.suite, *self.suite.line, f"--launcher={self.testbed.launcher(self.launcher.command[0])}")
        assert self.suite.of_suite("hosts").split() == list(launchers.Testbed.hosts)

    def test_killed_rank(self):
        """Not in MPI_Init, where hydra (MPICH 4.0.2) may wait until --limit for a rank killed on another host."""
        self.kill_a_rank(f"--launcher={self.testbed.launcher(self.launcher.command[0])}",
                         f"--hosts={','.join(launchers.Testbed.hosts)}", "--ranks-per-node=1", at_any_moment=False)

    def test_hydra(self):
        """hydra itself, given the hosts; the launcher stands in for ssh."""
        over_tcp(self.suite, launchers.TESTBED, "exec", self.testbed.name, "1", "env",
                 f"COMMCOST_TESTBED={self.testbed.name}", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=wire",
                 *self.suite.line, f"--launcher={self.launcher.command[0]} -launcher ssh -launcher-exec "
                 f"{os.path.dirname(launchers.TESTBED)}/launch.sh "
                 f"-localhost {launchers.Testbed.hosts[0]}")
        assert "export UCX_NET_DEVICES=wire" in self.suite.of_suite("environment")


class Slurm(LaunchCase):
    """A Slurm of one node."""

    @classmethod
    def setUpClass(cls):
        started = launchers.Slurm()
        cls.addClassCleanup(started.close)
        cls.environment = started.environment

    def slurm(self, *words):
        """Calls a command of this Slurm."""
        done = call(words, self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def test_killed_rank(self):
        self.kill_a_rank("--launcher=srun --mpi=pmi2", environment=self.environment)

    def test_srun(self):
        """From outside of a job, a job a launch."""
        self.suite.run("--launcher=srun --mpi=pmi2", environment=self.environment)
        assert re.search("# job_id: [0-9]+\n", self.suite.check())
        assert "slurm" in self.suite.of_suite("versions")

    def test_sbatch(self):
        """Warned that its time is up, the job is queued again and resumes the suite."""
        job = self.slurm("sbatch", "--parsable", "--nodes=1", "--ntasks=2", f"--chdir={self.suite.folder}",
                         os.path.join(SCRIPTS, "jobs", "slurm.sh"), self.suite.build,
                         f"--output={self.suite.results}", "--launcher=srun --mpi=pmi2", *CHOICE)
        first = self.suite.results / "runs/1/overlap_ibarrier.tsv"
        assert wait_for(first.exists)
        before = first.stat()
        self.slurm("scancel", "--signal=USR1", "--batch", job)
        assert wait_for(lambda: job not in self.slurm("squeue", "-h", "-o", "%i").split(), 90, every_s=0.1)
        text = self.slurm("scontrol", "show", "job", "--oneliner", job)
        state = dict(word.split("=", 1) for word in text.split() if "=" in word)
        log = read(self.suite.folder / f"commcost-{job}.log")
        assert (state["JobState"], state["Restarts"]) == ("COMPLETED", "1"), log
        assert "Ended by SIGUSR1" in log
        assert "8 of 8 launches" in log
        after = first.stat()
        assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
        assert f"# job_id: {job}\n" in self.suite.check()
        launches = re.findall("(?m)^([0-9]+\t[a-z_]+)\t", self.suite.of_suite("launches.tsv"))
        assert (len(launches), len(set(launches))) == (2 * len(ROWS), 2 * len(ROWS))
        assert "srun --mpi=pmi2 --kill-on-bad-exit=1 --ntasks=2" in self.suite.of_suite("plan.tsv")
        assert f"job {job}" in self.suite.of_suite("calls")


class Pbs(LaunchCase):
    """The PBS script, with the variables of PBS, which isn't available here."""

    def test_job(self):
        nodes = self.suite.folder / "nodes"
        nodes.write_text((os.uname().nodename + "\n") * 2)
        environment = {"PBS_O_WORKDIR": str(self.suite.folder), "PBS_JOBID": "5.here",
                       "PBS_NODEFILE": str(nodes), "PBS_WALLTIME": "600", "COMMCOST_TOP": TOP,
                       "SUITE": f"{self.suite.build} --runs=2 --launcher={self.kind} "
                                "--benchmarks=overlap_ibarrier"}
        script = os.path.join(SCRIPTS, "jobs", "pbs.sh")
        done = call(["sh", script], environment)
        self.suite.results = self.suite.folder / "results/pbs-5.here"
        assert done.returncode == 0, done.stderr + self.suite.logs()
        rows = read_tsv(read(self.suite.results / "overlap_ibarrier.tsv"))
        assert {row["run"] for row in rows} == {"1", "2"}
        assert "--budget=540" in self.suite.of_suite("calls")
        # Submitted again, it resumes: here there is nothing left to do.
        environment.update(PBS_JOBID="6.here", SUITE=f"{self.suite.build} --resume={self.suite.results}")
        done = call(["sh", script], environment)
        assert done.returncode == 0, done.stderr
        assert "2 of 2 launches" in done.stderr
        assert not os.path.exists(self.suite.folder / "results/pbs-6.here")
