"""python3 run_scripts/commcost COMMAND [OPTION]...: what the scripts beside this folder start."""

import importlib
import os
import sys

# What a script is called, its module and function.
COMMANDS = {"compare": ("bench_compare", "saying.compare", "main"),
            "cost": ("cost.sh", "saying.program_cost", "main"),
            "device_matrix": ("device_matrix.sh", "saying.device_matrix", "main"),
            "launcher": ("launcher", "running.launchers", "main"),
            "paste": ("paste", "running.arguments", "main"),
            "plot": ("plot.sh", "drawing.plot", "main"),
            "report": ("report.sh", "saying.report", "main"),
            "report_text": ("report_text.sh", "saying.report", "text_main"),
            "suite": ("run_suite.sh", "running.suite", "main"),
            "summarize": ("summarize.sh", "reading.summarize", "main"),
            "tune": ("tune.sh", "saying.tune", "main")}


def main():
    # This file's folder is where Python looks for modules; the package lies beside it.
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.dont_write_bytecode = True  # the folder may be another user's
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python3 run_scripts/commcost {'|'.join(COMMANDS)} [OPTION]...")
    program, module, function = COMMANDS[sys.argv[1]]
    entry = getattr(importlib.import_module("commcost." + module), function)
    importlib.import_module("commcost.command").run(program, entry, sys.argv[2:])


if __name__ == "__main__":
    main()
