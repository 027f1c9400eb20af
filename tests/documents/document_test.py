#!/usr/bin/env python3
"""Follows a page as a reader would: saves its files, runs its commands, compares what they print.

A file is a code block after a line that ends with its name and a colon. Commands stand in blocks of the kind "console", each after "$ "; the lines
below are what it prints, where "..." stands for anything."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILE = re.compile(r"^[^\n]*`([\w.]+)`:\n\n```\w*\n(.*?)^```$", re.M | re.S)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)


def without_spaces(prefix, folder):
    """The prefix by a name without spaces: a shell splits what $(pkg-config ...) prints at them."""
    if " " not in os.fspath(prefix):
        return prefix
    link = pathlib.Path(folder) / ".installed"
    link.symlink_to(prefix)
    return link


def environment(prefix):
    # Nothing that the caller has set may reach the programs.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SOFTTPU_", "LD_LIBRARY_PATH", "TPUKERNEL_"))}
    # Debian's Python is the one that has numpy.
    return {**kept, "PATH": f"{prefix}/bin:/usr/bin:{kept['PATH']}", "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig", "SOFTTPU_PREFIX": str(prefix),
            "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"}


def steps(page):
    """Files and commands in the order of the page: ("file", name, text) and ("run", command, what it prints)."""
    found = [(match.start(), ("file", match[1], match[2])) for match in FILE.finditer(page)]
    for match in CONSOLE.finditer(page):
        for step in re.split(r"^\$ ", match[1], flags=re.M)[1:]:
            command, _, output = step.partition("\n")
            found.append((match.start(), ("run", command, output)))
    return [step for _, step in sorted(found, key=lambda one: one[0])]


def fits(expected, printed):
    pattern = ".*".join(re.escape(part) for part in expected.rstrip().split("..."))
    return re.fullmatch(pattern, printed.rstrip(), re.S) is not None


def follow(page, prefix, folder):
    """The number of commands that have been run; ends the program when one differs."""
    runs = 0
    for kind, name, text in steps(page):
        if kind == "file":
            (folder / name).write_text(text)
            continue
        done = subprocess.run(["bash", "-c", name], cwd=folder, env=environment(prefix), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        if done.returncode or not fits(text, done.stdout):
            sys.exit(f"FAILED: {name}\nstatus {done.returncode}, printed:\n{done.stdout}\nthe page says:\n{text}")
        runs += 1
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prefix", type=pathlib.Path, required=True, help="where softtpu is installed, or a build tree for pages without pkg-config")
    parser.add_argument("page", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = follow(options.page.read_text(), without_spaces(options.prefix.resolve(), folder), pathlib.Path(folder))
    if runs == 0:
        sys.exit(f"FAILED: {options.page} has no commands")
    print(f"{options.page.name}: {runs} commands, all as printed")


if __name__ == "__main__":
    main()
