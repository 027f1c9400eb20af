#!/usr/bin/env python3
"""Rewrites tools/softtpu/ledger.json (what `softtpu api` prints) from test results.

Runs every recorded case with replay_direct, and all unit tests. They report, as test properties, the tolerance of a comparison
with an independent reference ("reference:FUNCTION") and the number of random calls that an independent oracle confirmed bit for
bit ("oracle:FUNCTION"), and what such an oracle assumes beyond documents and recordings ("assumed:FUNCTION"). A function that differs from recorded cases on purpose needs a row in docs/deviations.md. With --check
nothing is written: the exit status is 1 when the file is not what the results say."""
import argparse
import collections
import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import corpora
from generated_file import write_or_check

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEDGER = ROOT / "tools/softtpu/ledger.json"
DEVIATIONS = ROOT / "docs/deviations.md"


# The corpora that were recorded on each chip or revision, by its full name. What today's revision shares with an older recording counts for it.
CHIPS = {"bm1684": ("bm1684", ["bm1684", "bm1684-varied"]), "bm1684x-1.30": ("bm1684x", ["bm1684x", "bm1684x-1.30", "bm1684x-1.30-varied"]),
         "bm1684x-23.05": ("bm1684x-23.05", ["bm1684x", "bm1684x-varied"]), "bm1688-1.30": ("bm1688", ["bm1688", "bm1688-varied"]),
         "bm1690-1.30": ("bm1690", ["bm1690", "bm1690-varied"]), "bm1690e-1.30": ("bm1690e", ["bm1690e"]), "bm1684x2-1.30": ("bm1684x2", ["bm1684x2"]),
         "cv184x-1.30": ("cv184x", ["cv184x"])}


def ledger_text(verified, assumed, recorded):
    """The ledger as JSON, one function a line."""

    def rows(of):
        return ",\n".join(f"  {json.dumps(name)}: {json.dumps(of[name])}" for name in sorted(of))

    chips = ",\n".join(f" {json.dumps(chip)}: {{\n{rows(recorded[chip])}\n }}" for chip in sorted(recorded))
    return f'{{\n"verified": {{\n{rows(verified)}\n}},\n"assumed": {json.dumps(sorted(assumed))},\n"recorded": {{\n{chips}\n}}\n}}\n'


def recorded_by_chip(build, golden, folder):
    """Chip -> function -> numbers of its exact, different and deviating cases."""
    found = {}
    for name, (chip, corpora_of_chip) in CHIPS.items():
        path = folder / f"{name}.json"
        run = subprocess.run([build / "bin/replay_direct", "--chip", chip, "--ledger", path, "-n", "0",
                              *[golden / corpus for corpus in corpora_of_chip]], stdout=subprocess.DEVNULL)
        if run.returncode not in (0, 1):
            sys.exit(f"replay_direct ended with status {run.returncode}")
        for function, count in json.loads(path.read_text()).items():
            found.setdefault(name, {})[function] = [count["passed"], count["failed"], count["skipped"]]
    return found


def recorded(build, golden, folder):
    path = folder / "golden.json"
    run = subprocess.run([build / "bin/replay_direct", "--ledger", path, "-n", "0", *corpora.folders(golden)], stdout=subprocess.DEVNULL)
    if run.returncode not in (0, 1):
        sys.exit(f"replay_direct ended with status {run.returncode}")
    return json.loads(path.read_text())


def unit_tests(build, folder):
    """The tolerances, the numbers of confirmed calls and the assumed functions that the unit tests report."""
    path = folder / "unit.xml"
    run = subprocess.run([build / "bin/unit_tests", f"--gtest_output=xml:{path}"], stdout=subprocess.DEVNULL)
    if run.returncode != 0:
        sys.exit("unit_tests failed")
    tolerances, confirmed, assumed = {}, collections.Counter(), set()
    for item in xml.parse(path).getroot().iter("property"):
        kind, _, name = item.get("name").partition(":")
        if kind == "reference":
            tolerances[name] = item.get("value")
        elif kind == "oracle":
            confirmed[name] += int(item.get("value"))
        elif kind == "assumed":
            assumed.add(name)
    return tolerances, confirmed, assumed


def documented_deviations():
    """The functions, as patterns, of the first column of the tables in docs/deviations.md."""
    rows = [line.split("|")[1] for line in DEVIATIONS.read_text().splitlines() if line.startswith("| `")]
    return [pattern for row in rows for pattern in re.findall(r"`([^`]+)`", row)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/dev")
    parser.add_argument("--golden", type=pathlib.Path, default=ROOT.parent / "shared/golden", help="the complete corpora")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--chips-only", action="store_true", help="only the counts of chips, which need no unit tests")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        by_chip = recorded_by_chip(options.build, options.golden, folder)
        if options.chips_only:
            known = json.loads(LEDGER.read_text())
            LEDGER.write_text(ledger_text(known["verified"], known["assumed"], by_chip))
            return 0
        counts = recorded(options.build, options.golden, folder)
        tolerances, confirmed, assumed = unit_tests(options.build, folder)
    patterns = documented_deviations()
    verified = {}
    for function in sorted(set(counts) | set(tolerances) | set(confirmed)):
        count = counts.get(function, {"passed": 0, "failed": 0, "skipped": 0})
        exact = count["passed"] if count["failed"] == 0 else 0
        if count["skipped"] and not any(fnmatch.fnmatchcase(function, pattern) for pattern in patterns):
            sys.exit(f"{function} differs from recorded cases, but has no row in {DEVIATIONS.name}")
        verified[function] = {"exact": exact, "deviating": count["skipped"], "reference": tolerances.get(function, ""),
                              "oracle": confirmed[function]}
    text = ledger_text(verified, assumed, by_chip)
    return write_or_check(LEDGER, text, options.check, "update_ledger.py")


if __name__ == "__main__":
    sys.exit(main())
