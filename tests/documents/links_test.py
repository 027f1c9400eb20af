#!/usr/bin/env python3
"""Every link of the repository's pages leads somewhere, anchors included; so does every page of docs/ or README.md of a folder that code, comments and texts name."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CITED = re.compile(r"(?<![\w/.*])((?:docs|device|firmware|host|runtime|tools|samples|scripts|tests|python)/[\w./\-]*\.md)(?:#([\w\-]+))?")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)
TEXTS = {".cpp", ".hpp", ".h", ".c", ".def", ".py", ".toml", ".txt", ".md", ".cmake", ".js"}
# Made-up places: an example of a citation, a page that a test writes itself.
MADE_UP = {"tests/documents/links_test.py"}


def tracked():
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.split("\0")
    else:  # an unpacked archive
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if "build" not in path.parts]
    return [name for name in names if pathlib.Path(name).suffix in TEXTS and (ROOT / name).is_file() and "golden" not in name]


def anchor(title):
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
    return re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")


def anchors(page):
    return {anchor(title) for title in re.findall(r"^#+ (.*)$", page.read_text(), re.M)}


def problem(target, there, wanted):
    if not there.exists():
        return f"{target} does not exist"
    if wanted and there.suffix == ".md" and wanted not in anchors(there):
        return f"{target} has no heading #{wanted}"
    return None


def broken(name):
    path = ROOT / name
    text = path.read_text(errors="replace")
    if path.suffix == ".md":
        for target in LINK.findall(CODE.sub("", text)):
            if re.match(r"\w+:", target):
                continue
            place, _, wanted = target.partition("#")
            yield problem(target, (path.parent / place).resolve() if place else path, wanted)
    for place, wanted in CITED.findall(text):
        yield problem(place, ROOT / place, wanted)


def main():
    names = [name for name in tracked() if name not in MADE_UP]
    wrong = [f"{name}: {what}" for name in names for what in broken(name) if what]
    print("\n".join(sorted(set(wrong))))
    print(f"{len(names)} files looked at, {len(set(wrong))} links lead nowhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
