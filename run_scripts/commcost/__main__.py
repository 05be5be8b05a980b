# SPDX-License-Identifier: BSD-3-Clause
"""python3 run_scripts/commcost COMMAND [OPTION]...: the commands behind the scripts."""

import importlib
import os
import sys

# By command: the script's name, its module and function.
COMMANDS = {"call_sites": ("call_sites.sh", "cost.line_times", "main"),
            "checkup": ("checkup.sh", "checkup.checkup", "main"),
            "compare": ("bench_compare", "compare.bench_compare", "main"),
            "cost": ("cost.sh", "cost.program_cost", "main"),
            "device_matrix": ("device_matrix.sh", "tune.device_matrix", "main"),
            "launcher": ("launcher", "suite.launchers", "main"),
            "paste": ("paste", "suite.launch_options", "main"),
            "plot": ("plot.sh", "report.plot", "main"),
            "quickstart": ("quickstart.sh", "report.quickstart", "main"),
            "report": ("report.sh", "report.report", "main"),
            "report_text": ("report_text.sh", "report.report", "text_main"),
            "suite": ("run_suite.sh", "suite.benchmark_suite", "main"),
            "summarize": ("summarize.sh", "result.summarize", "main"),
            "tune": ("tune.sh", "tune.tune", "main")}


def main():
    # Python searches this file's folder for modules; the package is next to it.
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.dont_write_bytecode = True  # the folder may belong to another user
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python3 run_scripts/commcost {'|'.join(COMMANDS)} [OPTION]...")
    program, module, function = COMMANDS[sys.argv[1]]
    entry = getattr(importlib.import_module("commcost." + module), function)
    importlib.import_module("commcost.command").run(program, entry, sys.argv[2:])


if __name__ == "__main__":
    main()
