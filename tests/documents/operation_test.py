#!/usr/bin/env python3
"""docs/adding-an-operation.md or docs/adding-a-chip.md, applied: operation_test.py BUILD_FOLDER [PAGE]. Makes each change that the page shows in a
copy of the file, and lets the compiler look at every source file that is new or changed, and at those that see the change through a list, with the
options of the build. `softtpu` reads every description of a chip that is new."""
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import compiled_files  # noqa: E402

PAGE = ROOT / "docs" / (sys.argv[2] if len(sys.argv) > 2 else "adding-an-operation.md")
STEP = re.compile(r"^\*\*`(?P<file>[^`]+)`\*\*, (?:(?P<new>new)|(?P<where>after|before|replace) `(?P<line>[^\n]+)`):\n\n```\w+\n(?P<code>.*?)```$", re.M | re.S)
# A visitor of all commands, and the entry points that rows make: they see the new struct and the new rows, though nothing in them changes.
THROUGH_A_LIST = {"adding-an-operation.md": ["device/timing/command_cost.cpp", "firmware/tpu/bdc_elementwise.cpp"],
                  "adding-a-chip.md": ["device/chip/rules.cpp"]}


def apply(step, copy):
    """Makes one change below `copy`, which has the file from an earlier step or gets it."""
    target = copy / step["file"]
    target.parent.mkdir(parents=True, exist_ok=True)
    if step["new"]:
        if (ROOT / step["file"]).exists():
            sys.exit(f"{step['file']}: the page calls it new, and it is there")
        target.write_text(step["code"])
        return
    text = (target if target.exists() else ROOT / step["file"]).read_text()
    lines = text.splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if step["line"] in line]
    if len(places) != 1:
        sys.exit(f"{step['file']}: {len(places)} lines have \"{step['line']}\", where the page means one")
    first = places[0] + (step["where"] == "after")
    lines[first:first + (step["where"] == "replace")] = [step["code"]]
    target.write_text("".join(lines))


def options(build, file):
    """How the build compiles the file, or for a new one a file beside it or in the folder next to its own."""
    entries = {os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT): entry
               for entry in compiled_files.entries(build)}
    # A new folder is compiled as its neighbours are.
    beside = (name for folder in (os.path.dirname(file), os.path.dirname(os.path.dirname(file))) for name in sorted(entries) if name.startswith(folder + "/"))
    entry = entries.get(file) or entries[next(beside)]
    # Without precompiled headers, which would bring the tree's own headers in front of the copy's.
    words = shlex.split(entry["command"])
    if os.path.basename(words[0]) == "ccache":
        words = words[1:]
    at = words.index("-o")
    return [word for word in words[:at] + words[at + 2:] if word not in ("-c", entry["file"])], entry["directory"]


def look(build, copy, file):
    words, folder = options(build, file)
    # The copy's headers come before those of the tree.
    headers = [f"-I{copy}", f"-I{copy}/firmware/include"]
    source = copy / file if (copy / file).exists() else ROOT / file
    done = subprocess.run([words[0], *headers, *words[1:], "-fsyntax-only", str(source)], cwd=folder, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def read_chip(build, path, page):
    """What `softtpu` says against a description of a chip, or against what the page promises of it."""
    # Rules that the page adds are not in the built program.
    text = path.read_text()
    for rule in re.findall(r'^RULE\(k\w+, "([a-z0-9-]+)",', page, re.MULTILINE):
        text = re.sub(rf'"{rule}": true,? ?', "", text)
    path.write_text(text)
    softtpu = build / "bin/softtpu"
    promised = json.loads(text)
    for words in (["api", "--chip", path], ["layout", "--chip", path, "--shape", "1,70,2,3", "--dtype", "fp16"]):
        done = subprocess.run([softtpu, *words], capture_output=True, text=True)
        if done.returncode != 0:
            return f"softtpu {words[0]}: {done.stderr}"
        refused = promised.get("refused", {}) if words[0] == "api" else {}
        for name, why in refused.items():
            # A name may stand for all that begin like it; `false` takes one of them out.
            rows = [row for row in done.stdout.splitlines() if fnmatch.fnmatchcase((row.split() or [""])[0], name)]
            rows = [row for row in rows if refused.get(row.split()[0]) is not False] if why else rows
            wrong = [row for row in rows if ("refused" in row or "unsupported" in row) != bool(why)]
            if not rows or wrong:
                return f"softtpu api: {name} is {'not ' if why else ''}refused: {wrong[:1]}"
    return ""


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    page = PAGE.read_text()
    steps = [match.groupdict() for match in STEP.finditer(page)]
    if len(steps) != page.count("\n**`"):
        sys.exit(f"{PAGE.name}: {page.count(chr(10) + '**`')} steps, of which {len(steps)} can be read")
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        # These include each other by their own place.
        shutil.copytree(ROOT / "firmware/include", copy / "firmware/include")
        for step in steps:
            apply(step, copy)
        files = [name for name in dict.fromkeys(step["file"] for step in steps) if name.endswith(".cpp")] + THROUGH_A_LIST[PAGE.name]
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            for name, text in zip(files, pool.map(lambda name: look(build, copy, name), files)):
                if text:
                    wrong += 1
                    print(f"{name}:\n{text}")
        for name in [step["file"] for step in steps if step["new"] and step["file"].endswith(".json")]:
            if text := read_chip(build, copy / name, page):
                wrong += 1
                print(f"{name}:\n{text}")
    print(f"{len(steps)} steps, {len(files)} files looked at, {wrong} not compiled")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
