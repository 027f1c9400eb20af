#!/usr/bin/env python3
"""Runs compiled networks with every check and counts what is found: networks that are right have no findings. Ends with 1 when
one has. --most-cost also compares the time of each network with that of a run without checks."""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Rules that find what is so, in a network whose outputs are as wrong as the vendor's.
KNOWN = {
    "real-bm1684_1/unet_64_INT8": {"memory/overwritten": "the compiler loads the bias of transposed convolutions into NPU 0 alone: the others add an earlier layer's"},
}
ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(program, network, options, *more):
    """Status and text of some launches in one process."""
    words = [program, "bmodel", "run", network, "--repeat", options.repeat, *more]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=options.timeout)
    found = re.search(r": ([\d.]+) ms here", done.stdout)
    return done.returncode, done.stdout + done.stderr, float(found.group(1)) if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=pathlib.Path, help="folders of NAME.bmodel (default: all of ../shared/bmodel)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build tree (default: build/release)")
    parser.add_argument("--filter", default="", help="only networks whose path contains this")
    parser.add_argument("--repeat", type=int, default=1, help="launches of each network")
    parser.add_argument("--timeout", type=float, default=600, help="seconds that a network may take")
    parser.add_argument("--most-cost", type=float, default=0, help="how many times the time of a run without checks a network may take (needs --repeat 2 or more)")
    options = parser.parse_args()
    if options.most_cost and options.repeat < 2:
        parser.error("--most-cost needs --repeat 2 or more")
    program = options.build / "bin/softtpu"
    if not program.exists():
        parser.error(f"{program} is not built")
    shared = ROOT.parent / "shared/bmodel"
    folders = options.folders or sorted(path for path in shared.iterdir() if path.name.startswith(("models", "real")))
    counts, failed, noted, total = collections.Counter(), [], [], 0
    for folder in folders:
        for network in sorted(folder.glob("*.bmodel")):
            if options.filter not in str(network):
                continue
            with tempfile.NamedTemporaryFile(suffix=".json") as report:
                try:
                    status, text, checked = run(program, network, options, "--check=all", f"--report=json:{report.name}")
                except subprocess.TimeoutExpired:
                    status, text, checked = "timeout", "", None
                found = report.read()
            name = f"{folder.name}/{network.stem}"
            total += 1
            findings = json.loads(found).get("findings", []) if found else []
            known = KNOWN.get(name, {})
            expected, findings = [one for one in findings if one["rule"] in known], [one for one in findings if one["rule"] not in known]
            if expected and not findings:
                noted.append(name)
                continue
            rules = collections.Counter(f"{one['rule']} ({one.get('function', '')})" for one in findings)
            counts.update(rules)
            if status != 0 or findings:
                failed.append(name)
                print(f"{name}: status {status}; {dict(rules) or text.strip().splitlines()[-1:]}", flush=True)
            elif options.most_cost:
                _, _, plain = run(program, network, options)
                if plain and checked > options.most_cost * plain:
                    failed.append(name)
                    print(f"{name}: {checked:.2f} ms with checks, {plain:.2f} ms without", flush=True)
    print(f"{total - len(failed) - len(noted)} of {total} networks without findings, {len(noted)} with known ones: {', '.join(noted) or 'none'}")
    for rule, count in counts.most_common():
        print(f"{count:6} {rule}")
    sys.exit(1 if failed or not total else 0)


if __name__ == "__main__":
    main()
