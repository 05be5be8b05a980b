# SPDX-License-Identifier: BSD-3-Clause
"""run_suite.sh: runs the benchmarks several times, one after the other, and merges the results."""

import os

from commcost.command import EXIT_DONE, UsageError, say
from commcost.result import summary_table
from commcost.result.result_reader import Result, ResultError
from commcost.suite import launchers, suite_plan
from commcost.suite.suite_options import read_options
from commcost.suite.suite_run import Suite
from commcost.system import replace_file


def main(argv):
    return run_suite(argv)[1]


def run_suite(argv, opened=Result):
    """Runs a suite. Returns the Suite and the exit status. `opened` opens results for the summary."""
    def write_summary(path):
        try:
            text, _ = summary_table.summarize([path], opened=opened)
            replace_file(os.path.join(path, "summary.tsv"), text)
        except (ResultError, OSError):
            pass  # no results, or a full disk

    options = read_options(argv)
    settings = suite_plan.settings_of(options.vary)
    asked = dict.fromkeys((setting.launcher, setting.build) for setting in settings)
    options.launchers = {(name, build): launchers.find(name or options.launcher, build or options.build)
                         for name, build in asked}
    ranks = options.ranks or launchers.default_ranks(options.hosts, options.ranks_per_node)
    if ranks < 2:
        raise UsageError("--ranks: the benchmarks need at least 2")
    has_threads = any(launchers.progresses_asynchronously({**os.environ, **setting.variables}) for setting in settings)
    job = launchers.Job(ranks, options.ranks_per_node, options.hosts, options.bind, has_threads)
    made = suite_plan.make_plan(options, job, settings)
    if made.missing:
        say("Not built, left out: " + " ".join(made.missing))
    suite = Suite(options, made, job, argv, write_summary)
    if options.dry_run:
        suite.dry_run()
        return suite, EXIT_DONE
    return suite, suite.run(launchers.slurm_time_left_s())
