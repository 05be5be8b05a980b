# SPDX-License-Identifier: BSD-3-Clause
"""The suite, and launches of jobs.

    benchmark_suite   run_suite.sh
    suite_options     its options
    suite_plan        its launches: suite.list, settings, commands
    suite_run         a suite from its plan to its end
    suite_folder      its folder: records of launches, merged launches
    launch_options    options of all scripts that start programs
    launchers         one class per launcher: its options for ranks, hosts, binding
    launch_processes  launches as processes
    trial_launches    launches one by one, each of which may fail
    launch_conditions other programs' load, and facts of the check-up in results
    processor_count   the number of ranks that fit on a machine
"""
