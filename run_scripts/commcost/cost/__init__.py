"""What communication costs a program.

    program_cost      cost.sh: its options, and what it writes
    program_account   where the time of a program went
    program_changes   changes that would save time, a function a rule
    machine_costs     costs of calls on a machine, from results
    call_ways         which rows of results tell the cost of a call
    monitor_report    a monitor's report of a program
"""
