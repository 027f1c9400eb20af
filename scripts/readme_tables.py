#!/usr/bin/env python3
"""Keeps the generated tables of CONTRIBUTING.md true: the packages (scripts/packages.txt) and the include rules (scripts/check_includes.py).

Rewrites the text between `<!-- NAME -->` and `<!-- end NAME -->`; with --check it only compares (ctest runs that)."""
import importlib.util
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "CONTRIBUTING.md"


def packages():
    rows = ["| Debian package | what for |", "|---|---|"]
    for line in (ROOT / "scripts/packages.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, reason = (part.strip() for part in line.split("|", 1))
            rows.append(f"| {name} | {reason} |")
    return rows


def named(target):
    name = target.removesuffix(" and below")
    return f"`{name}`" + target[len(name):]


def includes():
    spec = importlib.util.spec_from_file_location("check_includes", ROOT / "scripts/check_includes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = ["| folder | may include, besides itself |", "|---|---|"]
    for folder, targets in module.RULES.items():
        rows.append(f"| `{folder}` | {', '.join(named(target) for target in targets) or 'standard library only'} |")
    return rows


def filled(text):
    for name, rows in (("packages", packages()), ("includes", includes())):
        block = f"<!-- {name} -->\n" + "\n".join(rows) + f"\n<!-- end {name} -->"
        text, count = re.subn(rf"<!-- {name} -->.*?<!-- end {name} -->", lambda _: block, text, flags=re.S)
        if count != 1:
            sys.exit(f"CONTRIBUTING.md: the markers of the table \"{name}\" are not there once")
    return text


def main():
    text = PAGE.read_text()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(filled(text))
    elif filled(text) != text:
        print("CONTRIBUTING.md: a generated table is not current; run scripts/readme_tables.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
