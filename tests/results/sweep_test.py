"""sweep.sh: a benchmark over sizes by its own option, as one table."""

import os

from case import Case, call, each
from mpi_run import read_tsv
from pretended_suite import SCRIPTS


class Sweep(Case):
    def sweep(self, program, *options, status=0):
        """Rows of a sweep of a program of the build, and all that it wrote."""
        if not os.access(os.path.join(self.build, program), os.X_OK):
            self.skipTest(f"{program} isn't built")
        done = call(["sh", os.path.join(SCRIPTS, "sweep.sh"), os.path.join(self.build, program), *options],
                    env={**os.environ, "LAUNCH": " ".join([*self.launcher.command, "-np 2"])})
        assert done.returncode == status, done.stderr
        return (read_tsv(done.stdout) if status == 0 else []), done

    @each("program, sizes, column, expected, options", [
        ("mpi_overhead/mpi_overhead", "8,1K:4K", "msgsize", [8, 1024, 2048, 4096], []),
        ("msgrate/msgrate", "8,1K", "nbytes", [8, 1024], ["-p", "1", "-c", "0", "-m", "2"]),
        ("overlap/overlap_ibcast", "8,1K:4K", "size_bytes", [8, 1024, 2048, 4096], []),
        ("pingpong/pingpong", "8:512", "blksize", [1, 8, 64],
         ["--patterns=MPI Send", "--arrangements=single"]),
        ("overlap/overlap_sendrecv", "1K:4K", "size_bytes", [1024, 2048, 4096], ["--test-calls=0,1"]),
        ("overlap/overlap_partitioned", "8:32,128", "size_bytes", [8, 16, 32, 128], []),
        ("halo/halo", "128,512", "local", ["4x4x4", "8x8x8"], ["--methods=persistent"]),
        ("overlap/overlap_halo", "128,512", "local", ["4x4x4", "8x8x8"], [])])
    def test_sizes(self, program, sizes, column, expected, options):
        rows, done = self.sweep(program, f"--sizes={sizes}", "--max-time=0.02", *options)
        assert list(dict.fromkeys(row[column] for row in rows)) == [str(size) for size in expected]
        assert done.stdout.count("\n# end: ") == 1
        assert done.stdout.endswith(f"# end: {len(rows)} rows, exit 0\n")
        assert done.stdout.count("# program: ") == 1

    @each("program, option, named", [
        ("syncbench/syncbench", "--sizes=8", "syncbench has no sizes"),
        ("halo/halo", "--sizes=8,x", "'8,x' is no list of sizes"),
        ("halo/halo", "--sizes=4K:8", "is no list of sizes"),
        ("halo/halo", "--no-header", "'--no-header'"), ("halo/halo", "--out=x", "'--out=x'"),
        *[(program, option, f"'{option}'") for program, option in [
            ("halo/halo", "--f=table"), ("halo/halo", "--form=table"), ("halo/halo", "--format"),
            ("overlap/overlap_isend", "--fo=table"), ("overlap/overlap_isend", "--for=table"),
            ("overlap/overlap_isend", "--forma=table"), ("overlap/overlap_isend", "--format=table")]],
        ("halo/halo", "--sizes", "--sizes needs a value"),
        ("halo/halo", "--output=/no/such/x", "cannot write '/no/such/x'")])
    def test_usage(self, program, option, named):
        _, done = self.sweep(program, option, status=2)
        assert named in done.stderr
        assert len(done.stderr.splitlines()) == 1

    @each("option", [["--form=all"], ["--form", "all"]])
    def test_form(self, option):
        """The option of overlap programs is no abbreviation of --format."""
        rows, _ = self.sweep("overlap/overlap_isend", "--sizes=8", "--max-time=0.02", *option)
        assert [row["form"] for row in rows] == ["nonblocking", "persistent"]

    def test_output(self):
        _, done = self.sweep("mpi_overhead/mpi_overhead", "--sizes=8", "--max-time=0.02",
                             f"--output={self.folder}/a.tsv")
        assert done.stdout == ""
        written = (self.folder / "a.tsv").read_text()
        assert [(row["msgsize"], row["visits"] != "") for row in read_tsv(written)] == [("8", True)]
        assert "\n# compiler: " in written


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

    @each("said, variables, words", [
        ("HYDRA build details", {}, ["-np", "2"]),
        ("Open MPI", {"SLURM_JOB_ID": "1", "SLURM_NTASKS": "6"}, ["--kill-on-bad-exit=1", "--ntasks=6"])])
    def test_launcher(self, said, variables, words):
        """Without LAUNCH jobs are started as the suite starts them: by the build's launcher, or in a Slurm job by
        srun with all of its tasks."""
        (self.folder / "halo").mkdir()
        for name in ("mpirun", "srun", "halo/mpi_overhead"):
            (self.folder / name).write_text(f'#!/bin/sh\n[ "$1" != --version ] || echo "{said}"\n')
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
