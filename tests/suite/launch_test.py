"""run_suite.sh with real launchers: the mpirun of the build, two hosts of the testbed, srun and
sbatch of a Slurm that the test starts. Each runs some of the benchmarks, and pandas and R read what
comes of it."""

import os
import re
import signal
import subprocess

import pytest

import launchers
from mpi_run import read, read_tsv
from pretended_suite import SCRIPTS, SUITE, TOP
from processes import processes_with, wait_for
from readers import in_pandas_and_r

SMALL = ["--options=all: --max-time=0.02",
         "--options=pingpong: --patterns=put,MPISend --max-ndata=8 --coarray-sync=all",
         "--options=mpi_overhead: --msgsize=0,1K"]
CHOICE = ["--benchmarks=overlap_ibarrier,pingpong,mpi_overhead,linkmap", "--runs=2", *SMALL]
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

    __test__ = False

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
        """All rows of both runs of the choice; the same in pandas and R, with runs and samples as
        numbers. Returns pingpong's result."""
        for name, rows in ROWS.items():
            path = self.results / (name + ".tsv")
            found = read_tsv(read(path))
            assert [row["run"] for row in found] == ["1"] * rows + ["2"] * rows, read(path)
            assert "FAIL" not in [row["status"] for row in found]
            read_there = in_pandas_and_r(
                path, "len(t), len(t.columns), t.run.sum(), len(t.samples + 0.5)",
                "nrow(t), ncol(t), sum(t$run), length(t$samples + 0.5)")
            assert read_there == [f"{2 * rows} {len(found[0])} {3 * rows} {2 * rows}"] * 2
        text = read(self.results / "pingpong.tsv")
        assert "# ranks: 2\n" in text
        return text


@pytest.fixture
def suite(build, tmp_path):
    """run_suite.sh with the build's programs."""
    return Suite(build, tmp_path)


@pytest.fixture
def kind(launcher):
    """What run_suite.sh calls the build's launcher."""
    return "openmpi" if launcher.is_openmpi else "hydra"


class Mpirun:
    """The build's own: hydra, or Open MPI's."""

    def test_suite(self, suite, kind):
        done = suite.run(f"--launcher={kind}")
        assert "8 of 8 launches" in done.stderr
        assert "# nodes: 1\n" in suite.check()
        as_root = kind == "openmpi" and os.geteuid() == 0
        assert ("--allow-run-as-root" in suite.of_suite("plan.tsv")) == as_root
        assert ("MPI" if kind == "openmpi" else "HYDRA") in suite.of_suite("versions")

    def test_noise(self, suite):
        """Launches don't find the same sources; the summary has what all have."""
        done = call([*suite.line, "--runs=2", "--benchmarks=noise", "--ranks=2",
                     "--options=noise: --max-time=0.05"])
        assert done.returncode == 0, done.stderr
        rows = [row for row in read_tsv(read(suite.results / "summary.tsv"))
                if "scope=source" not in row["key"]]
        found = {(row["key"].split()[0], row["quantity"]) for row in rows}
        assert found == {(f"scope={scope}", quantity) for scope, quantities in (
            ("job", ("stops_per_s", "stop_us", "stopped_pct")),
            ("host", ("stops_per_s", "stop_us", "stopped_pct")),
            ("collective", ("step_us", "slowdown_pct"))) for quantity in quantities}
        assert {row["launches"] for row in rows} == {"2"}
        assert "NA" not in {row["median"] for row in rows}

    def test_failure(self, suite):
        """Wrong usage of a program is a failed launch."""
        done = call([*suite.line, "--runs=1", "--benchmarks=overlap_ibarrier,monitor_overhead",
                     "--options=all: --max-time=0.02",
                     "--options=overlap_ibarrier: --no-such-option"])
        assert done.returncode == 1, done.stderr
        assert "no-such-option" in done.stderr
        assert not os.path.exists(suite.results / "overlap_ibarrier.tsv")
        assert os.path.exists(suite.results / "monitor_overhead.tsv")

    def test_signal(self, suite):
        """Ended in the middle of a launch, nothing of it goes on."""
        def at_work():
            """The command lines that have this test's results."""
            return [process.line for process in processes_with(f"{suite.results}/runs")]

        words = [*suite.line, "--runs=1", "--benchmarks=monitor_overhead,pingpong",
                 "--options=pingpong: --samples=1000000"]
        part = suite.results / "runs/1/pingpong.tsv.part"
        for number, status in ((signal.SIGTERM, 1), (signal.SIGKILL, -9)):
            with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True) as process:
                assert wait_for(part.exists)
                process.send_signal(number)
                said = process.communicate(timeout=30)[1]
            assert process.returncode == status, said
            if number == signal.SIGTERM:
                assert not part.exists()
                assert at_work() == []
        assert at_work()
        # What the killed one left is ended by the next.
        done = call(words + ["--budget=6"])
        assert "Ending process" in done.stderr
        assert wait_for(lambda: not at_work()), at_work()


@pytest.fixture
def testbed():
    """Two hosts."""
    made = launchers.Testbed("suite")
    yield made
    made.close()


