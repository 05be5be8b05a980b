# SPDX-License-Identifier: BSD-3-Clause
#
# Package for Spack 1.0 or newer. commcost has no public repository yet: set `git` to your clone, and put this file into
# packages/commcost/ of your package repository (spack repo create). In Spack's own repository, its licence header
# replaces these lines.
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Commcost(CMakePackage):
    """Measures the cost of communication for an MPI application: overlap, host overhead, message rate, latency and
    bandwidth, synchronisation, halo exchanges, slow nodes and links. Includes a monitor for any MPI program."""

    git = "file:///opt/git/commcost.git"
    homepage = git

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    variant("man", default=True, description="Install man pages")
    variant("plots", default=False, description="Draw the suite's pictures with gnuplot")

    depends_on("c", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("help2man", type="build", when="+man")
    depends_on("mpi@3.1:")
    depends_on("python@3.6:", type=("build", "run"))
    depends_on("gnuplot", type="run", when="+plots")

    def cmake_args(self):
        return [
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define("BUILD_TESTING", self.run_tests),
            self.define_from_variant("COMMCOST_MAN", "man"),
        ]

    def test_pingpong(self):
        """exchange messages between two processes"""
        mpirun = Executable(self.spec["mpi"].prefix.bin.mpirun)
        pingpong = join_path(self.prefix.libexec, "commcost", "pingpong", "pingpong")
        options = ["--check", "--patterns=put,MPISend", "--sizes=8", "--max-time=0.1"]
        out = mpirun("-n", "2", pingpong, *options, output=str.split, error=str.split)
        check_outputs(r"# end: \d+ rows, exit 0", out)

    def test_scripts(self):
        """start the installed scripts"""
        for script in ("commcost-run-suite", "commcost-checkup", "bench_compare"):
            with test_part(self, f"test_scripts_{script}", purpose=f"run {script} --version"):
                out = Executable(join_path(self.prefix.bin, script))("--version", output=str.split, error=str.split)
                check_outputs(r"\(commcost\) \d", out)
