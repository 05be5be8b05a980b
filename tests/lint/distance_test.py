"""The number of calls between main() and the timed MPI call, in a build without optimisation. Prints each chain."""

import os
import re
import shutil
import subprocess
import tempfile

from case import Case

# program: (options, MPI function, largest distance)
PROGRAMS = {
    "halo/halo": (["--methods=persistent", "--local=8"], "MPI_Startall", 5),
    "collective/collective": (["--operations=allreduce", "--sizes=8"], "MPI_Allreduce", 5),
    "msgrate/msgrate": (["--peers=1"], "MPI_Isend", 5),
    "syncbench/syncbench": (["--types=MPI barrier"], "MPI_Barrier", 5),
    "pingpong/pingpong": (["--patterns=MPI Send", "--max-size=8"], "MPI_Send", 5),
    "mpi_overhead/mpi_overhead": ([], "MPI_Isend", 6),
    # 7 in the rounds of the answer, 8 in the search.
    "overlap/overlap_iallreduce": (["--data-driven", "--sizes=8"], "MPI_Iallreduce", 8),
}
SHORT = ["--max-time=0.05", "--visits=2", "--output=/dev/null"]


class Distance(Case):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        flags = "-O0 -g -fno-pie"
        cache = os.path.join(self.build, "CMakeCache.txt")
        with open(cache, encoding="utf-8") as stream:
            compiler = next(line.split("=", 1)[1].strip() for line in stream if line.startswith("MPI_C_COMPILER:"))
        subprocess.run(["cmake", "-S", self.source, "-B", self.folder, "-DCMAKE_BUILD_TYPE=None", "-DBUILD_TESTING=OFF",
                        f"-DMPI_C_COMPILER={compiler}", f"-DCMAKE_C_FLAGS={flags}", "-DCMAKE_EXE_LINKER_FLAGS=-no-pie"],
                       check=True, stdout=subprocess.DEVNULL)
        targets = [os.path.basename(program) for program in PROGRAMS]
        subprocess.run(["cmake", "--build", self.folder, "-j2", "--target", *targets], check=True,
                       stdout=subprocess.DEVNULL)
        self.library = os.path.join(self.folder, "libdistance.so")
        subprocess.run([compiler, "-O0", "-g", "-shared", "-fPIC", "-o", self.library,
                        os.path.join(self.source, "tests/lint/distance.c")], check=True)

    def frames(self, program, addresses):
        """Returns (function, file) at each return address, which may lie behind the line of the call. Of inlined
        functions the one that they are in."""
        said = subprocess.run(["addr2line", "-a", "-f", "-i", "-e", program, *(hex(int(a, 16) - 1) for a in addresses)],
                              check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
        parts = [part.splitlines() for part in re.split("^0x", said, flags=re.MULTILINE)[1:]]
        return [(part[-2], part[-1]) for part in parts]

    def chains(self, program, options, function):
        """Returns the chains of functions from main() to the MPI function, of calls from a timed region."""
        path, report = os.path.join(self.folder, program), os.path.join(self.folder, "report")
        subprocess.run([*self.launcher.command, "-np", "2", "env", f"LD_PRELOAD={self.library}", f"DISTANCE_REPORT={report}",
                        path, *options, *SHORT], check=True, stderr=subprocess.DEVNULL)
        with open(report, encoding="ascii") as stream:
            stacks = [line.split() for line in stream]
        addresses = sorted({address for name, *frames in stacks if name == function for address in frames})
        frame_at = dict(zip(addresses, self.frames(path, addresses)))
        found = set()
        for name, *frames in stacks:
            if name != function:
                continue
            named = [frame_at[address] for address in frames]
            functions = [frame[0] for frame in named]
            inside = named[:functions.index("main")]
            if any("kernel" in os.path.basename(file) for _, file in inside):
                found.add(tuple(reversed(functions[:functions.index("main") + 1])) + (function,))
        return found

    def test_distances(self):
        for program, (options, function, limit) in PROGRAMS.items():
            with self.subTest(program=program):
                chains = self.chains(program, options, function)
                self.assertTrue(chains, "no timed call")
                for chain in sorted(chains, key=len):
                    print("{} {}".format(len(chain) - 1, " > ".join(chain)))
                self.assertLessEqual(max(map(len, chains)) - 1, limit)
                if program.startswith("overlap/"):
                    self.assertLessEqual(min(map(len, chains)) - 1, 7)
