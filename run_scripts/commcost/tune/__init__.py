# SPDX-License-Identifier: BSD-3-Clause
"""Tuning of the MPI library, and a matrix of GPU operations.

    tune              tune.sh: its options
    library_tuning    a tuning: launches, the race, the proof
    tune_outputs      its outputs: the library's file, evidence, page
    algorithm_race    the race of algorithms, and the proof of the winners
    mpi_libraries     one class per MPI library: its algorithms and its file
    device_matrix     device_matrix.sh: its options
    device_trials     its operations, launches and outcomes
    device_outputs    its outputs: page with the library's claims, table
"""
