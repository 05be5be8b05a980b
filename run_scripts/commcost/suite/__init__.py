"""The suite, and how jobs are started.

    benchmark_suite   run_suite.sh
    suite_options     its options
    suite_plan        what it runs: suite.list, settings, commands
    suite_run         a suite from its plan to its end
    suite_folder      a suite's folder: records of launches, launches put together
    launch_options    options of all scripts that start programs
    launchers         a class a launcher: its words for ranks, hosts, binding
    launch_processes  a launch as a process, and its end
    processor_count   how many ranks a machine has room for
"""
