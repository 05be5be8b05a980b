# SPDX-License-Identifier: BSD-3-Clause
"""sweep.sh: a table over ranks and variables. mpi_overhead_sweep.sh: all sizes, as specified."""

import os

from case import Case, call, each
from pretended_suite import SCRIPTS


class Sweep(Case):
    def setUp(self):
        """A program that prints its variables and options in two rows, and fails with 3 ranks."""
        super().setUp()
        self.program = self.folder / "program"
        self.program.write_text('#!/bin/sh\nprintf "options\\tx\\ty\\n%s\\t$X\\t$Y\\nsecond\\t\\t\\n" "$*"\n'
                                '[ "$RANKS" != 3 ]\n')
        self.program.chmod(0o755)

    def sweep(self, *options, **variables):
        return call(["sh", os.path.join(SCRIPTS, "sweep.sh"), *options], cwd=self.folder, env={
            **os.environ, "LAUNCH": "env RANKS={ranks}", **variables})

    def test_table(self):
        """One header; what is swept is first; --sizes is the program's; each command is printed."""
        done = self.sweep("--ranks=2,4", "--env=X=a,b", "--env=Y=1,2", "--sizes=8:1K", str(self.program), "--local=5")
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        assert rows[0] == ["job_ranks", "X", "Y", "options", "x", "y"]
        swept = [[ranks, x, y] for ranks in "24" for x in "ab" for y in "12"]
        assert rows[1::2] == [[*keys, "--no-metadata --sizes=8:1K --local=5", *keys[1:]] for keys in swept]
        assert rows[2::2] == [[*keys, "second", "", ""] for keys in swept]
        assert done.stderr.splitlines() == [
            f"+ env X={x} Y={y} env RANKS={ranks} {self.program} --no-metadata --sizes=8:1K --local=5"
            for ranks, x, y in swept]
        assert done.returncode == 0

    def test_plain_and_failed(self):
        """Without variables; in a file; a launch that fails doesn't end the sweep, but its exit status is 1."""
        done = self.sweep("--ranks=3,2", "--output=table.tsv", str(self.program))
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        assert done.stderr.splitlines()[-1] == "sweep.sh: a launch failed: its rows may be missing"
        assert [row.split("\t")[:2] for row in (self.folder / "table.tsv").read_text().splitlines()] == [
            ["job_ranks", "options"], ["3", "--no-metadata"], ["3", "second"], ["2", "--no-metadata"], ["2", "second"]]

    @each("options, reason", [(["--ranks=0", "/bin/sh"], "--ranks"), (["--ranks=2,x", "/bin/sh"], "--ranks"),
                              ([], "which program"), (["--rank=2", "sh"], "--rank=2"), (["no/program"], "no/program"),
                              (["--output=/no/folder/t", "/bin/sh"], "--output"),
                              (["--env=X", "/bin/sh"], "--env=NAME=VALUE"),
                              (["/bin/sh", "--format=table"], "leave it out")])
    def test_misused(self, options, reason):
        done = self.sweep(*options)
        assert (done.returncode, done.stdout) == (2, "") and reason in done.stderr.splitlines()[-1], done.stderr

    def test_launcher(self):
        """Ranks get the variables from a launcher that must be told."""
        (self.folder / "CMakeCache.txt").write_text(f"COMMCOST_MPIRUN_PROGRAM:FILEPATH={self.folder}/mpirun\n")
        (self.folder / "mpirun").write_text('#!/bin/sh\necho "Open MPI"\n')
        (self.folder / "mpirun").chmod(0o755)
        (self.folder / "halo").mkdir()
        program = self.program.rename(self.folder / "halo" / "program")
        done = self.sweep("--ranks=4", "--env=X=a", "--env=Y=b", str(program), LAUNCH="", SLURM_JOB_ID="")
        line, = [line for line in done.stderr.splitlines() if line.startswith("+ ")]
        assert line.startswith(f"+ env X=a Y=b {self.folder}/mpirun "), line
        assert " -np 4 " in line and line.endswith(f" -x X -x Y {program} --no-metadata"), line


class OverheadSweep(Case):
    def test_as_specified(self):
        """The lines around the table, on stderr; the program's exit status."""
        program = self.folder / "mpi_overhead"
        program.write_text("#!/bin/sh\necho \"$*\"\nexit 3\n")
        program.chmod(0o755)
        done = call(["sh", os.path.join(SCRIPTS, "mpi_overhead_sweep.sh"), "--recv"], cwd=self.folder,
                    env={**os.environ, "PROGRAM": str(program), "LAUNCH": "env"})
        assert (done.returncode, done.stdout) == (3, "--msgsize=0,2:4M --recv\n"), done.stderr
        lines = done.stderr.splitlines()
        assert lines[:3] == ["######### START #########", f"Running on {os.uname().nodename}", f"Dir is {self.folder}"]
        assert lines[-1] == "######### DONE! #########"

    @each("version, variables, words", [
        ("HYDRA build details", {}, ["-np", "2"]),
        ("Open MPI", {"SLURM_JOB_ID": "1", "SLURM_NTASKS": "6"}, ["--kill-on-bad-exit=1", "--ntasks=6"])])
    def test_launcher(self, version, variables, words):
        """Without LAUNCH jobs are started as the suite starts them: by the build's launcher, or in a Slurm job by
        srun with all of its tasks."""
        (self.folder / "halo").mkdir()
        for name in ("mpirun", "srun", "halo/mpi_overhead"):
            (self.folder / name).write_text(f'#!/bin/sh\n[ "$1" != --version ] || echo "{version}"\n')
            (self.folder / name).chmod(0o755)
        (self.folder / "CMakeCache.txt").write_text(f"COMMCOST_MPIRUN_PROGRAM:FILEPATH={self.folder}/mpirun\n")
        program = f"{self.folder}/halo/mpi_overhead"
        done = call(["sh", os.path.join(SCRIPTS, "mpi_overhead_sweep.sh")], env={
            **os.environ, "LAUNCH": "", "PROGRAM": program, "PATH": f"{self.folder}:{os.environ['PATH']}", **variables})
        line, = [line for line in done.stderr.splitlines() if line.startswith("+ ")]
        begin, end = line[2:].split(f" {program} ")
        launcher, *options = begin.split()
        assert (launcher, end) == ("srun" if variables else f"{self.folder}/mpirun", "--msgsize=0,2:4M"), line
        assert options[:len(words)] == words, line
