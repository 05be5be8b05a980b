"""The check-up: what is wrong with how MPI runs here.

    checkup        checkup.sh: its options and its output
    checks         conditions on facts, one function per check
    experiments    launches with and without a remedy
    jobs           launches of the program checkup
    transports     the MPI library's report of its transports
"""
