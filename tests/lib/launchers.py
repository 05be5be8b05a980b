# SPDX-License-Identifier: BSD-3-Clause
"""Launchers that a test has to start: a Slurm of this one machine, and the testbed's two hosts.
Where one can't be had, its constructor raises SkipTest with the reason; who made one must close() it."""

import os
import shutil
import subprocess
import tempfile
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SLURM = os.path.join(TESTS, "scripts", "slurm_here.sh")
TESTBED = os.path.join(TESTS, "machine", "testbed", "testbed.sh")
SKIP = 77


def check(status, text):
    """Fails, or skips the test, unless a script succeeded."""
    if status == SKIP:
        raise unittest.SkipTest(text.strip())
    if status != 0:
        raise AssertionError(f"exit status {status}: {text}")


class Slurm:
    """Its daemons, and the environment in which srun and the like find them."""

    def __init__(self):
        # munge wants folders that only their owner can write to, and all can enter.
        self.top = tempfile.mkdtemp()
        os.chmod(self.top, 0o755)
        self.folder = os.path.join(self.top, "slurm")
        self.environment = {"SLURM_CONF": self.folder + "/slurm.conf"}
        try:
            check(*self.call("start"))
        except BaseException:
            self.close()
            raise

    def call(self, what):
        # To a file: daemons keep what they write to open.
        log = os.path.join(self.top, what)
        with open(log, "w+", encoding="utf-8") as stream:
            done = subprocess.run(["sh", SLURM, what, self.folder], check=False,
                                  stdin=subprocess.DEVNULL, stdout=stream,
                                  stderr=stream)
            stream.seek(0)
            return done.returncode, stream.read()

    def close(self):
        """Ends its jobs, too."""
        self.call("stop")
        shutil.rmtree(self.top, ignore_errors=True)


class Testbed:
    """Two hosts; `hosts` are their addresses."""

    hosts = ("198.18.0.1", "198.18.0.2")

    def __init__(self, name, *options):
        """The name is of the test: the process's number makes it its own. The options are those of
        `testbed.sh up`."""
        self.name = f"{name}-{os.getpid()}"
        try:
            done = self.call("up", *options)
            check(done.returncode, done.stderr)
        except BaseException:
            self.close()
            raise

    def call(self, what, *options):
        return subprocess.run([TESTBED, what, "-q", *options, self.name], text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)

    def launcher(self, mpirun):
        """run_suite.sh's --launcher for a rank on each host or more."""
        return (f"{TESTBED} run -q --in {self.name} --mpirun {mpirun} "
                "--ranks {ranks} --")

    def close(self):
        """Ends what runs in it, too."""
        self.call("down")
