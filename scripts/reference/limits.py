#!/usr/bin/env python3
"""Writes docs/reference/limits.json: what each function accepts, as the rules answer when they are asked (the program function_limits).
With --check only compares."""
import argparse
import json
import pathlib
import subprocess
import sys

TARGET = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/reference/limits.json"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="function_limits, built with the tests")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when the file is not as it should be")
    options = parser.parse_args()
    text = subprocess.run([options.program], check=True, capture_output=True, text=True).stdout
    if not options.check:
        TARGET.write_text(text)
        return 0
    now, stored = json.loads(text), json.loads(TARGET.read_text())
    wrong = [name for name in sorted(now.keys() | stored.keys()) if now.get(name) != stored.get(name)]
    for name in wrong:
        print(f"docs/reference/limits.json: {name} is not what the rules say now")
    if wrong:
        print("scripts/reference/limits.py build/dev/bin/function_limits writes it")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
