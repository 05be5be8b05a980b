# SPDX-License-Identifier: BSD-3-Clause
"""The monitor's report of calls from Fortran is that of the same calls from C, to the byte: under each name and in each
form (tests/monitor/fortran_calls.c), with the Fortran layer of the MPI library between the monitor and the model."""

import os
import unittest

import virtual
from monitored import report_of

LAYER = os.path.join(virtual.BUILD, "tests/monitor/libfortran_calls.so")
FORMS = {"_": "C, Fortran", "__": "C, Fortran", "upper": "C, Fortran", "f08": "C, Fortran (mpi_f08)",
         "mixed": "C, Fortran"}
MACHINE = {"MODEL_LATENCY_US": 200, "MODEL_DURATION_US": 200, "MODEL_BARRIER_US": 200, "MODEL_POST_US": 2,
           "MODEL_WAIT_US": 3, "MODEL_SYNC_US": 5, "MODEL_TEST_US": 20}
PROGRAMS = {2: [("monitor_script", 5, 8), ("monitor_inside", 5, 300), ("monitor_around", 5, 300),
                ("monitor_poll", 100, 200), ("monitor_files", 3, 64, 10), ("example_stencil", 5, 64, 50, 10, 2),
                ("example_halo", 3, 4, 64, 50), ("example_puts", 3, 4, 64, 2, 50, 2),
                ("example_transpose", 3, 64, 50, 10, 1), ("example_solver", 5, 2, 50, 10)],
            4: [("monitor_script", 3, 4096), ("monitor_late", 40, 10, 0), ("monitor_pairs", 4)]}


class Forms(virtual.Test):
    def test_reports(self):
        if not os.path.exists(LAYER):
            raise unittest.SkipTest("no Fortran compiler for this MPI library")
        for ranks, programs in PROGRAMS.items():
            for program in programs:
                of_c = report_of(*program, ranks=ranks, **MACHINE)
                self.assertEqual(of_c.head["languages"], "C")
                self.assertGreater(len(of_c.lines), 10)
                for form, languages in FORMS.items():
                    with self.subTest(program=program, form=form):
                        found = report_of(*program, ranks=ranks, before=[LAYER], FORTRAN_CALLS=form, **MACHINE)
                        self.assertEqual(found.lines, of_c.lines)
                        self.assertEqual(found.head["languages"], languages)


class Flavours(virtual.Test):
    """A program in Fortran (flavours.F90) that makes the calls of one in C."""

    def test_reports(self):
        if not os.path.exists(LAYER):
            raise unittest.SkipTest("no Fortran compiler for this MPI library")
        of_c = report_of("flavours", **MACHINE)
        self.assertTrue(any("pair of ranks" in line for line in of_c.lines))
        for flavour, languages in {"mpifh": "Fortran", "use_mpi": "Fortran", "use_f08": "Fortran (mpi_f08)"}.items():
            with self.subTest(flavour):
                found = report_of("../monitor/flavours_" + flavour, **MACHINE)
                self.assertEqual(found.lines, of_c.lines)
                self.assertEqual(found.head["languages"], languages)


if __name__ == "__main__":
    virtual.main()
