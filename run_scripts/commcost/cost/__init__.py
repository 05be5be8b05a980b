"""What communication costs a program.

    program_cost      cost.sh: where the time of a program went
    program_changes   changes that would save time, a function a rule
    machine_costs     costs of calls on a machine, from results
    monitor_report    a monitor's report of a program
"""
