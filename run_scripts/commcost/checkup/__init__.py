# SPDX-License-Identifier: BSD-3-Clause
"""The check-up: what is wrong with how MPI runs here.

    checkup        checkup.sh: its options, one check-up
    checkup_output the table for people, the file, JSON
    checks         conditions on facts, one function per check
    networks       checks between nodes
    findings       findings, remedies and the job that checks judge
    result_lines   findings and what became of their remedies
    job_start      a job that doesn't start
    experiments    launches with and without a remedy
    jobs           launches of the program checkup
    transports     the MPI library's report of its transports
    installations  the launcher's version, and how the library was built
"""
