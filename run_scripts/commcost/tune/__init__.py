"""Launches one by one, each of which may fail.

    tune              tune.sh: the best algorithms of the MPI library, as its file
    algorithm_race    which algorithms are measured further, and which are proved better
    mpi_libraries     a class an MPI library: its algorithms and its file
    trial_launches    launches and their outcomes, in a folder
    device_matrix     device_matrix.sh: which operations work with buffers on a GPU
"""
