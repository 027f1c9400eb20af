#!/usr/bin/env python3
"""Sources and pages use the words of docs/glossary.md: those of its table "Words that are no longer used" are refused, with the word to write instead."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GLOSSARY = "docs/glossary.md"
HEADING = "## Words that are no longer used"
TEXTS = {".cpp", ".hpp", ".c", ".h", ".def", ".py", ".md", ".toml", ".txt", ".cmake", ".js", ".css", ".sh", ""}
# What says what was, data of tests, and headers whose words are the interfaces' own.
LEFT_OUT = re.compile(r"CHANGELOG\.md|LICENSE|docs/glossary\.md|tests/golden[^/]*/.*|(firmware|host)/include/.*")
# (file, word): contents of a file that a test writes, or a test's name.
ALLOWED = {
    ("tests/checks/report_test.cpp", "nobody"),
    ("tests/e2e/serve_test.cpp", "somebody"),
    ("tests/remote/local_test.cpp", "somebody"),
}


def retired(page):
    """{word: (the word to write, folders that the row is about; empty: all)}"""
    rows = {}
    for line in page.split(HEADING, 1)[1].splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 3 or cells[0] == "word" or not cells[0].strip("-"):
            continue
        rows[cells[0]] = cells[1].replace("`", ""), tuple(folder.strip() for folder in cells[2].split(",") if folder.strip())
    return rows


def pattern(rows):
    names = [re.escape(word.strip("`")) for word in rows if word.startswith("`")]
    words = [re.escape(word) for word in rows if not word.startswith("`")]
    return re.compile(rf"\b(?:({'|'.join(names)})|(?i:({'|'.join(words)})))\b")


def tracked():
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.split("\0")
    else:  # an unpacked archive
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if "build" not in path.parts]
    return [name for name in names if name and pathlib.Path(name).suffix in TEXTS and not LEFT_OUT.fullmatch(name)]


def found(name, text, rows, wanted):
    """(line, word, what to write) of each retired word in a file."""
    for match in wanted.finditer(text):
        word = match[0] if match[1] else match[0].lower()
        write, folders = rows[f"`{word}`" if match[1] else word]
        if (folders and not name.startswith(folders)) or (name, word) in ALLOWED:
            continue
        yield text.count("\n", 0, match.start()) + 1, match[0], write


def check_itself(rows, wanted):
    """A test that reads an empty table, or finds nothing in a text, would pass as well."""
    text = "  Gang& gang;  // nobody's\n// Nobody\nconst kGang = surroundings;\n"
    seen = [(line, word) for line, word, _ in found("device/x.cpp", text, rows, wanted)]
    if seen != [(1, "Gang"), (1, "nobody"), (2, "Nobody"), (3, "surroundings")] or len(rows) < 30:
        sys.exit(f"{GLOSSARY}: the table \"{HEADING[3:]}\" cannot be read: {len(rows)} words, {seen}")
    if list(found("tests/x.py", "surroundings", rows, wanted)):
        sys.exit(f"{GLOSSARY}: a word of one folder is refused in another one")


def main():
    rows = retired((ROOT / GLOSSARY).read_text())
    wanted = pattern(rows)
    check_itself(rows, wanted)
    myself = pathlib.Path(__file__).resolve().relative_to(ROOT).as_posix()
    wrong, looked_at = [], 0
    for name in tracked():
        path = ROOT / name
        if name == myself or not path.is_file():
            continue
        looked_at += 1
        text = path.read_text(errors="replace")
        wrong += [f"{name}:{line}: \"{word}\" is no longer used; write \"{write}\" ({GLOSSARY})" for line, word, write in found(name, text, rows, wanted)]
    print("\n".join(wrong) or f"{looked_at} files have none of the {len(rows)} retired words")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
