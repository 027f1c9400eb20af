#!/usr/bin/env python3
"""How fast compiled networks run beside the vendor's runtime with its emulator: a table of all networks of a folder, each
with the seconds that its JSON names. Ends with 1 when a network is less than 20 times as fast, or the smallest takes more
than a millisecond; --report leaves it at the table."""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAST_RATIO = 20
MOST_SMALLEST_MS = 1.0


def fastest_ms(program, network, repeat):
    """The fastest of some launches, each with its inputs and outputs, in one process."""
    done = subprocess.run([program, "bmodel", "run", network, "--repeat", str(repeat)], capture_output=True, text=True, timeout=600)
    found = re.search(r": ([\d.]+) ms here", done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(f"{network}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return float(found.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="?", type=pathlib.Path, default=ROOT.parent / "shared/bmodel/models",
                        help="folder of NAME.bmodel with NAME.json")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build tree (default: build/release)")
    parser.add_argument("--repeat", type=int, default=20, help="launches of each network, of which the fastest counts")
    parser.add_argument("--filter", default="", help="only networks whose name contains this")
    parser.add_argument("--report", action="store_true", help="end with 0 whatever the table says")
    options = parser.parse_args()
    program = options.build / "bin/softtpu"
    if not program.exists():
        parser.error(f"{program} is not built")
    files = sorted(file for file in options.networks.glob("*.bmodel") if options.filter in file.name and file.with_suffix(".json").exists())
    if not files:
        parser.error(f"{options.networks} has no networks with their seconds beside them")
    rows = []
    for file in files:
        facts = json.loads(file.with_suffix(".json").read_text())
        vendor_ms = min(facts["vendor_seconds"], facts["vendor_cpu_seconds"]) * 1000
        rows.append((file.stem, fastest_ms(program, file, options.repeat), vendor_ms))
    print("| network | ms | vendor's ms | times as fast |\n|---|---|---|---|")
    for name, own, vendor in rows:
        print(f"| {name} | {own:.3f} | {vendor:.1f} | {vendor / own:.0f} |")
    slow = [name for name, own, vendor in rows if vendor < LEAST_RATIO * own]
    smallest = min(rows, key=lambda row: row[2])
    print(f"\n{len(rows) - len(slow)} of {len(rows)} at least {LEAST_RATIO} times as fast" + (f"; not: {', '.join(slow)}" if slow else ""))
    print(f"the smallest, {smallest[0]}: {smallest[1]:.3f} ms")
    sys.exit(1 if not options.report and (slow or smallest[1] > MOST_SMALLEST_MS) else 0)


if __name__ == "__main__":
    main()
