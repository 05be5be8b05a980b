"""mpi_overhead_sweep.sh: all sizes, as specified."""

import os

from case import Case, call, each
from pretended_suite import SCRIPTS


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
