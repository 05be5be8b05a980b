"""Which metadata of results may differ in a comparison.

An option that isn't named here changes what is measured, so that results with different values of it aren't compared.
"""

# Metadata that belongs to a launch: it may always differ.
OF_A_LAUNCH = {"date", "last_date", "command", "hosts", "job_id", "clock_cost_ns", "clock_resolution_ns",
               "benchmark", "schema", "columns", "late_us", "global_clock_error_us",
               "global_clock_error_growth_us_per_s", "global_clock_error_bound_us", "global_clock",
               "dump-samples", "verbose", "debug", "environment", "output", "format", "no-header",
               "nohdr", "machine-readable", "metadata", "intervals", "layout",
               "threshold"}  # of overlap's verdicts, which aren't compared

# What was measured: a machine, a library, a build. A comparison may be about it, so it is named where it differs.
OF_THE_SYSTEM = {"version", "commit", "compiler", "compiler_flags", "processor", "processors",
                 "cores", "kernel", "mpi_library", "mpi_built_with", "mpi_standard", "mpi_abi", "mpi_device",
                 "mpi_variable", "thread_level", "binding", "clock", "timer",
                 "program", "calling_sequence"}  # of another benchmark (foreign.py)

# How well it was measured: named, too.
OF_THE_SAMPLING = {"precision", "confidence", "min-samples", "max-samples", "samples", "max-time",
                   "visits", "warmup", "iterations", "outer", "default-tdm-n-iters",
                   "max-tdm-iters", "validation-steps", "seed"}

# Which rows there are, or what is a key of theirs: rows that only one side has are said to be missing or added.
OF_THE_ROWS = {"min-num-elts", "max-num-elts", "patterns", "coarray-sync", "arrangements",
               "max-ndata", "max-stride", "max-blocks", "full", "types", "max-neighbours", "local",
               "methods", "recv", "both", "msgsize", "messages", "size", "peers", "cache",
               "transfer", "sync", "threads", "data-driven-execution", "dims", "ppn", "form",
               "test-calls", "partitions", "no-blocking"}

# What launches of one table may differ in; ranks and nodes aren't among it.
MAY_DIFFER = OF_A_LAUNCH | OF_THE_SAMPLING | OF_THE_ROWS
