# SPDX-License-Identifier: BSD-3-Clause
# A Spack recipe in the form of Spack's package repository (Spack 1.0 and newer). Until commcost is there: put this file
# into packages/commcost/ of your repository (spack repo create), the source archive (cpack --config
# CPackSourceConfig.cmake) at `url`, and its checksum (sha256sum) into `version`. Untested except for its syntax.
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Commcost(CMakePackage):
    """Cost of communication for an MPI application: overlap, host overhead, message rate, latency and bandwidth,
    synchronisation, halo exchanges, slow nodes and links, and a monitor for any MPI program."""

    url = "file:///opt/archives/commcost-0.2.0.tar.gz"
    maintainers = []
    license("BSD-3-Clause")

    version("0.2.0", sha256="0" * 64)

    variant("man", default=True, description="Man pages")

    depends_on("c", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("help2man", type="build", when="+man")
    depends_on("mpi@3.1:")
    depends_on("gnuplot", type="run")
    depends_on("python@3.6:", type="run")

    def cmake_args(self):
        return [
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define_from_variant("COMMCOST_MAN", "man"),
        ]
