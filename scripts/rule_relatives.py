#!/usr/bin/env python3
"""Writes docs/rule-relatives.md: each rule's source, the functions that recordings show to have it or to be without it, and the relatives.

The rules are those of device/chip/rules.def whose source is numerics/newer-rules.md or a corpus that varies every argument, and those that
the page has beside them. For each of them and each chip the recorded cases are replayed on a description of the chip that differs in
this rule alone. A function whose case then fails is shown: to have the rule where the chip lists it, else to be without it. (First
the cases that fail with one of GROUPS of rules the other way round are looked for; these are asked for each rule.) The last column is written
by hand. --names looks only whether rules and functions exist and each rule has its source (ctest rule_relatives); --check whether
the page is what the replays say."""
import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/rule-relatives.md"
CORPORA = {"bm1684x": ("bm1684x-1.30", "bm1684x-1.30-varied"), "bm1688": ("bm1688", "bm1688-varied"), "bm1690": ("bm1690", "bm1690-varied")}
GROUPS = 5


def sources():
    """Rule -> its source."""
    return dict(re.findall(r'^RULE\(k\w+, "([a-z0-9-]+)",\s*"[^"]*",\s*"([^"]*)"\)', (ROOT / "device/chip/rules.def").read_text(), re.M))


def rows_of(page):
    """Rule -> the columns behind it."""
    return {row[0]: row[1:] for row in re.findall(r"^\| `([a-z0-9-]+)` \| (.*) \| (.*) \| (.*) \|$", page, re.M)}


def known_functions():
    text = "".join(path.read_text() for path in (ROOT / "firmware/include").rglob("*.h"))
    return set(re.findall(r"\btpu_(?:bdc_|gdma_)?(\w+)\(", text))


def wrong_names(page):
    """What the page names and the tree does not have, and the rules that it lacks."""
    known, rows, functions = sources(), rows_of(page), known_functions()
    wanted = [name for name, source in known.items() if "newer-rules" in source or "-varied" in source]
    wrong = [f"{name}: the page has no row" for name in wanted if name not in rows]
    for rule, columns in rows.items():
        if known.get(rule) != columns[0]:
            wrong.append(f"{rule}: rules.def has no such rule, or another source")
        for name in re.findall(r"`(\w+)`", " ".join(columns[1:])):
            if name not in functions:
                wrong.append(f"{rule}: there is no function {name}")
    return wrong


def shown_text(rule, of_chips):
    """The column of what recordings show: chips with the rule, then chips without it."""
    parts = {True: [], False: []}
    for chip, found in of_chips.items():
        names = sorted({re.sub("^tpu_(bdc_|gdma_)?", "", name) for name in found[rule]})
        if names:
            parts[rule in description(chip)["rules"]].append(f"{chip.upper()} {' '.join(f'`{name}`' for name in names)}")
    return "; ".join(parts[True] + [f"not {text}" for text in parts[False]]) or "none"


def description(chip):
    return json.loads((ROOT / f"device/chip/chips/{chip}.json").read_text())


def function_of(case):
    """The function that a case is about: the last one that does more than wait."""
    names = re.findall(r'"fn": "(\w+)"', json.dumps(case))
    return next((name for name in reversed(names) if not re.search("poll|initialize|parallel", name)), names[-1])


class Replays:
    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)

    def failures(self, chip, turned, corpora):
        """Family file -> failing cases, on the chip with these rules the other way round."""
        has = set(description(chip)["rules"])
        other = self.folder / "chip.json"
        other.write_text(json.dumps({"base": chip, "name": chip, "rules": {name: name not in has for name in turned}}))
        found = collections.defaultdict(set)
        for corpus in corpora:
            run = subprocess.run([self.program, "--chip", other, "-n", "1000000", corpus], text=True, capture_output=True)
            if run.returncode not in (0, 1):
                sys.exit(f"{self.program.name} ended with status {run.returncode}:\n{run.stderr[-2000:]}")
            families = {}
            for file in corpus.glob("*.json"):
                families.update(dict.fromkeys(re.findall(r'^\{"id":"([^"]+)"', file.read_text(), re.M), file))
            for name in re.findall(r"^  failed (\S+)", run.stdout, re.M):
                found[families[name]].add(name)
        return found

    def of_chip(self, chip, rules, golden):
        """Rule -> functions whose recorded cases fail without it, or with it."""
        names, failing = list(rules), collections.defaultdict(set)
        size = -(-len(names) // GROUPS)
        # Twice, with other neighbours: one rule of a group can hide another one.
        groups = [names[first::GROUPS] for first in range(GROUPS)] + [names[first:first + size] for first in range(0, len(names), size)]
        for group in groups:
            for file, cases in self.failures(chip, group, [golden / corpus for corpus in CORPORA[chip]]).items():
                failing[file] |= cases
        few, functions = self.folder / chip, {}
        for file, cases in failing.items():
            few.joinpath(file.parent.name).mkdir(parents=True, exist_ok=True)
            recorded = json.loads(file.read_text())
            recorded["cases"] = [case for case in recorded["cases"] if case["id"] in cases]
            functions.update({case["id"]: function_of(case) for case in recorded["cases"]})
            lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in recorded["cases"])
            head = json.dumps({key: value for key, value in recorded.items() if key != "cases"})[:-1]
            (few / file.parent.name / file.name).write_text(f'{head},"cases":[\n{lines}\n]}}')
            shutil.copy(file.with_suffix(".bin"), few / file.parent.name)
        found = {}
        for rule in rules:
            cases = set().union(*self.failures(chip, [rule], sorted(few.iterdir())).values())
            found[rule] = {functions[name] for name in cases}
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/dev")
    parser.add_argument("--golden", type=pathlib.Path, default=ROOT.parent / "shared/golden", help="the complete corpora")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    page = PAGE.read_text()
    if options.names:
        wrong = wrong_names(page)
        print("\n".join(wrong) or f"{len(rows_of(page))} rules: each has its source and functions that exist")
        return 1 if wrong else 0
    with tempfile.TemporaryDirectory() as folder:
        replays = Replays(options.build / "bin/replay_direct", folder)
        shown = {chip: replays.of_chip(chip, rows_of(page), options.golden) for chip in CORPORA}
    written, known = page, sources()
    for rule, (_, _, relatives) in rows_of(page).items():
        row = f"| `{rule}` | {known[rule]} | {shown_text(rule, shown)} | {relatives} |"
        written = re.sub(rf"^\| `{rule}` \|.*$", lambda _: row, written, flags=re.M)
    if options.check:
        print("the page is what the replays say" if written == page else f"{PAGE.name}: not what the replays say")
        return 0 if written == page else 1
    PAGE.write_text(written)
    return 0


if __name__ == "__main__":
    sys.exit(main())
