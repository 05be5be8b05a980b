# SPDX-License-Identifier: BSD-3-Clause
"""The communication cost of a program.

    program_cost      cost.sh: its options and its output
    program_account   an account of a program's time in MPI
    program_changes   changes that save time, one function per rule
    machine_costs     costs of calls on a machine, from results
    protocol_curves   the time of a transfer by size, between protocol switches
    call_ways         rows of results that hold the cost of a call
    cost_page         its page
    cost_json         its JSON
    time_places       source lines and ranks at which the time was spent
    peer_waits        waiting of ranks for each other
    monitor_report    a monitor's report of a program
    line_times        call_sites.sh: the time in MPI by source line
"""
