#!/usr/bin/env python3
"""Writes docs/rules: one page for each rule of the checks, and their list. From runtime/report/rules.def and the examples in
tests/bugs. With --check only compares (ctest rule_pages)."""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs/rules"
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/bugs"))
import corpus  # noqa: E402


def read_rules():
    text = (ROOT / "runtime/report/rules.def").read_text()
    rows = re.findall(r'^RULE\("([^"]+)", "([^"]+)", k(\w+), "([^"]+)",\s+"([^"]+)",\s+"([^"]+)"\)', text, re.M)
    assert len(rows) == text.count("\nRULE("), "a row of rules.def is not understood"
    return rows


def sentence(text):
    return text[0].upper() + text[1:] + "."


def code(case):
    return f"```c\n{case.text.strip()}\n```\n"


def page(rule, cases):
    name, check, severity, title, why, fix = rule
    examples = [case for case in cases if any(found == name for found, _ in case.expected)]
    twins = {case.name: case for case in cases}
    text = f"# {name}\n\n{sentence(title)} Reported as {severity.lower()} by `--check={check}`.\n\n"
    if check == "portable":
        text = text.replace("`--check=portable`", "`--portable-to=CHIP`")
    if check == "number":
        text = text.replace("`--check=number`", "`--cores=1,2,...`")
    if check == "schedule":
        text = text.replace("`--check=schedule`", "`--schedules=N`")
    text += f"**Why it matters.** {sentence(why)}\n\n**How to fix it.** {sentence(fix)}\n"
    if examples:
        case = min(examples, key=lambda case: (case.chip != "", len(case.text)))
        text += f"\n## Example\n\nFrom [{case.source.relative_to(ROOT)}](../../{case.source.relative_to(ROOT)}):\n\n{code(case)}"
        text += f"\nRight is:\n\n{code(twins[case.twin])}"
    text += f"\nAn intended case is silenced, and counted, with `--allow {name}@KERNEL`.\n"
    return text


def index(rules):
    text = "# The rules of the checks\n\nWritten by `scripts/rule_pages.py`; `softtpu rules` prints the same list.\n\n"
    text += "| rule | check | severity | |\n|---|---|---|---|\n"
    for name, check, severity, title, _, _ in rules:
        text += f"| [{name}]({name.replace('/', '-')}.md) | {check} | {severity.lower()} | {title} |\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a page is not as it should be")
    options = parser.parse_args()
    rules, cases = read_rules(), corpus.read_corpus()
    pages = {f"{rule[0].replace('/', '-')}.md": page(rule, cases) for rule in rules}
    pages["README.md"] = index(rules)
    unshown = [rule[0] for rule in rules if not any(found == rule[0] for case in cases for found, _ in case.expected)]
    if unshown:
        sys.exit(f"tests/bugs plants no defect of {', '.join(unshown)}")
    there = {file.name for file in PAGES.glob("*.md")}
    wrong = sorted(there ^ pages.keys() | {name for name in there & pages.keys() if (PAGES / name).read_text() != pages[name]})
    if options.check:
        print("\n".join(f"docs/rules/{name} is not up to date" for name in wrong) or "docs/rules is up to date")
        return 1 if wrong else 0
    PAGES.mkdir(exist_ok=True)
    for name in there - pages.keys():
        (PAGES / name).unlink()
    for name, text in pages.items():
        (PAGES / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
