"""Conditions under which ./tests/run.sh --condition=CONDITION runs programs: how the library of
tests/machine interrupts ranks.

usage: disturbance.py CONDITION   prints the condition's variables, for the shell; exits with 2 if
there is no such condition
"""

import sys

CONDITIONS = {
    "quiet": {},
    "cloud": {"DISTURB": "3000:5,300:50"},   # 3 % of the time
    "bad": {"DISTURB": "2000:50"},           # 10 % of the time
    "jumps": {"DISTURB_JUMPS": "2:5:1.3"},   # 30 % slower in 2 s of 5
}


def main():
    condition = sys.argv[1]
    if condition not in CONDITIONS:
        print(f"no condition {condition}; there are: {', '.join(CONDITIONS)}", file=sys.stderr)
        return 2
    print(*(f"{name}={value}" for name, value in CONDITIONS[condition].items()), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
