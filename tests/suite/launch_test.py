#!/usr/bin/env python3
"""run_suite.sh with real launchers: the mpirun of the build, two hosts of the testbed,
srun and sbatch of a Slurm that the test starts. Each runs some of the benchmarks, and
pandas and R read what comes of it."""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import launchers  # noqa: E402
from mpi_run import read, read_tsv  # noqa: E402
from processes import processes_with, wait_for  # noqa: E402
from run_tests import run_tests  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SCRIPTS = os.path.join(TOP, "run_scripts")

OPTIONS = None

CHOICE = ["--benchmarks=overlap_ibarrier,pingpong,mpi_overhead", "--runs=2",
          "--ranks=2", "--options=all: --max-time=0.02",
          "--options=pingpong: --patterns=put,MPISend --max-ndata=8 "
          "--coarray-sync=all",
          "--options=mpi_overhead: --msgsize=0,1K"]
ROWS = {"overlap_ibarrier": 1, "pingpong": 4, "mpi_overhead": 4}


def call(words, environment=None, timeout_s=120):
    """Runs a command in a session of its own, all of which ends with the time."""
    with subprocess.Popen(words, env={**os.environ, **(environment or {})},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        try:
            out, said = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            out, said = process.communicate(timeout=30)
            said += f"\nno end after {timeout_s} s"
    return subprocess.CompletedProcess(words, process.returncode, out, said)


class Launch(unittest.TestCase):
    """Runs the suite into a folder, and looks at what it left."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.results = os.path.join(self.folder, "results")

    def suite(self, *options, environment=None):
        done = call(["sh", os.path.join(SCRIPTS, "run_suite.sh"),
                     f"--build={OPTIONS.build}", f"--output={self.results}",
                     *CHOICE, *options], environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr +
                         self.logs())
        return done

    def logs(self):
        return call(["sh", "-c", f"tail -n 5 {self.results}/runs/*/*.log"
                     ]).stdout

    def check(self):
        """All rows of both runs; the same in pandas and R."""
        for name, rows in ROWS.items():
            path = f"{self.results}/{name}.tsv"
            found = read_tsv(read(path))
            self.assertEqual([row["run"] for row in found],
                             ["1"] * rows + ["2"] * rows, read(path))
            self.assertNotIn("FAIL", [row["status"] for row in found])
            self.loads(path, len(found), len(found[0]))
        text = read(f"{self.results}/pingpong.tsv")
        self.assertIn("# ranks: 2\n", text)
        return text

    def loads(self, path, rows, columns):
        """All of a file's rows and columns, with runs and samples as numbers."""
        # Debian's Python has Debian's pandas.
        python = shutil.which("python3", path="/usr/bin") or sys.executable
        expected = f"{rows} {columns} {3 * rows // 2}"
        for words in (
                [python, "-c", "import sys, pandas; t = pandas.read_csv("
                 "sys.argv[1], sep='\\t', comment='#'); t.samples + 0.5; "
                 "print(len(t), len(t.columns), t.run.sum())", path],
                ["Rscript", "-e", "t <- read.delim(commandArgs(TRUE)[1], "
                 "comment.char = '#'); stopifnot(is.numeric(t$samples)); "
                 "cat(nrow(t), ncol(t), sum(t$run))", path]):
            done = call(words)
            self.assertEqual(done.stdout.strip(), expected, done.stderr)


class Mpirun(Launch):
    """The build's own: hydra, or Open MPI's."""

    def test_suite(self):
        done = self.suite(f"--launcher={OPTIONS.kind}")
        self.assertIn("6 of 6 launches", done.stderr)
        text = self.check()
        self.assertIn("# nodes: 1\n", text)
        plan = read(self.results + "/suite/plan.tsv")
        self.assertEqual("--allow-run-as-root" in plan,
                         OPTIONS.kind == "openmpi" and os.geteuid() == 0)
        self.assertIn("MPI" if OPTIONS.kind == "openmpi" else "HYDRA",
                      read(self.results + "/suite/versions"))

    def test_failure(self):
        """Wrong usage of a program is a failed launch."""
        done = call(["sh", os.path.join(SCRIPTS, "run_suite.sh"), "--runs=1",
                     f"--build={OPTIONS.build}", f"--output={self.results}",
                     "--benchmarks=overlap_ibarrier,monitor_overhead",
                     "--options=all: --max-time=0.02",
                     "--options=overlap_ibarrier: --no-such-option"])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("no-such-option", done.stderr)
        self.assertFalse(os.path.exists(self.results + "/overlap_ibarrier.tsv"))
        self.assertTrue(os.path.exists(self.results + "/monitor_overhead.tsv"))

    def test_signal(self):
        """Ended in the middle of a launch, nothing of it goes on."""
        words = ["sh", os.path.join(SCRIPTS, "run_suite.sh"), "--runs=1",
                 f"--build={OPTIONS.build}", f"--output={self.results}",
                 "--benchmarks=monitor_overhead,pingpong",
                 "--options=pingpong: --samples=1000000"]
        for number in (signal.SIGTERM, signal.SIGKILL):
            with subprocess.Popen(words, stdin=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True) as process:
                part = self.results + "/runs/1/pingpong.tsv.part"
                self.assertTrue(wait_for(lambda: os.path.exists(part)))
                process.send_signal(number)
                said = process.communicate(timeout=30)[1]
            self.assertEqual(process.returncode,
                             1 if number == signal.SIGTERM else -9, said)
            if number == signal.SIGTERM:
                self.assertFalse(os.path.exists(part))
                self.assertEqual(self.at_work(), [])
        self.assertTrue(self.at_work())
        # What the killed one left is ended by the next.
        done = call(words + ["--budget=6"])
        self.assertIn("Ending process", done.stderr)
        self.assertTrue(wait_for(lambda: not self.at_work()), self.at_work())

    def at_work(self):
        """The command lines that have this test's results."""
        return [process.line for process in processes_with(self.results + "/runs")]


class Testbed(Launch):
    """Two hosts, each with a rank."""

    def over_tcp(self, line):
        """MPICH 4.0.2 over TCP may wait in MPI_Finalize for ever when the processors
        have other things to do. The suite ends such a launch and can be gone on
        with."""
        line += [f"--build={OPTIONS.build}", f"--output={self.results}",
                 f"--hosts={','.join(launchers.Testbed.hosts)}", "--ranks-per-node=1",
                 *[word for word in CHOICE if "--ranks" not in word]]
        for _ in range(4):
            done = call(line + ["--limit=10"])
            if "took longer than" not in done.stderr:
                break
        self.assertEqual(done.returncode, 0, done.stderr + self.logs())

    def make_testbed(self, name):
        made = launchers.Testbed(name)
        self.addCleanup(made.close)
        return made

    def test_wrapper(self):
        testbed = self.make_testbed("suite")
        self.over_tcp(["sh", os.path.join(SCRIPTS, "run_suite.sh"),
                       f"--launcher={testbed.launcher(OPTIONS.mpirun)}"])
        text = self.check()
        self.assertIn("# nodes: 2\n", text)
        self.assertEqual(read(self.results + "/suite/hosts").split(),
                         list(launchers.Testbed.hosts))

    def test_hydra(self):
        """hydra itself, given the hosts; the launcher stands in for ssh."""
        name = self.make_testbed("hydra").name
        environment = {"COMMCOST_TESTBED": name, "UCX_TLS": "tcp,self",
                       "UCX_NET_DEVICES": "wire"}
        line = [launchers.TESTBED, "exec", name, "1", "env",
                *(f"{key}={value}" for key, value in environment.items()),
                "sh", os.path.join(SCRIPTS, "run_suite.sh"),
                f"--launcher={OPTIONS.mpirun} -launcher ssh -launcher-exec "
                f"{os.path.dirname(launchers.TESTBED)}/launch.sh "
                f"-localhost {launchers.Testbed.hosts[0]}"]
        self.over_tcp(line)
        self.assertIn("# nodes: 2\n", self.check())
        self.assertIn("export UCX_NET_DEVICES='wire'",
                      read(self.results + "/suite/environment"))


class Slurm(Launch):
    """A Slurm of one node."""

    @classmethod
    def setUpClass(cls):
        slurm = launchers.Slurm()
        cls.addClassCleanup(slurm.close)
        cls.environment = slurm.environment

    def slurm_call(self, *words):
        done = call(list(words), self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_srun(self):
        """From outside of a job, a job a launch."""
        self.suite("--launcher=srun --mpi=pmi2", environment=self.environment)
        text = self.check()
        self.assertRegex(text, "# job_id: [0-9]+\n")
        self.assertIn("slurm", read(self.results + "/suite/versions"))

    def submit(self, *options):
        return self.slurm_call(
            "sbatch", "--parsable", "--nodes=1", "--ntasks=2",
            f"--chdir={self.folder}", os.path.join(SCRIPTS, "jobs", "slurm.sh"),
            f"--build={OPTIONS.build}", f"--output={self.results}",
            "--launcher=srun --mpi=pmi2", *options)

    def end_of(self, job):
        """Waits for the job's end; what Slurm says of it, and its log."""
        self.assertTrue(wait_for(lambda: job not in self.slurm_call(
            "squeue", "-h", "-o", "%i").split(), 90, every_s=0.1))
        text = self.slurm_call("scontrol", "show", "job", "--oneliner", job)
        return (dict(word.split("=", 1) for word in text.split() if "=" in word),
                read(f"{self.folder}/commcost-{job}.log"))

    def test_sbatch(self):
        job = self.submit(*[word for word in CHOICE if "--ranks" not in word])
        state, log = self.end_of(job)
        self.assertEqual((state["JobState"], state["Restarts"]),
                         ("COMPLETED", "0"), log)
        self.assertIn(f"# job_id: {job}\n", self.check())
        self.assertIn("srun --mpi=pmi2 --kill-on-bad-exit=1 --ntasks=2", read(
            self.results + "/suite/plan.tsv"))
        self.assertIn(f"job {job}", read(self.results + "/suite/calls"))

    def test_time_is_up(self):
        """Warned, the job is queued again and goes on where it was."""
        job = self.submit(*[word for word in CHOICE if "--ranks" not in word])
        first = self.results + "/runs/1/overlap_ibarrier.tsv"
        self.assertTrue(wait_for(lambda: os.path.exists(first)))
        before = os.stat(first)
        self.slurm_call("scancel", "--signal=USR1", "--batch", job)
        state, log = self.end_of(job)
        self.assertEqual((state["JobState"], state["Restarts"]),
                         ("COMPLETED", "1"), log)
        self.assertIn("Ended by SIGUSR1", log)
        self.assertIn("6 of 6 launches", log)
        after = os.stat(first)
        self.assertEqual((before.st_ino, before.st_mtime_ns),
                         (after.st_ino, after.st_mtime_ns))
        self.check()
        launches = re.findall("(?m)^([0-9]+\t[a-z_]+)\t", read(
            self.results + "/suite/launches.tsv"))
        self.assertEqual((len(launches), len(set(launches))), (6, 6))


class Pbs(Launch):
    """The PBS script, with what PBS would say: there is no PBS to be had here."""

    def test_job(self):
        nodes = os.path.join(self.folder, "nodes")
        with open(nodes, "w", encoding="utf-8") as stream:
            stream.write((os.uname().nodename + "\n") * 2)
        environment = {"PBS_O_WORKDIR": self.folder, "PBS_JOBID": "5.here",
                       "PBS_NODEFILE": nodes, "PBS_WALLTIME": "600",
                       "COMMCOST_TOP": TOP,
                       "SUITE": f"--build={OPTIONS.build} --runs=2 "
                                "--benchmarks=overlap_ibarrier,syncbench "
                                f"--launcher={OPTIONS.kind}"}
        script = os.path.join(SCRIPTS, "jobs", "pbs.sh")
        done = call(["sh", script], environment)
        self.results = os.path.join(self.folder, "results", "pbs-5.here")
        self.assertEqual(done.returncode, 0, done.stderr + self.logs())
        for name in ("overlap_ibarrier", "syncbench"):
            runs = [row["run"] for row in
                    read_tsv(read(f"{self.results}/{name}.tsv"))]
            self.assertEqual(set(runs), {"1", "2"})
        self.assertIn("--budget=540", read(self.results + "/suite/calls"))
        # Submitted again, it goes on: here there is nothing left to do.
        environment.update(PBS_JOBID="6.here",
                           SUITE=f"--resume={self.results}")
        done = call(["sh", script], environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 of 4 launches", done.stderr)
        self.assertFalse(os.path.exists(self.folder + "/results/pbs-6.here"))


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="the build folder")
    parser.add_argument("--kind", required=True, help="hydra or openmpi")
    parser.add_argument("--mpirun", required=True)
    parser.add_argument("tests", nargs="*", help="classes; default: all")
    OPTIONS = parser.parse_args()
    run_tests(OPTIONS.tests)


if __name__ == "__main__":
    main()
