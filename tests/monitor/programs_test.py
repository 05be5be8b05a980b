# SPDX-License-Identifier: BSD-3-Clause
"""Fortran programs of others run unchanged under the monitor, with the same results and exit status as without. Debian's
are linked with Open MPI."""

import os
import re
import shutil
import typing

import case
from mpi_run import read, read_tsv

FOLDER = os.path.dirname(os.path.abspath(__file__))
# Ranks that wait give up their processor.
QUIET = {"OMPI_MCA_mpi_yield_when_idle": 1, "OMP_NUM_THREADS": 1, "CP2K_DATA_DIR": "/usr/share/cp2k"}


class Program(typing.NamedTuple):
    command: list
    results: str    # lines of its output
    languages: str
    operation: str  # that it must have called


PROGRAMS = {
    "Quantum ESPRESSO": Program(["/usr/bin/pw.x", "-in", "silicon.in"], "total energy .*=|convergence has been",
                                "C, Fortran", "MPI_Allreduce"),
    "CP2K": Program(["/usr/bin/cp2k.psmp", "-i", "hydrogen.inp"], r"ENERGY\||SCF run converged", "C, Fortran", "MPI_Isend"),
    "NWChem": Program(["/usr/bin/nwchem", "water.nw"], "SCF energy|repulsion energy", "C", "MPI_Accumulate"),
}


class Programs(case.Case):
    def launch(self, program, **environment):
        """The lines with its results."""
        words = self.launcher.line(2, {**QUIET, **environment}, program.command)
        done = case.call(words, cwd=str(self.folder))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return [line for line in done.stdout.splitlines() if re.search(program.results, line)]

    def check(self, program):
        report = os.path.join(str(self.folder), "report.tsv")
        shutil.copy(os.path.join(FOLDER, program.command[-1]), str(self.folder))
        plain = self.launch(program)
        found = self.launch(program, LD_PRELOAD=self.built("monitor/libmpirtmon.so"),
                            MPIRT_MONITOR="all,output=" + report)
        self.assertEqual(found, plain)
        self.assertGreater(len(plain), 1)
        text = read(report)
        self.assertIn("\n# languages: " + program.languages + "\n", text)
        self.assertNotIn("their end was not seen", text)
        rows = [row for row in read_tsv(text) if row["rank"] == "NA"]
        self.assertIn(program.operation, {row["operation"] for row in rows})
        total, parts = (sum(float(row["in_calls_s"]) for row in rows if row["kind"] in kinds)
                        for kinds in (["total"], ["pttopt", "coll", "calls"]))
        self.assertAlmostEqual(total, parts, delta=1e-2 * total)

    def test_programs(self):
        if not self.launcher.is_openmpi:
            self.skipTest("Debian's programs are linked with Open MPI")
        for name, program in PROGRAMS.items():
            with self.subTest(name):
                if not os.path.exists(program.command[0]):
                    self.skipTest(program.command[0] + " is missing")
                self.check(program)