def over_tcp(suite, *line):
    """MPICH 4.0.2 over TCP may wait in MPI_Finalize for ever when the processors have other things
    to do. The suite ends such a launch and can be gone on with."""
    for _ in range(4):
        done = call([*line, *CHOICE, f"--hosts={','.join(launchers.Testbed.hosts)}",
                     "--ranks-per-node=1", "--limit=10"])
        if "took longer than" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr + suite.logs()
    assert "# nodes: 2\n" in suite.check()


class Testbed:
    """Two hosts, each with a rank."""

    def test_wrapper(self, suite, testbed, launcher):
        over_tcp(suite, *suite.line, f"--launcher={testbed.launcher(launcher.command[0])}")
        assert suite.of_suite("hosts").split() == list(launchers.Testbed.hosts)

    def test_hydra(self, suite, testbed, launcher):
        """hydra itself, given the hosts; the launcher stands in for ssh."""
        over_tcp(suite, launchers.TESTBED, "exec", testbed.name, "1", "env",
                 f"COMMCOST_TESTBED={testbed.name}", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=wire",
                 *suite.line, f"--launcher={launcher.command[0]} -launcher ssh -launcher-exec "
                 f"{os.path.dirname(launchers.TESTBED)}/launch.sh "
                 f"-localhost {launchers.Testbed.hosts[0]}")
        assert "export UCX_NET_DEVICES='wire'" in suite.of_suite("environment")


@pytest.fixture(scope="class")
def slurm():
    """Calls a command of a Slurm of one node; `slurm.environment` is for other commands."""
    started = launchers.Slurm()

    def slurm_call(*words):
        done = call(words, started.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()
    slurm_call.environment = started.environment
    yield slurm_call
    started.close()


class Slurm:
    """A Slurm of one node."""

    def test_srun(self, suite, slurm):
        """From outside of a job, a job a launch."""
        suite.run("--launcher=srun --mpi=pmi2", environment=slurm.environment)
        assert re.search("# job_id: [0-9]+\n", suite.check())
        assert "slurm" in suite.of_suite("versions")

    def submit(self, suite, slurm):
        return slurm("sbatch", "--parsable", "--nodes=1", "--ntasks=2", f"--chdir={suite.folder}",
                     os.path.join(SCRIPTS, "jobs", "slurm.sh"), suite.build,
                     f"--output={suite.results}", "--launcher=srun --mpi=pmi2", *CHOICE)

    def assert_completed(self, suite, slurm, job, restarts):
        """Waits for the job's end, as Slurm must have it. Returns its log."""
        assert wait_for(lambda: job not in slurm("squeue", "-h", "-o", "%i").split(), 90,
                        every_s=0.1)
        text = slurm("scontrol", "show", "job", "--oneliner", job)
        state = dict(word.split("=", 1) for word in text.split() if "=" in word)
        log = read(suite.folder / f"commcost-{job}.log")
        assert (state["JobState"], state["Restarts"]) == ("COMPLETED", restarts), log
        return log

    def test_sbatch(self, suite, slurm):
        job = self.submit(suite, slurm)
        self.assert_completed(suite, slurm, job, "0")
        assert f"# job_id: {job}\n" in suite.check()
        assert "srun --mpi=pmi2 --kill-on-bad-exit=1 --ntasks=2" in suite.of_suite("plan.tsv")
        assert f"job {job}" in suite.of_suite("calls")

    def test_time_is_up(self, suite, slurm):
        """Warned, the job is queued again and goes on where it was."""
        job = self.submit(suite, slurm)
        first = suite.results / "runs/1/overlap_ibarrier.tsv"
        assert wait_for(first.exists)
        before = first.stat()
        slurm("scancel", "--signal=USR1", "--batch", job)
        log = self.assert_completed(suite, slurm, job, "1")
        assert "Ended by SIGUSR1" in log
        assert "8 of 8 launches" in log
        after = first.stat()
        assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
        suite.check()
        launches = re.findall("(?m)^([0-9]+\t[a-z_]+)\t", suite.of_suite("launches.tsv"))
        assert (len(launches), len(set(launches))) == (2 * len(ROWS), 2 * len(ROWS))


class Pbs:
    """The PBS script, with what PBS would say: there is no PBS to be had here."""

    def test_job(self, suite, kind):
        nodes = suite.folder / "nodes"
        nodes.write_text((os.uname().nodename + "\n") * 2)
        environment = {"PBS_O_WORKDIR": str(suite.folder), "PBS_JOBID": "5.here",
                       "PBS_NODEFILE": str(nodes), "PBS_WALLTIME": "600", "COMMCOST_TOP": TOP,
                       "SUITE": f"{suite.build} --runs=2 --launcher={kind} "
                                "--benchmarks=overlap_ibarrier"}
        script = os.path.join(SCRIPTS, "jobs", "pbs.sh")
        done = call(["sh", script], environment)
        suite.results = suite.folder / "results/pbs-5.here"
        assert done.returncode == 0, done.stderr + suite.logs()
        rows = read_tsv(read(suite.results / "overlap_ibarrier.tsv"))
        assert {row["run"] for row in rows} == {"1", "2"}
        assert "--budget=540" in suite.of_suite("calls")
        # Submitted again, it goes on: here there is nothing left to do.
        environment.update(PBS_JOBID="6.here", SUITE=f"--resume={suite.results}")
        done = call(["sh", script], environment)
        assert done.returncode == 0, done.stderr
        assert "2 of 2 launches" in done.stderr
        assert not os.path.exists(suite.folder / "results/pbs-6.here")
