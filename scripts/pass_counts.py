#!/usr/bin/env python3
"""Writes docs/pass-counts.md: how the recorded cases of today's chips that vary every argument, and those of the newest chips, pass, family by family.

Replays the corpora of CORPORA in the ways of WAYS, which have to count the same in each family; a way that does not is named, and nothing
is written. What version 0.2.0 gave before it followed these recordings is recorded in docs/pass-counts-0.2.0.json. (ctest golden_complete_CORPUS_WAY replays the first three with every kind of loops.) With --check nothing is written either: the exit status
is 1 when the page is not what the replays say."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

from generated_file import write_or_check

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/pass-counts.md"
CORPORA = ("bm1684x-1.30-varied", "bm1688-varied", "bm1690-varied", "bm1690e", "bm1684x2", "cv184x")
DIRECT, THROUGH = ["replay_direct", "-n", "0"], ["softtpu", "golden", "--failures", "0"]
WAYS = {"best loops on a core in one process": (DIRECT, {}), "plain loops there": (DIRECT, {"SOFTTPU_KERNELS": "plain"}),
        "through libbmlib, a device and the replay kernel with all checks": (THROUGH, {"SOFTTPU_CHECK": "all"})}
COLUMNS = {"passed": "equal", "failed": "different", "skipped": "deviations", "refused for operands on different start NPUs": "on different start NPUs",
           "known to differ": "known to differ"}
BEFORE = json.loads((ROOT / "docs/pass-counts-0.2.0.json").read_text())


def counts(build, folder, command, environment):
    """Family -> its count in each column."""
    run = subprocess.run([build / "bin" / command[0], *command[1:], folder], env={**os.environ, **environment}, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if run.returncode not in (0, 1):
        sys.exit(f"{command[0]} ended with status {run.returncode}")
    found = {}
    for family, text in re.findall(r"^\w+ +(\w+) +(\d+ passed, .*)$", run.stdout, re.M):
        of = {what: int(number) for number, what in re.findall(r"(\d+) ([^,]+)", text)}
        found[family] = [of.get(what, 0) for what in COLUMNS]
    return found


def page_text(of_corpora):
    lines = ["# Recorded cases of today's chips, family by family", "",
             "Written by `scripts/pass_counts.py`, which replays the corpora in which every argument varies by itself, and those of BM1690E, BM1684X2 and CV184X. Each of these ways gives these counts: "
             + "; ".join(WAYS) + ".", "",
             "Deviations are those of [deviations.md](deviations.md); `softtpu golden --skipped` lists them with their reasons, and those on different start NPUs and known to differ, too. "
             + "What is known to differ either is a deviation that the recording does not mark, or is not determined.", ""]
    lines += [f"The last {len(BEFORE['columns'])} columns of the first tables are those of version {BEFORE['version']} before it followed these recordings (commit {BEFORE['commit']}; "
              "[pass-counts-0.2.0.json](pass-counts-0.2.0.json)): cases that were equal, that had wrong bits, that it accepted and the chip refuses, that it refused and the chip accepts, and that were set aside as deviations. "
              "Those on different start NPUs are among the refused ones.", ""]
    for corpus, families in of_corpora.items():
        before = BEFORE["families"].get(corpus, {})
        rows = {family: row + before.get(family, []) for family, row in sorted(families.items())}
        rows["all"] = [sum(column) for column in zip(*rows.values(), strict=True)]
        titles = [*COLUMNS.values(), *(f"{BEFORE['version']}: {column}" for column in BEFORE["columns"] if before)]
        lines += [f"## {corpus}", "", f"| family | {' | '.join(titles)} |", "|---|" + "---:|" * len(titles)]
        lines += [f"| {family} | {' | '.join(map(str, row))} |" for family, row in rows.items()] + [""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/dev")
    parser.add_argument("--golden", type=pathlib.Path, default=ROOT.parent / "shared/golden", help="the complete corpora")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    of_corpora, wrong = {}, 0
    for corpus in CORPORA:
        for way, (command, environment) in WAYS.items():
            found = counts(options.build, options.golden / corpus, command, environment)
            print(f"{corpus}, {way}: {sum(row[0] for row in found.values())} equal, {sum(row[1] for row in found.values())} different", flush=True)
            if found != of_corpora.setdefault(corpus, found) or not found:
                wrong += 1
                print(f"{corpus}: {way} counts otherwise than {next(iter(WAYS))}")
    text = page_text(of_corpora)
    if wrong or any(row[1] for families in of_corpora.values() for row in families.values()):
        return 1
    return write_or_check(PAGE, text, options.check, "pass_counts.py")


if __name__ == "__main__":
    sys.exit(main())
