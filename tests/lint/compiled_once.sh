# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# To be sourced. For checkers that read a build's compile_commands.json.

# compiled_once BUILD_FOLDER FOLDER: writes FOLDER/compile_commands.json with each source once, as the first target that
# has it compiles it.
compiled_once() {
    python3 - "$1" "$2" <<'END'
import json
import sys

with open(f"{sys.argv[1]}/compile_commands.json", encoding="utf-8") as stream:
    commands = {}
    for command in json.load(stream):
        commands.setdefault(command["file"], command)
with open(f"{sys.argv[2]}/compile_commands.json", "w", encoding="utf-8") as stream:
    json.dump(list(commands.values()), stream, indent=1)
END
}
