# SPDX-License-Identifier: BSD-3-Clause
"""The way from main() to the timed MPI call, in a build without optimisation: the number of calls, with each chain
printed; and by gcov that a run without a device enters no function of common/device/."""

import glob
import json
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
    "pingpong/pingpong": (["--patterns=MPI Send", "--max-ndata=8"], "MPI_Send", 5),
    "mpi_overhead/mpi_overhead": ([], "MPI_Isend", 6),
    # 7 in the rounds of the answer, 8 in the search.
    "overlap/overlap_iallreduce": (["--data-driven", "--sizes=8"], "MPI_Iallreduce", 8),
}
SHORT = ["--max-time=0.05", "--visits=2", "--output=/dev/null"]
# Options under which programs make all their buffers, without --memory and --device.
ON_HOST = {
    "halo/halo": [["--local=8"], ["--local=8", "--methods=persistent", "--check"]],
    "pingpong/pingpong": [["--max-ndata=8"], ["--max-ndata=8", "--buffers=new", "--check"]],
    "msgrate/msgrate": [["--peers=1"], ["--peers=1", "--buffers=new", "--check"]],
    "collective/collective": [["--sizes=8"], ["--sizes=8", "--buffers=new", "--check"]],
    "mpi_overhead/mpi_overhead": [[], ["--buffers=new", "--check"]],
    "overlap/overlap_iallreduce": [["--data-driven", "--sizes=8"],
                                   ["--data-driven", "--sizes=8", "--buffers=new", "--check"]],
}


class Distance(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tree = tempfile.mkdtemp()
        flags = "-O0 -g -fno-pie --coverage"
        cache = os.path.join(cls.build, "CMakeCache.txt")
        with open(cache, encoding="utf-8") as stream:
            compiler = next(line.split("=", 1)[1].strip() for line in stream if line.startswith("MPI_C_COMPILER:"))
        subprocess.run(["cmake", "-S", cls.source, "-B", cls.tree, "-DCMAKE_BUILD_TYPE=None", "-DBUILD_TESTING=OFF",
                        f"-DMPI_C_COMPILER={compiler}", f"-DCMAKE_C_FLAGS={flags}", "-DCMAKE_EXE_LINKER_FLAGS=-no-pie"],
                       check=True, stdout=subprocess.DEVNULL)
        targets = [os.path.basename(program) for program in PROGRAMS]
        subprocess.run(["cmake", "--build", cls.tree, "-j2", "--target", *targets], check=True,
                       stdout=subprocess.DEVNULL)
        cls.library = os.path.join(cls.tree, "libdistance.so")
        subprocess.run([compiler, "-O0", "-g", "-shared", "-fPIC", "-o", cls.library,
                        os.path.join(cls.source, "tests/lint/distance.c")], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.tree)
        super().tearDownClass()

    def frames(self, program, addresses):
        """Returns (function, file) at each return address, which may lie behind the line of the call. Of inlined
        functions the one that they are in."""
        said = subprocess.run(["addr2line", "-a", "-f", "-i", "-e", program, *(hex(int(a, 16) - 1) for a in addresses)],
                              check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
        parts = [part.splitlines() for part in re.split("^0x", said, flags=re.MULTILINE)[1:]]
        return [(part[-2], part[-1]) for part in parts]

    def chains(self, program, options, function):
        """Returns the chains of functions from main() to the MPI function, of calls from a timed region."""
        path, report = os.path.join(self.tree, program), os.path.join(self.folder, "report")
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

    def entered(self, room):
        """Returns the names of the functions of a room that the programs have entered so far."""
        objects = glob.glob(f"{self.tree}/common/**/{room}/*.gcda", recursive=True)
        said = subprocess.run(["gcov", "--json-format", "--stdout", *objects], check=True, stdout=subprocess.PIPE,
                              universal_newlines=True, cwd=self.tree).stdout
        return {function["name"] for line in said.splitlines() for file in json.loads(line)["files"]
                if f"common/{room}/" in file["file"]
                for function in file["functions"] if function["execution_count"] > 0}

    def test_devices_out_of_the_way(self):
        for program, runs in ON_HOST.items():
            for options in runs:
                with self.subTest(program=program, options=options):
                    subprocess.run([*self.launcher.command, "-np", "2", os.path.join(self.tree, program), *options,
                                    *SHORT], check=True, stderr=subprocess.DEVNULL)
        self.assertLessEqual({"bc_buffer_create", "bc_buffer_renew", "bc_buffer_read"}, self.entered("memory"))
        self.assertEqual(set(), self.entered("device"))
