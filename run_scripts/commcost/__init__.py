# SPDX-License-Identifier: BSD-3-Clause
"""The suite, and readers of its results. Packages, each of which uses only those above it:

    result     reader and model of results, statistics over launches
    suite      the suite, and launches of jobs
    compare    comparisons of two sides, and of settings
    scorecard  answers at a glance
    report     pages and pictures
    cost       the communication cost of a program
    tune       the MPI library's best algorithms, and GPU support

Packages share `command` (command lines, errors of one line), `system` (files, commands), `words` (numbers, sizes and
lists as text) and `page` (a report as a tree of parts). They need Python 3.6 and its standard library.
"""

__version__ = "0.2.0"  # of commcost; read by CMakeLists.txt
