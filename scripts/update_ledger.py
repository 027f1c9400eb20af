#!/usr/bin/env python3
"""Rewrites device/isa/verified.def (what `softtpu api` prints) from test results.

Runs every recorded case with replay_direct, and the unit tests for the tolerances of functions that are compared with an
independent reference (they report them as the test property "reference:FUNCTION"). With --check nothing is written: the exit
status is 1 when the file is not what the results say."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEDGER = ROOT / "device/isa/verified.def"
HEAD = "// Written by scripts/update_ledger.py from test results; sorted by name. VERIFIED(function, exact cases, deviating cases, tolerance)\n"


def recorded(build, golden, folder):
    path = folder / "golden.json"
    run = subprocess.run([build / "bin/replay_direct", "--ledger", path, "-n", "0", golden], stdout=subprocess.DEVNULL)
    if run.returncode not in (0, 1):
        sys.exit(f"replay_direct ended with status {run.returncode}")
    return json.loads(path.read_text())


def references(build, folder):
    path = folder / "unit.xml"
    run = subprocess.run([build / "bin/unit_tests", "--gtest_filter=CompositeTest.*Reference*", f"--gtest_output=xml:{path}"],
                         stdout=subprocess.DEVNULL)
    if run.returncode != 0:
        sys.exit("unit_tests: a comparison with a reference failed")
    found = {}
    for item in xml.parse(path).getroot().iter("property"):
        kind, _, name = item.get("name").partition(":")
        if kind == "reference":
            found[name] = item.get("value")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/dev")
    parser.add_argument("--golden", type=pathlib.Path, default=ROOT.parent / "shared/golden", help="the complete corpora")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        counts = recorded(options.build, options.golden, folder)
        tolerances = references(options.build, folder)
    text = HEAD
    for function in sorted(set(counts) | set(tolerances)):
        count = counts.get(function, {"passed": 0, "failed": 0, "skipped": 0})
        exact = count["passed"] if count["failed"] == 0 else 0
        text += f'VERIFIED({function}, {exact}, {count["skipped"]}, "{tolerances.get(function, "")}")\n'
    text += "#undef VERIFIED\n"
    if not options.check:
        LEDGER.write_text(text)
    elif LEDGER.read_text() != text:
        print(f"{LEDGER.name} is not what the tests say; run scripts/update_ledger.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
