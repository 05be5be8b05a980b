"""Launches one by one, each of which may fail.

    tune              tune.sh: its options
    library_tuning    a tuning: launches, the race, the proof
    tune_outputs      what it writes: the library's file, evidence, page
    algorithm_race    which algorithms are measured further, and which are proved better
    mpi_libraries     a class an MPI library: its algorithms and its file
    trial_launches    launches and their outcomes, in a folder
    device_matrix     device_matrix.sh: its options
    device_operations operations that it tries
    device_trials     its launches, and what they show
    device_claims     what an MPI library claims of GPUs
    device_outputs    what it writes: page and table
"""
