#!/usr/bin/env python3
"""Tests that tables of the documentation name are there: the last column of each table that has tests is looked up in what ctest and unit_tests know."""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = ["docs/threat-model.md", "docs/attacks.md", "docs/real-programs.md", "docs/runtimes.md"]
HEADINGS = {"test", "shown by"}


def cells(line):
    # A bar inside of `code` separates nothing.
    return [cell.strip() for cell in re.sub(r"`[^`]*`", lambda code: code.group().replace("|", "\0"), line).strip().strip("|").split("|")]


def named_tests(text):
    """(line, name) of each test in the last column of tables with such a heading."""
    in_table = False
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|"):
            in_table = False
            continue
        last = cells(line)[-1]
        if last in HEADINGS:
            in_table = True
        elif in_table and not set(last) <= set("-: "):
            yield from ((number, name) for name in names_of(last))


def names_of(cell):
    quoted = re.findall(r"`([^`]+)`", cell)
    if quoted:
        return [name.replace("\0", "|") for name in quoted]
    return [name for name in re.split(r",\s*", cell) if name not in ("-", "the same")]


def ctest_names(build):
    done = subprocess.run(["ctest", "--test-dir", str(build), "-N"], capture_output=True, text=True, check=True)
    return re.findall(r"^\s*Test\s+#\d+: (.+)$", done.stdout, re.MULTILINE)


def unit_test_names(build):
    """Several of them are one entry of ctest."""
    done = subprocess.run([str(build / "bin/unit_tests"), "--gtest_list_tests"], capture_output=True, text=True, check=True)
    names, suite = [], ""
    for line in done.stdout.splitlines():
        line = line.split("#")[0].rstrip()
        if line.startswith("  "):
            names.append(suite + line.strip())
        elif line.endswith("."):
            suite = line
    return names


def is_there(name, tests):
    words = name.split()
    if words[0] == "scripts/fuzz" and len(words) > 1:
        text = (ROOT / words[0]).read_text()
        return words[1] in re.search(r"^every=\((.*)\)$", text, re.MULTILINE)[1].split() + ["signals", "--quick"]
    if words[0].startswith("scripts/"):
        return (ROOT / words[0]).is_file()
    # Of recordings that lie beside some checkouts only.
    if name.startswith("golden_complete") and not any(test.startswith("golden_complete") for test in tests):
        return True
    return any(re.search(name, test) for test in tests)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="the build tree")
    build = parser.parse_args().build
    tests = ctest_names(build) + unit_test_names(build)
    found, missing = 0, []
    for document in DOCUMENTS:
        for number, name in named_tests((ROOT / document).read_text()):
            found += 1
            if not is_there(name, tests):
                missing.append(f"{document}:{number}: there is no test {name}")
    # Tables that are not found any more would pass as well.
    if found < 100:
        missing.append(f"only {found} tests are named; the tables have changed their form")
    print("\n".join(missing) or f"{found} tests are named, all of them are there")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
