"""Which metadata of results may differ in a comparison. An option that isn't named here changes what is measured, so
that results with different values of it aren't compared."""

# Metadata that belongs to a launch: it may always differ (threshold: of overlap's verdicts, which aren't compared).
OF_A_LAUNCH = set("""
    all_rows benchmark clock_cost_ns clock_resolution_ns columns command date debug dump-samples environment format
    global_clock global_clock_error_bound_us global_clock_error_growth_us_per_s global_clock_error_us hosts
    intervals job_id last_date late_us layout machine-readable metadata no-header nohdr output schema threshold
    verbose""".split())

# What was measured: a machine, a library, a build, another program (foreign.py). A comparison may be about it, so it is
# named where it differs.
OF_THE_SYSTEM = set("""
    binding buffer_placement calling_sequence clock commit compiler compiler_flags cores kernel mpi_abi mpi_built_with mpi_device
    mpi_library mpi_standard mpi_variable processor processors program thread_level timer version""".split())

# How well it was measured: named, too.
OF_THE_SAMPLING = set("""
    confidence default-tdm-n-iters iterations max-samples max-tdm-iters max-time min-samples outer precision samples
    seed validation-steps visits warmup""".split())

# Which rows there are, or what is a key of theirs: rows that only one side has are said to be missing or added.
OF_THE_ROWS = set("""
    arrangements both cache coarray-sync data-driven-execution dims form full local max-blocks max-ndata
    max-neighbours max-num-elts max-stride messages methods min-num-elts msgsize no-blocking operations
    partitions patterns peers ppn recv size sizes sync test-calls threads transfer types""".split())

# What launches of one table may differ in; ranks and nodes aren't among it.
MAY_DIFFER = OF_A_LAUNCH | OF_THE_SAMPLING | OF_THE_ROWS
