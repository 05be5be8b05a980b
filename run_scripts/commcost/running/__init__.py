"""The suite.

    suite      run_suite.sh: its options, and the suite from its plan to its end
    arguments  options of all scripts that launch programs, and what a folder keeps of them
    plan       what a suite runs: suite.list, options, settings, commands
    launchers  how jobs are started, the suite's and sweeps': a class a launcher
    machine    how many ranks a machine has room for
    processes  a launch as a process, and its end
    trials     launches one by one, each of which may fail
    libraries  which algorithms an MPI library offers, and the file that says which to use
    folder     a suite's folder: what it takes to run it again, records, launches put together
"""
